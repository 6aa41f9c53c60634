/*
 * Shell text, read exactly as bash reads it in a script: words after quote removal, simple commands, redirections, here-documents, nested
 * substitutions. It never guesses: what is not understood with certainty is an error with a place, and the caller asks a person.
 * Stricter than bash on purpose where two readings are near each other (a backslash inside backticks, "((" that is no arithmetic).
 * Pure: nothing is expanded, run or looked up. Time and memory are linear in the text.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHELL_TEXT_MAX = 16 << 20, SHELL_DEPTH_MAX = 60 };
#define NO_INDEX UINT32_MAX

struct place { uint32_t start, end; }; /* byte offsets into the text, end exclusive */

enum word_flag {
	WORD_SINGLE = 1 << 0, WORD_DOUBLE = 1 << 1, WORD_ANSI = 1 << 2, WORD_ESCAPE = 1 << 3, /* how parts of it are quoted */
	WORD_PARAM = 1 << 4, WORD_SUBST = 1 << 5, WORD_ARITH = 1 << 6,                        /* what only the shell will know */
	WORD_SPLITS = 1 << 7,      /* one of those outside quotes: may become no word, or several */
	WORD_GLOB = 1 << 8, WORD_TILDE = 1 << 9, WORD_BRACES = 1 << 10,
	WORD_OPEN_BRACE = 1 << 11, WORD_CLOSE_BRACE = 1 << 12, /* a brace outside quotes that has no other in this word */
	WORD_ASSIGNMENT = 1 << 13, /* stands before the command's name */
	WORD_ARRAY = 1 << 14,      /* inside name=( ) */
	WORD_TARGET = 1 << 15,     /* of a redirection */
	WORD_PLACE = 1 << 16,      /* a name or pattern of for, case, function, [[ */
	WORD_JOINED = 1 << 17,     /* goes on in the next line, after a backslash */
};
#define WORD_QUOTED  (WORD_SINGLE | WORD_DOUBLE | WORD_ANSI | WORD_ESCAPE)
#define WORD_UNKNOWN (WORD_PARAM | WORD_SUBST | WORD_ARITH)

struct word {
	struct place raw;
	uint32_t value, len;  /* in shell.text, NUL after it: quotes removed, expansions left out, globs and braces as written */
	uint32_t known;       /* bytes of value before the first expansion; len when there is none */
	uint32_t next, before; /* of the same command, or NO_INDEX */
	uint32_t command;     /* NO_INDEX: of none */
	unsigned flags;
};

enum shell_kind { SHELL_SIMPLE, SHELL_LOOP, SHELL_CASE, SHELL_COND, SHELL_ARITH, SHELL_FUNCTION };

struct shell_command {
	enum shell_kind kind; /* of the others only the words are kept: lists of loops, patterns, operands */
	struct place raw;
	uint32_t first, last;   /* words, assignments included */
	uint32_t n_words;       /* without assignments; 0: assignments or redirections alone */
	uint32_t name;          /* the first of those, or NO_INDEX */
	uint32_t subst;         /* the mark of the substitution that it stands in, or NO_INDEX */
	uint32_t redirect, n_redirects; /* the first of its redirections; the others may stand apart */
	bool piped_from, piped_to;
	bool in_function;
};

enum redirect_kind {
	REDIRECT_IN, REDIRECT_OUT, REDIRECT_APPEND, REDIRECT_CLOBBER, REDIRECT_BOTH, REDIRECT_BOTH_APPEND, REDIRECT_IN_OUT,
	REDIRECT_DUP_IN, REDIRECT_DUP_OUT, REDIRECT_HERE_DOC, REDIRECT_HERE_STRING,
};

struct redirect {
	enum redirect_kind kind;
	struct place op;
	uint32_t target;      /* word */
	uint32_t command;     /* NO_INDEX: of a compound command */
	struct place body;     /* of a here-document */
	bool quoted, tabs;    /* its delimiter was quoted: nothing in the body expands; <<- */
	bool expands;         /* something in the body does */
};

enum mark_kind {
	MARK_SINGLE, MARK_DOUBLE, MARK_ANSI, MARK_ESCAPE, /* the span with its quotes, or the backslash and what it quotes */
	MARK_PARAM,                                       /* $x ${x...}; name says which */
	MARK_DOLLAR_SUBST, MARK_BACKTICK, MARK_PROCESS,   /* first to end: the commands inside */
	MARK_BRACES,                                      /* {a,b} {1..3} */
	MARK_HASH,                                        /* # inside a word, outside quotes */
	MARK_COMMENT,
	MARK_NEWLINE,                                     /* between two commands of the outermost list */
};

struct mark {
	enum mark_kind kind;
	struct place at;
	struct place name;     /* MARK_PARAM */
	uint32_t word, command, outer; /* where it stands, and in which substitution; NO_INDEX: in none */
	uint32_t first, end;  /* commands of a substitution */
	bool quoted;          /* inside double quotes or a here-document */
};

struct shell {
	const char *source; size_t len; /* borrowed */
	struct word *words;         uint32_t n_words, cap_words;
	struct shell_command *commands;   uint32_t n_commands, cap_commands;
	struct redirect *redirects; uint32_t n_redirects, cap_redirects;
	struct mark *marks;         uint32_t n_marks, cap_marks;
	char *text;                 uint32_t n_text, cap_text;
	const char *error;          /* static; NULL: all of it was understood */
	struct place error_at;
};

/* Reads len bytes at source, which must stay. True when everything was understood; else ret->error says what was not. */
bool shell_parse(struct shell *ret, const char *source, size_t len);
void shell_release(struct shell *sh);

static inline const char *word_value(const struct shell *sh, const struct word *w) { return sh->text + w->value; }
/* The value is all that the shell will pass: nothing expands, and no file name or brace makes several of it. */
static inline bool word_is_static(const struct word *w)
{
	return !(w->flags & (WORD_UNKNOWN | WORD_GLOB | WORD_BRACES | WORD_TILDE));
}
bool word_is(const struct shell *sh, const struct word *w, const char *text);
/* The words of a command without its assignments, up to max of them. Returns how many were stored. */
size_t command_words(const struct shell *sh, const struct shell_command *c, const struct word **ret, size_t max);
