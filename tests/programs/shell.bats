#!/usr/bin/env bats
# Shells, twice: redirections, jobs, pipes.

load twin

setup() { setup_twin; }

@test "bash: here-documents, process substitution, coprocesses, named pipes, descriptors" {
	twin <<'END'
cat <<HERE >here
$((1 + 1)) $(echo from a here-document)
HERE
cat here; cat <<<"a here-string"; diff <(seq 3) <(seq 3) && echo same
seq 5 | tee >(wc -l >counted) >(sort -r >reversed) >all; for i in $(seq 100); do [[ -s counted && -s reversed ]] && break; sleep 0.02; done; cat counted reversed
coproc UP { while read -r l; do echo "${l^^}"; done; }
echo loud >&"${UP[1]}"; read -r answer <&"${UP[0]}"; echo "$answer"; exec {UP[1]}>&-; wait $UP_PID 2>/dev/null || true
mkfifo pipe; (echo through the pipe >pipe) & cat pipe; wait $!; rm pipe
exec 3>three 4<>both 5>>three; echo a >&3; echo b >&5; echo c >&4; exec 3>&- 5>&-; cat three; read -r x <both; echo $x; exec 4>&-
exec {fd}>given; echo $((fd >= 10)); echo y >&$fd; exec {fd}>&-; cat given
# the lowest free descriptor, as a redirection into a closed one needs it
ln -s target link; (exec 0<&-; exec <here; readlink /proc/self/fd/0 | sed 's|.*/||'); (exec 1>&-; : >link; exec >>link; echo into the link); cat target
set -C; (echo no >three) 2>/dev/null || echo noclobber; echo yes >|three; set +C; cat three
(echo to stderr >/dev/stderr) 2>&1; echo to stdout >/dev/stdout; echo to fd >/dev/fd/1; : </dev/stdin; echo gone >/dev/null
{ echo 1; echo 2 >&2; } >both 2>&1; cat both; { echo 3; } &>>both; tail -n 1 both
mapfile -t lines <both; echo ${#lines[@]}; printf '%s\n' * | sort; [[ -w both && -r both && ! -x both && -e /proc/self ]] && echo tests
umask 077; : >private; mkdir private.d; umask 022; ls -ld private* | cut -c1-10
pushd private.d >/dev/null; cd ..; cd -P private.d; echo "${PWD##*/}"; popd >/dev/null; (cd private.d && rmdir ../private.d && ls . ; pwd | sed 's|.*/||'; echo x >y || echo no longer) 2>/dev/null
eval 'f() { local IFS=:; echo "$*"; }'; f a b; declare -A m=([k]=v); echo ${m[k]}; printf -v v %05d 42; echo $v
time true 2>/dev/null; type -t cat; hash -r; command -v ls; enable -n echo; echo external; enable echo
trap 'echo on exit' EXIT
END
}

@test "bash: job control, signals, traps, timeouts, subreaping of children" {
	twin <<'END'
set -m
sleep 100 & jobs -r | wc -l; kill -STOP %1; sleep 0.1; jobs -s | wc -l; kill -CONT %1; kill %1; wait %1 || echo "job ended with $?"
(trap 'echo TERM caught; exit 3' TERM; kill -TERM $BASHPID; sleep 1) || echo $?
sleep 0.1 & p=$!; wait $p; echo waited $?
(sleep 0.05; exit 7) & wait -n || echo first ended with $?
timeout 0.1 sleep 10 || echo timed out $?; timeout -s KILL 0.1 sh -c 'trap "" TERM; sleep 10' || echo killed $?
sh -c 'kill -9 $$' || echo $?; ( ulimit -n 20; for i in 1 2 3; do : >u$i; done; ls u* | wc -l ); rm u?
nohup sh -c 'echo hung up? no >nohup.txt' >/dev/null 2>&1; cat nohup.txt
setsid -w sh -c 'echo own session'; nice -n 5 sh -c 'nice'; env -i sh -c 'echo "$((1 + 1)) in an empty environment" >empty-env'; cat empty-env
sh -c 'echo $PPID' | grep -q "^$$\$" && echo parent; bash -c 'echo $SHLVL' >level; flock lock -c 'flock -n lock true || echo locked'
trap 'echo usr1' USR1; kill -USR1 $$; set +m; for i in $(seq 200); do /bin/true & done; wait; echo 200 children
cat /proc/$$/comm; tr '\0' '\n' </proc/$$/cmdline | head -n 2; ls /proc/self/fd | wc -l
exec sh -c 'echo replaced; exit 0'
END
}

@test "dash, busybox and ksh do the same as outside" {
	cat >"$TWIN/script" <<'END'
echo a >f; echo b >>f; cat <f; cat <<X >h
$(cat f)
X
exec 3>g; echo three >&3; exec 3>&-; read x <g; echo $x; : >|e; mkdir -p d/e; cp f d; mv d/f d/e/g; ln -s g l; echo through >l; cat g
(echo sub; exit 3) >s || echo $?; for i in 1 2 3; do echo $i; done | while read n; do echo "<$n>"; done; test -w f && test -d d && echo tests; rm -r d
sleep 0.05 & wait $!; trap 'echo bye' EXIT; umask 27; echo u >u; ls -l u | cut -c1-10; set -C; (echo x >u) 2>/dev/null || echo noclobber; kill -0 $$ && echo alive
END
	twin <<END
for shell in dash 'bash --posix' ksh 'busybox sh'; do
	if command -v \${shell%% *} >/dev/null; then
		mkdir "\${shell%% *}"; cd "\${shell%% *}"
		echo "== \$shell"; \$shell -e "$TWIN/script"
		cd ..
	fi
done
END
}

@test "make: a jobserver, recursion, guessed includes, touched files" {
	require_tool make
	cat >"$PROJECT/Makefile" <<'END'
all: $(patsubst %,out/%,$(shell seq 60)) sub
include made.mk
made.mk:
	echo 'FROM_MADE = yes' >$@
out/%: | out
	@sleep 0.01; echo $* $(FROM_MADE) >$@.tmp; mv $@.tmp $@
out:
	mkdir $@
sub:
	+@mkdir -p s; printf 'all: a b c d\n%%:\n\t@sleep 0.02; echo $$@ >$$@\n' >s/Makefile; $(MAKE) --no-print-directory -C s
.PHONY: all sub
END
	twin <<'END'
make -j4 | sort
make -j2 -q all || echo not up to date
make -t >/dev/null; make -n out/61
make -j4 --jobserver-style=pipe >/dev/null 2>&1 || make -j4 >/dev/null
cat out/* | sort -n | tail -n 1
make -f - <<'X'
all: ; @echo from standard input $(shell echo shell) $(wildcard out/1*)
X
END
}
