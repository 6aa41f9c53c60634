#!/usr/bin/env bats
# The command line of hurdle: mistakes, status, explain, profile, and the JSON that programs read.
# shellcheck shell=bash

load ../lib

setup() { setup_sandbox; }

# ask ARGUMENT...: hurdle in the project
ask() { run_in "$PROJECT" -- hurdle "$@"; }

# ---- mistakes: 125, one line, and a hint ----

@test "an unknown option names the near one" {
	ask run --alow-write x -- touch y
	assert_status 125
	assert_equal "$stderr" $'hurdle: unknown option \'--alow-write\'\nhurdle: hint: did you mean \'--allow-write\'?'
	assert_equal "$output" ''
	assert_file_absent y
}

@test "options are never abbreviated" {
	for option in --quie --allow-writ=x --reqire=all=none --jsn; do
		ask run "$option" -- touch y
		assert_status 125
		assert_stderr_contains "hurdle: unknown option '${option%%=*}'"
	done
	assert_file_absent y
}

@test "an unknown command names the near one" {
	ask stauts
	assert_status 125
	assert_equal "$stderr" $'hurdle: unknown command \'stauts\'\nhurdle: hint: did you mean \'status\'?'
	ask npm
	assert_status 125
	assert_stderr_contains 'hurdle run -- npm'
	ask
	assert_status 125
	assert_stderr_contains 'hurdle --help'
}

