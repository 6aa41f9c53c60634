#include "platform/mechanism/pattern_matches.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/base/cleanup.h"

enum { DEPTH_MAX = 4, ENTRIES_MAX = 4000 };

char *pattern_fixed_part(const char *pattern)
{
	size_t n = strcspn(pattern, "*?[\\");
	while (n > 1 && pattern[n - 1] != '/')
		n--;
	return n > 1 ? strf("%.*s", (int)n - 1, pattern) : xstrdup("/");
}

char *pattern_root(const struct rule *r)
{
	struct stat st;
	_cleanup_free_ char *dir = r->kind == RULE_ALLOW_WRITE && r->pattern ? pattern_fixed_part(r->path) : NULL;
	return dir && strcmp(dir, "/") != 0 && stat(dir, &st) == 0 && S_ISDIR(st.st_mode) ? TAKE_PTR(dir) : NULL;
}

struct search { const struct rule *rule; int left; void (*each)(void *data, const char *path); void *data; };

static void look_through(struct search *s, const char *dir, int depth)
{
	_cleanup_closedir_ DIR *d = opendir(dir);
	for (struct dirent *e; d && s->left > 0 && (e = readdir(d));) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		_cleanup_free_ char *path = strf("%s/%s", dir, e->d_name);
		s->left--;
		if (glob_match(s->rule->path, strlen(s->rule->path), path, strlen(path), s->rule->icase))
			s->each(s->data, path);
		else if (depth > 0 && e->d_type == DT_DIR)
			look_through(s, path, depth - 1);
	}
}

static bool meets_denied(const struct policy *p, const char *dir)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		if (r->kind == RULE_DENY_READ && !r->pattern && (path_under(r->path, dir) || path_under(dir, r->path)))
			return true;
	}
	return false;
}

void pattern_hidden_matches(const struct policy *p, const struct rule *r, void (*each)(void *data, const char *path), void *data)
{
	_cleanup_free_ char *dir = pattern_fixed_part(r->path);
	struct search s = { r, ENTRIES_MAX, each, data };
	if (strcmp(dir, "/") != 0 && meets_denied(p, dir))
		look_through(&s, dir, DEPTH_MAX);
}
