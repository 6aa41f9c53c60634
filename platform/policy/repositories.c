/*
 * The repositories that are there at the start: their directories count as old where the file system has no birth times, and
 * where .git is a file (a worktree, a submodule) the git directory that it names is protected like .git itself.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "platform/policy/defaults_private.h"
#include "platform/policy/paths.h"

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void list(struct policy *p, const char *path)
{
	if (is_directory(path) && !strv_has(&p->listed, path))
		strv_add(&p->listed, path);
}

static void list_below(struct policy *p, const char *directory, const char *name)
{
	_cleanup_free_ char *path = strf("%s/%s", directory, name);

	list(p, path);
}

/* One line of a small file, after a prefix, as a real path; base is what a relative one is relative to. NULL: no such thing. */
static char *read_path(const char *file, const char *prefix, const char *base)
{
	_cleanup_free_ char *text = NULL, *absolute = NULL;
	const size_t skip = strlen(prefix);
	char *real = NULL;
	struct stat st;
	size_t len;

	/* The project chose the file: no waiting on a FIFO. A path and a word is all that it may hold. */
	if (stat(file, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	if (read_file(file, RULE_PATH_MAX + 64, &text, &len) < 0 || strlen(text) != len || strncmp(text, prefix, skip))
		return NULL;
	text[strcspn(text, "\r\n")] = '\0';
	if (!text[skip])
		return NULL;
	absolute = path_absolute(text + skip, base, NULL);
	if (!absolute || path_resolve(absolute, &real) < 0)
		return NULL;
	return real;
}

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/*
 * What git obeys in a git directory, by its real path. only_links: the protected names hold all but what is a link to
 * somewhere else (the repo tool makes such).
 */
static int protect_git_directory(struct policy *p, const char *git, bool only_links, struct err *err)
{
	static const struct { const char *name; bool is_config; } parts[] = { { "hooks", false }, { "config", true }, { "config.worktree", true } };

	list(p, git);
	list_below(p, git, "hooks");
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		_cleanup_free_ char *path = strf("%s/%s", git, parts[i].name);
		int r;

		if ((parts[i].is_config && p->allow_git_config) || (only_links && !is_link(path)))
			continue;
		r = default_rule(p, RULE_DENY_WRITE, path, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* gitrepository-layout(5): ".git" may be the file "gitdir: PATH"; that directory may name the shared one in "commondir". */
static int protect_linked(struct policy *p, const char *root, const char *dot_git, struct err *err)
{
	_cleanup_free_ char *git = read_path(dot_git, "gitdir: ", root), *commondir = NULL, *common = NULL;
	int r = default_rule(p, RULE_DENY_WRITE, dot_git, err); /* else it could name a planted directory */

	if (r < 0 || !git)
		return r;
	r = protect_git_directory(p, git, false, err);
	if (r < 0)
		return r;
	commondir = strf("%s/commondir", git);
	common = read_path(commondir, "", git);
	return common ? protect_git_directory(p, common, false, err) : 0;
}

static int add_repository(struct policy *p, const char *root, struct err *err)
{
	_cleanup_free_ char *dot_git = strf("%s/.git", strcmp(root, "/") ? root : ""), *real = NULL;
	struct stat st;

	if (lstat(dot_git, &st) < 0)
		return 0;
	if (S_ISREG(st.st_mode))
		return protect_linked(p, root, dot_git, err);
	if (S_ISDIR(st.st_mode))
		return protect_git_directory(p, dot_git, true, err);
	if (path_resolve(dot_git, &real) < 0)
		return 0;
	return protect_git_directory(p, real, false, err);
}

int default_add_repositories(struct policy *p, struct err *err)
{
	const size_t n = p->n_rules; /* what follows adds denies only */
	int r;

	list(p, p->cwd);
	if (p->home)
		list(p, p->home);
	for (size_t i = 0; i < n; i++) {
		if (p->rules[i].kind != RULE_ALLOW_WRITE || p->rules[i].pattern || path_under(p->rules[i].path, "/dev"))
			continue;
		_cleanup_free_ char *root = xstrdup(p->rules[i].path); /* the array may move */
		list(p, root);
		r = add_repository(p, root, err);
		if (r < 0)
			return r;
	}
	return 0;
}
