/* What the policy keeps as it stands in the files: lists of hosts and commands, permission rules, who decided a single value. */
#include <errno.h>
#include <string.h>
#include "platform/base/cleanup.h"
#include "platform/policy/defaults.h"

void item_release(struct item *i)
{
	free(i->text);
	free(i->value);
	free(i->origin);
}

static bool same_value(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

void policy_add_item(struct policy *p, enum list list, enum layer layer, const char *text, const char *value, const char *origin)
{
	struct items *items = &p->lists[list];
	struct item *i = NULL;

	items->given = true;
	for (size_t n = 0; n < items->n && !i; n++)
		if (!strcmp(items->v[n].text, text) && (list == LIST_DOMAIN_REASONS || same_value(items->v[n].value, value)))
			i = &items->v[n];
	if (i && i->layer >= layer)
		return;
	if (i) {
		item_release(i);
	} else {
		items->v = xreallocarray(items->v, items->n + 1, sizeof(*items->v));
		i = &items->v[items->n++];
	}
	*i = (struct item){ .text = xstrdup(text), .value = value ? xstrdup(value) : NULL, .origin = xstrdup(origin), .layer = layer };
}

/* ---- permissions ---- */

/* The next c that no backslash stands before; NULL: none. */
static const char *find_plain(const char *s, char c)
{
	for (; *s; s++) {
		if (*s == '\\' && s[1])
			s++;
		else if (*s == c)
			return s;
	}
	return NULL;
}

static char *unescape(const char *s, size_t n)
{
	struct str b = STR_INIT;

	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\' && i + 1 < n && strchr("()\\", s[i + 1]))
			i++;
		str_addn(&b, s + i, 1);
	}
	return str_take(&b);
}

/* mcp__server__tool has more in it, but no space or bracket. */
static bool is_tool(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strchr(" \t\r\n()\\", s[i]))
			return false;
	return n > 0;
}

int policy_add_permission(struct policy *p, enum permission_list list, enum layer layer, const char *text, const char *origin)
{
	const char *open = find_plain(text, '(');
	const size_t len = strlen(text), tool = open ? (size_t)(open - text) : len;
	_cleanup_free_ char *argument = NULL;

	if (!is_tool(text, tool) || (open && text[len - 1] != ')'))
		return -EINVAL;
	if (open)
		argument = unescape(open + 1, (size_t)(text + len - 1 - (open + 1)));
	if (argument && (!*argument || !strcmp(argument, "*"))) {
		free(argument);
		argument = NULL;
	}
	p->permissions = xreallocarray(p->permissions, p->n_permissions + 1, sizeof(*p->permissions));
	p->permissions[p->n_permissions++] = (struct permission){
		.list = list, .layer = layer, .tool = strf("%.*s", (int)tool, text), .argument = TAKE_PTR(argument), .text = xstrdup(text),
		.origin = xstrdup(origin),
	};
	return 0;
}

/* ---- variables ---- */

void policy_set_variable(struct policy *p, const char *assignment)
{
	const size_t n = strcspn(assignment, "=") + 1;

	for (size_t i = 0; i < p->env_set.n; i++) {
		if (strncmp(p->env_set.v[i], assignment, n))
			continue;
		free(p->env_set.v[i]);
		p->env_set.v[i] = xstrdup(assignment);
		return;
	}
	strv_add(&p->env_set, assignment);
}


static bool is_git_count(const char *assignment)
{
	return !strncmp(assignment, "GIT_CONFIG_COUNT=", 17);
}

bool policy_has_git_variables(const struct policy *p, char *const envp[])
{
	for (size_t i = 0; i < p->env_set.n; i++)
		if (is_git_count(p->env_set.v[i]))
			return true;
	for (; envp && *envp; envp++)
		if (is_git_count(*envp))
			return true;
	return false;
}

/* ---- single values ---- */

void policy_decided(struct policy *p, enum scalar scalar, enum layer layer, const char *origin)
{
	p->set_by[scalar] = layer;
	free(p->set_origin[scalar]);
	p->set_origin[scalar] = xstrdup(origin);
}

void policy_lists_release(struct policy *p)
{
	for (size_t l = 0; l < LIST_COUNT; l++) {
		for (size_t i = 0; i < p->lists[l].n; i++)
			item_release(&p->lists[l].v[i]);
		free(p->lists[l].v);
	}
	for (size_t i = 0; i < p->n_permissions; i++) {
		free(p->permissions[i].tool);
		free(p->permissions[i].argument);
		free(p->permissions[i].text);
		free(p->permissions[i].origin);
	}
	free(p->permissions);
	for (size_t i = 0; i < SCALAR_COUNT; i++)
		free(p->set_origin[i]);
	free(p->parent_http);
	free(p->parent_https);
	free(p->parent_no_proxy);
}
