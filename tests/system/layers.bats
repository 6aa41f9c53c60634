#!/usr/bin/env bats
# Settings files that nobody named: which are read, what a project's file may not say, and who may change what is trusted.
# shellcheck shell=bash disable=SC2016

load ../lib

setup() {
	setup_sandbox
	config=$HOME/.config/hurdle
	mkdir -p "$config" .claude
}

inside() { run_in "$PROJECT" -- hurdle run -q "$@"; }

@test "each layer is read, and one option leaves the project's and the user's out" {
	echo '{"filesystem": {"denyRead": ["one"]}}' >"$config/settings.json"
	mkdir "$HOME/.claude" && echo '{"model": "x", "sandbox": {"filesystem": {"denyRead": ["~/two"]}}}' >"$HOME/.claude/settings.json"
	echo '{"sandbox": {"filesystem": {"denyRead": ["./three"]}}}' >.claude/settings.json
	echo '{"filesystem": {"denyRead": ["four"]}}' >.hurdle.json
	echo '{"sandbox": {"filesystem": {"denyRead": ["five"]}}}' >.claude/settings.local.json
	echo '{"filesystem": {"denyRead": ["six"]}}' >"$OUTSIDE/named.json"
	touch one "$HOME/two" three four five six
	inside --settings "$OUTSIDE/named.json" -- sh -c "cat one; cat $HOME/two; cat three; cat four; cat five; cat six; true"
	assert_equal "$(grep -c 'Permission denied' <<<"$stderr")" 6
	run_in "$PROJECT" -- hurdle status --rules --settings "$OUTSIDE/named.json"
	assert_output_contains '.hurdle.json:1:30: filesystem.denyRead[0]'
	inside --no-settings --settings "$OUTSIDE/named.json" -- cat one "$HOME/two" three four five
	assert_status 0
	inside --no-settings --settings "$OUTSIDE/named.json" -- cat six
	assert_status 1
}

@test "a project's file that would loosen is ignored and told of, and the command still confined" {
	mkdir -p "$HOME/.ssh" && echo key >"$HOME/.ssh/id_x"
	git init -q .
	local text
	for text in '{"enabled": false}' '{"sandbox": {"enabled": false}}' '{"filesystem": {"allowWrite": ["~"]}}' '{"filesystem": {"allowRead": ["~/.ssh"]}}' \
		'{"filesystem": {"disabled": true}}' '{"profile": "scrub"}' '{"env": {"set": {"PATH": "/evil"}}}' '{"env": {"keep": ["MY_SECRET_TOKEN"]}}' \
		'{"backend": []}' '{"network": {"mode": "open"}}' '{"network": {"allowAllUnixSockets": true}}' '{"network": {"httpProxyPort": 1}}' \
		'{"permissions": {"allow": ["Bash(*)", "Edit(//**)"]}}' '{"bwrapPath": "./evil"}' '{"filesystem": {"allowGitConfig": true}}' \
		'{"filesystem": {"allowWrite": [".git/hooks"]}}'; do
		echo "$text" >.hurdle.json
		export MY_SECRET_TOKEN=x
		inside -- sh -c 'echo x >"$HOME/x"; cat "$HOME/.ssh/id_x"; echo x >.git/hooks/pre-commit; echo x >>.git/config; echo "token:$MY_SECRET_TOKEN"; echo "$PATH"'
		assert_output_lacks 'token:x'
		assert_output_lacks '/evil'
		assert_equal "$(grep -c 'Permission denied' <<<"$stderr")" 4
		assert_file_absent "$HOME/x"
		[[ $text == *hooks* ]] || assert_stderr_contains 'until you trust this file'
	done
}

