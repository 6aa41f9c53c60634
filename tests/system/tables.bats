#!/usr/bin/env bats
# tests/tables/paths.tsv against the real binary: with the shim alone, with all that this host has, and with each wall and the shim.
# The same rows run against the decision function in tests/unit/test_tables.c.
# shellcheck shell=bash

load ../lib

setup() { setup_sandbox; }

rows() { # BACKEND
	require_tool python3 request
	run_in "$OUTSIDE" -- python3 "$ROOT/tests/tables/run-paths" "$HURDLE" "$TOOLS/request" "$OUTSIDE" "$1"
	assert_status 0
	assert_output_matches '^[0-9]+ same, [0-9]+ silent, [0-9]+ stricter, 0 different'
}

@test "the rows hold with the shim alone" { rows preload; }

@test "the rows hold with all that this host has" { rows auto; }

# What is always in use, or holds no rule about paths, adds nothing here; everything else that status has does.
@test "the rows hold with each other mechanism and the shim" {
	require_tool python3
	hurdle status --json >status.json
	local name tried=0
	for name in $(python3 -c 'import json
print(*(m["name"] for m in json.load(open("status.json"))["mechanisms"] if m["available"] and m["name"] not in ("session", "reaper", "env", "filter", "preload")))'); do
		rows "$name,preload" || return 1
		((++tried))
	done
	((tried)) || skip 'this host has no other mechanism'
}
