#!/usr/bin/env bats
# What bwrap alone holds: no shim, no filter, so that whatever is refused here is refused by the kernel. The attacks are those of
# the shim's own tests, by a static program.
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	require_feature bwrap
	with_backend bwrap
}

# shellcheck disable=SC2153 # OUTSIDE is setup_sandbox's
report_of() { json_get "$OUTSIDE/report.json" "$1"; }

# own TOOL: a copy in the project, for what tests make is not always readable where it was built
own() { cp "$TOOLS/$1" "$PROJECT/$1"; }

level_of() { hurdle status "${@:2}" | awk -F '\t' -v id="$1" '$1 == id { print $2 " " $3; exit }'; }

@test "what it holds is held by the kernel" {
	local id
	for id in fs.write fs.read.deny fs.metadata env.ancestors proc.isolation proc.lifetime tty.injection priv.escalation exec.coverage; do
		[[ $(level_of "$id") == 'kernel '*bwrap* ]] || fail "$id: $(level_of "$id")"
	done
	[[ $(level_of net.egress --net=off) == 'kernel bwrap' ]]
	[[ $(level_of fs.write.names) == 'none -' && $(level_of net.unix) == 'none -' ]]
}

@test "no road leads to a write outside the roots, and every one inside" {
	require_tool attempt_static
	own attempt_static
	mkdir one two
	"$TOOLS/attempt" prepare "$OUTSIDE/in"
	"$TOOLS/attempt" show "$OUTSIDE/in" >"$OUTSIDE/before"
	run_in "$PROJECT/one" -- hurdle run -q -- ../attempt_static write "$OUTSIDE/in"
	"$TOOLS/attempt" show "$OUTSIDE/in" >"$OUTSIDE/after"
	diff "$OUTSIDE/before" "$OUTSIDE/after" || fail "$(seen_)"
	"$TOOLS/attempt" prepare "$PROJECT/in"
	"$TOOLS/attempt" show "$PROJECT/in" >"$OUTSIDE/before"
	run_in "$PROJECT/two" -- hurdle run -q --allow-write "$PROJECT/in" -- ../attempt_static write "$PROJECT/in"
	"$TOOLS/attempt" show "$PROJECT/in" >"$OUTSIDE/after"
	# all but those that only ask, and mknod of a device, change something
	(($(diff "$OUTSIDE/before" "$OUTSIDE/after" | grep -c '^>') * 10 >= $(wc -l <"$OUTSIDE/before") * 8)) ||
		fail "$(diff "$OUTSIDE/before" "$OUTSIDE/after" | grep -c '^>') of $(wc -l <"$OUTSIDE/before")" "$(seen_)"
}

@test "what is denied for reading is not there, whatever it is; what is allowed inside is" {
	own raw_static
	mkdir -p "$OUTSIDE/dir/deep/er" "$OUTSIDE/plain"
	echo secret | tee "$OUTSIDE/file" "$OUTSIDE/dir/file" "$OUTSIDE/dir/deep/er/file" "$OUTSIDE/plain/file" "$PROJECT/inside" >/dev/null
	mkfifo "$OUTSIDE/fifo"
	ln -s dir/file "$OUTSIDE/link"
	local rules=(--deny-read "$OUTSIDE/file" --deny-read "$OUTSIDE/dir" --deny-read "$OUTSIDE/fifo" --deny-read "$OUTSIDE/link"
		--deny-read "$OUTSIDE/missing" --deny-read "$OUTSIDE/no/such/parent" --deny-read "$PROJECT/inside" --allow-read "$OUTSIDE/dir/deep/er")
	local name
	for name in "$OUTSIDE"/{file,dir/file,link} inside; do
		run_in "$PROJECT" -- hurdle run -q "${rules[@]}" -- ./raw_static read "$name"
		assert_output ''
	done
	for name in "$OUTSIDE"/{dir/deep/er,plain}/file; do
		run_in "$PROJECT" -- hurdle run -q "${rules[@]}" -- ./raw_static read "$name"
		assert_output secret
	done
	run_in "$PROJECT" -- hurdle run -q "${rules[@]}" -- sh -c 'exec <>"$1" && echo open' - "$OUTSIDE/fifo"
	assert_output_lacks open
	# order changes nothing
	run_in "$PROJECT" -- hurdle run -q --allow-read "$OUTSIDE/dir/deep/er" --deny-read "$OUTSIDE/dir" -- ./raw_static read "$OUTSIDE/dir/deep/er/file"
	assert_output secret
	assert_equal "$(cat "$OUTSIDE/file" "$PROJECT/inside")" $'secret\nsecret'
}

