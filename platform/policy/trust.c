/* The store of trust: one line for each file, "DIGEST KEY", the key with everything but plain characters as %XX. */
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include "platform/base/cleanup.h"
#include "platform/base/str.h"
#include "platform/base/sys.h"
#include "platform/policy/trust.h"

enum { STORE_MAX = 4 << 20 };

const char *const trust_names[] = { ".hurdle.json", ".claude/settings.json", ".claude/settings.local.json", NULL };

char *trust_key(const char *project, const char *name)
{
	const char *s = project;
	struct str b = STR_INIT;

	for (int part = 0; part < 2; part++, s = name) {
		for (; *s; s++) {
			const unsigned char c = (unsigned char)*s;

			str_addf(&b, c <= ' ' || c == '%' || c >= 0x7f ? "%%%02x" : "%c", c);
		}
		if (part == 0)
			str_add(&b, "/");
	}
	return str_take(&b);
}

void trust_digest(const char *text, size_t len, char ret[TRUST_DIGEST_SIZE])
{
	SHA256Data((const uint8_t *)text, len, ret);
}

/* "DIGEST KEY" at line, which ends at a newline or NUL. */
static bool is_of_key(const char *line, const char *key)
{
	const size_t n = strcspn(line, "\n");

	return n == TRUST_DIGEST_SIZE + strlen(key) && line[TRUST_DIGEST_SIZE - 1] == ' ' && !strncmp(line + TRUST_DIGEST_SIZE, key, strlen(key));
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

bool trust_holds(const char *store, const char *key, const char *digest)
{
	for (const char *line = store; line && *line; line = next_line(line))
		if (is_of_key(line, key))
			return !strncmp(line, digest, TRUST_DIGEST_SIZE - 1);
	return false;
}

char *trust_read(const char *config, const char **ret_why)
{
	_cleanup_free_ char *path = strf("%s/" TRUST_FILE, config), *text = NULL;
	struct stat st;

	*ret_why = NULL;
	if (stat(path, &st) < 0)
		return NULL;
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		*ret_why = "others than its owner may write it";
	else if (read_regular_file(path, STORE_MAX, &text, NULL) < 0)
		*ret_why = "it cannot be read";
	return TAKE_PTR(text);
}

static char *with_entry(const char *store, const char *key, const char *digest)
{
	struct str b = STR_INIT;

	for (const char *line = store; line && *line; line = next_line(line))
		if (!is_of_key(line, key))
			str_addn(&b, line, strcspn(line, "\n") + 1);
	if (digest)
		str_addf(&b, "%s %s\n", digest, key);
	return str_take(&b);
}

/* A new file in place of the old one: a run that reads it meanwhile sees one of the two, whole. */
static int replace(int dir, const char *text)
{
	static const char name[] = TRUST_FILE ".new";
	int r;

	unlinkat(dir, name, 0); /* of a run that was killed here; the lock is ours */
	r = write_new_file_at(dir, name, 0600, text, strlen(text));
	if (r == 0 && renameat(dir, name, dir, TRUST_FILE) < 0)
		r = -errno;
	return r;
}

int trust_set(const char *config, const char *key, const char *digest, struct err *err)
{
	_cleanup_free_ char *store = NULL, *text = NULL;
	_cleanup_close_ int dir = -1;
	const char *why;
	int r = make_directories(config, 0700);

	if (r >= 0)
		dir = open(config, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r < 0 || dir < 0 || flock(dir, LOCK_EX) < 0)
		return err_set(err, r < 0 ? r : -errno, "cannot use '%s': %s", config, strerror(r < 0 ? -r : errno));
	store = trust_read(config, &why);
	text = with_entry(store, key, digest);
	r = replace(dir, text);
	return r < 0 ? err_set(err, r, "cannot write '%s/" TRUST_FILE "': %s", config, strerror(-r)) : 0;
}
