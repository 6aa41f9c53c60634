#!/usr/bin/env bats
# On a terminal: a shell inside hurdle and hurdle inside a shell behave as without it.
# shellcheck shell=bash

load ../lib

setup() {
	setup_sandbox
	require_tool python3
	# terminal(ARGV): types and waits, on a terminal of its own
	cat >"$HOME/terminal.py" <<'PY'
import fcntl, os, pty, re, select, signal, struct, sys, termios, time
class Terminal:
    def __init__(self, *argv, size=(24, 80)):
        self.seen, self.pid = '', None
        pid, self.fd = pty.fork()
        if pid == 0:
            for s in (signal.SIGINT, signal.SIGPIPE): signal.signal(s, signal.SIG_DFL)
            os.environ.update(PS1='ready> ', TERM='dumb')
            os.closerange(3, 256)
            os.execvp(argv[0], argv)
        self.pid = pid
        self.resize(*size)
    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
    def read(self, wait):
        if not select.select([self.fd], [], [], wait)[0]: return ''
        try: return os.read(self.fd, 4096).decode(errors='replace')
        except OSError: return ''
    def expect(self, pattern, wait=15):
        end = time.time() + wait
        while not (found := re.search(pattern, self.seen)):
            if time.time() > end: self.fail('waited for: %r' % pattern)
            self.seen += self.read(0.1)
        self.seen = self.seen[found.end():]
        return found
    def type(self, text):
        os.write(self.fd, text.encode())
    def line(self, text, pattern):
        self.type(text + '\n')
        self.expect(re.escape(text.rsplit(';', 1)[-1].strip()) + r'\r*\n') # its echo
        return self.expect(pattern)
    def running(self, what): # until the foreground group of the terminal holds it
        end = time.time() + 15
        while time.time() < end:
            self.seen += self.read(0.02)
            for p in os.listdir('/proc'):
                try:
                    if p.isdigit() and what == open('/proc/%s/cmdline' % p).read().replace('\0', ' ').strip() and \
                       int(open('/proc/%s/stat' % p).read().rsplit(')', 1)[1].split()[2]) == os.tcgetpgrp(self.fd): return
                except OSError: pass
        self.fail('not in the foreground: ' + what)
    def status(self, wait=15):
        end = time.time() + wait
        while time.time() < end:
            self.seen += self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid: return os.waitstatus_to_exitcode(status)
        self.fail('does not end')
    def fail(self, why):
        print(why, '\nseen: %r' % self.seen)
        os.kill(self.pid, signal.SIGKILL)
        sys.exit(1)
hurdle = os.environ['HURDLE']
SHELL = ('bash', '--norc', '--noprofile', '-i')
def inside(): return Terminal(hurdle, 'run', '-q', '--keep', 'PS1', '--', *SHELL)
def outside(): return Terminal(*SHELL)
PY
}

on_terminal() {
	PYTHONPATH=$HOME run_in "$PROJECT" -- timeout -k 5 100 python3 -c "from terminal import *
$1
print('all right')"
	assert_status 0
	assert_output 'all right'
}

@test "a shell inside: Ctrl-C, Ctrl-Z, fg, bg, jobs, exit code" {
	on_terminal '
for t in outside(), inside():
    t.expect("ready> ")
    t.type("sleep 311\n"); t.running("sleep 311"); t.type("\x03"); t.expect("ready> ")
    t.line("echo $?", r"130\r\n")
    t.type("sleep 312\n"); t.running("sleep 312"); t.type("\x1a"); t.expect("Stopped"); t.expect("ready> ")
    t.line("jobs", "Stopped.*sleep 312")
    t.type("fg\n"); t.expect("sleep 312\r\n"); t.running("sleep 312"); t.type("\x03"); t.expect("ready> ")
    t.type("sleep 313\n"); t.running("sleep 313"); t.type("\x1a"); t.expect("Stopped"); t.expect("ready> ")
    t.type("bg\n"); t.expect("sleep 313 &"); t.expect("ready> ")
    t.line("jobs", "Running.*sleep 313")
    t.type("kill %1; sleep 0.3; jobs\n"); t.expect("Terminated"); t.expect("ready> ")
    t.type("cat\n"); t.running("cat"); t.type("typed\n"); t.expect("typed\r\ntyped\r\n"); t.type("\x04"); t.expect("ready> ")
    t.type("exit 3\n")
    assert t.status() == 3'
}

