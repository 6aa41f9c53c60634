#!/usr/bin/env bats
# What Landlock alone holds: no shim, no filter, so that whatever is refused here is refused by the kernel. The attacks are those of
# the shim's own tests, by a static program.
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	require_feature landlock=6
	with_backend landlock
}

# own TOOL: a copy in the project, for what tests make is not always readable where it was built
own() { cp "$TOOLS/$1" "$PROJECT/$1"; }

level_of() { hurdle status "${@:2}" | awk -F '\t' -v id="$1" '$1 == id { print $2 " " $3; exit }'; }

# Mode, owner, times and attributes are no right of Landlock's; the row of access mode 3 ends in a chmod.
metadata='chmod|chown|utim|xattr|setattr|setflags|access_3'

@test "what it holds is held by the kernel, and no more is said" {
	local id
	for id in env.ancestors fs.write fs.read.deny proc.isolation exec.coverage; do
		[[ $(level_of "$id") == 'kernel '*landlock* ]] || fail "$id: $(level_of "$id")" || return 1
	done
	for id in fs.write.names fs.metadata net.egress kernel.surface tty.injection; do
		assert_equal "$id $(level_of "$id")" "$id none -"
	done
	assert_equal "$(level_of net.unix)" 'none landlock'
	# denied inside of a root, and denied where no root is
	# shellcheck disable=SC2153 # OUTSIDE is setup_sandbox's
	hurdle status --rules --deny-write "$PROJECT/x" --deny-write "$OUTSIDE/x" --deny-read "$PROJECT/y" --deny-read "$OUTSIDE/y" >"$OUTSIDE/rules"
	grep -q $'^fs.write.deny\tnone\t.*denyWrite '"$PROJECT/x" "$OUTSIDE/rules"
	grep -q $'^fs.write.deny\tkernel\t.*denyWrite '"$OUTSIDE/x" "$OUTSIDE/rules"
	grep -q $'^fs.read.deny\tnone\t.*denyRead '"$PROJECT/y" "$OUTSIDE/rules"
	grep -q $'^fs.read.deny\tkernel\t.*denyRead '"$OUTSIDE/y" "$OUTSIDE/rules"
	run_in "$PROJECT" -- hurdle run -q --require fs.write=kernel -- true
	assert_status 0
	run_in "$PROJECT" -- hurdle run -q --require fs.metadata=kernel -- touch started
	assert_status 125
	assert_file_absent started
}

@test "no road leads to a write outside the roots, but to metadata; and every one inside" {
	require_tool attempt_static
	own attempt_static
	mkdir one two
	"$TOOLS/attempt" prepare "$OUTSIDE/in"
	"$TOOLS/attempt" show "$OUTSIDE/in" >"$OUTSIDE/before"
	run_in "$PROJECT/one" -- hurdle run -q -- ../attempt_static write "$OUTSIDE/in"
	"$TOOLS/attempt" show "$OUTSIDE/in" >"$OUTSIDE/after"
	! diff <(grep -vE "$metadata" "$OUTSIDE/before") <(grep -vE "$metadata" "$OUTSIDE/after") | grep '^>' >"$OUTSIDE/changed" ||
		fail 'changed all the same:' "$(<"$OUTSIDE/changed")" || return 1
	# what the caveat says is so
	(($(diff "$OUTSIDE/before" "$OUTSIDE/after" | grep -c '^>') > 10)) || fail 'metadata did not change' || return 1
	"$TOOLS/attempt" prepare "$PROJECT/in"
	"$TOOLS/attempt" show "$PROJECT/in" >"$OUTSIDE/before"
	run_in "$PROJECT/two" -- hurdle run -q --allow-write "$PROJECT/in" -- ../attempt_static write "$PROJECT/in"
	"$TOOLS/attempt" show "$PROJECT/in" >"$OUTSIDE/after"
	(($(diff "$OUTSIDE/before" "$OUTSIDE/after" | grep -c '^>') * 10 >= $(wc -l <"$OUTSIDE/before") * 8)) ||
		fail "$(diff "$OUTSIDE/before" "$OUTSIDE/after" | grep -c '^>') of $(wc -l <"$OUTSIDE/before")" "$(seen_)"
}

