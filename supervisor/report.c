#include "supervisor/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "supervisor/report_json.h"

int report_open(const char *path, int *ret_fd, struct err *err)
{
	/* O_NONBLOCK: a FIFO that nobody reads would hang here (fifo(7)); ENXIO says so instead */
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);

	if (fd < 0) {
		const char *why = errno == ELOOP ? "it is a symbolic link, which is not followed" :
				  errno == ENXIO ? "nobody reads from it" : strerror(errno);

		return err_set(err, -errno, "cannot write the report '%s': %s", path, why);
	}
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0) {
		int r = err_set(err, -errno, "cannot write the report '%s': %s", path, strerror(errno));

		close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

/* ---- the document ---- */

static json_t *run_json(const struct run_report *report)
{
	json_t *run = json_object(), *command = json_array();

	for (char *const *s = report->command; s && *s; s++)
		json_array_append_new(command, json_text(*s));
	json_object_set_new(run, "command", command);
	json_object_set_new(run, "exit", json_integer(report->exit));
	json_object_set_new(run, "signal", report->signal ? json_integer(report->signal) : json_null());
	json_object_set_new(run, "duration", json_real(report->duration));
	return run;
}

/* RFC 3339, UTC. The time is the confined side's word, so it may be one that no calendar has. */
static json_t *time_json(int64_t ms)
{
	const time_t seconds = (time_t)(ms / 1000);
	char day[40];
	_cleanup_free_ char *text = NULL;
	struct tm tm;

	if (ms < 0 || ms / 1000 > 253402300799 /* the year 9999 */ || !gmtime_r(&seconds, &tm) || !strftime(day, sizeof(day), "%FT%T", &tm))
		return json_null();
	text = strf("%s.%03dZ", day, (int)(ms % 1000));
	return json_text(text);
}

static json_t *violations_json(const struct violations *violations)
{
	json_t *list = json_array();

	for (size_t i = 0; i < violations->n; i++) {
		const struct violation *v = &violations->list[i];
		json_t *one = json_object();

		json_object_set_new(one, "action", json_text(v->action));
		json_object_set_new(one, "target", json_text(v->target));
		json_object_set_new(one, "rule", json_text(v->rule));
		json_object_set_new(one, "mechanism", json_text(v->mechanism));
		json_object_set_new(one, "raw", json_text(v->raw));
		json_object_set_new(one, "pid", json_integer(v->pid));
		json_object_set_new(one, "program", json_text(v->program));
		json_object_set_new(one, "time", time_json(v->time_ms));
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *uncovered_json(const struct violations *violations)
{
	json_t *list = json_array();

	for (size_t i = 0; i < violations->n_uncovered; i++) {
		const struct uncovered *u = &violations->uncovered[i];
		json_t *one = json_object();

		json_object_set_new(one, "program", json_text(u->program));
		json_object_set_new(one, "reason", json_text(u->reason));
		json_object_set_new(one, "refused", json_boolean(u->refused));
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *scrubbed_json(const struct scrub_result *scrubbed)
{
	json_t *list = json_array();

	for (size_t i = 0; scrubbed && i < scrubbed->n_drops; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "name", json_text(scrubbed->drops[i].name));
		json_object_set_new(one, "reason", json_text(scrubbed->drops[i].why));
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *hosts_json(const struct record *record)
{
	json_t *list = json_array();
	const size_t n = !record ? 0 : record->n_hosts < RECORD_HOSTS ? record->n_hosts : RECORD_HOSTS;

	for (size_t i = 0; i < n; i++) {
		const struct record_host *h = &record->host[i];
		_cleanup_free_ char *name = strf("%.*s", (int)strnlen(h->host, sizeof(h->host)), h->host);
		json_t *one = json_object();

		json_object_set_new(one, "host", json_text(name));
		json_object_set_new(one, "port", json_integer(h->port));
		json_object_set_new(one, "verdict", json_text(h->allowed ? "allow" : "deny"));
		json_object_set_new(one, "times", json_integer(h->times));
		json_object_set_new(one, "bytes", json_integer((json_int_t)h->sent + (json_int_t)h->received));
		json_object_set_new(one, "sent", json_integer((json_int_t)h->sent));
		json_object_set_new(one, "received", json_integer((json_int_t)h->received));
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *document(const struct run_report *report)
{
	json_t *d = report_plan(report->plan, report->host);

	json_object_set_new(d, "run", run_json(report));
	json_object_set_new(d, "cwd", json_text(report->cwd));
	json_object_set_new(d, "violations", violations_json(report->violations));
	json_object_set_new(d, "violationCount", json_integer((json_int_t)report->violations->total));
	json_object_set_new(d, "scrubbed", scrubbed_json(report->scrubbed));
	json_object_set_new(d, "hosts", hosts_json(report->hosts));
	json_object_set_new(d, "uncovered", uncovered_json(report->violations));
	json_object_set_new(d, "repositories", json_text_list(report->repositories));
	return d;
}

int report_finish(int fd, const char *path, const struct run_report *report, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	json_t *d = document(report);
	struct stat st;
	int r = 0;
	bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);

	text = json_dumps(d, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	json_decref(d);
	if (!text)
		return err_set(err, -ENOMEM, "cannot write the report '%s': out of memory", path);
	/* the command may have written there as well */
	if (regular && (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0))
		r = -errno;
	if (r == 0)
		r = write_all(fd, text, strlen(text));
	if (r == 0)
		r = write_all(fd, "\n", 1);
	/* half a document helps nobody */
	if (r < 0 && regular && ftruncate(fd, 0) < 0)
		r = -errno;
	return r < 0 ? err_set(err, r, "cannot write the report '%s': %s", path, strerror(-r)) : 0;
}
