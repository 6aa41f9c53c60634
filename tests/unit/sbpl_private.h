/* Between reader and judge of sbpl.h. */
#pragma once
#include <regex.h>
#include <setjmp.h>
#include <stddef.h>

#include "tests/unit/sbpl.h"

/* How a filter's text is compared with what is asked. */
enum compare { LITERAL, SUBPATH, REGEX, PREFIX, SYMBOL, NUMBER, ADDRESS, COMBINE };
enum subject { PATH, NAME, TYPE, TARGET, EXTENSION, COMMAND, DOMAIN, PROTOCOL, REMOTE, LOCAL, NOTHING };

struct known { const char *word; enum compare compare; enum subject subject; };

struct filter {
	const struct known *known;
	char *text;
	long number;
	char *word;         /* of an address: ip, unix-socket */
	regex_t regex;
	struct filter **kids;
	size_t n;
};

struct rule {
	bool allow;
	char **operations;
	size_t n_operations;
	struct filter **filters;
	size_t n_filters;
	char *message;
};

struct variable { char *name, *value; };

struct sbpl {
	const char *at, *missing;
	const char *const *parameters;
	struct rule *rules;
	size_t n_rules;
	struct variable *variables;
	size_t n_variables;
	int seen;                     /* 0: nothing, 1: the version, 2: rules */
	void **owned;
	size_t n_owned, cap_owned;
	regex_t **regexes;
	size_t n_regexes;
	char *error;
	jmp_buf refused;
};

/* Does the operation of a rule ("file-write*", "default") stand for this one? */
bool sbpl_covers(const char *of_rule, const char *operation);
