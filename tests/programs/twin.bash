# shellcheck shell=bash
# Twin runs: `load twin` instead of ../lib.
#
#   setup() { setup_twin; }
#   @test "git: commits" {
#     git init -q "$PROJECT"                 # what both find
#     twin <<'END'
#   echo hello >file
#   git add file
#   END
#   }
#
# A session is a script for bash -eu. It runs twice at the same place, from identical trees and with the same environment: once as
# it is, once as `hurdle run -- bash session`. Exit code (0 unless the test says otherwise), standard output and the resulting tree
# (names, modes, contents, link targets) must be the same; a difference is printed. Inside there must be no violation either.

load ../lib

setup_twin() {
	setup_sandbox
	TWIN=$BATS_TEST_TMPDIR/twin
	mkdir "$TWIN"
	# What a commit, an archive or a message depends on.
	export LC_ALL=C TZ=UTC0 TMPDIR=$TWIN/tmp
	export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_AUTHOR_DATE='2020-01-01T00:00:00Z'
	export GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.com GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
	git config --file "$HOME/.gitconfig" init.defaultBranch main
	git config --file "$HOME/.gitconfig" pack.threads 1
	TWIN_STATUS=0 TWIN_VARIES=() TWIN_VIOLATIONS=''
}

# twin [OPTION of hurdle run...] <<END
#   TWIN_STATUS      the exit code that both have
#   TWIN_VARIES      patterns of paths whose content is not compared, as for find -path: logs with times, files that hold an inode's number
#   TWIN_VIOLATIONS  a text that stands in the report of violations; without it there must be none
twin() {
	# shellcheck disable=SC2016
	{ echo 'trap '\''echo "session, line $((LINENO - 1)): $BASH_COMMAND" >&2'\'' ERR' && cat; } >"$TWIN/session"
	mv "$PROJECT" "$TWIN/seed"
	mv "$HOME" "$TWIN/seed-home"
	twin_run_ outside timeout -k 5 "${HURDLE_TIMEOUT:-240}" bash -eu "$TWIN/session"
	twin_run_ inside hurdle run "$@" -- bash -eu "$TWIN/session"
	twin_compare_
}

twin_run_() { # NAME COMMAND...
	local name=$1 rc=0
	shift
	rm -rf "$PROJECT" "$HOME" "$TMPDIR"
	cp -a "$TWIN/seed" "$PROJECT"
	cp -a "$TWIN/seed-home" "$HOME"
	mkdir "$TMPDIR"
	(
		cd "$PROJECT" || exit 99
		for fd in /proc/self/fd/*; do # hurdle closes what is inherited
			fd=${fd##*/}
			((fd <= 2)) || eval "exec $fd>&-"
		done
		export HURDLE_TIMEOUT=${HURDLE_TIMEOUT:-240}
		"$@"
	) </dev/null >"$TWIN/$name.out" 2>"$TWIN/$name.err" || rc=$?
	echo "$rc" >"$TWIN/$name.rc"
	mv "$PROJECT" "$TWIN/$name"
}

twin_compare_() {
	local side pattern told
	# shellcheck disable=SC2034 # seen_ prints it
	stderr=$(tail -n 40 "$TWIN/outside.err" | sed 's/^/outside: /'; tail -n 60 "$TWIN/inside.err" | sed 's/^/inside: /')
	status="$(<"$TWIN/outside.rc") outside, $(<"$TWIN/inside.rc") inside"
	output=$(diff -U1 --label outside --label inside "$TWIN/outside.out" "$TWIN/inside.out") || :
	[[ $status == "$TWIN_STATUS outside, $TWIN_STATUS inside" ]] || fail "expected status $TWIN_STATUS of both" "$(seen_)" || return 1
	[[ -z $output ]] || fail "standard output differs" "$(seen_)" || return 1
	for side in outside inside; do
		for pattern in "${TWIN_VARIES[@]}"; do
			find "$TWIN/$side" -path "$TWIN/$side/$pattern" -type f -exec sh -c 'for f; do chmod u+w "$f" && echo varies >"$f"; done' - {} +
		done
	done
	output=$(assert_tree_equal "$TWIN/outside" "$TWIN/inside" 2>&1) || fail "$(head -n 60 <<<"$output")" "$(output='' seen_)" || return 1
	told=$(sed -n '/^<sandbox_violations>/,$p' "$TWIN/inside.err")
	if [[ -n $TWIN_VIOLATIONS ]]; then
		[[ $told == *"$TWIN_VIOLATIONS"* ]] || fail "expected a violation: $TWIN_VIOLATIONS" "$(seen_)"
	else
		[[ -z $told ]] || fail "expected no violation" "$(seen_)"
	fi
}
