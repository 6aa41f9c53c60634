#!/usr/bin/env bats
# What hurdle finds out about this machine, and that nothing which a command could have written speaks for it.
# shellcheck shell=bash

load ../lib

setup() { setup_sandbox; }

# capability NAME KEY: from status --json in the project
capability() {
	python3 -c 'import json, sys
print(*(c[sys.argv[3]] for c in json.load(open(sys.argv[1]))["host"]["capabilities"] if c["name"] == sys.argv[2]))' "$OUTSIDE/s.json" "$@"
}

look() { hurdle status --json >"$OUTSIDE/s.json"; }

@test "what status says the host has is what other programs find" {
	require_tool python3 feature
	look
	local pair name available
	for pair in userns:userns mountns:mountns netns:netns pidns:pidns landlock:landlock seccomp:seccomp notify:notify openat2:openat2 ptrace:ptrace; do
		name=${pair#*:}
		available=False
		! "$TOOLS/feature" "${pair%:*}" >/dev/null 2>&1 || available=True
		# root needs no user namespace for the others, which this other program takes all the same
		[[ $(capability "$name" available) == "$available" ]] || as_root ||
			fail "$name: $available expected" "$(capability "$name" evidence)"
	done
	"$TOOLS/feature" landlock >/dev/null 2>&1 || skip_or_fail landlock 'no Landlock here'
	local abi
	abi=$(json_get "$OUTSIDE/s.json" .host.landlockABI)
	"$TOOLS/feature" "landlock=$abi" || fail "ABI $abi is too high"
	! "$TOOLS/feature" "landlock=$((abi + 1))" || fail "ABI $abi is too low"
}

@test "every capability has evidence, and status --verbose shows it" {
	require_tool python3
	look
	python3 - "$OUTSIDE/s.json" <<'PY'
import json, sys
h = json.load(open(sys.argv[1]))["host"]
assert len(h["capabilities"]) >= 21
for c in h["capabilities"]:
    assert c["evidence"] and c["evidence"] != "not tried" and c["text"], c
assert h["libc"] in ("glibc", "musl", "static", "other"), h
assert h["bwrap"] is None or h["bwrap"]["path"].startswith("/"), h
PY
	run_in "$PROJECT" -- hurdle status --verbose
	local name
	while read -r name; do
		[[ $output == *$'\n'"$name"$'\t'* ]] || fail "no row: $name"
	done < <(python3 -c 'import json,sys
for c in json.load(open(sys.argv[1]))["host"]["capabilities"]: print(c["name"])' "$OUTSIDE/s.json")
}

# a program that says where it was run from
fake_bwrap() { # DIRECTORY
	mkdir -p "$1"
	printf '#!/bin/sh\necho "$0 $*" >>"%s"\necho bubblewrap 99\n' "$OUTSIDE/ran" >"$1/bwrap"
	chmod 755 "$1/bwrap"
}

@test "a bwrap that the project brings along is neither believed nor run" {
	require_tool python3
	fake_bwrap "$PROJECT/node_modules/.bin"
	PATH=$PROJECT/node_modules/.bin:$PATH look
	[[ $(capability bwrap evidence) != *"$PROJECT"* ]] || fail "$(capability bwrap evidence)"
	PATH=node_modules/.bin:$PATH look
	[[ $(capability bwrap evidence) != *node_modules* ]] || fail "$(capability bwrap evidence)"
	ln -s "$PROJECT/node_modules/.bin" "$OUTSIDE/bin"
	PATH=$OUTSIDE/bin:$PATH look
	[[ $(capability bwrap evidence) != *99* ]] || fail "$(capability bwrap evidence)"
	assert_file_absent "$OUTSIDE/ran"
}

@test "a bwrap that others can change is not run either" {
	require_tool python3
	fake_bwrap "$OUTSIDE/bin"
	chmod 777 "$OUTSIDE/bin/bwrap"
	PATH=$OUTSIDE/bin:$PATH look
	[[ $(capability bwrap evidence) != *99* ]] || fail "$(capability bwrap evidence)"
	chmod 755 "$OUTSIDE/bin/bwrap"
	chmod 777 "$OUTSIDE/bin"
	PATH=$OUTSIDE/bin:$PATH look
	[[ $(capability bwrap evidence) != *99* ]] || fail "$(capability bwrap evidence)"
	assert_file_absent "$OUTSIDE/ran"
	# the same one, where it is the user's own
	chmod 755 "$OUTSIDE/bin"
	PATH=$OUTSIDE/bin:$PATH look
	[[ $(capability bwrap evidence) == "$OUTSIDE/bin/bwrap, bubblewrap 99" ]] || fail "$(capability bwrap evidence)"
}

@test "a bwrap that never answers does not hold status up" {
	require_tool python3
	mkdir "$OUTSIDE/bin"
	printf '#!/bin/sh\nexec sleep 1000\n' >"$OUTSIDE/bin/bwrap"
	chmod 755 "$OUTSIDE/bin/bwrap"
	PATH=$OUTSIDE/bin:$PATH HURDLE_TIMEOUT=30 look
	[[ $(capability bwrap evidence) == "$OUTSIDE/bin/bwrap, says no version" ]] || fail "$(capability bwrap evidence)"
}
