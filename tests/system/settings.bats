#!/usr/bin/env bats
# What people's settings files say, in both formats, and what hurdle settings says of them.
# shellcheck shell=bash disable=SC2016

load ../lib

setup() {
	setup_sandbox
	config=$HOME/.config/hurdle
	mkdir -p "$config" .claude
}

inside() { run_in "$PROJECT" -- hurdle run -q "$@"; }

# warnings that say more than that a later version will act on the key
true_warnings() { grep '^hurdle: warning' <<<"$stderr" | grep -v 'not supported yet'; }

@test "files as people have them are read without an error, and every warning is true" {
	mkdir -p src
	cat >srt.json <<'JSON'
{
  "network": {
    "allowedDomains": ["example.com", "*.example.com", "lfs.example.org", "api.example.org:443"],
    "deniedDomains": ["evil.example.com"],
    "allowUnixSockets": [], "allowLocalBinding": false
  },
  "filesystem": {
    "denyRead": ["~/.ssh"], "allowRead": [],
    "allowWrite": [".", "src/", "test/", "/tmp"],
    "denyWrite": [".env", "config/production.json"]
  },
  "ignoreViolations": { "*": ["/usr/bin", "/System"], "git push": ["/usr/bin/nc"] },
  "enableWeakerNestedSandbox": false, "enableWeakerNetworkIsolation": false
}
JSON
	cat >claude.json <<'JSON'
{
  "allowManagedPermissionRulesOnly": true,
  "permissions": { "disableBypassPermissionsMode": "disable", "ask": ["Bash"], "deny": ["WebSearch", "WebFetch", "Read(./.env)", "Read(./secrets/**)"],
    "allow": ["Bash(npm run lint)", "Bash(npm run test:*)", "Read(~/.zshrc)"] },
  "env": { "FOO": "bar" }, "model": "x", "hooks": {}, "statusLine": { "type": "command", "command": "x" },
  "sandbox": {
    "enabled": true, "autoAllowBashIfSandboxed": false, "allowUnsandboxedCommands": false, "excludedCommands": [],
    "network": { "allowUnixSockets": [], "allowAllUnixSockets": false, "allowLocalBinding": false, "allowedDomains": [], "httpProxyPort": null, "socksProxyPort": null },
    "enableWeakerNestedSandbox": false
  }
}
JSON
	inside --settings srt.json -- touch made src/made
	assert_status 0
	assert_equal "$(true_warnings)" "hurdle: warning: srt.json:9:33: filesystem.allowWrite[2]: 'test/' does not exist; the entry is ignored"
	inside --settings srt.json -- touch .env
	assert_status 1
	inside --settings claude.json -- touch made
	assert_status 0
	assert_equal "$(true_warnings)" ''
	echo x >.env && mkdir secrets && echo x >secrets/x
	inside --settings claude.json -- sh -c 'cat .env; cat secrets/x; echo y >.env'
	assert_equal "$(grep -c 'Permission denied' <<<"$stderr")" 2
}

@test "permissions become rules of the run" {
	echo s >secret.key && mkdir -p "$HOME/out" sub && echo s >sub/secret.key
	cat >.claude/settings.json <<'JSON'
{ "permissions": { "allow": ["Edit(~/out/**)"], "deny": ["Read(*.key)", "Edit(/sub/**)"] } }
JSON
	inside -- sh -c 'cat secret.key; cat sub/secret.key; touch sub/x; touch "$HOME/out/x"; touch ok'
	assert_equal "$(grep -c 'Permission denied' <<<"$stderr")" 4
	assert_file_present ok
	run_in "$PROJECT" -- hurdle trust .claude/settings.json
	assert_output_contains 'permissions.allow: ["Edit(~/out/**)"]'
	inside -- touch "$HOME/out/x"
	assert_status 0
}

