#!/usr/bin/env bats
# The seccomp filter: what it refuses, by every way that the kernel takes calls; what it claims; what still works.
# shellcheck shell=bash

load ../lib
HURDLE=$HURDLE_ITSELF # each test says which mechanisms it is about

setup() {
	setup_sandbox
	require_feature seccomp
	for name in surface_static raw_static; do cp "$TOOLS/$name" .; done
}

# level GUARANTEE OPTION...
level() {
	local id=$1
	shift
	hurdle status --json "$@" | jq -r --arg id "$id" '.guarantees[] | select(.id == $id) | "\(.level) \(.by | join("+"))"'
}

groups=(surface namespaces others terminal families)

@test "without it most of the calls get through to the kernel, so that the next test can fail" {
	run_in "$PROJECT" -- env NO_FILTER=1 ./surface_static native "${groups[@]}"
	local passed=${output#*passed }
	((${passed%% *} >= 25)) || fail "$output"
}

@test "every call of the table is refused, by each way to make it" {
	local backend way backends=(filter "filter,preload")
	! bwrap --ro-bind / / --unshare-all true 2>/dev/null || backends+=("bwrap,filter")
	for backend in "${backends[@]}"; do
		for way in native i386 x32; do
			[[ $way == native || $(uname -m) == x86_64 ]] || continue
			run_in "$PROJECT" -- hurdle run -q --backend "$backend" -- ./surface_static "$way" "${groups[@]}"
			assert_output_matches 'refused 6[0-9] '
			assert_output_contains 'passed 0'
			assert_status 0
		done
	done
}

@test "a process outside cannot be attached to, nor its memory read by system call" {
	require_tool python3
	sleep 60 3>&- &
	local pid=$!
	cat >attach.py <<'PY'
import ctypes, os, sys
libc, pid = ctypes.CDLL(None, use_errno=True), int(sys.argv[1])
for request in 16, 0x4206:
    r = libc.ptrace(request, pid, None, None)
    print(os.strerror(ctypes.get_errno()) if r < 0 else "attached")
    if r == 0:
        os.waitpid(pid, 0x40000000) if request == 16 else libc.ptrace(0x4207, pid, None, None) or os.waitpid(pid, 0x40000000)
        libc.ptrace(17, pid, None, None)
PY
	run_in "$PROJECT" -- hurdle run -q --backend filter -- python3 attach.py "$pid"
	local inside=$output
	run_in "$PROJECT" -- python3 attach.py "$pid"
	kill "$pid"
	assert_equal "$inside" $'Operation not permitted\nOperation not permitted'
	[[ $output == attached* ]] || skip 'the kernel lets nobody attach here anyway'
}

@test "nothing is typed into the terminal" {
	require_tool python3 jq
	cat >type.py <<'PY'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
try:
    while True:
        seen += os.read(fd, 1000)
except OSError:
    print(seen.decode())
PY
	push='import ctypes, fcntl, termios
libc = ctypes.CDLL(None, use_errno=True)
for high in 0, 1 << 32: # the kernel takes no more than 32 bits of the request
    print(libc.syscall(ctypes.c_long(16), 0, ctypes.c_ulong(termios.TIOCSTI | high), b"x"), ctypes.get_errno())'
	[[ $(uname -m) == x86_64 ]] || push=${push/c_long(16)/c_long(29)}
	run_in "$PROJECT" -- timeout 30 python3 type.py "$HURDLE" run -q --backend filter -- python3 -c "$push"
	assert_output_contains $'-1 1\r\n-1 1'
	assert_equal "$(level tty.injection --backend filter)" 'kernel filter'
}

@test "no listener of the program's own, but filters and Landlock are the program's to use" {
	require_tool python3
	[[ $(uname -m) == x86_64 ]] || skip 'numbers of x86_64'
	cat >own.py <<'PY'
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(allow)))
for flags in 8, 8 | 16, 0:
    r = libc.syscall(317, 1, flags, program)
    print("ok" if r >= 0 else os.strerror(ctypes.get_errno()))
print("ok" if libc.prctl(22, 2, program) == 0 else os.strerror(ctypes.get_errno()))
PY
	run_in "$PROJECT" -- hurdle run -q --backend filter -- python3 own.py
	assert_output $'Invalid argument\nInvalid argument\nok\nok'
}

