#include "supervisor/violations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/mechanism/mechanism.h"

static const struct { const char *name; enum access access; bool writes; } actions[WIRE_ACTION_COUNT] = {
	[WIRE_READ_DATA]      = { "file-read-data", ACCESS_READ, false },
	[WIRE_WRITE_DATA]     = { "file-write-data", ACCESS_WRITE, true },
	[WIRE_CREATE]         = { "file-write-create", ACCESS_CREATE, true },
	[WIRE_UNLINK]         = { "file-write-unlink", ACCESS_DELETE, true },
	[WIRE_RENAME]         = { "file-write-rename", ACCESS_DELETE, true },
	[WIRE_LINK]           = { "file-write-link", ACCESS_CREATE, true },
	[WIRE_MODE]           = { "file-write-mode", ACCESS_WRITE, true },
	[WIRE_OWNER]          = { "file-write-owner", ACCESS_WRITE, true },
	[WIRE_TIMES]          = { "file-write-times", ACCESS_WRITE, true },
	[WIRE_XATTR]          = { "file-write-xattr", ACCESS_WRITE, true },
	[WIRE_EXEC]           = { "process-exec", ACCESS_EXEC, false },
	[WIRE_CONNECT]        = { "network-outbound", ACCESS_CONNECT, false },
	[WIRE_UNCOVERED_EXEC] = { "process-exec", ACCESS_EXEC, false },
	[WIRE_NAMESPACE]      = { "system-namespace", ACCESS_WRITE, false },
	[WIRE_TRACE]          = { "process-trace", ACCESS_WRITE, false },
	[WIRE_LOAD]           = { "process-load", ACCESS_EXEC, false },
	[WIRE_OTHER]          = { "other", ACCESS_WRITE, false },
};

/* ---- reading ---- */

/* A field that is full lost its head, since the shim keeps the tail of what does not fit. */
static char *bounded(const char *field, size_t size, bool tail)
{
	size_t n = strnlen(field, size);

	return strf("%s%.*s", tail && n == size ? "..." : "", (int)n, field);
}

static char *rule_words(const struct policy *p, const struct wire_violation *w, enum access access, const char *target)
{
	if (w->action == WIRE_UNCOVERED_EXEC)
		return xstrdup("strict: a program that the rules cannot reach");
	if (w->action == WIRE_NAMESPACE)
		return xstrdup("paths must mean the same to every program of the run");
	if (w->action == WIRE_TRACE)
		return xstrdup("a process outside the run");
	if (w->action == WIRE_LOAD)
		return xstrdup("a second libc would not meet the rules");
	if (w->action == WIRE_CONNECT && target[0] != '/' && (w->rule == IMAGE_NONE || w->rule >= p->n_rules))
		return xstrdup(p->net == NET_OFF ? "the network is off" : "the network is reached through the proxy only (HTTP_PROXY)");
	return policy_rule_words(p, w->rule, access);
}

static void add_violation(struct violations *to, const struct policy *p, const struct wire_violation *w)
{
	struct violation *v = &to->list[to->n];

	if (w->action >= WIRE_ACTION_COUNT)
		return;
	v->action = actions[w->action].name;
	v->mechanism = "preload";
	v->target = bounded(w->path, sizeof(w->path), true);
	v->raw = bounded(w->raw, sizeof(w->raw), true);
	v->program = bounded(w->program, sizeof(w->program), false);
	v->rule = rule_words(p, w, actions[w->action].access, v->target);
	v->unruled = w->rule == IMAGE_NONE || w->rule >= p->n_rules;
	v->pid = w->pid;
	v->time_ms = w->time_ms;
	to->n++;
}

/* The number of a record stands in it, so one that is torn, or that a later one replaced, is told from the one looked for. */
static void read_violations(const struct wire_page *page, const struct policy *p, struct violations *ret)
{
	const uint32_t kept = page->violations < VIOLATIONS_KEPT ? page->violations : VIOLATIONS_KEPT;

	ret->total = page->violations;
	ret->list = xcalloc(VIOLATIONS_KEPT, sizeof(*ret->list));
	for (uint32_t i = page->violations - kept; i != page->violations; i++) {
		const struct wire_violation *w = &page->violation[i % WIRE_VIOLATIONS];

		if (w->seq == i + 1 && w->seq != 0)
			add_violation(ret, p, w);
	}
}

static void add_uncovered(struct violations *to, char *program, uint32_t reason, bool refused)
{
	const char *words = uncovered_reason_words(reason < UNCOVERED_REASON_COUNT ? (int)reason : -1);

	for (size_t i = 0; i < to->n_uncovered; i++) {
		const struct uncovered *u = &to->uncovered[i];

		if (!strcmp(u->program, program) && u->reason == words && u->refused == refused)
			goto known;
	}
	if (to->n_uncovered < UNCOVERED_KEPT) {
		to->uncovered[to->n_uncovered++] = (struct uncovered){ .program = program, .reason = words, .refused = refused };
		return;
	}
	to->lost++;
known:
	free(program);
}

static void read_uncovered(const struct wire_page *page, struct violations *ret)
{
	const uint32_t kept = page->uncovered < WIRE_UNCOVERED ? page->uncovered : WIRE_UNCOVERED;

	ret->uncovered = xcalloc(UNCOVERED_KEPT, sizeof(*ret->uncovered));
	ret->lost = (uint64_t)page->lost + (page->uncovered - kept);
	for (uint32_t i = page->uncovered - kept; i != page->uncovered; i++) {
		const struct wire_uncovered *u = &page->uncovered_program[i % WIRE_UNCOVERED];

		if (u->seq == i + 1 && u->seq != 0)
			add_uncovered(ret, bounded(u->program, sizeof(u->program), true), u->reason, u->refused != 0);
	}
	/* a program that took its ticket and never said hello: its loader ignored the shim, or it had none */
	for (size_t i = 0; i < WIRE_TICKETS; i++)
		if (page->ticket[i].state == TICKET_TAKEN)
			add_uncovered(ret, bounded(page->ticket[i].program, sizeof(page->ticket[i].program), true), UNCOVERED_NO_HELLO, false);
}