@test "no road leads to the content of a denied file" {
	require_tool attempt_static
	own attempt_static
	mkdir "$OUTSIDE/dir" "$OUTSIDE/plain"
	echo secret | tee "$OUTSIDE/file" "$OUTSIDE/dir/file" "$OUTSIDE/plain/file" >/dev/null
	local file
	for file in "$OUTSIDE/file" "$OUTSIDE/dir/file"; do
		rm -rf r
		run_in "$PROJECT" -- hurdle run -q --deny-read "$OUTSIDE/file" --deny-read "$OUTSIDE/dir" -- ./attempt_static read "$file"
		assert_output_contains 'open EACCES'
		! grep -E '\bdone$' <<<"$output" | grep -vE 'xattr|absent' >"$OUTSIDE/read" || fail "read all the same:" "$(<"$OUTSIDE/read")" || return 1
	done
	rm -rf r
	run_in "$PROJECT" -- hurdle run -q --deny-read "$OUTSIDE/file" --deny-read "$OUTSIDE/dir" -- ./attempt_static read "$OUTSIDE/plain/file"
	(($(grep -cE '\bdone$' <<<"$output") >= 10)) || fail "$(seen_)"
}

@test "what stands beside a denied file is read as before, and what is allowed inside too" {
	own raw_static
	mkdir -p "$OUTSIDE/dir/deep/er" "$OUTSIDE/dir-not" "$OUTSIDE/plain"
	echo secret | tee "$OUTSIDE/file" "$OUTSIDE/dir/file" "$OUTSIDE/dir/key.pub" "$OUTSIDE/dir/deep/er/file" "$OUTSIDE/dir-not/file" "$OUTSIDE/plain/file" >/dev/null
	ln -s dir/file "$OUTSIDE/link"
	ln -s plain/file "$OUTSIDE/good-link"
	local rules=(--deny-read "$OUTSIDE/file" --deny-read "$OUTSIDE/dir" --allow-read "$OUTSIDE/dir/deep/er" --allow-read "$OUTSIDE/dir/*.pub")
	local name
	for name in "$OUTSIDE"/{file,dir/file,link,dir/../dir/./file}; do
		run_in "$PROJECT" -- hurdle run -q "${rules[@]}" -- ./raw_static read "$name"
		assert_stderr_contains 'Permission denied'
		assert_output ''
	done
	for name in "$OUTSIDE"/{dir/key.pub,dir/deep/er/file,dir-not/file,plain/file,good-link}; do
		run_in "$PROJECT" -- hurdle run -q "${rules[@]}" -- ./raw_static read "$name"
		assert_output secret
	done
	# directories on the way are listed as ever
	run_in "$PROJECT" -- hurdle run -q "${rules[@]}" -- ls "$OUTSIDE" "$HOME" /
	assert_status 0
	# a whole home directory denied, but for the project in it
	mkdir "$HOME/project"
	own raw_static
	mv raw_static "$HOME/project"
	echo secret | tee "$HOME/file" "$HOME/project/file" >/dev/null
	run_in "$HOME/project" -- hurdle run -q --deny-read "$HOME" -- ./raw_static read "$HOME/project/file"
	assert_output secret
	run_in "$HOME/project" -- hurdle run -q --deny-read "$HOME" -- ./raw_static read "$HOME/file"
	assert_output ''
}

@test "as an ordinary program sees it: renames, links, devices, descriptors, caches" {
	mkdir -p one/deep two "$OUTSIDE/other"
	echo text >one/deep/file
	cat >session <<'SH'
mv one/deep/file two/file && ln two/file one/again && mv two/file "$OTHER/file" && mv "$OTHER/file" "$TMPDIR/file"
mv "$TMPDIR/file" back && mv one three && rm -r three && cat back
: >/dev/null && head -c 8 /dev/urandom | wc -c && head -c 4 /dev/zero | wc -c
echo to stdout >/dev/stdout && echo to stderr | tee /dev/stderr >/dev/null && cat <(echo substituted) && echo piped | cat /dev/stdin
mkfifo fifo && { echo through >fifo & } && cat fifo
mkdir -p "$XDG_CACHE_HOME/x" && echo cached >"$XDG_CACHE_HOME/x/y" && cat "$XDG_CACHE_HOME/x/y"
exec 5<>back && echo more >>back && cat <&5 && truncate -s 0 back
sleep 60 & kill $! && wait $! || echo ended $?
SH
	OTHER=$OUTSIDE/other run_in "$PROJECT" -- hurdle run -q --allow-write "$OUTSIDE/other" -- bash -e session
	assert_output 'text
8
4
to stdout
substituted
piped
through
cached
text
more
ended 143'
	assert_equal "$stderr" 'to stderr'
	assert_status 0
}

