#!/usr/bin/env bats
# Twenty thousand calls (tests/tools/parity.c), each with its result, its errno and what it changed, must come out the same with
# and without hurdle: open and its kind, streams, names made, moved and removed, changes by path, exec and spawn, on
# every kind of path, as the ordinary user too.

load ../lib

setup() { setup_sandbox; }

# compare PROGRAM [GROUP...]: both run at the same time, in two folders. under: what both are started by.
under=()
compare() {
	local program=$1 pid rc=0 count
	shift
	mkdir -p "$PROJECT/a" "$PROJECT/b"
	(cd "$PROJECT/a" && exec "${under[@]}" "$program" . "$@" >"$OUTSIDE/without" 2>"$OUTSIDE/without.err" </dev/null 3>&-) &
	pid=$!
	(cd "$PROJECT/b" && exec "${under[@]}" "$HURDLE" run -- "$program" . "$@" >"$OUTSIDE/with" 2>"$OUTSIDE/with.err" </dev/null 3>&-) || rc=$?
	wait $pid || fail "without hurdle: status $?" "$(tail "$OUTSIDE/without.err")"
	((rc == 0)) || fail "with hurdle: status $rc" "$(tail -n 20 "$OUTSIDE/with.err")"
	run ls -A "$PROJECT/a" "$PROJECT/b"
	assert_output "$PROJECT/a:"$'\n\n'"$PROJECT/b:"
	count=$(grep -c ') = ' "$OUTSIDE/without")
	((count > 1000)) || fail "only $count calls were made"
	[[ $(head -n 1 "$OUTSIDE/with.err") == *preload* ]] || fail 'not under the shim' "$(<"$OUTSIDE/with.err")"
	diff -U1 --label without --label with "$OUTSIDE/without" "$OUTSIDE/with" >"$OUTSIDE/diff" ||
		fail "$(grep -c '^-.*) = ' "$OUTSIDE/diff") of $count calls differ, such as:" "$(head -n 40 "$OUTSIDE/diff")"
}

@test "the same results, errno and changes with and without hurdle" {
	require_tool parity
	compare "$TOOLS/parity"
}

# Older kernels and WSL1: there the shim opens the parents first, and asks the kernel for their names.
@test "the same where the kernel has no openat2" {
	require_feature seccomp
	require_tool parity nosys
	under=("$TOOLS/nosys" 437)
	as_user || compare "$TOOLS/parity" open unlink odd # to save time
	as_root || compare "$TOOLS/parity" open creat fopen mkdir mknod symlink unlink remove truncate chmod lchown access mkstemp socket exec spawn odd
}

@test "the same for a program of another libc" {
	require_tool musl-gcc
	echo 'int main(void) { return 0; }' | musl-gcc -x c - -o "$OUTSIDE/try" && "$OUTSIDE/try" || skip 'no musl loader here'
	musl-gcc -std=gnu11 -D_GNU_SOURCE -w -O1 -I "$ROOT/tests/tools" -o "$OUTSIDE/parity" "$ROOT/tests/tools/parity.c"
	as_root || compare "$OUTSIDE/parity" open fopen odd
	as_user || compare "$OUTSIDE/parity" open fopen freopen reopen opendir mkdir symlink unlink remove chmod utimes mkstemp exec spawn odd
}
