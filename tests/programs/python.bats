#!/usr/bin/env bats
# python, twice.

load twin

setup() {
	require_tool python3
	setup_twin
	export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
}

@test "python3 -m venv, and a program that runs in it" {
	local pip=--without-pip
	PATH=$(dirname "$(command -v python3)"):/usr/bin:/bin # pip asks each compiler that it finds for its version; rustup then makes itself a home
	# With pip it takes most of the time limit on a small machine; one of the two shows that it works.
	if as_root && python3 -c 'import ensurepip' 2>/dev/null; then pip=''; fi
	mkdir "$PROJECT/package"
	echo 'def hello(): return "hello from " + __name__' >"$PROJECT/package/__init__.py"
	twin <<END
python3 -m venv $pip env
env/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'
site=\$(env/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp -r package "\$site"
cd env
. bin/activate
python -c 'import package; print(package.hello())'
deactivate
# pip leaves the time in no file, but compiles modules in an order of its own
find . -name __pycache__ -prune -exec rm -r {} +
if [ -x bin/pip ]; then bin/pip --version | sed 's/ .*//'; fi
find . -name __pycache__ -prune -exec rm -r {} +
python3 -m venv --upgrade --without-pip .
python3 -m venv --clear --without-pip --copies ../copies && ls ../copies
END
}

@test "python: os, shutil, tempfile, pathlib, mmap, locks" {
	cat >"$PROJECT/session.py" <<'END'
import errno, fcntl, glob, mmap, os, pathlib, shutil, stat, subprocess, tempfile, zipfile, tarfile
os.makedirs('a/b/c'); pathlib.Path('a/x').write_text('x' * 1000); os.symlink('x', 'a/link'); os.link('a/x', 'a/hard')
shutil.copytree('a', 'copy', symlinks=True); shutil.move('copy', 'moved'); shutil.copy2('a/x', 'moved/y'); shutil.copystat('a/x', 'moved/y')
os.replace('moved/y', 'moved/z'); os.rename('moved/z', 'a/z'); os.truncate('a/z', 10); os.chmod('a/z', 0o600); os.utime('a/z', (1000000000, 1000000002))
print(sorted(os.listdir('a')), os.stat('a/z').st_mtime, os.stat('a/hard').st_nlink, os.access('a/z', os.W_OK))
with os.scandir('moved') as it: print(sorted((e.name, e.is_symlink()) for e in it))
for root, dirs, files in os.walk('moved'): dirs.sort(); print(root, dirs, sorted(files))
shutil.rmtree('moved'); print(glob.glob('a/**/*', recursive=True).__len__())
with tempfile.NamedTemporaryFile(dir='.') as t: t.write(b'temporary'); t.flush(); print(open(t.name).read())
with tempfile.TemporaryFile() as t: t.write(b'unnamed'); t.seek(0); print(t.read())
with tempfile.TemporaryDirectory() as d: open(os.path.join(d, 'f'), 'w').close(); print(os.path.dirname(d) == os.environ['TMPDIR'])
print(tempfile.gettempdir() == os.environ['TMPDIR'])
d = os.open('a', os.O_RDONLY | os.O_DIRECTORY)
f = os.open('by-dir', os.O_RDWR | os.O_CREAT, 0o640, dir_fd=d); os.write(f, b'12345'); os.close(f)
os.mkdir('made', dir_fd=d); os.rename('by-dir', 'renamed', src_dir_fd=d, dst_dir_fd=d); os.symlink('renamed', 'l', dir_fd=d)
print(os.readlink('l', dir_fd=d), os.stat('l', dir_fd=d).st_size, os.listdir(d).__len__()); os.unlink('l', dir_fd=d); os.rmdir('made', dir_fd=d)
os.fchdir(d); open('in-a', 'w').write('relative'); os.chdir('..')
with open('map', 'w+b') as f:
    f.truncate(8192)
    with mmap.mmap(f.fileno(), 0) as m: m[100:105] = b'mmap!'
    fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    # a lock is lost when any descriptor of the file is closed: what the shim opens for itself must not do that
    link = os.path.join('a', 'to-map'); os.symlink('../map', link); os.chmod(link, 0o644); os.access(link, os.W_OK); os.utime(link)
    code = "import fcntl,sys\nf=open('map','r+b')\ntry: fcntl.lockf(f,fcntl.LOCK_EX|fcntl.LOCK_NB); print('lost')\nexcept OSError: print('locked')"
    print(subprocess.run(['python3', '-c', code], capture_output=True, text=True).stdout.strip())
os.mkfifo('fifo'); print(stat.S_ISFIFO(os.stat('fifo').st_mode))
r, w = os.pipe(); os.write(w, b'pipe'); print(os.read(r, 10), open('/proc/self/fd/%d' % w, 'w').close())
os.dup2(os.open('dup', os.O_WRONLY | os.O_CREAT), 9); os.write(9, b'dup'); os.close(9)
m = os.memfd_create('m'); os.write(m, b'memory'); print(open('/proc/self/fd/%d' % m).read())
shutil.make_archive('z', 'zip', 'a'); zipfile.ZipFile('z.zip').extractall('unzipped'); os.remove('z.zip'); print(sorted(os.listdir('unzipped')))
tarfile.open('t.tar', 'w').add('a'); tarfile.open('t.tar').extractall('untarred'); os.remove('t.tar')
for call in (lambda: os.mkdir('a'), lambda: os.rmdir('a'), lambda: os.open('a', os.O_WRONLY), lambda: os.unlink('nothing'), lambda: os.open('a/x/y', os.O_RDONLY),
             lambda: os.open('a/x', os.O_CREAT | os.O_EXCL), lambda: os.rename('nothing', 'b'), lambda: os.link('nothing', 'b'), lambda: os.symlink('a', 'a')):
    try: call(); print('no error')
    except OSError as e: print(errno.errorcode[e.errno])
os.remove('session.py')
END
	twin <<'END'
python3 session.py
END
}

@test "python: a multiprocessing pool, forked and spawned, shared memory, threads, subprocess, asyncio" {
	cat >"$PROJECT/session.py" <<'END'
import asyncio, concurrent.futures as cf, multiprocessing as mp, multiprocessing.shared_memory as sm, os, signal, subprocess, sys, threading
def work(n):
    path = 'out/%03d' % n
    with open(path, 'w') as f: f.write(str(n * n))
    os.rename(path, path + '.done')
    return n * n
def fill(name):
    s = sm.SharedMemory(name); s.buf[:4] = b'done'; s.close()
def lock(l, q):
    with l: q.put(os.getpid() != os.getppid())
if __name__ == '__main__':
    os.mkdir('out')
    for method in 'fork', 'spawn', 'forkserver':
        with mp.get_context(method).Pool(3) as pool: print(method, sum(pool.map(work, range(100))))
    with cf.ProcessPoolExecutor(2) as e: print(list(e.map(work, range(5))))
    with cf.ThreadPoolExecutor(8) as e: print(sum(e.map(work, range(400))))
    s = sm.SharedMemory(create=True, size=100); p = mp.Process(target=fill, args=(s.name,)); p.start(); p.join(); print(bytes(s.buf[:4])); s.close(); s.unlink()
    l, q = mp.Lock(), mp.Queue(); ps = [mp.Process(target=lock, args=(l, q)) for _ in range(4)]
    [p.start() for p in ps]; print([q.get() for _ in ps]); [p.join() for p in ps]
    print(subprocess.run('echo shell $0; exit 3', shell=True).returncode, flush=True)
    print(subprocess.check_output(['cat'], input=b'piped', cwd='out', env={'PATH': os.environ['PATH']}))
    print(subprocess.Popen(['sleep', '60'], start_new_session=True, preexec_fn=lambda: os.umask(0o77)).terminate())
    a = subprocess.Popen(['seq', '1000'], stdout=subprocess.PIPE); b = subprocess.Popen(['tail', '-n', '1'], stdin=a.stdout, stdout=subprocess.PIPE); a.stdout.close(); print(b.communicate()[0])
    for bad in ['no-such'], ['.'], ['./out']:
        try: subprocess.run(bad)
        except OSError as e: print(type(e).__name__)
    print(os.waitstatus_to_exitcode(os.system('exit 5')), os.popen('echo popen').read().strip(), flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn('/bin/sh', ['sh', '-c', 'echo spawned >spawned; exit 2'], os.environ), 0)[1]))
    async def main():
        p = await asyncio.create_subprocess_exec('sh', '-c', 'read x; echo got $x', stdin=-1, stdout=-1); print((await p.communicate(b'async\n'))[0])
        server = await asyncio.start_unix_server(lambda r, w: (w.write(b'unix'), w.close()), 'sock'); r, w = await asyncio.open_unix_connection('sock'); print(await r.read()); w.close(); server.close()
    asyncio.run(main()); os.path.exists('sock') and os.remove('sock')
    signal.signal(signal.SIGALRM, lambda *a: print('alarm')); signal.setitimer(signal.ITIMER_REAL, 0.05); signal.pause()
    pid = os.fork()
    if pid == 0: os.execvp('sh', ['sh', '-c', 'exit 9'])
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])); os.remove('session.py')
END
	twin <<'END'
