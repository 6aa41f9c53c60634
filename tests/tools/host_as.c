/*
 * host_as TABLE HOST COMMAND [ARG...]: runs the command on a machine that looks like the host of that name in the table
 * (tests/hosts/hosts.tsv, whose head explains the rows). All that the command starts lives there too. `host_as TABLE` lists the hosts.
 *
 * It is a filter of system calls that answers with an errno, which no later filter can undo. As root it is installed without
 * no_new_privs, so that set-id programs behave as they would there; fewer capabilities and texts in /proc come on top. What a filter cannot play: uname(2),
 * and a Landlock that is there and older.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_CALLS = 400, MAX_CONDITIONS = 2, MAX_TEXTS = 16, FAILED = 99 };

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list ap;

	fputs("host_as: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(FAILED);
}

/* ---- the table ---- */

struct condition { unsigned arg; char op; uint32_t value; };

struct call {
	char name[40];          /* "" for above=N */
	int number;             /* of a call that has the same one everywhere; -1: ask libseccomp */
	struct condition conditions[MAX_CONDITIONS];
	unsigned n_conditions;
	uint32_t action;
};

struct text { char *path, *content; /* NULL: hidden */ };

struct host {
	struct call calls[MAX_CALLS], listened[8];
	unsigned n_calls, n_listened;
	struct text texts[MAX_TEXTS];
	unsigned n_texts;
	uint64_t caps;          /* that root keeps */
};

static const struct { const char *name; int value; } errnos[] = {
	{ "EPERM", EPERM }, { "EINVAL", EINVAL }, { "ENOSYS", ENOSYS }, { "ENOSPC", ENOSPC }, { "EBUSY", EBUSY }, { "EIO", EIO },
	{ "EOPNOTSUPP", EOPNOTSUPP }, { "EACCES", EACCES }, { "0", 0 },
};

static const char *const capabilities[] = {
	"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE",
	"NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT",
	"SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP",
};

static uint32_t read_action(const char *word)
{
	if (strcmp(word, "TRAP") == 0)
		return SECCOMP_RET_TRAP;
	for (size_t i = 0; i < sizeof(errnos) / sizeof(*errnos); i++)
		if (strcmp(word, errnos[i].name) == 0)
			return SECCOMP_RET_ERRNO | (uint32_t)errnos[i].value;
	die("unknown answer '%s'", word);
}

/* "0&0x7e020000,1=3" */
static void read_conditions(struct call *c, char *text)
{
	char *save = NULL;

	for (char *s = strtok_r(text, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		struct condition *k = &c->conditions[c->n_conditions++];
		char *end;

		if (c->n_conditions > MAX_CONDITIONS || !isdigit((unsigned char)s[0]) || !strchr("=&!", s[1]))
			die("cannot read the condition '%s'", s);
		*k = (struct condition){ .arg = (unsigned)(s[0] - '0'), .op = s[1], .value = (uint32_t)strtoul(s + 2, &end, 0) };
		if (*end || k->arg > 5)
			die("cannot read the condition '%s'", s);
	}
}

/* "clone3:435", "clone[0&1]", "above=451" */
static void read_call(struct call *c, char *word, uint32_t action)
{
	char *conditions = strchr(word, '['), *number = strchr(word, ':');

	*c = (struct call){ .number = -1, .action = action };
	if (strncmp(word, "above=", 6) == 0) {
		c->number = atoi(word + 6);
		return;
	}
	if (conditions) {
		*conditions = '\0';
		conditions[strcspn(conditions + 1, "]") + 1] = '\0';
		read_conditions(c, conditions + 1);
	}
	if (number) {
		*number = '\0';
		c->number = atoi(number + 1);
	}
	snprintf(c->name, sizeof(c->name), "%s", word);
}

static unsigned read_calls(struct call *to, unsigned n, unsigned room, char *words, uint32_t action)
{
	char *save = NULL;

	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (n == room)
			die("too many calls");
		read_call(&to[n++], w, action);
	}
	return n;
}

static uint64_t read_capabilities(char *words)
{
	uint64_t set = 0;
	char *save = NULL;

	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		unsigned i = 0;

		while (i < sizeof(capabilities) / sizeof(*capabilities) && strcmp(w, capabilities[i]) != 0)
			i++;
		if (i == sizeof(capabilities) / sizeof(*capabilities))
			die("unknown capability '%s'", w);
		set |= 1ull << i;
	}
	return set;
}

static void read_host(struct host *h, char *const rows[], const char *name, int depth);

