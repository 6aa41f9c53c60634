#!/usr/bin/env bats
# Bad input: one clear line (and a hint), exit 125, nothing started, nothing left behind.
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	mkdir "$OUTSIDE/tmp"
	export TMPDIR=$OUTSIDE/tmp
}

# bad TEXT OPTION...: what hurdle says to these options, before a command that must not start
bad() {
	local expected=$1 before
	shift
	before=$(tree_of "$PROJECT")
	run_in "$PROJECT" -- hurdle run "$@" -- touch started
	assert_status 125
	assert_equal "$output" '' || return 1
	[[ $stderr == hurdle:* && $stderr == *"$expected"* ]] || fail "expected: $expected" "$(seen_)" || return 1
	# one line that says what, and at most one hint
	(($(grep -vc '^hurdle: hint: ' <<<"$stderr") == 1 && $(wc -l <<<"$stderr") <= 2)) || fail "more than a line" "$(seen_)" || return 1
	! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' <<<"$stderr" || fail "not escaped" "$(cat -v <<<"$stderr")" || return 1
	assert_equal "$(tree_of "$PROJECT")" "$before" || return 1
	assert_equal "$(ls -A "$TMPDIR")" ''
}

@test "an unknown option, with the nearest name" {
	bad "unknown option '--alow-write'" --alow-write=.
	assert_stderr_contains "did you mean '--allow-write'?"
	bad "unknown option '--deny-raed'" --deny-raed=.
	assert_stderr_contains "did you mean '--deny-read'?"
	bad "unknown option" --qwertyuiop
	assert_stderr_lacks 'did you mean'
	bad "unknown option" $'--\x1b[31mred'
}

@test "options without or with wrong values" {
	for option in --allow-write --settings --report --net --require --pass-fd --keep --profile --cwd-file; do
		run_in "$PROJECT" -- hurdle run "$option"
		assert_status 125
		assert_stderr_contains "$option"
	done
	bad "--net" --net=maybe
	bad "--profile" --profile=lax
	bad "--caches" --caches=mine
	bad "--require" --require=fs.write
	bad "--require" --require=fs.write=iron
	bad "--require" --require=no.such=kernel
	bad "--pass-fd" --pass-fd=three
	bad "--pass-fd" --pass-fd=-1
	bad "--env" --env=novalue
	bad "--quiet" --quiet=yes
}

@test "settings files: missing, empty, no JSON, duplicate keys, wrong types, each with its place" {
	mkdir dir
	bad "cannot read the settings file 'missing.json': No such file or directory" --settings missing.json
	bad "dir" --settings dir
	: >empty.json
	bad "empty.json" --settings empty.json
	printf '{\n "filesystem": {\n  "allowWrite": [1,]\n' >broken.json
	bad "broken.json:3:20: " --settings broken.json
	printf '{\n  "filesystem": {"denyRead": []},\n  "filesystem": {}\n}\n' >twice.json
	bad "twice.json:3:" --settings twice.json
	printf '{\n  "filesystem": {\n    "allowWrite": "."\n  }\n}\n' >type.json
	bad "type.json:3:" --settings type.json
	assert_stderr_contains allowWrite
	printf '{"filesystem": {"allowWrite": [".", 7]}}' >type.json
	bad "type.json:1:" --settings type.json
	printf '[]' >list.json
	bad "list.json:1:1" --settings list.json
	printf '{"a": "\xff"}' >bytes.json
	bad "bytes.json:1:" --settings bytes.json
	head -c 100000 /dev/zero | tr '\0' '[' >deep.json
	bad "deep.json:1:" --settings deep.json
	printf '{"filesystem": {}} x' >rest.json
	bad "rest.json:1:" --settings rest.json
	printf '{}' >$'odd\x1b[31m\n.json' && chmod 000 $'odd\x1b[31m\n.json'
	as_root || bad 'Permission denied' --settings $'odd\x1b[31m\n.json'
	bad 'No such file' --settings $'no\x1b[31m\n.json'
}

@test "roots that do not exist, paths that are too long" {
	bad "'/no/such/root' does not exist" --allow-write /no/such/root
	bad "does not exist" --allow-write $'no\x1b]0;x\x07\nroot'
	bad "too long" --allow-write "/$(printf 'a/%.0s' {1..2100})"
	bad "too long" --deny-write "/$(printf 'a/%.0s' {1..2100})"
	bad "too long" --deny-read "$(printf '%0300d' 0)"
	bad "--allow-write" --allow-write ''
	ln -s loop loop
	bad loop --deny-read loop
}

@test "files that cannot be written" {
	bad "cannot write the report '/no/such/dir/r'" --report /no/such/dir/r
	bad "cannot write" --cwd-file /no/such/dir/c
	mkdir dir && ln -s "$OUTSIDE/elsewhere" link
	bad "cannot write the report 'dir'" --report dir
	bad "symbolic link" --report link
	bad "cannot write 'link'" --cwd-file link
	assert_file_absent "$OUTSIDE/elsewhere"
}

