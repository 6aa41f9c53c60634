/*
 * Changes to what exists: mode, owner, times, attributes, length. The object is held open, its real name judged, and the real
 * function called with a path through /proc/self/fd, so that it acts on what was judged.
 */
#include "preload/shim.h"

static int dir_of(const struct frame *f, const struct row *r)
{
	return r->dir == NO ? AT_FDCWD : (int)f->arg[r->dir];
}

/* flags: position of the AT_ flags; mode: of a length; fixed: AT_SYMLINK_NOFOLLOW for the l-forms. */
static int flags_of(const struct frame *f, const struct row *r)
{
	return r->flags == NO ? r->fixed : (int)f->arg[r->flags];
}

static enum answer judge_descriptor(struct frame *f, const struct row *r, int fd)
{
	TEXT(name);
	/* writable already: opened by a decision of ours, or given to the command */
	long flags = raw6(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
	if (flags < 0 || (!(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY) || descriptor_name(fd, &name) != 1)
		return PASS;
	struct judgement j = judge(ACCESS_WRITE, &name);
	if (!j.denied)
		return PASS;
	report(r->action, j.rule, NULL, &name);
	return fail(f, r, EACCES);
}

HANDLER(on_descriptor)
{
	return judge_descriptor(f, r, (int)f->arg[r->dir]);
}

/* A path that leads to the held object whatever happens to its name: through the descriptor, or for the link itself through its
 * directory. */
static int held_path(struct target *t, bool follow, struct text *path)
{
	char fd[40];
	bool direct = t->object >= 0 && (follow || t->place.whole || t->magic);
	if (!direct && (t->place.anchor < 0 || t->place.base[0] == '/')) /* the working directory, or none: the name itself */
		return text_set(path, t->place.base, strlen(t->place.base));
	fd_path(fd, direct ? t->object : t->place.anchor);
	int error = text_set(path, fd, strlen(fd));
	if (error < 0 || (direct && follow))
		return error;
	if (direct) /* a directory: what is not to be followed is the way to it */
		return text_add(path, "/.", 2);
	error = text_add(path, "/", 1);
	return error < 0 ? error : text_add(path, t->place.base, strlen(t->place.base));
}

/* EACCES, after what the kernel says of truncate before it comes to permissions. */
static enum answer refuse(struct frame *f, const struct row *r, const struct target *t, struct judgement j, const char *path)
{
	struct look st = { 0 };
	if (r->action == WIRE_WRITE_DATA && sys_look(t->object, "", 0, &st) == 0) {
		unsigned type = st.mode & 0170000;
		if (type != 0100000)
			return fail(f, r, type == 0040000 ? EISDIR : EINVAL);
	}
	report(r->action, j.rule, path, &t->place.name);
	return fail(f, r, EACCES);
}

/* The length of truncate. musl's own is of 64 bits on every machine. */
static bool is_negative(const struct frame *f, const struct row *r)
{
	bool narrow = sizeof(long) == 4 && r->mode == 1 && f->row >= 0;
	return f->arg[narrow && !on_glibc() ? 2 : r->mode] < 0;
}

HANDLER(on_object)
{
	const char *path = (const char *)f->arg[r->path];
	int flags = flags_of(f, r);
	if (!path || (!*path && (flags & AT_EMPTY_PATH)))
		return r->dir == NO ? PASS : judge_descriptor(f, r, dir_of(f, r));
	if (!*path)
		return PASS;
	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return fail(f, r, EINVAL);
	if (r->mode != NO && is_negative(f, r))
		return fail(f, r, EINVAL);
	TARGET(t);
	bool follow = !(flags & AT_SYMLINK_NOFOLLOW);
	int error = target_open(&t, dir_of(f, r), path, follow);
	if (error < 0 || !t.exists)
		return finish(f, r, error < 0 ? error : -ENOENT);
	struct judgement j = judge(ACCESS_WRITE, &t.place.name);
	if (j.denied)
		return refuse(f, r, &t, j, path);
	TEXT(held);
	if (held_path(&t, follow, &held) < 0)
		return fail(f, r, ENAMETOOLONG);
	/* only the path's start matters to a relative name; ours is absolute */
	f->arg[r->path] = (long)held.s;
	long result = invoke(f, r);
	f->arg[r->path] = (long)path;
	return finish(f, r, result);
}
