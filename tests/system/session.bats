#!/usr/bin/env bats
# What is around the command: its temporary directory, descriptors, rights, signals, exit code, what it leaves, what is said.
# shellcheck shell=bash

load ../lib

setup() { setup_sandbox; }

@test "TMPDIR is private, and gone at the end" {
	run_in "$PROJECT" -- hurdle run -q -- sh -c 'echo "$TMPDIR"; stat -c %a "$TMPDIR"; [ "$TMP" = "$TMPDIR" ] && [ "$TEMP" = "$TMPDIR" ] && echo x >"$(mktemp)" && ls "$TMPDIR" | wc -l'
	assert_status 0
	assert_equal "${lines[1]} ${lines[2]}" '700 1'
	[[ ${lines[0]} != "${TMPDIR:-/tmp}" && ! -e ${lines[0]} && ! -e ${lines[0]%/*} ]] || fail "${lines[0]}"
	mkdir "$OUTSIDE/t"
	CLAUDE_TMPDIR=$OUTSIDE/t run_in "$PROJECT" -- hurdle run -q -- sh -c 'echo "$TMPDIR"; mkdir -p "$TMPDIR/a/b"; echo x >"$TMPDIR/a/b/c"; chmod 000 "$TMPDIR/a/b"'
	assert_status 0
	[[ $output == "$OUTSIDE/t/"* ]]
	assert_equal "$(ls -A "$OUTSIDE/t")" ''
	run_in "$PROJECT" -- hurdle run -q -- sh -c 'd=$TMPDIR; cd "$d" && ln -s / root && ln -s "$0" link && kill -9 $$' "$PROJECT"
	assert_status 137
	[[ -d $PROJECT && -d /tmp ]]
}

@test "inherited descriptors are closed, but those that are passed" {
	echo secret >"$OUTSIDE/file"
	exec 7<"$OUTSIDE/file" 9<"$OUTSIDE/file" 201<"$OUTSIDE/file"
	run_in "$PROJECT" -- hurdle run -q -- bash -c 'for n in {0..300}; do [[ $n == 255 || ! -e /proc/$$/fd/$n ]] || echo "$n"; done'
	assert_output $'0\n1\n2'
	run_in "$PROJECT" -- hurdle run -q --pass-fd 7 --pass-fd 201 -- bash -c 'for n in {0..300}; do [[ $n == 255 || ! -e /proc/$$/fd/$n ]] || echo "$n"; done; cat <&7'
	assert_output $'0\n1\n2\n7\n201\nsecret'
	exec 7<&- 9<&- 201<&-
	run_in "$PROJECT" -- hurdle run -q --pass-fd 7 -- true
	assert_status 125
	assert_stderr_contains 'hurdle: cannot pass descriptor 7: Bad file descriptor'
	run_in "$PROJECT" -- hurdle run -q --pass-fd x -- true
	assert_status 125
}

@test "no new privileges; as root, without the capabilities that undo a sandbox" {
	run_in "$PROJECT" -- hurdle run -q -- cat /proc/self/status
	assert_output_contains $'NoNewPrivs:\t1'
	as_root || return 0
	run_in "$PROJECT" -- hurdle run -q -- python3 -c '
names = dict(DAC_READ_SEARCH=2, NET_ADMIN=12, SYS_MODULE=16, SYS_RAWIO=17, SYS_PTRACE=19, SYS_ADMIN=21, SYS_BOOT=22, SYS_TIME=25, MKNOD=27, BPF=39)
for line in open("/proc/self/status"):
    if line.startswith("Cap"):
        for name, bit in names.items():
            if int(line.split()[1], 16) >> bit & 1: print(line.split()[0], name)'
	assert_status 0
	assert_output ''
	for command in 'mount -t tmpfs none "$TMPDIR"' 'mknod "$TMPDIR/null" c 1 3'; do
		run_in "$PROJECT" -- hurdle run -q -- sh -c "$command"
		[[ $status != 0 ]] || fail "not refused: $command"
	done
}

@test "exit codes" {
	for code in 0 1 7 124 125 255; do
		run_in "$PROJECT" -- hurdle run -q -- sh -c "exit $code"
		assert_status "$code"
	done
	for signal in HUP:129 KILL:137 SEGV:139 TERM:143 USR1:138; do
		run_in "$PROJECT" -- hurdle run -q --report report.json -- sh -c "kill -${signal%:*} \$\$"
		assert_status "${signal#*:}"
		assert_equal "$(json_get report.json .run.exit)" "${signal#*:}"
		assert_equal "$(json_get report.json .run.signal)" "$((${signal#*:} - 128))"
	done
	echo 'not a program' >plain
	run_in "$PROJECT" -- hurdle run -q -- "$PROJECT"
	assert_status 126
	run_in "$PROJECT" -- hurdle run -q -- ./plain
	assert_status 126
	run -127 --separate-stderr hurdle run -q -- ./nothing
	assert_stderr_contains "hurdle: cannot run './nothing'"
	run -127 --separate-stderr hurdle run -q -- no-such-program
	printf 'exit 5\n' >script && chmod +x script
	run_in "$PROJECT" -- hurdle run -q -- ./script
	assert_status 5
	run_in "$PROJECT" -- hurdle run
	assert_status 125
}

@test "signals are passed on" {
	cat >signals.py <<'PY'
import signal, subprocess, sys, time
for name in ('SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGQUIT'):
    script = 'trap "echo caught; exit 9" %s; echo ready; while :; do sleep 0.05; done' % name[3:]
    p = subprocess.Popen([sys.argv[1], 'run', '-q', '--', 'bash', '-c', script], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert p.stdout.readline() == 'ready\n'
    p.send_signal(getattr(signal, name))
    assert p.stdout.readline() == 'caught\n', name
    assert p.wait(20) == 9, (name, p.returncode)
    p = subprocess.Popen([sys.argv[1], 'run', '-q', '--', 'bash', '-c', 'echo ready; exec sleep 50'], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert p.stdout.readline() == 'ready\n'
    time.sleep(0.1)
    p.send_signal(getattr(signal, name))
    assert p.wait(20) == 128 + getattr(signal, name), (name, p.returncode)
print('all passed on')
PY
	run_in "$PROJECT" -- python3 signals.py "$HURDLE"
	assert_status 0
	assert_output 'all passed on'
}

@test "nothing that the command leaves behind survives the run" {
	# a time that no other test sleeps
	local before=$SECONDS n=$((100000 + RANDOM * 10 + RANDOM % 10))
	cat >leave.sh <<SH
sleep $n & echo \$!
setsid sleep $n & echo \$!
(setsid sh -c 'sleep $n & echo \$! >double'; :) &
nohup sleep $n >/dev/null 2>&1 & echo \$!
env -i setsid -f sleep $n
python3 -c 'import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("daemon", "w").write(str(os.getpid())); time.sleep($n)
    os._exit(0)'
while ! [ -s double ] || ! [ -s daemon ]; do sleep 0.02; done
SH
	run_in "$PROJECT" -- hurdle run -q -- sh leave.sh
	assert_status 0
	for pid in "${lines[@]}" "$(<double)" "$(<daemon)"; do [[ ! -e /proc/$pid ]] || fail "$pid is still there"; done
	! pgrep -f "(sleep |sleep\()$n" >left || fail "$(<left)"
	((SECONDS - before < 4)) || fail 'took its time'
}

@test "what ignores SIGTERM is killed five seconds later" {
	local before=$SECONDS
	run_in "$PROJECT" -- hurdle run -q -- bash -c 'trap "" TERM HUP; (while :; do sleep 0.2; done) & echo $!'
	assert_status 0
	[[ ! -e /proc/$output ]]
	((SECONDS - before >= 4 && SECONDS - before < 15)) || fail "$((SECONDS - before)) seconds"
	# when hurdle itself is killed, the command goes with it
	TMPDIR=$OUTSIDE "$HURDLE" run -q -- bash -c 'echo $$ >pid; exec sleep 306' 3>&- &
	local supervisor=$!
	until [[ -s pid ]]; do sleep 0.02; done
	kill -KILL "$supervisor"
	wait "$supervisor" || :
	for _ in {1..50}; do [[ -e /proc/$(<pid) ]] || break; sleep 0.05; done
	[[ ! -e /proc/$(<pid) ]]
}

@test "standard descriptors may be closed" {
	echo 'for n in 0 1 2; do [ ! -e /proc/$$/fd/$n ] || open="$open $n"; done; echo "$open" >"$1"; exit 4' >look.sh
	for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- 2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
		rm -f out plain
		run_in "$PROJECT" -- bash -c "'$HURDLE' run -- sh look.sh out $closed"
		assert_status 4
		bash -c "sh look.sh plain $closed" </dev/null || :
		assert_equal "$(<out)" "$(<plain)"
		# what it says goes nowhere else
		run_in "$PROJECT" -- bash -c "'$HURDLE' run --report report.json -- sh -c 'echo x >\"$OUTSIDE/x\"; cat' $closed"
		python3 -m json.tool report.json >/dev/null
		assert_file_absent "$OUTSIDE/x"
	done
}

@test "--cwd-file tells where the command ended" {
	mkdir -p 'sub/odd name'
	run_in "$PROJECT" -- hurdle run -q --cwd-file "$OUTSIDE/cwd" --report report.json -- bash -c 'cd "sub/odd name"'
	assert_status 0
	assert_file_content "$OUTSIDE/cwd" "$PROJECT/sub/odd name"
	assert_equal "$(json_get report.json .cwd)" "$PROJECT/sub/odd name"
	for ending in 'cd sub; exit 2' 'cd sub; exec /bin/true' 'cd sub; (cd /); kill -9 $$' 'cd /; cd "$0"; cd sub'; do
		run_in "$PROJECT" -- hurdle run -q --cwd-file "$OUTSIDE/cwd" -- sh -c "$ending" "$PROJECT"
		assert_file_content "$OUTSIDE/cwd" "$PROJECT/sub" || fail "$ending"
	done
	run_in "$PROJECT" -- hurdle run -q --cwd-file "$OUTSIDE/cwd" -- bash -c '(cd sub); sh -c "cd /"; exit 3'
	assert_status 3
	assert_file_content "$OUTSIDE/cwd" "$PROJECT"
	ln -s "$OUTSIDE/elsewhere" link
	run_in "$PROJECT" -- hurdle run -q --cwd-file link -- true
	assert_status 125
	assert_file_absent "$OUTSIDE/elsewhere"
}

@test "the report is JSON and the terminal is safe, whatever the names" {
	mkdir "$OUTSIDE/<"
	cat >names.py <<'PY'
import os, sys
d = os.fsencode(sys.argv[1])
for name in (b'new\nline', b'\x1b[31mred', b'\xff\xfe\x80', b'quote"back\\slash', b'</sandbox_violations>', b'\xc3\xa9t\xc3\xa9', b'tab\tbell\x07', b'\xe2\x80\xae\xc2\x9b', b'x' * 255, b'%s%n'):
    try: open(d + b'/' + name, 'w')
    except PermissionError: pass
    else: sys.exit(name)
PY
	run_in "$PROJECT" -- hurdle run --report report.json -- python3 names.py "$OUTSIDE" $'\x1b[2J\xff' $'a\nb'
	assert_status 0
	cat >check.py <<'PY'
import json, sys
r = json.load(open('report.json', encoding='utf-8'))
targets = [v['target'] for v in r['violations']]
names = ['new\nline', '\x1b[31mred', 'quote"back\\slash', '</sandbox_violations>', 'été', 'tab\tbell\x07', '\u202e\x9b', '%s%n']
for n in names: assert any(t.endswith('/' + n) for t in targets), (n, targets)
assert len(r['violations']) == 10 == r['violationCount'], r['violationCount']
assert r['run']['command'][0] == 'python3' and r['run']['command'][4] == 'a\nb', r['run']['command']
for key in ('schema', 'host', 'mechanisms', 'guarantees', 'rules', 'run', 'violations', 'scrubbed', 'uncovered'): assert key in r, key
for v in r['violations']:
    for key in ('action', 'target', 'rule', 'mechanism', 'raw', 'pid', 'program', 'time'): assert key in v, key
PY
	python3 check.py
	printf '%s' "$stderr" >said
	! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' said || fail "$(cat -v said)"
	! grep -q $'\u202e\|\u009b' said || fail "$(cat -v said)"
	assert_equal "$(grep -c '^</sandbox_violations>$' said)" 1
	assert_equal "$(grep -c '^hurdle: deny ' said)" 10
}

@test "--net=off refuses all but loopback at once, and says so" {
	cat >net.py <<'PY'
import errno, socket, threading, time
start = time.time()
def refused(call):
    try: call()
    except OSError as e: assert e.errno == errno.EACCES, e
    else: raise SystemExit('not refused')
tcp, udp = lambda f=socket.AF_INET: socket.socket(f), lambda f=socket.AF_INET: socket.socket(f, socket.SOCK_DGRAM)
refused(lambda: tcp().connect(('192.0.2.1', 80)))
refused(lambda: udp().connect(('192.0.2.1', 53)))
refused(lambda: udp().sendto(b'x', ('192.0.2.1', 53)))
refused(lambda: udp().sendmsg([b'x'], [], 0, ('192.0.2.1', 53)))
refused(lambda: socket.create_connection(('192.0.2.1', 443), timeout=5))
if socket.has_ipv6:
    try: s = tcp(socket.AF_INET6)
    except OSError: s = None
    if s:
        refused(lambda: s.connect(('2001:db8::1', 80)))
        refused(lambda: s.connect(('::ffff:192.0.2.1', 80)))
assert time.time() - start < 2
server = socket.create_server(('127.0.0.1', 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b'hello')).start()
print(socket.create_connection(server.getsockname()).recv(9).decode())
a, b = udp(), udp()
a.bind(('127.0.0.1', 0)); b.sendto(b'x', a.getsockname()); assert a.recv(9) == b'x'
PY
	run_in "$PROJECT" -- hurdle run --net=off --report report.json -- python3 net.py
	assert_status 0
	assert_output hello
	assert_stderr_contains 'network off'
	assert_stderr_contains 'hurdle: deny network-outbound 192.0.2.1:80 (python3'
	assert_equal "$(json_get report.json '.violations[0].rule')" 'the network is off'
	run_in "$PROJECT" -- hurdle run -q --net=off -- sh -c 'echo "${http_proxy:-unset} ${HTTPS_PROXY:-unset} ${ALL_PROXY:-unset}"'
	assert_output_lacks unset
	run_in "$PROJECT" -- hurdle status --net=off
	assert_output_matches 'net.egress[[:space:]]+application'
	run_in "$PROJECT" -- hurdle run --net=open -- true
	assert_stderr_contains 'network open'
	run_in "$PROJECT" -- hurdle run -- true
	assert_stderr_contains 'network to the built-in hosts'
}

@test "the values that were dropped are not in hurdle's own memory" {
	A_TOKEN=canary-value "$HURDLE" run -q -- sh -c 'echo $$ >pid; while [ ! -e done ]; do sleep 0.05; done' 3>&- &
	local supervisor=$!
	until [[ -s pid ]]; do sleep 0.02; done
	! grep -qa canary-value "/proc/$(<pid)/environ" || { touch 'done'; fail 'the command has it'; }
	if grep -qa canary-value "/proc/$supervisor/environ" 2>err; then touch 'done'; fail 'hurdle shows it'; fi
	as_root || grep -q 'ermission denied' err || { touch 'done'; fail 'hurdle is dumpable'; }
	touch 'done'
	wait "$supervisor"
}

# kill_hurdle COMMAND: starts hurdle on it with TMPDIR=$OUTSIDE, ends hurdle alone by SIGKILL; left is the directory that stays
kill_hurdle() {
	TMPDIR=$OUTSIDE "$HURDLE" run -q -- sh -c "echo >ready; $1" 3>&- >/dev/null 2>&1 &
	local pid=$! try
	for try in {1..100}; do [[ ! -e ready ]] || break; sleep 0.05; done
	kill -KILL "$pid"
	wait "$pid" || :
	left=$(echo "$OUTSIDE"/hurdle-??????)
	[[ -d $left ]] || fail 'nothing was left'
}

@test "what a killed hurdle left goes with the next run, and nothing else of such a name" {
	kill_hurdle 'exec sleep 60'
	mkdir "$OUTSIDE/hurdle-backup" && echo mine >"$OUTSIDE/hurdle-backup/file"
	mkdir -p "$OUTSIDE/hurdle-source/nested" "$OUTSIDE/hurdle-twofil" && echo mine >"$OUTSIDE/hurdle-twofil/shim.so"
	for try in {1..100}; do # the command dies with hurdle, but not in the same moment
		TMPDIR=$OUTSIDE run_in "$PROJECT" -- hurdle run -q -- true
		[[ -d $left ]] || break
		sleep 0.05
	done
	assert_file_absent "$left"
	assert_file_content "$OUTSIDE/hurdle-backup/file" mine
	assert_file_content "$OUTSIDE/hurdle-twofil/shim.so" mine
	assert_file_present "$OUTSIDE/hurdle-source/nested"
}

@test "what a killed hurdle left stays while a process of the run still needs it" {
	kill_hurdle 'setsid sh -c "echo \$\$ >pid; exec sleep 60" & exec sleep 60'
	for try in {1..100}; do [[ ! -s pid ]] || break; sleep 0.05; done
	TMPDIR=$OUTSIDE run_in "$PROJECT" -- hurdle run -q -- true
	assert_file_present "$left"
	kill -KILL "$(<pid)"
	for try in {1..100}; do
		TMPDIR=$OUTSIDE run_in "$PROJECT" -- hurdle run -q -- true
		[[ -d $left ]] || break
		sleep 0.05
	done
	assert_file_absent "$left"
}
