#include "supervisor/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"

enum { WIDTH_DEFAULT = 80, WIDTH_MAX = 1000, LAST_COLUMN_MIN = 24, CUT_COLUMN_MAX = 34 };

/* ---- standard output ---- */

int output_text(struct str *text)
{
	int r = write_all(STDOUT_FILENO, text->s ? text->s : "", text->len);

	str_free(text);
	/* who closed the pipe has read what he wanted */
	if (r == 0 || r == -EPIPE)
		return 0;
	say("cannot write to standard output: %s", strerror(-r));
	return EXIT_REFUSED;
}

int output_json(json_t *document)
{
	struct str text = STR_INIT;
	_cleanup_free_ char *dump = json_dumps(document, JSON_INDENT(2) | JSON_ENSURE_ASCII);

	json_decref(document);
	str_addf(&text, "%s\n", dump ? dump : "null");
	return output_text(&text);
}

void output_warnings(const struct policy *p)
{
	for (size_t i = 0; i < p->warnings.n; i++)
		say("warning: %s", p->warnings.v[i]);
}

/* ---- the screen ---- */

static size_t screen_width(void)
{
	const char *columns = getenv("COLUMNS"), *why;
	struct winsize size;
	long long n;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	n = strtonum(columns ? columns : "", 1, WIDTH_MAX, &why);
	return why ? WIDTH_DEFAULT : (size_t)n;
}

struct screen screen_probe(enum color wish)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	struct screen screen = { .terminal = isatty(STDOUT_FILENO), .width = screen_width() };

	screen.color = wish == COLOR_ALWAYS ||
		       (wish == COLOR_AUTO && screen.terminal && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0);
	return screen;
}

/* ---- tables ---- */

void table_add(struct table *t, const char *text)
{
	struct str cell = STR_INIT;

	str_add_visible(&cell, text);
	t->cells = xreallocarray(t->cells, t->n_cells + 1, sizeof(*t->cells));
	t->cells[t->n_cells++] = str_take(&cell);
}

void table_release(struct table *t)
{
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	t->cells = NULL;
	t->n_cells = 0;
}

/* Columns on the screen of the first n bytes: East Asian wide characters and emoji take two (UAX #11), combining marks none. */
static size_t columns_of(const char *s, size_t n)
{
	size_t columns = 0;

	for (size_t i = 0, step; i < n; i += step ? step : 1) {
		uint32_t c = 0;

		step = str_utf8(s + i, &c);
		if (c >= 0x300 && c < 0x370)
			continue;
		columns += (c >= 0x1100 && c < 0x1160) || (c >= 0x2e80 && c < 0xa4d0) || (c >= 0xac00 && c < 0xd7a4) ||
			   (c >= 0xf900 && c < 0xfb00) || (c >= 0xff00 && c < 0xff61) || (c >= 0x1f300 && c < 0x1fb00) ? 2 : 1;
	}
	return columns;
}

