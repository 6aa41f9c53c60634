/* The reader of profiles: from text to rules. See sbpl.h. */
#include "tests/unit/sbpl_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/base/str.h"

/* ---- what is known ---- */

static const char *const operations[] = {
	"appleevent-send", "darwin-notification-post", "distributed-notification-post", "dynamic-code-generation", "file-chroot", "file-clone",
	"file-ioctl", "file-issue-extension", "file-link", "file-map-executable", "file-mknod", "file-mount", "file-read-data",
	"file-read-metadata", "file-read-xattr", "file-revoke", "file-search", "file-test-existence", "file-unmount", "file-write-acl",
	"file-write-create", "file-write-data", "file-write-flags", "file-write-mode", "file-write-owner", "file-write-setugid",
	"file-write-times", "file-write-unlink", "file-write-xattr", "generic-issue-extension", "hid-control", "iokit-get-properties",
	"iokit-open", "iokit-set-properties", "ipc-posix-sem-create", "ipc-posix-sem-open", "ipc-posix-sem-post", "ipc-posix-sem-unlink",
	"ipc-posix-sem-wait", "ipc-posix-shm-read-data", "ipc-posix-shm-write-create", "ipc-posix-shm-write-data",
	"ipc-posix-shm-write-unlink", "ipc-sysv-msg", "ipc-sysv-sem", "ipc-sysv-shm", "job-creation", "lsopen", "mach-cross-domain-lookup",
	"mach-lookup", "mach-per-user-lookup", "mach-priv-host-port", "mach-priv-task-port", "mach-register", "mach-task-name",
	"network-bind", "network-inbound", "network-outbound", "nvram-delete", "nvram-get", "nvram-set", "process-exec",
	"process-exec-interpreter", "process-fork", "process-info-codesignature", "process-info-dirtycontrol", "process-info-listpids",
	"process-info-pidfdinfo", "process-info-pidinfo", "process-info-rusage", "process-info-setcontrol", "pseudo-tty", "signal",
	"sysctl-read", "sysctl-write", "system-acct", "system-audit", "system-chud", "system-debug", "system-fsctl", "system-info",
	"system-kext-load", "system-mac-label", "system-privilege", "system-reboot", "system-sched", "system-set-time", "system-socket",
	"system-suspend-resume", "system-swap", "system-write-bootstrap", "user-preference-read", "user-preference-write",
};

static const char *const constants[] = {
	"TIOCSTI", "TIOCGWINSZ", "TIOCGETA", "TIOCSETA", "AF_UNIX", "AF_SYSTEM", "AF_INET", "AF_INET6", "AF_ROUTE", "DIRECTORY", "SYMLINK",
	"REGULAR-FILE", "CHARACTER-DEVICE", "BLOCK-DEVICE", "FIFO", "SOCKET", "TTY", "self", "same-sandbox", "others", "children", "parent",
	"pgrp", "ip", "ip4", "ip6", "tcp", "tcp4", "udp", "unix-socket", "message", "no-log", "no-report", "report", "no-sandbox",
};

static const struct known filters[] = {
	{ "literal", LITERAL, PATH },            { "path", LITERAL, PATH },          { "path-literal", LITERAL, PATH },
	{ "subpath", SUBPATH, PATH },            { "prefix", PREFIX, PATH },         { "regex", REGEX, PATH },
	{ "path-regex", REGEX, PATH },           { "global-name", LITERAL, NAME },   { "local-name", LITERAL, NAME },
	{ "global-name-regex", REGEX, NAME },    { "sysctl-name", LITERAL, NAME },   { "sysctl-name-prefix", PREFIX, NAME },
	{ "ipc-posix-name", LITERAL, NAME },     { "ipc-posix-name-prefix", PREFIX, NAME }, { "ipc-posix-name-regex", REGEX, NAME },
	{ "vnode-type", SYMBOL, TYPE },          { "target", SYMBOL, TARGET },       { "extension", LITERAL, EXTENSION },
	{ "ioctl-command", SYMBOL, COMMAND },    { "socket-domain", SYMBOL, DOMAIN }, { "socket-protocol", NUMBER, PROTOCOL },
	{ "remote", ADDRESS, REMOTE },           { "local", ADDRESS, LOCAL },        { "iokit-user-client-class", LITERAL, NAME },
	{ "iokit-registry-entry-class", LITERAL, NAME }, { "preference-domain", LITERAL, NAME },
	{ "require-all", COMBINE, NOTHING },     { "require-any", COMBINE, NOTHING }, { "require-not", COMBINE, NOTHING },
};

