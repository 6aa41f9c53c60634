/*
 * The shim in every dynamic program of the run. Here it is laid out beside the policy, and proven: a shell is started
 * under it and told to write where it may not.
 */
#include "platform/mechanism/mechanism.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "platform/mechanism/stage.h"
#include "preload/coverage.h"

extern const char shim_blob[], shim_blob_end[], shim32_blob[], shim32_blob_end[];

/* The blob is of this program's own word size; the other one is for the 32-bit programs that a 64-bit kernel starts too. */
static const struct shim_file { enum shim_class class; const char *from, *to; } shim_files[] = {
	{ SHIM_CLASS, shim_blob, shim_blob_end },
	{ CLASS_32, shim32_blob, shim32_blob_end },
};

static size_t shim_size(const struct shim_file *f)
{
	return (uintptr_t)f->to - (uintptr_t)f->from;
}

/* Bit per enum shim_class. */
static unsigned shims_here(void)
{
	unsigned ret = 0;
	for (size_t i = 0; i < ARRAY_SIZE(shim_files); i++)
		if (shim_size(&shim_files[i]))
			ret |= 1u << shim_files[i].class;
	return ret;
}

static int class_and_coverage(const char *path, enum shim_class *ret_class)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	*ret_class = SHIM_CLASS;
	return fd >= 0 ? coverage(fd, shims_here(), ret_class) : errno == EACCES ? UNCOVERED_UNREADABLE : UNCOVERED_NONE;
}

int preload_coverage(const char *path)
{
	enum shim_class unused;
	return class_and_coverage(path, &unused);
}

const char *uncovered_reason_words(int reason)
{
	static const char *const words[UNCOVERED_REASON_COUNT] = {
		[UNCOVERED_NONE] = "covered",
		[UNCOVERED_STATIC] = "statically linked",
		[UNCOVERED_OTHER_CLASS] = "built for another architecture or word size",
		[UNCOVERED_GO] = "a Go program, which makes its own system calls",
		[UNCOVERED_SET_ID] = "set-id, so the loader ignores LD_PRELOAD",
		[UNCOVERED_CAPABILITY] = "has file capabilities, so the loader ignores LD_PRELOAD",
		[UNCOVERED_PE] = "a Windows program",
		[UNCOVERED_UNREADABLE] = "not readable, so what it is cannot be told",
		[UNCOVERED_UNKNOWN_FORMAT] = "of an unknown format",
		[UNCOVERED_NO_HELLO] = "it ended before the shim could report from it, or was never under the shim",
	};
	return reason >= 0 && reason < UNCOVERED_REASON_COUNT && words[reason] ? words[reason] : "unknown";
}

/* ---- the files ---- */

static int write_events(struct launch *l, mode_t mode)
{
	int fd = l->session.events_fd = openat(l->session.dirfd, WIRE_EVENTS, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0 || fchmod(fd, mode) < 0 || ftruncate(fd, sizeof(struct wire_page)) < 0)
		return -errno;
	struct wire_page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	page->magic = WIRE_MAGIC;
	page->size = sizeof *page;
	l->session.page = page;
	return 0;
}

static int write_image(struct launch *l, struct image *img, size_t size, struct err *err)
{
	img->flags = (img->flags & ~(unsigned)IMAGE_SHIMS) | shims_here() << IMAGE_SHIMS_AT;
	unlinkat(l->session.dirfd, WIRE_IMAGE, 0);
	/* root's commands may run as others, who must be able to read the policy and to report */
	int r = write_new_file_at(l->session.dirfd, WIRE_IMAGE, l->host->root ? 0644 : 0600, img, size);
	return r < 0 ? err_set(err, r, "cannot write the policy into '%s': %s", l->session.dir, strerror(-r)) : 0;
}

static int write_files(struct launch *l, struct err *err)
{
	const bool root = l->host->root;
	const struct session *s = &l->session;
	int r = 0;
	for (const struct shim_file *f = shim_files; r == 0 && f < shim_files + ARRAY_SIZE(shim_files); f++)
		if (shim_size(f))
			r = write_new_file_at(s->dirfd, wire_shim_name(f->class), root ? 0755 : 0700, f->from, shim_size(f));
	if (r == 0)
		r = write_events(l, root ? 0666 : 0600);
	return r < 0 ? err_set(err, r, "cannot write the shim into '%s': %s", s->dir, strerror(-r)) : 0;
}

