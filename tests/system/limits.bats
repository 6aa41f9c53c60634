#!/usr/bin/env bats
# What gets past the fence, so that docs/threat-model.md says no more than is true. Each test is named there. A test that
# fails here because a limit is gone is good news: take it out of both, and say so in docs/guarantees.md.
# shellcheck shell=bash

load ../lib

setup() { setup_sandbox; }

# own TOOL: a copy in the project, for what tests make is not always readable where it was built
own() { cp "$TOOLS/$1" "$PROJECT/$1"; }

# shellcheck disable=SC2153 # OUTSIDE is setup_sandbox's
report_of() { json_get "$OUTSIDE/report.json" "$1"; }

# ---- code that does not ask libc ----

@test "a system call of a program's own writes anywhere, and nothing is reported" {
	require_tool raw
	own raw
	run_in "$PROJECT" -- hurdle run --report "$OUTSIDE/report.json" -- ./raw write "$OUTSIDE/hit"
	assert_status 0
	assert_file_content "$OUTSIDE/hit" hit
	assert_stderr_lacks sandbox_violations
	assert_equal "$(report_of '.uncovered | length')" 0
	echo secret >"$HOME/.netrc"
	run_in "$PROJECT" -- hurdle run -q -- cat "$HOME/.netrc"
	assert_status 1
	run_in "$PROJECT" -- hurdle run -q -- ./raw read "$HOME/.netrc"
	assert_output secret
}

@test "a 32-bit system call of a 64-bit program likewise" {
	[[ $(uname -m) == x86_64 ]] || skip 'only x86-64 has them'
	require_tool raw
	own raw
	./raw write32 "$PROJECT/probe" || skip 'this kernel has no 32-bit calls'
	run_in "$PROJECT" -- hurdle run --report "$OUTSIDE/report.json" -- ./raw write32 "$OUTSIDE/hit"
	assert_status 0
	assert_file_content "$OUTSIDE/hit" hit
	assert_stderr_lacks sandbox_violations
	assert_equal "$(report_of '.uncovered | length')" 0
}

@test "a static program writes anywhere, but is reported by name, and refused with --strict" {
	require_tool raw_static
	own raw_static
	run_in "$PROJECT" -- hurdle run --report "$OUTSIDE/report.json" -- sh -c '"$@"; :' - ./raw_static write "$OUTSIDE/hit"
	assert_status 0
	assert_file_content "$OUTSIDE/hit" hit
	assert_stderr_contains 'hurdle: ran outside the file rules: ./raw_static (statically linked)'
	assert_equal "$(report_of '.uncovered[0].program')" ./raw_static
	rm "$OUTSIDE/hit"
	run_in "$PROJECT" -- hurdle run -- ./raw_static write "$OUTSIDE/hit"
	assert_stderr_contains 'UNCOVERED: ./raw_static (statically linked) runs outside the file rules'
	assert_file_present "$OUTSIDE/hit"
	rm "$OUTSIDE/hit"
	run_in "$PROJECT" -- hurdle run --strict -- sh -c '"$@"' - ./raw_static write "$OUTSIDE/hit"
	assert_status 126
	assert_stderr_contains 'hurdle: refused, since the rules cannot reach it: ./raw_static (statically linked)'
	run_in "$PROJECT" -- hurdle run --strict -- ./raw_static write "$OUTSIDE/hit"
	assert_status 125
	assert_file_absent "$OUTSIDE/hit"
}

@test "libc's own open, found in libc's table of symbols, writes anywhere" {
	require_tool around
	own around
	"$PROJECT/around" symbols "$OUTSIDE/plain" || skip 'the loader here publishes no list of what it loaded'
	run_in "$PROJECT" -- shim_run -- ./around symbols "$OUTSIDE/hit"
	assert_status 0
	assert_file_content "$OUTSIDE/hit" hit
	assert_stderr_lacks sandbox_violations
}

