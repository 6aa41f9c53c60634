#!/usr/bin/env bats
# The program scrub-run: what a command gets to see, what is said, and the exit codes.
# shellcheck shell=bash

load ../lib

setup() { setup_sandbox; }

# clean NAME=VALUE... -- COMMAND...: runs it in exactly this environment (and a PATH). bats warns of a 127 that was not announced.
clean() {
	local vars=()
	while [[ $1 != -- ]]; do vars+=("$1"); shift; done
	shift
	run ${expected:+"-$expected"} --separate-stderr env -i PATH=/usr/local/bin:/usr/bin:/bin "${vars[@]}" "$@"
}

@test "a command runs without the secrets, and with everything else in order" {
	clean A=1 GITHUB_TOKEN=canary B=2 DATABASE_URL=canary C='x://u:canary@h' D=3 -- "$SCRUB_RUN" env
	assert_status 0
	assert_output $'PATH=/usr/local/bin:/usr/bin:/bin\nA=1\nB=2\nD=3'
	assert_equal "$stderr" ''
}

@test "the options keep, drop, and add" {
	clean A_TOKEN=canary B=2 SSH_AUTH_SOCK=/x C=3 -- \
		"$SCRUB_RUN" --keep 'A_*' --drop=B --no-handles --with D_KEY=4 --with C=5 -- env
	assert_output $'PATH=/usr/local/bin:/usr/bin:/bin\nA_TOKEN=canary\nD_KEY=4\nC=5'
	clean SSH_AUTH_SOCK=/x -- "$SCRUB_RUN" env
	assert_output_contains SSH_AUTH_SOCK=/x
}

@test "the exit codes are those of env" {
	clean A=1 -- "$SCRUB_RUN" sh -c 'exit 7'
	assert_status 7
	expected=127 clean A=1 -- "$SCRUB_RUN" "$PROJECT/nothing"
	assert_status 127
	assert_stderr_contains "scrub-run: cannot run '$PROJECT/nothing': No such file or directory"
	clean A=1 -- "$SCRUB_RUN" "$PROJECT"
	assert_status 126
	clean A=1 -- "$SCRUB_RUN"
	assert_status 125
	assert_stderr_contains 'hint: '
	for bad in --with --with=X --with==x --with-fd --with-fd=X --with-fd=X=y --with-fd=X=3x --list=x --keep -x --nonsense; do
		clean A=1 -- "$SCRUB_RUN" "$bad"
		[[ $status == 125 && -n $stderr && -z $output ]] || fail "$bad: status $status"
	done
}

@test "an unknown option names the nearest one" {
	clean A=1 -- "$SCRUB_RUN" --lsit true
	assert_status 125
	assert_equal "$stderr" $'scrub-run: unknown option \'--lsit\'\nscrub-run: hint: did you mean --list?'
}

@test "help and version come first" {
	clean A=1 -- "$SCRUB_RUN" --help
	assert_status 0
	for option in keep drop no-handles with with-fd list json help version; do assert_output_contains "--$option"; done
	clean A=1 -- "$SCRUB_RUN" --version
	assert_output_matches '^scrub-run [0-9]'
}

@test "the command is searched in the new PATH" {
	mkdir bin
	printf '#!/bin/sh\necho mine\n' >bin/mine
	chmod +x bin/mine
	clean A=1 -- "$SCRUB_RUN" --with PATH="$PWD/bin:/usr/bin:/bin" mine
	assert_output mine
	expected=127 clean A=1 -- "$SCRUB_RUN" mine
	assert_status 127
}

@test "it runs in place: same process, no child, nothing left of its environment" {
	env -i PATH=/usr/bin:/bin A_TOKEN=canary S="$SCRUB_RUN" bash -c 'echo $$; exec "$S" bash -c "echo \$\$; tr \"\\0\" \"\\n\" </proc/\$\$/environ"' >out
	assert_equal "$(sed -n 1p out)" "$(sed -n 2p out)"
	[[ $(<out) != *canary* ]] || fail "$(<out)"
}

