/* The judge: from rules and a question to yes or no. See sbpl.h. */
#include "tests/unit/sbpl_private.h"

#include <stdlib.h>
#include <string.h>

static const char *subject_of(const struct sbpl_query *q, enum subject s)
{
	switch (s) {
	case PATH:      return q->path;
	case NAME:      return q->name;
	case TYPE:      return q->type ? q->type : q->path ? "REGULAR-FILE" : NULL;
	case TARGET:    return q->target;
	case EXTENSION: return q->extension;
	case COMMAND:   return q->command;
	case DOMAIN:    return q->domain;
	default:        return NULL;
	}
}

static bool matches(const struct filter *f, const struct sbpl_query *q);

static bool address_matches(const struct filter *f, const struct sbpl_query *q)
{
	const char *host = f->known->subject == REMOTE ? q->remote : q->local;

	if (!strcmp(f->word, "unix-socket"))
		return q->unix_socket && (!f->n || matches(f->kids[0], q));
	if (!host)
		return false;
	if (!f->text)
		return true;
	const char *colon = strrchr(f->text, ':');
	if (*f->text != '*' && strcmp(host, "localhost") != 0)
		return false;
	return colon[1] == '*' || (unsigned)atoi(colon + 1) == q->port;
}

static bool combines(const struct filter *f, const struct sbpl_query *q)
{
	const bool any = !strcmp(f->known->word, "require-any"), not = !strcmp(f->known->word, "require-not");

	for (size_t i = 0; i < f->n; i++)
		if (matches(f->kids[i], q) != (!any && !not))
			return any;
	return !any;
}

static bool below(const char *dir, const char *path)
{
	size_t n = strlen(dir);

	if (!dir[1])
		return true;
	return !strncmp(dir, path, n) && (!path[n] || path[n] == '/');
}

static bool matches(const struct filter *f, const struct sbpl_query *q)
{
	const char *s = subject_of(q, f->known->subject);

	switch (f->known->compare) {
	case COMBINE: return combines(f, q);
	case ADDRESS: return address_matches(f, q);
	case NUMBER:  return q->domain && q->protocol == f->number;
	default:      break;
	}
	if (!s)
		return false;
	switch (f->known->compare) {
	case SUBPATH: return below(f->text, s);
	case PREFIX:  return !strncmp(f->text, s, strlen(f->text));
	case REGEX:   return !regexec(&f->regex, s, 0, NULL, 0);
	default:      return !strcmp(f->text, s);
	}
}

static bool rule_matches(const struct rule *r, const struct sbpl_query *q)
{
	for (size_t i = 0; i < r->n_filters; i++)
		if (matches(r->filters[i], q))
			return true;
	return !r->n_filters;
}

/* How closely a rule names the operation; 0: not at all, 1: as the default. */
static size_t closeness(const struct rule *r, const char *operation)
{
	size_t best = 0;

	for (size_t i = 0; i < r->n_operations; i++) {
		const char *o = r->operations[i];
		size_t n = !strcmp(o, "default") ? 1 : 2 * strlen(o) + !strcmp(o, operation);
		if (sbpl_covers(o, operation) && n > best)
			best = n;
	}
	return best;
}

static const struct rule *deciding(const struct sbpl *p, const struct sbpl_query *q, enum sbpl_order order)
{
	const struct rule *found = NULL;
	size_t found_at = 0;

	for (size_t i = 0; i < p->n_rules; i++) {
		size_t n = closeness(&p->rules[i], q->operation);
		if (order == SBPL_LAST_MATCH && n > 2)
			n = 2;
		if (n && n >= found_at && rule_matches(&p->rules[i], q)) {
			found = &p->rules[i];
			found_at = n;
		}
	}
	return found;
}

bool sbpl_allows(const struct sbpl *p, const struct sbpl_query *q, enum sbpl_order order)
{
	const struct rule *r = deciding(p, q, order);

	return r && r->allow;
}

const char *sbpl_message(const struct sbpl *p, const struct sbpl_query *q, enum sbpl_order order)
{
	const struct rule *r = deciding(p, q, order);

	return r && !r->allow ? r->message : NULL;
}

static void each_regex(const struct filter *f, void (*report)(const char *regex))
{
	if (f->known->compare == REGEX)
		report(f->text);
	for (size_t i = 0; i < f->n; i++)
		each_regex(f->kids[i], report);
}

void sbpl_each_regex(const struct sbpl *p, void (*f)(const char *regex))
{
	for (size_t i = 0; i < p->n_rules; i++)
		for (size_t k = 0; k < p->rules[i].n_filters; k++)
			each_regex(p->rules[i].filters[k], f);
}
