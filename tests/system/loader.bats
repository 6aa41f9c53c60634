#!/usr/bin/env bats
# What programs ask the loader for: a function by name, a second libc, a library that is to see libc's names first. Each way must
# write without hurdle, which proves that its test can fail.
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	require_tool around
	cp "$TOOLS/around" "$PROJECT/around"
}

# way PROGRAM WAY [LIBRARY]: writes outside without hurdle, and is refused inside
way() {
	local program=$1 name=$2
	shift 2
	"$program" "$name" "$OUTSIDE/plain" "$@" || fail "$name does not write without hurdle" || return 1
	assert_file_content "$OUTSIDE/plain" hit
	rm "$OUTSIDE/plain"
	run_in "$PROJECT" -- shim_run -- "$program" "$name" "$OUTSIDE/hit" "$@"
	assert_status 1 || return 1
	assert_stderr_contains "hurdle: deny file-write-create $OUTSIDE/hit" || return 1
	assert_file_absent "$OUTSIDE/hit"
}

glibc() { [[ $(ldd "$TOOLS/around" 2>&1) == *libc.so.6* ]] || skip 'another libc here'; }

@test "dlsym gives the shim's function, whatever it is asked in" {
	way ./around handle
	way ./around next
	way ./around default
}

@test "dlvsym does, too" {
	glibc
	way ./around version
}

@test "dlsym gives the shim's function in programs of musl" {
	require_tool musl-gcc
	musl-gcc -D_GNU_SOURCE -o musl "$ROOT/tests/tools/around.c"
	./musl missing open || skip 'no musl loader here'
	way ./musl handle
	way ./musl next
	way ./musl default
}

@test "dlsym gives the shim's function for a copy of libc" {
	glibc
	cp "$(ldd ./around | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')" copy.so
	way ./around file "$PWD/copy.so"
}

@test "python: ctypes finds the shim's open in libc, and the same getpid as before" {
	require_tool python3
	glibc
	cat >find.py <<'PY'
import ctypes, os, sys
libc = ctypes.CDLL("libc.so.6", use_errno=True)
assert libc.getpid() == os.getpid()
if libc.open(os.fsencode(sys.argv[1]), os.O_WRONLY | os.O_CREAT, 0o600) < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
PY
	python3 find.py "$OUTSIDE/plain"
	assert_file_present "$OUTSIDE/plain"
	run_in "$PROJECT" -- shim_run -q -- python3 find.py "$OUTSIDE/hit"
	assert_status 1
	assert_stderr_contains 'Permission denied'
	assert_file_absent "$OUTSIDE/hit"
	run_in "$PROJECT" -- shim_run -q -- python3 find.py inside
	assert_status 0
	assert_file_present inside
}

@test "a function that this libc does not have is missed" {
	for name in openat2 pidfd_spawn fts_open nonsense; do
		run_in "$PROJECT" -- ./around missing "$name"
		local plain=$output
		run_in "$PROJECT" -- shim_run -q -- ./around missing "$name"
		assert_status 0
		# the object that dlerror() names may be another
		assert_equal "${output%%:*} ${output##*: }" "${plain%%:*} ${plain##*: }"
	done
}

@test "a second libc is not loaded: dlerror() has words for it, and the report a line" {
	glibc
	./around copy "$OUTSIDE/plain" || skip 'this libc loads no second copy'
	run_in "$PROJECT" -- shim_run -- ./around copy "$OUTSIDE/hit"
	assert_status 77
	assert_stderr_contains 'around: libc.so.6: invalid mode'
	assert_stderr_contains 'hurdle: deny process-load libc.so.6 (around['
	assert_stderr_contains 'rule: a second libc would not meet the rules'
	assert_file_absent "$OUTSIDE/hit"
	way ./around base
}

@test "a library that is bound deeply finds the shim's names all the same" {
	glibc
	require_tool gcc
	printf '#include <fcntl.h>\nint hit(const char *p, int f, int m) { return open(p, f, m); }\n' | gcc -shared -fPIC -x c - -o deep.so
	way ./around deep "$PWD/deep.so"
}

# Its function comes after the shim's and before libc's, and asks for the next one: were that the shim's, it would never end.
@test "a preloaded library of the user's, with an open of its own, still works" {
	glibc
	require_tool gcc
	for how in 'dlsym(RTLD_NEXT, "open")' 'dlsym(dlopen("libc.so.6", RTLD_NOW), "open")'; do
		gcc -D_GNU_SOURCE -shared -fPIC -x c - -o wrap.so -ldl <<-C
			#include <dlfcn.h>
			#include <fcntl.h>
			#include <unistd.h>
			int open(const char *path, int flags, ...)
			{
				int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))$how;
				if (write(2, "wrapped\n", 8) < 0)
					return -1;
				return next(path, flags, 0600);
			}
		C
		LD_PRELOAD=$PWD/wrap.so run_in "$PROJECT" -- shim_run --keep LD_PRELOAD -- ./around default "$PROJECT/inside"
		assert_status 0 || return 1
		assert_file_content inside hit
		assert_stderr_contains wrapped
		rm inside
		LD_PRELOAD=$PWD/wrap.so run_in "$PROJECT" -- shim_run --keep LD_PRELOAD -- ./around default "$OUTSIDE/hit"
		assert_status 1 || return 1
		assert_file_absent "$OUTSIDE/hit"
	done
}
