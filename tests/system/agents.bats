#!/usr/bin/env bats
# contrib/agents: the hook, the shell and the two harnesses work as they are.
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	AGENTS=$ROOT/contrib/agents
	echo '{"autoAllowBashIfSandboxed": false, "permissions": {"deny": ["Bash(rm:*)"], "allow": ["Bash(touch:*)"]}}' >settings.json
	# the tools read HURDLE, which lib.bash sets
	export HURDLE_OPTIONS="--no-settings --settings $PROJECT/settings.json"
}

# hook TOOL JSON: its answer, in answer.json
hook() {
	printf '{"session_id": "x", "hook_event_name": "PreToolUse", "cwd": "%s", "tool_name": "%s", "tool_input": %s}' "$PROJECT" "$1" "$2" >event.json
	# shellcheck disable=SC2016 # for the inner shell
	run_in "$OUTSIDE" -- bash -c '"$0" <"$1"' "$AGENTS/claude-hook" "$PROJECT/event.json"
	assert_status 0
	printf '%s\n' "$output" >answer.json
}
said() { json_get answer.json ".hookSpecificOutput.$1"; }

@test "the hook answers for commands" {
	require_tool python3
	hook Bash '{"command": "ls -la"}'
	assert_equal "$(said permissionDecision) $(said hookEventName)" 'allow PreToolUse'
	hook Bash '{"command": "rm x"}'
	assert_equal "$(said permissionDecision)" deny
	assert_output_contains 'matches the deny rule Bash(rm:*)'
	hook Bash '{"command": "make $(id -u > x)"}'
	assert_equal "$(said permissionDecision)" ask
	hook Bash '{"command": "echo \"it'\''s\" \\u00e9"}'
	assert_equal "$(said permissionDecision)" allow
}

@test "what the hook rewrites runs in the sandbox" {
	require_tool python3
	echo '{"require": {"fs.write": "none", "net.egress": "none"}}' >settings.json
	hook Bash "{\"command\": \"echo 'a  b' >inside; echo x >$OUTSIDE/x\", \"timeout\": 5}"
	assert_equal "$(said permissionDecision) $(said updatedInput.timeout)" 'allow 5'
	run_in "$PROJECT" -- bash -c "$(said updatedInput.command)"
	assert_file_content inside 'a  b'
	assert_file_absent "$OUTSIDE/x"
}

@test "the hook answers for files, and asks when it has no answer" {
	require_tool python3
	hook Write "{\"file_path\": \"$PROJECT/a\", \"content\": \"x\"}"
	assert_equal "$(said permissionDecision)" allow
	hook Edit "{\"file_path\": \"$PROJECT/.git/hooks/x\"}"
	assert_equal "$(said permissionDecision)" deny
	hook Read "{\"file_path\": \"$HOME/.ssh/id_rsa\"}"
	assert_equal "$(said permissionDecision)" deny
	hook Read "{\"file_path\": \"/etc/passwd\"}"
	assert_equal "$(said permissionDecision)" allow
	hook WebSearch '{"query": "x"}'
	assert_equal "$(said permissionDecision)" ask
	echo 'no json' >settings.json
	hook Bash '{"command": "ls"}'
	assert_equal "$(said permissionDecision)" ask
	HURDLE=/nonexistent hook Bash '{"command": "ls"}'
	assert_equal "$(said permissionDecision)" ask
}

@test "the shell runs, refuses and asks" {
	local shell=$AGENTS/hurdle-shell
	run_in "$PROJECT" -- "$shell" -c 'touch new; touch ../outside/x'
	assert_file_present new
	assert_file_absent "$OUTSIDE/x"
	assert_status 1
	run_in "$PROJECT" -- "$shell" -c 'rm new'
	assert_status 126
	assert_file_present new
	assert_stderr_contains 'matches the deny rule'
	run_in "$PROJECT" -- setsid "$shell" -c 'mkdir dir'
	assert_status 126
	assert_file_absent dir
	assert_stderr_contains "no rule allows 'mkdir dir'"
	HURDLE_SHELL_ASK=allow run_in "$PROJECT" -- "$shell" -lc 'mkdir dir'
	assert_status 0
	assert_file_present dir
	HURDLE_SHELL_ASK=deny run_in "$PROJECT" -- "$shell" -c 'mkdir dir2'
	assert_status 126
	HURDLE_SHELL_ASK=allow run_in "$PROJECT" -- "$shell" -c 'rm new'
	assert_status 126
}

@test "the shell passes words and status on, and is a SHELL" {
	local shell=$AGENTS/hurdle-shell
	export HURDLE_OPTIONS="--no-settings"
	# shellcheck disable=SC2016 # for the shell in question
	run_in "$PROJECT" -- env HURDLE_SHELL_ASK=allow "$shell" -c 'printf "%s|" "$0" "$@"; exit 7' name 'a b' c
	assert_status 7
	assert_output 'name|a b|c|'
	printf 'echo from a script\n' >script.sh
	run_in "$PROJECT" -- "$shell" script.sh
	assert_status 0
	assert_output 'from a script'
	require_tool python3
	run_in "$PROJECT" -- env SHELL="$shell" python3 -c 'import os, subprocess; print(subprocess.check_output([os.environ["SHELL"], "-c", "echo it works"], text=True), end="")'
	assert_output 'it works'
}

@test "an excluded command runs outside of the sandbox" {
	echo '{"sandbox": {"enabled": true, "excludedCommands": ["touch:*"]}, "permissions": {"allow": ["Bash(touch:*)"]}}' >settings.json
	run_in "$PROJECT" -- "$AGENTS/hurdle-shell" -c "touch $OUTSIDE/x"
	assert_status 0
	assert_file_present "$OUTSIDE/x"
}

# harness PROGRAM...: one run with one denial and a text that looks like one, result.json
harness() {
	# shellcheck disable=SC2016 # for the inner shell
	run_in "$PROJECT" -- env -u HURDLE_OPTIONS "$@" 'echo out; echo err >&2; echo x >../outside/denied; echo x >made; exit 3'
	assert_status 0
	printf '%s\n' "$output" >result.json
	assert_equal "$(json_get result.json .exit) $(json_get result.json .stdout) $(json_get result.json .refused)" '3 out false'
	assert_equal "$(json_get result.json '.violations | length')" 1
	assert_equal "$(json_get result.json '.violations[0].action') $(json_get result.json '.violations[0].target')" "file-write-create $OUTSIDE/denied"
	assert_output_lacks 'sandbox_violations'
	assert_stderr_contains "refused: file-write-create $OUTSIDE/denied: not under a write root"
	assert_file_present made
	assert_file_absent "$OUTSIDE/denied"
}

@test "the Python harness reads the violations" {
	require_tool python3
	harness python3 "$AGENTS/harness.py"
	run_in "$PROJECT" -- python3 "$AGENTS/harness.py"
	assert_status 1
}

@test "the Node harness reads the violations" {
	require_tool node
	harness node "$AGENTS/harness.mjs"
	run_in "$PROJECT" -- node "$AGENTS/harness.mjs"
	assert_status 1
}

@test "the harnesses are short" {
	local file
	for file in harness.py harness.mjs; do
		(($(wc -l <"$AGENTS/$file") <= 40)) || fail "$file has $(wc -l <"$AGENTS/$file") lines" || return 1
	done
}