@test "what is denied for writing inside a root stays as it is, to the last link of its path" {
	mkdir -p keep/deep
	echo old | tee keep/file keep/deep/file single >/dev/null
	local rules=(--deny-write "$PROJECT/keep" --deny-write "$PROJECT/single" --allow-write "$PROJECT/keep/deep")
	# shellcheck disable=SC2016
	run_in "$PROJECT" -- hurdle run -q "${rules[@]}" -- sh -c '
		echo new >keep/file; echo new >keep/deep/file; echo new >single; rm -f single keep/file; mv keep moved; mv single moved
		echo x >keep/more; ln single hard && echo new >hard; chmod 700 keep single; rm -rf keep; : >free'
	assert_equal "$(cat keep/file keep/deep/file single)" $'old\nold\nold'
	assert_file_absent keep/more
	assert_file_present free
}

@test "the repository's hooks and configuration, where they exist, are held as well" {
	git init -q .
	own raw_static
	local name
	for name in .git/hooks/pre-commit .git/config; do
		run_in "$PROJECT" -- hurdle run -q -- ./raw_static write "$PROJECT/$name"
		assert_status 1
	done
	git status --porcelain >"$OUTSIDE/status"
	assert_equal "$(grep -v raw_static "$OUTSIDE/status")" ''
	run_in "$PROJECT" -- hurdle run -q -- sh -c 'echo x >file && git add file && git -c user.name=a -c user.email=a@example.com commit -qm one && git log --format=%s'
	assert_status 0
	assert_output one
}

@test "processes outside are out of reach, and their environment too" {
	A_TOKEN=canary sleep 300 3>&- &
	local outside=$!
	# shellcheck disable=SC2016
	run_in "$PROJECT" -- env A_TOKEN=canary "$HURDLE" run -q -- sh -c '
		kill -9 "$1"; for p in /proc/[0-9]*; do tr "\0" "\n" <$p/environ; done 2>/dev/null; ls -d /proc/[0-9]* | wc -l' - "$outside"
	kill "$outside" || fail 'it was ended'
	assert_output_lacks canary
	((${lines[-1]} <= 6)) || fail "$(seen_)"
}

@test "nothing outlives the run, nor a hurdle that is killed" {
	# shellcheck disable=SC2016
	run_in "$PROJECT" -- hurdle run -q -- sh -c 'setsid sleep 311 & (sleep 312 &) ; trap "" TERM; sleep 0.1'
	assert_status 0
	! pgrep -u "$EUID" -f '^sleep 31[12]$' || fail 'a process is left'
	TMPDIR=$OUTSIDE "$HURDLE" run -q -- sh -c 'setsid sleep 313 & echo ready >ready; sleep 314' 3>&- &
	local pid=$! try
	for try in {1..100}; do [[ ! -e ready ]] || break; sleep 0.05; done
	kill -KILL "$pid"
	wait "$pid" || :
	for try in {1..60}; do pgrep -u "$EUID" -f '^sleep 31[34]$' >/dev/null || break; sleep 0.05; done
	! pgrep -u "$EUID" -f '^sleep 31[34]$' || fail 'a process is left'
	rm -rf "$OUTSIDE"/hurdle-*
}

