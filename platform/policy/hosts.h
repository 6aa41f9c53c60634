/*
 * Hosts: one canonical form for every spelling, and the classes of addresses. Pure: nothing is looked up, nothing is connected.
 * Every later step (deciding, dialling, logging, the Host field) takes the canonical form, so that no two of them can disagree
 * about what a text means.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOST_MAX = 253, LABEL_MAX = 63, ADDRESS_TEXT = 46 };

struct address {
	uint8_t family;    /* 4, 6, or 0: none */
	uint8_t bytes[16]; /* in network order; a mapped IPv4 address is family 4 */
};

struct hostname {
	char text[HOST_MAX + 1]; /* lower case, no dot at the end; an address as address_text() has it */
	struct address address;  /* family 0: it is a name */
};

/*
 * What a client sent as a host: any case, one dot at the end, an IPv6 address with or without brackets, an IPv4 address in
 * each form that inet_aton(3) takes (127.1, 0x7f000001, 017700000001). -EINVAL for everything else: bytes outside [A-Za-z0-9._-]
 * (so NUL, CR, "%", "@", zone ids, whatever is not ASCII), empty and overlong labels, a last label that is a number without
 * the whole being an address (WHATWG URL, "ends in a number"). *ret_why: constant words, or NULL.
 */
int hostname_parse(const char *s, size_t len, struct hostname *ret, const char **ret_why);
/* "localhost" and names below it: RFC 6761 wants them answered without asking anybody. */
bool hostname_is_localhost(const struct hostname *h);

/* "HOST:PORT" or "[V6]:PORT" into its parts; the host is not looked at. The port: digits only, 1 to 65535, no zero in front. -EINVAL */
int authority_split(const char *s, size_t len, size_t *ret_host_len, uint16_t *ret_port, const char **ret_why);
int port_parse(const char *s, size_t len, uint16_t *ret);

/* A name as people write it in settings: as above, and labels in other scripts become A-labels (RFC 3492). Only code points that no
 * mapping of IDNA changes are taken, so that the result is beyond doubt; "xn--" labels can be written for the rest. -EINVAL */
int hostname_parse_written(const char *s, size_t len, struct hostname *ret, const char **ret_why);

int address_parse(const char *s, size_t len, struct address *ret); /* numbers only, brackets not; -EINVAL */
/* Dotted quad, or RFC 5952 without brackets. */
void address_text(const struct address *a, char ret[static ADDRESS_TEXT]);
struct address address_from_bytes(int family, const void *bytes); /* 4 or 6; folds mapped IPv4 */
bool address_equal(const struct address *a, const struct address *b);
bool address_in(const struct address *a, const struct address *net, unsigned prefix);

enum address_class {
	ADDRESS_PUBLIC, /* and private ones: only a rule refuses those */
	ADDRESS_UNSPECIFIED, ADDRESS_LOOPBACK, ADDRESS_LINK_LOCAL, ADDRESS_MULTICAST, ADDRESS_METADATA,
};
/* Also of the IPv4 address that an IPv6 one carries, in every form that a host may unpack; of several classes the last one. */
enum address_class address_class(const struct address *a);
const char *address_class_words(enum address_class);