static const char *level_color(const char *level)
{
	static const struct { enum level level; const char *code; } colors[] = {
		{ LEVEL_KERNEL, "32" }, { LEVEL_SUPERVISED, "36" }, { LEVEL_APPLICATION, "33" }, { LEVEL_NONE, "31" }, { LEVEL_NA, "2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(colors); i++)
		if (!strcmp(level, level_name(colors[i].level)))
			return colors[i].code;
	return NULL;
}

static void add_colored(struct str *to, const char *text, const char *code)
{
	if (code)
		str_addf(to, "\033[%sm%s\033[0m", code, text);
	else
		str_add(to, text);
}

static void add_spaces(struct str *to, size_t n)
{
	str_addf(to, "%*s", (int)n, "");
}

/* How many bytes of s go on a line of so many columns: up to a blank where there is one. */
static size_t line_length(const char *s, size_t columns)
{
	size_t best = 0, n = 0;

	while (s[n]) {
		uint32_t code;
		size_t step = str_utf8(s + n, &code);

		step = step ? step : 1;
		if (columns_of(s, n + step) > columns)
			return best ? best : n ? n : step;
		if (s[n] == ' ')
			best = n;
		n += step;
	}
	return n;
}

static void add_wrapped(struct str *to, const char *s, size_t indent, size_t columns)
{
	while (*s) {
		size_t n = line_length(s, columns);

		str_addn(to, s, n);
		s += n;
		s += strspn(s, " ");
		if (*s) {
			str_add(to, "\n");
			add_spaces(to, indent);
		}
	}
	str_add(to, "\n");
}

/* The text in at most so many columns; owned. */
static char *shortened(const char *s, size_t columns)
{
	size_t n = 0;

	if (columns_of(s, strlen(s)) <= columns)
		return xstrdup(s);
	while (s[n]) {
		uint32_t code;
		size_t step = str_utf8(s + n, &code);

		step = step ? step : 1;
		if (columns_of(s, n + step) >= columns)
			break;
		n += step;
	}
	return strf("%.*s…", (int)n, s);
}

static void measure(const struct table *t, size_t width[])
{
	for (size_t c = 0; c < t->n_columns; c++)
		width[c] = columns_of(t->title[c], strlen(t->title[c]));
	for (size_t i = 0; i < t->n_cells; i++) {
		size_t n = columns_of(t->cells[i], strlen(t->cells[i])), *w = &width[i % t->n_columns];

		n = t->cut && n > CUT_COLUMN_MAX ? CUT_COLUMN_MAX : n;
		*w = n > *w ? n : *w;
	}
}

static size_t rest_of_line(const struct screen *screen, size_t indent)
{
	return screen->width > indent + LAST_COLUMN_MIN ? screen->width - indent : LAST_COLUMN_MIN;
}

static void print_last(struct str *to, const struct table *t, const char *cell, size_t indent, const struct screen *screen)
{
	_cleanup_free_ char *cut = t->cut ? shortened(cell, rest_of_line(screen, indent)) : NULL;

	if (cut)
		str_addf(to, "%s\n", cut);
	else
		add_wrapped(to, cell, indent, rest_of_line(screen, indent));
}

static void print_row(struct str *to, const struct table *t, const char *const cells[], const size_t width[], const struct screen *screen,
		      bool heading)
{
	const size_t last = t->n_columns - 1;
	size_t indent = 0;

	for (size_t c = 0; c < last; c++) {
		const char *code = heading ? "1" : (int)c == t->level_column ? level_color(cells[c]) : NULL;
		_cleanup_free_ char *cell = shortened(cells[c], width[c]);

		add_colored(to, cell, screen->color ? code : NULL);
		add_spaces(to, width[c] + 2 - columns_of(cell, strlen(cell)));
		indent += width[c] + 2;
	}
	if (heading && screen->color)
		str_addf(to, "\033[1m%s\033[0m\n", cells[last]);
	else
		print_last(to, t, cells[last], indent, screen);
}

static void print_tabs(struct str *to, const struct table *t, const struct screen *screen)
{
	for (size_t i = 0; i < t->n_cells; i++) {
		size_t c = i % t->n_columns;
		const char *code = (int)c == t->level_column ? level_color(t->cells[i]) : NULL;

		add_colored(to, t->cells[i], screen->color ? code : NULL);
		str_add(to, c + 1 == t->n_columns ? "\n" : "\t");
	}
}

/* Trailing blanks are left by a row whose last cell is empty. */
static void trim_lines(struct str *to, size_t from)
{
	size_t out = from;

	for (size_t i = from; i < to->len; i++) {
		if (to->s[i] == '\n')
			while (out > from && to->s[out - 1] == ' ')
				out--;
		to->s[out++] = to->s[i];
	}
	to->len = out;
	if (to->s)
		to->s[out] = '\0';
}

void table_print(struct str *to, const struct table *t, const struct screen *screen)
{
	const size_t from = to->len;
	size_t width[TABLE_COLUMNS] = { 0 };

	if (t->n_columns == 0 || t->n_columns > TABLE_COLUMNS)
		return;
	if (!screen->terminal) {
		print_tabs(to, t, screen);
		return;
	}
	measure(t, width);
	print_row(to, t, t->title, width, screen, true);
	for (size_t i = 0; i + t->n_columns <= t->n_cells; i += t->n_columns)
		print_row(to, t, (const char *const *)t->cells + i, width, screen, false);
	trim_lines(to, from);
}
