#!/usr/bin/env bats
# What the shim exports is what preload/interpose.def says, and nothing that a libc of this machine exports beside it is missing.

load ../lib

setup() {
	require_tool nm readelf python3
	SHIMS=("$HURDLE_BUILD/hurdle-shim.so")
	[[ ! -e $HURDLE_BUILD/hurdle-shim32.so ]] || SHIMS+=("$HURDLE_BUILD/hurdle-shim32.so")
	cd "$ROOT" || return 1
}

# Every libc here, whatever its kind and word size; before glibc 2.34 some calls live in libraries of their own.
libc_names() {
	local file found=''
	for file in /lib/*/libc.so.6 /usr/lib/*/libc.so.6 /lib{32,64}/libc.so.6 /usr/*-linux-gnu/lib/libc.so.6 /lib/ld-musl-*.so.1 \
		/usr/lib/*-linux-musl/libc.so /lib/*/lib{pthread,rt,dl,resolv}.so.? /lib{32,64}/lib{pthread,rt,dl,resolv}.so.?; do
		[[ -r $file ]] || continue
		nm -D --defined-only "$file" 2>/dev/null | awk '{ sub(/@.*/, "", $NF); print $NF }'
		found=1
	done
	[[ -n $found ]]
}

table_names() { sed -n 's/^INTERPOSE(\([^,]*\),.*/\1/p' preload/interpose.def; }
column() { awk -F '\t' -v n="$2" '!/^#/ { print $n }' "$1"; }

@test "the table has no name twice" {
	run sh -c 'sort | uniq -d' < <(table_names)
	assert_output ''
}

@test "the shim exports the table, and nothing else" {
	for shim in "${SHIMS[@]}"; do
		run diff <(nm -D --defined-only "$shim" | awk '{ print $3 }' | sort) <(table_names | sort)
		assert_output ''
	done
}

@test "the shim needs no library, no version, no thread storage, no symbol but three weak ones" {
	for shim in "${SHIMS[@]}"; do
		run readelf -dW "$shim"
		assert_status 0
		assert_output_lacks '(NEEDED)'
		assert_output_lacks '(VER'
		assert_output_lacks '(TEXTREL)'
		assert_output_contains '(HASH)'
		assert_output_contains '(GNU_HASH)'
		run readelf -lW "$shim"
		assert_output_lacks ' TLS '
		run readelf -rW "$shim"
		assert_output_lacks IRELATIV
		assert_output_lacks TPOFF
		assert_output_lacks RELR
		run sh -c 'awk "{ print \$1, \$2 }" | sort' < <(nm -D --undefined-only "$shim")
		assert_output "w _dl_debug_addr
w _r_debug
w environ"
	done
}

@test "every twin that a libc here exports of a name in the table is in it as well" {
	libc_names | sort -u >"$BATS_TEST_TMPDIR/libc"
	table_names >"$BATS_TEST_TMPDIR/table"
	column tests/tables/interpose_exceptions.tsv 1 >"$BATS_TEST_TMPDIR/excepted"
	run python3 - "$BATS_TEST_TMPDIR" <<'PY'
import re, sys
libc, table, excepted = (set(open(f"{sys.argv[1]}/{name}").read().split()) for name in ("libc", "table", "excepted"))
def plain(name):
    name = re.sub(r"^(_IO_|__libc_|__new_)", "", name).lstrip("_")
    name = re.sub(r"^x(?=mknod)", "", name)
    while (shorter := re.sub(r"(_chk|_2|64|_time64|_nocancel|_l)$", "", name)) != name:
        name = shorter
    return name
wrapped = {plain(name) for name in table}
assert {"open", "mknod", "fopen", "utimensat"} <= wrapped, wrapped
missing = sorted(name for name in libc - table - excepted if plain(name) in wrapped)
print(*missing, sep="\n")
assert len(libc) > 1000, "no libc was read"
PY
	assert_status 0
	assert_output ''
}

@test "every name that must be in the table is, where a libc here has it" {
	run comm -23 \
		<(comm -12 <(column tests/tables/interpose_required.tsv 2 | sort -u) <(libc_names | sort -u)) \
		<({ table_names; column tests/tables/interpose_exceptions.tsv 1; } | sort -u)
	assert_output ''
}

@test "each exception has a reason, and is not in the table" {
	run awk -F '\t' '!/^#/ && (NF != 2 || length($2) < 10)' tests/tables/interpose_exceptions.tsv
	assert_output ''
	run comm -12 <(column tests/tables/interpose_exceptions.tsv 1 | sort) <(table_names | sort)
	assert_output ''
}

# Handlers run on the stacks of others: vfork children, signal handlers, threads with 8 KiB (docs/hacking.md).
@test "no frame of the shim is larger than 2 KiB" {
	shopt -s globstar nullglob
	local files=("$HURDLE_BUILD"/shim{,32}/**/*.su)
	((${#files[@]})) || skip "the compiler does not say how large its frames are"
	run awk -F '\t' '$2 > 2048 { print $1, $2 }' "${files[@]}"
	assert_output ''
	awk -F '\t' '$2 > most { most = $2; at = $1 } END { print "# largest: " at ", " most " bytes" }' "${files[@]}" >&3
}