/* The proof runs while the real policy is still being made, under one that allows nothing. */
static int write_empty_image(struct launch *l, struct err *err)
{
	struct policy *nothing = policy_new("/", NULL);
	struct image *img = NULL;
	size_t size;
	const struct image_options options = { .extra_flags = host_has(l->host, CAP_OPENAT2) ? IMAGE_OPENAT2 : 0 };
	int r = policy_compile(nothing, &options, &img, &size, err);
	if (r == 0)
		r = write_image(l, img, size, err);
	free(img);
	policy_free(nothing);
	return r;
}

/* ---- the proof ---- */

enum { PROOF_PROGRAMS = 3 };

/*
 * With the command's rights, and no shim in the way: what a raw system call could read. The child shares the supervisor's memory,
 * which the kernel lets it read whatever its rights are; so of the supervisor itself another file is asked that is under the
 * same check (proc(5): PTRACE_MODE_READ).
 */
static void measure_ancestors(struct host *h)
{
	for (size_t i = 0; i < h->n_ancestors; i++) {
		struct ancestor *a = &h->ancestors[i];
		char path[40], byte;
		struct stat st;
		snprintf(path, sizeof path, "/proc/%d/%s", (int)a->pid, a->pid == getppid() ? "cwd" : "environ");
		if (a->pid == getppid()) {
			a->readable = readlink(path, &byte, 1) == 1;
			continue;
		}
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		/* root's command can become the other user */
		bool other = h->root && fd >= 0 && fstat(fd, &st) == 0 && st.st_uid != 0;
		a->readable = fd >= 0 && (other || read(fd, &byte, 1) >= 0);
		if (fd >= 0)
			close(fd);
	}
	h->ancestors_measured = true;
}

static void __attribute__((noreturn)) proof_child(struct launch *l, char *const argv[], char *const envp[], const sigset_t *mask)
{
	int null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	stage_close_descriptors(NULL, 0, !l->host->caps[CAP_CLOSE_RANGE].available);
	stage_drop_rights(session_dropped_caps(l->host));
	if (!l->host->ancestors_measured)
		measure_ancestors(l->host);
	alarm(5); /* a shell that hangs is an answer too */
	sigprocmask(SIG_SETMASK, mask, NULL);
	execve(argv[0], argv, envp);
	_exit(127);
}

/* argv of the i-th program that can try to write; in ret, which has room for 6. */
static void proof_program(const struct launch *l, int i, const char **ret)
{
	const char *const touch[] = { "/bin/sh", "/usr/bin/touch", "/bin/touch" };
	size_t n = 0;
	ret[n++] = touch[i];
	if (i == 0) {
		ret[n++] = "-c";
		ret[n++] = "true >\"$1\"";
		ret[n++] = "sh";
	}
	ret[n++] = l->canary;
	ret[n] = NULL;
}

/* NULL: started. Else why not, in words; owned. */
static char *start_proof(struct launch *l, int i)
{
	const char *argv[6];
	proof_program(l, i, argv);
	if (access(argv[0], X_OK) < 0)
		return strf("%s: %s", argv[0], strerror(errno));
	enum shim_class class;
	int reason = class_and_coverage(argv[0], &class);
	if (reason)
		return strf("%s is %s", argv[0], uncovered_reason_words(reason));
	_cleanup_free_ char *preload = strf("LD_PRELOAD=%s/%s", l->session.dir, wire_shim_name(class));
	char *envp[] = { preload, NULL };
	l->session.page->hellos = l->session.page->violations = 0;
	sigset_t all, mask;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	l->proof = vfork();
	if (l->proof == 0)
		proof_child(l, (char *const *)(uintptr_t)argv, envp, &mask);
	int error = errno;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return l->proof < 0 ? strf("vfork: %s", strerror(error)) : NULL;
}

/* NULL: the running proof succeeded. */
static char *end_proof(struct launch *l, int i)
{
	const char *argv[6];
	struct wire_page *page = l->session.page;
	int status;
	proof_program(l, i, argv);
	while (waitpid(l->proof, &status, 0) < 0 && errno == EINTR)
		;
	l->proof = 0;
	bool made = access(l->canary, F_OK) == 0;
	unlink(l->canary);
	if (made)
		return strf("%s ran under LD_PRELOAD and wrote what the shim should have refused", argv[0]);
	if (WIFSIGNALED(status))
		return strf("%s was ended by signal %d under the shim", argv[0], WTERMSIG(status));
	if (page->hellos == 0)
		return strf("%s did not load the shim", argv[0]);
	return page->violations ? NULL : strf("%s loaded the shim, but nothing was refused (exit status %d)", argv[0], WEXITSTATUS(status));
}

