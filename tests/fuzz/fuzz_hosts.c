/* A host, and behind a newline an entry of a list: what is canonical stays so, holds no byte that a name has not, and is judged. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/policy/egress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_host(const struct hostname *h)
{
	struct hostname again;

	if (strlen(h->text) > HOST_MAX || h->text[strspn(h->text, "abcdefghijklmnopqrstuvwxyz0123456789.-_:")])
		abort();
	if (hostname_parse(h->text, strlen(h->text), &again, NULL) < 0 || strcmp(again.text, h->text) || again.address.family != h->address.family)
		abort();
	address_class(&h->address);
}

static void check_entry(const char *text, const struct hostname *h)
{
	struct policy *p = policy_new("/", NULL);
	struct egress *e = NULL;
	struct egress_verdict allowed, denied;

	policy_add_item(p, LIST_ALLOWED_DOMAINS, LAYER_FLAGS, text, NULL, "fuzz");
	if (egress_compile(p, &e, NULL) == 0) {
		egress_decide(e, h, 443, &allowed);
		egress_refuses_address(e, h, &h->address, 443, false);
		egress_free(e);
		policy_add_item(p, LIST_DENIED_DOMAINS, LAYER_FLAGS, text, NULL, "fuzz");
		if (egress_compile(p, &e, NULL) < 0)
			abort();
		egress_decide(e, h, 443, &denied);
		if (denied.outcome == EGRESS_ALLOW && strcmp(text, "default"))
			abort();
		egress_free(e);
	}
	policy_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data, *newline = size ? memchr(s, '\n', size) : NULL;
	struct hostname h;
	size_t host_len;
	uint16_t port;

	authority_split(s, size, &host_len, &port, NULL);
	if (hostname_parse(s, newline ? (size_t)(newline - s) : size, &h, NULL) < 0)
		return 0;
	check_host(&h);
	if (newline) {
		char *entry = strndup(newline + 1, size - (size_t)(newline + 1 - s));
		if (*entry)
			check_entry(entry, &h);
		free(entry);
	}
	return 0;
}
