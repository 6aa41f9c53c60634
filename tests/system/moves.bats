#!/usr/bin/env bats
# What moves as a whole, or is put under a name as a whole, brings nothing past the rules. Preload alone: it is the one with patterns.

load ../lib

setup() {
	setup_sandbox
	mkdir -p src/deep
	echo secret >src/deep/.env
	echo code >src/deep/a.c
}

# The rules are the shim's here, whatever else this kernel has.
fenced() { run_in "$PROJECT" hurdle run -q --deny-read '**/.env' -- "$@"; }

@test "a directory with a denied file goes into TMPDIR file by file, without that one" {
	fenced sh -c 'mv src "$TMPDIR/src" 2>/dev/null; cat "$TMPDIR/src/deep/.env"'
	assert_output_lacks secret
	[[ $status != 0 ]] || fail "cat succeeded" "$(seen_)"
	assert_file_content src/deep/.env secret
}

@test "a directory without one moves into TMPDIR and back, however that is done" {
	mkdir plain && echo x >plain/f
	fenced sh -c 'mv plain "$TMPDIR/p" && mv "$TMPDIR/p" back && cat back/f'
	assert_status 0
	assert_output x
	assert_file_absent plain
}

@test "the kernel's own word for it is EXDEV" {
	require_tool python3
	fenced python3 -c 'import os, errno
try:
    os.rename("src", os.environ["TMPDIR"] + "/src")
except OSError as e:
    print(errno.errorcode[e.errno])'
	assert_output EXDEV
	assert_stderr_lacks sandbox_violations
}

@test "a directory inside TMPDIR, and one inside the project, move as ever" {
	fenced sh -c 'mv src other && cat other/deep/a.c && mkdir "$TMPDIR/a" && mv "$TMPDIR/a" "$TMPDIR/b" && echo done'
	assert_status 0
	assert_output $'code\ndone'
}

@test "an old repository does not lose its protection in node_modules" {
	require_birth_time
	require_tool git
	git init -q sub && mkdir node_modules
	fenced sh -c 'mv sub node_modules/sub; echo evil >node_modules/sub/.git/hooks/pre-commit; mv node_modules/sub sub; true'
	[[ ! -e sub/.git/hooks/pre-commit ]] || fail "a hook was planted" "$(seen_)"
}

@test "a package directory moves within node_modules" {
	mkdir -p node_modules/.a-tmp && echo x >node_modules/.a-tmp/f
	fenced sh -c 'mv node_modules/.a-tmp node_modules/a && cat node_modules/a/f'
	assert_status 0
	assert_output x
}

@test "a link in the place of a directory that a rule goes through is refused" {
	mkdir evil && echo planted >evil/settings
	run_in "$PROJECT" hurdle run -q --deny-write "$PROJECT/conf/settings" -- sh -c 'ln -s evil conf; cat conf/settings'
	assert_output_lacks planted
	assert_file_absent conf
	run_in "$PROJECT" hurdle run -q --deny-write "$PROJECT/conf/settings" -- sh -c 'ln -s evil x && mv -T x conf'
	assert_file_absent conf
	run_in "$PROJECT" hurdle run -q --deny-write "$PROJECT/conf/settings" -- sh -c 'ln -s evil y && ln -P y conf'
	assert_file_absent conf
	run_in "$PROJECT" hurdle run -q --deny-write "$PROJECT/conf/settings" -- sh -c 'mkdir conf && echo x >conf/other && cat conf/other'
	assert_output x
}

@test "a link is made as ever where no rule goes through" {
	fenced sh -c 'ln -s src link && cat link/deep/a.c && mv link moved && cat moved/deep/a.c'
	assert_status 0
	assert_output $'code\ncode'
}