/* Only what the proof touched: the rest of the page has never been written, and costs nothing yet. */
static void clear_page(struct wire_page *page)
{
	for (uint32_t i = 0; i < page->violations && i < WIRE_VIOLATIONS; i++)
		memset(&page->violation[i], 0, sizeof page->violation[i]);
	for (uint32_t i = 0; i < page->tickets && i < WIRE_TICKETS; i++)
		memset(&page->ticket[i], 0, sizeof page->ticket[i]);
	page->violations = page->hellos = page->tickets = page->uncovered = page->lost = 0;
}

int preload_begin_proof(struct launch *l, struct err *err)
{
	int r = write_files(l, err);
	if (r == 0)
		r = write_empty_image(l, err);
	if (r < 0)
		return r;
	host_list_ancestors(l->host);
	l->canary = strf("%s/" WIRE_CANARY, l->session.dir);
	host_has(l->host, CAP_CLOSE_RANGE); /* before the child, which may not ask */
	l->proof_failure = start_proof(l, 0);
	return 0;
}

void preload_end_proof(struct launch *l)
{
	_cleanup_free_ char *why = TAKE_PTR(l->proof_failure);
	const char *argv[6];
	int i = 0;
	if (!why)
		why = end_proof(l, 0);
	/* the first program's reason says most; another that works is as good a proof */
	for (char *other = why; other && i + 1 < PROOF_PROGRAMS;) {
		other = start_proof(l, ++i);
		if (!other)
			other = end_proof(l, i);
		if (!other) {
			free(why);
			why = NULL;
		} else {
			free(other);
		}
	}
	proof_program(l, i, argv);
	clear_page(l->session.page);
	if (why) {
		host_set(l->host, CAP_SHIM, false, "%s", why);
		l->host->shim_failure = TAKE_PTR(why);
	} else {
		/* no 32-bit program can be counted on to be there for a proof: a loader that leaves the shim out is found by its silence */
		host_set(l->host, CAP_SHIM, true, "%s under the shim: write refused%s", argv[0],
			 shims_here() & 1u << CLASS_32 && SHIM_CLASS == CLASS_64 ? "; 32-bit programs have a shim of their own" : "");
	}
}

int preload_write_policy(struct launch *l, struct err *err)
{
	return write_image(l, l->image, l->image_size, err);
}

void preload_abandon_proof(struct launch *l)
{
	if (l->proof > 0)
		free(end_proof(l, 0));
	free(l->canary);
	free(l->proof_failure);
	l->canary = l->proof_failure = NULL;
}

/* ---- the mechanism ---- */

static bool preload_available(struct host *h, const struct policy *p, char **ret_evidence)
{
	if (p->scrub_only) {
		*ret_evidence = xstrdup("not used: the environment alone is asked for");
		return false;
	}
	*ret_evidence = xstrdup(h->caps[CAP_SHIM].evidence ? h->caps[CAP_SHIM].evidence : "not tried");
	return h->caps[CAP_SHIM].available;
}

static void say_common(const struct host *h, struct strv *caveats)
{
	strv_add(caveats, "whatever makes system calls without libc, or changes the shim or a path while it is looked at, goes past it");
	if (!h->caps[CAP_PROC].available)
		strv_add(caveats, "without /proc, paths through symlinks are refused for writing");
}

static enum extent holds_write(const struct host *h, struct strv *caveats)
{
	say_common(h, caveats);
	strv_add(caveats, "a symlink swapped while fopen, mkstemp and their kind look twice wins");
	strv_add(caveats, "a hard link in a root, from before the run, changes the file outside");
	return HOLDS_WHOLE;
}

static enum extent holds_names(const struct host *h, struct strv *caveats)
{
	strv_add(caveats, "an old directory that is moved aside and copied back is a new one, its protected names too");
	if (!h->caps[CAP_BIRTH_TIME].available)
		strv_add(caveats, "without birth times, protected names are held only at the top of the working directory, in HOME and in repositories found at the start");
	return holds_write(h, caveats);
}

static enum extent holds_read(const struct host *h, struct strv *caveats)
{
	say_common(h, caveats);
	strv_add(caveats, "names and stat stay visible");
	strv_add(caveats, "nftw, glob and scandir list what lies below a directory that may be read");
	strv_add(caveats, "another hard link to the file reads it");
	return HOLDS_WHOLE;
}

static enum extent holds_network(const struct host *h, const struct policy *p, struct strv *caveats)
{
	if (p->net == NET_OPEN)
		return HOLDS_NOT;
	say_common(h, caveats);
	strv_add(caveats, "names are still looked up: the resolver is inside libc");
	strv_add(caveats, "loopback is allowed");
	return HOLDS_WHOLE;
}