@test "exit codes, signals and failures are the command's own" {
	local code
	for code in 0 3 126 255; do
		run_in "$PROJECT" -- hurdle run -q -- sh -c "exit $code"
		assert_status "$code"
	done
	# shellcheck disable=SC2016
	run_in "$PROJECT" -- hurdle run -q --report "$OUTSIDE/report.json" -- sh -c 'kill -USR1 $$'
	assert_status 138
	assert_equal "$(report_of .run.signal)" 10
	run_in "$PROJECT" -- hurdle run -q -- /etc/passwd
	assert_status 126
	run_in "$PROJECT" -- hurdle run -q -- no-such-program
	assert_status 127
	printf 'echo "no magic $1"\n' >script && chmod 755 script
	run_in "$PROJECT" -- hurdle run -q -- ./script word
	assert_output 'no magic word'
}

@test "a signal to hurdle reaches the command" {
	# shellcheck disable=SC2016
	"$HURDLE" run -q -- sh -c 'trap "echo got >got; exit 7" TERM; echo ready >ready; while :; do sleep 0.05; done' 3>&- &
	local pid=$! try
	for try in {1..100}; do [[ ! -e ready ]] || break; sleep 0.05; done
	kill -TERM "$pid"
	local code=0
	wait "$pid" || code=$?
	assert_equal "$code" 7
	assert_file_content got got
}

@test "descriptors: what is passed comes through, nothing else" {
	echo passed >"$OUTSIDE/passed"
	# shellcheck disable=SC2016
	run_in "$PROJECT" -- bash -c '"$HURDLE" run -q --pass-fd 7 -- sh -c "cat <&7; ls /proc/self/fd | tr \"\n\" \" \"" 7<"$OUTSIDE/passed" 8<"$OUTSIDE/passed"'
	assert_output $'passed\n0 1 2 3 7 '
	run_in "$PROJECT" -- bash -c '"$HURDLE" run -q -- sh -c "ls /proc/self/fd | tr \"\n\" \" \"" <&-'
	assert_output '0 1 2 '
}

@test "/dev/shm and shared memory are the run's own" {
	run_in "$PROJECT" -- hurdle run -q -- sh -c 'echo x >/dev/shm/hurdle-test-shm && cat /dev/shm/hurdle-test-shm'
	assert_output x
	assert_file_absent /dev/shm/hurdle-test-shm
}

@test "with the network off, loopback is the run's own" {
	require_tool python3
	python3 -c '
import socket, sys, time
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True); s.settimeout(20)
try: s.accept(); open("reached", "w")
except OSError: pass' >port 3>&- &
	local server=$! try
	for try in {1..100}; do [[ ! -s port ]] || break; sleep 0.05; done
	run_in "$PROJECT" -- hurdle run -q --net=off -- python3 -c '
import socket
try: socket.create_connection(("127.0.0.1", '"$(<port)"'), 2); print("reached")
except OSError as e: print("refused")
s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname()); c.send(b"x"); print(s.accept()[0].recv(1))'
	kill "$server"
	wait "$server" || :
	assert_output $'refused\nb\'x\''
	assert_file_absent reached
}

# fake TEXT: a bwrap that does this
fake() {
	mkdir -p "$OUTSIDE/bin"
	printf '#!/bin/sh\n%s\n' "$1" >"$OUTSIDE/bin/bwrap"
	chmod 755 "$OUTSIDE/bin" "$OUTSIDE/bin/bwrap"
}

@test "a bwrap that does not work: asked for by name it stops the start; else the run goes on without, and says so" {
	local words
	for words in 'echo "bwrap: Creating new namespace failed" >&2; exit 1' 'exit 3' 'kill -9 $$'; do
		fake "$words"
		PATH=$OUTSIDE/bin:$PATH run_in "$PROJECT" -- hurdle run -q -- touch made
		assert_status 125
		assert_stderr_contains "hurdle: backend 'bwrap' does not work here: "
		assert_file_absent made
		PATH=$OUTSIDE/bin:$PATH run_in "$PROJECT" -- timeout 60 "$HURDLE_ITSELF" run -- touch made
		assert_status 0
		assert_stderr_contains 'hurdle: bwrap does not work here, going on without it: '
		[[ $(grep 'guarantees by' <<<"$stderr") != *bwrap* ]] || fail "$(seen_)"
		assert_file_present made
		PATH=$OUTSIDE/bin:$PATH run_in "$PROJECT" -- timeout 60 "$HURDLE_ITSELF" run --require fs.write.names=kernel -- touch other
		assert_status 125
		assert_file_absent other
		rm made
	done
}

