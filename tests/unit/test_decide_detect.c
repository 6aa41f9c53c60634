/* The classifier over tests/tables/commands.tsv, the table of detectors itself, and its time. */
#include <time.h>

#include "platform/base/cleanup.h"
#include "supervisor/decide/detect.h"
#include "tests/unit/commands_table.h"

TestSuite(decide_detect, .timeout = 200);

/* Readable: all but keys, passwords and .env. Writable: below the directory, but for what git runs. */
static bool may(void *context, bool write, const char *path)
{
	(void)context;
	if (write)
		return path[0] != '/' && path[0] != '~' && !strstr(path, "..") && !strstr(path, ".git/");
	return !strstr(path, "/.ssh") && !strstr(path, "shadow") && !strstr(path, ".env") && !strstr(path, "/proc/self/environ");
}
static const struct path_judge judge = { may, NULL };

struct result { const char *verdict, *detector; struct finding finding; };

static struct result classify(const char *command, size_t len)
{
	struct shell sh;
	struct result r = { "passthrough", "-", { 0 } };

	shell_parse(&sh, command, len);
	r.finding = detect(&sh, &judge);
	if (r.finding.decision != DECISION_PASS) {
		r.verdict = decision_name(r.finding.decision);
		r.detector = detectors[r.finding.detector].id;
	} else if (only_reads(&sh, &judge)) {
		r.verdict = "allow";
		r.detector = "read-only";
	}
	shell_release(&sh);
	return r;
}

Test(decide_detect, table_of_commands)
{
	struct table_rows t;
	size_t wrong = 0, of[DETECTOR_COUNT] = { 0 }, not_flagged = 0;

	table_read(&t);
	cr_assert_geq(t.n, 700);
	for (size_t i = 0; i < t.n; i++) {
		const struct table_row *row = &t.v[i];
		const struct result r = classify(row->command, row->len);

		for (int k = 0; k < DETECTOR_COUNT; k++)
			of[k] += !strcmp(row->detector, detectors[k].id);
		not_flagged += !strcmp(row->detector, "-") || !strcmp(row->detector, "read-only");
		if (!strcmp(r.verdict, row->verdict) && !strcmp(r.detector, row->detector)) {
			cr_expect(r.finding.at.start <= r.finding.at.end && r.finding.at.end <= row->len, "line %d: span %u-%u of %zu", row->line, r.finding.at.start,
				  r.finding.at.end, row->len);
			continue;
		}
		_cleanup_free_ char *shown = str_escape(row->command);
		wrong++;
		cr_expect(false, "line %d: got %s %s, want %s %s: %s%s%s", row->line, r.verdict, r.detector, row->verdict, row->detector, shown,
			  r.finding.message ? ": " : "", r.finding.message ? r.finding.message : "");
	}
	cr_assert_eq(wrong, 0, "%zu of %zu rows", wrong, t.n);
	cr_assert_geq(not_flagged, t.n / 3, "near misses");
	for (int k = 0; k < DETECTOR_COUNT; k++)
		cr_assert_geq(of[k], 8, "%s has %zu rows", detectors[k].id, of[k]);
	table_free(&t);
}

Test(decide_detect, detectors_have_their_examples)
{
	cr_assert_eq(DETECTOR_COUNT, 23);
	for (int i = 0; i < DETECTOR_COUNT; i++) {
		_cleanup_free_ char *example = xstrdup(detectors[i].example);
		struct str text = STR_INIT;

		/* characters that a table should not hold are written as escapes there */
		for (const char *s = example; *s; s++) {
			if (!strncmp(s, "\\033", 4)) {
				str_add(&text, "\033");
				s += 3;
			} else if (!strncmp(s, "\\u00a0", 6)) {
				str_add(&text, "\xc2\xa0");
				s += 5;
			} else {
				str_addn(&text, s, 1);
			}
		}
		const struct result r = classify(text.s, text.len);
		cr_expect_eq(detectors[i].number, i + 1, "%s", detectors[i].id);
		cr_expect_str_eq(r.detector, detectors[i].id, "%s", detectors[i].example);
		cr_expect(strstr(detectors[i].behaviour, r.verdict), "%s: %s", detectors[i].id, r.verdict);
		str_free(&text);
	}
}

/* ---- time ---- */

static double seconds_of(const char *text, size_t len)
{
	struct timespec a, b;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	classify(text, len);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

static double best(const char *piece, size_t size)
{
	struct str s = STR_INIT;
	double least = 1e9;

	while (s.len < size)
		str_add(&s, piece);
	for (int n = 0; n < 4; n++) {
		const double t = seconds_of(s.s, s.len);

		least = t < least ? t : least;
	}
	str_free(&s);
	return least;
}

/* Eight times the text may take eight times as long, and with what a busy machine adds not 40 times. Squared it would be 64. */
Test(decide_detect, time_is_linear)
{
	static const char *const pieces[] = {
		"ls -l; ", "echo a\\ b/../ ", "find . \\; ", "a\\;b ", "git commit -m \"$(cat)\" ", "$(ls) ", "jq .system ", "-\"x\" ", "/=/", "=/proc/a", "a#b ", "''#; ", "{a,b} ", "{",
		"}", "# it's\n", "'a\n#' ", "> x ", "< x ", "$IFS", "x=1 ", "sudo ", "env a=b ", "\xc3\xa9", "\xe3\x80\x80", "'\xe3\x80\x80' ", "cat <<E\n\\;\nE\n", "sh -c 'a' ", "eval ", "[[ a ]]; ",
		"\"a\nb\" ", "/a", "for x in a; do ls; done; ", "echo $((1)) ", "test -f x && ", "*", "IFS=x ", "git commit -m \"a\" ", "\\ ", "-m ",
	};

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		const double small = best(pieces[i], 40000), large = best(pieces[i], 320000);

		cr_assert_lt(large, small * 40 + 0.002, "'%s': %.6f s, and %.6f s for eight times as much", pieces[i], small, large);
	}
	if (getenv("HURDLE_SHOW"))
		for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
			fprintf(stderr, "%8.2f ms for 1 MiB of '%s'\n", best(pieces[i], 1 << 20) * 1e3, pieces[i]);
}

/* Prints what HURDLE_SHOW asks for; else it only sees that every row has a time. */
Test(decide_detect, time_of_a_command)
{
	struct table_rows t;
	double sum = 0, most = 0;

	table_read(&t);
	for (size_t i = 0; i < t.n; i++) {
		double least = 1;

		for (int n = 0; n < 5; n++) {
			const double s = seconds_of(t.v[i].command, t.v[i].len);

			least = s < least ? s : least;
		}
		sum += least;
		most = least > most ? least : most;
	}
	if (getenv("HURDLE_SHOW"))
		fprintf(stderr, "a command of the table: %.2f us on average, %.2f us at most\n", sum / (double)t.n * 1e6, most * 1e6);
	cr_assert_gt(sum, 0);
	table_free(&t);
}
