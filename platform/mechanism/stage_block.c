#include "platform/mechanism/stage_block.h"

#include <linux/filter.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"

const char *stage_step_words(enum stage_step step)
{
	static const char *const words[STAGE_STEP_COUNT] = {
		[STAGE_STEP_CAPABILITIES] = "cannot drop capabilities", [STAGE_STEP_NO_NEW_PRIVS] = "cannot set no_new_privs",
		[STAGE_STEP_LANDLOCK] = "cannot enter the Landlock domain", [STAGE_STEP_FILTER] = "cannot load the seccomp filter",
		[STAGE_STEP_DIRECTORY] = "cannot enter the working directory", [STAGE_STEP_FORK] = "cannot start a process",
		[STAGE_STEP_EXEC] = "cannot run",
	};
	return step < STAGE_STEP_COUNT && words[step] ? words[step] : "cannot start";
}

/* A block that grows; offsets, since it moves. */
struct block { char *data; size_t size, cap; };

static uint32_t reserve(struct block *b, size_t size)
{
	size_t at = (b->size + 7) & ~(size_t)7;
	if (at + size > b->cap) {
		b->cap = (at + size) * 2;
		b->data = xreallocarray(b->data, b->cap, 1);
	}
	memset(b->data + b->size, 0, at + size - b->size);
	b->size = at + size;
	return (uint32_t)at;
}

static uint32_t add(struct block *b, const void *data, size_t size)
{
	uint32_t at = reserve(b, size);
	if (size)
		memcpy(b->data + at, data, size);
	return at;
}

static uint32_t add_text(struct block *b, const char *text)
{
	return text ? add(b, text, strlen(text) + 1) : 0;
}

static uint32_t add_texts(struct block *b, char *const *texts, size_t n)
{
	uint32_t at = reserve(b, (n + 1) * sizeof(uint64_t));
	for (size_t i = 0; i < n; i++) {
		uint64_t text = add_text(b, texts[i]);
		memcpy(b->data + at + i * sizeof text, &text, sizeof text);
	}
	return at;
}

static size_t count(char *const *list)
{
	size_t n = 0;
	while (list[n])
		n++;
	return n;
}

static uint32_t add_shell_argv(struct block *b, const struct launch *l)
{
	size_t n = count(l->argv);
	_cleanup_free_ char **argv = xcalloc(n + 2, sizeof *argv);
	argv[0] = (char[]){ "/bin/sh" };
	argv[1] = l->program;
	for (size_t i = 1; i < n; i++)
		argv[i + 1] = l->argv[i];
	return add_texts(b, argv, n + 1);
}

static int ascending(const void *a, const void *b)
{
	const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

static uint32_t add_kept(struct block *b, const struct launch *l, const struct stage_options *o, uint32_t *ret_n)
{
	const int own[] = { l->confine.landlock_fd, o->report_fd, o->events_fd, o->stderr_fd };
	_cleanup_free_ int32_t *keep = xcalloc(l->n_pass_fds + ARRAY_SIZE(own), sizeof *keep);
	uint32_t n = 0;
	for (size_t i = 0; i < l->n_pass_fds; i++)
		keep[n++] = l->pass_fds[i];
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (own[i] >= 0)
			keep[n++] = own[i];
	qsort(keep, n, sizeof *keep, ascending);
	*ret_n = n;
	return add(b, keep, n * sizeof *keep);
}

struct stage *stage_block(const struct launch *l, const struct stage_options *o)
{
	struct block b = { 0 };
	struct stage s = {
		.magic = STAGE_MAGIC, .drop_caps = l->confine.drop_caps, .signal_mask = o->signal_mask, .close_low = o->close_low,
		.landlock_fd = l->confine.landlock_fd, .events_fd = o->events_fd, .report_fd = o->report_fd, .stderr_fd = o->stderr_fd,
		.main_pid_at = offsetof(struct wire_page, main_pid),
		.one_by_one = !host_has(l->host, CAP_CLOSE_RANGE),
		.want_no_new_privs = l->host->caps[CAP_NO_NEW_PRIVS].available, .n_filter = (uint32_t)l->confine.n_filter,
	};
	reserve(&b, sizeof s);
	s.filter = add(&b, l->confine.filter, l->confine.n_filter * sizeof *l->confine.filter);
	s.keep = add_kept(&b, l, o, &s.n_keep);
	s.cwd = add_text(&b, o->cwd);
	s.program = add_text(&b, l->program);
	s.argv = add_texts(&b, l->argv, count(l->argv));
	s.envp = add_texts(&b, l->env.envp, count(l->env.envp));
	s.shell_argv = add_shell_argv(&b, l);
	s.size = (uint32_t)b.size;
	memcpy(b.data, &s, sizeof s);
	return (struct stage *)(void *)b.data;
}
