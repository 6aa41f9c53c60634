#!/usr/bin/env bats
# What is claimed of this host is what was seen on it.
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	require_tool jq
}

# level GUARANTEE [FILE]
level() { jq -r --arg id "$1" '.guarantees[] | select(.id == $id).level' "${2:-status.json}"; }

@test "where only the shim holds the file rules, they are called application, with what gets past it" {
	hurdle status --json >status.json
	assert_equal "$(level env.secrets)" kernel
	[[ $(jq -r '[.mechanisms[] | select(.available).name] | map(select(. == "bwrap" or . == "seatbelt" or . == "landlock" or . == "notify")) | length' status.json) == 0 ]] ||
		skip 'other mechanisms hold them here'
	for id in fs.write fs.write.deny fs.write.names fs.read.deny fs.read.names fs.metadata; do
		assert_equal "$id $(level "$id")" "$id application"
		(($(jq --arg id "$id" '.guarantees[] | select(.id == $id).caveats | length' status.json) > 0)) || fail "$id has no caveat"
	done
	assert_equal "$(level exec.coverage)" none
	hurdle status --json --strict >status.json
	assert_equal "$(level exec.coverage)" application
	run_in "$PROJECT" -- hurdle run --require fs.write=kernel -- touch started
	assert_status 125
	assert_stderr_contains 'fs.write is required at level kernel'
	assert_stderr_contains 'allowWrite . (default)'
	assert_file_absent started
}

@test "a run reports the plan that status shows" {
	options=(--allow-write "$OUTSIDE" --deny-read "$OUTSIDE/x" --net=off)
	hurdle status --json "${options[@]}" >status.json
	run_in "$PROJECT" -- hurdle run -q --report report.json "${options[@]}" -- true
	assert_status 0
	# hurdle's own process is one of the ancestors of a run, and of nothing else
	for key in mechanisms guarantees rules; do
		assert_equal "$(jq -S ".$key" report.json)" "$(jq -S ".$key" status.json)"
	done
}

@test "env.ancestors is measured" {
	require_tool get_static
	local readable
	cat >above.sh <<'SH'
pid=$$
while read -r line <"/proc/$pid/stat" && line=${line##*) } && set -- $line && pid=$2 && [ "$pid" -gt 1 ]; do
	if "$0" "/proc/$pid/environ"; then echo "$pid"; fi
done
SH
	run_in "$PROJECT" -- hurdle run -q --report report.json -- sh -c "$(<above.sh)" "$TOOLS/get_static"
	assert_status 0
	readable=$(wc -w <<<"$output")
	hurdle status --json >status.json
	for file in report.json status.json; do
		if ((readable)); then
			[[ $(level env.ancestors "$file") == application ]] || fail "$readable ancestors can be read, but $file says $(level env.ancestors "$file")"
		else
			[[ $(level env.ancestors "$file") == kernel ]] || fail "no ancestor can be read, but $file says $(level env.ancestors "$file")"
		fi
	done
}

@test "the run line says what holds" {
	run_in "$PROJECT" -- hurdle run --report report.json -- true
	local total kernel application
	total=$(jq '[.guarantees[] | select(.level != "n/a")] | length' report.json)
	kernel=$(jq '[.guarantees[] | select(.level == "kernel")] | length' report.json)
	application=$(jq '[.guarantees[] | select(.level == "application")] | length' report.json)
	assert_stderr_contains "$kernel of $total guarantees by the kernel"
	assert_stderr_contains "$application by code in the program's own process"
	assert_equal "$(wc -l <<<"$stderr")" 1
	run_in "$PROJECT" -- hurdle run --quiet -- true
	assert_equal "$stderr" ''
}
