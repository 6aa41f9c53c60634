/*
 * Making, removing and moving names: the parents are anchored, the real names judged, and the call made on the anchors, so
 * that what was judged is what is changed.
 */
#include "preload/shim.h"

static int dir_of(const struct frame *f, int position)
{
	return position == NO ? AT_FDCWD : (int)f->arg[position];
}

static const char *path_of(const struct frame *f, int position)
{
	const char *s = (const char *)f->arg[position];
	return s && *s ? s : NULL;
}

static bool ends_in_slash(const struct place *p)
{
	return p->base[strlen(p->base) - 1] == '/';
}

/* The type of what the name itself stands for: the kernel looks at that first, and minds a slash after it later. Negative errno. */
static long entry_type(const struct place *p, unsigned *ret_type)
{
	struct look st = { 0 };
	const char *base = p->base;
	if (ends_in_slash(p))
		for (base = p->name.s + p->name.len; base > p->name.s && base[-1] != '/';)
			base--;
	long r = sys_look(p->anchor, base, AT_SYMLINK_NOFOLLOW, &st);
	*ret_type = st.mode & 0170000;
	return r;
}

/* EACCES, told to the user unless the kernel would refuse the directory as well. */
static long refuse(const struct place *p, int action, struct judgement j, const char *raw)
{
	long r = raw6(SYS_faccessat, p->anchor, (long)".", 2 /* W_OK */, 0, 0, 0);
	if (r == -EACCES) /* not EROFS: that may be a wall of the run's own, which should be told of */
		return r;
	report(action, j.rule, raw, &p->name);
	return -EACCES;
}

static long refuse_new(const struct place *p, int action, struct judgement j, const char *raw)
{
	unsigned type;
	return entry_type(p, &type) == 0 ? -EEXIST : refuse(p, action, j, raw);
}

static long refuse_old(const struct place *p, int action, struct judgement j, const char *raw, bool want_directory, bool any)
{
	unsigned type;
	long missing = entry_type(p, &type);
	if (missing)
		return missing;
	if (type != 0040000 && ((!any && want_directory) || ends_in_slash(p)))
		return -ENOTDIR;
	if (!any && !want_directory && type == 0040000)
		return -EISDIR;
	return refuse(p, action, j, raw);
}

/* ---- new names ---- */

/* Anchors and judges a name to be made. PASS in *ret: the kernel's own error is certain, let it come from the real call. */
static bool may_make(struct place *p, const struct frame *f, const struct row *r, int dir, int path, enum access access, long *ret)
{
	const char *raw = path_of(f, path);
	*ret = 1;
	if (!raw)
		return false;
	long error = place_open(p, dir_of(f, dir), raw);
	if (error < 0) {
		*ret = error;
		return false;
	}
	if (p->whole)
		return false;
	struct judgement j = judge(access, &p->name);
	if (j.denied)
		*ret = refuse_new(p, r->action, j, raw);
	return !j.denied;
}

static enum answer unmade(struct frame *f, const struct row *r, long result)
{
	return result == 1 ? PASS : finish(f, r, result);
}

HANDLER(on_mkdir)
{
	PLACE(p);
	long result;
	if (!may_make(&p, f, r, r->dir, r->path, ACCESS_CREATE, &result))
		return unmade(f, r, result);
	result = raw6(SYS_mkdirat, p.anchor, (long)p.base, f->arg[r->mode], 0, 0, 0);
	if (result == 0)
		note_repository(&p.name);
	return finish(f, r, result);
}

/* What mknod makes: file, FIFO, socket, devices. The kernel refuses other types before it looks at the path. */
static int refused_type(unsigned mode)
{
	switch (mode & 0170000) {
	case 0: case 0100000: case 0010000: case 0140000: case 0020000: case 0060000:
		return 0;
	default:
		return (mode & 0170000) == 0040000 ? EPERM : EINVAL;
	}
}

/* mknod and mkfifo; flags: position of the device (for the __x forms a pointer to it), fixed: S_IFIFO for mkfifo. */
HANDLER(on_mknod)
{
	PLACE(p);
	long result, device = r->flags == NO ? 0 : f->arg[r->flags];
	int refused = refused_type((unsigned)(f->arg[r->mode] | r->fixed));
	if (refused)
		return fail(f, r, refused);
	if (!may_make(&p, f, r, r->dir, r->path, ACCESS_CREATE, &result))
		return unmade(f, r, result);
	if (r->dir2 != NO) /* __xmknod: version first, device by reference */
		device = device ? *(const long *)device : 0;
	return finish(f, r, raw6(SYS_mknodat, p.anchor, (long)p.base, f->arg[r->mode] | r->fixed, device, 0, 0));
}

