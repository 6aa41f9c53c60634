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

static bool judged(void)
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
