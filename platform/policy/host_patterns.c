/* Patterns for hosts: reading one, and asking it about a name. */
#include <errno.h>
#include <string.h>
#include "platform/policy/egress.h"

struct words { const char **why, **hint; };

static int odd(const struct words *w, const char *why, const char *hint)
{
	*w->why = why;
	*w->hint = hint;
	return -EINVAL;
}

/* "HOST:PORT" without the port. An IPv6 address has many colons, and one with a port has brackets. */
static int take_port(const char *s, size_t *len, uint16_t *ret)
{
	const char *colon = memrchr(s, ':', *len);

	if (!colon || (s[0] != '[' && memchr(s, ':', (size_t)(colon - s))) || (s[0] == '[' && colon[-1] != ']'))
		return 0;
	if (port_parse(colon + 1, (size_t)(s + *len - colon - 1), ret) < 0)
		return -EINVAL;
	*len = (size_t)(colon - s);
	return 0;
}

/* "10.0.0.0/8" */
static int parse_network(const char *s, size_t len, const char *slash, struct host_pattern *ret, const struct words *w)
{
	size_t n = (size_t)(slash - s);
	uint16_t prefix = 0;

	if (s[0] == '[' && n > 2 && s[n - 1] == ']') {
		s++;
		len--;
		n -= 2;
	}
	if (address_parse(s, n, &ret->address) < 0)
		return odd(w, "an entry has no path", "write the host alone, such as \"example.com\"");
	const char *digits = slash + 1, *end = s + len;
	if (strcmp(digits, "0") && port_parse(digits, (size_t)(end - digits), &prefix) < 0)
		return odd(w, "no valid number of bits behind the '/'", NULL);
	if (prefix > (ret->address.family == 4 ? 32 : 128))
		return odd(w, "more bits than the address has", NULL);
	ret->form = FORM_ADDRESS;
	ret->prefix = (uint8_t)prefix;
	return 0;
}

static int parse_part(const char *s, size_t len, bool alone, struct host_pattern *p, char *to, const struct words *w)
{
	struct hostname h;
	int r;

	*w->hint = NULL;
	r = hostname_parse_written(s, len, &h, w->why);
	if (r < 0)
		return r;
	if (h.address.family && !alone)
		return odd(w, "an address has no names below it", "a network is written with its bits, such as \"10.0.0.0/8\"");
	if (h.address.family) {
		p->form = FORM_ADDRESS;
		p->address = h.address;
		p->prefix = h.address.family == 4 ? 32 : 128;
	}
	memcpy(to, h.text, sizeof(h.text));
	return 0;
}

static int parse_star(const char *s, size_t len, const char *star, struct host_pattern *p, const struct words *w)
{
	const char *end = s + len;
	int r;

	if (memchr(star + 1, '*', (size_t)(end - star - 1)))
		return odd(w, "more than one '*'", NULL);
	if (end - star < 3 || star[1] != '.' || (star > s && star[-1] != '.'))
		return odd(w, "'*' stands for a whole label, at the beginning or in the middle", "such as \"*.example.com\"");
	p->form = star == s ? FORM_BELOW : FORM_ONE;
	r = star == s ? 0 : parse_part(s, (size_t)(star - s - 1), false, p, p->head, w);
	return r < 0 ? r : parse_part(star + 2, (size_t)(end - star - 2), false, p, p->base, w);
}

static int parse_name(const char *s, size_t len, struct host_pattern *p, const struct words *w)
{
	const char *star = memchr(s, '*', len);

	if (star)
		return parse_star(s, len, star, p, w);
	if (len && s[0] == '.') {
		p->form = FORM_TREE;
		return parse_part(s + 1, len - 1, false, p, p->base, w);
	}
	return parse_part(s, len, true, p, p->base, w);
}

int host_pattern_parse(const char *text, bool deny, struct host_pattern *ret, const char **ret_why, const char **ret_hint)
{
	const struct words w = { ret_why, ret_hint };
	struct host_pattern p = { .form = FORM_EXACT };
	const char *slash = strchr(text, '/');
	size_t len = strlen(text);
	int r;

	if (strstr(text, "://"))
		return odd(&w, "an entry has no scheme", "write the host alone, such as \"example.com\"");
	if (take_port(text, &len, &p.port) < 0)
		return odd(&w, "no valid port", "ports are 1 to 65535");
	if (len == 1 && text[0] == '*') {
		p.form = FORM_ALL;
		r = deny ? 0 : odd(&w, "'*' alone may only be denied", "--net=open does not restrict the network");
	} else if (slash) {
		r = parse_network(text, len, slash, &p, &w);
	} else {
		r = parse_name(text, len, &p, &w);
	}
	if (r == 0)
		*ret = p;
	return r;
}

/* ---- matching ---- */

/* name ends in ".base": the length of what stands before that; 0: it does not. */
static size_t before(const char *name, const char *base)
{
	const size_t n = strlen(name), b = strlen(base);

	return n > b + 1 && name[n - b - 1] == '.' && !memcmp(name + n - b, base, b) ? n - b - 1 : 0;
}

static bool matches_one(const struct host_pattern *p, const char *name)
{
	const size_t head = strlen(p->head), n = before(name, p->base);

	return n > head + 1 && !memcmp(name, p->head, head) && name[head] == '.' && !memchr(name + head + 1, '.', n - head - 1);
}

bool host_pattern_matches(const struct host_pattern *p, const struct hostname *h)
{
	if (p->form == FORM_ALL)
		return true;
	if (p->form == FORM_ADDRESS || h->address.family)
		return p->form == FORM_ADDRESS && address_in(&h->address, &p->address, p->prefix);
	switch (p->form) {
	case FORM_EXACT: return !strcmp(h->text, p->base);
	case FORM_BELOW: return before(h->text, p->base) > 0;
	case FORM_TREE:  return !strcmp(h->text, p->base) || before(h->text, p->base) > 0;
	default:            return matches_one(p, h->text);
	}
}
