#!/usr/bin/env bats
# What may not be read: secret files by default, what rules name, and the environment of the processes above the run.
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	mkdir -p "$HOME/.ssh"
	echo canary >"$HOME/.ssh/id_ed25519"
	chmod 600 "$HOME/.ssh/id_ed25519"
}

# denied COMMAND...: fails with permission denied and without the content
denied() {
	run_in "$PROJECT" -- hurdle run -q "${options[@]}" -- "$@"
	[[ $status != 0 ]] || fail "not refused: $*" "$(seen_)" || return 1
	assert_output_contains 'ermission denied' || return 1
	assert_output_lacks canary
}

allowed() {
	run_in "$PROJECT" -- hurdle run -q "${options[@]}" -- "$@"
	[[ $status == 0 ]] || fail "refused: $*" "$(seen_)" || return 1
	assert_output_lacks '<sandbox_violations>'
}
options=()

@test "a private key cannot be read, and the rule is named" {
	for command in cat head 'grep -r .' 'tail -n 1' 'python3 -c print(open(__import__("sys").argv[1]).read())' 'sha256sum' 'od -c' 'wc -l' 'bash' \
		'tar -cf x.tar' 'perl -e open(F,$ARGV[0])||die($!);print<F>' 'xargs -a' 'node -e console.log(require("fs").readFileSync(process.argv[1],"utf8"))'; do
		command -v "${command%% *}" >/dev/null || continue
		read -ra words <<<"$command"
		denied "${words[@]}" "$HOME/.ssh/id_ed25519"
		assert_output_contains "hurdle: deny file-read-data $HOME/.ssh/id_ed25519 ("
		assert_output_matches 'rule: .*\.ssh'
	done
	denied cp "$HOME/.ssh/id_ed25519" taken
	assert_file_absent taken
	denied ssh-keygen -y -f "$HOME/.ssh/id_ed25519"
	denied ls "$HOME/.ssh"
	run_in "$PROJECT" -- hurdle run -q --report report.json -- cat "$HOME/.ssh/id_ed25519"
	assert_equal "$(json_get report.json '.violations[0].action')" file-read-data
	assert_equal "$(json_get report.json '.violations[0].target')" "$HOME/.ssh/id_ed25519"
	[[ $(json_get report.json '.violations[0].rule') == *.ssh* ]]
	allowed stat -c %s "$HOME/.ssh/id_ed25519"
	assert_output 7
}

@test "what ssh itself needs stays readable" {
	for name in config known_hosts id_ed25519.pub authorized_keys; do
		echo readable >"$HOME/.ssh/$name"
		allowed cat "$HOME/.ssh/$name"
		assert_output readable
	done
	mkdir "$HOME/.ssh/config.d"
	echo readable >"$HOME/.ssh/config.d/x"
	allowed cat "$HOME/.ssh/config.d/x"
	for name in id_rsa work.key identity; do
		echo canary >"$HOME/.ssh/$name"
		denied cat "$HOME/.ssh/$name"
	done
}

@test "the other secret files" {
	for name in .netrc .npmrc .pypirc .aws/credentials .kube/config .docker/config.json .config/gh/hosts.yml .gnupg/x .git-credentials .pgpass; do
		mkdir -p "$(dirname "$HOME/$name")"
		echo canary >"$HOME/$name"
		denied cat "$HOME/$name"
	done
	echo harmless >"$HOME/.vimrc"
	allowed cat "$HOME/.vimrc"
}

@test "no road leads to a denied file or directory" {
	no_road_for "$TOOLS/attempt"
}

@test "nor for a 32-bit program" {
	require_tool attempt32 attempt32_wide
	no_road_for "$TOOLS/attempt32"
	rm -rf "$OUTSIDE/secret" plain inside
	no_road_for "$TOOLS/attempt32_wide"
}

