/*
 * What a program that posix_spawn starts finds done: its working directory changed, files opened. libc does that in the
 * child without passing here, so the list is judged when the program is started, in its order: a relative name means what the
 * directory changes before it make of it. Both libcs keep their lists private, and neither has changed its own since 2000
 * (glibc, posix/spawn_int.h; the later actions were added at the end) and 2011 (musl, src/process/fdop.h).
 */
#include "preload/exec.h"

enum kind { OTHER, OPEN, CHDIR, FCHDIR };
struct action { enum kind kind; int fd, flags; const char *path; };

enum { GLIBC_CLOSE, GLIBC_DUP2, GLIBC_OPEN, GLIBC_CHDIR, GLIBC_FCHDIR };
struct glibc_action {
	int tag;
	union {
		struct { int fd; const char *path; int flags; unsigned mode; } open;
		struct { int fd, to; } dup2; /* and what else begins with a descriptor */
		const char *directory;
	} as;
};
struct glibc_actions { int allocated, used; const struct glibc_action *list; };

enum { MUSL_CLOSE = 1, MUSL_DUP2, MUSL_OPEN, MUSL_CHDIR, MUSL_FCHDIR };
struct musl_action { const struct musl_action *next, *prev; int tag, fd, from, flags; unsigned mode; char path[]; };
struct musl_actions { int pad[2]; const struct musl_action *last; };

static struct action from_glibc(const struct glibc_action *g)
{
	switch (g->tag) {
	case GLIBC_OPEN:   return (struct action){ OPEN, g->as.open.fd, g->as.open.flags, g->as.open.path };
	case GLIBC_CHDIR:  return (struct action){ CHDIR, -1, 0, g->as.directory };
	case GLIBC_FCHDIR: return (struct action){ FCHDIR, g->as.dup2.fd, 0, NULL };
	case GLIBC_DUP2:   return (struct action){ OTHER, g->as.dup2.to, 0, NULL };
	default:           return (struct action){ OTHER, g->as.dup2.fd, 0, NULL };
	}
}

static struct action from_musl(const struct musl_action *m)
{
	switch (m->tag) {
	case MUSL_OPEN:   return (struct action){ OPEN, m->fd, m->flags, m->path };
	case MUSL_CHDIR:  return (struct action){ CHDIR, -1, 0, m->path };
	case MUSL_FCHDIR: return (struct action){ FCHDIR, m->fd, 0, NULL };
	default:          return (struct action){ OTHER, m->fd, 0, NULL };
	}
}

/* Action number n, or false. */
static bool action_at(const void *actions, int n, struct action *ret)
{
	if (on_glibc()) {
		const struct glibc_actions *a = actions;
		if (n >= a->used)
			return false;
		*ret = from_glibc(&a->list[n]);
		return true;
	}
	const struct musl_action *m = ((const struct musl_actions *)actions)->last;
	while (m && m->next)
		m = m->next;
	while (m && n-- > 0)
		m = m->prev;
	if (m)
		*ret = from_musl(m);
	return m != NULL;
}

/* Does an action before number n give this descriptor another meaning than it has here? */
static bool redirected(const void *actions, int n, int fd)
{
	struct action a;
	for (int i = 0; i < n && action_at(actions, i, &a); i++)
		if (a.kind != CHDIR && a.kind != FCHDIR && a.fd == fd)
			return true;
	return false;
}

void spawn_start_release(struct spawn_start *s)
{
	if (s->owned)
		sys_close(s->directory);
	s->owned = false;
}

static void move_to(struct spawn_start *s, long directory, bool owned)
{
	spawn_start_release(s);
	s->directory = (int)directory;
	s->owned = owned;
}

static int judge_action(const void *actions, int n, const struct action *a, struct spawn_start *s)
{
	if (a->kind == FCHDIR) {
		s->unknown = redirected(actions, n, a->fd);
		move_to(s, a->fd, false);
	} else if (a->kind == CHDIR && (!s->unknown || a->path[0] == '/')) {
		long fd = sys_openat(s->directory, a->path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
		if (fd < 0)
			return (int)fd; /* as the child will find */
		s->unknown = false;
		move_to(s, fd, true);
	} else if (a->kind == OPEN && a->path && *a->path) {
		if (s->unknown && a->path[0] != '/')
			return -EACCES;
		return allow_open(s->directory, a->path, a->flags, WIRE_READ_DATA);
	}
	return 0;
}

int spawn_judge(const void *actions, struct spawn_start *s)
{
	struct action a;
	for (int n = 0; actions && action_at(actions, n, &a); n++) {
		int error = judge_action(actions, n, &a, s);
		if (error < 0)
			return error;
	}
	return 0;
}