static bool in_list(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], word))
			return true;
	return false;
}

bool sbpl_covers(const char *of_rule, const char *operation)
{
	size_t n = strlen(of_rule);

	if (!strcmp(of_rule, "default"))
		return true;
	return n && of_rule[n - 1] == '*' ? !strncmp(of_rule, operation, n - 1) : !strcmp(of_rule, operation);
}

static bool is_operation(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (sbpl_covers(word, operations[i]))
			return true;
	return false;
}

/* ---- expressions ---- */

enum kind { LIST, TEXT, WORD, INTEGER, TRUTH };

struct node {
	enum kind kind;
	char *text;         /* TEXT, WORD */
	long number;        /* INTEGER, TRUTH */
	struct node **kids; /* LIST */
	size_t n;
};

static void __attribute__((format(printf, 2, 3), noreturn)) refuse(struct sbpl *p, const char *format, ...)
{
	struct str s = STR_INIT;
	va_list ap;

	va_start(ap, format);
	str_vaddf(&s, format, ap);
	va_end(ap);
	p->error = str_take(&s);
	longjmp(p->refused, 1);
}

static void *own(struct sbpl *p, void *memory)
{
	if (p->n_owned == p->cap_owned)
		p->owned = xreallocarray(p->owned, p->cap_owned = p->cap_owned ? 2 * p->cap_owned : 256, sizeof(*p->owned));
	return p->owned[p->n_owned++] = memory;
}

/* A list of pointers that doubles when its length is a power of two. */
static void append(struct sbpl *p, void *list, size_t *n, void *item)
{
	void ***v = list;

	if (!(*n & (*n - 1))) {
		void **larger = own(p, xcalloc(*n ? 2 * *n : 1, sizeof(*larger)));
		for (size_t i = 0; i < *n; i++)
			larger[i] = (*v)[i];
		*v = larger;
	}
	(*v)[(*n)++] = item;
}

static struct node *new_node(struct sbpl *p, enum kind kind)
{
	struct node *n = own(p, xcalloc(1, sizeof(*n)));

	n->kind = kind;
	return n;
}

static void skip_space(struct sbpl *p)
{
	for (;;) {
		p->at += strspn(p->at, " \t\n");
		if (*p->at != ';')
			return;
		p->at += strcspn(p->at, "\n");
	}
}

static int hex_digit(struct sbpl *p, char c)
{
	const char *digits = "0123456789abcdef", *found = c ? strchr(digits, c | 0x20) : NULL;

	if (!found)
		refuse(p, "\\x without two hexadecimal digits");
	return (int)(found - digits);
}

/* After the backslash; as TinyScheme's readstrexp: n, t, r, x and two digits; any other character is itself. */
static char read_escape(struct sbpl *p)
{
	char c = *p->at++;

	if (c == 'n')
		return '\n';
	if (c == 't')
		return '\t';
	if (c == 'r')
		return '\r';
	if (c == 'x' || c == 'X') {
		int high = hex_digit(p, *p->at++), low = hex_digit(p, *p->at++);
		return (char)(high * 16 + low);
	}
	if (c >= '0' && c <= '7')
		refuse(p, "an octal escape, which versions read differently");
	return c;
}

static size_t text_length(const char *s, bool raw)
{
	size_t n = 0;

	while (s[n] && s[n] != '"')
		n += s[n] == '\\' && !raw && s[n + 1] ? 2 : 1;
	return n;
}

static struct node *read_text(struct sbpl *p, bool raw)
{
	struct node *n = new_node(p, TEXT);
	size_t len = 0;

