#!/usr/bin/env bats
# Pointers that lead nowhere (tests/tools/pointers.c): the kernel says EFAULT, and no program ends that would not end without hurdle.
# shellcheck shell=bash

load ../lib

setup() { setup_sandbox; }

same_with_and_without() { # PROGRAM
	mkdir -p plain inside
	(cd plain && "$1") >"$OUTSIDE/plain"
	(($(wc -l <"$OUTSIDE/plain") > 1000)) || fail "$(<"$OUTSIDE/plain")" || return 1
	(($(grep -c 'Bad address' "$OUTSIDE/plain") > 600)) || fail "$(<"$OUTSIDE/plain")" || return 1
	run_in "$PROJECT/inside" -- shim_run -q -- "$1"
	assert_status 0
	diff -U0 --label without --label with "$OUTSIDE/plain" <(echo "$output") >"$OUTSIDE/diff" || fail "$(head -n 40 "$OUTSIDE/diff")"
}

@test "bad pointers are EFAULT with and without hurdle" {
	require_tool pointers
	same_with_and_without "$TOOLS/pointers"
}

@test "so they are for a program of musl" {
	require_tool musl-gcc
	musl-gcc -D_GNU_SOURCE -o "$OUTSIDE/pointers" "$ROOT/tests/tools/pointers.c"
	"$OUTSIDE/pointers" one >/dev/null || skip 'no musl loader here'
	same_with_and_without "$OUTSIDE/pointers"
}