@test "window size, and its changes" {
	on_terminal '
for t in outside(), inside():
    t.expect("ready> ")
    t.resize(33, 77)
    t.line("stty size", r"33 77\r\n")
    t.line("trap \"echo changed\" WINCH; echo set", r"set\r\n")
    t.resize(44, 99)
    t.line("stty size", r"44 99\r\n")
    t.line(":; :", "ready> ")
    t.type("exit\n")
    assert t.status() == 0, t.status()
t = Terminal(hurdle, "run", "-q", "--", "python3", "-c", """
import os, signal, time
signal.signal(signal.SIGWINCH, lambda *a: os.write(1, b"changed"))
os.write(1, b"begin")
while True: time.sleep(1)""")
t.expect("begin"); t.resize(50, 100); t.expect("changed"); t.type("\x03")
assert t.status() in (1, 130, -2), t.status()'
}

@test "hurdle inside a shell: Ctrl-C, Ctrl-Z and fg reach what it runs" {
	on_terminal '
t = outside()
t.expect("ready> ")
t.type("$HURDLE run -q -- sleep 321\n"); t.running("sleep 321"); t.type("\x03"); t.expect("ready> ")
t.line("echo $?", r"130\r\n")
t.type("$HURDLE run -q -- sleep 322\n"); t.running("sleep 322"); t.type("\x1a"); t.expect("Stopped"); t.expect("ready> ")
t.line("jobs", "Stopped")
t.type("fg\n"); t.expect("sleep 322\r\n"); t.running("sleep 322"); t.type("\x03"); t.expect("ready> ")
t.type("$HURDLE run -q -- cat\n"); t.running("cat"); t.type("typed\n"); t.expect("typed\r\ntyped\r\n")
t.type("\x1a"); t.expect("Stopped"); t.expect("ready> ")
t.type("fg\n"); t.expect("cat\r\n"); t.running("cat"); t.type("again\n"); t.expect("again\r\nagain\r\n"); t.type("\x04"); t.expect("ready> ")
t.line("echo $?", r"\n?0\r\n")
t.type("$HURDLE run -q -- sleep 323\n"); t.running("sleep 323"); t.type("\x1c"); t.expect("ready> ")
t.line("echo $?", r"131\r\n")
t.type("exit\n")
t.status()'
}

@test "a pipeline around hurdle keeps its place in the foreground" {
	on_terminal '
t = outside()
t.expect("ready> ")
t.type("$HURDLE run -q -- sh -c \"read x </dev/tty; echo got-\\$x\" | cat\n"); t.running("cat"); t.type("word\n"); t.expect("got-word"); t.expect("ready> ")
t.type("$HURDLE run -q -- seq 3 | sh -c \"cat; read x </dev/tty; echo pager-\\$x\"\n"); t.expect("3\r\n"); t.type("q\n"); t.expect("pager-q"); t.expect("ready> ")
t.type("$HURDLE run -q -- yes | head -n 1\n"); t.expect("\ny\r\n"); t.expect("ready> ")
t.line("echo ${PIPESTATUS[0]}", r"141\r\n")
t.type("$HURDLE run -q -- sleep 331 | cat\n"); t.running("sleep 331"); t.type("\x1a"); t.expect("Stopped"); t.expect("ready> ")
t.type("fg\n"); t.expect("cat\r\n"); t.running("sleep 331"); t.type("\x03"); t.expect("ready> ")
t.type("$HURDLE run -q -- sleep 332 & wait; echo waited-$?\n"); time.sleep(0.5); t.type("\x03"); t.expect("ready> ")
t.type("kill %1; wait\n"); t.expect("ready> ")
t.type("exit\n")
t.status()'
}

@test "a terminal that goes away ends the run" {
	on_terminal '
t = Terminal(hurdle, "run", "-q", "--", "bash", "-c", "sleep 341; exit 7")
t.running("sleep 341")
os.close(t.fd)
end, ended = time.time() + 15, 0
while time.time() < end and not ended: ended = os.waitpid(t.pid, os.WNOHANG)[0]; time.sleep(0.05)
if not ended: os.kill(t.pid, signal.SIGKILL)
assert ended
lines = []
for p in os.listdir("/proc"):
    try: lines.append(open("/proc/%s/cmdline" % p, "rb").read() if p.isdigit() else b"")
    except OSError: pass
assert b"sleep\\0341\\0" not in lines'
}
