# shellcheck shell=bash
# usage: bash record_words.bash BASH <TEXTS >RECORDS
# Of each text (a letter, the text, a NUL): "r" has it run, and writes what bash passed to every command of it: the number of words, then the
# words, a NUL after each. Then "end" and 0 or 1: whether `bash -n` takes the text. "s" looks at the syntax only, "w" only runs.
#
# Nothing of them is really run: no program is found, every builtin is a function that only records, and the shell is restricted
# (no name with a slash, no output redirection, no other PATH). Files, braces and variables do not expand to anything.
judge=$1
set --
exec 7>&1
rec() {
	builtin printf '%s\0' "$#" "$@" >&7
	((++calls < 40)) || builtin exit 0
}
# shellcheck disable=SC2317 # bash calls it
command_not_found_handle() { rec "$@"; }
for name in $(compgen -b); do
	[[ $name == builtin ]] || builtin eval "function $name { rec '$name' \"\$@\"; }"
done
builtin unset name HOME OLDPWD
builtin shopt -u sourcepath
builtin set -f +B
builtin readonly PATH=/nonexistent
# in UTF-8, read takes a NUL after half a character for part of it
while LC_ALL=C IFS= builtin read -r -d '' text; do
	kind=${text:0:1} text=${text:1} bad=0
	[[ $kind == w ]] || "$judge" -n -c -- "$text" >/dev/null 2>&1 </dev/null || bad=1
	[[ $kind == s ]] || (
		calls=0
		builtin unset judge kind bad
		builtin set -r
		builtin eval -- "$text"
		builtin wait
	) </dev/null >/dev/null 2>&1
	builtin printf '%s\0' end "$bad"
done
