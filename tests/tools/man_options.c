/* Prints the OPTIONS of hurdle(1) from the table: what stands between the marks "options: begin" and "options: end" of the page. */
#include <stdio.h>
#include <string.h>

enum { R = 1, S = 2, E = 4, P = 8, T = 16, G = 32, C = 64, D = 128, POLICY = R | S | E | P | G | D, ALL = POLICY | T | C };

#define SECTION(id, title) enum { SECTION_##id = __COUNTER__ };
#include "supervisor/options.def"

static const char *const sections[] = {
#define SECTION(id, title) title,
#include "supervisor/options.def"
};

static const struct { const char *name, *argument, *help, *manual; unsigned commands; int section; char letter; } rows[] = {
#define OPTION(id, name, letter, argument, commands, section, help, manual) \
	{ name, argument, help, manual, commands, SECTION_##section, letter },
#include "supervisor/options.def"
};

/* PATH, or NAME=VALUE, or one|of|these, as mdoc(7) arguments. */
static void print_argument(const char *s)
{
	const int choice = strchr(s, '|') != NULL;

	printf(choice ? " Cm " : " Ar ");
	for (; *s; s++) {
		if (*s == '|')
			printf(" | ");
		else if (*s == '=')
			printf(" Ns = Ns Ar ");
		else
			putchar(*s >= 'A' && *s <= 'Z' ? *s - 'A' + 'a' : *s);
	}
}

static void print_sentence(const char *s)
{
	putchar(*s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s);
	printf("%s.\n", s + 1);
}

static void print_commands(unsigned commands)
{
	static const char *const names[] = { "run", "status", "explain", "profile", "trust", "settings", "connect", "decide" };
	const char *separator = "";

	if (commands == POLICY || commands == ALL)
		return;
	printf("Only for\n.Cm ");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!(commands & 1u << i))
			continue;
		printf("%s%s", separator, names[i]);
		separator = " No and Cm ";
	}
	printf(" .\n");
}

int main(void)
{
	for (size_t section = 0; section < sizeof sections / sizeof *sections; section++) {
		printf(".Ss %s\n.Bl -tag -width Ds\n", sections[section]);
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			if (rows[i].section != (int)section)
				continue;
			printf(".It ");
			if (rows[i].letter)
				printf("Fl %c , ", rows[i].letter);
			printf("Fl -%s", rows[i].name);
			if (rows[i].argument)
				print_argument(rows[i].argument);
			putchar('\n');
			print_sentence(rows[i].help);
			if (*rows[i].manual)
				printf("%s\n", rows[i].manual);
			print_commands(rows[i].commands);
		}
		printf(".El\n");
	}
	return 0;
}
