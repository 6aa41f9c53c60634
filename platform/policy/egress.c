/* The domain lists, compiled: rules in order of the name that they end in, so that a decision asks once for each suffix of the host. */
#include "platform/policy/egress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"

enum { PORTS_MAX = 3 };

struct egress_rule {
	struct host_pattern pattern;
	uint16_t ports[PORTS_MAX]; /* until a 0; none: any */
	char *text, *origin, *reason; /* owned; reason: NULL for most */
	enum layer layer;
	size_t number;
};

struct rules { struct egress_rule *v; size_t n, cap, n_named; }; /* n_named: sorted by base; behind them addresses and "*" */

struct egress {
	struct rules deny, allow, addresses; /* addresses: deniedResolvedAddresses */
};

/* ---- reading ---- */

static void add(struct rules *rules, const struct egress_rule *rule, const char *text, const char *origin, const char *reason)
{
	if (rules->n == rules->cap) {
		rules->cap = rules->cap ? rules->cap * 2 : 64;
		rules->v = xreallocarray(rules->v, rules->cap, sizeof(*rules->v));
	}
	struct egress_rule *r = &rules->v[rules->n];
	*r = *rule;
	r->text = xstrdup(text);
	r->origin = xstrdup(origin);
	r->reason = reason ? xstrdup(reason) : NULL;
	r->number = rules->n++;
}

static void warn_about_sharing(struct policy *p, const struct item *item, const struct host_pattern *pattern)
{
	static const struct { const char *name, *why; } shared[] = {
#define SUFFIX(name, why) { name, why },
#include "platform/policy/shared_suffixes.def"
#undef SUFFIX
	};

	if (pattern->form != FORM_BELOW && pattern->form != FORM_TREE)
		return;
	if (!strchr(pattern->base, '.') && strcmp(pattern->base, "localhost"))
		policy_warn(p, "%s: '%s' allows every host below '%s'", item->origin, item->text, pattern->base);
	for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
		if (!strcmp(pattern->base, shared[i].name))
			policy_warn(p, "%s: '%s' allows hosts of anybody: %s", item->origin, item->text, shared[i].why);
}

static int read_item(const struct item *item, bool deny, struct egress_rule *ret, struct err *err)
{
	const char *why = NULL, *hint = NULL;
	int r;

	*ret = (struct egress_rule){ .layer = item->layer };
	r = host_pattern_parse(item->text, deny, &ret->pattern, &why, &hint);
	if (r < 0) {
		err_set(err, r, "%s: '%s' is no host: %s", item->origin, item->text, why);
		if (hint)
			err_hint(err, "%s", hint);
		return r;
	}
	ret->ports[0] = ret->pattern.port;
	return 0;
}

static const char *reason_for(const struct policy *p, const char *text)
{
	const struct items *reasons = &p->lists[LIST_DOMAIN_REASONS];

	for (size_t i = 0; i < reasons->n; i++)
		if (!strcasecmp(reasons->v[i].text, text))
			return reasons->v[i].value;
	return NULL;
}

/* ---- the built-in tables ---- */

#define WEB { 80, 443 }
#define SSH { 80, 443, 22 }
static const struct builtin { enum pattern_form form; const char *head, *name, *top; uint16_t ports[PORTS_MAX]; const char *why; } builtin_allow[] = {
#define EGRESS_ALLOW(form, head, name, top, ports, why) { FORM_##form, head, name, top, ports, why },
#include "platform/policy/egress.def"
}, builtin_deny[] = {
#define EGRESS_DENY(form, head, name, top, why) { FORM_##form, head, name, top, { 0 }, why },
#include "platform/policy/egress.def"
};
#undef WEB
#undef SSH

