#!/usr/bin/env bats
# hurdle decide: the order of the steps, rules, excluded commands, what the fence is worth, file tools, and the JSON.
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	echo '{}' >settings.json
}

# settings TEXT: the settings of the next questions
settings() { printf '%s' "$1" >settings.json; }

# decide ARGUMENT...: in the project, under settings.json alone
decide() { run_in "$PROJECT" -- hurdle decide --no-settings --settings settings.json "$@"; }

# assert_decision WORD [BY] COMMAND: with --json
assert_decision() {
	local want=$1 by=$2 command=$3
	shift 3
	decide --json "$@" -c "$command"
	printf '%s\n' "$output" >answer.json
	assert_equal "$(json_get answer.json .decision) $(json_get answer.json .by.kind)" "$want $by" || fail "of: $command" "$output"
}

no_fence='"autoAllowBashIfSandboxed": false'

# ---- the answer ----

@test "the exit status is the answer" {
	settings "{$no_fence, \"permissions\": {\"deny\": [\"Bash(rm:*)\"]}}"
	decide -c 'ls'
	assert_status 0
	assert_equal "${lines[0]}" 'allow: all of it only reads, or writes where a command in the sandbox may'
	decide -c 'make'
	assert_status 1
	assert_equal "${lines[0]}" "ask: no rule allows 'make', and it is not known to only read"
	decide -c 'rm x'
	assert_status 2
	assert_equal "${lines[0]}" "deny: 'rm x' matches the deny rule Bash(rm:*)"
	assert_output_matches 'rule: Bash\(rm:\*\) \(settings.json:[0-9:]+: permissions.deny\[0\]\)'
}

@test "an answer names the detector, the place and one sentence" {
	settings "{$no_fence}"
	decide -c 'git commit -m "fix `id`"'
	assert_status 1
	assert_equal "${lines[0]}" 'ask: substitution in commit messages: backticks in a commit message run what stands between them'
	assert_equal "${lines[1]}" '  at 19-23: `id`'
	assert_equal "${lines[2]}" '  detector: 12, git_message (command substitution in git commit messages)'
	assert_decision ask detector 'cat notes.txt \; id'
	assert_equal "$(json_get answer.json .by.detector) $(json_get answer.json .by.number)" 'escaped_operator 21'
	assert_equal "$(json_get answer.json '.span[0]')-$(json_get answer.json '.span[1]')" 14-16
	assert_equal "$(json_get answer.json .schema)" 1
}

@test "what a command holds cannot drive the terminal" {
	settings "{$no_fence}"
	decide -c $'make \e[2Jx'
	assert_status 2
	assert_output_lacks $'\e'
	settings "{$no_fence, \"permissions\": {\"ask\": [\"Bash(make:*)\"]}}"
	decide -c $'make \e[2Jx'
	assert_status 1
	assert_output_lacks $'\e'
}