@test "a program can erase its own violations" {
	require_tool python3
	run_in "$PROJECT" -- hurdle run -- touch "$OUTSIDE/x"
	assert_stderr_contains "deny file-write-create $OUTSIDE/x"
	run_in "$PROJECT" -- hurdle run -- python3 -c 'import ctypes, sys
try:
    open(sys.argv[1], "w")
except PermissionError:
    print("denied")
for line in open("/proc/self/maps"):
    if line.rstrip().endswith("/events"):
        ctypes.memset(int(line.split("-")[0], 16) + 8, 0, 4) # struct wire_page: violations' "$OUTSIDE/x"
	assert_output denied
	assert_stderr_lacks sandbox_violations
}

# ---- names ----

@test "a hard link that is there already writes to, and reads, the file of its other name" {
	echo secret >"$HOME/.netrc"
	echo old >"$OUTSIDE/file"
	ln "$HOME/.netrc" "$PROJECT/innocent"
	ln "$OUTSIDE/file" "$PROJECT/other"
	run_in "$PROJECT" -- hurdle run -- cat innocent
	assert_output secret
	run_in "$PROJECT" -- hurdle run -- sh -c 'echo new >other'
	assert_status 0
	assert_file_content "$OUTSIDE/file" new
	# the command itself cannot make such a link
	run_in "$PROJECT" -- hurdle run -- ln "$HOME/.netrc" "$PROJECT/another"
	assert_status 1
}

@test "names, sizes and times of a denied file stay visible" {
	mkdir "$HOME/.ssh"
	echo 0123456789 >"$HOME/.ssh/id_ed25519"
	run_in "$PROJECT" -- hurdle run -- stat -c %s "$HOME/.ssh/id_ed25519"
	assert_output 11
	run_in "$PROJECT" -- hurdle run -- ls "$HOME/.ssh"
	assert_status 2
}

@test "nftw lists what lies below a denied directory" {
	require_tool around
	own around
	mkdir -p "$OUTSIDE/top/denied"
	: >"$OUTSIDE/top/denied/name"
	run_in "$PROJECT" -- hurdle run --deny-read "$OUTSIDE/top/denied" -- ./around list "$OUTSIDE/top"
	assert_output_contains "$OUTSIDE/top/denied/name"
	# asked for by its own name, it is refused
	run_in "$PROJECT" -- hurdle run -q --deny-read "$OUTSIDE/top/denied" -- ./around list "$OUTSIDE/top/denied"
	[[ $output != *"$OUTSIDE/top/denied/name"* ]] || fail "$output"
}

@test "what no rule denies can be read, a project's .env too" {
	echo 'PASSWORD=hunter2' >"$PROJECT/.env"
	run_in "$PROJECT" -- hurdle run -- cat .env
	assert_output PASSWORD=hunter2
	run_in "$PROJECT" -- hurdle run --profile strict -- cat .env
	assert_status 1
}

@test "a secret under a name and in a shape that no rule knows stays" {
	export FAVOURITE_COLOUR=hunter2
	run_in "$PROJECT" -- hurdle run -- sh -c 'echo "$FAVOURITE_COLOUR"'
	assert_output hunter2
}

@test "/dev/shm is writable, and the host's" {
	[[ -w /dev/shm ]] || skip 'no writable /dev/shm here'
	local name=/dev/shm/limits.$$.$RANDOM there=0
	run_in "$PROJECT" -- hurdle run -- touch "$name"
	[[ ! -e $name ]] || there=1
	rm -f "$name"
	assert_status 0
	assert_equal "$there" 1
}

@test "the private cache of one run is there for the next" {
	run_in "$PROJECT" -- hurdle run -- sh -c 'mkdir -p "$XDG_CACHE_HOME" && echo poison >"$XDG_CACHE_HOME/limits"'
	assert_status 0
	run_in "$PROJECT" -- hurdle run -- sh -c 'cat "$XDG_CACHE_HOME/limits"'
	assert_output poison
	# but your own cache is not touched
	assert_file_absent "$HOME/.cache/limits"
}

# ---- with bubblewrap ----