void violations_read(const struct wire_page *page, const struct policy *p, struct violations *ret)
{
	*ret = (struct violations){ 0 };
	if (!page)
		return;
	read_violations(page, p, ret);
	read_uncovered(page, ret);
}

static void violation_release(struct violation *v)
{
	free(v->target);
	free(v->rule);
	free(v->raw);
	free(v->program);
}

static bool is_ignored(const struct items *ignored, const char *command, const struct violation *v)
{
	_cleanup_free_ char *line = strf("deny %s %s (%s)", v->action, v->target, v->program);

	for (size_t i = 0; i < ignored->n; i++) {
		const struct item *item = &ignored->v[i];

		if ((!strcmp(item->value, "*") || strstr(command, item->value)) && strstr(line, item->text))
			return true;
	}
	return false;
}

void violations_ignore(struct violations *v, const struct policy *p, char *const argv[])
{
	_cleanup_(str_free) struct str command = STR_INIT;
	size_t kept = 0;

	if (!p->lists[LIST_IGNORED_VIOLATIONS].n)
		return;
	for (; *argv; argv++)
		str_addf(&command, "%s%s", command.len ? " " : "", *argv);
	for (size_t i = 0; i < v->n; i++) {
		if (is_ignored(&p->lists[LIST_IGNORED_VIOLATIONS], command.s ? command.s : "", &v->list[i]))
			violation_release(&v->list[i]);
		else
			v->list[kept++] = v->list[i];
	}
	v->total -= v->n - kept;
	v->n = kept;
}

void violations_release(struct violations *v)
{
	for (size_t i = 0; i < v->n; i++)
		violation_release(&v->list[i]);
	for (size_t i = 0; i < v->n_uncovered; i++)
		free(v->uncovered[i].program);
	free(v->list);
	free(v->uncovered);
	*v = (struct violations){ 0 };
}

/* ---- printing ---- */

/* As on one line, and without the brackets of the block itself: a file may be named "</sandbox_violations>". */
static void add_name(struct str *to, const char *name)
{
	_cleanup_free_ char *escaped = str_escape(name);

	for (const char *s = escaped; *s; s++) {
		if (*s == '<' || *s == '>')
			str_addf(to, "\\%03o", *s);
		else
			str_addn(to, s, 1);
	}
}

static bool same(const struct violation *a, const struct violation *b)
{
	return a->action == b->action && !strcmp(a->target, b->target) && !strcmp(a->rule, b->rule) && !strcmp(a->program, b->program) &&
	       a->mechanism == b->mechanism;
}

static void print_one(struct str *to, const struct violation *v, size_t times)
{
	str_addf(to, "hurdle: deny %s ", v->action);
	add_name(to, v->target);
	if (v->pid || *v->program) {
		str_add(to, " (");
		add_name(to, *v->program ? v->program : "?");
		str_addf(to, "[%d])", (int)v->pid);
	}
	str_add(to, " rule: ");
	add_name(to, v->rule);
	str_addf(to, " · %s", v->mechanism);
	if (times > 1)
		str_addf(to, " ×%zu", times);
	str_add(to, "\n");
}

static bool writes_in_tmp(const struct violation *v)
{
	for (size_t i = 0; i < WIRE_ACTION_COUNT; i++)
		if (actions[i].writes && actions[i].name == v->action)
			return path_under(v->target, "/tmp") || path_under(v->target, "/var/tmp");
	return false;
}

void violations_print(struct str *to, const struct violations *v, const char *tmpdir)
{
	bool tmp = false;

	if (!v->total)
		return;
	str_add(to, "<sandbox_violations>\n");
	for (size_t i = 0, next; i < v->n; i = next) {
		for (next = i + 1; next < v->n && same(&v->list[i], &v->list[next]);)
			next++;
		print_one(to, &v->list[i], next - i);
		tmp |= v->list[i].unruled && writes_in_tmp(&v->list[i]);
	}
	if (tmp && tmpdir)
		str_add(to, "hurdle: hint: /tmp is not writable: use $TMPDIR\n");
	if (v->total > v->n)
		str_addf(to, "hurdle: %llu violations in all, the newest %zu are shown\n", (unsigned long long)v->total, v->n);
	str_add(to, "</sandbox_violations>\n");
}

static bool no_hello(const struct uncovered *u)
{
	return u->reason == uncovered_reason_words(UNCOVERED_NO_HELLO);
}

void violations_print_uncovered(struct str *to, const struct violations *v)
{
	for (size_t i = 0; i < v->n_uncovered; i++) {
		str_addf(to, "hurdle: %s: ", v->uncovered[i].refused ? "refused, since the rules cannot reach it" : no_hello(&v->uncovered[i]) ? "may have run outside the file rules" : "ran outside the file rules");
		str_add_escaped(to, v->uncovered[i].program);
		str_addf(to, " (%s)\n", v->uncovered[i].reason);
	}
	if (v->lost)
		str_addf(to, "hurdle: of %llu more program starts it is not known whether the rules reached them\n", (unsigned long long)v->lost);
}
