#!/usr/bin/env bats
# Programs that the shim cannot enter: named on the run line and in the report, refused with --strict; by whomever started.
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	require_tool put_static
	cp "$TOOLS/put_static" static
	printf '#!%s %s\n' "$PROJECT/static" "$OUTSIDE/hit" >script
	chmod +x script
}

# uncovered REASON NAME [ARGUMENT...]: NAME is started by hurdle itself; program, where set, is what is to be run for that name
uncovered() {
	local reason=$1 name=$2
	shift 2
	set -- "${program:-$name}" "$@"
	rm -f report.json "$OUTSIDE/hit"
	run_in "$PROJECT" -- hurdle run --report report.json -- "$@"
	assert_status 0
	assert_stderr_contains "UNCOVERED: $name ($reason" || return 1
	assert_equal "$(json_get report.json '.uncovered[].program')" "$name" || return 1
	[[ $(json_get report.json '.uncovered[0].reason') == "$reason"* ]] || fail "$(<report.json)" || return 1
	# it really is outside the rules
	assert_file_content "$OUTSIDE/hit" hit || return 1
	rm -f "$OUTSIDE/hit" report.json
	run_in "$PROJECT" -- hurdle run --strict --report report.json -- "$@"
	assert_status 125
	assert_stderr_contains "cannot run '$name'" || return 1
	assert_stderr_contains "$reason" || return 1
	assert_file_absent "$OUTSIDE/hit"
}

# uncovered_child REASON NAME PROGRAM...: started by what hurdle started
uncovered_child() {
	local reason=$1 name=$2
	shift 2
	rm -f report.json "$OUTSIDE/hit"
	run_in "$PROJECT" -- hurdle run --report report.json -- "$@"
	assert_status 0
	assert_stderr_contains "ran outside the file rules: $name ($reason" || fail "by: $*" || return 1
	assert_output_lacks UNCOVERED || return 1
	[[ $(json_get report.json '.uncovered[].program') == "$name" ]] || fail "by: $*" "$(json_get report.json .uncovered)" || return 1
	assert_file_content "$OUTSIDE/hit" hit || return 1
	rm -f "$OUTSIDE/hit" report.json
	run_in "$PROJECT" -- hurdle run --strict --report report.json -- "$@"
	[[ $status != 0 && $status != 125 ]] || fail "with --strict, by: $*" "$(seen_)" || return 1
	assert_stderr_contains "refused, since the rules cannot reach it: $name ($reason" || return 1
	[[ $(json_get report.json '.uncovered[].program') == "$name" ]] || return 1
	assert_file_absent "$OUTSIDE/hit"
}

@test "a static program" {
	uncovered static ./static "$OUTSIDE/hit"
	uncovered static "$PROJECT/static" "$OUTSIDE/hit"
	PATH=$PROJECT:$PATH program=static uncovered static "$PROJECT/static" "$OUTSIDE/hit"
}

@test "a static program that another one starts" {
	for starter in 'sh -c' 'bash -c' 'dash -c' 'env sh -c' 'env -i sh -c' 'timeout 5 sh -c' 'nice sh -c'; do
		# shellcheck disable=SC2086 # words
		uncovered_child static ./static $starter "./static '$OUTSIDE/hit'"
	done
	uncovered_child static ./static env ./static "$OUTSIDE/hit"
	uncovered_child static ./static env -i ./static "$OUTSIDE/hit"
	uncovered_child static ./static sh -c "echo '$OUTSIDE/hit' | xargs ./static"
	PATH=$PROJECT:$PATH uncovered_child static "$PROJECT/static" env static "$OUTSIDE/hit"
}

