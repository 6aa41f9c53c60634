#!/usr/bin/env bats
# Ten thousand violations in a moment: all counted, the newest hundred kept, the program hardly slower than by its own failures.
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	require_tool python3
	cat >flood.py <<'PY'
import os, sys, time
start, refused = time.time(), 0
for i in range(int(sys.argv[2])):
    try: os.open('%s/%d' % (sys.argv[1], i), os.O_WRONLY | os.O_CREAT)
    except PermissionError: refused += 1
os.write(1, b'%d %.2f\n' % (refused, time.time() - start))
PY
}

@test "ten thousand violations: the newest hundred are kept, all are counted" {
	run_in "$PROJECT" -- hurdle run --report report.json -- python3 flood.py "$OUTSIDE" 10000
	assert_status 0
	[[ $output == '10000 '* ]] || fail "$output"
	# a microsecond or ten each; a generous bound, since this is no measurement
	awk '{ exit $2 > 5 }' <<<"$output" || fail "took ${output#* } seconds"
	assert_equal "$(json_get report.json .violationCount)" 10000
	assert_equal "$(json_get report.json '.violations | length')" 100
	assert_equal "$(json_get report.json '.violations[0].target')" "$OUTSIDE/9900"
	assert_equal "$(json_get report.json '.violations[99].target')" "$OUTSIDE/9999"
	assert_equal "$(grep -c '^hurdle: deny ' <<<"$stderr")" 100
	assert_stderr_contains '10000 violations in all, the newest 100 are shown'
	assert_equal "$(ls -A "$OUTSIDE")" ''
}

@test "from many processes at once" {
	run_in "$PROJECT" -- hurdle run --report report.json -- sh -c 'for i in 1 2 3 4 5 6 7 8; do python3 flood.py "$0" 1250 & done; wait' "$OUTSIDE"
	assert_status 0
	assert_equal "$(grep -c '^1250 ' <<<"$output")" 8
	assert_equal "$(json_get report.json .violationCount)" 10000
	# a place whose record was torn by another process at that moment is left out
	(($(json_get report.json '.violations | length') >= 90))
	assert_equal "$(ls -A "$OUTSIDE")" ''
}

@test "a thousand uncovered starts are counted too" {
	require_tool put_static
	run_in "$PROJECT" -- hurdle run --report report.json -- sh -c 'i=0; while [ $i -lt 1000 ]; do "$0" /dev/null; i=$((i + 1)); done' "$TOOLS/put_static"
	assert_status 0
	assert_equal "$(json_get report.json '.uncovered | length')" 1
	assert_equal "$(json_get report.json '.uncovered[0].program')" "$TOOLS/put_static"
}
