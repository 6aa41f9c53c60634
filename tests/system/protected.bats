#!/usr/bin/env bats
# Protected names: what a program outside would obey later is not written in directories that are older than the run, existing
# or not; in those that the run made, it is an ordinary name.
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	git config --global user.name a
	git config --global user.email a@example.org
	git config --global init.defaultBranch main
}

repository() { # DIRECTORY
	git init -q "$1"
	echo one >"$1/file"
	git -C "$1" add file
	git -C "$1" commit -q -m first
}

# inside [OPTION...] -- SHELL-COMMAND
inside() {
	local options=()
	while [[ $1 != -- ]]; do options+=("$1"); shift; done
	run_in "$PROJECT" -- hurdle run -q --report report.json "${options[@]}" -- sh -c "$2"
}

# refused COMMAND: works without hurdle (in a copy); inside it fails with permission denied, and the tree is as before
refused() {
	rm -rf "$OUTSIDE/copy" && cp -a "$PROJECT" "$OUTSIDE/copy"
	(cd "$OUTSIDE/copy" && sh -c "$1") >/dev/null 2>"$OUTSIDE/err" || fail "fails without hurdle: $1" "$(<"$OUTSIDE/err")" || return 1
	tree_of "$PROJECT" | grep -v '^\./report.json' >"$OUTSIDE/before"
	inside -- "$1"
	[[ $status != 0 ]] || fail "not refused: $1" "$(seen_)" || return 1
	assert_output_contains 'ermission denied' || fail "$1" || return 1
	diff -U0 "$OUTSIDE/before" <(tree_of "$PROJECT" | grep -v '^\./report.json') || fail "left something: $1"
}

allowed() {
	inside -- "$1"
	[[ $status == 0 ]] || fail "refused: $1" "$(seen_)" || return 1
	assert_output_lacks '<sandbox_violations>' || fail "$1"
}

@test "in an old repository: hooks and configuration are refused, the rest of it works" {
	repository .
	mkdir -p .git/hooks && echo sample >.git/hooks/sample
	for command in 'echo x >.git/hooks/pre-commit' 'echo x >>.git/hooks/sample' 'rm .git/hooks/sample' 'chmod +x .git/hooks/sample' 'rm -r .git/hooks' \
		'mv .git/hooks/sample .git/hooks/pre-commit' 'cp file .git/hooks/x' 'ln -s ../../file .git/hooks/x' 'mkdir .git/hooks/d' 'mv .git/hooks .git/h2' \
		'echo x >>.git/config' 'git config a.b c' 'cp file .git/config' 'rm .git/config' 'mv file .git/config' 'ln -sf file .git/config' 'echo x >.git/config.worktree'; do
		refused "$command"
	done
	mkdir -p .git/modules/m .git/modules/a/b
	for command in 'mkdir .git/modules/m/hooks' 'echo x >.git/modules/m/config' 'mkdir .git/modules/a/b/hooks'; do refused "$command"; done
	for command in 'echo two >file && git commit -q -a -m second' 'git branch x && git tag v1' 'git checkout -q -b y' 'git stash list' 'git gc -q' 'git reset -q --hard HEAD~1' \
		'git merge -q main' 'rm -f file && git checkout -q -- file' 'echo x >.git/description'; do
		allowed "$command"
	done
}

@test "--allow-git-config lifts the configuration alone, and the refusal says so" {
	repository .
	git branch other
	refused 'git config a.b c'
	assert_stderr_contains "allowGitConfig lifts it"
	refused 'echo x >>.git/config'
	assert_stderr_contains "deny file-write-data $PROJECT/.git/config"
	inside --allow-git-config -- 'git config a.b c && git config --global --list >/dev/null; git branch -q --set-upstream-to=main other'
	assert_status 0
	assert_equal "$(git config a.b)" c
	inside --allow-git-config -- 'echo x >.git/hooks/pre-commit'
	assert_status 2
	assert_stderr_contains "$PROJECT/.git/hooks/pre-commit"
	assert_stderr_lacks allowGitConfig
}