@test "what stands open is opened again as far as it is open, and no further" {
	echo input >"$OUTSIDE/input"
	echo old >"$OUTSIDE/log"
	# shellcheck disable=SC2016
	bash -c 'cd "$1" && shift && "$@" <"$OUTSIDE/input" >>"$OUTSIDE/log"' - "$PROJECT" "$HURDLE" run -q -- bash -c '
		echo again >>/dev/stdout; cat /dev/stdin; echo hit >/dev/stdin; echo hit >>/proc/self/fd/0; exit 0' 2>"$OUTSIDE/errors"
	assert_file_content "$OUTSIDE/input" input
	assert_file_content "$OUTSIDE/log" $'old\nagain\ninput'
	[[ $(grep -c 'Permission denied' "$OUTSIDE/errors") == 2 ]] || fail "$(<"$OUTSIDE/errors")"
}

@test "processes outside are neither signalled nor looked into" {
	require_tool python3 get_static
	own get_static
	A_TOKEN=canary python3 -c 'import time; time.sleep(300)' 3>&- &
	local outside=$!
	cat >look.py <<'PY'
import ctypes, os, signal, sys
pid = int(sys.argv[1])
def attempt(what, function):
    try:
        print(what, function())
    except OSError as e:
        print(what, os.strerror(e.errno))
attempt("kill", lambda: os.kill(pid, 0))
attempt("pidfd", lambda: signal.pidfd_send_signal(os.pidfd_open(pid), 0))
attempt("mem", lambda: open(f"/proc/{pid}/mem", "rb").close())
attempt("mem rw", lambda: os.open(f"/proc/{pid}/mem", os.O_RDWR))
attempt("environ", lambda: open(f"/proc/{pid}/environ").read())
attempt("cwd", lambda: os.readlink(f"/proc/{pid}/cwd"))
attempt("root", lambda: os.listdir(f"/proc/{pid}/root/"))
libc = ctypes.CDLL(None, use_errno=True)
print("attach", libc.ptrace(16, pid, None, None), os.strerror(ctypes.get_errno()))
PY
	run_in "$PROJECT" -- hurdle run -q -- python3 look.py "$outside"
	local inside=$output
	run_in "$PROJECT" -- hurdle run -q -- ./get_static "/proc/$PPID/environ"
	assert_status 1
	kill "$outside" || fail 'it was ended'
	assert_equal "$inside" 'kill Operation not permitted
pidfd Operation not permitted
mem Permission denied
mem rw Permission denied
environ Permission denied
cwd Permission denied
root Permission denied
attach -1 Operation not permitted'
}

@test "abstract sockets lead to nobody outside, but work among the run's own programs" {
	require_tool python3
	local name=landlock.$$.$RANDOM
	python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind("\0" + sys.argv[1]); s.listen(); open("ready", "w"); time.sleep(60)' "$name" 3>&- &
	local pid=$! try
	for try in {1..100}; do [[ ! -e ready ]] || break; sleep 0.05; done
	cat >connect.py <<'PY'
import socket, sys
own = socket.socket(socket.AF_UNIX); own.bind("\0own" + sys.argv[1]); own.listen()
socket.socket(socket.AF_UNIX).connect("\0own" + sys.argv[1])
print("own")
try:
    socket.socket(socket.AF_UNIX).connect("\0" + sys.argv[1])
    print("connected")
except OSError as e:
    print(e.strerror)
PY
	run_in "$PROJECT" -- hurdle run -q -- python3 connect.py "$name"
	local inside=$output
	run_in "$PROJECT" -- hurdle run -q --backend preload -- python3 connect.py "$name"
	kill "$pid"
	assert_equal "$inside" $'own\nOperation not permitted'
}

