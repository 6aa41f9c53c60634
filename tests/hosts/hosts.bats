#!/usr/bin/env bats
# The simulated hosts are what they are said to be, and hurdle says of each what is true there.
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	require_tool host_as host_probe
	require_feature seccomp
	table=$ROOT/tests/hosts/hosts.tsv
	mapfile -t hosts < <("$TOOLS/host_as" "$table")
	# hosts, as against their parts
	real=(docker podman wsl1 wsl2 rhel8 ubuntu gvisor bare)
	if as_root; then who=root; else who=user; fi
}

on() { # HOST COMMAND...
	timeout -k 5 60 "$TOOLS/host_as" "$table" "$@"
}

# cell FILE HOST PROBE: of the matrix, for whoever runs this
cell() {
	awk -F '\t' -v host="$2" -v probe="$3" '
		/^#/ { next }
		$1 == "probe" { for (i = 2; i <= NF; i++) if ($i == host) column = i; next }
		$1 == probe { print $column }' "$1"
}

wanted() { # HOST PROBE NATIVE
	local want
	want=$(cell "$ROOT/tests/hosts/matrix.tsv" "$1" "$2")
	if [[ $want == *'|'* ]]; then
		if as_root; then want=${want%%|*}; else want=${want#*|}; fi
	fi
	[[ $want != - ]] || want=$3
	echo "$want"
}

# ---- the simulation itself ----

@test "each simulated host answers as its column of the matrix says" {
	local host probe got want wrong='' n=0
	declare -A native
	while IFS=$'\t' read -r probe got; do native[$probe]=$got; done < <("$TOOLS/host_probe")
	((${#native[@]} >= 22)) || fail 'the probe says too little'
	for host in "${hosts[@]}"; do
		while IFS=$'\t' read -r probe got; do
			want=$(wanted "$host" "$probe" "${native[$probe]}")
			[[ $got == "$want" ]] || wrong+="$host $probe: $got, expected $want"$'\n'
			((++n))
		done < <(on "$host" "$TOOLS/host_probe")
	done
	assert_equal "$wrong" ''
	((n == ${#native[@]} * ${#hosts[@]})) || fail "$n answers"
}

@test "whatever is started there lives there, by whatever way" {
	local host here there
	here=$(on docker "$TOOLS/host_probe")
	for host in 'setsid -w' 'sh -c "$@" sh' 'sh -c "(\"\$@\")" sh'; do
		there=$(eval "on docker $host" '"$TOOLS/host_probe"')
		[[ $host == sh* ]] || assert_equal "$there" "$here"
	done
	there=$(on docker sh -c '("$0") & wait' "$TOOLS/host_probe")
	assert_equal "$there" "$here"
}

@test "ordinary programs work on every one" {
	require_tool git python3 tar
	local host
	for host in "${hosts[@]}"; do
		# there some of them die, in earnest as well
		[[ $host != android ]] || continue
		mkdir "$PROJECT/$host"
		run --separate-stderr on "$host" sh -ec '
			cd "$1"
			git init -q . && echo x >a && git add a
			git -c user.name=n -c user.email=n@example.com commit -qm m
			git log --oneline | wc -l
			tar -cf - a | tar -tf -
			cp -r a b && mv b c && ls -l c >/dev/null && rm c
			python3 -c "import subprocess, threading
t = threading.Thread(target=lambda: print(subprocess.check_output([\"echo\", \"y\"]).decode().strip()))
t.start(); t.join()"' sh "$PROJECT/$host"
		[[ $status == 0 && ${output//$'\n'/ } == '1 a y' ]] || fail "$host" "$(seen_)"
	done
}

@test "status and signal come through, and what is not in the table is an error" {
	run on wsl2 sh -c 'exit 42'
	assert_status 42
	run on docker sh -c 'kill -TERM $$'
	assert_status 143
	run --separate-stderr on no-such-host true
	assert_status 99
	assert_stderr_contains "no host 'no-such-host'"
	printf 'h\tcall\tfork\tESOMETHING\t\n' >table
	run --separate-stderr "$TOOLS/host_as" table h true
	assert_status 99
	assert_stderr_contains "unknown answer 'ESOMETHING'"
}

@test "as root the kernel's name is the host's, and root has the host's capabilities" {
	as_root || skip 'only root has mounts for it'
	run on wsl1 cat /proc/sys/kernel/osrelease
	assert_output 4.4.0-22621-Microsoft
	run on gvisor cat /proc/version
	assert_output_contains 'Sun Jan 10 15:06:54 PST 2016'
	run on docker grep CapBnd /proc/self/status
	assert_output $'CapBnd:\t00000000a80425fb'
	run on docker grep NoNewPrivs /proc/self/status
	assert_output $'NoNewPrivs:\t0'
}

# ---- what hurdle finds there ----

# json HOST [OPTION...]: status into $OUTSIDE/HOST.json
json() {
	local host=$1
	shift
	on "$host" "$HURDLE_BUILD/hurdle" status --json "$@" >"$OUTSIDE/$host.json" || fail "status on $host: $?"
}

@test "hurdle finds on each host what the probe finds" {
	require_tool python3
	local host
	for host in "${hosts[@]}"; do
		json "$host"
		on "$host" "$TOOLS/host_probe" >"$OUTSIDE/$host.probe"
		python3 - "$OUTSIDE/$host.json" "$OUTSIDE/$host.probe" <<'PY' || fail "on $host"
import json, sys
have = {c["name"]: c for c in json.load(open(sys.argv[1]))["host"]["capabilities"]}
seen = dict(l.rstrip("\n").split("\t") for l in open(sys.argv[2]))
pairs = dict(mountns="mount", landlock="landlock", seccomp="seccomp", notify="listener", addfd="listener", ptrace="rewrite", openat2="openat2",
             memfd="memfd", pidfd_getfd="pidfd_getfd", subreaper="subreaper")
words = dict(EPERM="not permitted", ENOSYS="not implemented", EINVAL="Invalid argument", EBUSY="another listener", EOPNOTSUPP="not supported", SIGSYS="SIGSYS",
             no="made all the same", ENOSPC="No space")
for capability, probe in pairs.items():
    c, s = have[capability], seen[probe]
    assert c["available"] == (s == "ok"), (c, s)
    # what is needed before it may be missing already
    assert s == "ok" or words[s] in c["evidence"] or c["evidence"].startswith("pidfd_open: "), (c, s)
PY
	done
}

@test "hurdle calls the hosts by their names, as root" {
	as_root || skip 'only root has mounts for it'
	require_tool python3
	local pair
	for pair in wsl1:WSL1 wsl2:WSL2 gvisor:gVisor; do
		json "${pair%:*}"
		assert_equal "$(json_get "$OUTSIDE/${pair%:*}.json" .host.platform)" "${pair#*:}"
	done
	json bare
	# what is not there, and what would bring it
	[[ $(json_get "$OUTSIDE/bare.json" '.host.requiresInstall[].package') == bubblewrap ]] ||
		fail "$(json_get "$OUTSIDE/bare.json" .host.requiresInstall)"
	run on bare "$HURDLE_BUILD/hurdle" status
	assert_output_contains 'the package bubblewrap brings bwrap'
}

# ---- what it claims there ----

@test "on each host each guarantee has the level of the table" {
	require_tool python3
	require_feature userns mountns pidns netns landlock=6 notify openat2 bwrap
	run "$ROOT/tests/hosts/levels" "$who"
	assert_status 0
}

@test "on each host what is denied is denied, and what is allowed works" {
	local host
	echo secret >"$OUTSIDE/secret"
	mkdir "$OUTSIDE/hidden"
	for host in "${real[@]}"; do
		run --separate-stderr on "$host" "$HURDLE_BUILD/hurdle" run --deny-read "$OUTSIDE/secret" --deny-read "$OUTSIDE/hidden" --deny-write "$PROJECT/conf/settings" -- sh -c '
			echo x >allowed && cat allowed
			echo x >"$1/new" || echo write refused
			cat "$1/secret" || echo read refused
			ls "$1/hidden" || echo list refused
			mkdir evil && echo planted >evil/settings && ln -s evil conf; cat conf/settings
			echo end' sh "$OUTSIDE"
		[[ $status == 0 && ${output//$'\n'/ } == 'x write refused read refused list refused end' ]] || fail "$host" "$(seen_)"
		[[ $stderr != *'Not a directory'* ]] || fail "$host" "$(seen_)"
		rm -rf allowed evil conf
		assert_file_absent "$OUTSIDE/new"
	done
}

left_over() { find "$TMPDIR" -maxdepth 1 -name '*hurdle-*' -newer "$OUTSIDE"; }

@test "on each host nothing is left when the run has ended" {
	local host before after
	for host in "${real[@]}"; do
		before=$(left_over)
		run --separate-stderr on "$host" "$HURDLE_BUILD/hurdle" run -q -- sh -c 'sleep 300 & echo ok'
		assert_output ok
		after=$(left_over)
		assert_equal "$host: $after" "$host: $before"
	done
}
