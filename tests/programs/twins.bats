#!/usr/bin/env bats
# Twin runs: each session runs twice from identical trees at the same place, outside and inside. Exit code, standard output and the
# resulting tree (names, modes, contents, targets of links) must be equal; a difference is printed.

load ../lib

setup() { setup_sandbox; }

# Times and keys are no difference that a fence makes.
fixed_git() {
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
	export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' GIT_CONFIG_GLOBAL=/dev/null
}

# twin SCRIPT [PREPARE]: PREPARE makes the tree, outside in both cases. What lies in ./scratch is not compared.
twin() {
	local script=$1 prepare=${2:-:} side
	for side in native inside; do
		rm -rf "$PROJECT" && mkdir "$PROJECT"
		(cd "$PROJECT" && bash -c "$prepare") >/dev/null 2>&1 || fail "the preparation failed: $prepare"
		if [[ $side == native ]]; then
			run_in "$PROJECT" -- bash -c "$script"
		else
			run_in "$PROJECT" -- hurdle run -- bash -c "$script"
		fi
		declare -g "${side}_status=$status" "${side}_output=$output" "${side}_stderr=$stderr"
		rm -rf "$PROJECT/scratch" "$BATS_TEST_TMPDIR/tree.$side"
		mv "$PROJECT" "$BATS_TEST_TMPDIR/tree.$side"
	done
	mkdir "$PROJECT"
	[[ $native_status == "$inside_status" ]] || fail "exit $native_status outside, $inside_status inside" "$native_stderr" "$inside_stderr"
	[[ $native_output == "$inside_output" ]] || fail "standard output differs" "$(diff <(echo "$native_output") <(echo "$inside_output"))"
	assert_tree_equal "$BATS_TEST_TMPDIR/tree.native" "$BATS_TEST_TMPDIR/tree.inside"
	[[ $inside_stderr != *sandbox_violations* ]] || fail "something was denied" "$inside_stderr"
}

