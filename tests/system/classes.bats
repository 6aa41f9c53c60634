#!/usr/bin/env bats
# Programs of 32-bit words on a 64-bit machine: a shim of their own is in them, whoever starts whom, and no loader complains of a shim that
# it cannot take.
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	[[ $(uname -m) == x86_64 ]] || skip 'no programs of two word sizes here'
	require_tool start32
	start32=$TOOLS/start32 start64=$TOOLS/start
	"$start32" write "$PROJECT/probe" || skip_or_fail tools 'this kernel starts no 32-bit programs'
}

ways='execve execv execvp execvpe execl execlp execle fexecve execveat syscall spawn spawnp system popen vfork'

# refused COMMAND...: it tries to write $OUTSIDE/hit, and must be kept from it by a shim; each program of it had one
refused() {
	rm -f "$OUTSIDE/hit" report.json
	run_in "$PROJECT" -- hurdle run --report report.json -- "$@"
	assert_stderr_lacks 'ld.so' || fail "by: $*" || return 1
	assert_equal "$(json_get report.json '.uncovered | length')" 0 || fail "by: $*" "$(seen_)" || return 1
	[[ $output == 'Permission denied' && $status == 1 ]] || fail "not refused by: $*" "$(seen_)" || return 1
	assert_stderr_contains "deny file-write-create $OUTSIDE/hit" || return 1
	assert_file_absent "$OUTSIDE/hit"
}

@test "a 32-bit program is covered, and held" {
	"$start32" write "$OUTSIDE/hit"
	assert_file_content "$OUTSIDE/hit" hit
	refused "$start32" write "$OUTSIDE/hit"
	run_in "$PROJECT" -- hurdle run --strict -- "$start32" write inside
	assert_status 0
	assert_output 'done'
	assert_output_lacks UNCOVERED
	assert_file_content inside hit
}

@test "from one word size to the other and back, in every way to start a program" {
	local how
	for how in $ways; do
		refused "$start32" "$how" "$start64" write "$OUTSIDE/hit"
		refused "$start64" "$how" "$start32" write "$OUTSIDE/hit"
		refused "$start64" "$how" "$start32" "$how" "$start64" write "$OUTSIDE/hit"
	done
	refused "$start32" execve "$start64" spawn "$start32" vfork "$start64" system "$start32" write "$OUTSIDE/hit"
}

@test "also with no environment" {
	local how
	for how in execve spawn system execle; do
		refused "$start32" -i "$how" "$start64" write "$OUTSIDE/hit"
		refused "$start64" -i "$how" "$start32" write "$OUTSIDE/hit"
		refused "$start32" -i "$how" "$start32" write "$OUTSIDE/hit"
	done
	refused env -i "$start32" write "$OUTSIDE/hit"
}

@test "a script whose interpreter is a 32-bit program" {
	# it is started as `start32 write SCRIPT`
	printf '#!%s write\n' "$start32" >"$OUTSIDE/hit"
	chmod +x "$OUTSIDE/hit"
	run_in "$PROJECT" -- hurdle run --report report.json -- "$OUTSIDE/hit"
	assert_status 1
	assert_output 'Permission denied'
	run_in "$PROJECT" -- hurdle run --report report.json -- "$start64" execvp "$OUTSIDE/hit"
	assert_output 'Permission denied'
	assert_stderr_lacks 'ld.so'
	assert_equal "$(json_get report.json '.uncovered | length')" 0
	run_in "$PROJECT" -- hurdle run --report report.json -- "$start32" spawn "$OUTSIDE/hit"
	assert_output 'Permission denied'
	assert_stderr_lacks 'ld.so'
	assert_equal "$(json_get report.json '.uncovered | length')" 0
}

@test "a text without an interpreter, for which libc starts the shell" {
	printf '"%s" write "%s"\n' "$start32" "$OUTSIDE/hit" >text
	chmod +x text
	for start in "$start32" "$start64"; do
		refused "$start" execvp ./text
		refused "$start" execlp ./text
	done
}

@test "a 32-bit program by its loader" {
	local loader
	loader=$(readelf -l "$start32" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
	refused "$loader" "$start32" write "$OUTSIDE/hit"
	refused "$start64" execv "$loader" "$start32" write "$OUTSIDE/hit"
}

@test "the user's own preload stays behind the shim of either size" {
	require_tool gcc
	printf '%s\n' '#define _GNU_SOURCE' '#include <errno.h>' '#include <stdio.h>' \
		'__attribute__((constructor)) void f(void) { dprintf(1, "mine in %s\n", program_invocation_short_name); }' >mine.c
	gcc -shared -fPIC -o mine.so mine.c
	run_in "$PROJECT" -- env LD_PRELOAD="$PROJECT/mine.so" "$HURDLE" run --keep LD_PRELOAD -- "$start32" execve "$start64" write "$OUTSIDE/hit"
	# the 32-bit loader complains of the user's library, as it does without hurdle
	assert_stderr_contains "object '$PROJECT/mine.so' from LD_PRELOAD cannot be preloaded"
	assert_stderr_lacks 'shim'
	[[ $output == *$'mine in start\nPermission denied' ]] || fail "$(seen_)"
}

@test "a static 32-bit program, and one of another machine, are uncovered" {
	require_tool start32_static
	run_in "$PROJECT" -- hurdle run --report report.json -- "$start64" execv "$TOOLS/start32_static" write "$OUTSIDE/hit"
	assert_stderr_contains "ran outside the file rules: $TOOLS/start32_static (static"
	assert_equal "$(json_get report.json '.uncovered[].program')" "$TOOLS/start32_static"
	assert_file_content "$OUTSIDE/hit" hit
	# the same file, said to be for 32-bit ARM
	cp "$start32" arm
	printf '\x28\x00' | dd of=arm bs=1 seek=18 conv=notrunc status=none
	run_in "$PROJECT" -- hurdle run --strict -- ./arm write "$OUTSIDE/x"
	assert_status 125
	assert_stderr_contains 'built for another architecture'
}

@test "the session holds both shims, and removes both" {
	run_in "$PROJECT" -- hurdle run -- sh -c 'ls "$(dirname "$(echo "$LD_PRELOAD" | cut -d: -f1)")"; echo "$LD_PRELOAD"'
	assert_status 0
	[[ $output == *shim.so* && $output == *shim32.so* ]] || fail "$(seen_)"
	assert_file_absent "$(dirname "${lines[-1]}")"
	run_in "$PROJECT" -- hurdle status
	assert_output_contains '32-bit'
}