static void read_row(struct host *h, char *const rows[], char *field[], int depth)
{
	const char *kind = field[1];

	if (strcmp(kind, "like") == 0) {
		read_host(h, rows, field[2], depth + 1);
	} else if (strcmp(kind, "call") == 0 || (strcmp(kind, "call.user") == 0 && geteuid() != 0)) {
		h->n_calls = read_calls(h->calls, h->n_calls, MAX_CALLS, field[2], read_action(field[3]));
	} else if (strcmp(kind, "listen") == 0) {
		h->n_listened = read_calls(h->listened, h->n_listened, 8, field[2], SECCOMP_RET_USER_NOTIF);
	} else if (strcmp(kind, "caps") == 0) {
		h->caps &= read_capabilities(field[2]);
	} else if (strcmp(kind, "text") == 0 || strcmp(kind, "hide") == 0) {
		if (h->n_texts == MAX_TEXTS)
			die("too many texts");
		h->texts[h->n_texts++] = (struct text){ strdup(field[2]), *kind == 't' ? strdup(field[3]) : NULL };
	} else if (strcmp(kind, "call.user") != 0) {
		die("unknown kind '%s'", kind);
	}
}

static void read_host(struct host *h, char *const rows[], const char *name, int depth)
{
	size_t len = strlen(name);
	bool found = false;

	if (depth > 4)
		die("'%s' is like itself", name);
	for (char *const *row = rows; *row; row++) {
		char *copy, *at, *field[5];

		if (strncmp(*row, name, len) != 0 || (*row)[len] != '\t')
			continue;
		found = true;
		at = copy = strdup(*row);
		for (int i = 0; i < 5; i++)
			if (!(field[i] = strsep(&at, "\t")))
				die("a row of '%s' has %d columns", name, i);
		read_row(h, rows, field, depth);
		free(copy);
	}
	if (!found)
		die("no host '%s' in the table", name);
}

static char **read_table(const char *path)
{
	FILE *f = fopen(path, "re");
	char **rows = NULL, *line = NULL;
	size_t n = 0, cap = 0;

	if (!f)
		die("cannot read '%s': %s", path, strerror(errno));
	while (getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line || *line == '#')
			continue;
		rows = realloc(rows, (n + 2) * sizeof(*rows));
		rows[n++] = strdup(line);
	}
	if (!rows)
		die("'%s' has no rows", path);
	rows[n] = NULL;
	free(line);
	fclose(f);
	return rows;
}

static void list_hosts(char *const rows[])
{
	const char *last = "";

	for (; *rows; rows++) {
		size_t n = strcspn(*rows, "\t");

		if (strncmp(last, *rows, n + 1) != 0)
			printf("%.*s\n", (int)n, *rows);
		last = *rows;
	}
}

/* ---- the filter ---- */

struct program { struct sock_filter code[4000]; unsigned n; };

static void emit(struct program *p, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
	if (p->n == sizeof(p->code) / sizeof(*p->code))
		die("the filter is too long");
	p->code[p->n++] = (struct sock_filter){ code, jt, jf, k };
}

static void load(struct program *p, uint32_t offset)
{
	emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

/* -1: no such call on this architecture */
static int number_of(const struct call *c, uint32_t arch)
{
	int nr = seccomp_syscall_resolve_name_arch(arch, c->name);

	return nr >= 0 ? nr : c->number;
}

/* Each rule stands for itself: number and conditions, each of which may jump behind the rule's return. */
static void emit_rule(struct program *p, const struct call *c, uint32_t arch)
{
	unsigned skips[MAX_CONDITIONS + 1], n = 0;
	int nr = *c->name ? number_of(c, arch) : c->number;

	if (nr < 0)
		return;
	load(p, offsetof(struct seccomp_data, nr));
	skips[n++] = p->n;
	emit(p, BPF_JMP | (*c->name ? BPF_JEQ : BPF_JGT) | BPF_K, 0, 0, (uint32_t)nr);
	for (unsigned i = 0; i < c->n_conditions; i++) {
		const struct condition *k = &c->conditions[i];

		/* the low half, on the little-endian machines that this runs on */
		load(p, (uint32_t)(offsetof(struct seccomp_data, args) + 8 * k->arg));
		skips[n++] = p->n;
		emit(p, BPF_JMP | (k->op == '=' ? BPF_JEQ : BPF_JSET) | BPF_K, 0, 0, k->value);
		if (k->op == '!')
			p->code[p->n - 1].jt = 1;
	}
	emit(p, BPF_RET | BPF_K, 0, 0, c->action);
	for (unsigned i = 0; i < n; i++) {
		struct sock_filter *jump = &p->code[skips[i]];
		uint8_t distance = (uint8_t)(p->n - skips[i] - 1);

		if (jump->jt)
			jump->jt = distance;
		else
			jump->jf = distance;
	}
}

/* The native architecture and, where there is one, the 32-bit one beside it. */
static void emit_calls(struct program *p, const struct call *calls, unsigned n, uint32_t arch)
{
	unsigned over;

	load(p, offsetof(struct seccomp_data, arch));
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, arch);
	over = p->n;
	emit(p, BPF_JMP | BPF_JA, 0, 0, 0);
	for (unsigned i = 0; i < n; i++)
		emit_rule(p, &calls[i], arch);
	p->code[over].k = p->n - over - 1;
}

