/* Programs that hurdle itself would start, outside of every fence. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/str.h"
#include "platform/host/probe.h"

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	return strcmp(dir, "/") != 0 && strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]);
}

static bool others_write(const struct stat *st)
{
	return (st->st_mode & S_IWOTH) || (st->st_uid != 0 && st->st_uid != geteuid());
}

/* PATH may lead into the project (npm puts node_modules/.bin there), and what a command wrote there would then hold its successor. */
static const char *distrust(const char *real, const struct stat *st)
{
	_cleanup_free_ char *cwd = getcwd(NULL, 0), *dir = xstrdup(real);
	struct stat dir_st;
	*strrchr(dir, '/') = '\0';
	if (!cwd || is_below(real, cwd))
		return "it is in the current directory";
	if (others_write(st) || stat(*dir ? dir : "/", &dir_st) < 0 || others_write(&dir_st))
		return "others can change it";
	return NULL;
}

/* The real file of a candidate, or NULL; *why says what is wrong with one that is there. */
static char *examine(const char *path, struct stat *st, const char **why)
{
	_cleanup_free_ char *real = realpath(path, NULL);
	if (!real || stat(real, st) < 0 || !S_ISREG(st->st_mode) || access(real, X_OK) < 0)
		return NULL;
	const char *bad = distrust(real, st);
	if (bad)
		*why = bad;
	return bad ? NULL : TAKE_PTR(real);
}

static char *find_program(const char *name, struct stat *st, const char **why)
{
	const char *path = getenv("PATH");
	_cleanup_free_ char *dirs = strf("%s:/usr/local/bin:/usr/bin:/bin", path ? path : "");
	char *save = NULL;
	for (char *dir = strtok_r(dirs, ":", &save); dir; dir = strtok_r(NULL, ":", &save)) {
		/* a relative one is the project's */
		_cleanup_free_ char *candidate = *dir == '/' ? strf("%s/%s", dir, name) : NULL;
		char *real = candidate ? examine(candidate, st, why) : NULL;
		if (real)
			return real;
	}
	return NULL;
}

void try_bwrap(struct host *h, struct answer *a)
{
	const char *why = NULL;
	struct stat st;
	free(h->bwrap);
	h->bwrap = find_program("bwrap", &st, &why);
	h->bwrap_setuid = h->bwrap && st.st_uid == 0 && (st.st_mode & S_ISUID);
	if (h->bwrap)
		answer_yes(a, "%s%s", h->bwrap, h->bwrap_setuid ? ", set-uid root" : "");
	else
		answer_no(a, ENOENT, "bwrap: %s", why ? why : "not found in PATH");
}
