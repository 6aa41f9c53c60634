/* For parity.c: a function for each kind of call. It makes the call as its form says and prints what came of it. */
#pragma once

static bool raw(const struct call *c) { return c->form == RAW; }
static bool at(const struct call *c) { return c->form == DIRFD; }

static void do_open(const struct call *c)
{
	begin();
	opened(raw(c) ? syscall(SYS_openat, AT_FDCWD, c->a, (int)c->n, 0666) : at(c) ? openat(c->fd, c->a, (int)c->n, 0666) : open(c->a, (int)c->n, 0666));
}

static void do_creat(const struct call *c)
{
	begin();
	opened(raw(c) ? syscall(SYS_creat, c->a, c->n) : creat(c->a, (mode_t)c->n));
}

static void do_fopen(const struct call *c)
{
	begin();
	stream(fopen(c->a, c->name));
}

static void do_freopen(const struct call *c)
{
	FILE *f = fopen("/dev/null", "r");

	begin();
	stream(freopen(c->a, c->name, f));
}

static void do_reopen(const struct call *c)
{
	FILE *f = fopen(c->a, "r");

	begin();
	if (!f)
		outcome(-1);
	else
		stream(freopen(NULL, c->name, f));
}

static void do_opendir(const struct call *c)
{
	struct dirent **list;
	DIR *d;
	int n = 0;

	begin();
	d = opendir(c->a);
	if (!d)
		return outcome(-1);
	opened(dirfd(d));
	while (readdir(d))
		n++;
	closedir(d);
	say("      %d entries, scandir %d\n", n, scandir(c->a, &list, NULL, alphasort));
}

static void do_mkdir(const struct call *c)
{
	begin();
	outcome(raw(c) ? syscall(SYS_mkdir, c->a, c->n) : at(c) ? mkdirat(c->fd, c->a, (mode_t)c->n) : mkdir(c->a, (mode_t)c->n));
}

static void do_mknod(const struct call *c)
{
	begin();
	outcome(raw(c) ? syscall(SYS_mknod, c->a, c->n, 0) : at(c) ? mknodat(c->fd, c->a, (mode_t)c->n, 0) : mknod(c->a, (mode_t)c->n, 0));
}

static void do_mkfifo(const struct call *c)
{
	begin();
	outcome(at(c) ? mkfifoat(c->fd, c->a, (mode_t)c->n) : mkfifo(c->a, (mode_t)c->n));
}

static void do_symlink(const struct call *c)
{
	begin();
	outcome(raw(c) ? syscall(SYS_symlink, c->name, c->a) : at(c) ? symlinkat(c->name, c->fd, c->a) : symlink(c->name, c->a));
}

static void do_link(const struct call *c)
{
	begin();
	if (c->n || at(c))
		outcome(raw(c) ? syscall(SYS_linkat, AT_FDCWD, c->a, AT_FDCWD, c->b, c->n) : linkat(c->fd, c->a, c->fd, c->b, (int)c->n));
	else
		outcome(raw(c) ? syscall(SYS_link, c->a, c->b) : link(c->a, c->b));
}

static void do_unlink(const struct call *c)
{
	begin();
	if (c->n || at(c))
		outcome(raw(c) ? syscall(SYS_unlinkat, AT_FDCWD, c->a, c->n) : unlinkat(c->fd, c->a, (int)c->n));
	else
		outcome(raw(c) ? syscall(SYS_unlink, c->a) : unlink(c->a));
}

static void do_rmdir(const struct call *c)
{
	begin();
	outcome(raw(c) ? syscall(SYS_rmdir, c->a) : rmdir(c->a));
}

static void do_remove(const struct call *c)
{
	begin();
	outcome(remove(c->a));
}

static void do_rename(const struct call *c)
{
	begin();
	if (c->n) /* renameat2: musl has no function for it */
		outcome(syscall(SYS_renameat2, c->fd, c->a, c->fd, c->b, c->n));
	else
		outcome(raw(c) ? syscall(SYS_rename, c->a, c->b) : at(c) ? renameat(c->fd, c->a, c->fd, c->b) : rename(c->a, c->b));
}

static void do_truncate(const struct call *c)
{
	begin();
	outcome(raw(c) ? syscall(SYS_truncate, c->a, c->n) : truncate(c->a, c->n));
}

static void do_chmod(const struct call *c)
{
	begin();
	outcome(raw(c) ? syscall(SYS_fchmodat, AT_FDCWD, c->a, c->n) : at(c) ? fchmodat(c->fd, c->a, (mode_t)c->n, 0) : chmod(c->a, (mode_t)c->n));
}

