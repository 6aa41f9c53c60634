#include "supervisor/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "envscrub/scrub.h"
#include "platform/base/cleanup.h"
#include "platform/mechanism/masked.h"
#include "platform/policy/egress.h"
#include "platform/policy/paths.h"
#include "supervisor/policy_build.h"
#include "supervisor/report_json.h"

/* ---- paths ---- */

int explain_resolve(const struct policy *p, const char *text, char **ret, bool *ret_exists, struct err *err)
{
	_cleanup_free_ char *raw = NULL;
	struct stat st;
	int r;

	/* ".." stays: what it leads to depends on the links before it */
	if (text[0] == '~' && (text[1] == '/' || !text[1]) && p->home && lstat(text, &st) < 0)
		raw = strf("%s%s", p->home, text + 1);
	else
		raw = text[0] == '/' ? xstrdup(text) : strf("%s/%s", p->cwd, text);
	r = path_resolve(raw, ret);
	if (r < 0)
		return err_set(err, r, "cannot resolve '%s': %s", text, strerror(-r));
	*ret_exists = lstat(*ret, &st) == 0;
	return 0;
}

static enum guarantee guarantee_of(enum access access)
{
	return access == ACCESS_READ ? G_fs_read_deny : access == ACCESS_EXEC ? G_fs_exec : access == ACCESS_CONNECT ? G_net_unix : G_fs_write;
}

static const char *allowed_words(enum access access)
{
	return access == ACCESS_READ ? "no rule denies reading it" : access == ACCESS_EXEC ? "no rule denies running it" : "allowed";
}

/* ---- what lost ---- */

static bool concerns(const struct rule *r, enum access access)
{
	switch (access) {
	case ACCESS_READ:    return r->kind == RULE_DENY_READ || r->kind == RULE_ALLOW_READ || r->kind == RULE_ALLOW_WRITE;
	case ACCESS_EXEC:    return r->kind == RULE_DENY_EXEC || r->kind == RULE_GRANT_EXEC;
	case ACCESS_CONNECT: return r->kind == RULE_ALLOW_SOCKET || r->kind == RULE_DENY_WRITE || r->kind == RULE_ALLOW_WRITE;
	case ACCESS_DELETE:
	case ACCESS_MOVE:    return r->kind == RULE_ALLOW_WRITE || r->kind == RULE_DENY_WRITE || r->kind == RULE_DENY_DELETE || r->kind == RULE_PROTECT_NAME;
	default:             return r->kind == RULE_ALLOW_WRITE || r->kind == RULE_DENY_WRITE || r->kind == RULE_PROTECT_NAME;
	}
}

static bool covers(const struct rule *r, const char *path)
{
	if (!r->path)
		return false;
	if (!r->pattern)
		return path_under(path, r->path);
	for (size_t n = 1; n <= strlen(path); n++)
		if ((path[n] == '/' || !path[n]) && glob_match(r->path, strlen(r->path), path, n, r->icase))
			return true;
	return false;
}

enum { OVER_MAX = 3 };

/* Rules that say the contrary of the verdict about this very path. */
static char *find_over(const struct policy *p, enum access access, const char *path, uint32_t winner, bool allowed)
{
	struct str s = STR_INIT;
	size_t n = 0;

	for (uint32_t i = 0; i < p->n_rules && n < OVER_MAX; i++) {
		const struct rule *r = &p->rules[i];
		const bool denies = r->kind == RULE_DENY_WRITE || r->kind == RULE_DENY_DELETE || r->kind == RULE_DENY_READ ||
				    r->kind == RULE_DENY_EXEC || r->kind == RULE_PROTECT_NAME;
		_cleanup_free_ char *words = NULL;

		if (i == winner || denies != allowed || !concerns(r, access) || !covers(r, path))
			continue;
		words = policy_rule_words(p, i, access);
		str_addf(&s, "%s%s", n++ ? ", " : "", words);
	}
	return s.len ? str_take(&s) : NULL;
}

/* ---- what would help ---- */

/* Whoever wrote the rule can take it back; what nobody wrote has an option that goes before it, or is beyond change. */
static char *change_rule(const struct rule *r, const char *path)
{
	if (r->kind == RULE_PROTECT_NAME)
		return r->text && strstr(r->text, ".git/") && strstr(r->text, "config") ? xstrdup("--allow-git-config") : NULL;
	if (r->layer == LAYER_MANAGED)
		return strf("the administrator's file: %s", r->origin);
	if (r->kind == RULE_DENY_READ)
		return strf("--allow-read '%s'", path);
	return r->layer == LAYER_DEFAULT ? NULL : strf("take away %s", r->origin);
}