@test "threads, programs and debuggers start as ever" {
	require_tool python3
	run_in "$PROJECT" -- hurdle run -q --backend filter -- python3 -c '
import concurrent.futures, multiprocessing, subprocess
with concurrent.futures.ThreadPoolExecutor(4) as pool: print(sum(pool.map(len, ["a"] * 100)))
with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))
print(subprocess.run(["echo", "started"], capture_output=True, text=True).stdout, end="")'
	assert_output $'100\n[1, 2]\nstarted'
	require_tool gdb cc
	echo 'int main(void) { return 7; }' | cc -g -x c - -o seven
	run_in "$PROJECT" -- hurdle run -q --backend filter -- gdb -nx -batch -ex run ./seven
	assert_output_contains 'exited with code 07'
}

# ---- what is taken away only on demand ----

connect='import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
print("connected")'

@test "with the network off loopback still works, unless the kernel is required to hold it" {
	require_tool python3 jq
	run_in "$PROJECT" -- hurdle run -q --backend filter --net off -- python3 -c "$connect"
	assert_output connected
	assert_equal "$(level net.egress --backend filter --net off)" 'none filter'
	local required=(--backend "filter,preload" --net off --require net.egress=kernel)
	run_in "$PROJECT" -- hurdle run -q "${required[@]}" -- python3 -c "$connect"
	assert_status 1
	assert_stderr_contains 'PermissionError'
	assert_equal "$(level net.egress "${required[@]}")" 'kernel filter+preload'
	run_in "$PROJECT" -- hurdle run -q "${required[@]}" -- ./surface_static native "${groups[@]}" no_ip
	assert_output_contains 'passed 0'
	# unix sockets stay
	run_in "$PROJECT" -- hurdle run -q "${required[@]}" -- python3 -c 'import socket; socket.socket(socket.AF_UNIX); print("unix")'
	assert_output unix
}

@test "unix sockets are refused altogether only where the kernel is required to hold them" {
	require_tool python3 jq
	unix='import socket; socket.socketpair(); s = socket.socket(socket.AF_UNIX); s.bind("s"); print("bound")'
	run_in "$PROJECT" -- hurdle run -q --backend filter -- python3 -c "$unix"
	assert_output bound
	local required=(--backend "filter,preload" --require net.unix=kernel)
	run_in "$PROJECT" -- hurdle run -q "${required[@]}" -- python3 -c "$unix"
	assert_status 1
	assert_stderr_contains PermissionError
	assert_equal "$(level net.unix "${required[@]}")" 'kernel filter+preload'
	run_in "$PROJECT" -- hurdle run -q "${required[@]}" -- ./surface_static native no_unix
	assert_output_contains 'refused 1 '
}

@test "32-bit programs are under the same rows" {
	require_tool cc
	[[ $(uname -m) == x86_64 ]] || skip 'x86_64 only'
	# socketcall(SOCKET, AF_INET), mount
	printf '%s\n' 'int printf(const char *, ...); long syscall(long, ...);
int main(void) { long args[3] = { 2, 1, 0 }; printf("%d", syscall(102, 1, args) < 0); printf("%d\n", syscall(21, 0, 0, 0, 0, 0) < 0); return 0; }' >old.c
	cc -m32 -o old old.c 2>/dev/null || skip 'no compiler for 32-bit programs'
	./old >outside || skip 'this kernel runs no 32-bit programs'
	assert_equal "$(<outside)" 01
	run_in "$PROJECT" -- hurdle run -q --backend filter --net off -- ./old
	assert_output 01
	run_in "$PROJECT" -- hurdle run -q --backend filter --net off --require net.egress=kernel -- ./old
	assert_output 11
}

# ---- what is said of it ----

@test "the profile lists every row that is in use" {
	run_in "$PROJECT" -- hurdle profile filter --backend filter --net open
	assert_status 0
	assert_output_contains 'io_uring_setup     ENOSYS       always (its operations pass no filter)'
	assert_output_contains 'clone              EPERM        if argument 1 & 0x7e020000 ('
	assert_output_lacks SOCK_RAW
	run_in "$PROJECT" -- hurdle profile filter --backend filter --net off --require net.egress=kernel
	assert_output_contains SOCK_RAW
	assert_output_contains 'loopback too'
}

@test "where seccomp does not work, asking for it by name fails, and auto does without" {
	require_tool nosys jq
	[[ $(uname -m) == x86_64 ]] || skip 'numbers of x86_64'
	run_in "$PROJECT" -- "$TOOLS/nosys" 317 "$HURDLE" run --backend filter -- touch started
	assert_status 125
	assert_stderr_contains "backend 'filter' does not work here: seccomp(SECCOMP_SET_MODE_FILTER): Function not implemented"
	assert_file_absent started
	run_in "$PROJECT" -- "$TOOLS/nosys" 317 "$HURDLE" status --json
	assert_equal "$(jq -r '.guarantees[] | select(.id == "kernel.surface").level' <<<"$output")" none
}