# Variables that a project's file drops do not take the fence with them.
@test "a project cannot drop what holds it" {
	echo '{"env": {"drop": ["*", "LD_*", "HURDLE*", "TMPDIR"]}, "credentials": {"envVars": [{"name": "LD_PRELOAD", "mode": "deny"}]}}' >.hurdle.json
	local backend
	for backend in auto preload; do
		inside --backend "$backend" -- sh -c "echo x >$OUTSIDE/x; echo x >in; echo \"\$TMPDIR\""
		assert_stderr_contains 'Permission denied'
		assert_file_absent "$OUTSIDE/x"
		assert_file_present in
		[[ $output == /* ]] || fail 'no TMPDIR'
	done
}

@test "trust is for this content in this place, and shows what it opens" {
	echo '{"filesystem": {"allowWrite": [".", "~"]}, "env": {"keep": ["MY_SECRET_TOKEN"]}}' >.hurdle.json
	run_in "$PROJECT" -- hurdle trust .hurdle.json
	assert_status 0
	assert_output_contains 'filesystem.allowWrite: "~"'
	assert_output_contains 'env.keep: ["MY_SECRET_TOKEN"]'
	assert_equal "$(stat -c %a "$config/trusted")" 600
	inside -- touch "$HOME/a"
	assert_status 0
	assert_equal "$stderr" ''
	cp -r "$PROJECT" "$OUTSIDE/copy"
	run_in "$OUTSIDE/copy" -- hurdle run -q -- touch "$HOME/b"
	assert_status 1
	echo >>.hurdle.json
	inside -- touch "$HOME/c"
	assert_status 1
	assert_stderr_contains 'until you trust'
	run_in / -- hurdle trust "$PROJECT/.hurdle.json"
	inside -- touch "$HOME/c"
	assert_status 0
	run_in "$PROJECT" -- hurdle trust --revoke ./.claude/../.hurdle.json
	inside -- touch "$HOME/d"
	assert_status 1
}

@test "trust takes only what a project brings" {
	echo '{}' >other.json
	for file in other.json "$config/settings.json" .hurdle.json .claude nowhere/.hurdle.json; do
		run_in "$PROJECT" -- hurdle trust "$file"
		assert_status 125
	done
	printf '{' >.hurdle.json
	run_in "$PROJECT" -- hurdle trust .hurdle.json
	assert_status 125
	assert_stderr_contains '.hurdle.json:1:'
	assert_file_absent "$config/trusted"
	run_in "$PROJECT" -- hurdle trust
	assert_status 125
}

# What a run could do to be trusted the next time.
@test "nothing inside can write what is trusted, or the settings" {
	local options
	for options in '' "--allow-write $HOME" "--allow-write $HOME/.config" "--allow-write $config" '--allow-write /'; do
		# shellcheck disable=SC2086
		inside $options -- sh -c "echo x >$config/trusted; echo x >>$config/settings.json; mv $HOME/.config $HOME/c; mv $config $HOME/.config/c
			mkdir $HOME/evil && mv -T $HOME/evil $config; ln -sf $PROJECT/evil $config/trusted; ln $PROJECT/evil $config/trusted; $HURDLE trust .hurdle.json; true"
		assert_equal "$(ls -A "$config")" ''
		# shellcheck disable=SC2086
		inside $options -- sh -c 'echo "{}" >.hurdle.json; echo "{}" >.claude/settings.json; echo "{}" >.claude/settings.local.json; true'
		assert_equal "$(find . -name '*.json')" ''
	done
	# the store elsewhere, and a link in its place
	mkdir "$PROJECT/dots" && : >"$PROJECT/dots/trusted" && ln -s "$PROJECT/dots/trusted" "$config/trusted"
	inside -- sh -c 'echo x >dots/trusted; mv dots/trusted dots/x; mv dots d; true'
	assert_file_content "$PROJECT/dots/trusted" ''
	rm -r "$config"
	inside --allow-write "$HOME" -- sh -c "mkdir $config; mkdir -p $config/x; true"
	assert_file_absent "$config"
}

@test "a settings file that was read through a link is not replaced" {
	mkdir real && echo '{"filesystem": {"denyRead": ["secret"]}}' >real/s.json
	ln -s real/s.json link.json
	inside --settings link.json -- sh -c 'echo x >real/s.json; echo x >link.json; rm -f link.json; mv real r; ln -sf /dev/null link.json; true'
	assert_equal "$(readlink link.json)" real/s.json
	assert_file_content real/s.json '{"filesystem": {"denyRead": ["secret"]}}'
}

@test "bad files of a project stop the start at once" {
	local n=0
	for make in 'mkfifo .hurdle.json' 'ln -s /dev/zero .hurdle.json' 'mkdir .hurdle.json' ': >.hurdle.json' 'ln -s .hurdle.json .hurdle.json' \
		'head -c 2000000 /dev/zero | tr "\0" " " >.hurdle.json' 'printf "{\"a\":1,\"a\":1}" >.hurdle.json' 'printf "{\"\\\\u0000\":1}" >.hurdle.json' \
		'yes "[" | head -n 100000 | tr -d "\n" >.hurdle.json' 'printf "{\"filesystem\":{\"denyRead\":[\"a\\\\u0000b\"]}}" >.hurdle.json'; do
		eval "$make"
		inside -- touch started
		assert_status 125
		assert_stderr_contains .hurdle.json
		assert_file_absent started
		rm -rf .hurdle.json
		((++n))
	done
	assert_equal "$n" 10
	# what stands in it does not reach the terminal as it is
	printf '{"\\u001b[31mfilesystem\\n":1, "env": {"keep": "\\u001b"}}' >.hurdle.json
	inside -- true
	assert_status 125
	[[ $stderr != *$'\e'* ]] || fail 'an escape sequence was printed'
	rm .hurdle.json
	printf '{"filesystem":{"allowWrite":["no\\u001b[31m\\nhurdle: all is well"]}}' >.hurdle.json
	inside -- true
	assert_status 0
	[[ $stderr != *$'\e'* ]] || fail 'an escape sequence was printed'
	assert_equal "$(wc -l <<<"$stderr")" 1
}

@test "many entries take no long time" {
	python3 - <<'PY'
import json
n = 12000
json.dump({"filesystem": {"denyRead": ["p%d" % i for i in range(n)], "allowRead": ["q"] * 10},
           "unknown": 1, "credentials": {"files": [{"path": "c%d" % i, "mode": "deny"} for i in range(2000)]},
           **{"key%d" % i: i for i in range(5000)}}, open(".hurdle.json", "w"))
PY
	HURDLE_TIMEOUT=20 inside -- cat /dev/null
	assert_status 0
	(($(wc -l <<<"$stderr") < 250)) || fail 'too many warnings'
	assert_stderr_contains 'more warnings are left out'
	touch p11999
	HURDLE_TIMEOUT=20 inside -- cat p11999
	assert_status 1
	python3 -c 'import json; json.dump({"env": {"drop": ["V%d" % i for i in range(20000)]}}, open(".hurdle.json", "w"))'
	inside -- true
	assert_status 125
	assert_stderr_contains '.hurdle.json:1:18: env.drop: found more than 16384 entries'
}

@test "strict settings take no warning" {
	echo '{"filesystem": {"allowWrites": []}}' >.hurdle.json
	inside --strict-settings -- touch started
	assert_status 125
	assert_stderr_contains '.hurdle.json:1:32: filesystem.allowWrites: unknown key; did you mean "allowWrite"?'
	assert_file_absent started
	inside -- touch started
	assert_status 0
}

# The managed file is at a fixed place, so this needs a mount namespace with an /etc of its own.
@test "the managed file counts most, and cannot be left out" {
	as_root || skip 'needs to be root'
	require_feature mountns
	cp -r /etc "$OUTSIDE/etc" && mkdir "$OUTSIDE/etc/hurdle"
	echo '{"filesystem": {"denyRead": ["'"$PROJECT"'/m"], "allowManagedReadPathsOnly": true}, "network": {"mode": "off"}}' >"$OUTSIDE/etc/hurdle/managed.json"
	echo m >m && echo '{"filesystem": {"allowRead": ["'"$PROJECT"'/m"]}}' >"$OUTSIDE/s.json"
	run_in "$PROJECT" -- unshare -m sh -c "mount --bind $OUTSIDE/etc /etc && $HURDLE run -q --no-settings --settings $OUTSIDE/s.json --allow-read $PROJECT/m -- cat m"
	assert_status 1
	assert_stderr_contains 'allowManagedReadPathsOnly'
	run_in "$PROJECT" -- unshare -m sh -c "mount --bind $OUTSIDE/etc /etc && $HURDLE run -q --allow-write /etc -- sh -c 'echo x >/etc/hurdle/managed.json'"
	assert_stderr_contains 'Permission denied'
}