@test "--list and --json tell names and reasons, never values" {
	clean GITHUB_TOKEN=canary A=1 MY_KEY=canary B='https://u:canary@example.org/' BASH_ENV=/canary -- "$SCRUB_RUN" --list
	assert_status 0
	assert_equal "${lines[0]%%$'\t'*} ${lines[1]} ${#lines[@]}" "GITHUB_TOKEN MY_KEY	name contains KEY 4"
	assert_output_lacks canary
	clean GITHUB_TOKEN=canary A=1 -- "$SCRUB_RUN" --json
	assert_output '{"schema":1,"dropped":[{"name":"GITHUB_TOKEN","reason":"listed: CI and version control token"}],"kept":2}'
	clean GITHUB_TOKEN=canary A=1 -- "$SCRUB_RUN" --list printenv A
	assert_output 1
	assert_stderr_contains GITHUB_TOKEN
	assert_output_lacks canary
	clean A=1 -- "$SCRUB_RUN" --list
	assert_output ''
}

@test "errors do not repeat a value" {
	clean A=1 -- "$SCRUB_RUN" --with canary true
	assert_status 125
	assert_output_lacks canary
	expected=127 clean A=1 -- "$SCRUB_RUN" --with A_TOKEN=canary "$PROJECT/nothing"
	assert_output_lacks canary
}

@test "git works after its settings went, and with harmless ones kept" {
	require_tool git
	git init -q .
	clean HOME="$HOME" GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.extraHeader GIT_CONFIG_VALUE_0='Authorization: Basic canary' -- \
		"$SCRUB_RUN" git config --list --show-scope
	assert_status 0
	assert_output_lacks canary
	clean HOME="$HOME" GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=example -- "$SCRUB_RUN" git config user.name
	assert_output example
	clean HOME="$HOME" GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=example.setting GIT_CONFIG_VALUE_0=x -- \
		"$SCRUB_RUN" --keep GIT_CONFIG_COUNT git config example.setting
	assert_output x
}

@test "make's copy of a variable goes with it" {
	require_tool make
	printf 'all:\n\t@"%s" env\n' "$SCRUB_RUN" >Makefile
	run --separate-stderr make DEPLOY_TOKEN=canary PREFIX=/usr
	assert_status 0
	assert_output_contains PREFIX=/usr
	assert_output_lacks canary
	run --separate-stderr make PREFIX=/usr
	assert_output_contains MAKEFLAGS=
}

@test "copies that nobody looks into go when anything went" {
	clean DIRENV_DIFF=canary SUDO_COMMAND=canary -- "$SCRUB_RUN" env
	assert_output_contains DIRENV_DIFF=canary
	clean DIRENV_DIFF=canary SUDO_COMMAND=canary A_KEY=1 -- "$SCRUB_RUN" env
	assert_output_lacks canary
}

@test "every duplicate of a name goes, and names are bytes" {
	require_tool python3
	# execve itself takes what no shell can write
	run --separate-stderr python3 - "$SCRUB_RUN" <<'PY'
import ctypes, os, subprocess, sys
libc = ctypes.CDLL(None)
def run(entries, args):
    r, w = os.pipe()
    if os.fork() == 0:
        os.dup2(w, 1)
        argv = [sys.argv[1].encode()] + args
        make = lambda items: (ctypes.c_char_p * (len(items) + 1))(*items, None)
        libc.execve(argv[0], make(argv), make(entries))
        os._exit(99)
    os.close(w)
    out = b''
    while chunk := os.read(r, 1 << 16):
        out += chunk
    os.close(r)
    assert os.wait()[1] == 0
    return out
cat = [b'/bin/cat', b'/proc/self/environ']
entries = [b'A_TOKEN=canary', b'B=1', b'A_TOKEN=canary2', b'V=plain', b'V=x://u:canary@h', b'no equals', b'=C:=x', b'=A_KEY=canary',
           b'SOMETOKEN', b'\xff\xfe=1', b'\xffsecret\x80=canary', b'a.b/c:d=2', b'B=2', b'']
got = run(entries, cat)
assert got == b'\0'.join([b'B=1', b'no equals', b'=C:=x', b'\xff\xfe=1', b'a.b/c:d=2', b'B=2', b'']) + b'\0', got
names = run(entries, [b'--list'])
assert b'canary' not in names and names.count(b'A_TOKEN\t') == 1, names
assert b'\\M^?secret\\M^@\t' in names, names
import json
assert json.loads(run(entries, [b'--json']).decode())['kept'] == 7
# many, and as large as the kernel takes
many = [b'%s_%d=%d' % (b'TOKEN' if i % 5 == 0 else b'VAR', i, i) for i in range(5000)]
assert run(many, cat) == b''.join(e + b'\0' for e in many if e.startswith(b'VAR'))
large = [b'BIG=' + b'x' * 131000, b'BIGGER=' + b'y ' * 60000 + b'ghp_' + b'a' * 36, b'C_KEY=' + b'z' * 131000]
assert run(large, cat) == large[0] + b'\0'
print('all right')
PY
	assert_status 0
	assert_output 'all right'
}