static enum extent preload_holds(const struct view *v, const struct rule *r, struct strv *caveats)
{
	const struct host *h = v->host;
	const struct policy *p = v->policy;
	switch (r->guarantee) {
	case G_fs_write:
		if (r->path && strcmp(r->path, "/dev/shm") == 0)
			strv_add(caveats, "/dev/shm is shared with the host");
		return holds_write(h, caveats);
	case G_fs_write_deny:  return holds_write(h, caveats);
	case G_fs_write_names: return holds_names(h, caveats);
	case G_fs_read_deny:
	case G_fs_read_names:  return holds_read(h, caveats);
	case G_fs_metadata:    say_common(h, caveats); return HOLDS_WHOLE;
	case G_fs_exec:
		say_common(h, caveats);
		strv_add(caveats, "the loader and interpreters run what they can read, and a copy under another name is another program");
		return HOLDS_WHOLE;
	case G_net_egress:     return holds_network(h, p, caveats);
	case G_net_unix:
		say_common(h, caveats);
		strv_add(caveats, "abstract sockets, and those that libc connects to itself (syslog, name service), are not judged");
		return HOLDS_WHOLE;
	case G_env_ancestors:  say_common(h, caveats); return HOLDS_WHOLE;
	case G_exec_coverage:
		strv_add(caveats, p->strict ? "static, Go and other-architecture programs are refused where the shim sees them start"
					    : "static, Go and other-architecture programs run outside the rules, and are reported");
		return p->strict ? HOLDS_WHOLE : HOLDS_NOT;
	default:
		return HOLDS_NOT;
	}
}

static char *preload_profile(struct launch *l)
{
	const struct policy *p = l->policy;
	struct str s = STR_INIT;
	str_add(&s, "LD_PRELOAD in every program; rules in the order of decision:\n");
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].path) {
			str_addf(&s, "%-16s %s ", rule_kind_name(p->rules[i].kind), p->rules[i].pattern ? "pattern" : "path   ");
			str_add_escaped(&s, p->rules[i].path);
			str_add(&s, "  (");
			str_add_escaped(&s, p->rules[i].origin);
			str_add(&s, ")\n");
		}
	str_addf(&s, "network: %s\n", p->net != NET_OPEN ? "loopback only" : "not restricted by the shim");
	str_addf(&s, "programs that the shim cannot enter: %s\n", p->strict ? "refused" : "run, and reported");
	return str_take(&s);
}

static int preload_prepare(struct launch *l, struct err *err)
{
	(void)err;
	if (l->policy->scrub_only || !l->session.page)
		return 0;
	struct str s = STR_INIT;
	enum shim_class class;
	int reason = class_and_coverage(l->program, &class);
	str_addf(&s, "LD_PRELOAD=%s/%s", l->session.dir, wire_shim_name(class));
	if (strv_has(&l->policy->env_keep, "LD_PRELOAD"))
		for (char *const *e = l->environ; *e; e++)
			if (strncmp(*e, "LD_PRELOAD=", 11) == 0 && (*e)[11])
				str_addf(&s, ":%s", *e + 11);
	_cleanup_free_ char *entry = str_take(&s);
	strv_add(&l->extra_env, entry);
	/* AddressSanitizer's runtime ends the program when another library was loaded before it */
	const char *asan = NULL;
	for (char *const *e = l->environ; *e; e++)
		asan = strncmp(*e, "ASAN_OPTIONS=", 13) == 0 ? *e + 13 : asan;
	_cleanup_free_ char *options = strf("ASAN_OPTIONS=%s%sverify_asan_link_order=0", asan ? asan : "", asan && *asan ? ":" : "");
	strv_add(&l->extra_env, options);
	/* ticket 0 is the command's own */
	strv_add(&l->extra_env, WIRE_TICKET_VARIABLE "=0");
	struct wire_page *page = l->session.page;
	strlcpy(page->ticket[0].program, l->program, sizeof page->ticket[0].program);
	page->ticket[0].state = reason ? TICKET_UNCOVERED : TICKET_TAKEN;
	page->tickets = 1;
	if (reason) { /* no shim saw it start */
		struct wire_uncovered *u = &page->uncovered_program[0];
		*u = (struct wire_uncovered){ .seq = 1, .reason = (uint32_t)reason };
		strlcpy(u->program, l->program, sizeof u->program);
		page->uncovered = 1;
	}
	return 0;
}

const struct mechanism mechanism_preload = {
	.name = "preload", .what = "checks in every dynamic program, between it and libc", .level = LEVEL_APPLICATION,
	.role = ROLE_LAYER,
	.available = preload_available, .holds = preload_holds, .prepare = preload_prepare, .profile = preload_profile,
};