@test "protected names in old directories, existing or not, in any case and by any road" {
	require_birth_time
	mkdir -p a/b .vscode real
	echo old >.bashrc && echo old >.vscode/tasks.json && echo one >file
	for name in .gitconfig .gitmodules .bashrc .bash_profile .bash_login .profile .zshrc .zprofile .zshenv .zlogin .ripgreprc .mcp.json .hurdle.json .BashRC .MCP.json; do
		refused "echo x >$name"
		refused "echo x >a/b/$name"
	done
	for name in .vscode .idea .VSCode .IDEA; do
		[[ -e $name ]] || refused "mkdir $name"
		refused "mkdir -p $name/x"
		refused "mkdir a/$name"
		refused "mkdir -p a/b/$name/deep/er"
	done
	for command in 'echo x >.vscode/tasks.json' 'rm .vscode/tasks.json' 'rm -r .vscode' 'mv .vscode away' 'rm .bashrc' 'mv .bashrc x' 'mv file .bashrc' 'cp file a/.bashrc' \
		'ln file a/.bashrc' 'ln -s file a/.bashrc' 'mv real a/.vscode' 'mv real .idea' 'ln -s real .idea' 'cp -r real .idea' 'mkdir x; mv x .idea; r=$?; rmdir x; exit $r' \
		'chmod 777 .bashrc' 'touch .bashrc' 'truncate -s 0 .bashrc' 'sed -i s/old/new/ .bashrc' 'python3 -c "open(\".zshrc\", \"w\")"' 'cd a && echo x >../.profile' \
		'mv a/b a/.idea' 'rm -rf .vscode'; do
		refused "$command"
	done
	mkdir -p .claude/commands
	for command in 'echo x >.claude/settings.json' 'echo x >.claude/settings.local.json' 'echo x >.claude/SETTINGS.json' 'echo x >.claude/commands/x.md' 'mkdir .claude/hooks' \
		'mkdir .claude/agents' 'mkdir .claude/skills' 'mv .claude away' 'mkdir n && mkdir n/commands && mv n .claude2 && mv .claude2/commands .claude/agents; r=$?; rm -r .claude2; exit $r'; do
		refused "$command"
	done
	allowed 'echo x >.claude/notes.md && echo x >.bashrc2 && echo x >bashrc && mkdir vscode && echo x >a/profile'
}

@test "in directories that the run makes they are ordinary names" {
	require_birth_time
	repository .
	mkdir -p old "$OUTSIDE/pkg/.vscode" && echo x >"$OUTSIDE/pkg/.vscode/tasks.json" && echo x >"$OUTSIDE/pkg/.bashrc"
	for command in 'git init -q sub && git -C sub config a.b c && echo x >sub/.git/hooks/pre-commit' 'git clone -q . clone && git -C clone checkout -q -b z' \
		'mkdir -p pkg/node && echo x >pkg/.npmrc && echo x >pkg/.bashrc && mkdir pkg/.vscode && echo x >pkg/.vscode/settings.json' \
		'mkdir old/new && echo x >old/new/.profile && mv old/new old/newer && echo y >old/newer/.profile' \
		'cp -r "$OUTSIDE/pkg" pkg2 && rm -rf pkg2 && git init -q g && rm -rf g'; do
		allowed "$command"
	done
	mkdir src && mkdir src/.vscode src/.claude src/.claude/commands && echo x >src/.vscode/a && echo x >src/.gitmodules && echo x >src/.claude/commands/a && tar -cf src.tar src && rm -r src
	allowed 'tar -xf src.tar && cat src/.vscode/a && rm -rf src && mkdir t && tar -xf src.tar -C t'
	# next time it is old
	refused 'echo x >t/src/.gitmodules'
	refused 'echo x >t/src/.vscode/b'
}

@test "node_modules is exempt" {
	require_birth_time
	mkdir -p node_modules/old/.vscode a/node_modules/b
	allowed 'echo x >node_modules/.bashrc && echo x >node_modules/old/.vscode/x && mkdir a/node_modules/b/.idea && echo x >a/node_modules/b/.gitmodules'
	refused 'echo x >a/.bashrc'
	refused 'mkdir node_modules.x && mv node_modules.x .vscode; r=$?; rmdir node_modules.x; exit $r'
}

@test "git init in a plain directory works, and what was made is reported" {
	for command in 'git init -q . && echo x >a && git add a && git commit -q -m x && git config a.b c' 'git init -q one && git clone -q one two 2>/dev/null'; do
		inside -- "$command"
		assert_status 0
	done
	assert_equal "$(json_get report.json '.repositories | length')" 2
	[[ $(json_get report.json '.repositories[]' | sort) == "$PROJECT/one/.git"*$'\n'"$PROJECT/two/.git"* ]] || fail "$(json_get report.json .repositories)"
	inside -- true
	assert_equal "$(json_get report.json '.repositories | length')" 0
}

@test "a bare repository is not planted in the working directory" {
	mkdir sub objects refs
	for command in 'echo "ref: refs/heads/main" >HEAD' 'git init -q --bare .' 'echo x >h; mv h HEAD; r=$?; rm h; exit $r' 'ln -s sub HEAD' 'mkdir HEAD'; do
		inside -- "$command"
		[[ $status != 0 ]] || fail "not refused: $command"
		assert_file_absent HEAD
	done
	allowed 'echo x >sub/HEAD && git init -q --bare new.git'
	repository "$OUTSIDE/r"
	cp -r "$OUTSIDE/r/.git/." .
	allowed 'echo "ref: refs/heads/other" >HEAD'
}

