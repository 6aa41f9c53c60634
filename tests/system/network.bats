#!/usr/bin/env bats
# The network of a run: real programs through hurdle's proxy, with nothing but the variables that it sets. Hosts are on loopback; names
# are known only to a proxy above (tests/proxy/world.py), which hurdle is told of as a user behind a company's proxy would tell it.
# shellcheck shell=bash

load ../lib

setup() {
	require_tool python3 curl
	setup_sandbox
	WEB=$OUTSIDE/web
	mkdir "$WEB"
	echo hello >"$WEB/hello.txt"
}

teardown() {
	[[ -z ${world-} ]] || exec 8>&-
	[[ -z ${world-} ]] || wait "$world" || :
}

# The world starts; PORT is its HTTP server's.
start_world() {
	mkfifo "$OUTSIDE/in"
	python3 "$ROOT/tests/proxy/world.py" "$WEB" <"$OUTSIDE/in" >"$OUTSIDE/ports" 3>&- &
	world=$!
	exec 8>"$OUTSIDE/in"
	local i
	for ((i = 0; i < 200; i++)); do
		[[ ! -s $OUTSIDE/ports ]] || break
		sleep 0.05
	done
	read -r PORT above <"$OUTSIDE/ports"
	export http_proxy=http://127.0.0.1:$above https_proxy=http://127.0.0.1:$above
}

# inside COMMAND...: with the hosts of example.com allowed
inside() { run_in "$PROJECT" -- hurdle run -q --report "$OUTSIDE/report.json" --allow-domain '*.example.com' -- "$@"; }
report_of() { json_get "$OUTSIDE/report.json" "$1"; }
log() { cat "$WEB/.log" 2>/dev/null || :; }

assert_host() { # HOST VERDICT: the report has it
	[[ $(report_of '.hosts[] | .host + " " + .verdict') == *"$1 $2"* ]] || fail "no '$1 $2' in: $(report_of '.hosts')" "$(seen_)"
}

@test "curl reaches an allowed host and no other, over HTTP and through CONNECT" {
	require_tool jq
	start_world
	for tunnel in '' -p; do
		inside curl -sS ${tunnel:+$tunnel} "http://web.example.com:$PORT/hello.txt"
		assert_status 0
		assert_output hello
		assert_host web.example.com allow
		assert_equal "$(report_of '.hosts[0].port')" "$PORT"
		(($(report_of '.hosts[0].received') >= 6))
		inside curl -sS -f ${tunnel:+$tunnel} "http://web.example.net:$PORT/hello.txt"
		((status != 0))
		assert_output ''
		assert_host web.example.net deny
		assert_stderr_contains "hurdle: deny network-outbound web.example.net:$PORT rule: not in allowedDomains"
		assert_stderr_contains '--allow-domain web.example.net allows it'
		assert_equal "$(report_of '.violations[0].mechanism')" proxyroute
	done
	[[ $(log) != *example.net* ]] || fail "$(log)"
	# the body says why, and what would help
	inside curl -sS "http://web.example.net:$PORT/hello.txt"
	assert_output "hurdle: web.example.net:$PORT: the host is not allowed; --allow-domain web.example.net allows it"
}

@test "wget, python's urllib and its http through the variables alone" {
	require_tool wget jq
	start_world
	inside wget -q -O - "http://web.example.com:$PORT/hello.txt"
	assert_output hello
	inside wget -O - "http://web.example.net:$PORT/hello.txt"
	((status != 0))
	assert_stderr_contains 'Blocked by sandbox: web.example.net'
	inside python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode().strip())' "http://web.example.com:$PORT/hello.txt"
	assert_output hello
	assert_host web.example.com allow
}

@test "git clones over http from an allowed host" {
	require_tool git jq
	start_world
	(
		git init -q -b main "$WEB/repo"
		cd "$WEB/repo"
		echo content >file
		git add file
		git -c user.name=a -c user.email=a@example.com commit -qm one
		git update-server-info
	)
	inside git clone -q "http://git.example.com:$PORT/repo/.git" copy
	assert_status 0
	assert_file_content "$PROJECT/copy/file" content
	assert_host git.example.com allow
	inside git clone -q "http://git.example.net:$PORT/repo/.git" other
	((status != 0))
	assert_stderr_contains 403
	assert_file_absent "$PROJECT/other"
}

