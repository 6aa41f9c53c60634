/* The profile around the file rules: processes, services, terminals, network. */
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/mechanism/seatbelt.h"

static void add_head(struct str *s, const struct seatbelt_options *o)
{
	str_add(s, "; made by hurdle; sandbox-exec -f THIS-FILE COMMAND\n(version 1)\n(deny default");
	if (o->tag) {
		str_add(s, " (with message ");
		seatbelt_add_string(s, o->tag, strlen(o->tag));
		str_add(s, ")");
	}
	str_add(s, ")\n; not part of the default everywhere\n(deny process-info*)\n(if (defined? 'nvram*) (deny nvram*))\n");
}

static void add_processes(struct str *s)
{
	str_add(s, "\n; processes: of this run only\n"
		   "(allow process-fork)\n"
		   "(allow process-info* (target same-sandbox))\n"
		   "(allow signal (target same-sandbox))\n"
		   "(allow mach-priv-task-port (target same-sandbox))\n"
		   "(allow ipc-posix-sem* ipc-posix-shm*)\n");
}

/* ---- services ---- */

enum when { ALWAYS, NETWORK };

static void add_services(struct str *s, bool network)
{
	static const struct { const char *name; enum when when; } rows[] = {
#define MACH(service, when_, reason) { service, when_ },
#include "platform/mechanism/seatbelt.def"
	};
	str_add(s, "\n; services\n(allow mach-lookup");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].when == ALWAYS || network)
			str_addf(s, "\n  (global-name \"%s\")", rows[i].name);
	str_add(s, ")\n");
}

static void add_sysctls(struct str *s)
{
	static const char *const rows[] = {
#define NAME   "sysctl-name"
#define PREFIX "sysctl-name-prefix"
#define SYSCTL(filter, name, reason) "(" filter " \"" name "\")",
#include "platform/mechanism/seatbelt.def"
#undef NAME
#undef PREFIX
	};
	str_add(s, "(allow sysctl-read");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		str_addf(s, "\n  %s", rows[i]);
	str_add(s, ")\n(allow sysctl-write (sysctl-name \"kern.tcsm_enable\"))\n");
}

/*
 * The command's own pseudo-terminals carry an extension; others are not written to. TIOCSTI, which types into a terminal, has a name only
 * since macOS 13, and a name that is not known stops the profile.
 */
static void add_terminals(struct str *s)
{
	static const char *const rows[] = {
#define LITERAL "literal"
#define REGEX   "regex"
#define DEVICE(filter, path, reason) "(" filter " \"" path "\")",
#include "platform/mechanism/seatbelt.def"
#undef LITERAL
#undef REGEX
	};
	str_add(s, "\n; terminals and devices\n(allow pseudo-tty)\n(allow file-ioctl");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		str_addf(s, "\n  %s", rows[i]);
	str_add(s, ")\n(if (defined? 'TIOCSTI) (deny file-ioctl (ioctl-command TIOCSTI)))\n");
}

/* After the file rules: devices that no policy for Linux names. */
static void add_devices(struct str *s)
{
	str_add(s, "\n; devices of macOS\n"
		   "(allow file-write-data (literal \"/dev/dtracehelper\"))\n"
		   "(allow file-write-data (require-all (regex \"^/dev/ttys[0-9]+$\") (extension \"com.apple.sandbox.pty\")))\n");
}

/* ---- network ---- */

static void add_port(struct str *s, uint16_t port)
{
	if (port)
		str_addf(s, "\n  (remote ip \"localhost:%u\")", port);
	else
		str_add(s, "\n  (remote ip (string-append \"localhost:\" (param \"PROXY_PORT\")))");
}

/* The proxies that run already, and ours for what they leave. */
static void add_proxy(struct str *s, const struct policy *p, const struct seatbelt_options *o)
{
	str_add(s, "; only the proxy; hosts can only be called * or localhost here\n(allow network-outbound");
	if (p->http_proxy_port)
		add_port(s, p->http_proxy_port);
	if (p->socks_proxy_port)
		add_port(s, p->socks_proxy_port);
	if (!p->http_proxy_port || !p->socks_proxy_port)
		add_port(s, o->proxy_port);
	str_add(s, ")\n");
}

static void add_network(struct str *s, const struct policy *p, const struct seatbelt_options *o)
{
	str_add(s, "\n; network\n(allow system-socket\n  (socket-domain AF_UNIX)\n"
		   "  (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))\n");
	switch (p->net) {
	case NET_OPEN:
		str_add(s, "(allow network-outbound (remote ip \"*:*\"))\n(allow network-bind network-inbound (local ip \"*:*\"))\n");
		break;
	case NET_OFF:
		str_add(s, "(allow network-outbound (remote ip \"localhost:*\"))\n"
			   "(allow network-bind network-inbound (local ip \"localhost:*\"))\n");
		break;
	case NET_FILTER:
		add_proxy(s, p, o);
		break;
	}
}

/* Behind the rules for unix sockets: libc asks this one for the addresses of hosts. */
static void add_resolver(struct str *s, const struct policy *p)
{
	if (p->net == NET_OPEN)
		str_add(s, "\n; names of hosts\n(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n");
}

char *seatbelt_profile(const struct policy *p, const struct seatbelt_options *o)
{
	struct str s = STR_INIT;
	if (p->scrub_only) {
		str_add(&s, "; made by hurdle: the environment alone is asked for\n(version 1)\n(allow default)\n");
		return str_take(&s);
	}
	add_head(&s, o);
	add_processes(&s);
	add_services(&s, p->net == NET_OPEN);
	add_sysctls(&s);
	add_terminals(&s);
	add_network(&s, p, o);
	seatbelt_add_file_rules(&s, p, o);
	add_devices(&s);
	add_resolver(&s, p);
	return str_take(&s);
}