@test "with bubblewrap, a protected name that does not exist yet is held by the shim alone" {
	require_feature bwrap
	with_backend bwrap,filter,preload
	own raw_static
	run_in "$PROJECT" -- hurdle run -q -- sh -c ': >.bashrc'
	assert_file_absent .bashrc
	run_in "$PROJECT" -- hurdle run -q -- ./raw_static write "$PROJECT/.bashrc"
	assert_status 0
	assert_file_content .bashrc hit
}

@test "with bubblewrap, a unix socket outside is connected to without libc" {
	require_feature bwrap
	require_tool python3
	with_backend bwrap,filter
	python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); open("listening", "w"); s.settimeout(20)
try: s.accept(); print("connected")
except OSError: pass' "$OUTSIDE/s" >heard 3>&- &
	local server=$! try
	for try in {1..100}; do [[ ! -e listening ]] || break; sleep 0.05; done
	run_in "$PROJECT" -- hurdle run -q -- python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$OUTSIDE/s"
	assert_status 0
	wait "$server"
	assert_file_content heard connected
}

@test "with bubblewrap, a pattern of allowWrite opens the directory that it begins in" {
	require_feature bwrap
	with_backend bwrap,filter,preload
	own raw_static
	mkdir "$OUTSIDE/logs"
	run_in "$PROJECT" -- hurdle run -q --allow-write "$OUTSIDE/logs/*.log" -- sh -c ': >"$1/a.log"; : >"$1/b.txt"' - "$OUTSIDE/logs"
	assert_file_present "$OUTSIDE/logs/a.log"
	assert_file_absent "$OUTSIDE/logs/b.txt"
	run_in "$PROJECT" -- hurdle run -q --allow-write "$OUTSIDE/logs/*.log" -- ./raw_static write "$OUTSIDE/logs/b.txt"
	assert_file_content "$OUTSIDE/logs/b.txt" hit
}

# ---- with Landlock ----

with_landlock() {
	require_feature landlock=6
	with_backend landlock,filter,preload
}

@test "with Landlock, a system call of a program's own changes the mode of a file outside" {
	with_landlock
	require_tool attempt_static
	own attempt_static
	"$TOOLS/attempt" place "$OUTSIDE/sys_chmod"
	"$TOOLS/attempt" place "$OUTSIDE/open_write"
	run_in "$PROJECT" -- hurdle run -q -- ./attempt_static write "$OUTSIDE" sys_chmod open_write
	assert_output_contains 'sys_chmod done'
	assert_output_contains 'open_write EACCES'
}

@test "with Landlock, what is denied inside of a write root is held by the shim alone" {
	with_landlock
	own raw_static
	mkdir old
	run_in "$PROJECT" -- hurdle run -q --deny-write old -- touch old/x
	assert_status 1
	run_in "$PROJECT" -- hurdle run -q --deny-write old -- ./raw_static write old/x
	assert_file_content old/x hit
	run_in "$PROJECT" -- hurdle run -q -- ./raw_static write .bashrc
	assert_file_content .bashrc hit
	# but nothing outside of one
	run_in "$PROJECT" -- hurdle run -q -- ./raw_static write "$OUTSIDE/x"
	assert_status 1
	assert_file_absent "$OUTSIDE/x"
}

@test "with Landlock, a program of its own lists a denied directory, and reads nothing in it" {
	with_landlock
	require_tool attempt_static
	own attempt_static
	own raw_static
	mkdir "$HOME/.aws"
	echo secret >"$HOME/.aws/credentials"
	run_in "$PROJECT" -- hurdle run -q -- ./attempt_static list "$HOME/.aws"
	assert_output_matches '(^|'$'\n'')opendir done'
	run_in "$PROJECT" -- hurdle run -q -- ./raw_static read "$HOME/.aws/credentials"
	assert_output ''
}

