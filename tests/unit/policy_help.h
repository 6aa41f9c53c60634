/* A scratch directory and a policy over it, for the tests of platform/policy. */
#pragma once
#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "platform/base/sys.h"
#include "platform/policy/policy.h"

struct scratch {
	char root[PATH_MAX];        /* real path of a new directory, removed by scratch_end */
	char cwd[PATH_MAX + 8], home[PATH_MAX + 8]; /* root/cwd and root/home */
	struct policy *p;
	struct err err;
};

static inline void scratch_begin(struct scratch *s)
{
	char template[] = "/tmp/hurdle-test-XXXXXX";

	memset(s, 0, sizeof(*s));
	cr_assert(mkdtemp(template) && realpath(template, s->root), "no scratch directory");
	snprintf(s->cwd, sizeof(s->cwd), "%s/cwd", s->root);
	snprintf(s->home, sizeof(s->home), "%s/home", s->root);
	cr_assert(mkdir(s->cwd, 0755) == 0 && mkdir(s->home, 0755) == 0);
	s->p = policy_new(s->cwd, s->home);
}

static inline void scratch_end(struct scratch *s)
{
	policy_free(s->p);
	err_clear(&s->err);
	cr_assert(remove_tree(s->root) >= 0);
}

/* A policy of its own for one row of a table. */
static inline void scratch_again(struct scratch *s)
{
	policy_free(s->p);
	err_clear(&s->err);
	s->p = policy_new(s->cwd, s->home);
}

/* Text with "@" for the root of the scratch directory. Static buffers: four may be in use. */
static inline const char *in(const struct scratch *s, const char *text)
{
	static char buffers[4][2 * PATH_MAX];
	static unsigned next;
	char *out = buffers[next++ % 4];
	size_t n = 0;

	for (; *text && n < sizeof(buffers[0]) - PATH_MAX; text++) {
		if (*text == '@')
			n += (size_t)sprintf(out + n, "%s", s->root);
		else
			out[n++] = *text;
	}
	out[n] = '\0';
	return out;
}

static inline void make_dir(const struct scratch *s, const char *path)
{
	cr_assert(make_directories(in(s, path), 0755) >= 0, "mkdir %s", path);
}

static inline void make_file(const struct scratch *s, const char *path, const char *text)
{
	FILE *f = fopen(in(s, path), "w");

	cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0, "write %s", path);
}

static inline void make_link(const struct scratch *s, const char *target, const char *path)
{
	cr_assert(symlink(in(s, target), in(s, path)) == 0, "symlink %s", path);
}

static inline const struct rule *find_rule(const struct policy *p, enum rule_kind kind, const char *path)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].kind == kind && !strcmp(p->rules[i].path, path))
			return &p->rules[i];
	return NULL;
}

/* Some warning holds the text; with text NULL: there is any. */
static inline bool warned(const struct policy *p, const char *text)
{
	for (size_t i = 0; i < p->warnings.n; i++)
		if (!text || strstr(p->warnings.v[i], text))
			return true;
	return false;
}