@test "each mistake is said in one line, and nothing starts" {
	local row
	while IFS='|' read -r row want; do
		read -ra row <<<"$row"
		ask run "${row[@]}"
		assert_status 125
		assert_equal "${stderr_lines[0]}" "hurdle: $want"
		assert_equal "$output" ''
		((${#stderr_lines[@]} <= 2)) || fail 'more than a line and a hint' "$stderr"
	done <<-'ROWS'
		--net=shut -- touch y|option '--net' takes filter, off or open, not 'shut'
		--strict=yes -- touch y|option '--strict' takes no argument
		--report|option '--report' needs an argument, FILE
		--pass-fd=2 -- touch y|option '--pass-fd': '2' is too small
		--pass-fd=x -- touch y|option '--pass-fd': 'x' is not a number
		--require=fs.write -- touch y|option '--require' takes GUARANTEE=LEVEL
		--require=fs.wirte=kernel -- touch y|--require: unknown guarantee 'fs.wirte'
		--require=fs.write=hard -- touch y|--require: unknown level 'hard'
		--allow-write=/no/such/place -- touch y|--allow-write: '/no/such/place' does not exist
		--settings=missing.json -- touch y|cannot read the settings file 'missing.json': No such file or directory
		--report=no/such/place -- touch y|cannot write the report 'no/such/place': No such file or directory
		--no-sandbox --require=fs.write=kernel -- touch y|--require wants fs.write, which --no-sandbox gives up
	ROWS
	assert_file_absent y
}

@test "what may be a secret is not repeated" {
	ask run --env=hunter2 -- true
	assert_status 125
	assert_output_lacks hunter2
	ask run --keep=A_TOKEN=hunter2 -- true
	assert_status 125
	assert_output_lacks hunter2
}

@test "control characters of an argument do not reach the terminal" {
	ask run $'--a\033[2Jb\nhurdle: all is well' -- true
	assert_status 125
	assert_output_lacks $'\033'
	assert_stderr_contains '\033[2Jb\nhurdle: all is well'
}

@test "a working directory that was removed is said in words" {
	mkdir gone
	cd gone
	rmdir ../gone
	run --separate-stderr hurdle run -- true
	assert_status 125
	assert_stderr_contains 'hurdle: cannot find the working directory: it was removed'
	assert_stderr_contains 'hint:'
}

# ---- help and version ----

@test "help and version go to standard output" {
	local command
	ask --version
	assert_status 0
	assert_output_matches '^hurdle [0-9]+\.[0-9]+'
	ask --help
	assert_status 0
	for command in run status explain profile; do
		assert_output_contains "  $command "
		run_in "$PROJECT" -- hurdle "$command" --help
		assert_status 0
		assert_equal "$stderr" ''
		assert_equal "${lines[0]%% \[*}" "usage: hurdle $command"
		local help=$output
		ask help "$command"
		assert_output "$help"
		ask "$command" -h
		assert_output "$help"
		ask --help
	done
	ask help nothing
	assert_status 125
}

@test "no line of any help is wider than a page" {
	local command
	for command in run status explain profile; do
		ask "$command" --help
		! grep -nE '^.{101,}' <<<"$output" || fail 'a line of over 100 columns'
	done
}

@test "the program under the name scrub-run scrubs" {
	ln -s "$HURDLE_ITSELF" scrub-run
	run --separate-stderr env A_TOKEN=canary B=2 "$PROJECT/scrub-run" env
	assert_status 0
	assert_output_lacks canary
	assert_output_contains B=2
}

@test "a full disk under standard output is an error" {
	[[ -c /dev/full ]] || skip_or_fail tools 'no /dev/full here'
	run --separate-stderr bash -c '"$HURDLE" status --json >/dev/full'
	assert_status 125
	assert_stderr_contains 'hurdle: cannot write to standard output: No space left on device'
}

# ---- status ----

# The schema of the documents that programs read; what is not listed may be added freely.
check_schema() { # FILE
	python3 - "$1" <<'PY'
import json, sys
d = json.loads(open(sys.argv[1], "rb").read().decode("utf-8"))
levels = {"none", "application", "supervised", "kernel", "n/a"}
def has(o, **types):
    for name, t in types.items():
        assert name in o, (name, o)
        assert isinstance(o[name], t) and (t is not int or not isinstance(o[name], bool)), (name, o)
def texts(l):
    assert all(isinstance(x, str) and x for x in l), l
assert d["schema"] == 1
has(d, host=dict, mechanisms=list, guarantees=list, rules=list)
has(d["host"], platform=str, root=bool, capabilities=list)
for m in d["mechanisms"]:
    has(m, name=str, available=bool, evidence=str)
names = [m["name"] for m in d["mechanisms"]]
assert len(set(names)) == len(names) and {"session", "env", "preload"} <= set(names), names
ids = [g["id"] for g in d["guarantees"]]
assert len(set(ids)) == len(ids) and {"env.secrets", "fs.write", "net.egress", "windows.interop"} <= set(ids), ids
for g in d["guarantees"]:
    has(g, id=str, level=str, by=list, caveats=list)
    assert g["level"] in levels and set(g["by"]) <= set(names), g
    texts(g["caveats"])
    # a level has someone who holds it, and none has not
    assert (g["level"] in ("none", "n/a")) or g["by"], g
for r in d["rules"]:
    has(r, guarantee=str, rule=str, origin=str, level=str, by=list, caveats=list)
    assert r["guarantee"] in ids and r["level"] in levels - {"n/a"} and r["rule"] and r["origin"], r
# the level of a guarantee is that of its weakest rule
order = ["none", "application", "supervised", "kernel"]
for g in d["guarantees"]:
    of = [r["level"] for r in d["rules"] if r["guarantee"] == g["id"]]
    if g["id"] != "net.domains":
        assert g["level"] == (min(of, key=order.index) if of else "n/a"), (g, of)
PY
}

@test "status --json follows its schema, and says what the text says" {
	require_tool python3
	hurdle status --json >"$OUTSIDE/s.json"
	check_schema "$OUTSIDE/s.json"
	ask status
	assert_status 0
	assert_equal "$stderr" ''
	local id level
	while IFS=$'\t' read -r id level; do
		[[ $'\n'$output == *$'\n'"$id"$'\t'"$level"$'\t'* ]] || fail "no row: $id $level" "$output"
	done < <(python3 -c 'import json,sys
for g in json.load(open(sys.argv[1]))["guarantees"]: print(g["id"], g["level"], sep="\t")' "$OUTSIDE/s.json")
}

@test "status shows the plan of the options that it is given" {
	ask status --net=open --allow-all-unix
	assert_output_contains $'\nnet.egress\tn/a\t-\t'
	assert_output_contains $'\nnet.domains\tn/a\t-\t'
	ask status --net=off
	assert_output_contains $'\nnet.domains\tn/a\t-\t'
	assert_output_lacks $'\nnet.egress\tn/a'
	ask status --no-sandbox
	assert_output_contains $'\nfs.write\tn/a\t-\t'
	assert_output_contains $'\nenv.secrets\tkernel\tenv\t'
	ask status --deny-exec "$OUTSIDE/x" --rules
	assert_output_matches $'\nfs.exec\t[a-z]+\t[a-z+-]+\tdenyExec [^\t]*/x\t--deny-exec\t'
}

@test "status exits 1 where a run would be refused" {
	ask status --require=env.secrets=kernel
	assert_status 0
	ask status --require=tty.injection=kernel --require=kernel.surface=kernel --require=proc.isolation=kernel
	assert_status 1
	assert_stderr_contains 'is required at level kernel'
	assert_output_contains $'fs.write\t'
}

@test "status on a terminal is headed, aligned and no wider than it" {
	require_tool script python3
	local columns
	for columns in 60 80 140; do
		NO_COLOR=1 script -qec "stty cols $columns; '$HURDLE' status --rules" /dev/null </dev/null >"$OUTSIDE/screen"
		grep -q '^GUARANTEE  *LEVEL' "$OUTSIDE/screen" || fail 'no heading' "$(cat "$OUTSIDE/screen")"
		! grep -q $'\033' "$OUTSIDE/screen" || fail 'colour in spite of NO_COLOR'
	done
	python3 - "$OUTSIDE/screen" 140 <<'PY'
import sys
for line in open(sys.argv[1], encoding="utf-8"):
    assert len(line.rstrip("\r\n")) <= int(sys.argv[2]), line
PY
	TERM=xterm script -qec "'$HURDLE' status" /dev/null </dev/null >"$OUTSIDE/screen"
	grep -q $'\033\\[32mkernel\033\\[0m' "$OUTSIDE/screen" || fail 'no colour on a terminal'
	TERM=dumb script -qec "'$HURDLE' status" /dev/null </dev/null >"$OUTSIDE/screen"
	! grep -q $'\033' "$OUTSIDE/screen" || fail 'colour on a dumb terminal'
	ask status --color=always
	assert_output_contains $'\033[32mkernel\033[0m'
	ask status --color=never
	assert_output_lacks $'\033'
}

@test "status leaves nothing behind" {
	export TMPDIR=$OUTSIDE
	ask status
	ask explain /etc/passwd
	ask profile preload
	assert_status 0
	assert_equal "$(ls -A "$OUTSIDE")" ''
}

# ---- explain ----

# decision: the columns access, verdict and rule of the last answer
decision() { grep -v '^[a-z]*: ' <<<"$output" | cut -f 1,2,7 | tail -n +2; }

@test "explain says rule, origin and level" {
	ask explain "$HOME/.netrc"
	assert_status 0
	assert_equal "$(decision)" $'read\tdenied\tdenyRead ~/.netrc\ncreate\tdenied\tnot under a write root\ndelete\tdenied\tnot under a write root\nexec\tallowed\tno rule denies running it'
	ask explain file --allow-read file
	assert_equal "$(decision | head -n 2)" $'read\tallowed\tno rule denies reading it\ncreate\tallowed\tallowWrite .'
	ask explain file --allow-read file --deny-read file
	assert_equal "$(decision | head -n 1)" $'read\tallowed\tallowRead file'
	ask explain --write "$OUTSIDE/x" --allow-write "$OUTSIDE" --deny-write "$OUTSIDE/x"
	assert_status 1
	assert_output_matches $'create\tdenied\t(application|supervised|kernel)\t[a-z+]+\t--deny-write\tflags\tdenyWrite '
}

@test "explain answers one question with its exit code" {
	ask explain --read /etc/hostname
	assert_status 0
	ask explain --write /etc/hostname
	assert_status 1
	ask explain --write new
	assert_status 0
	ask explain --read --write /etc/hostname
	assert_status 0
	ask explain --exec /bin/sh
	assert_status 0
	ask explain --exec /bin/sh --deny-exec /bin/sh
	assert_status 1
	ask explain
	assert_status 125
	ask explain a b
	assert_status 125
}

@test "explain resolves as the kernel does" {
	mkdir -p "$OUTSIDE/deep/er"
	ln -s "$OUTSIDE/deep/er" link
	ln -s "$OUTSIDE/missing" dangling
	ask explain --write link/../x
	assert_status 1
	assert_output_contains "$OUTSIDE/deep/x"
	ask explain --write dangling
	assert_status 1
	assert_output_contains "$OUTSIDE/missing"
	ask explain --write 'sub/../x'
	assert_status 0
	ln -s loop loop
	ask explain loop
	assert_status 125
	assert_stderr_contains "hurdle: cannot resolve 'loop': Too many levels of symbolic links"
}

@test "explain tells protected names from old directories" {
	mkdir .git
	ask explain --write .git/config
	assert_status 1
	assert_output_contains 'protected name .git/config'
	assert_output_contains 'denied when the directory that holds it existed before the run'
	ask explain --write .git/config --allow-git-config
	assert_status 0
}

@test "explain knows programs that the rules cannot reach" {
	local static=("$TOOLS"/*_static)
	[[ -x ${static[0]} ]] || skip 'no static program was built'
	ask explain --exec "${static[0]}"
	assert_status 0
	assert_output_contains 'statically linked'
	ask explain --exec "${static[0]}" --strict
	assert_status 1
}

@test "explain judges variables by their names" {
	ask explain GITHUB_TOKEN
	assert_status 0
	assert_output_contains 'GITHUB_TOKEN would be dropped: '
	export GITHUB_TOKEN=canary
	ask explain GITHUB_TOKEN --keep 'GITHUB_*'
	assert_output 'GITHUB_TOKEN would be kept'
	ask explain EDITOR
	assert_output_contains 'EDITOR would be kept'
	ask explain https_proxy
	assert_output_contains "$PROJECT/https_proxy"
	https_proxy=http://u:canary@192.0.2.1:8080 ask explain https_proxy
	assert_output_contains 'https_proxy would be dropped: '
	ask explain EDITOR --drop EDITOR
	assert_output_contains 'EDITOR would be dropped: '
	: >GITHUB_TOKEN
	ask explain GITHUB_TOKEN
	assert_output_contains "$PROJECT/GITHUB_TOKEN"
	assert_output_lacks canary
}

@test "explain says what lost, and a change that helps" {
	mkdir -p .git && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("s")' && echo x >"$HOME/.npmrc"
	local path access change n=0
	while IFS='|' read -r path access change; do
		ask explain "--$access" "$path" --deny-write locked --deny-read hidden
		assert_output_contains ": to allow it: $change"
		[[ $change == --* ]] || continue
		eval "ask explain --$access '$path' --deny-read hidden $change"
		assert_status 0
		((++n))
	done <<TEXT
$HOME/.npmrc|read|--allow-read '$HOME/.npmrc'
$HOME/.npmrc|write|--allow-write '$HOME/.npmrc'
hidden|read|--allow-read '$PROJECT/hidden'
$OUTSIDE/a/b|write|--allow-write '$OUTSIDE'
$OUTSIDE|delete|--allow-write '${OUTSIDE%/*}'
.git/config|write|--allow-git-config
locked|write|take away --deny-write
TEXT
	((n == 6))
	ask explain --write locked --deny-write locked
	assert_output_contains 'create: against allowWrite . (default)'
	# the home directory as a root does not open it either, so no change is told
	ask explain --delete "$HOME/.npmrc"
	assert_status 1
	assert_output_lacks 'to allow it'
	ask explain --write .bashrc
	assert_output_lacks 'to allow it'
	ask explain s
	assert_output_matches $'\nconnect\tallowed\t'
	ask explain "$OUTSIDE/s"
	assert_output_lacks connect
}

@test "explain knows hosts" {
	echo '{"network": {"allowedDomains": ["*.example.com", "api.example.org:8080"], "deniedDomains": ["evil.example.com"]}}' >s.json
	ask explain www.example.com --settings s.json
	assert_status 0
	assert_output_contains 'www.example.com:443 is allowed'
	assert_output_contains '(s.json:1:33: network.allowedDomains[0])'
	ask explain WWW.Evil.example.COM. --settings s.json
	assert_status 0
	ask explain evil.example.com --settings s.json
	assert_status 1
	assert_output_contains 'take away s.json:1:93: network.deniedDomains[0]'
	ask explain api.example.org --settings s.json
	assert_status 1
	assert_output_contains 'to allow it: "api.example.org" in network.allowedDomains'
	ask explain api.example.org:8080 --settings s.json
	assert_status 0
	ask explain --host notes.txt --net=off
	assert_status 1
	assert_output_contains 'the network is off'
	ask explain notes.txt
	assert_output_contains "$PROJECT/notes.txt"
	ask explain --host 'a b'
	assert_status 125
	ask explain --json www.example.com --settings s.json
	python3 -c 'import json, sys
d = json.loads(sys.argv[1]); assert d["allowed"] and d["host"] == "www.example.com" and d["port"] == 443 and d["layer"] == "flags", d' "$output"
}

@test "explain --json" {
	require_tool python3
	ask explain --json "$HOME/.netrc"
	assert_status 0
	python3 - "$HOME/.netrc" "$output" <<'PY'
import json, sys
d = json.loads(sys.argv[2])
assert d["schema"] == 1 and d["path"] == d["resolved"] == sys.argv[1] and d["exists"] is False, d
read = d["decisions"][0]
assert [x["access"] for x in d["decisions"]] == ["read", "create", "delete", "exec"], d
assert read["allowed"] is False and read["rule"] == "denyRead ~/.netrc" and read["origin"] == "default" and read["by"], read
PY
	ask explain --json GITHUB_TOKEN
	python3 -c 'import json, sys
d = json.loads(sys.argv[1]); assert d["dropped"] and not d["set"] and d["reason"], d' "$output"
}

@test "names that are no UTF-8 are valid JSON" {
	require_tool python3
	ask explain --json $'a\xff\x01\xc3'
	python3 -c 'import json, sys
d = json.loads(sys.argv[1]); assert d["path"] == "a\u00ff\u0001\u00c3", d' "$output"
}

# ---- profile ----

@test "profile shows what a mechanism is given" {
	local name
	for name in session env preload; do
		ask profile "$name"
		assert_status 0
		assert_equal "$stderr" ''
		[[ -n $output ]] || fail "nothing for $name"
	done
	ask profile preload --allow-write "$OUTSIDE"
	assert_output_contains "$OUTSIDE"
	ask profile selbeat
	assert_status 125
	assert_equal "${stderr_lines[0]}" "hurdle: unknown mechanism 'selbeat'"
	assert_stderr_contains 'hint: mechanisms are '
	ask profile
	assert_status 125
}

# ---- settings and flags together ----

@test "settings are read, and the command line has the last word" {
	echo '{"network": {"mode": "off"}, "filesystem": {"denyRead": ["secret"]}, "profile": "scrub"}' >s.json
	ask status --settings s.json
	assert_output_contains $'\nfs.write\tn/a\t'
	ask status --settings s.json --profile default --rules
	assert_output_contains $'\nnet.domains\tn/a\t'
	assert_output_contains 'no network but loopback'
	assert_output_matches $'\tdenyRead secret\t[^\t]*s.json:[0-9]+:[0-9]+: filesystem.denyRead\\[0\\]\t'
	ask status --settings s.json --profile default --net filter
	assert_output_contains $'\nnet.domains\tapplication\tproxyroute\t'
	ask explain --read secret --settings s.json --profile default
	assert_status 1
	assert_output_matches 's.json:1:[0-9]+: filesystem.denyRead\[0\]'
	# what was read may not be rewritten by the command that it confines
	ask explain --write s.json --settings s.json --profile default
	assert_status 1
	assert_output_contains 'settings file of this run'
}

# ---- the options that open something ----

@test "keeping the agent's variable opens its socket, and no other" {
	export SSH_AUTH_SOCK=$OUTSIDE/agent.sock
	ask status --rules --keep SSH_AUTH_SOCK
	assert_output_matches $'\tallowUnixSockets [^\t]*/agent.sock\t--keep SSH_AUTH_SOCK\t'
	ask status --rules --keep 'SSH_*'
	assert_output_contains $'\t--keep SSH_AUTH_SOCK\t'
	ask status --rules
	assert_output_lacks agent.sock
	ask status --rules --keep PATH
	assert_output_lacks 'allowUnixSockets'
}

@test "the socket of a container engine earns a warning" {
	ask status --allow-unix /var/run/docker.sock
	assert_status 0
	assert_stderr_contains 'hurdle: warning: --allow-unix: '
	assert_stderr_contains 'container engine'
	DOCKER_HOST=unix:///run/user/1000/podman/podman.sock ask status --keep DOCKER_HOST
	assert_stderr_contains 'hurdle: warning: --keep DOCKER_HOST: '
}

@test "rules that nothing would hold are warned of" {
	ask run --no-sandbox --deny-write x -- true
	assert_status 0
	assert_stderr_contains "hurdle: warning: --deny-write: 'x' changes nothing"
}

# ---- --report ----

@test "a report holds the plan and the outcome" {
	require_tool python3
	export A_TOKEN=canary
	ask run --report "$OUTSIDE/r.json" -- sh -c 'echo x >"$0/one"; echo y >"$0/two"; exit 3' "$OUTSIDE"
	assert_status 3
	check_schema "$OUTSIDE/r.json"
	assert_equal "$(stat -c %a "$OUTSIDE/r.json")" 600
	python3 - "$OUTSIDE" "$PROJECT" <<'PY'
import json, re, sys
outside, project = sys.argv[1:]
text = open(outside + "/r.json").read()
d = json.loads(text)
assert "canary" not in text
assert d["run"]["command"][:2] == ["sh", "-c"] and d["run"]["exit"] == 3 and d["run"]["signal"] is None, d["run"]
assert 0 < d["run"]["duration"] < 60, d["run"]
assert d["cwd"] in (project, None), d["cwd"]
assert [v["target"] for v in d["violations"]] == [outside + "/one", outside + "/two"], d["violations"]
for v in d["violations"]:
    assert v["action"] == "file-write-create" and v["rule"] == "not under a write root" and v["mechanism"] == "preload", v
    assert v["pid"] > 1 and v["program"] in ("sh", "dash", "bash", "busybox") and v["raw"], v
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", v["time"]), v
assert d["violationCount"] == 2
assert {"name": "A_TOKEN", "reason": "name contains TOKEN"} in d["scrubbed"], d["scrubbed"]
assert d["hosts"] == [] and d["uncovered"] == [] and d["repositories"] == []
PY
}

@test "a report names the signal" {
	ask run -q --report "$OUTSIDE/r.json" -- sh -c 'kill -TERM $$'
	assert_status 143
	assert_equal "$(json_get "$OUTSIDE/r.json" .run.signal)" 15
	assert_equal "$(json_get "$OUTSIDE/r.json" .run.exit)" 143
}

@test "a report that cannot be written stops the run, or is said after it" {
	: >target
	ln -s target link
	mkfifo fifo
	ask run --report link -- touch y
	assert_status 125
	assert_stderr_contains "hurdle: cannot write the report 'link': it is a symbolic link, which is not followed"
	ask run --report fifo -- touch y
	assert_status 125
	assert_file_absent y
	[[ -c /dev/full ]] || skip_or_fail tools 'no /dev/full here'
	ask run -q --report /dev/full -- touch y
	assert_status 125
	assert_equal "$stderr" "hurdle: cannot write the report '/dev/full': No space left on device"
	assert_file_present y
	ask run -q --report /dev/full -- sh -c 'exit 4'
	assert_status 4
}

# ---- the manual page ----

@test "the manual page has the options of the table, word for word" {
	require_tool man_options
	diff -u <(sed -n '/^\.\\" options: begin/,/^\.\\" options: end/p' "$ROOT/docs/man/hurdle.1" | sed '1d;$d') <("$TOOLS/man_options") ||
		fail 'write it anew: build/tests/tools/man_options shows what belongs between the marks'
}