@test "with Landlock, what is replaced beside a denied file cannot be read until the next run" {
	with_landlock
	require_tool python3
	echo secret >"$HOME/.netrc"
	echo old >"$HOME/notes"
	# shellcheck disable=SC2016
	"$HURDLE" run -q -- sh -c 'cat "$1" && : >ready && while [ ! -e go ]; do sleep 0.05; done; cat "$1"; :' - "$HOME/notes" >seen 2>&1 3>&- &
	local pid=$! try
	for try in {1..200}; do [[ ! -e ready ]] || break; sleep 0.05; done
	echo new >"$HOME/notes.new" && mv "$HOME/notes.new" "$HOME/notes" && : >go
	wait "$pid"
	[[ $(<seen) == old*'Permission denied' ]] || fail "$(<seen)"
	run_in "$PROJECT" -- hurdle run -q -- cat "$HOME/notes"
	assert_output new
}

# ---- network ----

# in_network COMMAND...: as root of a network of its own, where 192.0.2.1 (RFC 5737) is a server that is not on loopback's
# address; what its port 53 was sent stands in ./query.
in_network() {
	require_feature userns mountns netns
	require_tool unshare mount ip python3
	cat >server.py <<'PY'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("192.0.2.1", 53))
s.settimeout(20)
open("ready", "w").close()
packet, peer = s.recvfrom(512)
open("query", "wb").write(packet)
s.sendto(packet[:2] + b"\x81\x83" + packet[4:], peer) # no such name
PY
	echo 'nameserver 192.0.2.1' >resolv.conf
	run_in "$PROJECT" -- timeout 60 unshare -rmn bash -c '
		ip link set lo up && ip address add 192.0.2.1/32 dev lo && mount -n --bind resolv.conf "$(readlink -f /etc/resolv.conf)" || exit 99
		python3 server.py 3>&- &
		for try in {1..100}; do [[ ! -e ready ]] || break; sleep 0.05; done
		"$@"
		status=$?
		kill $! 2>/dev/null
		exit "$status"' - "$@"
	[[ $status != 99 ]] || skip "no network of its own: $stderr"
}

@test "where only the shim holds the network, a static program goes past the proxy" {
	require_tool raw raw_static
	own raw
	own raw_static
	for mode in filter off; do
		in_network "$HURDLE" run --backend preload --net=$mode -- ./raw send 192.0.2.1
		assert_status 1
		assert_stderr_contains 'hurdle: deny network-outbound 192.0.2.1:53'
		assert_file_absent query
		rm ready
	done
	in_network "$HURDLE" run --backend preload -- sh -c './raw_static send 192.0.2.1; sleep 0.3'
	assert_status 0
	assert_file_content query hit
	assert_stderr_contains 'ran outside the file rules: ./raw_static'
	assert_stderr_lacks network-outbound
}

@test "with --net=off host names are still looked up, so a name can carry data out" {
	require_tool getent
	in_network "$HURDLE" run --net=off -- getent ahostsv4 canary.example.com
	grep -q canary query || fail 'no query was sent' "$stderr"
	assert_stderr_lacks network-outbound
}

@test "with --net=off servers on loopback are reached, the host's too" {
	require_tool python3
	local port pid
	python3 -c 'import socket, sys
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], file=open(sys.argv[1], "w"), flush=True)
s.settimeout(20)
s.accept()[0].sendall(b"from outside")' "$OUTSIDE/port" 3>&- &
	pid=$!
	for try in {1..100}; do [[ ! -s $OUTSIDE/port ]] || break; sleep 0.05; done
	port=$(<"$OUTSIDE/port")
	run_in "$PROJECT" -- hurdle run --net=off -- python3 -c '
import socket, sys
print(socket.create_connection(("127.0.0.1", int(sys.argv[1]))).recv(20).decode())' "$port"
	kill "$pid" 2>/dev/null || :
	assert_output 'from outside'
}

@test "an abstract unix socket is connected to, a unix socket with a path is not" {
	require_tool around python3
	own around
	local name=limits.$$.$RANDOM pid
	python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind("\0" + sys.argv[1]); s.listen()
t = socket.socket(socket.AF_UNIX); t.bind("s"); t.listen()
time.sleep(20)' "$name" 3>&- &
	pid=$!
	for try in {1..100}; do [[ ! -S s ]] || break; sleep 0.05; done
	mv s "$OUTSIDE/s"
	run_in "$PROJECT" -- hurdle run -- ./around abstract "$name"
	local abstract=$status
	run_in "$PROJECT" -- hurdle run -- python3 -c 'import os, socket, sys
os.chdir(sys.argv[1]); socket.socket(socket.AF_UNIX).connect("s")' "$OUTSIDE"
	kill "$pid" 2>/dev/null || :
	assert_equal "$abstract" 0
	assert_status 1
	assert_stderr_contains "hurdle: deny network-outbound $OUTSIDE/s"
}

