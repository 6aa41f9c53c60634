/*
 * What would move the ground under the rules, or reach into another process: namespaces and mounts, tracing, attributes by
 * ioctl, and files that libc opens at a place of its own.
 */
#include "preload/shim.h"

enum {
	NEW_USER = 0x10000000, NEW_MOUNT = 0x00020000, /* CLONE_NEWUSER, CLONE_NEWNS */
	TRACE_ATTACH = 16, TRACE_SEIZE = 0x4206, /* PTRACE_ATTACH, PTRACE_SEIZE */
};

/* Told as what it is: no path, and no rule but that the run has one view of the file system. */
static enum answer refuse(struct frame *f, const struct row *r, int action, int error)
{
	TEXT(name);
	text_set(&name, r->name, strlen(r->name));
	report(action, IMAGE_NONE, r->name, &name);
	return fail(f, r, error);
}

bool judged(void)
{
	return !(shim.image->flags & IMAGE_WRITE_OPEN);
}

/* mount, chroot, pivot_root and their kind: paths would mean something else afterwards. */
HANDLER(on_refuse_namespace)
{
	return judged() ? refuse(f, r, WIRE_NAMESPACE, EPERM) : PASS;
}

/* unshare, and clone, whose child comes back by the real function's own return. A user namespace gives the rights to mount. flags:
 * position of the flags. */
HANDLER(on_unshare)
{
	return judged() && (f->arg[r->flags] & (NEW_USER | NEW_MOUNT)) ? refuse(f, r, WIRE_NAMESPACE, EPERM) : PASS;
}

/* ptrace(request, pid, ...) */
HANDLER(on_trace)
{
	long request = f->arg[0], pid = (int)f->arg[1];
	if ((request != TRACE_ATTACH && request != TRACE_SEIZE) || !judged() || in_run(pid))
		return PASS;
	return refuse(f, r, WIRE_TRACE, EPERM);
}

/* process_vm_readv(pid, ...) and its kind. */
HANDLER(on_other_process)
{
	return !judged() || in_run((int)f->arg[0]) ? PASS : refuse(f, r, WIRE_TRACE, EPERM);
}

/* The process behind a descriptor of pidfd_open; -1 when it is none, or when the process is gone. */
static long process_of(int fd)
{
	char path[48] = "/proc/self/fdinfo/", buf[512];
	text_number(path + strlen(path), (unsigned long)fd);
	long in = fd < 0 ? -1 : sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (in < 0)
		return -1;
	long got = raw6(SYS_read, in, (long)buf, sizeof buf - 1, 0, 0, 0);
	sys_close((int)in);
	buf[got > 0 ? got : 0] = '\0';
	for (char *s = buf; *s; s++) {
		if (!text_starts(s, "\nPid:\t"))
			continue;
		long pid = 0;
		for (s += 6; *s >= '0' && *s <= '9'; s++)
			pid = pid * 10 + (*s - '0');
		return pid > 0 ? pid : -1;
	}
	return -1;
}

/* pidfd_getfd(pidfd, ...): what another process has open for writing. */
HANDLER(on_pidfd)
{
	long pid = judged() ? process_of((int)f->arg[0]) : -1;
	return pid < 0 || in_run(pid) ? PASS : refuse(f, r, WIRE_TRACE, EPERM);
}

/* FS_IOC_SETFLAGS, its 32-bit form, FS_IOC_FSSETXATTR: attributes, by a descriptor that may be read-only (linux/fs.h). */
HANDLER(on_ioctl)
{
	unsigned request = (unsigned)f->arg[1];
	if (request != 0x40086602 && request != 0x40046602 && request != 0x401c5820)
		return PASS;
	return on_descriptor(f, r);
}

/* Functions that open a file of their own choice; fixed: which, mode: the open flags. */
HANDLER(on_fixed_file)
{
	static const char *const files[] = { "/etc/shadow", "/etc/gshadow", "/var/run/utmp", "/var/log/wtmp" };
	int error = allow_open(AT_FDCWD, files[r->fixed], r->mode ? O_RDWR : O_RDONLY, WIRE_READ_DATA);
	return error ? fail(f, r, -error) : PASS;
}