static int install(const struct call *calls, unsigned n, unsigned flags)
{
	static struct program p;
	struct sock_fprog prog;
	uint32_t native = seccomp_arch_native();
	int r;

	p.n = 0;
	emit_calls(&p, calls, n, native);
	if (native == SCMP_ARCH_X86_64)
		emit_calls(&p, calls, n, SCMP_ARCH_X86);
	emit(&p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	prog = (struct sock_fprog){ (unsigned short)p.n, p.code };
	r = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
	/* root may do without: only then are set-id programs what they would be */
	if (r < 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		r = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
	if (r < 0)
		die("cannot install a filter: %s", strerror(errno));
	return r;
}

/* ---- the listener ---- */

static void send_fd(int socket, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(socket, &m, 0) != 1)
		die("cannot hand the listener over: %s", strerror(errno));
}

static int receive_fd(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&m))
		_exit(FAILED);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* Lets every call through, until the last process that could make one is gone. */
static void __attribute__((noreturn)) answer(int listener)
{
	struct seccomp_notif_sizes sizes;
	struct seccomp_notif *request;
	struct seccomp_notif_resp *response;

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		_exit(FAILED);
	request = calloc(1, sizes.seccomp_notif + sizeof(*request));
	response = calloc(1, sizes.seccomp_notif_resp + sizeof(*response));
	for (;;) {
		struct pollfd p = { .fd = listener, .events = POLLIN };

		if (poll(&p, 1, -1) < 0)
			continue;
		if (!(p.revents & POLLIN))
			_exit(0);
		memset(request, 0, sizes.seccomp_notif);
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, request) < 0)
			continue;
		*response = (struct seccomp_notif_resp){ .id = request->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, response);
	}
}

/* A grandchild, so that the command is no parent of it; without descriptors, so that nobody waits for their end. */
static void start_listener(const struct host *h)
{
	int pair[2], fd;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 || (pid = fork()) < 0)
		die("cannot start the listener: %s", strerror(errno));
	if (pid == 0) {
		if (fork() != 0)
			_exit(0);
		setsid();
		if (dup2(pair[1], 0) < 0)
			_exit(FAILED);
		for (fd = 1; fd < 1024; fd++)
			close(fd);
		answer(receive_fd(0));
	}
	waitpid(pid, NULL, 0);
	fd = install(h->listened, h->n_listened, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	send_fd(pair[0], fd);
	close(fd);
	close(pair[0]);
	close(pair[1]);
}

/* ---- root's part ---- */

static void put_text(const struct text *t)
{
	char dir[] = "/tmp/host_as.XXXXXX", file[64];
	int fd;

	if (!t->content) {
		if (mount("/dev/null", t->path, NULL, MS_BIND, NULL) < 0 && errno != ENOENT)
			die("cannot hide '%s': %s", t->path, strerror(errno));
		return;
	}
	if (!mkdtemp(dir))
		die("cannot make a directory: %s", strerror(errno));
	snprintf(file, sizeof(file), "%s/text", dir);
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || dprintf(fd, "%s\n", t->content) < 0 || fchmod(fd, 0444) < 0 || mount(file, t->path, NULL, MS_BIND, NULL) < 0)
		die("cannot set '%s': %s", t->path, strerror(errno));
	close(fd);
	/* the mount holds the file */
	unlink(file);
	rmdir(dir);
}

static void put_texts(const struct host *h)
{
	if (!h->n_texts)
		return;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		die("cannot have mounts of its own: %s", strerror(errno));
	for (unsigned i = 0; i < h->n_texts; i++)
		put_text(&h->texts[i]);
}

static void keep_capabilities(uint64_t set)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	for (unsigned i = 0; i < 64; i++)
		if (!(set & 1ull << i) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0 && errno != EINVAL)
			die("cannot drop capability %u: %s", i, strerror(errno));
	if (syscall(SYS_capget, &header, data) < 0)
		die("capget: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		uint32_t keep = (uint32_t)(set >> 32 * i);

		data[i].effective &= keep;
		data[i].permitted &= keep;
		data[i].inheritable &= keep;
	}
	if (syscall(SYS_capset, &header, data) < 0)
		die("capset: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static struct host h = { .caps = ~0ull };
	char **rows;

	if (argc == 2) {
		list_hosts(read_table(argv[1]));
		return 0;
	}
	if (argc < 4)
		die("usage: host_as TABLE HOST COMMAND [ARG...]");
	rows = read_table(argv[1]);
	read_host(&h, rows, argv[2], 0);
	if (geteuid() == 0)
		put_texts(&h);
	if (h.n_listened)
		start_listener(&h);
	install(h.calls, h.n_calls, 0);
	if (geteuid() == 0 && h.caps != ~0ull)
		keep_capabilities(h.caps);
	execvp(argv[3], &argv[3]);
	die("cannot run '%s': %s", argv[3], strerror(errno));
}