@test ".git is neither moved away nor planted" {
	require_birth_time
	repository .
	repository "$OUTSIDE/evil"
	cp -r "$OUTSIDE/evil" evil
	mkdir -p old
	for command in 'mv .git away' 'mv .git old/' 'rm -rf .git' 'mv -T .git old/.git' 'python3 -c "import os; os.rename(\".git\", \"x\")"'; do
		inside -- "$command"
		[[ $status != 0 && -s .git/config && -d .git/hooks ]] || fail "not refused: $command" "$(seen_)"
	done
	# prepared where names are free, then put where they are not
	for command in 'mkdir n && mkdir -p n/hooks && echo x >n/hooks/post-checkout && mv n old/.git' 'cp -r evil n && mv n/.git old/.git' 'cp -r evil/.git n && ln -s ../n old/.git' \
		'git init -q n && mv n/.git old/' 'mkdir n && mv n .vscode' 'mkdir n && mv n old/.idea' 'mkdir n && mv n old/.VSCODE' 'mkdir n && ln -s n old/.idea' \
		'mkdir -p n/commands && mv n old/.claude' 'echo "gitdir: ../evil/.git" >n && mv n old/.vscode'; do
		rm -rf n old/.[a-zA-Z]*
		inside -- "$command"
		[[ $status != 0 ]] || fail "not refused: $command" "$(seen_)"
		[[ -z $(ls -A old) && ! -e .vscode ]] || fail "planted by: $command" "$(ls -la old)"
	done
}

@test "a worktree's real directory is protected as well" {
	repository "$OUTSIDE/main"
	git -C "$OUTSIDE/main" worktree add -q "$PROJECT/tree" 2>/dev/null
	PROJECT=$PROJECT/tree
	cd "$PROJECT"
	for command in 'git config a.b c' 'echo x >"$(git rev-parse --git-common-dir)/config"' 'echo x >"$(git rev-parse --git-common-dir)/hooks/x"' \
		'echo x >"$(git rev-parse --git-dir)/config.worktree"'; do
		inside --allow-write "$OUTSIDE/main/.git" -- "$command"
		[[ $status != 0 ]] || fail "not refused: $command" "$(seen_)"
	done
	inside --allow-write "$OUTSIDE/main/.git" -- 'echo two >file && git commit -q -a -m second'
	assert_status 0
}

@test "in HOME and / nothing is a root, and the run line says so" {
	mkdir "$HOME/sub"
	for dir in "$HOME" / "$(dirname "$HOME")"; do
		run_in "$dir" -- hurdle run -- sh -c 'echo x >hurdle-test-file || echo x >"$TMPDIR/x" && cat "$TMPDIR/x"'
		assert_status 0
		assert_output x
		assert_stderr_contains 'name a root with --allow-write'
		assert_stderr_contains 'Permission denied'
		assert_file_absent "$dir/hurdle-test-file"
	done
	run_in "$HOME" -- hurdle run --allow-write sub -- sh -c 'echo x >sub/y && echo x >z'
	assert_status 2
	assert_file_content "$HOME/sub/y" x
	assert_file_absent "$HOME/z"
	run_in "$HOME/sub" -- hurdle run -- sh -c 'echo x >y'
	assert_status 0
	assert_stderr_lacks 'name a root'
	# HOME itself as a root: what is secret or obeyed there stays
	mkdir -p "$HOME/.ssh" "$HOME/.config"
	for name in .ssh/authorized_keys .config/x .local/bin/x .bashrc .netrc; do
		run_in "$HOME" -- hurdle run -q --allow-write . -- sh -c "mkdir -p \"\$(dirname $name)\"; echo x >$name"
		[[ $status != 0 ]] || fail "not refused: ~/$name"
		assert_file_absent "$HOME/$name"
	done
	run_in "$HOME" -- hurdle run -q --allow-write . -- sh -c "echo x >plain"
	assert_status 0
}

@test "a settings file that was read is not written" {
	echo '{"filesystem": {"allowWrite": ["."]}}' >rules.json
	for command in 'echo x >rules.json' 'rm rules.json' 'mv rules.json x' 'echo x >x && mv x rules.json'; do
		inside --settings rules.json -- "$command"
		[[ $status != 0 ]] || fail "not refused: $command"
		assert_file_content rules.json '{"filesystem": {"allowWrite": ["."]}}'
	done
}
