#!/usr/bin/env bats
# The proxy alone (tests/proxy/serve.c), under attack: tests/proxy/cases.py holds the cases. How it is used by a run: network.bats.
# shellcheck shell=bash

load ../lib

setup() {
	require_tool python3
	[[ -x $HURDLE_BUILD/tests/proxy/serve ]] || skip_or_fail tools 'no tests/proxy/serve here'
	setup_sandbox
}

cases() {
	run --separate-stderr timeout 100 python3 "$ROOT/tests/proxy/cases.py" "$OUTSIDE" "$@"
	assert_status 0
}

@test "no case is left out" {
	run --separate-stderr python3 "$ROOT/tests/proxy/cases.py" "$OUTSIDE"
	for name in "${lines[@]}"; do
		grep -qE "^	cases .*\b$name\b|^		$name\b" "$BATS_TEST_FILENAME" || fail "no test runs $name" || return 1
	done
	((${#lines[@]} > 30))
}

@test "proxy: hosts in every spelling" {
	cases spellings_of_loopback_are_refused spellings_of_an_allowed_address_are_one malformed_hosts_are_refused ports
}

@test "proxy: malformed requests reach nobody" {
	cases malformed_requests_reach_nobody connect_with_a_body_is_refused host_field_decides_nothing
}

@test "proxy: what is smuggled in bodies and fields stays behind" {
	cases chunk_tricks_reach_nobody_whole chunks_are_written_anew one_hop_fields_stay_here each_request_is_decided
}

@test "proxy: responses" {
	cases responses_of_all_kinds a_response_cut_short_is_no_whole_one large_bodies_both_ways
}

@test "proxy: nobody uses it without the credential of the run" {
	cases without_the_credential_nothing
}

@test "proxy: SOCKS 4, 4a and 5" {
	cases socks_forms
}

@test "proxy: names are looked up once, and no address is dialled that was not judged" {
	cases names_are_looked_up_once_and_their_addresses_judged the_hosts_file_and_localhost_are_answered_here the_next_address_is_tried
}

@test "proxy: a name server that says nothing" {
	cases a_silent_name_server
}

@test "proxy: tunnels carry the same bytes, and end as their ends do" {
	cases half_close_both_ways many_bytes_are_the_same_bytes reset_at_any_byte idle_tunnels_end
}

@test "proxy: who does not read costs no memory" {
	cases who_does_not_read_holds_back
}

@test "proxy: large heads, slow clients, many clients" {
	cases heads_that_are_too_large slow_clients_are_ended_and_others_served a_full_house_waits two_thousand_connections
}

@test "proxy: through a proxy above" {
	cases through_a_proxy_above
}

@test "proxy: its own process is confined, and ends with hurdle" {
	cases its_own_process_is_confined
}
