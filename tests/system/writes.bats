#!/usr/bin/env bats
# What programs do when they write: outside the roots they are refused, say so, and leave nothing; inside, nothing differs.
# shellcheck shell=bash

load ../lib

setup() { setup_sandbox; }

# A directory to write to, with all in it that the rows below change.
seed() { # DIRECTORY
	mkdir -p "$1/dir" "$1/sub"
	printf 'one\ntwo\n' >"$1/file"
	echo deep >"$1/sub/file"
	ln -s file "$1/link"
}

# Everything that a write changes, times too (tree_of has only what a reader sees).
state_of() { find "$1" -printf '%P %y %m %n %s %T@ %C@ %l\n' | sort; }

# What the rows need, in the current directory.
materials() {
	printf 'one\ntwo\n' >one
	printf '%s\n' '--- a/file' '+++ b/file' '@@ -1,2 +1,2 @@' '-one' '+uno' ' two' >change.patch
	printf 'int main(void)\n{\n\treturn 0;\n}\n' >t.c
	mkdir tree && echo 1 >tree/a && tar -cf tree.tar tree
	! command -v zip >/dev/null || zip -q -r tree.zip tree
	! command -v gcc >/dev/null || gcc -c t.c
	if command -v git >/dev/null; then
		git config --global user.name a && git config --global user.email a@example.org
		git init -q repo && git -C repo commit -q --allow-empty -m first
	fi
}

# NAME[,NAME...] (the programs it needs; the first is the row's name) | what it says when refused ('' for the usual) | command
rows='
bash | | bash -c "echo hit >\"$D/new\""
bash | | bash -c "echo hit >>\"$D/file\""
bash | | bash -c ": >|\"$D/link\""
bash | | bash -c "exec 3<>\"$D/file\"; echo hit >&3"
dash | | dash -c "echo hit >\"$D/new\""
dash | | dash -c "echo hit >>\"$D/file\""
touch | | touch "$D/new"
touch | | touch "$D/file"
cp | | cp one "$D/new"
cp | | cp one "$D/file"
cp | | cp -a tree "$D/new"
cp | | cp --remove-destination one "$D/file"
mv | | cp one x && mv x "$D/new"
mv | | cp one x && mv -f x "$D/file"
mv | | mv "$D/file" "$D/new"
mv | | mv "$D/file" taken
mv | | mv "$D/sub" taken
ln | | ln one "$D/new"
ln | | ln -s one "$D/new"
ln | | ln -sf one "$D/link"
ln | | ln "$D/file" taken && echo hit >taken
rm | | rm "$D/file"
rm | | rm -f "$D/file"
rm | | rm -r "$D/sub"
rmdir | | rmdir "$D/dir"
unlink | | unlink "$D/link"
mkdir | | mkdir "$D/new"
mkdir | | mkdir -p "$D/new/a/b"
mkfifo | | mkfifo "$D/new"
mknod | | mknod "$D/new" p
mktemp | | mktemp -p "$D"
tee | | tee "$D/new" <one
tee | | tee -a "$D/file" <one
dd | | dd status=none if=one of="$D/new"
dd | | dd status=none conv=notrunc if=t.c of="$D/file"
truncate | | truncate -s 0 "$D/file"
install | | install -m 600 one "$D/new"
install | cannot change permissions | install -d "$D/new"
chmod | | chmod 711 "$D/file"
chmod | | chmod -R go-rx "$D/sub"
chown | | chown "$(id -u)" "$D/file"
split | | split -l 1 one "$D/new"
sort | | sort -o "$D/file" t.c
gzip | | gzip "$D/file"
tar | | tar -xf tree.tar -C "$D"
tar | | tar -cf "$D/new.tar" tree
unzip | cannot create | unzip -q tree.zip -d "$D"
zip | | zip -q -r "$D/new.zip" tree
patch | | patch -s "$D/file" change.patch
patch | | patch -s -o "$D/new" one change.patch
sed | | sed -i s/one/1/ "$D/file"
sed | | sed -n "w $D/new" one
perl | | perl -pi -e s/one/1/ "$D/file"; test $? = 0 && ! grep -q one "$D/file"
perl | | perl -e "open(F, q(>), qq($D/new)) or die qq(\$!\\n)"
awk | | awk "{ print > (ENVIRON[\"D\"] \"/new\") }" one
awk | | awk "BEGIN { printf \"hit\" >> (ENVIRON[\"D\"] \"/file\") }"
git | | git init -q "$D/new"
git | | git clone -q repo "$D/new"
git | | git -C repo worktree add -q "$D/new"
git | | git -C repo archive -o "$D/new.tar" HEAD
gcc | | gcc -o "$D/new" t.c
gcc | | gcc -c -o "$D/new.o" t.c
gcc,ld | | ld -r -o "$D/new.o" t.o
gcc,ar | | ar rc "$D/new.a" t.o
curl | Fail | curl -sS -o "$D/new" "file://$PWD/one"
sqlite3 | unable to open | sqlite3 "$D/new" "create table t (x)"
rsync | | rsync -a tree "$D/"
rsync | | rsync -a --inplace --no-times t.c "$D/file"
vim | deny file-write | vim -u NONE -es -c "%s/one/1/" -c "wq!" "$D/file"
vim | deny file-write | vim -u NONE -es -c "w $D/new" -c q one
'