@test "npm installs from an allowed registry" {
	require_tool npm jq
	start_world
	mkdir -p "$OUTSIDE/p/package"
	echo '{"name":"thing","version":"1.0.0"}' >"$OUTSIDE/p/package/package.json"
	tar -czf "$WEB/thing-1.0.0.tgz" -C "$OUTSIDE/p" package
	cat >"$WEB/thing.json" <<-END
		{"name":"thing","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"thing","version":"1.0.0",
		"dist":{"tarball":"http://registry.example.com:$PORT/thing-1.0.0.tgz"}}}}
	END
	echo '{"name":"user","version":"1.0.0"}' >package.json
	inside npm install --no-audit --no-fund --no-update-notifier --registry "http://registry.example.com:$PORT/" thing
	assert_status 0
	assert_file_present "$PROJECT/node_modules/thing/package.json"
	assert_host registry.example.com allow
	[[ $(log) == *'GET /thing-1.0.0.tgz registry.example.com:'* ]] || fail "$(log)"
}

@test "pip downloads from an allowed index" {
	require_tool jq
	python3 -m pip --version >/dev/null 2>&1 || skip_or_fail tools 'no pip here'
	start_world
	mkdir -p "$WEB/simple/thing"
	python3 - "$WEB" <<-'END'
		import sys, zipfile
		with zipfile.ZipFile(sys.argv[1] + "/thing-1.0-py3-none-any.whl", "w") as z:
		    z.writestr("thing.py", "")
		    z.writestr("thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
		    z.writestr("thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
		    z.writestr("thing-1.0.dist-info/RECORD", "")
	END
	echo '<a href="/thing-1.0-py3-none-any.whl">thing-1.0-py3-none-any.whl</a>' >"$WEB/simple/thing/index.html"
	inside python3 -m pip --disable-pip-version-check download -q --no-deps -d out --trusted-host pypi.example.com --index-url "http://pypi.example.com:$PORT/simple/" thing
	assert_status 0
	assert_file_present "$PROJECT/out/thing-1.0-py3-none-any.whl"
	assert_host pypi.example.com allow
}

@test "node's fetch uses the proxy where it can, and reaches nothing past it" {
	require_tool node
	start_world
	inside node -e 'fetch(process.argv[1]).then(r => r.text()).then(t => console.log(t.trim()), e => { console.log("failed"); process.exit(1); })' "http://web.example.com:$PORT/hello.txt"
	# node before 22.21 has no way to be told of a proxy: it fails, since it finds no such host
	[[ $output == hello || ($output == failed && $(log) == '') ]] || fail "$(seen_)"
}

@test "ssh is led through the proxy, and shows why it was refused" {
	require_tool ssh
	start_world
	inside sh -c 'echo "$GIT_SSH_COMMAND"'
	[[ $output == "ssh -o ProxyCommand='"*"/hurdle connect %h %p'" ]] || fail "$(seen_)"
	inside git ls-remote ssh://git@git.example.net/repo
	((status != 0))
	assert_stderr_contains 'hurdle: Blocked by sandbox: git.example.net:22: the host is not allowed'
	# what the client sends and hears is what the host hears and sends
	inside sh -c 'printf "GET /hello.txt HTTP/1.0\r\n\r\n" | "$0" connect web.example.com "$1" | tail -n 1' "$HURDLE" "$PORT"
	assert_output hello
	run_in "$PROJECT" -- env -u HTTPS_PROXY "$HURDLE" connect web.example.com 22
	assert_status 125
	assert_stderr_contains 'no proxy to connect through: HTTPS_PROXY is not set'
	inside "$HURDLE" connect web.example.com
	assert_status 125
}

@test "a direct connection past the proxy is refused, loopback servers of the run's own are reached" {
	run_in "$PROJECT" -- hurdle run -q -- python3 -c '
import errno, socket
for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
    for family, address in (socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"):
        try:
            socket.socket(family, kind).connect((address, 443))
            print("connected")
        except PermissionError:
            print("refused")
        except OSError as e:
            print("refused" if e.errno in (errno.EAFNOSUPPORT, errno.ENETUNREACH) else e)
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
print("local")'
	assert_status 0
	assert_output $'refused\nrefused\nrefused\nrefused\nlocal'
	assert_stderr_contains 'hurdle: deny network-outbound 192.0.2.1:443 '
}

@test "what was allowed for one run is no way for others: the port wants its credential" {
	start_world
	inside sh -c 'port=${HTTP_PROXY##*:}; curl -sS -o /dev/null -w "%{http_code}\n" -x "http://127.0.0.1:$port" "http://web.example.com:$1/hello.txt"; curl -sS -o /dev/null -w "%{http_code}\n" -x "http://hurdle:wrong@127.0.0.1:$port" "http://web.example.com:$1/hello.txt"' - "$PORT"
	assert_output $'407\n407'
	[[ -z $(log) ]] || fail "$(log)"
}

@test "settings files: allowed and denied hosts, reasons, what is no host" {
	printf '%s\n' '{"network": {"allowedDomains": ["*.example.com"], "deniedDomains": ["web.example.com"], "deniedDomainReasons": {"web.example.com": "use the\nmirror"}}}' >"$OUTSIDE/s.json"
	run_in "$PROJECT" -- hurdle run --settings "$OUTSIDE/s.json" -- curl -sS http://web.example.com/
	assert_output_contains 'hurdle: web.example.com:80: use the mirror'
	assert_stderr_contains 'rule: deniedDomains web.example.com ('
	assert_stderr_contains 'network to allowed hosts'
	echo '{"network": {"allowedDomains": ["https://example.com"]}}' >"$OUTSIDE/s.json"
	run_in "$PROJECT" -- hurdle run --settings "$OUTSIDE/s.json" -- touch ran
	assert_status 125
	assert_stderr_contains "network.allowedDomains[0]: 'https://example.com' is no host"
	assert_file_absent ran
	echo '{"network": {"allowedDomains": []}}' >"$OUTSIDE/s.json"
	run_in "$PROJECT" -- hurdle run -q --settings "$OUTSIDE/s.json" -- curl -sS -o /dev/null -w '%{http_code}' http://api.github.com/
	assert_output 403
}

@test "a proxy of the user's own is used instead, and nothing is claimed for it" {
	echo '{"network": {"httpProxyPort": 3999, "socksProxyPort": 3998}}' >"$OUTSIDE/s.json"
	run_in "$PROJECT" -- hurdle run --settings "$OUTSIDE/s.json" -- sh -c 'echo $HTTP_PROXY $FTP_PROXY'
	assert_output 'http://127.0.0.1:3999 socks5h://127.0.0.1:3998'
	assert_stderr_contains "network through the proxy on port 3999, which is not hurdle's"
	run_in "$PROJECT" -- hurdle status --settings "$OUTSIDE/s.json"
	assert_output_contains 'hurdle knows nothing of'
	[[ $output =~ net.domains[[:space:]]+none ]] || fail "$(seen_)"
}

@test "a proxy above that cannot be used stops the start, without its password in the words" {
	for url in https://u:canary@127.0.0.1:1 socks5://u:canary@127.0.0.1:1 'http://u:canary@a b'; do
		https_proxy=$url run_in "$PROJECT" -- hurdle run -- touch ran
		assert_status 125
		assert_stderr_contains 'cannot use the proxy above'
		assert_output_lacks canary
		assert_file_absent ran
	done
}

@test "when the proxy ends, so does the network, and the run says so" {
	as_user || skip 'as root the proxy is another user'"'"'s'
	run_in "$PROJECT" -- hurdle run --backend preload -- sh -c 'for d in /proc/[0-9]*; do read -r name <$d/comm 2>/dev/null; [ "$name" = hurdle-proxy ] || continue
		read -r _ _ _ parent _ <$d/stat; [ "$parent" = $PPID ] && kill -9 ${d#/proc/}; done; sleep 0.2; curl -sS http://api.github.com/; :'
	assert_status 0
	assert_stderr_contains 'hurdle: the proxy ended before the command did'
}

@test "without filtering there is no proxy" {
	run_in "$PROJECT" -- hurdle run -q --net=open -- sh -c 'echo "${HTTP_PROXY-unset} ${GIT_SSH_COMMAND-unset}"'
	assert_output 'unset unset'
	run_in "$PROJECT" -- hurdle run -q --net=off -- sh -c 'echo "$HTTP_PROXY ${NODE_USE_ENV_PROXY-unset}"'
	assert_output 'http://127.0.0.1:9 unset'
	run_in "$PROJECT" -- hurdle run -q --no-sandbox -- sh -c 'echo "${HTTP_PROXY-unset}"'
	assert_output unset
}

@test "--report lists hosts also when there were none" {
	run_in "$PROJECT" -- hurdle run -q --report "$OUTSIDE/report.json" -- true
	assert_equal "$(report_of '.hosts | length')" 0
}
