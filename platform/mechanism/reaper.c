/*
 * The end of a run: as a subreaper the supervisor inherits every orphan of the command, and ends what is left. The code is
 * supervisor/watch.c; this is its row in the plan, of its own because its level is another than the session's.
 */
#include "platform/mechanism/mechanism.h"

static bool reaper_available(struct host *h, const struct policy *p, char **ret_evidence)
{
	(void)p;
	bool yes = host_has(h, CAP_SUBREAPER);
	*ret_evidence = xstrdup(h->caps[CAP_SUBREAPER].evidence);
	return yes;
}

static enum extent reaper_holds(const struct view *v, const struct rule *r, struct strv *caveats)
{
	if (r->guarantee != G_proc_lifetime)
		return HOLDS_NOT;
	strv_add(caveats, "a process that kills hurdle first survives it");
	if (!v->host->caps[CAP_PROC].available)
		strv_add(caveats, "without /proc only the command's process group is found");
	return HOLDS_WHOLE;
}

const struct mechanism mechanism_reaper = {
	.name = "reaper", .what = "ends every process that the command leaves behind", .level = LEVEL_APPLICATION,
	.role = ROLE_BASE,
	.available = reaper_available, .holds = reaper_holds,
};