# one_row DIRECTORY COMMAND
run_row() {
	local dir=$1
	rm -rf "$PROJECT/x" "$PROJECT/taken"
	D=$dir run_in "$PROJECT" -- hurdle run --quiet --keep D -- sh -c "$2"
}

for_each_row() { # FUNCTION: gets NUMBER, what is said, command
	local needs said command name number=0 done=0
	while IFS='|' read -r needs said command; do
		[[ -n $needs ]] || continue
		needs=${needs// /} said=${said# } said=${said% }
		((++number))
		for name in ${needs//,/ }; do command -v "$name" >/dev/null || continue 2; done
		"$1" "$number" "${said:-Permission denied}" "${command# }" || return 1
		((++done))
	done <<<"$rows"
	((done >= 50)) || fail "only $done rows could run"
}

refused_row() {
	local dir=$OUTSIDE/$1 before
	seed "$dir"
	before=$(state_of "$dir")
	run_row "$dir" "$3"
	[[ $status != 0 ]] || fail "not refused: $3" "$(seen_)" || return 1
	assert_output_matches "$2" || fail "so said: $3" || return 1
	assert_output_contains "<sandbox_violations>" || fail "for: $3" || return 1
	[[ $(state_of "$dir") == "$before" ]] ||
		fail "left something: $3" "$(diff -U0 <(echo "$before") <(state_of "$dir"))" "$(seen_)" || return 1
	[[ ! -e taken ]] || fail "took something: $3"
}

allowed_row() {
	local dir=$PROJECT/in/$1 before
	seed "$dir"
	before=$(state_of "$dir")
	run_row "$dir" "$3"
	[[ $status == 0 ]] || fail "failed in a root: $3" "$(seen_)" || return 1
	assert_output_lacks '<sandbox_violations>' || fail "for: $3" || return 1
	[[ $(state_of "$dir") != "$before" ]] || fail "did nothing: $3"
}

@test "programs fail outside the roots, say permission denied, and leave nothing" {
	materials
	for_each_row refused_row
}

@test "the same programs succeed inside a root" {
	materials
	for_each_row allowed_row
}

@test "a repository outside is not changed by git" {
	require_tool git
	materials
	cp -a repo "$OUTSIDE/repo"
	echo x >"$OUTSIDE/repo/new"
	tree_of "$OUTSIDE" >before
	for command in 'commit -q --allow-empty -m x' 'add new' 'branch other' 'tag v1' 'config a.b c' 'gc -q' 'checkout -q -b x' 'stash -u'; do
		# shellcheck disable=SC2086 # words
		run_in "$PROJECT" -- hurdle run -q -- git -C "$OUTSIDE/repo" $command
		[[ $status != 0 ]] || fail "not refused: git $command" "$(seen_)"
		assert_equal "$(tree_of "$OUTSIDE")" "$(<before)"
	done
	run_in "$PROJECT" -- hurdle run -q -- git -C "$OUTSIDE/repo" status --porcelain
	assert_status 0
	assert_output '?? new'
}

@test "wget and curl from a server on loopback" {
	require_tool python3 curl
	mkdir www
	echo page >www/page
	python3 -u - >port 3>&- <<'PY' &
import functools, http.server
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args): pass
server = http.server.HTTPServer(('127.0.0.1', 0), functools.partial(Quiet, directory='www'))
print(server.server_port)
server.serve_forever()
PY
	server=$!
	for _ in {1..100}; do [[ ! -s port ]] || break; sleep 0.05; done
	url=http://127.0.0.1:$(<port)/page
	for command in 'curl -sS --noproxy "*" -o FILE URL' 'wget --no-proxy -q -O FILE URL' 'wget --no-proxy -q -P DIR URL'; do
		command -v "${command%% *}" >/dev/null || continue
		for dir in "$OUTSIDE" "$PROJECT/in"; do
			rm -rf in && mkdir in
			line=${command//FILE/$dir/page} line=${line//DIR/$dir} line=${line//URL/$url}
			run_in "$PROJECT" -- hurdle run -q -- sh -c "$line"
			if [[ $dir == "$OUTSIDE" ]]; then
				[[ $status != 0 && -z $(ls -A "$OUTSIDE") ]] || { kill "$server"; fail "not refused: $line" "$(seen_)"; }
			else
				[[ $status == 0 && $(<in/page) == page ]] || { kill "$server"; fail "failed in a root: $line" "$(seen_)"; }
			fi
		done
	done
	kill "$server"
	wait "$server" || :
}

# both_ways FILE PROGRAM...: runs it with an outside directory (all its rows are to be refused), then with one in a root
both_ways() {
	local before
	seed "$OUTSIDE/d"
	seed "$PROJECT/d"
	before=$(state_of "$OUTSIDE/d")
	run_in "$PROJECT" -- hurdle run -q -- "$@" "$OUTSIDE/d" refused
	assert_status 0
	assert_output_matches '^[0-9]+ refused'
	((${output%% *} > 20))
	assert_equal "$(state_of "$OUTSIDE/d")" "$before"
	run_in "$PROJECT" -- hurdle run -q -- "$@" "$PROJECT/d" allowed
	assert_status 0
	assert_output_matches '^[0-9]+ allowed'
}

@test "python: open, os, shutil, pathlib, tempfile, sqlite3, sockets" {
	require_tool python3
	cat >rows.py <<'PY'
import logging, os, pathlib, shutil, socket, sqlite3, subprocess, sys, tarfile, tempfile, zipfile
d, expected = sys.argv[1:]
with open('mine', 'w') as f: f.write('mine')
os.makedirs('tree', exist_ok=True)
with tarfile.open('t.tar', 'w') as t: t.add('mine')
with zipfile.ZipFile('t.zip', 'w') as z: z.write('mine')
def sql(path):
    c = sqlite3.connect(path)
    c.execute('create table if not exists t (x)'); c.commit(); c.close()
def bound(path):
    os.chdir(os.path.dirname(path)); s = socket.socket(socket.AF_UNIX)
    try: s.bind(os.path.basename(path))
    finally: s.close(); os.chdir(os.path.dirname(sys.argv[0]) or here)
here = os.getcwd()
copy = lambda: shutil.copy('mine', 'mine2')
rows = '''open(f, 'a').close() | open(f, 'r+').close() | open(n, 'x').close() | open(n, 'wb').close() | os.open(n, os.O_CREAT)
os.close(os.open(f, os.O_RDWR)) | os.mkdir(a) | os.rmdir(a) | os.makedirs(a + '/a/b') | shutil.rmtree(a) | os.mkfifo(a) | os.unlink(a)
os.mknod(a) | os.remove(a) | os.symlink('x', a) | os.unlink(a) | os.link('mine', a) | os.rename(a, a + '2') | os.replace(a + '2', a)
os.truncate(f, 1) | os.chmod(f, 0o600) | os.chown(f, os.getuid(), -1) | os.utime(f) | os.utime(f, (1, 1), follow_symlinks=False)
os.setxattr(f, 'user.a', b'1') | os.removexattr(f, 'user.a') | os.rename(copy(), a) | shutil.copy('mine', n) | shutil.copyfile('mine', f)
shutil.copytree('tree', n + '3') | shutil.move(copy(), n + '4') | shutil.copystat('mine', f) | shutil.chown(f, os.getuid())
pathlib.Path(n + '5').write_text('x') | pathlib.Path(n + '6').touch() | pathlib.Path(n + '7').mkdir() | pathlib.Path(f).unlink()
tempfile.NamedTemporaryFile(dir=d).close() | tempfile.mkdtemp(dir=d) | tempfile.TemporaryFile(dir=d).close()
zipfile.ZipFile('t.zip').extractall(d) | tarfile.open('t.tar').extractall(n + '8') | zipfile.ZipFile(n + '9', 'w').close()
logging.FileHandler(n + '10') | sql(n + '11') | bound(n + '12') | shutil.make_archive(n + '13', 'tar', 'tree')
subprocess.run(['sh', '-c', 'echo > "$0"', n + '14'], check=True, stderr=-3) | os.close(os.open('new15', os.O_CREAT + os.O_WRONLY, dir_fd=os.open(d, 0)))'''
f, n, a, refused, allowed = d + '/file', d + '/new', d + '/a', 0, 0
for row in rows.replace('\n', ' | ').split(' | '):
    try:
        eval(row)
        allowed += 1
        if expected == 'refused': print('not refused:', row); sys.exit(1)
    except (PermissionError, FileNotFoundError, sqlite3.OperationalError, subprocess.CalledProcessError, shutil.Error) as e:
        if expected == 'allowed': print('refused:', row, e); sys.exit(1)
        if isinstance(e, FileNotFoundError) and '(f' in row: print('wrong:', row, e); sys.exit(1)
        refused += 1
print(refused if expected == 'refused' else allowed, expected)
PY
	both_ways python3 "$PROJECT/rows.py"
}

@test "node: fs sync, promises, callbacks and streams" {
	require_tool node
	cat >rows.js <<'JS'
const fs = require('fs'), p = fs.promises, [d, expected] = process.argv.slice(2), f = d + '/file', n = d + '/new';
const stream = (path, options) => new Promise((yes, no) => fs.createWriteStream(path, options).on('error', no).on('finish', yes).end('x'));
const callback = (name, ...rest) => new Promise((yes, no) => fs[name](...rest, e => e ? no(e) : yes()));
fs.writeFileSync('mine', 'x');
fs.mkdirSync('tree', { recursive: true });
const rows = [
	() => fs.appendFileSync(f, 'x'), () => fs.writeFileSync(n, 'x'), () => fs.openSync(f, 'r+'), () => fs.openSync(n + 1, 'wx'),
	() => fs.mkdirSync(n + 2), () => fs.mkdirSync(n + '3/a', { recursive: true }), () => fs.mkdtempSync(n), () => fs.symlinkSync('x', n + 4),
	() => fs.linkSync('mine', n + 5), () => fs.copyFileSync('mine', n + 6), () => fs.cpSync('tree', n + 7, { recursive: true }),
	() => fs.truncateSync(f, 1), () => fs.chmodSync(f, 0o600), () => fs.chownSync(f, process.getuid(), process.getgid()),
	() => fs.utimesSync(f, 1, 1), () => fs.lutimesSync(d + '/link', 1, 1), () => fs.renameSync(d + '/link', n + 8), () => fs.rmdirSync(d + '/dir'),
	() => fs.rmSync(d + '/sub', { recursive: true }), () => p.writeFile(n + 9, 'x'), () => p.appendFile(f, 'x'), () => p.mkdir(n + 10),
	() => p.copyFile('mine', n + 11), () => p.rename(f, n + 12), () => p.symlink('x', n + 13), () => p.open(n + 14, 'w'),
	() => p.truncate(n + 12), () => p.chmod(n + 12, 0o644), () => p.utimes(n + 12, 1, 1), () => stream(n + 15), () => stream(n + 12, { flags: 'a' }),
	() => callback('writeFile', n + 16, 'x'), () => callback('mkdir', n + 17), () => callback('rename', n + 12, n + 18),
	() => p.unlink(n + 18), () => p.rm(n + 17, { recursive: true }), () => p.cp('tree', n + 19, { recursive: true }),
];
(async () => {
	let refused = 0, allowed = 0;
	for (const row of rows) {
		let error = null;
		try { await row(); allowed++; } catch (e) { error = e; refused++; }
		if (expected === 'allowed' ? error : !error || !['EACCES', 'ENOENT'].includes(error.code)) {
			console.log('wrong:', String(row), error);
			process.exit(1);
		}
	}
	console.log(expected === 'refused' ? refused : allowed, expected);
})();
JS
	both_ways node "$PROJECT/rows.js"
}