@test "a bwrap that hangs is given up" {
	fake 'sleep 60'
	PATH=$OUTSIDE/bin:$PATH run_in "$PROJECT" -- hurdle run -q -- touch made
	assert_status 125
	assert_stderr_contains 'bwrap did not start anything within'
	assert_file_absent made
}

@test "a root that goes away between plan and launch: nothing is started" {
	mkdir "$OUTSIDE/root"
	fake "rmdir '$OUTSIDE/root'; exec $(command -v bwrap) \"\$@\""
	PATH=$OUTSIDE/bin:$PATH run_in "$PROJECT" -- hurdle run -q --allow-write "$OUTSIDE/root" -- touch made
	assert_status 125
	assert_stderr_contains "$OUTSIDE/root"
	assert_file_absent made
}

@test "a bwrap that the command could have written is not run" {
	fake 'touch "$PROJECT/ran"; exit 1'
	PATH=$OUTSIDE/bin:$PATH run_in "$PROJECT" -- hurdle run -q --allow-write "$OUTSIDE" -- true
	assert_status 125
	assert_file_absent ran
}

@test "ten thousand rules" {
	python3 -c '
import json
print(json.dumps({"filesystem": {"denyRead": ["'"$OUTSIDE"'/r%d" % i for i in range(5000)], "denyWrite": ["'"$PROJECT"'/w%d" % i for i in range(5000)]}}))' >"$OUTSIDE/many.json"
	run_in "$PROJECT" -- hurdle run -q --settings "$OUTSIDE/many.json" -- echo ran
	assert_output ran
}

# ---- the quick self-attack ----

@test "a bwrap that makes no walls is found out: what it should hold is not claimed" {
	as_root || skip 'only root makes a process namespace and no other'
	fake 'while [ "$1" != -- ]; do shift; done; shift; exec unshare --pid --fork --kill-child -- "$@"'
	PATH=$OUTSIDE/bin:$PATH run_in "$PROJECT" -- hurdle status
	assert_status 0
	assert_output_contains 'the self-attack succeeded here: open a file outside the write roots for writing'
	local id
	for id in fs.write fs.metadata fs.read.deny exec.coverage; do
		grep -q "^$id"$'\tnone\t' <<<"$output" || fail "$id" "$(seen_)"
	done
	PATH=$OUTSIDE/bin:$PATH run_in "$PROJECT" -- hurdle run -q --require fs.write=kernel -- touch made
	assert_status 125
	assert_stderr_contains 'fs.write is required at level kernel (--require), this host gives none'
	assert_file_absent made
}

@test "the self-attack is made once, and again when the rules are others" {
	fake "echo >>'$OUTSIDE/starts'; exec $(command -v bwrap) \"\$@\""
	local wanted
	for wanted in 2 3 4; do
		PATH=$OUTSIDE/bin:$PATH run_in "$PROJECT" -- hurdle run -q -- true
		assert_status 0
		assert_equal "$(wc -l <"$OUTSIDE/starts")" "$wanted"
	done
	PATH=$OUTSIDE/bin:$PATH run_in "$PROJECT" -- hurdle run -q --deny-read "$OUTSIDE/x" -- true
	assert_equal "$(wc -l <"$OUTSIDE/starts")" 6
	# where the command could write the memory, there is none
	mkdir -p "$HOME/.cache/hurdle"
	rm "$HOME/.cache/hurdle/attacks"
	PATH=$OUTSIDE/bin:$PATH run_in "$PROJECT" -- hurdle run -q --allow-write "$HOME/.cache" -- true
	assert_file_absent "$HOME/.cache/hurdle/attacks"
	echo rubbish >"$HOME/.cache/hurdle/attacks"
	PATH=$OUTSIDE/bin:$PATH run_in "$PROJECT" -- hurdle run -q -- true
	assert_status 0
}
