#!/usr/bin/env bats
# The profile for macOS, seen from Linux: it is printed, and nothing is claimed for it. What it means is tested in tests/unit/test_seatbelt.c.
# shellcheck shell=bash

load ../lib

setup() { setup_sandbox; }

profile() { run_in "$PROJECT" -- hurdle profile seatbelt "$@"; }

@test "the profile holds the rules of the policy" {
	profile --net off --allow-write "$OUTSIDE" --deny-read "$HOME/notes" --deny-write "$PROJECT/Makefile" --deny-exec /usr/bin/ssh
	assert_status 0
	assert_output_contains '(version 1)'
	assert_output_contains '(deny default'
	assert_output_contains "(subpath \"$OUTSIDE\")"
	assert_output_contains "(subpath \"$HOME/notes\")"
	assert_output_contains '/usr/bin/ssh"'
	assert_output_contains '(remote ip "localhost:*")'
	assert_output_lacks 'PROXY_PORT'
}

@test "the profile has the port of the user's proxy, or asks for one" {
	profile --net filter
	assert_output_contains '(param "PROXY_PORT")'
	echo '{"network": {"httpProxyPort": 8118, "socksProxyPort": 8119}}' >s.json
	profile --settings s.json --net filter
	assert_output_contains '"localhost:8118"'
	assert_output_contains '"localhost:8119"'
	assert_output_lacks 'PROXY_PORT'
}

@test "every parenthesis of the profile is closed, whatever a name holds" {
	local name=$'odd "name\\ )(\n\e[31m \377'
	mkdir "$name"
	profile --deny-read "$name"
	assert_status 0
	[[ ! $output =~ [[:cntrl:]] || $output != *$'\e'* ]] || fail 'a control character in the profile'
	printf '%s\n' "$output" >profile.sb
	python3 - profile.sb <<-'PYTHON'
		import sys
		text = open(sys.argv[1], "rb").read()
		assert not [b for b in text if b < 32 and b != 10], "control characters"
		depth, i, strings = 0, 0, []
		while i < len(text):
		    c = text[i:i + 1]
		    if c == b";":
		        i = text.index(b"\n", i)
		    elif c == b'"':
		        start = i = i + 1
		        while text[i:i + 1] != b'"':
		            i += 2 if text[i:i + 1] == b"\\" else 1
		        strings.append(text[start:i])
		    depth += (c == b"(") - (c == b")")
		    assert depth >= 0
		    i += 1
		assert depth == 0
		assert any(b'odd \\"name\\\\ )(\\n\\x1b[31m \\xff' in s for s in strings), "the name is not there"
	PYTHON
}

@test "on Linux Seatbelt is not available, with what was asked, and holds nothing" {
	hurdle status --json >status.json
	assert_equal "$(jq -c '.mechanisms[] | select(.name == "seatbelt") | [.available, .evidence]' status.json)" '[false,"uname: Linux; Seatbelt is part of macOS"]'
	assert_equal "$(jq '[.guarantees[], .rules[] | select(.by | index("seatbelt"))] | length' status.json)" 0
}

@test "asked for by name it refuses to start" {
	run_in "$PROJECT" -- hurdle run --backend seatbelt -- touch made
	assert_status 125
	assert_stderr_contains "backend 'seatbelt' does not work here: uname: Linux"
	assert_file_absent made
}

@test "a program called sandbox-exec is not taken for Seatbelt" {
	mkdir bin
	printf '#!/bin/sh\ntouch %q\nshift 2\nexec "$@"\n' "$PROJECT/ran" >bin/sandbox-exec
	chmod +x bin/sandbox-exec
	PATH=$PROJECT/bin:$PATH run_in "$PROJECT" -- hurdle status --json
	assert_file_absent ran
	assert_output_contains 'Seatbelt is part of macOS'
}
