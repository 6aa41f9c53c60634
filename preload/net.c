/* Addresses: with the network off only loopback; unix sockets by the path they lie at. */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/un.h>
#include <sys/socket.h>

#include "preload/shim.h"

struct unix_address { unsigned short family; char path[UNIX_PATH_MAX]; };

static bool loopback4(const unsigned char *a)
{
	return a[0] == 127;
}

static bool loopback6(const unsigned char *a)
{
	static const unsigned char one[16] = { [15] = 1 }, mapped[12] = { [10] = 0xff, [11] = 0xff };
	return memcmp(a, one, 16) == 0 || (memcmp(a, mapped, 12) == 0 && loopback4(a + 12));
}

/* 0, or an errno. The address was copied first: another thread may change the caller's. */
static int judge_unix(const struct unix_address *a, size_t len)
{
	TEXT(path);
	size_t n = len > sizeof a->family ? len - sizeof a->family : 0;
	if (!n || !a->path[0] || !(shim.image->flags & IMAGE_UNIX_RULES))
		return 0; /* unnamed, or abstract: docs/guarantees.md, net.unix */
	for (size_t i = 0; i < n && i < sizeof a->path && a->path[i]; i++)
		text_add(&path, &a->path[i], 1);
	TARGET(t);
	int error = target_open(&t, AT_FDCWD, path.s, true);
	if (error < 0 && !fails_anyway(error))
		return -error;
	if (error < 0 || !t.exists)
		return 0; /* the kernel will say so */
	struct judgement j = judge(ACCESS_CONNECT, &t.place.name);
	if (!j.denied)
		return 0;
	report(WIRE_CONNECT, j.rule, path.s, &t.place.name);
	return EACCES;
}

static void add_number(struct text *t, unsigned long n)
{
	char digits[24];
	text_add(t, digits, text_number(digits, n));
}

static void report_address(const unsigned char *a, int family, unsigned port)
{
	static const char hex[] = "0123456789abcdef";
	TEXT(name);
	if (family == AF_INET) {
		for (int i = 0; i < 4; i++) {
			if (i)
				text_add(&name, ".", 1);
			add_number(&name, a[i]);
		}
	} else {
		text_add(&name, "[", 1);
		for (int i = 0; i < 16; i++) {
			char two[3] = { hex[a[i] >> 4], hex[a[i] & 15], ':' };
			text_add(&name, two, i % 2 && i < 15 ? 3 : 2);
		}
		text_add(&name, "]", 1);
	}
	text_add(&name, ":", 1);
	add_number(&name, port);
	report(WIRE_CONNECT, IMAGE_NONE, name.s, &name);
}

/* sends: a datagram to an address of no family goes where one of AF_INET would; connect() to it only disconnects. */
static int judge_address(const void *address, size_t len, bool sends)
{
	union { struct sockaddr_in in; struct sockaddr_in6 in6; struct unix_address un; unsigned short family; } a = { 0 };
	if (!address || len < sizeof a.family || !shim.image || !readable(address, len < sizeof a ? len : sizeof a))
		return 0; /* EFAULT, if anything, and the kernel's to say */
	memcpy(&a, address, len < sizeof a ? len : sizeof a);
	if (a.family == AF_UNIX)
		return judge_unix(&a.un, len < sizeof a ? len : sizeof a);
	if (!(shim.image->flags & IMAGE_NET_LOOPBACK))
		return 0;
	if (sends && a.family == AF_UNSPEC && len >= sizeof a.in)
		a.family = AF_INET;
	const unsigned char *port = (const unsigned char *)&a.in.sin_port;
	if (a.family == AF_INET && len >= sizeof a.in && !loopback4((unsigned char *)&a.in.sin_addr)) {
		report_address((unsigned char *)&a.in.sin_addr, AF_INET, port[0] * 256u + port[1]);
		return EACCES;
	}
	if (a.family == AF_INET6 && len >= 24 && !loopback6((unsigned char *)&a.in6.sin6_addr)) {
		report_address((unsigned char *)&a.in6.sin6_addr, AF_INET6, port[0] * 256u + port[1]);
		return EACCES;
	}
	return 0;
}