/* A link puts a whole directory under its name, as a move does. */
HANDLER(on_symlink)
{
	PLACE(p);
	long result;
	if (!path_of(f, r->path2)) /* a link to nothing: ENOENT before all else */
		return PASS;
	if (!may_make(&p, f, r, r->dir, r->path, ACCESS_MOVE, &result))
		return unmade(f, r, result);
	result = raw6(SYS_symlinkat, f->arg[r->path2], p.anchor, (long)p.base, 0, 0, 0);
	if (result == 0)
		note_repository(&p.name);
	return finish(f, r, result);
}

/* ---- removing ---- */

static enum answer remove_name(struct frame *f, const struct row *r, int flags, bool either)
{
	PLACE(p);
	const char *raw = path_of(f, r->path);
	if (!raw)
		return PASS;
	long result = place_open(&p, dir_of(f, r->dir), raw);
	if (result < 0)
		return finish(f, r, result);
	if (p.whole)
		return PASS;
	struct judgement j = judge(ACCESS_DELETE, &p.name);
	if (j.denied)
		return finish(f, r, refuse_old(&p, WIRE_UNLINK, j, raw, flags & AT_REMOVEDIR, either));
	result = raw6(SYS_unlinkat, p.anchor, (long)p.base, flags, 0, 0, 0);
	if (either && result == -EISDIR)
		result = raw6(SYS_unlinkat, p.anchor, (long)p.base, AT_REMOVEDIR, 0, 0, 0);
	return finish(f, r, result);
}

HANDLER(on_unlink)
{
	int flags = r->flags == NO ? r->fixed : (int)f->arg[r->flags];
	return flags & ~AT_REMOVEDIR ? fail(f, r, EINVAL) : remove_name(f, r, flags, false);
}

HANDLER(on_remove)
{
	return remove_name(f, r, 0, true);
}

/* ---- moving ---- */

enum { RENAME_NOREPLACE_FLAG = 1, RENAME_EXCHANGE_FLAG = 2, RENAME_WHITEOUT_FLAG = 4 };

static bool valid_rename(int flags)
{
	return flags == RENAME_EXCHANGE_FLAG || !(flags & ~(RENAME_NOREPLACE_FLAG | RENAME_WHITEOUT_FLAG));
}

/* Both ends change; a directory takes along what lies in it, and a symlink leads to as much; what is replaced is removed; and a
 * name that may not be read may not get another one. */
static struct judgement judge_rename(const struct place *from, const struct place *to, unsigned from_type, int flags, bool to_exists,
				     bool *ret_from_is_why)
{
	const bool whole = from_type == 0040000 || (flags & RENAME_EXCHANGE_FLAG), link = from_type == 0120000;
	struct judgement j = whole ? judge_move(&from->name, &to->name) : judge(ACCESS_MOVE, &from->name);
	*ret_from_is_why = j.denied && judge(ACCESS_MOVE, &from->name).denied;
	if (!j.denied && from_type != 0040000)
		j = judge(link ? ACCESS_MOVE : to_exists ? ACCESS_DELETE : ACCESS_CREATE, &to->name);
	if (!j.denied && to_exists)
		j = judge(ACCESS_CREATE, &to->name);
	if (!j.denied && (flags & RENAME_EXCHANGE_FLAG))
		j = judge_move(&to->name, &from->name);
	return j;
}

static long rename_at(const struct place *from, const struct place *to, int flags)
{
	if (!flags)
		return raw6(SYS_renameat, from->anchor, (long)from->base, to->anchor, (long)to->base, 0, 0);
	return raw6(SYS_renameat2, from->anchor, (long)from->base, to->anchor, (long)to->base, flags, 0);
}

