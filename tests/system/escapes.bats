#!/usr/bin/env bats
# Every road of tests/tools/attempt.def, by which a program could reach outside the write roots: each must lead there without
# hurdle, and be refused inside it with nothing changed.
# shellcheck shell=bash

load ../lib

setup() { setup_sandbox; }

# rows_of KIND FILE: the names in FILE (lines of "NAME result") whose result is KIND, in order
rows_of() { awk -v kind="$1" '$2 == kind { print $1 }' "$2" | sort; }

# without_hurdle PROGRAM LEAST: at least LEAST of the rows get through, and each of those left its mark. They are in ./open.
without_hurdle() {
	mkdir plain
	"$1" prepare "$OUTSIDE/plain"
	"$1" show "$OUTSIDE/plain" >plain.before
	(cd plain && "$1" write "$OUTSIDE/plain") >plain.got 2>plain.err
	"$1" show "$OUTSIDE/plain" >plain.after
	rows_of 'done' plain.got >open
	(($(wc -l <open) >= $2)) || fail "only these get through without hurdle:" "$(<plain.got)" || return 1
	local unchanged
	unchanged=$(comm -12 <(sort plain.before) <(sort plain.after) | cut -d' ' -f1 | sort | comm -12 - open)
	[[ -z $unchanged ]] || fail "said to be done, but nothing changed: $unchanged"
}

# On a simulated host that has fewer system calls: without those that are not there.
missing_calls() {
	if [[ -n ${HURDLE_HOST-} ]]; then grep -v '^sys_.* ENOSYS$' || :; else cat; fi
}

# inside_hurdle PROGRAM [OPTION...]: every row of ./open is refused, and nothing of any row changed
inside_hurdle() {
	local program=$1 wrong
	shift
	mkdir -p inside
	"$program" prepare "$OUTSIDE/in"
	"$program" show "$OUTSIDE/in" >before
	run_in "$PROJECT/inside" -- hurdle run "$@" -- "$program" write "$OUTSIDE/in"
	assert_status 0
	"$program" show "$OUTSIDE/in" >after
	diff -U0 before after >changed || fail "changed from inside:" "$(<changed)" || return 1
	# Where no name is short enough for the kernel to tell, it is too long.
	wrong=$(awk '$2 != "EACCES" && !($1 ~ /^deep_cwd/ && $2 == "ENAMETOOLONG")' <<<"$output" | missing_calls | sort)
	wrong=$(join open <(echo "$wrong"))
	[[ -z $wrong ]] || fail "not refused with EACCES:" "$wrong"
}

@test "no road leads outside the write roots" {
	without_hurdle "$TOOLS/attempt" 180
	inside_hurdle "$TOOLS/attempt"
	assert_output_contains '<sandbox_violations>'
}

@test "nor without /dev/shm, TMPDIR or the working directory to write to" {
	without_hurdle "$TOOLS/attempt" 180
	inside_hurdle "$TOOLS/attempt" --deny-write "$OUTSIDE" --allow-write "$OUTSIDE"
}

@test "nor for a program of musl" {
	require_tool musl-gcc
	musl-gcc -D_GNU_SOURCE -I"$ROOT" -o attempt "$ROOT/tests/tools/attempt.c"
	without_hurdle "$PROJECT/attempt" 170
	inside_hurdle "$PROJECT/attempt"
}

@test "nor for a program built with _FORTIFY_SOURCE" {
	require_tool gcc
	gcc -O2 -D_FORTIFY_SOURCE=2 -D_GNU_SOURCE -I"$ROOT" -o attempt "$ROOT/tests/tools/attempt.c" 2>/dev/null
	[[ $(nm -D attempt) == *__open*_2* ]] || skip "this compiler makes no calls of __open_2"
	without_hurdle "$PROJECT/attempt" 180
	inside_hurdle "$PROJECT/attempt"
}

@test "nor for a 32-bit program" {
	require_tool attempt32
	without_hurdle "$TOOLS/attempt32" 180
	inside_hurdle "$TOOLS/attempt32"
	assert_output_contains '<sandbox_violations>'
}

@test "nor for one with offsets and times of 64 bits" {
	require_tool attempt32_wide
	[[ $(nm -D "$TOOLS/attempt32_wide") == *__utimensat64* ]] || skip "this libc has no times of 64 bits"
	without_hurdle "$TOOLS/attempt32_wide" 180
	inside_hurdle "$TOOLS/attempt32_wide"
}

@test "the same roads inside a root are open" {
	local wrong program
	for program in "$TOOLS/attempt" "$TOOLS/attempt32" "$TOOLS/attempt32_wide"; do
		[[ -x $program ]] || continue
		rm -rf in
		mkdir in
		"$program" prepare "$PROJECT/in/target"
		run_in "$PROJECT/in" -- hurdle run -q -- "$program" write "$PROJECT/in/target"
		assert_status 0
		wrong=$(awk '$2 != "done" && $1 !~ /^deep_cwd/' <<<"$output" | missing_calls)
		[[ -z $wrong ]] || fail "refused in a root:" "$wrong" "by $program"
		assert_output_lacks '<sandbox_violations>'
	done
}