	p->at++;
	const char *end = p->at + text_length(p->at, raw);

	n->text = own(p, xcalloc(1, (size_t)(end - p->at) + 1));
	if (!*end)
		refuse(p, "a string that does not end: %.40s", p->at);
	while (p->at < end) {
		char c = *p->at++;
		n->text[len++] = c == '\\' && !raw ? read_escape(p) : c;
	}
	p->at = end + 1;
	if (!raw && len > 255)
		refuse(p, "a string of more than 255 bytes: %.40s...", n->text);
	return n;
}

static struct node *read_node(struct sbpl *p);

static struct node *read_list(struct sbpl *p)
{
	struct node *n = new_node(p, LIST);

	for (p->at++;;) {
		skip_space(p);
		if (!*p->at)
			refuse(p, "a list that does not end");
		if (*p->at == ')')
			break;
		append(p, &n->kids, &n->n, read_node(p));
	}
	p->at++;
	return n;
}

static struct node *read_word(struct sbpl *p)
{
	size_t len = strcspn(p->at, " \t\n();\"'");
	char *end, *text = own(p, strndup(p->at, len));
	struct node *n = new_node(p, WORD);

	if (!len)
		refuse(p, "'%c' where an expression should be", *p->at);
	p->at += len;
	n->text = text;
	if (!strcmp(text, "#t") || !strcmp(text, "#f")) {
		n->kind = TRUTH;
		n->number = text[1] == 't';
		return n;
	}
	long number = !strncmp(text, "#o", 2) ? strtol(text + 2, &end, 8) : strtol(text, &end, 10);
	if (end != text && !*end) {
		n->kind = INTEGER;
		n->number = number;
	}
	return n;
}

static struct node *read_node(struct sbpl *p)
{
	if (*p->at == '(')
		return read_list(p);
	if (*p->at == '"')
		return read_text(p, false);
	if (!strncmp(p->at, "#\"", 2)) {
		p->at++;
		return read_text(p, true);
	}
	if (*p->at == '\'') { /* a quoted word stands for itself, as all words do here */
		p->at++;
		return read_word(p);
	}
	return read_word(p);
}

/* ---- values ---- */

static const char *parameter(const struct sbpl *p, const char *name)
{
	size_t n = strlen(name);

	for (const char *const *s = p->parameters; s && *s; s++)
		if (!strncmp(*s, name, n) && (*s)[n] == '=')
			return *s + n + 1;
	return NULL;
}

static bool is_word(const struct node *n, const char *word)
{
	return n->kind == WORD && !strcmp(n->text, word);
}

static bool is_form(const struct node *n, const char *word)
{
	return n->kind == LIST && n->n && is_word(n->kids[0], word);
}

/* The text of a string expression; NULL: it is false (a parameter that was not given). */
static const char *text_of(struct sbpl *p, const struct node *n)
{
	if (n->kind == TEXT)
		return n->text;
	for (size_t i = 0; n->kind == WORD && i < p->n_variables; i++)
		if (!strcmp(p->variables[i].name, n->text))
			return p->variables[i].value;
	if (is_form(n, "param") && n->n == 2)
		return parameter(p, text_of(p, n->kids[1]));
	if (!is_form(n, "string-append"))
		refuse(p, "'%s' is no string", n->kind == WORD ? n->text : n->kind == LIST && n->n && n->kids[0]->kind == WORD ? n->kids[0]->text : "?");
	char *sum = own(p, xstrdup(""));
	for (size_t i = 1; i < n->n; i++) {
		const char *part = text_of(p, n->kids[i]);
		if (!part)
			refuse(p, "string-append: a parameter was not given");
		sum = own(p, strf("%s%s", sum, part));
	}
	return sum;
}

static bool is_known(const struct sbpl *p, const char *word)
{
	if (p->missing && !strcmp(p->missing, word))
		return false;
	for (size_t i = 0; i < p->n_variables; i++)
		if (!strcmp(p->variables[i].name, word))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
		if (!strcmp(filters[i].word, word))
			return true;
	return in_list(word, constants, ARRAY_SIZE(constants)) || is_operation(word);
}

