#!/usr/bin/env bats
# A denied file that mixes settings and secrets: the run has a copy without the secrets, and the program finds it.
# shellcheck shell=bash disable=SC2016

load ../lib

setup() {
	setup_sandbox
	unset NPM_CONFIG_USERCONFIG npm_config_userconfig PIP_CONFIG_FILE DOCKER_CONFIG KUBECONFIG AWS_CONFIG_FILE
	mkdir -p "$HOME/.docker" "$HOME/.aws" "$HOME/.kube" "$HOME/.config/pip"
	printf '//registry.example.com/:_authToken=SECRET1\nsave-exact=true\n' >"$HOME/.npmrc"
	printf '[global]\nindex-url = https://u:SECRET2@pypi.example.com/simple\n' >"$HOME/.config/pip/pip.conf"
	printf '{"auths": {"r.example.com": {"auth": "SECRET3"}}, "currentContext": "here"}' >"$HOME/.docker/config.json"
	printf '[default]\nregion = eu-west-1\naws_secret_access_key = SECRET4\n' >"$HOME/.aws/config"
	printf 'current-context: here\nusers:\n- name: x\n  user:\n    token: SECRET5\n' >"$HOME/.kube/config"
}

inside() { run_in "$PROJECT" -- hurdle run -q "$@"; }

@test "each program's variable leads to a copy, and no secret is in it" {
	inside -- sh -c 'cat "$NPM_CONFIG_USERCONFIG" "$PIP_CONFIG_FILE" "$DOCKER_CONFIG/config.json" "$AWS_CONFIG_FILE" "$KUBECONFIG"'
	assert_status 0
	assert_output_lacks SECRET
	local word
	for word in 'save-exact=true' 'index-url = https://pypi.example.com/simple' '"currentContext": "here"' 'region = eu-west-1' 'current-context: here'; do
		assert_output_contains "$word"
	done
	inside -- sh -c 'cat "$HOME/.npmrc"; cat "$HOME/.config/pip/pip.conf"'
	assert_equal "$(grep -c '^cat: .*Permission denied' <<<"$stderr")" 2
}

@test "npm works with a token in its file" {
	require_tool npm
	inside -- npm config get save-exact
	assert_status 0
	assert_output true
}

@test "no copy where it is not wanted" {
	NPM_CONFIG_USERCONFIG=/elsewhere inside -- sh -c 'echo "$NPM_CONFIG_USERCONFIG"'
	assert_output /elsewhere
	npm_config_userconfig=/elsewhere inside --env DOCKER_CONFIG=/x -- sh -c 'echo "${NPM_CONFIG_USERCONFIG-none} $DOCKER_CONFIG"'
	assert_output 'none /x'
	inside --allow-read "$HOME/.npmrc" -- sh -c 'echo "${NPM_CONFIG_USERCONFIG-none}"'
	assert_output none
	run_in "$PROJECT" -- hurdle run -q --no-sandbox -- sh -c 'echo "${NPM_CONFIG_USERCONFIG-none}"'
	assert_output none
	rm "$HOME/.npmrc" && mkfifo "$HOME/.npmrc" && printf '[broken' >"$HOME/.docker/config.json"
	inside -- sh -c 'echo "${NPM_CONFIG_USERCONFIG-none} ${DOCKER_CONFIG-none}"'
	assert_output 'none none'
}

@test "a link to another secret is not copied, a link to a file of settings is" {
	mkdir -p "$HOME/.ssh" "$HOME/dotfiles"
	printf 'AAAAB3NzaC1yc2EAAA\nharmless=1\n' >"$HOME/.ssh/id_rsa"
	ln -sf "$HOME/.ssh/id_rsa" "$HOME/.npmrc"
	mv "$HOME/.docker/config.json" "$HOME/dotfiles/docker" && ln -s "$HOME/dotfiles/docker" "$HOME/.docker/config.json"
	inside -- sh -c 'echo "${NPM_CONFIG_USERCONFIG-none}"; cat "$DOCKER_CONFIG/config.json"'
	assert_output_contains none
	assert_output_contains '"currentContext": "here"'
	if as_root; then
		ln -sf /etc/shadow "$HOME/.npmrc"
		inside -- sh -c 'echo "${NPM_CONFIG_USERCONFIG-none}"'
		assert_output none
	fi
	# hidden together with all of the home directory
	rm "$HOME/.npmrc" && echo save-exact=true >"$HOME/.npmrc"
	inside --deny-read "$HOME" -- sh -c 'cat "$NPM_CONFIG_USERCONFIG"'
	assert_output 'save-exact=true'
}

# What the command does with its copies concerns nobody else, and nothing of them stays.
@test "copies are the run's own, and go with it" {
	inside -- sh -c 'test "$(stat -c %a "$NPM_CONFIG_USERCONFIG")" = 600 && echo x >>"$NPM_CONFIG_USERCONFIG" && dirname "$TMPDIR"'
	assert_status 0
	assert_file_absent "$output"
	assert_file_content "$HOME/.npmrc" $'//registry.example.com/:_authToken=SECRET1\nsave-exact=true'
	run_in "$PROJECT" -- hurdle explain --read "$HOME/.npmrc"
	assert_output_contains 'NPM_CONFIG_USERCONFIG leads to a copy without the secrets'
}