HANDLER(on_rename)
{
	PLACE(from);
	PLACE(to);
	const char *raw = path_of(f, r->path), *raw2 = path_of(f, r->path2);
	int flags = r->flags == NO ? 0 : (int)f->arg[r->flags];
	unsigned type = 0, to_type = 0;
	bool from_is_why;
	if (!valid_rename(flags))
		return fail(f, r, EINVAL);
	if (!raw || !raw2)
		return PASS;
	long result = place_open(&from, dir_of(f, r->dir), raw);
	if (result == 0)
		result = place_open(&to, dir_of(f, r->dir2), raw2);
	if (result < 0)
		return finish(f, r, result);
	if (from.whole || to.whole)
		return PASS;
	result = entry_type(&from, &type);
	if (result < 0)
		return finish(f, r, result);
	bool to_exists = entry_type(&to, &to_type) == 0;
	if (to_exists && (flags & RENAME_NOREPLACE_FLAG))
		return finish(f, r, -EEXIST);
	struct judgement j = judge_rename(&from, &to, type, flags, to_exists, &from_is_why);
	if (j.crosses)
		return finish(f, r, -EXDEV); /* mv and its kind copy then, file by file */
	if (j.denied)
		return finish(f, r, from_is_why ? refuse(&from, WIRE_RENAME, j, raw) : refuse(&to, WIRE_RENAME, j, raw2));
	result = rename_at(&from, &to, flags);
	if (result == 0)
		note_repository(&to.name);
	return finish(f, r, result);
}

/*
 * A hard link gives a second name to the same file, and rights go by name: what is linked must be readable and
 * writable already. A file that has no name yet (O_TMPFILE) is judged by its new one alone.
 */
static struct judgement judge_linked(const struct text *name)
{
	struct judgement j = judge(ACCESS_WRITE, name);
	return j.denied ? j : judge(ACCESS_READ, name);
}

/* AT_EMPTY_PATH. Apart, since its text would double the frame. */
static __attribute__((noinline)) long link_descriptor(int fd, const struct place *to)
{
	TEXT(name);
	int known = descriptor_name(fd, &name);
	struct judgement j = known == 1 ? judge_linked(&name) : (struct judgement){ .denied = known < 0, .rule = IMAGE_NONE };
	if (j.denied)
		return refuse(to, WIRE_LINK, j, "");
	return raw6(SYS_linkat, fd, (long)"", to->anchor, (long)to->base, AT_EMPTY_PATH, 0);
}

static long link_object(struct frame *f, const struct row *r, const struct place *to, int flags)
{
	TARGET(old);
	const char *raw = (const char *)f->arg[r->path];
	char path[40];
	if (!*raw)
		return link_descriptor(dir_of(f, r->dir), to);
	int error = target_open(&old, dir_of(f, r->dir), raw, flags & AT_SYMLINK_FOLLOW);
	if (error < 0)
		return error;
	if (!old.exists)
		return -ENOENT;
	struct judgement j = judge_linked(&old.place.name);
	if (j.denied) {
		report(WIRE_LINK, j.rule, raw, &old.place.name);
		return -EACCES;
	}
	unsigned type;
	if (!(flags & AT_SYMLINK_FOLLOW) && entry_type(&old.place, &type) == 0 && type == 0120000) {
		j = judge(ACCESS_MOVE, &to->name); /* as a new symlink */
		if (j.denied)
			return refuse(to, WIRE_LINK, j, (const char *)f->arg[r->path2]);
	}
	if (!old.magic)
		return raw6(SYS_linkat, old.place.anchor, (long)old.place.base, to->anchor, (long)to->base, 0, 0);
	fd_path(path, old.object);
	return raw6(SYS_linkat, AT_FDCWD, (long)path, to->anchor, (long)to->base, AT_SYMLINK_FOLLOW, 0);
}

HANDLER(on_link)
{
	PLACE(to);
	long result;
	int flags = r->flags == NO ? 0 : (int)f->arg[r->flags];
	const char *raw = (const char *)f->arg[r->path];
	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return fail(f, r, EINVAL);
	if (!raw || (!*raw && !(flags & AT_EMPTY_PATH)))
		return PASS;
	/* the kernel looks at the old name first */
	int follow = flags & AT_SYMLINK_FOLLOW ? 0 : O_NOFOLLOW;
	result = *raw ? sys_openat(dir_of(f, r->dir), raw, O_PATH | O_CLOEXEC | follow, 0) : 0;
	if (fails_anyway((int)result))
		return finish(f, r, result);
	if (*raw && result >= 0)
		sys_close((int)result);
	if (!may_make(&to, f, r, r->dir2, r->path2, ACCESS_CREATE, &result))
		return unmade(f, r, result);
	return finish(f, r, link_object(f, r, &to, flags));
}
