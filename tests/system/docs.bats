#!/usr/bin/env bats
# What the documents say is true: their examples run, their names exist, their tables are fresh, their claims have a test.
#
# A fence ```console below <!-- run --> holds commands after "$ " and what they print, both streams together. Each block runs in
# an empty project in an empty home directory, shown as /home/u/project. Compared is the text but for process numbers and
# the figures of the run line; "..." at the end of a line stands for anything; of a line of another program that ends in
# "Permission denied" only that counts. <!-- run only --> compares nothing, <!-- demo --> is what contrib/demo prints,
# and <!-- set-up --> is not run: it installs.
# shellcheck shell=bash

load ../lib
with_backend filter,preload

setup() {
	setup_sandbox
	export PROJECT=$HOME/project
	mkdir "$PROJECT"
	cd "$PROJECT"
	docs=("$ROOT"/README.md "$ROOT"/docs/*.md)
}

# blocks MARK FILE: the files MARK.1, MARK.2 ... in $OUTSIDE from what stands below <!-- MARK -->
blocks() {
	awk -v mark="<!-- $1 -->" -v to="$OUTSIDE/${1// /_}." '
		inside && /^```/ { inside = 0; close(file); next }
		inside { print >file; next }
		/^```/ && last == mark { inside = 1; n++; file = to n; printf "" >file; next }
		{ last = $0 }' "$2"
}

# What may differ from the text, made the same in both.
normal() {
	sed -E -e "s,$HOME,/home/u,g" -e 's,/[^ ]*/demo\.[A-Za-z0-9]+/home,/home/u,g' \
		-e '/^hurdle: hint: \/tmp is not writable/d' \
		-e 's/^hurdle: [a-z+]+ · /hurdle: MECHANISMS · /' \
		-e '/guarantees by the kernel/s/[0-9]+ of [0-9]+|, [0-9]+ by [^,·]*//g' \
		-e '/^hurdle: deny /s/\[[0-9]+\]/[N]/' -e 's/ \(does not exist\)$//' \
		-e '/^hurdle:/!s/^.*: (Permission denied|Operation not permitted)$/(refused)/'
}

# same WANTED GOT: line by line
same() {
	local -a want got
	mapfile -t want < <(normal <"$1")
	mapfile -t got < <(normal <"$2")
	local i
	for ((i = 0; i < ${#want[@]} || i < ${#got[@]}; i++)); do
		[[ ${want[i]-} == *... && ${got[i]-} == "${want[i]%...}"* ]] || [[ ${want[i]-} == "${got[i]-}" && ${want[i]+x} == "${got[i]+x}" ]] ||
			fail "line $((i + 1)) of what is printed" "  document: ${want[i]-(nothing)}" "   program: ${got[i]-(nothing)}" '-- all of it:' "$(<"$2")" || return 1
	done
}

# run_block BLOCK: its commands in one shell; what they print stands in $OUTSIDE/got
run_block() {
	rm -rf "$HOME"
	mkdir -p "$PROJECT"
	{
		echo 'exec 2>&1'
		while IFS= read -r line; do
			[[ $line != '$ '* ]] || printf "printf '%%s\\\\n' %q\n%s\n" "$line" "${line#\$ }"
		done <"$1"
		echo 'kill $(jobs -p) 2>/dev/null; exit 0'
	} >"$OUTSIDE/script"
	(cd "$PROJECT" && env -i HOME="$HOME" PATH="${HURDLE%/*}:$HURDLE_BUILD:$PATH" TMPDIR="${TMPDIR:-/tmp}" LANG=C.UTF-8 TERM=dumb \
		timeout 60 bash "$OUTSIDE/script") </dev/null >"$OUTSIDE/got" 3>&-
}

@test "the examples print what stands below them" {
	local file block n=0
	for file in "${docs[@]}"; do
		rm -f "$OUTSIDE"/run*
		blocks run "$file"
		for block in "$OUTSIDE"/run.*; do
			[[ -e $block ]] || continue
			run_block "$block"
			same "$block" "$OUTSIDE/got" || fail "in ${file#"$ROOT"/}:" "$(<"$block")" || return 1
			((++n))
		done
	done
	((n >= 15)) || fail "only $n examples"
}

@test "the examples for developers run" {
	require_tool strace
	require_feature ptrace
	local block n=0
	blocks 'run only' "$ROOT/docs/hacking.md"
	for block in "$OUTSIDE"/run_only.*; do
		run_block "$block" || fail "$(<"$OUTSIDE/got")" || return 1
		! grep -qE 'command not found|^hurdle: (unknown|cannot)' "$OUTSIDE/got" || fail "$(<"$OUTSIDE/got")" || return 1
		# every command printed something, but for the last
		(($(wc -l <"$OUTSIDE/got") > $(grep -c '^\$ ' "$block"))) || fail 'printed nothing:' "$(<"$block")" || return 1
		((++n))
	done
	((n >= 4)) || fail "only $n examples"
}

@test "no example is left out by mistake" {
	local file
	for file in "${docs[@]}"; do
		awk -v file="${file#"$ROOT"/}" '
			inside && /^```/ { inside = 0; next }
			inside { next }
			/^```/ { inside = 1
				if (/^```(console|sh)/ && last !~ /^<!-- (run|run only|demo|set-up) -->$/) { print file ": " FNR ": unmarked"; bad = 1 } }
			{ last = $0 }
			END { exit bad }' "$file" || return 1
	done
}

@test "the demonstration prints what README shows" {
	require_tool cc
	blocks demo "$ROOT/README.md"
	run_in "$PROJECT" -- env -i HOME="$HOME" PATH="$PATH" TMPDIR="$BATS_TEST_TMPDIR" LANG=C.UTF-8 \
		HURDLE_BUILD="$HURDLE_BUILD" "$ROOT/contrib/demo" --no-build
	assert_status 0
	printf '%s\n' "$output" >"$OUTSIDE/got"
	same "$OUTSIDE/demo.1" "$OUTSIDE/got"
	assert_equal "$(ls -A "$PROJECT")" ''
}

@test "the commands that set up are there" {
	local file
	for file in contrib/demo contrib/install-deps contrib/update-docs; do
		[[ -x $ROOT/$file ]] || fail "$file cannot be run" || return 1
	done
	grep -qx './contrib/demo' "$ROOT/README.md"
	grep -qx 'contrib/install-deps && make check' "$ROOT/README.md"
	for file in all static asan check check-unit check-system lint bench install; do
		grep -q "^$file:" "$ROOT/Makefile" || fail "no target $file" || return 1
	done
	run_in "$PROJECT" -- "$ROOT/contrib/demo" --no-such-option
	assert_status 2
}

@test "the table of wrapped functions is fresh" {
	run_in "$PROJECT" -- "$ROOT/contrib/update-docs" --check
	assert_status 0
}

# ---- names ----

# Every `function()` and every `room/file` that stands in code marks.
@test "the functions and files that the documents name exist" {
	local file word
	for file in "${docs[@]}" "$ROOT/CHANGELOG.md"; do
		while read -r word; do
			grep -rqw --include='*.[chS]' --include='*.def' -- "$word" "$ROOT"/{preload,platform,supervisor,envscrub} ||
				fail "${file#"$ROOT"/}: no function $word" || return 1
		done < <(grep -o '`[a-z_]*()`' "$file" | grep -v '`syscall()`' | tr -d '`()' | sort -u)
		while read -r word; do
			compgen -G "$ROOT/$word" >/dev/null || fail "${file#"$ROOT"/}: no file $word" || return 1
		done < <(grep -oE '`(preload|platform|supervisor|envscrub|tests|contrib|docs)/[^` ]*`' "$file" | tr -d '`' | sort -u)
	done
	# the text of how-it-works: a handler stands in the file that it is said to stand in
	grep -q '^long\|^HANDLER(on_open)' "$ROOT/preload/open.c"
	grep -q 'descriptor_name(' "$ROOT/preload/path.c"
}

@test "links lead to files" {
	local file link
	for file in "${docs[@]}" "$ROOT/CHANGELOG.md"; do
		while read -r link; do
			[[ -e ${file%/*}/${link%%#*} ]] || fail "${file#"$ROOT"/}: $link" || return 1
		done < <(grep -oE '\]\([^):]+\)' "$file" | sed 's/^](//; s/)$//')
	done
}

@test "README names every room of the tree" {
	local dir name
	for dir in "$ROOT"/*/; do
		name=$(basename "$dir")
		[[ $name != build* && -n $(find "$dir" -type f ! -name '*.o' -print -quit) ]] || continue
		grep -q "^$name/" "$ROOT/README.md" || [[ $name == platform ]] || fail "no $name/ in README.md" || return 1
	done
	for dir in "$ROOT"/platform/*/; do
		grep -q "^platform/$(basename "$dir")/ " "$ROOT/README.md" || fail "no $dir in README.md" || return 1
	done
}

# ---- guarantees ----

guarantees() { sed -nE 's/^GUARANTEE\([a-z_]+, *"([^"]+)", *LEVEL_([A-Z]+), *"([^"]+)"\).*/\1|\2|\3/p' "$ROOT/platform/policy/guarantees.def"; }

@test "every guarantee has its section, in the order of the table" {
	assert_equal "$(sed -n 's/^## //p' "$ROOT/docs/guarantees.md")" "$(guarantees | cut -d '|' -f 1)"
	(($(guarantees | wc -l) >= 19)) || fail 'the table was not read'
}

section() { awk -v id="## $1" '/^## / { on = $0 == id } on' "$ROOT/docs/guarantees.md" | tr '\n' ' '; }

@test "a section has the words and the best level of the table" {
	local id best words
	while IFS='|' read -r id best words; do
		[[ $(section "$id") == "## $id  *${words^}.* "* ]] || fail "$id: not '${words^}.'" || return 1
		[[ $(section "$id") =~ Best:\ *\`${best,,}\` ]] || fail "$id: best is not ${best,,}" || return 1
		[[ $(section "$id") == *'**This version:**'*'**How:**'*'**Gets through:**'*'**See it:**'* ]] || fail "$id: a part is missing" || return 1
	done < <(guarantees)
}

@test "a section says the level and the mechanism that status says" {
	require_tool python3
	hurdle status --json --deny-exec "$OUTSIDE/x" >"$OUTSIDE/s.json"
	local id level by first
	while IFS='|' read -r id level by; do
		# which depends on the rights of the caller
		[[ $id != env.ancestors ]] || continue
		first=$(section "$id")
		first=${first#*'**This version:** '}
		[[ $level != n/a ]] || { [[ $first == *'`n/a` elsewhere'* ]] || fail "$id is n/a" || return 1; continue; }
		[[ $first == "\`$level\`, by ${by:-nobody}"* ]] || fail "$id is $level by ${by:-nobody}" "${first:0:60}" || return 1
	done < <(python3 -c 'import json, sys
for g in json.load(open(sys.argv[1]))["guarantees"]:
    print(g["id"], g["level"], " and ".join("`%s`" % m for m in g["by"]), sep="|")' "$OUTSIDE/s.json")
}

# ---- threat model ----

@test "every limit names its test, and every test its limit" {
	local named tests
	named=$(grep -oE '\| \*[^|]+\* \|$' "$ROOT/docs/threat-model.md" | sed 's/^| \*//; s/\* |$//' | sort)
	tests=$(sed -n 's/^@test "\(.*\)" {$/\1/p' "$ROOT/tests/system/limits.bats" | sort)
	((${#tests} > 500)) || fail 'no tests were found'
	diff <(echo "$named") <(echo "$tests")
	# a limit without a test says why
	! grep -E '^\| [A-Z].*\| none \|$' "$ROOT/docs/threat-model.md" || fail 'no reason'
}

@test "without openat2 and birth times, as on WSL1, the fence stands" {
	require_tool strace
	require_feature ptrace
	mkdir old
	ln -s .. "$PROJECT/up"
	run_in "$PROJECT" -- timeout 60 strace -f -o /dev/null -e inject=openat2,statx:error=ENOSYS "$HURDLE" run -- sh -c '
		echo x >inside; echo x >../outside; echo x >up/through; echo x >.bashrc; mkdir new && echo x >new/.bashrc'
	assert_status 0
	assert_file_content "$PROJECT/inside" x
	assert_file_content "$PROJECT/new/.bashrc" x
	assert_file_absent "$HOME/outside"
	assert_file_absent "$HOME/through"
	assert_file_absent "$PROJECT/.bashrc"
}

# ---- settings ----

@test "the examples of the settings are accepted" {
	local i=0
	awk '/^```json/ { on = 1; next } /^```/ { on = 0 } on' "$ROOT/docs/settings.md" >one.json
	awk '/^\.Sh EXAMPLES/ { in_examples = 1 } /^\.Ed/ { on = 0 } on { print } in_examples && /^\.Bd/ { on = 1 }' "$ROOT/docs/man/hurdle-settings.5" >two.json
	mkdir -p dist "$HOME/notes"
	for i in one two; do
		[[ -s $i.json ]] || fail "no example $i" || return 1
		run_in "$PROJECT" -- hurdle explain --settings "$i.json" --write dist/x
		assert_status 0
		assert_equal "$stderr" ''
	done
	printf '{"filesystem": {\n\n  "denyRead":  "x"}}' >my.json
	run_in "$PROJECT" -- hurdle status --settings my.json
	assert_status 125
	assert_stderr_contains 'filesystem.denyRead: found a string, expected an array of paths'
}

@test "every key that does something stands in both documents of the settings" {
	local key
	while read -r key; do
		[[ $key != '$schema' ]] || continue
		grep -q "^| .*\`\(filesystem\.\)\{0,1\}${key#filesystem.}\`" "$ROOT/docs/settings.md" || fail "no $key in docs/settings.md" || return 1
		grep -qE "^\.It Cm (.* , )?$key( ,|$)" "$ROOT/docs/man/hurdle-settings.5" || fail "no $key in docs/man/hurdle-settings.5" || return 1
	done < <(sed -nE 's/^KEY\("([^"]+)", *[A-Z]+, *([a-z_]+),.*/\1 \2/p' "$ROOT/platform/policy/settings_keys.def" |
		grep -vE ' read_(nothing|nothing_strict|silently|object)$' | cut -d ' ' -f 1)
}

@test "the schema of settings is that of the table, and takes the examples" {
	diff "$ROOT/docs/settings.schema.json" <("$TOOLS/settings_schema") || fail 'write it anew: contrib/update-docs' || return 1
	require_tool python3
	awk '/^```json/ { on = 1; next } /^```/ { on = 0 } on' "$ROOT/docs/settings.md" >one.json
	# without a validator at hand: every key of the example stands in the schema
	python3 - "$ROOT/docs/settings.schema.json" one.json <<'PY'
import json, sys
schema, example = (json.load(open(f)) for f in sys.argv[1:])
top = schema["definitions"]["settings"]["properties"]
assert len(top) > 25 and top["network"]["properties"]["mode"]["enum"] == ["filter", "off", "open", None]
for key, value in example.items():
    assert key in top, key
    for inner in value if "properties" in top[key] else ():
        assert inner in top[key]["properties"], inner
try:
    import jsonschema
    jsonschema.validate(example, schema)
    for bad in {"strict": 1}, {"network": {"mod": "off"}}, {"filesystem": {"denyRead": "x"}}, {"sandbox": {"profile": "none"}}:
        try:
            jsonschema.validate(bad, schema)
        except jsonschema.ValidationError:
            continue
        sys.exit(f"{bad} is taken")
except ImportError:
    pass
PY
}

@test "the changes begin with the version that is built" {
	local version
	version=$(hurdle --version)
	[[ $(grep -m 1 '^## ' "$ROOT/CHANGELOG.md") == "## ${version#hurdle }"* ]] || fail "not ${version#hurdle }"
	grep -q "Version ${version#hurdle }\." "$ROOT/README.md"
}
