#include "supervisor/attack_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"

enum { KEPT = 32, KEY_LENGTH = 64, LINE_LENGTH = KEY_LENGTH + 1 + ATTACK_COUNT + 1, FILE_MAX = LINE_LENGTH * KEPT };

/* ---- the key ---- */

static void add_text(SHA2_CTX *c, const char *s)
{
	SHA256Update(c, (const uint8_t *)(s ? s : ""), s ? strlen(s) + 1 : 1);
}

static void add_file(SHA2_CTX *c, const char *path, const char *only)
{
	_cleanup_free_ char *text = NULL;
	if (read_file(path, 1 << 16, &text, NULL) < 0)
		return;
	char *line = only ? strstr(text, only) : text;
	if (line && only)
		line[strcspn(line, "\n")] = '\0';
	add_text(c, line);
}

static void add_link(SHA2_CTX *c, const char *path)
{
	char to[256] = "";
	ssize_t n = readlink(path, to, sizeof to - 1);
	to[n > 0 ? n : 0] = '\0';
	add_text(c, to);
}

/* A build is known by the file: this version, installed anew, is another one. */
static void add_build(SHA2_CTX *c)
{
	struct stat st;
	add_text(c, HURDLE_VERSION);
	if (stat("/proc/self/exe", &st) == 0) {
		_cleanup_free_ char *text = strf("%ju %ju %jd.%09ld %jd", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino, (intmax_t)st.st_mtim.tv_sec,
						 st.st_mtim.tv_nsec, (intmax_t)st.st_size);
		add_text(c, text);
	}
}

static void add_plan(SHA2_CTX *c, const struct launch *l, const struct plan *plan)
{
	_cleanup_free_ char *names = plan_mechanism_names(plan, plan->chosen, "+");
	add_text(c, names);
	SHA256Update(c, (const uint8_t *)&l->policy->net, sizeof l->policy->net);
	for (size_t i = 0; i < l->policy->n_rules; i++) {
		const struct rule *r = &l->policy->rules[i];
		const uint8_t numbers[] = { (uint8_t)r->kind, (uint8_t)r->guarantee, r->pattern, (uint8_t)plan->rules[i].level };
		SHA256Update(c, numbers, sizeof numbers);
		/* the session's own are other each time */
		if (r->kind != RULE_INTERNAL && r->kind != RULE_TMPDIR)
			add_text(c, r->path);
	}
}

char *attack_memory_key(const struct launch *l, const struct plan *plan)
{
	static const char *const namespaces[] = { "user", "mnt", "pid", "net", "ipc" };
	char hex[SHA256_DIGEST_STRING_LENGTH];
	SHA2_CTX c;
	SHA256Init(&c);
	add_file(&c, "/proc/sys/kernel/random/boot_id", NULL);
	add_file(&c, "/proc/self/status", "Seccomp");
	add_file(&c, "/proc/self/status", "Seccomp_filters");
	for (size_t i = 0; i < ARRAY_SIZE(namespaces); i++) {
		_cleanup_free_ char *path = strf("/proc/self/ns/%s", namespaces[i]);
		add_link(&c, path);
	}
	_cleanup_free_ char *who = strf("%d %d", (int)geteuid(), (int)getegid());
	add_text(&c, who);
	add_build(&c);
	add_plan(&c, l, plan);
	SHA256End(&c, hex);
	return xstrdup(hex);
}

/* ---- the file ---- */

static bool writable(const struct launch *l, const char *path)
{
	struct verdict v;
	policy_decide(l->image, ACCESS_CREATE, path, strlen(path), &v);
	return v.outcome == OUTCOME_ALLOW;
}

/* NULL: there is no place that only we can write. */
static char *directory(const struct launch *l)
{
	const char *base = getenv("XDG_CACHE_HOME");
	_cleanup_free_ char *text = base && base[0] == '/' ? strf("%s/hurdle", base) : l->policy->home ? strf("%s/.cache/hurdle", l->policy->home) : NULL;
	_cleanup_free_ char *real = NULL;
	struct stat st;
	if (!text || make_directories(text, 0700) < 0 || path_resolve(text, &real) < 0)
		return NULL;
	_cleanup_free_ char *file = strf("%s/attacks", real);
	if (stat(real, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022) || writable(l, file))
		return NULL;
	return TAKE_PTR(real);
}

static char *read_memory(const char *dir)
{
	char text[FILE_MAX + 1];
	struct stat st;
	_cleanup_free_ char *path = strf("%s/attacks", dir);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return NULL;
	ssize_t n = read(fd, text, FILE_MAX);
	if (n < 0 || n % LINE_LENGTH != 0)
		return NULL;
	text[n] = '\0';
	return xstrdup(text);
}

bool attack_memory_find(const struct launch *l, const char *key, char ret_outcome[ATTACK_COUNT])
{
	_cleanup_free_ char *dir = directory(l), *text = dir ? read_memory(dir) : NULL;
	const char *line = text ? strstr(text, key) : NULL;
	if (!line || (line - text) % LINE_LENGTH != 0)
		return false;
	for (int i = 0; i < ATTACK_COUNT; i++)
		ret_outcome[i] = (char)(line[KEY_LENGTH + 1 + i] - '0');
	return true;
}

void attack_memory_add(const struct launch *l, const char *key, const char outcome[ATTACK_COUNT])
{
	_cleanup_free_ char *dir = directory(l), *old = dir ? read_memory(dir) : NULL;
	if (!dir)
		return;
	struct str s = STR_INIT;
	str_addf(&s, "%s ", key);
	for (int i = 0; i < ATTACK_COUNT; i++)
		str_addn(&s, &(char){ (char)('0' + outcome[i]) }, 1);
	str_add(&s, "\n");
	if (old)
		str_addn(&s, old, strlen(old) < FILE_MAX - LINE_LENGTH ? strlen(old) : FILE_MAX - LINE_LENGTH);
	_cleanup_free_ char *from = strf("%s/attacks.%d", dir, (int)getpid()), *to = strf("%s/attacks", dir);
	_cleanup_close_ int fd = open(from, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && (write_all(fd, s.s, s.len) < 0 || rename(from, to) < 0))
		unlink(from);
	str_free(&s);
}