static char *change_root(enum access access, const char *path)
{
	_cleanup_free_ char *place = xstrdup(path);
	struct stat st;

	if (access == ACCESS_CONNECT)
		return path_opens_container_engine(path) ? NULL : strf("--allow-unix '%s'", path);
	if (access == ACCESS_EXEC)
		return strf("--exec-grant '%s'", path);
	if (access == ACCESS_READ)
		return strf("--allow-read '%s'", path);
	/* a root must exist, and removing a root takes the directory above it */
	for (bool first = access == ACCESS_DELETE || access == ACCESS_MOVE; first || lstat(place, &st) < 0; first = false) {
		char *slash = strrchr(place, '/');

		if (!slash)
			return NULL;
		slash[slash == place] = '\0';
	}
	/* nobody should open those because it was suggested */
	if (path_opens_container_engine(path) || path_opens_container_engine(place))
		return NULL;
	return strf("--allow-write '%s'", *place ? place : "/");
}

static void set_change(struct explained *e, const struct policy *p, enum access access, const char *path, const struct verdict *v)
{
	if (e->allowed || e->change)
		return;
	e->change = v->rule < p->n_rules ? change_rule(&p->rules[v->rule], path) : change_root(access, path);
}

static void set_rule(struct explained *e, const struct plan *plan, const struct rule *r)
{
	e->rule = report_rule_title(r);
	e->origin = r->origin;
	e->layer = report_layer_name(r->layer);
	if (e->allowed)
		return;
	e->level = plan->rules[r - plan->policy->rules].level;
	e->by = plan->rules[r - plan->policy->rules].by;
}

/* No rule allows it: the guarantee as a whole holds that. */
static void set_no_rule(struct explained *e, const struct plan *plan, enum access access)
{
	e->rule = policy_rule_words(plan->policy, IMAGE_NONE, access);
	e->level = plan->guarantees[guarantee_of(access)].level;
	e->by = plan->guarantees[guarantee_of(access)].by;
}

/* A program that the shim cannot enter: --strict refuses it, else it runs outside the file rules. */
static void look_at_coverage(struct explained *e, const struct plan *plan, const char *path)
{
	struct stat st;

	if (!e->allowed || plan->policy->scrub_only || stat(path, &st) < 0 || !S_ISREG(st.st_mode) || access(path, X_OK) < 0)
		return;
	const int reason = preload_coverage(path);
	if (reason == UNCOVERED_NONE)
		return;
	e->note = uncovered_reason_words(reason);
	if (!plan->policy->strict)
		return;
	e->allowed = false;
	free(e->rule);
	e->rule = xstrdup("strict: a program that the rules cannot reach");
	e->change = xstrdup("run it without --strict");
	e->level = plan->guarantees[G_exec_coverage].level;
	e->by = plan->guarantees[G_exec_coverage].by;
}

/*
 * The change is tried: other rules may stand against it as well. Only options can be tried, since files are not written here; what is
 * said of them is said by the rule itself.
 */
static bool helps(const struct options *with, enum access access, const char *path)
{
	_cleanup_(err_clear) struct err err = ERR_NONE;
	const struct image_options none = { 0 };
	struct verdict v = { .outcome = OUTCOME_DENY };
	struct image *img = NULL;
	struct policy *p = NULL;
	size_t size;

	if (policy_build(with, &p, &err) == 0 && policy_compile(p, &none, &img, &size, &err) == 0)
		policy_decide(img, access, path, strlen(path), &v);
	free(img);
	policy_free(p);
	return v.outcome == OUTCOME_ALLOW;
}

void explain_try_change(const struct options *o, struct explained *e, const char *path)
{
	static const struct { const char *prefix; enum rule_kind kind; const char *option; } kinds[] = {
		{ "--allow-write '", RULE_ALLOW_WRITE, "allow-write" }, { "--allow-read '", RULE_ALLOW_READ, "allow-read" },
		{ "--exec-grant '", RULE_GRANT_EXEC, "exec-grant" }, { "--allow-unix '", RULE_ALLOW_SOCKET, "allow-unix" },
	};
	struct options with = *o;
	bool tried = false, works = false;

	for (size_t i = 0; e->change && i < ARRAY_SIZE(kinds); i++) {
		const size_t n = strlen(kinds[i].prefix);
		_cleanup_free_ char *place = NULL;

		if (strncmp(e->change, kinds[i].prefix, n))
			continue;
		place = strf("%.*s", (int)(strlen(e->change) - n - 1), e->change + n);
		with.paths = xcalloc(o->n_paths + 1, sizeof(*with.paths));
		if (o->n_paths)
			memcpy(with.paths, o->paths, o->n_paths * sizeof(*with.paths));
		with.paths[with.n_paths++] = (struct option_path){ .kind = kinds[i].kind, .path = place, .option = kinds[i].option };
		tried = true;
		works = helps(&with, e->asked, path);
		free(with.paths);
	}
	if (e->change && !strcmp(e->change, "--allow-git-config")) {
		with.allow_git_config = tried = true;
		works = helps(&with, e->asked, path);
	}
	if (!tried || works)
		return;
	free(e->change);
	e->change = NULL;
}