@test "commands from standard input are answered line by line" {
	settings "{$no_fence}"
	printf '"ls"\n"make"\n3\nnonsense\n"a\\u0000b"\n"caf\\u00e9 \\ud83c\\udf89"\n' >questions
	# shellcheck disable=SC2016 # for the inner shell
	run_in "$PROJECT" -- bash -c '"$HURDLE" decide --no-settings --settings settings.json <questions'
	assert_status 0
	((${#lines[@]} == 6)) || fail "${#lines[@]} answers" "$output"
	local i want=(allow ask ask ask ask ask)
	for i in 0 1 2 3 4 5; do
		[[ ${lines[i]} == '{"schema":1,"decision":"'"${want[i]}"'",'* ]] || fail "line $i: ${lines[i]}"
	done
	[[ ${lines[2]} == *'"error":"it is another kind of value"'* ]]
	[[ ${lines[3]} == *'"error":'* ]]
	[[ ${lines[4]} == *'"span":[1,2]'*  ]]
}

@test "a long question is answered" {
	settings "{$no_fence}"
	require_tool python3
	python3 -c 'import json; print(json.dumps("ls -l; " * 100000)); print(json.dumps("(" * 1000000)); print(json.dumps("a" * (17 << 20)))' >questions
	# shellcheck disable=SC2016 # for the inner shell
	run_in "$PROJECT" -- bash -c '"$HURDLE" decide --no-settings --settings settings.json <questions | cut -c 1-60'
	assert_status 0
	[[ ${lines[0]} == *'"allow"'* && ${lines[1]} == *'"ask"'* && ${lines[2]} == *'"ask"'* ]] || fail "$output"
}

@test "mistakes are said, and nothing is answered" {
	local row want
	while IFS='|' read -r row want; do
		read -ra row <<<"$row"
		decide "${row[@]}"
		assert_status 125
		assert_equal "$output" ''
		assert_stderr_contains "hurdle: $want"
	done <<-'ROWS'
		ls|decide takes no operand, such as 'ls'
		--tool Write|--tool and --path go together
		--path x|--tool and --path go together
		--tool Write --path x -c ls|-c and --tool are two questions; ask one of them
		--tool Wirte --path x|unknown tool 'Wirte'
		--cwd nowhere -c ls|cannot change to 'nowhere': No such file or directory
		-c|option '--command' needs an argument, TEXT
	ROWS
}

# ---- sandbox or not ----

# assert_sandbox yes|no COMMAND REASON
assert_sandbox() {
	decide "${@:4}" -c "$2"
	[[ ${lines[-1]} == "  sandbox: $1; $3"* ]] || fail "of: $2" "want: $1; $3" "$output"
}

@test "whether it is sandboxed has a reason" {
	settings "{$no_fence}"
	assert_sandbox yes make 'commands run in the sandbox'
	assert_sandbox no '# nothing' 'there is no command'
	assert_sandbox no make 'a run without the sandbox was asked for, and the settings allow that' --unsandboxed
	assert_sandbox no make 'the sandbox is turned off by --no-sandbox' --no-sandbox
	settings "{$no_fence, \"allowUnsandboxedCommands\": false}"
	assert_sandbox yes make 'a run without the sandbox was asked for, but allowUnsandboxedCommands is false' --unsandboxed
	settings "{$no_fence, \"enabledPlatforms\": [\"macos\"]}"
	assert_sandbox no make 'enabledPlatforms does not name '
	settings "{$no_fence, \"enabledPlatforms\": [\"linux\", \"wsl\"]}"
	assert_sandbox yes make 'commands run in the sandbox'
	settings '{"enabled": false}'
	assert_sandbox no make 'the sandbox is turned off by '
}

@test "one excluded part does not take the others with it" {
	settings "{$no_fence, \"excludedCommands\": [\"docker:*\", \"Bash(make deploy)\", \"npm * publish\"]}"
	assert_sandbox no 'docker ps' 'docker:* is in excludedCommands (settings.json:'
	assert_sandbox no 'docker' 'docker:* is in'
	assert_sandbox no 'make deploy' 'Bash(make deploy) is in'
	assert_sandbox no 'npm run publish' 'npm * publish is in'
	assert_sandbox no 'docker ps | docker load' 'docker:* is in'
	assert_sandbox yes 'make deploy x' 'commands run'
	assert_sandbox yes 'dockerx ps' 'commands run'
	assert_sandbox yes 'DOCKER_HOST=x docker ps' 'commands run'
	local command
	for command in 'docker ps; rm -rf x' 'rm x && docker ps' 'docker run x $(rm y)' 'make deploy | sh' $'docker ps\nrm x' 'if docker ps; then rm x; fi'; do
		assert_sandbox yes "$command" 'commands run in the sandbox'
		assert_decision ask excludedCommands "$command"
		assert_output_contains 'and the rest is not: the whole stays in the sandbox; run it by itself'
	done
}

# ---- rules ----

@test "deny rules see through dress" {
	settings "{$no_fence, \"permissions\": {\"allow\": [\"Bash\"], \"deny\": [\"Bash(rm:*)\", \"Bash(git push *)\", \"Bash(curl * | sh)\"]}}"
	local command
	for command in 'rm' 'rm x' '/bin/rm x' "r'm' x" 'r\m x' '"rm" x' 'sudo rm x' 'sudo -u root rm x' 'env A=1 rm x' 'A=1 rm x' 'timeout 5 rm x' 'nice -n 5 rm x' \
		'ls | xargs rm' 'ls | xargs -n 1 rm -f' 'find . -exec rm {} +' 'find . -execdir /bin/rm {} \;' 'sh -c "rm x"' "bash -lc 'ls; rm x'" 'eval "rm x"' 'ls; rm x' 'ls && rm x' \
		'(rm x)' '{ rm x; }' 'if rm x; then ls; fi' 'echo $(rm x)' 'echo `rm x`' 'cat <(rm x)' $'ls\nrm x' 'f() { rm x; }; f' 'for i in a; do rm $i; done' 'nohup rm x &' \
		'sh -c "sh -c \"rm x\""' 'git push origin main' '/usr/bin/git push x' $'rm\tx' 'rm   x' $'cat <<E\n$(rm x)\nE' 'time rm x' '! rm x' 'command rm x' 'exec rm x'; do
		assert_decision deny rule "$command" || return 1
	done
	for command in 'echo rm' 'rmdir x' 'git pushx' 'git pull' 'echo "rm x"' "sed 's/rm x/y/' f" './rm.sh' 'grep rm f'; do
		assert_decision allow rule "$command" || assert_decision allow read-only "$command" || return 1
	done
}

@test "a rule that forbids and text that is not understood: ask" {
	settings '{"permissions": {"deny": ["Bash(rm:*)"], "allow": ["Bash"]}}'
	assert_decision ask detector "echo 'unclosed" --require all=none
	assert_decision ask detector 'coproc rm x' --require all=none
}

@test "deny wins over ask, ask over allow" {
	settings "{$no_fence, \"permissions\": {\"allow\": [\"Bash(a:*)\"], \"ask\": [\"Bash(a b:*)\"], \"deny\": [\"Bash(a b c:*)\"]}}"
	assert_decision allow rule 'a'
	assert_decision allow rule 'a x'
	assert_decision ask rule 'a b'
	assert_decision ask rule 'a b x'
	assert_decision deny rule 'a b c'
	assert_decision deny rule 'a x; a b; a b c d'
	assert_decision ask rule 'a x; a b'
}

@test "an allow rule means the command as it stands, and every part needs one" {
	settings "{$no_fence, \"permissions\": {\"allow\": [\"Bash(npm run test)\", \"Bash(git add:*)\", \"Bash(cargo *)\", \"Bash(make && make check)\"]}}"
	local command
	for command in 'npm run test' 'git add' 'git add .' 'cargo build' 'cargo' 'git add . && cargo test' 'npm run test | tail -n 5' 'make && make check' 'ls; cargo test' "git 'add' x"; do
		assert_decision allow rule "$command" || return 1
	done
	for command in 'npm run test2' 'npm run test x' 'npm run' 'git addx' 'cargox' 'git add . && rm x' 'X=1 cargo build' 'sudo cargo build' '/tmp/cargo build' 'make' 'make check' 'cargo build; f() { ls; }'; do
		assert_decision ask default "$command" || return 1
	done
	# a detector still asks
	assert_decision ask detector 'cargo build $(rm x)'
	assert_decision ask detector 'cargo build > ~/.bashrc'
}

# ---- what the fence is worth ----

@test "a fence buys an approval only when it reaches the level" {
	settings '{"require": {"fs.write": "none", "net.egress": "none"}}'
	assert_decision allow sandbox 'make; rm -rf x'
	assert_equal "$(json_get answer.json '.sandbox.guarantees["fs.write"].wanted')" none
	# with the network open, nothing holds net.egress
	settings '{"network": {"mode": "open"}}'
	assert_decision ask default make
	assert_output_contains 'but that is no approval: '
	assert_output_contains ', and supervised is wanted'
	settings '{"require": {"fs.write": "none", "net.egress": "none"}, "autoAllowBashIfSandboxed": false}'
	assert_decision ask default make
}

@test "a fence inside the program buys no approval" {
	settings '{"network": {"mode": "off"}}'
	decide --json --backend session,env,preload -c make
	[[ $status == 1 || $status == 125 ]] || fail "$output"
	if ((status == 1)); then
		assert_output_contains 'fs.write is application here, and supervised is wanted'
	fi
	# and where application is what require asks for, it does
	settings '{"network": {"mode": "off"}, "require": {"fs.write": "application", "net.egress": "application"}}'
	assert_decision allow sandbox make
}

@test "rules and excluded commands come before the fence, detectors after it" {
	settings '{"require": {"fs.write": "none", "net.egress": "none"}, "permissions": {"deny": ["Bash(rm:*)"], "ask": ["Bash(git push:*)"]}, "excludedCommands": ["docker:*"]}'
	assert_decision deny rule 'rm x'
	assert_decision ask rule 'git push'
	assert_decision ask excludedCommands 'docker ps; make'
	assert_decision allow sandbox 'echo $(make)'
	assert_decision ask default 'docker ps'
}

# ---- paths ----

@test "what is read and written is judged by the rules" {
	settings "{$no_fence, \"filesystem\": {\"allowWrite\": [\".\", \"$OUTSIDE\"], \"denyRead\": [\"$PROJECT/secret\", \"**/*.pem\"], \"denyWrite\": [\"$PROJECT/fixed\"]}}"
	mkdir sub secret
	touch a.txt secret/x key.pem "$HOME/plain"
	ln -s secret/x link
	local command
	for command in 'cat a.txt' "cat $HOME/plain" 'cat < a.txt' 'ls > out' "ls > $OUTSIDE/x" 'ls secret' 'cat sub/new' 'ls > /dev/null'; do
		assert_decision allow read-only "$command" || return 1
	done
	for command in 'cat secret/x' 'cat link' 'cat key.pem' 'cat sub/../secret/x' 'cat ./secret/x' "cat '$PROJECT/secret/x'" 'grep -r x .' 'cat *' 'head secret/x a.txt' 'cd sub && cat x'; do
		assert_decision ask default "$command" || return 1
	done
	for command in 'ls > fixed' 'ls > .git/hooks/x' "ls > $HOME/x" 'ls > /etc/x' 'cat < secret/x' 'cat < link' 'cd sub && ls > x' 'ls >> .bashrc'; do
		assert_decision ask detector "$command" || return 1
	done
}

@test "file tools are answered by the same rules" {
	settings "{\"filesystem\": {\"denyRead\": [\"$PROJECT/secret\"], \"denyWrite\": [\"$PROJECT/fixed\"]}, \"permissions\": {\"ask\": [\"Edit(./docs/**)\", \"Read(./private)\"]}}"
	mkdir docs
	touch "$HOME/.bashrc"
	local row want tool path
	while read -r want tool path; do
		decide --json --tool "$tool" --path "$path"
		printf '%s\n' "$output" >answer.json
		assert_equal "$(json_get answer.json .decision)" "$want" || fail "$tool $path" "$output" || return 1
	done <<-ROWS
		allow Write src/a.c
		allow Edit $PROJECT/b.c
		deny Write fixed
		deny MultiEdit fixed/x
		deny Edit .git/hooks/x
		ask Write $OUTSIDE/x
		ask Write ~/x
		ask Write ../x
		ask Edit docs/a.md
		allow Read docs/a.md
		allow Read /etc/passwd
		deny Read secret
		deny Grep secret/x
		deny Read ~/.ssh/id_rsa
		ask Read private
		allow Write private
	ROWS
	settings '{"permissions": {"deny": ["Edit"]}}'
	decide --tool Write --path x
	assert_status 2
	decide --tool Read --path x
	assert_status 0
}

@test "--cwd is where the command would run" {
	settings "{$no_fence}"
	mkdir "$OUTSIDE/there"
	run_in "$PROJECT" -- hurdle decide --no-settings --cwd "$OUTSIDE/there" --tool Write --path x
	assert_status 0
	assert_output_contains "$OUTSIDE/there/x may be written"
}

# ---- documents ----

@test "the detectors stand in both documents as in the table" {
	require_tool man_detectors
	local file row
	diff -u <(sed -n '/detectors: begin/,/detectors: end/p' "$ROOT/docs/man/hurdle-decide.1" | sed '1d;$d') <("$TOOLS/man_detectors")
	diff -u <(sed -n '/detectors: begin/,/detectors: end/p' "$ROOT/docs/decide.md" | sed '1d;$d' | grep .) <("$TOOLS/man_detectors" md)
	assert_equal "$(grep -c '^\.It [0-9]*\. ' "$ROOT/docs/man/hurdle-decide.1")" 23
	assert_equal "$(grep -c '^DETECTOR(' "$ROOT/supervisor/decide/detectors.def")" 23
}