static void do_lchmod(const struct call *c)
{
	begin();
	outcome(fchmodat(c->fd, c->a, (mode_t)c->n, AT_SYMLINK_NOFOLLOW));
}

static void do_chown(const struct call *c)
{
	uid_t id = c->n < 0 ? (uid_t)-1 : (uid_t)c->n;

	begin();
	outcome(raw(c) ? syscall(SYS_chown, c->a, id, -1) : at(c) ? fchownat(c->fd, c->a, id, (gid_t)-1, 0) : chown(c->a, id, (gid_t)-1));
}

static void do_lchown(const struct call *c)
{
	uid_t id = c->n < 0 ? (uid_t)-1 : (uid_t)c->n;

	begin();
	outcome(raw(c) ? syscall(SYS_lchown, c->a, id, -1) : at(c) ? fchownat(c->fd, c->a, id, (gid_t)-1, AT_SYMLINK_NOFOLLOW) : lchown(c->a, id, (gid_t)-1));
}

enum { TIMES_NOW = 1 << 20, TIMES_OMIT = 1 << 21, TIMES_BAD = 1 << 22 };

static void do_utimens(const struct call *c)
{
	struct timespec t[2] = { { mark_time, 5 }, { mark_time, 6 } };

	if (c->n & TIMES_OMIT)
		t[1].tv_nsec = UTIME_OMIT;
	if (c->n & TIMES_BAD)
		t[1].tv_nsec = 2000000000;
	begin();
	outcome(utimensat(c->fd, c->a, c->n & TIMES_NOW ? NULL : t, (int)(c->n & 0xfffff)));
}

static void do_utimes(const struct call *c)
{
	struct timeval t[2] = { { mark_time, 5 }, { mark_time, 6 } };
	struct utimbuf u = { mark_time, mark_time };

	begin();
	outcome(c->n == 0 ? utime(c->a, &u) : c->n == 1 ? utimes(c->a, t) : lutimes(c->a, t));
}

static void do_access(const struct call *c)
{
	begin();
	outcome(raw(c) ? syscall(SYS_faccessat, AT_FDCWD, c->a, c->n) : at(c) ? faccessat(c->fd, c->a, (int)c->n, 0) : access(c->a, (int)c->n));
}

static void do_eaccess(const struct call *c)
{
	begin();
	outcome(faccessat(c->fd, c->a, (int)c->n & 7, (int)c->n & ~7));
}

static void do_xattr(const struct call *c)
{
	char value[64];

	begin();
	switch (c->n) {
	case 0: outcome(setxattr(c->a, "user.parity", " new", 4, 0)); break;
	case 1: outcome(lsetxattr(c->a, "user.parity", " new", 4, XATTR_CREATE)); break;
	case 2: outcome(setxattr(c->a, "user.parity", " new", 4, XATTR_REPLACE)); break;
	case 3: outcome(getxattr(c->a, "user.parity", value, sizeof(value))); break;
	case 4: outcome(lgetxattr(c->a, "user.parity", value, sizeof(value))); break;
	case 5: outcome(removexattr(c->a, "user.parity")); break;
	case 6: outcome(lremovexattr(c->a, "user.parity")); break;
	case 7: outcome(listxattr(c->a, value, sizeof(value)) < 0 ? -1 : 0); break; /* labels differ from host to host */
	case 8: outcome(setxattr(c->a, "nonsense", "x", 1, 0)); break;
	}
}

/* The random part is six characters: they are put back as X. */
static void do_mkstemp(const struct call *c)
{
	char path[9000];
	struct stat st;
	int fd = -1;

	/* "" and a slash would be the root directory */
	snprintf(path, sizeof(path), "%s%s", *c->a || *c->name != '/' ? c->a : ".", c->name);
	begin();
	if (c->n == 1) {
		result(mkdtemp(path) ? 0 : -1, errno != UNTOUCHED);
	} else {
		fd = c->n == 2 ? mkostemp(path, O_APPEND | O_CLOEXEC) : c->n == 3 ? mkstemps(path, 4) : mkstemp(path);
		result(fd, fd < 0);
		if (fd >= 0)
			say("      flags %#x %#x\n", fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
	}
	if (lstat(path, &st) == 0 && strlen(path) > strlen(c->a))
		say("      made mode %o: %d\n", st.st_mode, remove(path));
}

static void do_bind(const struct call *c)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM, 0), r;

	if (strlen(c->a) >= sizeof(sun.sun_path))
		return say("too long\n");
	strcpy(sun.sun_path, c->a);
	begin();
	r = c->n ? connect(s, (void *)&sun, sizeof(sun)) : bind(s, (void *)&sun, sizeof(sun));
	outcome(r);
}

