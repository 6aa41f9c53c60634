/*
 * The proxy alone, for tests: with a resolver, limits and rules of the test's choice, which the real program takes from nobody.
 * usage: serve [allow=ENTRY|deny=ENTRY|refuse=ENTRY|token=TEXT|resolv=FILE|hosts=FILE|parent=URL|noproxy=LIST|NAME=SECONDS]...
 * Prints its port; ends when standard input does, and then prints one line for each host and each denial of the record.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "supervisor/proxy/proxy.h"

static struct proxy_options options;
static struct policy *policy;

static const struct { const char *name; enum list list; } lists[] = {
	{ "allow", LIST_ALLOWED_DOMAINS }, { "deny", LIST_DENIED_DOMAINS }, { "refuse", LIST_DENIED_ADDRESSES },
};
static const struct { const char *name; const char **to; } texts[] = {
	{ "resolv", &options.resolv_conf }, { "hosts", &options.hosts_file }, { "parent", &options.parent_http }, { "noproxy", &options.parent_no_proxy },
};
static const struct { const char *name; unsigned *to; } numbers[] = {
	{ "first", &options.first_byte_seconds }, { "head", &options.head_seconds }, { "dial", &options.dial_seconds },
	{ "idle", &options.idle_seconds }, { "linger", &options.linger_seconds }, { "clients", &options.clients_max },
};

static void set(const char *name, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (!strcmp(name, lists[i].name))
			policy_add_item(policy, lists[i].list, LAYER_FLAGS, value, NULL, "test");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!strcmp(name, texts[i].name))
			*texts[i].to = value;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(name, numbers[i].name))
			*numbers[i].to = (unsigned)atoi(value);
	if (!strcmp(name, "token"))
		strlcpy(options.token, value, sizeof(options.token));
}

static int listen_on_loopback(unsigned *ret_port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, 1024) < 0 || getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return -1;
	*ret_port = ntohs(a.sin_port);
	return fd;
}

static void print_record(const struct record *r)
{
	for (unsigned i = 0; i < r->n_hosts; i++) {
		const struct record_host *h = &r->host[i];
		printf("host %s:%u %s times %u sent %llu received %llu\n", h->host, h->port, h->allowed ? "allow" : "deny", h->times,
		       (unsigned long long)h->sent, (unsigned long long)h->received);
	}
	for (uint64_t i = r->denials > RECORD_DENIALS ? r->denials - RECORD_DENIALS : 0; i < r->denials; i++) {
		const struct record_denial *d = &r->denial[i % RECORD_DENIALS];
		printf("denial %s:%u %s rule %s\n", d->host, d->port, d->reason, d->rule);
	}
	printf("denials %llu\n", (unsigned long long)r->denials);
}

int main(int argc, char **argv)
{
	struct proxy proxy = PROXY_NONE;
	struct err err = ERR_NONE;
	struct egress *egress;
	unsigned port;
	char byte;

	policy = policy_new("/", NULL);
	for (int i = 1; i < argc; i++) {
		char *equals = strchr(argv[i], '=');
		if (!equals)
			return 2;
		*equals = '\0';
		set(argv[i], equals + 1);
	}
	options.parent_https = options.parent_http;
	if (egress_compile(policy, &egress, &err) < 0) {
		say_err(&err);
		return 2;
	}
	options.egress = egress;
	options.listen_fd = listen_on_loopback(&port);
	if (options.listen_fd < 0 || proxy_start(&proxy, &options) < 0)
		return 1;
	close(options.listen_fd);
	printf("%u %d\n", port, (int)proxy.pid);
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	proxy_stop(&proxy);
	print_record(proxy.record);
	return 0;
}