static bool truth_of(struct sbpl *p, const struct node *n)
{
	if (n->kind == TRUTH)
		return n->number;
	if (is_form(n, "defined?") && n->n == 2 && n->kids[1]->kind == WORD)
		return is_known(p, n->kids[1]->text);
	if (is_form(n, "not") && n->n == 2)
		return !truth_of(p, n->kids[1]);
	return text_of(p, n) != NULL;
}

/* ---- filters ---- */

static const char *word_of(struct sbpl *p, const struct node *n)
{
	if (n->kind != WORD || !in_list(n->text, constants, ARRAY_SIZE(constants)) || !is_known(p, n->text))
		refuse(p, "'%s' is not known", n->kind == WORD || n->kind == TEXT ? n->text : "(...)");
	return n->text;
}

static struct filter *make_filter(struct sbpl *p, const struct node *n);

/* (remote ip "localhost:80"), (remote tcp), (remote unix-socket (subpath "/x")) */
static void make_address(struct sbpl *p, struct filter *f, const struct node *n)
{
	f->word = own(p, xstrdup(word_of(p, n->kids[1])));
	if (n->n == 2)
		return;
	if (!strcmp(f->word, "unix-socket")) {
		append(p, &f->kids, &f->n, make_filter(p, n->kids[2]));
		return;
	}
	const char *text = text_of(p, n->kids[2]), *colon = strrchr(text, ':');
	size_t host = colon ? (size_t)(colon - text) : 0;
	if (!colon || !((host == 1 && *text == '*') || (host == 9 && !strncmp(text, "localhost", 9))))
		refuse(p, "'%s': the host must be * or localhost", text);
	if (strcmp(colon + 1, "*") != 0 && (strspn(colon + 1, "0123456789") != strlen(colon + 1) || !colon[1]))
		refuse(p, "'%s': no port", text);
	f->text = own(p, xstrdup(text));
}

static void make_regex(struct sbpl *p, struct filter *f)
{
	int r = regcomp(&f->regex, f->text, REG_EXTENDED | REG_NOSUB);

	if (r)
		refuse(p, "regex '%s': error %d", f->text, r);
	append(p, &p->regexes, &p->n_regexes, &f->regex);
}

static const struct known *known_filter(struct sbpl *p, const struct node *n)
{
	if (n->kind != LIST || !n->n || n->kids[0]->kind != WORD)
		refuse(p, "a filter is a list that begins with a word");
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
		if (!strcmp(filters[i].word, n->kids[0]->text) && is_known(p, n->kids[0]->text))
			return &filters[i];
	refuse(p, "there is no filter '%s'", n->kids[0]->text);
}

static struct filter *make_filter(struct sbpl *p, const struct node *n)
{
	struct filter *f = own(p, xcalloc(1, sizeof(*f)));
	const char *text;

	f->known = known_filter(p, n);
	if (n->n < 2 || (n->n > 2 && f->known->compare != COMBINE && f->known->compare != ADDRESS))
		refuse(p, "'%s' has %zu arguments", f->known->word, n->n - 1);
	switch (f->known->compare) {
	case COMBINE:
		for (size_t i = 1; i < n->n; i++)
			append(p, &f->kids, &f->n, make_filter(p, n->kids[i]));
		if (!strcmp(f->known->word, "require-not") && f->n != 1)
			refuse(p, "require-not takes one filter");
		break;
	case SYMBOL:
		f->text = own(p, xstrdup(word_of(p, n->kids[1])));
		break;
	case NUMBER:
		f->number = n->kids[1]->number;
		break;
	case ADDRESS:
		make_address(p, f, n);
		break;
	default:
		text = text_of(p, n->kids[1]);
		if (!text)
			refuse(p, "%s: a parameter was not given", f->known->word);
		f->text = own(p, xstrdup(text));
		if (f->known->compare == SUBPATH && f->text[0] != '/')
			refuse(p, "subpath '%s' does not begin with a slash", f->text);
		if (f->known->compare == SUBPATH && f->text[1] && f->text[strlen(f->text) - 1] == '/')
			refuse(p, "subpath '%s' ends with a slash", f->text);
		if (f->known->compare == REGEX)
			make_regex(p, f);
	}
	return f;
}