@test "git: init, add, commit, branches, merge, rebase, stash, tag, gc, worktree" {
	require_tool git
	fixed_git
	twin 'set -e; git init -q -b main r; cd r; for i in 1 2 3; do echo $i >f$i; git add .; git commit -qm $i; done
		git checkout -q -b side HEAD~1; echo s >s; git add .; git commit -qm s; git checkout -q main; git merge -q --no-edit side
		git tag v1; git checkout -q -b again HEAD~1; echo a >a; git add a; git commit -qm a; git rebase -q main
		echo w >>f1; git stash -q; git stash pop -q; git checkout -q -- f1; git worktree add -q ../w main
		git log --oneline --all; git status --short; git gc -q; rm -f .git/index .git/worktrees/*/index ../w/.git
		rm -f .git/gc.log .git/objects/info/commit-graph; find .git -name gc.pid -delete'
}

@test "git: clone of a local repository, fetch, push, submodule status" {
	require_tool git
	fixed_git
	twin 'set -e; git clone -q src c; cd c; git log --oneline; echo x >x; git add x; git commit -qm x; git push -q ../bare.git HEAD:refs/heads/t
		git fetch -q ../bare.git t; git rev-parse FETCH_HEAD; git diff --stat HEAD~1; rm -f .git/index .git/FETCH_HEAD ../src/.git/index' \
		'git init -q -b main src; cd src; for i in $(seq 60); do mkdir -p d$((i % 7)); echo $i >d$((i % 7))/$i; done; git add .
		git commit -qm all; cd ..; git init -q --bare bare.git; rm -f src/.git/index.lock'
}

@test "npm: install of a local package with a postinstall script, and of a tarball" {
	require_tool node npm
	twin 'set -e; cd app; npm install --silent --no-audit --no-fund --offline --install-links=false; node -e "console.log(require(\"lib\"), require(\"tarred\"))"
		cat node_modules/lib/made; rm -rf node_modules/.package-lock.json package-lock.json' \
		'mkdir app lib tarred
		echo "{\"name\":\"lib\",\"version\":\"1.0.0\",\"main\":\"i.js\",\"scripts\":{\"postinstall\":\"node -e \\\"fs.writeFileSync(\\\\\\\"made\\\\\\\",\\\\\\\"by postinstall\\\\\\\")\\\"\"}}" >lib/package.json
		echo "module.exports = 1" >lib/i.js
		echo "{\"name\":\"tarred\",\"version\":\"1.0.0\",\"main\":\"i.js\"}" >tarred/package.json
		echo "module.exports = 2" >tarred/i.js
		(cd tarred && npm pack --silent && mv tarred-1.0.0.tgz ..)
		echo "{\"name\":\"app\",\"version\":\"1.0.0\",\"dependencies\":{\"lib\":\"file:../lib\",\"tarred\":\"file:../tarred-1.0.0.tgz\"}}" >app/package.json'
}

@test "node: files, streams, child processes, workers, watching" {
	require_tool node
	twin 'cat >t.js <<"X"
const fs = require("fs"), cp = require("child_process"), { Worker, isMainThread, parentPort } = require("worker_threads");
if (!isMainThread) { fs.writeFileSync("worker", "w"); parentPort.postMessage("done"); }
else (async () => {
  fs.mkdirSync("d/e", { recursive: true }); fs.writeFileSync("d/a", "a"); fs.appendFileSync("d/a", "b"); fs.renameSync("d/a", "d/b");
  fs.symlinkSync("b", "d/l"); fs.copyFileSync("d/b", "d/e/c"); await fs.promises.writeFile("p", "p"); await fs.promises.chmod("p", 0o600);
  await new Promise((ok) => fs.createReadStream("d/b").pipe(fs.createWriteStream("d/s")).on("finish", ok));
  console.log(cp.execSync("cat d/s").toString(), cp.spawnSync("ls", ["d"]).stdout.toString());
  await new Promise((ok) => new Worker(__filename).on("message", ok));
  fs.rmSync("d/e", { recursive: true }); console.log(fs.readdirSync(".").sort().join());
})();
X
	node t.js'
}

@test "python: venv, multiprocessing, tempfile, shutil, sqlite3, subprocess" {
	require_tool python3
	twin 'set -e; python3 -m venv --without-pip scratch/v; scratch/v/bin/python -c "import sys; print(sys.prefix != sys.base_prefix)"
		cat >t.py <<"X"
import multiprocessing, os, shutil, sqlite3, subprocess, tempfile
def square(n): return n * n
if __name__ == "__main__":
    with multiprocessing.Pool(3) as pool: print(sum(pool.map(square, range(500))))
    with tempfile.NamedTemporaryFile() as f: f.write(b"x"); print(f.tell())
    with tempfile.TemporaryDirectory() as d: open(os.path.join(d, "x"), "w").close(); print(os.listdir(d))
    os.makedirs("a/b"); open("a/b/c", "w").write("c"); shutil.copytree("a", "z"); shutil.rmtree("a"); shutil.move("z", "y")
    db = sqlite3.connect("t.db"); db.execute("create table t(a)"); db.executemany("insert into t values(?)", [(i,) for i in range(99)]); db.commit()
    print(db.execute("select sum(a) from t").fetchone()); db.close()
    print(subprocess.run(["sort", "-r"], input=b"1\n2\n", stdout=subprocess.PIPE).stdout)
X
	python3 t.py; rm -rf __pycache__'
}

@test "tar: 20,000 files in and out" {
	require_tool tar
	twin 'set -e; tar cf t.tar src; mkdir out; tar xf t.tar -C out; find out -type f | wc -l; tar tf t.tar | sort | cksum; rm t.tar' \
		'for d in $(seq 100); do mkdir -p src/$d; (cd src/$d; for f in $(seq 200); do echo $d >$f; done); done; ln -s 1 src/link'
}

@test "make -j: a C program with configure-like steps, a library, tests" {
	require_tool gcc make
	twin 'set -e; make -s -j4 all check; ./prog; make -s clean; make -s -j2 all; rm -f prog *.o *.a *.so' \
		'printf "%s\n" "all: prog libx.so" "objs = main.o \$(patsubst %.c,%.o,\$(wildcard m*.c))" "prog: \$(sort \$(objs)) libz.a" \
			"	gcc -o \$@ \$^" "libz.a: z.o" "	ar rc \$@ \$^" "libx.so: z.c" "	gcc -shared -fPIC -o \$@ \$^" \
			"%.o: %.c" "	gcc -c -o \$@ \$<" "check: prog" "	./prog >got && test -s got" "clean:" "	rm -f prog *.o *.a *.so got" >Makefile
		for i in $(seq 20); do echo "int m$i(void) { return $i; }" >m$i.c; done; echo "int z(void) { return 1; }" >z.c
		printf "%s\n" "#include <stdio.h>" "int m1(void); int m20(void); int z(void);" "int main(void) { printf(\"%d\\n\", m1() + m20() + z()); }" >main.c'
}

@test "a real C project from a Debian source package: configure, make -j, make check" {
	require_tool gcc make
	local src=$BATS_FILE_TMPDIR/hello-src
	fetch_source "$src" || skip_or_fail source "the source package hello could not be had"
	twin 'cp -r scratch/src scratch/b; cd scratch/b; { ./configure --quiet --disable-nls && make -s -j2 && make -s check TESTS="tests/greeting-1 tests/traditional-1"; } >../log 2>&1
		echo "status $?"; grep -E "^# (PASS|FAIL|ERROR):" ../log; ./hello; ./hello --version | head -1' "mkdir scratch; cp -r '$src' scratch/src"
}

# The unpacked source package in $1. Debian's own client and its own verification; lists and caches stay in the test's folder.
fetch_source() {
	local dir=$BATS_FILE_TMPDIR/apt
	command -v apt-get >/dev/null && command -v dpkg-source >/dev/null || return 1
	mkdir -p "$dir/lists/partial" "$dir/archives/partial"
	sed -n 's/^deb \(.*\)/deb-src \1/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null >"$dir/sources.list"
	local f
	for f in /etc/apt/sources.list.d/*.sources; do
		[[ -r $f ]] && sed 's/^Types:.*/Types: deb-src/' "$f" >"$dir/$(basename "$f")"
	done
	mkdir -p "$dir/parts"
	mv "$dir"/*.sources "$dir/parts/" 2>/dev/null || :
	local apt=(apt-get -q -o Dir::State::lists="$dir/lists" -o Dir::Cache="$dir" -o Dir::Etc::sourcelist="$dir/sources.list"
		-o Dir::Etc::sourceparts="$dir/parts" -o APT::Sandbox::User=)
	(cd "$BATS_FILE_TMPDIR" && timeout 90 "${apt[@]}" update && timeout 90 "${apt[@]}" source hello) >"$dir/log" 2>&1 || return 1
	mv "$BATS_FILE_TMPDIR"/hello-[0-9]*/ "$1"
}

