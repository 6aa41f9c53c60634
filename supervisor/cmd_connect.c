/*
 * hurdle connect HOST PORT: ssh's ProxyCommand inside a run. Asks the proxy of HTTPS_PROXY for a tunnel and then is one between it
 * and standard input and output. Why a host is refused is said on standard error, which ssh shows.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "supervisor/commands.h"
#include "supervisor/proxy/http_head.h"
#include "supervisor/proxy/parent.h"

enum { ANSWER_MAX = 16 * 1024, BLOCK = 64 * 1024 };

static int find_proxy(struct parent_proxy *ret, struct err *err)
{
	const char *url = getenv("HTTPS_PROXY");
	int r = url ? parent_parse(url, ret) : -ENOENT;

	if (r == 0 && (ret->socks || ret->host.address.family != 4))
		r = -EINVAL;
	if (r == 0)
		return 0;
	err_set(err, r, "no proxy to connect through: %s", url ? "HTTPS_PROXY names none on this machine" : "HTTPS_PROXY is not set");
	err_hint(err, "this command is for use inside of a run: ssh -o ProxyCommand='hurdle connect %%h %%p'");
	return r;
}

static int reach_proxy(const struct parent_proxy *p, struct err *err)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(p->port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(&a.sin_addr, p->host.address.bytes, 4);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	int r = err_set(err, -errno, "cannot reach the proxy: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return r;
}

/* Byte for byte up to the end of the head: what follows is the other side's. */
static int read_answer(int fd, struct str *to)
{
	char byte;

	while (to->len < ANSWER_MAX && read(fd, &byte, 1) == 1) {
		str_addn(to, &byte, 1);
		if (byte == '\n' && http_head_end(to->s, to->len))
			return 0;
	}
	return -EPROTO;
}

static int ask(int fd, const struct parent_proxy *p, const struct hostname *h, uint16_t port, struct err *err)
{
	_cleanup_(str_free) struct str s = STR_INIT, answer = STR_INIT;
	int r;

	str_add(&s, "CONNECT ");
	http_add_authority(&s, h, port, true);
	str_add(&s, " HTTP/1.1\r\nHost: ");
	http_add_authority(&s, h, port, true);
	str_addf(&s, "\r\n%s%s%s\r\n", p->credential ? "Proxy-Authorization: Basic " : "", p->credential ? p->credential : "", p->credential ? "\r\n" : "");
	r = write_all(fd, s.s, s.len);
	if (r == 0)
		r = read_answer(fd, &answer);
	if (r < 0)
		return err_set(err, r, "the proxy did not answer");
	if (answer.len > 12 && answer.s[9] == '2')
		return 0;
	return err_set(err, -EACCES, "%.*s", answer.len > 13 ? (int)strcspn(answer.s + 13, "\r\n") : 0, answer.len > 13 ? answer.s + 13 : "");
}

/* True: it goes on. */
static bool move(int from, int to, char *buffer)
{
	ssize_t n = read(from, buffer, BLOCK);

	return n > 0 && write_all(to, buffer, (size_t)n) == 0;
}

static void relay(int fd)
{
	static char buffer[BLOCK];
	struct pollfd p[2] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = fd, .events = POLLIN } };

	while (p[1].fd >= 0) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return;
		if (p[0].revents && !move(STDIN_FILENO, fd, buffer)) {
			p[0].fd = -1;
			shutdown(fd, SHUT_WR);
		}
		if (p[1].revents && !move(fd, STDOUT_FILENO, buffer))
			p[1].fd = -1;
	}
}

static int parse_host(char *const *operands, size_t n, struct hostname *ret, uint16_t *ret_port, struct err *err)
{
	const char *why = "a host and a port are wanted";

	if (n == 2 && port_parse(operands[1], strlen(operands[1]), ret_port) < 0)
		why = "no valid port";
	else if (n == 2 && hostname_parse_written(operands[0], strlen(operands[0]), ret, &why) == 0)
		return 0;
	err_set(err, -EINVAL, "cannot connect: %s", why);
	err_hint(err, "hurdle connect HOST PORT");
	return -EINVAL;
}

int cmd_connect(const struct options *o)
{
	_cleanup_(err_clear) struct err err = ERR_NONE;
	_cleanup_close_ int fd = -1;
	struct parent_proxy p = { .credential = NULL };
	struct hostname h;
	uint16_t port;
	int r = parse_host(o->operands, o->n_operands, &h, &port, &err);

	if (r == 0)
		r = find_proxy(&p, &err);
	if (r == 0)
		r = fd = reach_proxy(&p, &err);
	if (r >= 0)
		r = ask(fd, &p, &h, port, &err);
	free(p.credential);
	if (r < 0) {
		say_err(&err);
		return EXIT_REFUSED;
	}
	relay(fd);
	return 0;
}
