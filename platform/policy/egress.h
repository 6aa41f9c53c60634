/*
 * Which hosts may be connected to: the rules of settings.md's domain lists, compiled once, and the decision. Pure: the proxy asks it
 * twice for each connection, once about the host and once about each address that the host turned out to have.
 */
#pragma once
#include "platform/base/err.h"
#include "platform/policy/hosts.h"
#include "platform/policy/policy.h"

enum pattern_form {
	FORM_EXACT,   /* example.com */
	FORM_BELOW,   /* *.example.com: any depth, not the apex */
	FORM_TREE,    /* .example.com: both */
	FORM_ONE,     /* a.*.example.com: exactly one label for the star */
	FORM_ALL,     /* *: deny only */
	FORM_ADDRESS, /* an address, or a network in CIDR form */
};

struct host_pattern {
	enum pattern_form form;
	char head[HOST_MAX + 1]; /* of FORM_ONE: what stands before the star */
	char base[HOST_MAX + 1]; /* what stands behind it, or the whole name */
	struct address address;
	uint8_t prefix;          /* bits of the address that count */
	uint16_t port;           /* 0: any */
};

/* Reads one entry of a list; deny: "*" is one. -EINVAL with constant words, and a hint or NULL. */
int host_pattern_parse(const char *text, bool deny, struct host_pattern *ret, const char **ret_why, const char **ret_hint);
/* Ignores the port. */
bool host_pattern_matches(const struct host_pattern *p, const struct hostname *h);

enum egress_outcome { EGRESS_DENY, EGRESS_ALLOW };

struct egress_verdict {
	enum egress_outcome outcome;
	bool unlisted;        /* denied because no rule names it, so that somebody could be asked */
	const char *text;     /* the rule, as it was written; NULL: none. As long as the egress lives */
	const char *origin;   /* where it was written */
	const char *reason;   /* why, in words; never NULL for a denial */
	enum layer layer;
};

struct egress;

/* From the lists of p: an allowedDomains that nobody gave is the built-in table, and so is an entry "default". What is odd, but
 * holds, becomes a warning of p. -EINVAL, words beginning with the entry's origin. */
int egress_compile(struct policy *p, struct egress **ret, struct err *err);
void egress_free(struct egress *e);

/* May a client be connected to this host? deniedDomains first, then allowedDomains, then no. */
void egress_decide(const struct egress *e, const struct hostname *h, uint16_t port, struct egress_verdict *ret);

/*
 * May this address be dialled, for a host that egress_decide() allowed? own: it is one of this machine's. An address that a name
 * leads to is refused by class, unless the address itself is allowed; metadata services always are; denied addresses too.
 * NULL: yes. Else why not; words as long as the egress lives.
 */
const char *egress_refuses_address(const struct egress *e, const struct hostname *h, const struct address *a, uint16_t port, bool own);