@test "a static program that python starts, in each of its ways" {
	require_tool python3
	local program
	for program in 'import subprocess; subprocess.run(["./static", f], check=True)' \
		'import subprocess; subprocess.run(["./static", f], check=True, env={}, close_fds=False)' \
		'import subprocess; subprocess.run(["./static", f], check=True, preexec_fn=print, stdout=-3)' \
		'import os; assert os.waitpid(os.posix_spawn("./static", ["s", f], {}), 0)[1] == 0' \
		'import os; assert os.waitpid(os.posix_spawnp("./static", ["s", f], {}), 0)[1] == 0' \
		'import os; os.execv("./static", ["s", f])' 'import os; os.execve("./static", ["s", f], {})' \
		'import os; os.execlp("./static", "s", f)' 'import os; os.execvpe("./static", ["s", f], {})' \
		'import os; assert os.system("./static " + f) == 0' 'import os; assert os.popen("./static " + f).close() is None'; do
		uncovered_child static ./static python3 -c "import sys; f = sys.argv[1]; $program" "$OUTSIDE/hit"
	done
	program='import os; os.execve(os.open("static", os.O_RDONLY), ["s", f], {})'
	uncovered_child static "$PROJECT/static" python3 -c "import sys; f = sys.argv[1]; $program" "$OUTSIDE/hit"
}

@test "a script whose interpreter is static" {
	uncovered static ./script
	uncovered_child static ./script sh -c ./script
	uncovered_child static ./script env -i ./script
	printf '#!%s\n' "$PROJECT/script" >outer
	chmod +x outer
	uncovered static ./outer
	printf '#! \t/bin/sh -e\ntrue\n' >plain
	chmod +x plain
	run_in "$PROJECT" -- hurdle run --strict -- ./plain
	assert_status 0
	assert_output_lacks UNCOVERED
}

@test "a Go program, by the note that its toolchain leaves" {
	require_tool gcc
	cat >note.c <<'C'
__asm__(".pushsection .note.go.buildid,\"a\",@note\n.balign 4\n.long 4, 4, 4\n.ascii \"Go\\0\\0\"\n.ascii \"abcd\"\n.popsection");
#include <stdio.h>
int main(int argc, char **argv)
{
	FILE *f = fopen(argv[argc - 1], "w");
	if (f)
		fputs("hit\n", f);
	return !f;
}
C
	gcc -o go note.c
	# linked with libc, so what it does through libc is held all the same
	run_in "$PROJECT" -- hurdle run --report report.json --allow-write "$OUTSIDE" -- ./go "$OUTSIDE/hit"
	assert_status 0
	assert_stderr_contains 'UNCOVERED: ./go (a Go program'
	[[ $(json_get report.json '.uncovered[0].reason') == 'a Go program'* ]]
	run_in "$PROJECT" -- hurdle run --strict -- ./go "$OUTSIDE/hit"
	assert_status 125
	assert_stderr_contains 'a Go program'
	run_in "$PROJECT" -- hurdle run --strict -- sh -c './go x'
	[[ $status != 0 ]]
	assert_stderr_contains 'refused, since the rules cannot reach it: ./go (a Go'
	sed -i '/^__asm__/d' note.c && gcc -o plain note.c
	run_in "$PROJECT" -- hurdle run --strict -- ./plain x
	assert_status 0
}

@test "a program built by Go" {
	command -v go >/dev/null || skip "no go here"
	printf 'package main\nimport "os"\nfunc main() { if os.WriteFile(os.Args[1], []byte("hit\\n"), 0600) != nil { os.Exit(1) } }\n' >main.go
	GOCACHE=$HOME/cache GOFLAGS=-mod=mod GO111MODULE=off go build -o gofile main.go || skip 'go cannot build here'
	uncovered "a Go" ./gofile "$OUTSIDE/hit"
	uncovered_child "a Go" ./gofile sh -c "./gofile '$OUTSIDE/hit'"
}