no_road_for() { # PROGRAM
	local wrong rule program=$1
	secret=$OUTSIDE/secret
	mkdir "$secret" plain
	echo canary >"$secret/file"
	chmod 666 "$secret/file"
	python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.canary", b"1")' "$secret/file" || skip 'no extended attributes here'
	(cd plain && "$program" read "$secret/file") >plain.got
	(cd plain && "$program" list "$secret") >>plain.got
	grep -v ' done$' plain.got >plain.not || :
	[[ ! -s plain.not ]] || grep -qx 'sys_xattrat ENOSYS' plain.not || fail "not there without hurdle:" "$(<plain.not)"
	(($(wc -l <plain.got) > 30))
	for rule in "$secret" "$secret/file" "$OUTSIDE"; do
		rm -rf inside && mkdir inside
		run_in "$PROJECT/inside" -- hurdle run -q --deny-read "$rule" -- "$program" read "$secret/file"
		wrong=$(awk '$2 != "EACCES" && $0 != "sys_xattrat ENOSYS"' <<<"$output")
		[[ -z $wrong && $status == 0 ]] || fail "not refused, with --deny-read $rule:" "$wrong" "$(seen_)"
		[[ $rule != "$secret/file" ]] || continue
		run_in "$PROJECT/inside" -- hurdle run -q --deny-read "$rule" -- "$program" list "$secret"
		wrong=$(awk '$2 != "EACCES"' <<<"$output")
		[[ -z $wrong && $status == 0 ]] || fail "not refused, with --deny-read $rule:" "$wrong" "$(seen_)"
	done
	# what a root contains, too
	run_in "$PROJECT" -- hurdle run -q --allow-write "$OUTSIDE" --deny-read "$secret" -- sh -c 'rm -rf inside; mkdir inside; cd inside && "$0" read "$1"' \
		"$program" "$secret/file"
	wrong=$(awk '$2 != "EACCES" && $0 != "sys_xattrat ENOSYS"' <<<"$output")
	[[ -z $wrong && $status == 0 ]] || fail "not refused in a root:" "$wrong" "$(seen_)"
}

@test "an allowed path inside a denied one, and the other way round" {
	mkdir -p "$OUTSIDE/a/b/c"
	for dir in a a/b a/b/c; do echo canary >"$OUTSIDE/$dir/file"; done
	options=(--deny-read "$OUTSIDE/a" --allow-read "$OUTSIDE/a/b" --deny-read "$OUTSIDE/a/b/c")
	denied cat "$OUTSIDE/a/file"
	allowed cat "$OUTSIDE/a/b/file"
	denied cat "$OUTSIDE/a/b/c/file"
	denied ls "$OUTSIDE/a"
	allowed ls "$OUTSIDE/a/b"
	allowed cat "$OUTSIDE/a/b/../b/file"
	denied cat "$OUTSIDE/a/b/../file"
	# whole components only
	mkdir "$OUTSIDE/ab" && echo canary >"$OUTSIDE/ab/file"
	allowed cat "$OUTSIDE/ab/file"
}

@test "a pattern holds for a file that is made after the start" {
	options=(--deny-read '**/*.pem')
	denied sh -c 'echo hit >new.txt; cp new.txt new.pem; cat new.pem'
	denied sh -c 'mkdir -p a/b && echo 1 >a/b/late.pem && cat a/b/late.pem'
	denied sh -c 'echo 1 >x.pem; mv x.pem x.txt && cat x.txt'
	denied sh -c 'echo 1 >y.pem; ln y.pem y.txt && cat y.txt'
	allowed sh -c 'echo 1 >x.pem.txt && cat x.pem.txt'
	echo canary >"$OUTSIDE/z.pem"
	denied cat "$OUTSIDE/z.pem"
}

@test "with HOME denied, the project below it is usable" {
	require_tool git make
	local tilde='~''/' # as in a settings file
	mkdir -p "$HOME/project"
	echo canary >"$HOME/other"
	cd "$HOME/project"
	printf 'all:\n\techo made >out\n' >Makefile
	git init -q . && git config user.name a && git config user.email a@example.org
	for command in 'make -s && cat out' 'git add . && git commit -q -m x && git log --oneline' 'ls' 'python3 -c "import json, os; print(os.listdir())"' \
		'pwd -P' 'mkdir -p a/b && cd a/b && ls ../..' 'find . -name out' 'bash -c "echo *"'; do
		run_in "$PWD" -- hurdle run -q --deny-read "$tilde" -- sh -c "$command"
		[[ $status == 0 && -n $output ]] || fail "fails: $command" "$(seen_)"
		# what git looks for in HOME is refused, and it lives with that
		[[ $command == git* ]] || assert_output_lacks '<sandbox_violations>'
	done
	PROJECT=$PWD options=(--deny-read "$tilde")
	denied cat "$HOME/other"
	denied cat ../other
	denied ls ..
}