HANDLER(on_connect)
{
	int error = judge_address((const void *)f->arg[1], (size_t)(uint32_t)f->arg[2], false);
	return error ? fail(f, r, error) : PASS;
}

HANDLER(on_sendto)
{
	/* through syscall() the sixth argument lies elsewhere: invoke() is not needed, only a look */
	int error = judge_address((const void *)f->arg[4], (size_t)(uint32_t)f->arg[5], true);
	return error ? fail(f, r, error) : PASS;
}

static int judge_message(const struct msghdr *m)
{
	return m && readable(m, sizeof *m) ? judge_address(m->msg_name, m->msg_namelen, true) : 0;
}

HANDLER(on_sendmsg)
{
	int error = judge_message((const struct msghdr *)f->arg[1]);
	return error ? fail(f, r, error) : PASS;
}

HANDLER(on_sendmmsg)
{
	const struct mmsghdr *m = (const struct mmsghdr *)f->arg[1];
	for (unsigned i = 0; i < (unsigned)f->arg[2] && i < 1024; i++) {
		if (!m || !readable(&m[i], sizeof m[i]))
			break;
		int error = judge_message(&m[i].msg_hdr);
		if (error)
			return fail(f, r, error);
	}
	return PASS;
}

enum { VSOCK_FAMILY = 40, SCTP_PROTOCOL = 132 };

/*
 * With the network off: families and types whose peers no later call names, or names in a form that is not looked at. SCTP connects
 * by a socket option. Packets and raw sockets need a capability, so EPERM is what their callers know.
 */
HANDLER(on_socket)
{
	unsigned family = (unsigned)f->arg[0], type = (unsigned)f->arg[1] & 0xf;
	bool internet = family == AF_INET || family == AF_INET6;
	if (!shim.image || !(shim.image->flags & IMAGE_NET_LOOPBACK))
		return PASS;
	if (family == AF_UNIX || family == AF_NETLINK || family == AF_ALG || (internet && type != SOCK_RAW && (int)f->arg[2] != SCTP_PROTOCOL))
		return PASS;
	TEXT(name);
	const char *what = family == VSOCK_FAMILY ? "vsock" : family == AF_PACKET ? "packet" : internet && type == SOCK_RAW ? "raw" : "socket";
	text_set(&name, what, strlen(what));
	report(WIRE_CONNECT, IMAGE_NONE, what, &name);
	return fail(f, r, internet && (int)f->arg[2] == SCTP_PROTOCOL ? EPROTONOSUPPORT : EPERM);
}

/* Entries that send to an address of the program's choice inside libc. */
HANDLER(on_net_only)
{
	TEXT(name);
	if (!shim.image || !(shim.image->flags & IMAGE_NET_LOOPBACK))
		return PASS;
	text_set(&name, r->name, strlen(r->name));
	report(WIRE_CONNECT, IMAGE_NONE, r->name, &name);
	return fail(f, r, EACCES);
}

/* A unix socket with a path makes a file. */
HANDLER(on_bind)
{
	struct unix_address a = { 0 };
	size_t len = (size_t)(uint32_t)f->arg[2];
	if (!f->arg[1] || len <= sizeof a.family || !readable((const void *)f->arg[1], len < sizeof a ? len : sizeof a))
		return PASS;
	memcpy(&a, (const void *)f->arg[1], len < sizeof a ? len : sizeof a);
	if (a.family != AF_UNIX || !a.path[0])
		return PASS;
	char path[sizeof a.path + 1];
	memcpy(path, a.path, sizeof a.path);
	path[len - sizeof a.family < sizeof a.path ? len - sizeof a.family : sizeof a.path] = '\0';
	int error = allow_create_in(path, WIRE_CREATE);
	return error ? fail(f, r, -error) : PASS;
}
