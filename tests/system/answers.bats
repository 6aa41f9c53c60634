#!/usr/bin/env bats
# The same policy gives the same answers under every mechanism: random trees and rules, policy_decide() against what a program can do
# (tests/tools/answers.c). More rounds: ANSWERS_ROUNDS=1000 make check-system K='same answers'
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	require_tool answers
	cp "$TOOLS/answers" "$PROJECT/answers"
	mkdir "$PROJECT/trees"
	with_backend auto
}

# same_answers BACKEND SEED
same_answers() {
	run_in "$PROJECT" -- timeout 110 ./answers "$2" "${ANSWERS_ROUNDS:-16}" "$1" "$PROJECT/trees"
	assert_status 0
	[[ $output =~ ([0-9]+)' the same,' ]] || fail "$(seen_)"
	((BASH_REMATCH[1] >= 900)) || fail "$(seen_)"
}

@test "the shim gives the same answers" { same_answers preload 1; }

@test "bwrap gives the same answers, but for what its caveats name" {
	require_feature bwrap
	same_answers bwrap 2
}

@test "Landlock gives the same answers, but for what its caveats name" {
	require_feature landlock=3
	hurdle status --backend=landlock >/dev/null 2>&1 || skip 'no mechanism of that name in this version'
	same_answers landlock 3
}

@test "all together give the same answers" { same_answers auto 4; }
