# shellcheck shell=bash
# What the bats files share: `load ../lib`.
#
#   setup() { setup_sandbox; }
#   @test "a write outside is denied" {
#     run_in "$PROJECT" -- hurdle run -- touch "$OUTSIDE/x"
#     assert_status 1
#     assert_stderr_contains 'Permission denied'
#     assert_file_absent "$OUTSIDE/x"
#   }
#
# Variables: ROOT (the source tree), HURDLE (see with_backend), HURDLE_ITSELF, SCRUB_RUN, HURDLE_BUILD, TOOLS (built from tests/tools/*.c); after setup_sandbox
# HOME, PROJECT, OUTSIDE. `run_in` sets status, output (standard output) and stderr, each also as lines.
#
# tests/run gives each test a time limit, which bats keeps with a child of the test: so `wait $pid`, never a bare `wait`. What a
# test starts in the background it also ends, and gives it 3>&- so that bats does not wait for it.

bats_require_minimum_version 1.5.0

ROOT=$(cd -P -- "$BATS_TEST_DIRNAME/../.." && pwd)
HURDLE_BUILD=${HURDLE_BUILD:-$ROOT/build}
case $HURDLE_BUILD in /*) ;; *) HURDLE_BUILD=$ROOT/$HURDLE_BUILD ;; esac
HURDLE_ITSELF=$HURDLE_BUILD/hurdle
SCRUB_RUN=$HURDLE_BUILD/scrub-run
TOOLS=$HURDLE_BUILD/tests/tools
# HURDLE_HOST: hurdle lives on that simulated host (tests/hosts/hosts.tsv); what a test does around it does not.
if [[ -n ${HURDLE_HOST-} ]]; then
	# shellcheck disable=SC2016 # for the inner shell
	printf '#!/bin/sh\nexec %q %q %q %q "$@"\n' "$TOOLS/host_as" "$ROOT/tests/hosts/hosts.tsv" "$HURDLE_HOST" "$HURDLE_ITSELF" >"$BATS_RUN_TMPDIR/as-host.$BASHPID"
	chmod 755 "$BATS_RUN_TMPDIR/as-host.$BASHPID"
	HURDLE_ITSELF=$BATS_RUN_TMPDIR/as-host
	mv -f "$HURDLE_ITSELF.$BASHPID" "$HURDLE_ITSELF"
fi
export ROOT HURDLE HURDLE_ITSELF HURDLE_BUILD SCRUB_RUN TOOLS

# with_backend NAMES: from here on HURDLE, and with it `hurdle`, is given --backend=NAMES. A file whose tests are about one fence
# says so at its top; where none says anything it is the shim alone, which is what a host with nothing else has.
with_backend() {
	local dir=${BATS_RUN_TMPDIR:-${TMPDIR:-/tmp}}/backend-${1//,/-}
	HURDLE=$dir/hurdle
	[[ ! -x $HURDLE ]] || return 0
	# shellcheck disable=SC2016 # for the script itself
	mkdir -p "$dir" && printf '%s\n' '#!/bin/sh' 'case $1 in run|status|explain|profile) c=$1; shift ;; *) exec "'"$HURDLE_ITSELF"'" "$@" ;; esac' \
		"exec \"$HURDLE_ITSELF\" \"\$c\" --backend=$1 \"\$@\"" >"$HURDLE.$BASHPID" && chmod 755 "$HURDLE.$BASHPID" && mv "$HURDLE.$BASHPID" "$HURDLE"
}
with_backend "${TEST_BACKEND:-preload}"

# The programs under their own names, so that a test reads like a terminal. A hang ends after HURDLE_TIMEOUT seconds with 124.
hurdle() { timeout -k 5 "${HURDLE_TIMEOUT:-60}" "$HURDLE" "$@"; }
# With the shim as the only fence, whatever else this host has: for tests of the shim itself. Every such test goes through here.
shim_run() { hurdle run --backend preload "$@"; }
scrub-run() { timeout -k 5 "${HURDLE_TIMEOUT:-60}" "$SCRUB_RUN" "$@"; }

# ---- what this machine has ----

as_root() { ((EUID == 0)); }
as_user() { ((EUID != 0)); }

# must_work NAME: HURDLE_MUST_WORK (comma or space between) names what a skip may not be blamed on.
must_work() {
	local words
	read -ra words -d '' <<<"${HURDLE_MUST_WORK//,/ }" || :
	[[ " ${words[*]} " == *" $1 "* ]]
}

# skip_or_fail NAME REASON
skip_or_fail() {
	if must_work "$1"; then
		fail "HURDLE_MUST_WORK names '$1', but $2"
	else
		skip "$2"
	fi
}

# require_tool NAME|PATH...: a command, or a program built from tests/tools
require_tool() {
	local name
	for name; do
		command -v -- "$name" >/dev/null || [[ -x $TOOLS/$name ]] || skip_or_fail tools "no $name here" || return 1
	done
}

# require_feature NAME[=N]...: what `feature` (tests/tools/feature.c) knows: userns mountns netns pidns landlock[=ABI] seccomp
# notify openat2 ptrace; and bwrap, that is, a bwrap that can run something.
require_feature() {
	local name reason
	for name; do
		if [[ $name == bwrap ]]; then
			reason=$(bwrap --ro-bind / / --unshare-all true 2>&1) || skip_or_fail bwrap "bwrap: ${reason:-failed}" || return 1
		else
			reason=$("$TOOLS/feature" "$name" 2>&1) || skip_or_fail "${name%%=*}" "${reason:-$name: no answer}" || return 1
		fi
	done
}

# Without birth times a protected name is held only at the top of the project, in HOME and in the repositories found at the start.
require_birth_time() {
	hurdle status --verbose 2>/dev/null | grep -q $'^birth_time\tyes\t' || skip_or_fail birth_time 'no birth times here'
}

# ---- a place to work in ----

# HOME, PROJECT (also the current directory) and OUTSIDE for one test, empty, canonical, all gone after it. None of them is a
# write root of hurdle's: only the directory it starts in and its own TMPDIR are.
setup_sandbox() {
	local base
	base=$(cd -P -- "$BATS_TEST_TMPDIR" && pwd)
	export HOME=$base/home PROJECT=$base/project OUTSIDE=$base/outside
	export GIT_CONFIG_NOSYSTEM=1
	unset XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR
	mkdir -p "$HOME" "$PROJECT" "$OUTSIDE"
	cd "$PROJECT" || return 1
}

# run_in DIRECTORY [--] COMMAND [ARG...]: runs it there with nothing on standard input; `hurdle` and `scrub-run` are ours.
run_in() {
	local dir=$1
	shift
	[[ ${1-} != -- ]] || shift
	run --separate-stderr in_dir_ "$dir" "$@"
}
in_dir_() {
	cd -- "$1" || return 99
	shift
	"$@" </dev/null
}

# ---- assertions: silent when true; else say what was expected and everything that was seen ----

fail() {
	printf '%s\n' "$@" >&2
	return 1
}

seen_() {
	printf -- '-- status: %s\n-- standard output:\n%s\n-- standard error:\n%s\n' "${status-}" "${output-}" "${stderr-}"
}

assert_status() { [[ ${status-} == "$1" ]] || fail "expected status $1" "$(seen_)"; }
assert_output() { [[ ${output-} == "$1" ]] || fail "expected output: $1" "$(seen_)"; }
# Standard output and standard error; the two below look at standard error only.
assert_output_contains() { [[ ${output-}$'\n'${stderr-} == *"$1"* ]] || fail "expected in the output: $1" "$(seen_)"; }
assert_output_lacks() { [[ ${output-}$'\n'${stderr-} != *"$1"* ]] || fail "not expected in the output: $1" "$(seen_)"; }
assert_stderr_contains() { [[ ${stderr-} == *"$1"* ]] || fail "expected on standard error: $1" "$(seen_)"; }
assert_stderr_lacks() { [[ ${stderr-} != *"$1"* ]] || fail "not expected on standard error: $1" "$(seen_)"; }
# assert_output_matches REGEX (bash's extended ones, over all lines)
assert_output_matches() { [[ ${output-}$'\n'${stderr-} =~ $1 ]] || fail "expected a match of: $1" "$(seen_)"; }
assert_equal() { [[ $1 == "$2" ]] || fail "expected: $2" "     got: $1"; }

assert_file_absent() { [[ ! -e $1 && ! -L $1 ]] || fail "should not exist: $(ls -ld -- "$1")" "$(seen_)"; }
assert_file_present() { [[ -e $1 || -L $1 ]] || fail "does not exist: $1" "$(seen_)"; }
# assert_file_content FILE TEXT (without the last newline)
assert_file_content() {
	local got
	got=$(cat -- "$1") || fail "cannot read: $1" "$(seen_)" || return 1
	[[ $got == "$2" ]] || fail "content of $1" "expected: $2" "     got: $got" "$(seen_)"
}

# One line for each name below DIRECTORY, in order: mode and type, link target, content's sum.
tree_of() (
	cd -- "$1" || return 1
	export LC_ALL=C
	{
		find . ! -type l -exec stat -c '%n  %A' {} +
		find . -type l -exec stat -c '%N  %A' {} +
		find . -type f -exec sha256sum {} + | sed 's/^\([0-9a-f]*\)  \(.*\)/\2  sha256 \1/'
	} 2>&1 | sort
)

# assert_tree_equal A B: the same names, modes, link targets and contents
assert_tree_equal() {
	local difference
	difference=$(diff -U0 --label "$1" --label "$2" <(tree_of "$1") <(tree_of "$2")) || fail "trees differ:" "$difference"
}

# json_get FILE EXPR: prints the value of a jq filter, strings raw. Without jq, EXPR is a path such as .guarantees[0].id, [] for
# each element, with `| length` at its end if need be.
json_get() {
	if command -v jq >/dev/null; then
		jq -r "$2" <"$1"
	else
		python3 - "$@" <<'PY'
import json, re, sys
path, _, tail = sys.argv[2].partition("|")
values = [json.load(open(sys.argv[1]))]
for key, index, each in re.findall(r'\.?([A-Za-z_]\w*)|\[(-?\d+|"[^"]*")\]|(\[\])', path):
    step = json.loads(index) if index else key
    if each:
        values = [x for v in values for x in (v.values() if isinstance(v, dict) else v)]
    else:
        values = [v.get(step) if isinstance(v, dict) else v[step] for v in values]
assert tail.strip() in ("", "length"), "jq is needed for: " + sys.argv[2]
for v in values:
    v = len(v) if tail else v
    print(v if isinstance(v, str) else json.dumps(v))
PY
	fi
}