# ---- processes ----

@test "a process outside the run can be ended" {
	sleep 60 3>&- &
	local pid=$!
	run_in "$PROJECT" -- hurdle run -- sh -c 'kill "$1"' - "$pid"
	assert_status 0
	wait "$pid" || status=$?
	assert_equal "$status" 143
}

@test "a process that kills hurdle first outlives it, and the private directory stays" {
	export TMPDIR=$OUTSIDE
	cat >kill.sh <<'SH'
setsid sh -c 'kill -KILL "$1"; sleep 0.3; echo "$$" >alive; exec sleep 60' - "$PPID" >/dev/null 2>&1 &
exec sleep 60 >/dev/null 2>&1
SH
	run_in "$PROJECT" -- "$HURDLE" run -- sh kill.sh
	assert_status 137
	for try in {1..100}; do [[ ! -s alive ]] || break; sleep 0.05; done
	local pid left
	pid=$(<alive)
	left=$(kill -0 "$pid" && echo yes)
	# what is left of this run: the two that sleep
	for pid in "$pid" $(grep -lzxF "TMPDIR=$(echo "$OUTSIDE"/hurdle-*)/tmp" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3); do
		kill -KILL "$pid" 2>/dev/null || :
	done
	assert_equal "$left" yes
	[[ -d $(echo "$OUTSIDE"/hurdle-*) ]] || fail 'the private directory is gone'
}

@test "limits of processor time, memory and files are the caller's" {
	run_in "$PROJECT" -- bash -c 'ulimit -c 0; ulimit -a'
	local outside=$output
	run_in "$PROJECT" -- hurdle run -- bash -c 'ulimit -a'
	assert_output "$outside"
}

@test "without the filter, input is pushed into the terminal, where the kernel still lets it" {
	require_tool python3
	local file=/proc/sys/dev/tty/legacy_tiocsti
	[[ ! -e $file || $(<"$file") == 1 ]] || skip 'this kernel refuses TIOCSTI'
	run_in "$PROJECT" -- timeout 30 python3 -c 'import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
try:
    while b"pushed" not in seen:
        seen += os.read(fd, 1000)
    print("pushed")
except OSError: # the terminal is closed
    print(seen)' "$HURDLE" run -q -- python3 -c 'import fcntl, termios
for c in b"x": fcntl.ioctl(0, termios.TIOCSTI, bytes([c]))
print("pushed")'
	assert_output pushed
}

@test "root reads a disk as a file" {
	as_root || skip 'only root may'
	local disk=''
	for disk in /dev/vda /dev/sda /dev/nvme0n1 /dev/loop0; do
		[[ ! -b $disk ]] || head -c 1 "$disk" >/dev/null 2>&1 || continue
		[[ ! -b $disk ]] || break
	done
	[[ -b $disk ]] || skip 'no disk that can be read here'
	run_in "$PROJECT" -- hurdle run -- head -c 512 "$disk"
	assert_status 0
}

@test "an old directory that is moved aside and copied back is a new one" {
	mkdir -p sub/.vscode
	run_in "$PROJECT" -- hurdle run -q -- sh -c 'echo hit >sub/.vscode/tasks.json'
	refute_hit sub/.vscode/tasks.json
	run_in "$PROJECT" -- hurdle run -q -- sh -c 'mv sub aside && cp -a aside sub && echo hit >sub/.vscode/tasks.json'
	assert_status 0
	assert_file_content sub/.vscode/tasks.json hit
}

refute_hit() { [[ $status != 0 ]] && assert_file_absent "$1"; }
