/* Prints the detectors of hurdle decide from their table: as mdoc for hurdle-decide(1), or, with the word "md", for docs/decide.md. */
#include <stdio.h>
#include <string.h>

static const struct { int number; const char *id, *name, *group, *looks_for, *example, *behaviour; } rows[] = {
#define DETECTOR(number, id, name, group, looks_for, example, behaviour) { number, #id, name, group, looks_for, example, behaviour },
#include "supervisor/decide/detectors.def"
};

/* Newlines as \n; for mdoc a backslash is \e. */
static void print_text(const char *s, int mdoc)
{
	for (; *s; s++) {
		if (*s == '\n')
			printf(mdoc ? "\\en" : "\\n");
		else if (*s == '\\' && mdoc)
			printf("\\e");
		else if (*s == '"' && mdoc)
			printf("\\(dq");
		else if (*s == '|' && !mdoc)
			printf("\\|");
		else
			putchar(*s);
	}
}

/* mdoc wants lines of less than 80 bytes, and each sentence on a new one. */
static void print_filled(const char *s)
{
	size_t column = 0;

	while (*s) {
		const size_t n = strcspn(s, " ");

		if (column && column + n > 70) {
			putchar('\n');
			column = 0;
		}
		if (column)
			putchar(' ');
		/* "f()" would be taken for a function without its macro */
		for (size_t i = 0; i < n; i++)
			printf(s[i] == '(' && i ? "\\&%c" : "%c", s[i]);
		column += n + 1;
		s += n;
		if (s[-1] == '.' && *s) {
			putchar('\n');
			column = 0;
		}
		s += *s == ' ';
	}
}

static void print_mdoc(size_t i)
{
	printf(".It %d. ", rows[i].number);
	print_filled(rows[i].group);
	putchar('\n');
	print_filled(rows[i].looks_for);
	printf(".\nAs in\n.Dq Li ");
	print_text(rows[i].example, 1);
	printf(" .\nAnswer: %s;\nid\n.Cm %s .\n", rows[i].behaviour, rows[i].id);
}

int main(int argc, char *argv[])
{
	const int md = argc > 1 && !strcmp(argv[1], "md");

	printf(md ? "| | id | group | looks for | for example | answer |\n|---|---|---|---|---|---|\n" : ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!md) {
			print_mdoc(i);
			continue;
		}
		printf("| %d | `%s` | %s | ", rows[i].number, rows[i].id, rows[i].group);
		print_text(rows[i].looks_for, 0);
		printf(" | `` ");
		print_text(rows[i].example, 0);
		printf(" `` | %s |\n", rows[i].behaviour);
	}
	if (!md)
		printf(".El\n");
	return 0;
}