@test "inside bwrap it holds what bwrap does not, and stands in its way nowhere" {
	require_feature bwrap
	require_tool python3
	HURDLE=$HURDLE_ITSELF
	local name=landlock.$$.$RANDOM
	python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind("\0" + sys.argv[1]); s.listen(); open("ready", "w"); time.sleep(60)' "$name" 3>&- &
	local pid=$! try one two
	for try in {1..100}; do [[ ! -e ready ]] || break; sleep 0.05; done
	connect='import socket, sys; socket.socket(socket.AF_UNIX).connect("\0" + sys.argv[1]); print("connected")'
	run_in "$PROJECT" -- hurdle run -q --backend bwrap -- python3 -c "$connect" "$name"
	one=$output
	run_in "$PROJECT" -- hurdle run -q --backend bwrap,landlock,filter -- python3 -c "$connect" "$name"
	two=$output
	kill "$pid"
	assert_equal "$one $two" 'connected '
	echo secret >"$HOME/.netrc"
	run_in "$PROJECT" -- hurdle run -q --backend bwrap,landlock,filter,preload -- sh -c '
		echo x >file && cat file >/dev/null && echo y >"$TMPDIR/y" && echo z >/dev/shm/z && cat /proc/self/comm && cat ~/.netrc || echo refused'
	assert_output $'cat\nrefused'
}

@test "a program that may not be run is refused, by way of the loader too" {
	require_tool ldd
	cp "$(type -P true)" "$OUTSIDE/tool"
	run_in "$PROJECT" -- "$HURDLE" run -q --deny-exec "$OUTSIDE/tool" -- "$OUTSIDE/tool"
	assert_status 126
	local loader
	loader=$(ldd "$OUTSIDE/tool" | grep -oE '/[^ ]*/ld[^ ]*' | head -n 1)
	[[ -n $loader ]] || skip 'no loader'
	run_in "$PROJECT" -- hurdle run -q --deny-exec "$OUTSIDE/tool" -- "$loader" "$OUTSIDE/tool"
	assert_status 127
	run_in "$PROJECT" -- hurdle run -q -- "$loader" "$OUTSIDE/tool"
	assert_status 0
	[[ $(level_of fs.exec --deny-exec "$OUTSIDE/tool") == 'kernel landlock' ]]
}

@test "a root that is a file, and one that is gone" {
	echo old >"$OUTSIDE/file"
	run_in "$PROJECT" -- hurdle run -q --allow-write "$OUTSIDE/file" -- sh -c 'echo new >"$1"; rm "$1"' - "$OUTSIDE/file"
	assert_file_content "$OUTSIDE/file" new
	hurdle status --rules --allow-write "$OUTSIDE/file" | grep "allowWrite $OUTSIDE/file" | grep -q 'neither removed nor replaced'
}

@test "one inside the other" {
	run_in "$PROJECT" -- hurdle run -q -- "$HURDLE" run -q -- sh -c 'echo x >file && cat file; touch "$1"' - "$OUTSIDE/hit"
	assert_output x
	assert_file_absent "$OUTSIDE/hit"
}

@test "the profile says what is handled and what is granted" {
	echo secret >"$HOME/.netrc"
	run_in "$PROJECT" -- hurdle profile landlock
	assert_output_contains 'kept inside: signals abstract-sockets'
	assert_output_matches $'\n''refused unless granted: execute write-file read-file '
	assert_output_contains "write $PROJECT"
	assert_output_lacks "$HOME/.netrc"
}

@test "where the kernel has none, asking for it by name fails" {
	require_tool nosys
	run_in "$PROJECT" -- "$TOOLS/nosys" 444 "$HURDLE" run -- touch started
	assert_status 125
	assert_stderr_contains "backend 'landlock' does not work here: landlock_create_ruleset"
	assert_file_absent started
}

@test "the document says of each guarantee what status says" {
	local id level n=0
	: >"$OUTSIDE/file"
	while read -r id level; do
		[[ $level == $(level_of "$id" --backend landlock,filter,preload --deny-exec "$OUTSIDE/file" | cut -d ' ' -f 1) ]] ||
			fail "$id: $level in the document, $(level_of "$id" --backend landlock,filter,preload)" || return 1
		((++n))
	done < <(sed -nE '/^\| guarantee \| with Landlock/,/^$/s/^\| `([a-z.]+)` \| ([^|]*) \|.*/\1 \2/p' "$ROOT/docs/guarantees.md" |
		sed -E 's/^([^ ]+) .*`(kernel|application)`[^`]*$/\1 \2/; s/^([^ ]+) `(kernel)`.*/\1 \2/')
	((n == 8)) || fail "only $n rows"
}