/* ---- starting programs: in a grandchild, its exit status is the result ---- */

static char env_parity[] = "PARITY=yes", env_path[] = "PATH=/usr/bin:/bin", *const exec_env[] = { env_parity, env_path, NULL };

static void exec_it(const struct call *c)
{
	char zero[] = "zero", one[] = "one", two[] = "two", *argv[] = { zero, one, two, NULL };

	switch (c->n) {
	case 0: execve(c->a, argv, exec_env); break;
	case 1: execv(c->a, argv); break;
	case 2: execvp(c->a, argv); break;
	case 3: execvpe(c->a, argv, exec_env); break;
	case 4: execl(c->a, "zero", "one", "two", (char *)NULL); break;
	case 5: execlp(c->a, "zero", "one", "two", (char *)NULL); break;
	case 6: execle(c->a, "zero", "one", "two", (char *)NULL, exec_env); break;
	case 7: syscall(SYS_execveat, c->fd, c->a, argv, exec_env, 0); break;
	case 8: syscall(SYS_execveat, c->fd, c->a, argv, exec_env, AT_SYMLINK_NOFOLLOW); break;
	case 9: fexecve(open(c->a, O_RDONLY), argv, exec_env); break;
	case 10: syscall(SYS_execve, c->a, argv, exec_env); break;
	case 11: execl(c->a, "zero", "1", "2", "3", "4", "5", "6", "7", "8", "9", (char *)NULL); break;
	}
}