/* ---- rules ---- */

static void add_modifier(struct sbpl *p, struct rule *r, const struct node *n)
{
	if (n->n < 2 || n->kids[1]->kind != WORD)
		refuse(p, "with: what?");
	word_of(p, n->kids[1]);
	if (is_word(n->kids[1], "message") && n->n == 3)
		r->message = own(p, xstrdup(text_of(p, n->kids[2])));
}

static void add_rule(struct sbpl *p, const struct node *n)
{
	struct rule r = { .allow = is_word(n->kids[0], "allow") };

	if (p->seen == 0)
		refuse(p, "a rule before (version 1)");
	p->seen = 2;
	for (size_t i = 1; i < n->n; i++) {
		const struct node *kid = n->kids[i];
		if (kid->kind == WORD && !r.n_filters) {
			if (!is_operation(kid->text) || !is_known(p, kid->text))
				refuse(p, "there is no operation '%s'", kid->text);
			append(p, &r.operations, &r.n_operations, own(p, xstrdup(kid->text)));
		} else if (is_form(kid, "with")) {
			add_modifier(p, &r, kid);
		} else {
			append(p, &r.filters, &r.n_filters, make_filter(p, kid));
		}
	}
	if (!r.n_operations)
		refuse(p, "a rule without an operation");
	p->rules = xreallocarray(p->rules, p->n_rules + 1, sizeof(*p->rules));
	p->rules[p->n_rules++] = r;
}

static void define(struct sbpl *p, const struct node *n)
{
	if (n->n != 3 || n->kids[1]->kind != WORD)
		refuse(p, "define: only a name and a value");
	const char *value = text_of(p, n->kids[2]);
	p->variables = xreallocarray(p->variables, p->n_variables + 1, sizeof(*p->variables));
	p->variables[p->n_variables++] = (struct variable){ n->kids[1]->text, value ? own(p, xstrdup(value)) : NULL };
}

static void run(struct sbpl *p, const struct node *n)
{
	if (is_form(n, "version")) {
		if (n->n != 2 || n->kids[1]->number != 1)
			refuse(p, "another version than 1");
		p->seen = p->seen ? p->seen : 1;
	} else if (is_form(n, "allow") || is_form(n, "deny")) {
		add_rule(p, n);
	} else if (is_form(n, "define")) {
		define(p, n);
	} else if (is_form(n, "begin")) {
		for (size_t i = 1; i < n->n; i++)
			run(p, n->kids[i]);
	} else if (is_form(n, "if") && n->n >= 3 && n->n <= 4) {
		if (truth_of(p, n->kids[1]))
			run(p, n->kids[2]);
		else if (n->n == 4)
			run(p, n->kids[3]);
	} else {
		refuse(p, "what is '%s'?", n->kind == LIST && n->n && n->kids[0]->kind == WORD ? n->kids[0]->text : "this expression");
	}
}

struct sbpl *sbpl_read(const char *text, const char *const *parameters, const char *missing, char **ret_error)
{
	struct sbpl *p = xcalloc(1, sizeof(*p));

	p->at = text;
	p->parameters = parameters;
	p->missing = missing;
	if (setjmp(p->refused)) {
		*ret_error = p->error;
		sbpl_free(p);
		return NULL;
	}
	for (;;) {
		skip_space(p);
		if (!*p->at)
			break;
		run(p, read_node(p));
	}
	if (!p->seen)
		refuse(p, "an empty profile");
	return p;
}

void sbpl_free(struct sbpl *p)
{
	for (size_t i = 0; i < p->n_regexes; i++)
		regfree(p->regexes[i]);
	for (size_t i = 0; i < p->n_owned; i++)
		free(p->owned[i]);
	free(p->owned);
	free(p->rules);
	free(p->variables);
	free(p);
}