@test "the merged settings name the origin of each entry" {
	require_tool python3
	echo '{"filesystem": {"denyRead": ["a"]}, "env": {"keep": ["K"]}, "network": {"mode": "off"}}' >"$config/settings.json"
	echo '{"permissions": {"deny": ["Read(b)"]}, "sandbox": {"network": {"allowedDomains": ["example.com"]}}}' >.claude/settings.json
	run_in "$PROJECT" -- hurdle settings --deny-read c
	assert_status 0
	assert_output_matches $'\nfilesystem.denyRead\ta\tuser\t[^\t]*settings.json:1:30: filesystem.denyRead\\[0\\]\n'
	assert_output_matches $'\nfilesystem.denyRead\tc\tflags\t--deny-read\n'
	assert_output_matches $'\npermissions.deny\tRead\\(b\\)\tproject\t.claude/settings.json:1:27: '
	assert_output_matches $'\nnetwork.mode\toff\tuser\t'
	assert_output_matches $'\ncaches\tprivate\tdefault\tdefault\n'
	assert_output_contains $'.claude/settings.json\tproject\tnot trusted: it may only tighten'
	assert_output_lacks 'network.allowedDomains'$'\t'
	run_in "$PROJECT" -- hurdle settings --json --rules
	printf '%s' "$output" >"$OUTSIDE/s.json"
	assert_equal "$(json_get "$OUTSIDE/s.json" '.files[1].trusted')" false
	assert_equal "$(json_get "$OUTSIDE/s.json" '.files[1].file')" .claude/settings.json
	python3 - "$OUTSIDE/s.json" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == 1 and len(d["warnings"]) == 1 and "allowedDomains" in d["warnings"][0], d["warnings"]
assert all(e["origin"] and e["layer"] for e in d["entries"]) and len(d["entries"]) > 100
assert [e["layer"] for e in d["entries"] if e["key"] == "env.keep"] == ["user"]
PY
	run_in "$PROJECT" -- hurdle settings --no-settings
	assert_output_contains 'no settings file was read'
	run_in "$PROJECT" -- hurdle settings x
	assert_status 125
}

@test "violations that are not to be reported are not, and still refused" {
	echo '{"ignoreViolations": {"*": ["/quiet"], "touch b": ["/loud"]}}' >s.json
	inside --settings s.json -- touch "$OUTSIDE/quiet" "$OUTSIDE/loud"
	assert_file_absent "$OUTSIDE/quiet"
	assert_stderr_contains "file-write-create $OUTSIDE/loud"
	assert_stderr_lacks "file-write-create $OUTSIDE/quiet"
	inside --settings s.json --report "$OUTSIDE/r.json" -- touch b "$OUTSIDE/loud" "$OUTSIDE/quiet"
	assert_stderr_lacks sandbox_violations
	assert_equal "$(json_get "$OUTSIDE/r.json" .violationCount)" 0
	inside --settings s.json -- sh -c ': >"$1"' - "$OUTSIDE/quiet"
	assert_status 2
}

@test "safe directories reach git, and variables of one's own stay whole" {
	require_tool git
	echo '{"git": {"safeDirectories": ["/srv/one", "/srv/two"]}}' >s.json
	inside --settings s.json -- git config --get-all safe.directory
	assert_status 0
	assert_output $'/srv/one\n/srv/two'
	GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=me inside --settings s.json -- git config --get user.name
	assert_output me
	assert_stderr_contains 'GIT_CONFIG_COUNT is set already'
}

@test "entries that others shadow are told of" {
	mkdir -p out "$HOME/open"
	echo '{"filesystem": {"allowWrite": [".", "out", "~/open"], "denyWrite": ["./out"], "allowRead": ["~/open", "~/.ssh/id_x", "."]}}' >s.json
	inside --settings s.json -- true
	assert_equal "$(true_warnings)" "hurdle: warning: s.json:1:37: filesystem.allowWrite[1]: 'out' changes nothing: denyWrite ./out (s.json:1:69: filesystem.denyWrite[0]) covers it
hurdle: warning: s.json:1:93: filesystem.allowRead[0]: '~/open' changes nothing: no rule denies reading it
hurdle: warning: s.json:1:118: filesystem.allowRead[2]: '.' changes nothing: no rule denies reading it"
}

@test "a later layer's variable counts" {
	echo '{"env": {"set": {"A": "user", "B": "user", "C": "user"}}}' >"$config/settings.json"
	echo '{"env": {"set": {"B": "flags", "C": "flags"}}}' >s.json
	inside --settings s.json --env C=option -- sh -c 'echo "$A $B $C"'
	assert_output 'user flags option'
}