static void do_exec(const struct call *c)
{
	int channel[2], error = 0, status = 0;
	pid_t pid;

	if (pipe2(channel, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return say("no child\n");
	if (pid == 0) {
		begin();
		exec_it(c);
		error = errno;
		_exit(write(channel[1], &error, sizeof(error)) < 0);
	}
	close(channel[1]);
	if (read(channel[0], &error, sizeof(error)) < 0)
		error = -1;
	waitpid(pid, &status, 0);
	say("%s status %#x\n", error ? error_name(error) : "started", status);
}

static void do_spawn(const struct call *c)
{
	char zero[] = "zero", one[] = "one", two[] = "two", *argv[] = { zero, one, two, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;
	int r, status = 0;

	posix_spawn_file_actions_init(&actions);
	if (c->n & 2)
		say("addopen %d ", posix_spawn_file_actions_addopen(&actions, 1, "new-by-spawn", O_WRONLY | O_CREAT, 0640));
	begin();
	r = c->n & 1 ? posix_spawnp(&pid, c->a, &actions, NULL, argv, exec_env) : posix_spawn(&pid, c->a, &actions, NULL, argv, exec_env);
	if (r == 0)
		waitpid(pid, &status, 0);
	say("%d status %#x%s\n", r, status, errno == UNTOUCHED ? "" : " and errno");
}

/* ---- what takes no path from the list ---- */

static void on_alarm(int signal) { (void)signal; }

/* With no descriptor left to give, what needs none still works; not through symlinks, which the shim opens to see where they lead. */
static void at_the_limit(void)
{
	struct rlimit limit = { 0, 0 };
	int fd;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 12;
	setrlimit(RLIMIT_NOFILE, &limit);
	while ((fd = dup(0)) >= 0)
		;
	begin();
	opened(open("file", O_RDWR));
	begin();
	opened(open("file", O_RDONLY));
	begin();
	outcome(mkdir("made", 0755));
	begin();
	outcome(mkdir("dir/made", 0755));
	begin();
	outcome(unlink("dir/file"));
	begin();
	outcome(rename("dir/full/x", "dir/x"));
	begin();
	outcome(chmod("dir/sub", 0700));
	begin();
	outcome(chmod("dir/hard", 0600));
	begin();
	outcome(truncate("ro", 1));
	begin();
	outcome(access("dir/full", W_OK));
	begin();
	outcome(symlink("x", "dir/sub/l"));
}

static void do_odd(const struct call *c)
{
	int file = open("file", O_RDONLY), path = open("dir", O_PATH), opath_file = open("file", O_PATH), unnamed;
	char proc[60];
	struct sigaction sa = { .sa_handler = SIG_DFL };
	static const struct timespec marked[2] = { { mark_time, 0 }, { mark_time, 0 } };

	begin();
	switch (c->n) {
	case 0: opened(openat(99, "file", O_RDWR)); break;
	case 1: opened(openat(file, "x", O_RDWR | O_CREAT, 0600)); break;
	case 2: opened(openat(path, "file", O_RDWR)); break;
	case 3: opened(openat(path, "../file", O_RDWR)); break;
	case 4: opened(openat(-1, "file", O_RDONLY)); break;
	case 5: opened(openat(opath_file, "", O_RDONLY)); break;
	case 6: outcome(mkdirat(99, "x", 0755)); break;
	case 7: outcome(unlinkat(file, "x", 0)); break;
	case 8: outcome(renameat(path, "file", AT_FDCWD, "moved")); break;
	case 9: outcome(linkat(file, "", AT_FDCWD, "again", AT_EMPTY_PATH)); break;
	case 10: outcome(linkat(AT_FDCWD, "file", 99, "again", 0)); break;
	case 11: /* a working directory that is gone */
		if (chdir("empty") < 0 || rmdir("../empty") < 0)
			say("cannot prepare: ");
		begin();
		opened(open("x", O_RDWR | O_CREAT, 0600));
		begin();
		outcome(mkdir("y", 0755));
		begin();
		opened(open(".", O_RDONLY));
		begin();
		outcome(rename("x", "y"));
		begin();
		opened(open("../file", O_RDWR));
		begin();
		outcome(access(".", W_OK));
		begin();
		outcome(chmod(".", 0700));
		break;
	case 12: /* an unnamed file that gets a name */
		unnamed = open(".", O_RDWR | O_TMPFILE, 0640);
		if (unnamed < 0 || write(unnamed, "late\n", 5) < 0)
			return outcome(-1);
		snprintf(proc, sizeof(proc), "/proc/self/fd/%d", unnamed);
		begin();
		outcome(linkat(AT_FDCWD, proc, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
		begin();
		opened(open(proc, O_RDWR | O_TRUNC));
		break;
	case 13: /* a file without a name left */
		unnamed = open("file", O_RDWR);
		unlink("file");
		snprintf(proc, sizeof(proc), "/proc/self/fd/%d", unnamed);
		begin();
		opened(open(proc, O_WRONLY | O_TRUNC));
		begin();
		outcome(fchmod(unnamed, 0600));
		begin();
		outcome(truncate(proc, 2));
		break;
	case 14: outcome(fchmod(file, 0600)); break;
	case 15: outcome(futimens(file, marked)); break;
	case 16: outcome(syscall(SYS_utimensat, file, NULL, marked, 0)); break;
	case 17: outcome(fchownat(file, "", (uid_t)-1, (gid_t)-1, AT_EMPTY_PATH)); break;
	case 18: outcome(fchmod(opath_file, 0600)); break;
	case 19: outcome(fchown(99, (uid_t)-1, (gid_t)-1)); break;
	case 20: /* a signal breaks a waiting open */
		sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_alarm }, &sa);
		ualarm(50000, 0);
		opened(open("fifo", O_WRONLY));
		break;
	case 21: opened(open("/proc/self/cwd/file", O_RDWR)); break;
	case 22: opened(open("/proc/self/root/../proc/self/cwd/new", O_RDWR | O_CREAT, 0640)); break;
	case 23: opened(open("/dev/null", O_RDWR | O_CREAT | O_TRUNC, 0666)); break;
	case 24: opened(open("/dev/fd/5", O_RDWR)); break;
	case 25: opened(open("/dev/stdin", O_RDONLY)); break;
	case 26: outcome(chmod("/proc/self/cwd/file", 0600)); break;
	case 27: outcome(mkdir("/proc/self/cwd/made", 0750)); break;
	case 28: outcome(rename("/proc/self/cwd/file", "./dlink/../moved")); break;
	case 29: at_the_limit(); break;
	case 30: stream(tmpfile()); break;
	case 31: outcome(system("exit 3")); break;
	case 32: opened(open("file", O_RDWR | O_CREAT | O_DIRECTORY, 0600)); break;
	case 33: outcome(unlinkat(AT_FDCWD, "file", 0x4000)); break;
	case 34: outcome(syscall(SYS_renameat2, AT_FDCWD, "file", AT_FDCWD, "other", 3)); break;
	case 35: outcome(linkat(AT_FDCWD, "file", AT_FDCWD, "again", 0x2)); break;
	case 36: opened(syscall(SYS_openat2, AT_FDCWD, "dlink/file", &(uint64_t[3]){ O_RDWR, 0, 4 }, 24)); break;
	case 37: opened(syscall(SYS_openat2, AT_FDCWD, "dir/file", &(uint64_t[3]){ O_RDWR, 0, 8 }, 24)); break;
	case 38: opened(syscall(SYS_openat2, AT_FDCWD, "file", &(uint64_t[3]){ O_RDWR, 0666, 0 }, 24)); break;
	}
}