/* The only notes that are not constant belong to a table, so they are made once. */
static const char *masked_note(const struct policy *p, const char *path)
{
	static char note[128];
	const char *variable = masked_variable(p, path);

	if (!variable)
		return NULL;
	snprintf(note, sizeof(note), "in a run %s leads to a copy without the secrets", variable);
	return note;
}

void explain_access(const struct plan *plan, const struct image *img, enum access access, const char *path, bool exists,
		    struct explained *ret)
{
	static const char *const names[] = {
		[ACCESS_READ] = "read", [ACCESS_WRITE] = "write", [ACCESS_CREATE] = "create", [ACCESS_EXEC] = "exec",
		[ACCESS_DELETE] = "delete", [ACCESS_MOVE] = "delete", [ACCESS_CONNECT] = "connect",
	};
	const struct policy *p = plan->policy;
	struct stat st;
	struct verdict v = { .outcome = OUTCOME_ALLOW, .rule = IMAGE_NONE };

	access = access == ACCESS_WRITE && !exists ? ACCESS_CREATE : access;
	/* a directory goes with what lies in it */
	if (access == ACCESS_DELETE && lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
		access = ACCESS_MOVE;
	if (img)
		policy_decide(img, access, path, strlen(path), &v);
	*ret = (struct explained){ .access = names[access], .allowed = v.outcome == OUTCOME_ALLOW, .level = LEVEL_NA };
	/* the write root that a program lies under is not why it may run */
	if (ret->allowed && access == ACCESS_EXEC && v.rule < p->n_rules && p->rules[v.rule].kind != RULE_GRANT_EXEC)
		v.rule = IMAGE_NONE;
	if (v.rule < p->n_rules)
		set_rule(ret, plan, &p->rules[v.rule]);
	else if (!ret->allowed)
		set_no_rule(ret, plan, access);
	else
		ret->rule = xstrdup(img ? allowed_words(access) : "the environment alone is under rules");
	if (v.outcome == OUTCOME_DENY_IF_OLD)
		ret->note = "denied when the directory that holds it existed before the run";
	if (access == ACCESS_EXEC)
		look_at_coverage(ret, plan, path);
	if (!img)
		return;
	ret->asked = access;
	ret->over = find_over(p, access, path, v.rule, ret->allowed);
	set_change(ret, p, access, path, &v);
	if (access == ACCESS_READ && !ret->allowed && !ret->note)
		ret->note = masked_note(p, path);
}

void explained_release(struct explained *e)
{
	free(e->rule);
	free(e->over);
	free(e->change);
	*e = (struct explained){ 0 };
}

/* ---- hosts ---- */

static bool is_extension(const char *s)
{
	static const char *const extensions[] = {
		"txt", "md", "c", "h", "cc", "cpp", "o", "so", "a", "py", "js", "ts", "json", "toml", "yaml", "yml", "lock", "log", "sh", "pem", "key", "tmp",
		"html", "css", "rs", "go", "java", "rb", "php", "xml", "csv", "tar", "gz", "zip", "pdf", "png", "cfg", "conf", "ini", "env", "sql", "db",
	};

	for (size_t i = 0; i < ARRAY_SIZE(extensions); i++)
		if (!strcasecmp(s, extensions[i]))
			return true;
	return false;
}

/* HOST, HOST:PORT, [V6], [V6]:PORT. */
static int parse_host(const char *text, struct hostname *ret, uint16_t *ret_port, const char **ret_why)
{
	size_t n;

	*ret_port = 443;
	if (authority_split(text, strlen(text), &n, ret_port, ret_why) == 0)
		return hostname_parse_written(text, n, ret, ret_why);
	*ret_port = 443;
	return hostname_parse_written(text, strlen(text), ret, ret_why);
}

bool explain_looks_like_host(const char *text)
{
	struct hostname h;
	uint16_t port;
	const char *why, *dot = strrchr(text, '.');

	if (strchr(text, '/') || text[0] == '.' || text[0] == '~' || access(text, F_OK) == 0 || parse_host(text, &h, &port, &why) < 0)
		return false;
	if (h.address.family || strchr(text, ':'))
		return true;
	return dot && dot[1] && !is_extension(dot + 1);
}

static char *change_host(const struct egress_verdict *v, const char *host)
{
	if (v->unlisted)
		return strf("\"%s\" in network.allowedDomains", host);
	if (!v->origin || v->layer == LAYER_DEFAULT)
		return NULL;
	return strf(v->layer == LAYER_MANAGED ? "the administrator's file: %s" : "take away %s", v->origin);
}

static void set_host(struct explained *e, const struct plan *plan, const struct egress *rules, const struct hostname *h, uint16_t port)
{
	struct egress_verdict v;

	egress_decide(rules, h, port, &v);
	*e = (struct explained){ .access = "host", .allowed = v.outcome == EGRESS_ALLOW, .level = LEVEL_NA };
	e->rule = v.text ? strf("%s %s (%s)", e->allowed ? "allowedDomains" : "deniedDomains", v.text, v.origin) : xstrdup(v.reason);
	e->layer = v.text ? report_layer_name(v.layer) : NULL;
	e->change = e->allowed ? NULL : change_host(&v, h->text);
	if (!e->allowed) {
		e->level = plan->guarantees[G_net_domains].level;
		e->by = plan->guarantees[G_net_domains].by;
	}
}

int explain_host(const struct plan *plan, const char *text, struct explained_host *ret, struct err *err)
{
	const struct policy *p = plan->policy;
	struct egress *rules = NULL;
	struct hostname h;
	const char *why = NULL;
	uint16_t port;
	int r = parse_host(text, &h, &port, &why);

	if (r < 0)
		return err_set(err, r, "'%s' is no host: %s", text, why ? why : "malformed");
	/* the plan's policy is ours alone, and compiling only adds warnings to it */
	r = p->net == NET_FILTER ? egress_compile((struct policy *)(uintptr_t)p, &rules, err) : 0;
	if (r < 0)
		return r;
	*ret = (struct explained_host){ .host = xstrdup(h.text), .port = port };
	if (rules)
		set_host(&ret->verdict, plan, rules, &h, port);
	else
		ret->verdict = (struct explained){
			.access = "host", .allowed = p->net == NET_OPEN, .level = p->net == NET_OPEN ? LEVEL_NA : plan->guarantees[G_net_egress].level,
			.by = p->net == NET_OPEN ? 0 : plan->guarantees[G_net_egress].by,
			.rule = xstrdup(p->net == NET_OPEN ? "the network is open" : "the network is off"),
			.change = p->net == NET_OPEN ? NULL : xstrdup("--net=filter, and the host in network.allowedDomains"),
		};
	egress_free(rules);
	return 0;
}

void explained_host_release(struct explained_host *h)
{
	free(h->host);
	explained_release(&h->verdict);
}

/* ---- variables ---- */

static bool names(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(entry, name, n) && entry[n] == '=';
}

/* The environment with name in it: families and copies are judged by all of it. */
static char **with_variable(char *const envp[], const char *name, const char *assignment, bool *ret_set)
{
	char **copy;
	size_t n = 0;

	*ret_set = false;
	while (envp && envp[n])
		*ret_set |= names(envp[n++], name);
	copy = xcalloc(n + 2, sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = envp[i];
	if (!*ret_set)
		memcpy(&copy[n], &assignment, sizeof(assignment));
	return copy;
}

int explain_variable(const struct policy *p, char *const envp[], const char *name, struct explained_variable *ret)
{
	const struct scrub_options options = {
		.keep = (const char *const *)p->env_keep.v, .drop = (const char *const *)p->env_drop.v,
		.drop_handles = p->no_handles || !(p->unix_open || p->scrub_only), .with = (const char *const *)p->env_set.v,
	};
	_cleanup_free_ char *assignment = strf("%s=1", name);
	_cleanup_free_ char **all = with_variable(envp, name, assignment, &ret->set);
	_cleanup_(scrub_result_clear) struct scrub_result result = { 0 };
	int r = scrub_env(&options, all, &result);

	if (r < 0)
		return r;
	ret->dropped = false;
	ret->reason = NULL;
	for (size_t i = 0; i < result.n_drops && !ret->dropped; i++) {
		if (strcmp(result.drops[i].name, name))
			continue;
		ret->dropped = true;
		ret->reason = xstrdup(result.drops[i].why);
	}
	return 0;
}
