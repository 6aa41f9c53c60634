/* The proxy of one run: from the plan to its process, and from its record to what people read. */
#pragma once
#include "platform/mechanism/mechanism.h"
#include "supervisor/proxy/proxy.h"
#include "supervisor/violations.h"

/* Takes the proxies above from the settings or from hurdle's own environment, before that is wiped. 0 or a negative errno with words. */
int proxy_run_prepare(struct launch *l, struct err *err);
/* Starts it where the plan leads to one of hurdle's own; l->route.listen_fd is closed here. 0 or a negative errno with words. */
int proxy_run_start(struct launch *l, struct err *err);
/* waitpid() has seen this child end; nothing when it is another. */
void proxy_run_reaped(struct launch *l, pid_t pid);
/* The command is gone: so is the proxy. */
void proxy_run_stop(struct launch *l);
void proxy_run_release(struct launch *l);

/* What it refused, behind the violations that are there. */
void proxy_run_add_violations(const struct launch *l, struct violations *to);
/* Its record; NULL: none ran. */
const struct record *proxy_run_record(const struct launch *l);
/* The proxy ended before the command did. */
bool proxy_run_died(const struct launch *l);