@test "what the host cannot give is refused by name" {
	bad "fs.write" --require fs.write=kernel
	bad "exec.coverage" --require all=kernel
	run_in "$PROJECT" -- hurdle run -q --require fs.write=application --require env.secrets=kernel -- true
	assert_status 0
}

@test "without HOME, with an odd HOME, without PATH, in a directory that is gone" {
	run_in "$PROJECT" -- env -u HOME "$HURDLE" run -q -- sh -c 'echo x >made && cat made'
	assert_status 0
	assert_output x
	for home in '' relative /nonexistent $'odd\x1b[31m\nname'; do
		HOME=$home run_in "$PROJECT" -- hurdle run -q -- sh -c 'echo x >made && cat made'
		[[ ($status == 0 && $output == x) || ($status == 125 && $stderr == hurdle:*) ]] || fail "HOME=$home" "$(seen_)"
	done
	run_in "$PROJECT" -- env -u PATH "$HURDLE" run -q -- sh -c 'echo x'
	assert_output x
	mkdir gone && cd gone && rmdir ../gone
	run --separate-stderr timeout 60 "$HURDLE_ITSELF" run -- touch "$PROJECT/x"
	[[ $status == 125 && $(wc -l <<<"$stderr") -le 2 && $stderr == hurdle:* ]] || [[ $status == 1 && $stderr == *'Permission denied'* ]] || fail "$(seen_)"
	assert_file_absent "$PROJECT/x"
}

@test "a TMPDIR that is missing, a file, or has a space in it is passed over" {
	mkdir 'with space' && : >file
	for dir in /no/such/dir "$PROJECT/file" "$PROJECT/with space" relative ''; do
		TMPDIR=$dir run_in "$PROJECT" -- hurdle run -q -- sh -c 'echo "$TMPDIR" && echo x >"$TMPDIR/x"'
		assert_status 0
		[[ $output == /*hurdle-* && $output != "$PROJECT"* && ! -e $output ]] || fail "TMPDIR=$dir" "$(seen_)"
	done
}

@test "no place for a temporary directory at all" {
	require_feature userns mountns
	run_in "$PROJECT" -- unshare -rm bash -c '
		for dir in /tmp /var/tmp /dev/shm; do mount --bind "$dir" "$dir" && mount -o remount,bind,ro "$dir" || exit 99; done
		unset XDG_RUNTIME_DIR
		TMPDIR=/no/such/dir exec "$HURDLE" run -- true'
	[[ $status != 99 ]] || skip "$stderr"
	assert_status 125
	assert_stderr_contains 'cannot make a private directory'
	assert_equal "$(wc -l <<<"$stderr")" 2
}

@test "a disk that is full when the report is written" {
	run_in "$PROJECT" -- hurdle run -q --report /dev/full -- true
	assert_status 125
	assert_equal "$stderr" "hurdle: cannot write the report '/dev/full': No space left on device"
	run_in "$PROJECT" -- hurdle run -q --report /dev/full -- sh -c 'exit 3'
	assert_status 3
	assert_stderr_contains 'No space left on device'
	require_feature userns mountns
	mkdir small
	run_in "$PROJECT" -- unshare -rm bash -c '
		mount -t tmpfs -o size=16k none small || exit 99
		head -c 12k /dev/zero >small/filler
		"$HURDLE" run -q --report small/report -- true
		echo "$? $(stat -c %s small/report)"'
	[[ $status != 99 ]] || skip "$stderr"
	# not half a document
	assert_output '125 0'
	assert_stderr_contains 'No space left on device'
}

@test "a report that cannot be begun leaves nothing behind" {
	run_in "$PROJECT" -- hurdle run --report r.json --cwd-file /no/such/place -- touch ran
	assert_status 125
	assert_file_absent "$PROJECT/r.json"
	assert_file_absent "$PROJECT/ran"
	run_in "$PROJECT" -- hurdle run --report /no/such/place --cwd-file c -- touch ran
	assert_status 125
	assert_file_absent "$PROJECT/c"
}

@test "a pointer into the first page gets the kernel's answer" {
	require_tool python3
	cat >"$PROJECT/t.py" <<-'X'
		import ctypes, errno
		libc = ctypes.CDLL(None, use_errno=True)
		for call in (lambda: libc.open(ctypes.c_void_p(8), 0), lambda: libc.mkdir(ctypes.c_void_p(8), 0o700),
		             lambda: libc.unlink(ctypes.c_void_p(8)), lambda: libc.rename(b"a", ctypes.c_void_p(8)),
		             lambda: libc.syscall(257, -100, ctypes.c_void_p(8), 0)):
		    assert call() == -1 and ctypes.get_errno() == errno.EFAULT
	X
	run_in "$PROJECT" -- hurdle run -- python3 t.py
	assert_status 0
}