static void add_builtin(struct rules *rules, const struct builtin *b, const char *reason)
{
	_cleanup_free_ char *text = strf("%s%s%s.%s", b->form == FORM_TREE ? "." : b->form == FORM_BELOW ? "*." : b->head,
					 b->form == FORM_ONE ? ".*." : "", b->name, b->top);
	struct egress_rule rule = { .layer = LAYER_DEFAULT };
	const char *why, *hint;

	memcpy(rule.ports, b->ports, sizeof(rule.ports));
	if (host_pattern_parse(text, false, &rule.pattern, &why, &hint) == 0)
		add(rules, &rule, text, "default", reason);
}

static void add_builtin_allow(struct egress *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtin_allow); i++)
		add_builtin(&e->allow, &builtin_allow[i], NULL);
}

/* ---- the lists ---- */

static int add_denied(struct policy *p, struct egress *e, struct err *err)
{
	const struct items *denied = &p->lists[LIST_DENIED_DOMAINS];

	for (size_t i = 0; i < ARRAY_SIZE(builtin_deny); i++)
		add_builtin(&e->deny, &builtin_deny[i], builtin_deny[i].why);
	for (size_t i = 0; i < denied->n; i++) {
		struct egress_rule rule;
		int r = read_item(&denied->v[i], true, &rule, err);

		if (r < 0)
			return r;
		add(&e->deny, &rule, denied->v[i].text, denied->v[i].origin, reason_for(p, denied->v[i].text));
	}
	return 0;
}

static int add_allowed(struct policy *p, struct egress *e, struct err *err)
{
	const struct items *allowed = &p->lists[LIST_ALLOWED_DOMAINS];

	if (!allowed->given)
		add_builtin_allow(e);
	for (size_t i = 0; i < allowed->n; i++) {
		const struct item *item = &allowed->v[i];
		struct egress_rule rule;
		int r;

		if (!strcmp(item->text, "default")) {
			add_builtin_allow(e);
			continue;
		}
		r = read_item(item, false, &rule, err);
		if (r < 0)
			return r;
		warn_about_sharing(p, item, &rule.pattern);
		add(&e->allow, &rule, item->text, item->origin, NULL);
	}
	return 0;
}

static int add_addresses(struct policy *p, struct egress *e, struct err *err)
{
	const struct items *denied = &p->lists[LIST_DENIED_ADDRESSES];

	for (size_t i = 0; i < denied->n; i++) {
		struct egress_rule rule;
		int r = read_item(&denied->v[i], true, &rule, err);

		if (r < 0)
			return r;
		if (rule.pattern.form != FORM_ADDRESS)
			return err_set(err, -EINVAL, "%s: '%s' is no address", denied->v[i].origin, denied->v[i].text);
		add(&e->addresses, &rule, denied->v[i].text, denied->v[i].origin, NULL);
	}
	return 0;
}

static bool is_named(const struct egress_rule *r)
{
	return r->pattern.form != FORM_ALL && r->pattern.form != FORM_ADDRESS;
}

static int compare_rules(const void *a, const void *b)
{
	const struct egress_rule *x = a, *y = b;
	int order = is_named(y) - is_named(x);

	if (!order && is_named(x))
		order = strcmp(x->pattern.base, y->pattern.base);
	return order ? order : x->number < y->number ? -1 : 1;
}

static void sort(struct rules *rules)
{
	if (rules->n)
		qsort(rules->v, rules->n, sizeof(*rules->v), compare_rules);
	while (rules->n_named < rules->n && is_named(&rules->v[rules->n_named]))
		rules->n_named++;
}

int egress_compile(struct policy *p, struct egress **ret, struct err *err)
{
	struct egress *e = xcalloc(1, sizeof(*e));
	int r = add_denied(p, e, err);

	if (r == 0)
		r = add_allowed(p, e, err);
	if (r == 0)
		r = add_addresses(p, e, err);
	if (r < 0) {
		egress_free(e);
		return r;
	}
	sort(&e->deny);
	sort(&e->allow);
	*ret = e;
	return 0;
}

static void release(struct rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		free(rules->v[i].text);
		free(rules->v[i].origin);
		free(rules->v[i].reason);
	}
	free(rules->v);
}

void egress_free(struct egress *e)
{
	if (!e)
		return;
	release(&e->deny);
	release(&e->allow);
	release(&e->addresses);
	free(e);
}