@test "a program with file capabilities" {
	require_tool setcap
	as_root || skip 'only root can give a file capabilities'
	require_tool setpriv
	local base
	# where that user may look
	base=$(mktemp -d /tmp/hcap.XXXXXX)
	chmod 755 "$base"
	mkdir "$base/p" "$base/out" "$base/home"
	cp "$HURDLE" "$base/hurdle"
	cp "$(command -v touch)" "$base/p/capable"
	chown -R 65534:65534 "$base/p" "$base/out" "$base/home"
	if ! setcap cap_net_bind_service+ep "$base/p/capable" 2>setcap.err; then
		rm -rf "$base"
		skip "$(<setcap.err)"
	fi
	as_nobody() { (cd "$base/p" && setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$base/home" TMPDIR=/tmp "$base/hurdle" run "$@"); }
	run --separate-stderr as_nobody --report report.json -- ./capable "$base/out/x"
	local first=$status said=$stderr named made='' strict refused
	named=$(json_get "$base/p/report.json" '.uncovered[].reason')
	[[ ! -e $base/out/x ]] || made=yes
	rm -f "$base/out/x"
	run --separate-stderr as_nobody --strict -- ./capable "$base/out/x"
	strict=$status refused=$stderr
	run --separate-stderr as_nobody --strict -- sh -c './capable "$0"' "$base/out/y"
	local child=$status left
	left=$(ls -A "$base/out")
	rm -rf "$base"
	[[ $said == *'UNCOVERED: ./capable ('*capabilities* ]] || fail "$said"
	[[ $named == *capabilities* ]] || fail "in the report: $named"
	# no_new_privs takes the capabilities away; the loader ignores the preload all the same, or not: both are told
	[[ $first == 0 && $made == yes ]] || [[ $first == 1 && -z $made ]] || fail "status $first"
	[[ $strict == 125 && $refused == *capabilities* ]] || fail "$strict $refused"
	[[ $child != 0 && -z $left ]] || fail "$child $left"
}

@test "a program whose loader ignores the shim is found by its silence" {
	require_tool gcc
	# its loader is a program of its own, which writes and ends
	cat >loader.c <<'C'
static long call(long n, long a, long b, long c)
{
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "0"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}
void _start(void) { call(1, call(2, (long)TARGET, 0101, 0600), (long)"hit\n", 4); call(60, 0, 0, 0); }
C
	[[ $(uname -m) == x86_64 ]] || skip 'written for x86-64'
	gcc -O1 -nostdlib -static -fno-stack-protector -DTARGET="\"$OUTSIDE/hit\"" -o loader loader.c
	printf 'int main(void) { return 0; }\n' >t.c
	gcc -o silent -Wl,--dynamic-linker="$PROJECT/loader" t.c
	./silent "$OUTSIDE/hit"
	assert_file_content "$OUTSIDE/hit" hit
	rm "$OUTSIDE/hit"
	run_in "$PROJECT" -- hurdle run --report report.json -- sh -c './silent "$0"' "$OUTSIDE/hit"
	assert_stderr_contains './silent ('
	assert_equal "$(json_get report.json '.uncovered[].program')" ./silent
	run_in "$PROJECT" -- hurdle run --report report.json -- ./silent "$OUTSIDE/hit"
	assert_stderr_contains './silent ('
	assert_equal "$(json_get report.json '.uncovered[].program')" ./silent
}

@test "covered programs are not called uncovered" {
	for program in /bin/sh bash python3 perl git gcc node make; do
		command -v "$program" >/dev/null || continue
		run_in "$PROJECT" -- hurdle run --strict --report report.json -- "$program" --version
		[[ $program == /bin/sh ]] || assert_status 0
		assert_output_lacks UNCOVERED
		assert_output_lacks 'outside the file rules'
		assert_equal "$(json_get report.json '.uncovered | length')" 0
	done
	require_tool musl-gcc
	printf 'int main(void) { return 0; }\n' >t.c
	musl-gcc -o musl t.c
	run_in "$PROJECT" -- hurdle run --strict --report report.json -- ./musl
	assert_status 0
	assert_equal "$(json_get report.json '.uncovered | length')" 0
}
