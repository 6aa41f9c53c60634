/* Paths of rules: text forms, and symlinks resolved as the kernel does, also where the tail does not exist yet. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include "platform/base/cleanup.h"
#include "platform/policy/paths.h"
#include "platform/policy/policy.h"

enum { LINKS_MAX = 40 }; /* as the kernel: MAXSYMLINKS, include/linux/namei.h */

bool path_is_pattern(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

bool path_under(const char *path, const char *root)
{
	size_t n = strlen(root);

	if (n && root[n - 1] == '/')
		n--;
	return !strncmp(path, root, n) && (path[n] == '/' || path[n] == '\0');
}

static bool ends_with(const char *s, size_t n, const char *tail)
{
	size_t t = strlen(tail);

	return n > t && !memcmp(s + n - t, tail, t);
}

char *path_strip(const char *text, bool literal)
{
	char *s = xstrdup(text);
	size_t n = strlen(s);

	for (;;) {
		if (n > 1 && s[n - 1] == '/')
			n--;
		else if (ends_with(s, n, "/.") || (n == 2 && !memcmp(s, "/.", 2)))
			n--;
		else if (!literal && (ends_with(s, n, "/**") || (n == 3 && !memcmp(s, "/**", 3))))
			n -= 2;
		else
			break;
		s[n] = '\0';
	}
	return s;
}

/* Drops the last component of b; the root stays empty. */
static void pop(struct str *b)
{
	char *slash = b->len ? strrchr(b->s, '/') : NULL;

	b->len = slash ? (size_t)(slash - b->s) : 0;
	if (b->s)
		b->s[b->len] = '\0';
}

/* One step of the textual walk. */
static void add_component(struct str *b, const char *name, size_t n)
{
	if (n == 0 || (n == 1 && name[0] == '.'))
		return;
	if (n == 2 && name[0] == '.' && name[1] == '.') {
		pop(b);
		return;
	}
	str_add(b, "/");
	str_addn(b, name, n);
}

static void add_components(struct str *b, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "/");

		add_component(b, text, n);
		text += n + (text[n] == '/');
	}
}

char *path_absolute(const char *text, const char *base, const char *home)
{
	struct str b = STR_INIT;

	if (text[0] == '~' && (text[1] == '/' || text[1] == '\0')) {
		if (!home)
			return NULL;
		add_components(&b, home);
		text++;
	} else if (text[0] != '/') {
		add_components(&b, base);
	}
	add_components(&b, text);
	if (!b.len)
		str_add(&b, "/");
	return str_take(&b);
}

/* The walk of path_resolve: what is done, what is still to do, and what is known about it. */
struct walk {
	struct str done;  /* no link in it; "" is the root */
	char *rest;       /* owned; begins with a component or slashes */
	size_t real;      /* bytes of done that exist as a directory */
	int links;
	bool missing;     /* nothing from here on exists, or may be looked at */
};

/* Puts a link's text in front of what is left. */
static int follow(struct walk *w, const char *target, const char *rest)
{
	char *joined;

	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if (strlen(target) + strlen(rest) > 2 * RULE_PATH_MAX)
		return -ENAMETOOLONG;
	joined = strf("%s/%s", target, rest);
	free(w->rest);
	w->rest = joined;
	if (target[0] == '/') {
		w->done.len = 0;
		if (w->done.s)
			w->done.s[0] = '\0';
	} else {
		pop(&w->done);
	}
	w->real = w->done.len;
	return 0;
}

/* Looks at the object that was just appended to done. Returns 1 when it was a link and the walk goes on in w->rest. */
static int look(struct walk *w, const char *rest)
{
	char target[PATH_MAX + 1];
	ssize_t n = readlink(w->done.s, target, sizeof(target) - 1);
	int r;

	if (n > 0) {
		target[n] = '\0';
		r = follow(w, target, rest);
		return r < 0 ? r : 1;
	}
	if (n == 0 || errno == EINVAL) { /* EINVAL: it is there, and no link (readlink(2)) */
		if (*rest)
			w->real = w->done.len;
		return 0;
	}
	if (errno == ENAMETOOLONG || errno == ELOOP)
		return -errno;
	/* A component that is no directory makes done's parent unusable as a known directory. */
	if (errno == ENOTDIR)
		w->real = 0;
	w->missing = true;
	return 0;
}

static int step(struct walk *w, const char **at)
{
	size_t n = strcspn(*at, "/");
	const char *name = *at;
	bool dots = n <= 2 && !strncmp(name, "..", n);

	*at += n;
	*at += strspn(*at, "/");
	add_component(&w->done, name, n);
	if (w->done.len > RULE_PATH_MAX)
		return -ENAMETOOLONG;
	if (dots) {
		if (w->real > w->done.len)
			w->real = w->done.len;
		return 0;
	}
	return w->missing ? 0 : look(w, *at);
}

static int walk(struct walk *w)
{
	const char *at = w->rest;
	int r;

	while (*at) {
		r = step(w, &at);
		if (r < 0)
			return r;
		if (r > 0)
			at = w->rest;
	}
	return 0;
}

int path_resolve_below(const char *absolute, size_t known, char **ret, bool *ret_exists, size_t *ret_real)
{
	struct walk w = { .rest = xstrdup(absolute + known), .real = known };
	int r;

	str_addn(&w.done, absolute, known);
	r = walk(&w);
	free(w.rest);
	if (r < 0) {
		str_free(&w.done);
		return r;
	}
	if (!w.done.len)
		str_add(&w.done, "/");
	*ret_exists = !w.missing;
	*ret_real = w.real;
	*ret = str_take(&w.done);
	return 0;
}

int path_resolve(const char *absolute, char **ret)
{
	bool exists;
	size_t real;

	return path_resolve_below(absolute, 0, ret, &exists, &real);
}

void path_add_glob_escaped(struct str *b, const char *path)
{
	for (; *path; path++) {
		if (strchr("*?[]\\", *path))
			str_addn(b, "\\", 1);
		str_addn(b, path, 1);
	}
}

/* "\040" and its kind, as the kernel writes blanks in mount points (proc_pid_mounts, fs/seq_file.c mangle_path). */
static void unescape_octal(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static bool mount_ignores_case(const char *type, const char *options)
{
	if (strcmp(type, "drvfs") && (strcmp(type, "9p") || !strstr(options, "aname=drvfs")))
		return false;
	return !strstr(options, "case=dir") && !strstr(options, "case=force");
}

void path_icase_mounts(const char *mounts, struct strv *ret)
{
	_cleanup_free_ char *text = xstrdup(mounts);
	char *line, *lines = text;

	while ((line = strsep(&lines, "\n"))) {
		const char *device = strsep(&line, " ");
		char *point = strsep(&line, " ");
		const char *type = strsep(&line, " ");
		const char *options = strsep(&line, " ");

		if (!device || !point || !type || !options || !mount_ignores_case(type, options))
			continue;
		unescape_octal(point);
		strv_add(ret, point);
	}
}