@test "a value can come from a descriptor" {
	clean A=1 -- bash -c 'exec 5< <(printf "can ary\n\n"); exec "$0" --with-fd X_TOKEN=5 bash -c "printf %s= \"\$X_TOKEN\"; [[ ! -e /proc/\$\$/fd/5 ]]"' "$SCRUB_RUN"
	assert_status 0
	assert_equal "$output" $'can ary\n='
	clean A=1 -- "$SCRUB_RUN" --with-fd X=77 env
	assert_status 125
	assert_stderr_contains 'cannot read a value from descriptor 77: Bad file descriptor'
	clean A=1 -- bash -c 'printf "a\0b" | "$0" --with-fd X=0 env' "$SCRUB_RUN"
	assert_status 125
	assert_stderr_contains 'NUL'
}

@test "a value from a descriptor may have 1 MiB, and what the kernel refuses is said" {
	clean A=1 -- bash -c 'head -c 1048577 /dev/zero | tr "\0" c | "$0" --with-fd X=0 env' "$SCRUB_RUN"
	assert_status 125
	assert_stderr_contains 'longer than 1 MiB'
	clean A=1 -- bash -c 'head -c 1048576 /dev/zero | tr "\0" c | "$0" --with-fd X=0 --list' "$SCRUB_RUN"
	assert_status 0
	clean A=1 -- bash -c 'head -c 1048576 /dev/zero | tr "\0" c | "$0" --with-fd X=0 env' "$SCRUB_RUN"
	assert_status 126
	assert_stderr_contains 'Argument list too long'
	assert_stderr_contains '128 KiB'
	assert_stderr_lacks ccc
	clean A=1 -- bash -c 'head -c 100000 /dev/zero | tr "\0" c | "$0" --with-fd X=0 printenv X | wc -c' "$SCRUB_RUN"
	assert_output 100001
}

@test "running it twice changes nothing more" {
	clean A=1 B_KEY=x SSH_AUTH_SOCK=/x -- "$SCRUB_RUN" "$SCRUB_RUN" env
	assert_output $'PATH=/usr/local/bin:/usr/bin:/bin\nA=1\nSSH_AUTH_SOCK=/x'
}

@test "both tables of names give the expected verdict through the program" {
	require_tool python3
	run --separate-stderr python3 - "$SCRUB_RUN" "$ROOT/tests/tables/env.tsv" <<'PY'
import json, re, subprocess, sys
wrong = rows = 0
for line in open(sys.argv[2]):
    if line.startswith('#') or not line.strip():
        continue
    name, value, verdict, group, reason = line.rstrip('\n').split('\t')
    value = re.sub(r'<(.)(\d+)>', lambda m: m[1] * int(m[2]), value).replace('\\n', '\n')
    out = subprocess.run([sys.argv[1], '--json'], env={name: value, 'COMPANION_TOKEN': '1'}, capture_output=True, check=True).stdout
    gone = name in [d['name'] for d in json.loads(out)['dropped']]
    assert b'canary' not in out.replace(name.encode(), b''), line
    rows += 1
    if gone != (verdict == 'drop'):
        wrong += 1
        print(line)
assert rows > 550 and wrong == 0, (rows, wrong)
PY
	assert_status 0
}