python3 session.py
END
}

@test "python: sqlite3, with a journal and with WAL, from several processes" {
	cat >"$PROJECT/session.py" <<'END'
import multiprocessing as mp, os, sqlite3
def add(k):
    c = sqlite3.connect('link.db', timeout=60)
    for i in range(30):
        with c: c.execute('insert into t values (?, ?)', (k, i))
    c.close()
os.symlink('real.db', 'link.db') # a descriptor too many, closed, would drop the locks of the process
for mode in 'delete', 'wal', 'truncate':
    c = sqlite3.connect('link.db'); print(c.execute('pragma journal_mode=%s' % mode).fetchone())
    c.execute('drop table if exists t'); c.execute('create table t (k, i)'); c.commit()
    ps = [mp.Process(target=add, args=(k,)) for k in range(3)]; [p.start() for p in ps]; [p.join() for p in ps]
    print(c.execute('select count(*), sum(i) from t').fetchone(), c.execute('pragma integrity_check').fetchone(), sorted(os.listdir('.')))
    c.execute('create temp table big as select a.i from t a, t b, t c limit 100000'); c.execute('create index temp.n on big (i)')
    c.execute('delete from t'); c.commit(); c.execute('vacuum'); c.close()
a, b = sqlite3.connect('real.db'), sqlite3.connect('real.db', timeout=0)
a.execute('begin exclusive')
try: b.execute('begin exclusive')
except sqlite3.OperationalError as e: print(e)
a.rollback(); a.close(); b.close(); os.remove('session.py')
END
	TWIN_VARIES=('*.db') # counts every change
	twin <<'END'
python3 session.py
ls
END
}