@test "the environment of the processes above is not read, that of the run's own is" {
	for what in environ 'task/$PPID/environ'; do
		denied sh -c "cat /proc/\$PPID/$what"
	done
	denied sh -c 'read -r a b c d e </proc/$PPID/stat; cat "/proc/$d/environ"'
	# root's own commands lost the capabilities for it, so there the kernel refuses by itself
	as_root || assert_output_contains 'deny file-read-data /proc/'
	allowed sh -c 'cat /proc/self/environ >/dev/null && cat /proc/$$/environ >/dev/null'
	allowed sh -c 'sleep 5 & cat /proc/$!/environ >/dev/null; r=$?; kill $!; exit $r'
	allowed sh -c 'sh -c "cat /proc/\$PPID/environ" >/dev/null'
	# a sibling: below the same hurdle
	allowed sh -c 'sleep 5 & p=$!; sh -c "cat /proc/$p/environ" >/dev/null; r=$?; kill $p; exit $r'
	echo 'only for a while' >note
	A_TOKEN=canary bash -c 'echo $$ >pid; until [[ -e done ]]; do sleep 0.1; done' 3>&- &
	local other=$!
	until [[ -s pid ]]; do sleep 0.05; done
	grep -qa canary "/proc/$(<pid)/environ" || { touch 'done'; fail 'cannot be read without hurdle either'; }
	run_in "$PROJECT" -- hurdle run -q -- cat "/proc/$(<pid)/environ"
	touch 'done'
	wait "$other"
	assert_status 1
	assert_output_lacks canary
}

@test "moving a denied file does not make it readable" {
	for command in 'mv secret/file x; cat x' 'mv secret x; cat x/file' 'ln secret/file x; cat x' 'mv secret/file x && cat x' \
		'mkdir y; mv secret y/; cat y/secret/file' 'python3 -c "import os; os.rename(\"secret/file\", \"x\")"; cat x' \
		'mv ../project/secret x; cat x/file' 'cd ..; mv project/secret project/x; cat project/x/file' 'cp -r secret x; cat x/file' 'cp -l secret/file x; cat x'; do
		for rule in secret/file secret "$PROJECT/secret/file" '**/secret/file' '**/file'; do
			rm -rf secret x y && mkdir secret && echo canary >secret/file
			run_in "$PROJECT" -- hurdle run -q --deny-read "$rule" -- sh -c "$command"
			[[ $output != *canary* ]] || fail "read with --deny-read $rule: $command" "$(seen_)"
			[[ $status != 0 ]] || fail "succeeded with --deny-read $rule: $command" "$(seen_)"
		done
	done
}

@test "access() agrees with open(), in silence" {
	require_tool python3
	mkdir secret
	echo canary >"$OUTSIDE/file" && echo canary >secret/file && echo canary >plain
	cat >agree.py <<'PY'
import os, sys
def can(path, flags):
    try: os.close(os.open(path, flags)); return True
    except PermissionError: return False
for path in [sys.argv[1] + '/file', 'secret/file', 'plain', 'agree.py', '/etc/passwd', '/dev/null', '/proc/self/environ', '/proc/1/environ']:
    print(path, can(path, os.O_RDONLY), can(path, os.O_WRONLY))
    for follow in (True, False):
        assert os.access(path, os.R_OK, follow_symlinks=follow) == can(path, os.O_RDONLY), path
        assert os.access(path, os.W_OK, follow_symlinks=follow) == can(path, os.O_WRONLY), path
    assert os.access(path, os.F_OK), path
assert not os.access(sys.argv[1], os.W_OK) and os.access('.', os.W_OK)
PY
	run_in "$PROJECT" -- hurdle run -q --deny-read secret --deny-write plain -- python3 agree.py "$OUTSIDE"
	assert_status 0
	assert_output_contains "$OUTSIDE/file True False"
	assert_output_contains 'secret/file False True'
	assert_output_contains 'plain True False'
	run_in "$PROJECT" -- hurdle run -q --deny-read secret -- sh -c 'test -r secret/file || test -w "$0" || echo neither' "$OUTSIDE/file"
	assert_output neither
	assert_output_lacks '<sandbox_violations>'
}