/* ---- deciding ---- */

static bool has_port(const struct egress_rule *r, uint16_t port)
{
	if (!r->ports[0])
		return true;
	for (size_t i = 0; i < PORTS_MAX && r->ports[i]; i++)
		if (r->ports[i] == port)
			return true;
	return false;
}

static size_t first_with_base(const struct rules *rules, const char *base)
{
	size_t low = 0, high = rules->n_named;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (strcmp(rules->v[middle].pattern.base, base) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Among those that end in this suffix of the host. other: one that would match but for its port. */
static const struct egress_rule *find_by_suffix(const struct rules *rules, const char *suffix, const struct hostname *h, uint16_t port, bool *other)
{
	for (size_t i = first_with_base(rules, suffix); i < rules->n_named && !strcmp(rules->v[i].pattern.base, suffix); i++) {
		if (!host_pattern_matches(&rules->v[i].pattern, h))
			continue;
		if (has_port(&rules->v[i], port))
			return &rules->v[i];
		*other = true;
	}
	return NULL;
}

static const struct egress_rule *find(const struct rules *rules, const struct hostname *h, uint16_t port, bool *other)
{
	const struct egress_rule *found = NULL;

	for (const char *s = h->address.family ? NULL : h->text; s && !found; s = strchr(s, '.') ? strchr(s, '.') + 1 : NULL)
		found = find_by_suffix(rules, s, h, port, other);
	for (size_t i = rules->n_named; i < rules->n && !found; i++) {
		if (!host_pattern_matches(&rules->v[i].pattern, h))
			continue;
		*other |= !has_port(&rules->v[i], port);
		found = has_port(&rules->v[i], port) ? &rules->v[i] : NULL;
	}
	return found;
}

static void set_rule(struct egress_verdict *v, const struct egress_rule *r)
{
	v->text = r->text;
	v->origin = r->origin;
	v->layer = r->layer;
}

void egress_decide(const struct egress *e, const struct hostname *h, uint16_t port, struct egress_verdict *ret)
{
	bool other = false;
	const struct egress_rule *r = find(&e->deny, h, port, &other);

	*ret = (struct egress_verdict){ .outcome = EGRESS_DENY };
	if (r) {
		set_rule(ret, r);
		ret->reason = r->reason ? r->reason : "the host is denied";
		return;
	}
	if (h->address.family && address_class(&h->address) == ADDRESS_METADATA) {
		ret->reason = address_class_words(ADDRESS_METADATA);
		return;
	}
	other = false;
	r = find(&e->allow, h, port, &other);
	if (r) {
		set_rule(ret, r);
		ret->outcome = EGRESS_ALLOW;
		return;
	}
	ret->unlisted = true;
	ret->reason = other ? "the host is allowed on other ports only" : "the host is not allowed";
}

const char *egress_refuses_address(const struct egress *e, const struct hostname *h, const struct address *a, uint16_t port, bool own)
{
	const enum address_class class = address_class(a);
	struct hostname literal = { .address = *a };
	bool other = false;

	if (class == ADDRESS_METADATA)
		return address_class_words(class);
	for (size_t i = 0; i < e->addresses.n; i++)
		if (address_in(a, &e->addresses.v[i].pattern.address, e->addresses.v[i].pattern.prefix) && has_port(&e->addresses.v[i], port))
			return "a denied address";
	/* for the name itself the caller has asked; "*" matches addresses too, but a name that is allowed was not denied by it */
	for (size_t i = e->deny.n_named; i < e->deny.n; i++)
		if (host_pattern_matches(&e->deny.v[i].pattern, &literal) && has_port(&e->deny.v[i], port))
			return "a denied address";
	if (find(&e->allow, &literal, port, &other) || (class == ADDRESS_LOOPBACK && hostname_is_localhost(h)))
		return NULL;
	if (class != ADDRESS_PUBLIC)
		return address_class_words(class);
	return own ? "an address of this machine" : NULL;
}