@test "errors in a root are the kernel's own" {
	local both program
	for program in "$TOOLS/attempt" "$TOOLS/attempt32" "$TOOLS/attempt32_wide"; do
		[[ -x $program ]] || continue
		rm -rf plain in
		mkdir plain in
		"$program" place "$PROJECT/plain/t" && "$program" place "$PROJECT/in/t"
		(cd plain && "$program" errno "$PROJECT/plain/t") >plain.got
		(($(wc -l <plain.got) > 60))
		run_in "$PROJECT/in" -- hurdle run -q -- "$program" errno "$PROJECT/in/t"
		assert_status 0
		both=$(diff -U0 plain.got <(echo "$output")) || fail "$program" "$both"
		assert_tree_equal plain/t in/t
	done
}

@test "errors outside that come before permissions are the kernel's own" {
	local both program
	for program in "$TOOLS/attempt" "$TOOLS/attempt32" "$TOOLS/attempt32_wide"; do
		[[ -x $program ]] || continue
		rm -rf plain in "$OUTSIDE/t"
		mkdir plain in
		"$program" place "$PROJECT/plain/t" && "$program" place "$OUTSIDE/t"
		(cd plain && "$program" first "$PROJECT/plain/t") >plain.got
		(($(wc -l <plain.got) > 50))
		tree_of "$OUTSIDE/t" >before
		run_in "$PROJECT/in" -- hurdle run -q -- "$program" first "$OUTSIDE/t"
		assert_status 0
		both=$(diff -U0 plain.got <(echo "$output")) || fail "$program" "$both"
		assert_equal "$(tree_of "$OUTSIDE/t")" "$(<before)"
	done
}

@test "moving the ancestor of a ruled path is refused" {
	mkdir -p a/b/denied
	echo canary >a/b/denied/file
	for command in 'mv a z' 'mv a/b z' 'mv a/b/denied z' 'mv -T a "$PWD/z"' 'rename=1 perl -e "rename q(a), q(z) or exit 1"' \
		'mkdir y && mv --exchange a y' 'python3 -c "import os; os.rename(\"a/b\", \"z\")"'; do
		[[ $command != *--exchange* ]] || mv --help | grep -q -e --exchange || continue
		run_in "$PROJECT" -- hurdle run --deny-write a/b/denied -- sh -c "$command"
		[[ $status != 0 ]] || fail "not refused: $command"
		assert_file_content a/b/denied/file canary
		assert_file_absent z
	done
	run_in "$PROJECT" -- hurdle run --deny-write a/b/other -- mv a/b z
	assert_status 1
	run_in "$PROJECT" -- hurdle run --deny-write a/x/other -- mv a/b z
	assert_status 0
	assert_file_content z/denied/file canary
}

@test "io_uring is not there" {
	run_in "$PROJECT" -- hurdle run -q -- python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
params = ctypes.create_string_buffer(120)
assert libc.syscall(425, 4, params) == -1
print(os.strerror(ctypes.get_errno()))'
	assert_status 0
	assert_output 'Function not implemented'
}

@test "a file handle names no file" {
	run_in "$PROJECT" -- hurdle run -q -- python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
handle = ctypes.create_string_buffer(bytes([128, 0, 0, 0]) + bytes(132))
mount = ctypes.c_int()
assert libc.name_to_handle_at(-100, b"/", handle, ctypes.byref(mount), 0) == 0, os.strerror(ctypes.get_errno())
assert libc.syscall(304, os.open("/", 0), handle, 0) == -1
assert libc.open_by_handle_at(os.open("/", 0), handle, 0) == -1
print(os.strerror(ctypes.get_errno()))'
	assert_status 0
	assert_output 'Operation not permitted'
}

@test "a shell without its preload still meets the fence" {
	cp "$(command -v bash)" shell
	for command in 'unset LD_PRELOAD; ./shell -c "echo hit >\"$OUTSIDE/x\""' 'env -i ./shell -c "echo hit >$OUTSIDE/x"' \
		'export LD_PRELOAD=; ./shell -c "echo hit >\"$OUTSIDE/x\""' 'LD_PRELOAD=none ./shell -c "echo hit >\"$OUTSIDE/x\""' \
		'unset LD_PRELOAD; exec ./shell -c "echo hit >\"$OUTSIDE/x\""' 'exec -c ./shell -c "echo hit >'"$OUTSIDE"'/x"' \
		'unset LD_PRELOAD; (echo hit >"$OUTSIDE/x")' 'unset LD_PRELOAD; echo hit | tee "$OUTSIDE/x"'; do
		bash -c "$command" >/dev/null 2>&1 && [[ -e $OUTSIDE/x ]] || fail "does nothing without hurdle: $command"
		rm "$OUTSIDE/x"
		run_in "$PROJECT" -- hurdle run -q -- bash -c "$command"
		[[ $status != 0 ]] || fail "not refused: $command"
		assert_output_contains 'Permission denied'
		assert_file_absent "$OUTSIDE/x"
	done
}