@test "vim -es, sqlite3 with a journal, patch, zip, rsync" {
	require_tool vim sqlite3 patch zip unzip rsync
	twin 'set -e; vim -es -u NONE -c "%s/a/b/g" -c wq f; sqlite3 t.db "pragma journal_mode=wal; create table t(a); insert into t values(1); select * from t"
		rm -f t.db*; cp f g; echo more >>g; diff -u f g >p || :; sed -i "s/\t.*//" p; patch -s f p; zip -qX z.zip f g; mkdir u; unzip -q z.zip -d u; rm z.zip
		rsync -a u/ v/; rsync -a --delete u/ v/; cat f' 'printf "a\naa\n" >f'
}

@test "shell: redirections, here-documents, pipes, process substitution, coprocesses, jobs, fifos" {
	twin 'set -e; echo a >f; echo b >>f; cat <<X >h
x
X
	cat <(echo p) >q; { echo e >&2; } 2>err; exec 7>seven; echo 7 >&7; exec 7>&-; mkfifo pipe; cat pipe >got & echo through >pipe; wait
	coproc C { cat; }; echo co >&"${C[1]}"; read -r l <&"${C[0]}"; echo "$l"; eval "exec ${C[1]}>&-"; sort -r f | tee sorted | head -1; umask 027; mkdir m; : >m/x
	cp -a m n; ln f hard; ln -s f soft; mv n o; rm -rf m; find . -name "*r*" | sort; sed -i s/x/y/ h'
}

@test "perl, awk, sed, sort with temporary files, find -delete, install, touch, truncate, split" {
	require_tool perl gawk
	twin 'set -e; seq 200000 | sort -R --random-source=/bin/sh -S 1M | sort -n -S 1M | cksum; perl -pi -e s/1/one/ f; gawk "{ print > (\"out\" NR % 2) }" f
		sed -i.bak 2d f; split -l 2 f part; install -D -m 640 f a/b/c; truncate -s 5 a/b/c; find . -name "part*" -delete; touch -d 2020-01-01 f; ls' \
		'printf "1\n2\n11\n4\n" >f'
}

@test "programs built with musl-gcc" {
	require_tool musl-gcc
	twin 'set -e; musl-gcc -o t t.c; ./t; rm t' \
		'printf "%s\n" "#include <stdio.h>" "#include <stdlib.h>" "#include <sys/stat.h>" "int main(void) { FILE *f = fopen(\"made\", \"w\"); fputs(\"x\", f); fclose(f);" \
			"mkdir(\"d\", 0750); rename(\"made\", \"d/made\"); return system(\"cat d/made; ls d\"); }" >t.c'
}

@test "go build" {
	require_optional go
	twin 'set -e; go build -o scratch/t . && scratch/t' 'printf "module example.com/t\n\ngo 1.19\n" >go.mod
		printf "%s\n" "package main" "import \"fmt\"" "func main() { fmt.Println(1) }" >main.go'
}

# A tool that nothing else needs and that is large: its absence is no fault even where tools must work.
require_optional() { command -v -- "$1" >/dev/null || skip "no $1 here"; }
