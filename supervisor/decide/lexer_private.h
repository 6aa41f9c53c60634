/* Between the files of the lexer, from the letters up: lexer.c, lex_word.c, lex_dollar.c, lex_tokens.c, lex_simple.c, lex_command.c. */
#pragma once
#include "supervisor/decide/lexer.h"

struct lex {
	struct shell *sh;
	const char *s;
	uint32_t i, end;            /* inside backticks and here-documents end is theirs */
	uint32_t depth;             /* of constructs: bounds the recursion */
	uint32_t lists;             /* how many lists we are in; 0 is the outermost */
	uint32_t substs;            /* how many substitutions */
	uint32_t word, command, subst; /* what is being read */
	bool in_function, timed;
	char *buf; size_t n_buf, cap_buf; /* values of the words being read, one above the other */
	struct { uint32_t redirect, substs; } *pending; /* here-documents whose body comes after the next newline */
	size_t n_pending, cap_pending;
};

/* The word that is being read. */
enum { BRACE_DEPTH = 16 };
struct word_state {
	size_t base;                /* of its value in buf */
	size_t known;               /* SIZE_MAX: no expansion yet */
	unsigned flags;
	uint32_t start;
	bool bracket;               /* a [ outside quotes was seen */
	int depth;                  /* braces open */
	struct { uint32_t at; bool comma, dots; } brace[BRACE_DEPTH];
};

enum word_mode { MODE_PLAIN, MODE_PATTERN /* right of == in [[ */, MODE_REGEX /* right of =~ */ };

/* lexer.c */
bool lex_fail(struct lex *x, uint32_t start, uint32_t end, const char *error); /* false, always; the first one counts */
static inline int lex_at(const struct lex *x, uint32_t i) { return i < x->end ? (unsigned char)x->s[i] : -1; }
static inline int lex_peek(const struct lex *x) { return lex_at(x, x->i); }
struct mark *lex_mark(struct lex *x, enum mark_kind kind, uint32_t start, uint32_t end);
uint32_t lex_new_word(struct lex *x);
uint32_t lex_new_command(struct lex *x, enum shell_kind kind);
uint32_t lex_new_redirect(struct lex *x);
uint32_t lex_add_text(struct lex *x, const char *s, size_t n);
void lex_put(struct lex *x, char c);
bool lex_blanks(struct lex *x);        /* blanks, joined lines and comments before a token */
bool lex_newlines(struct lex *x, bool *ret_any); /* newlines too, with the here-documents that begin there */
bool lex_operator_ends(struct lex *x); /* what follows an operator does not make another one of it */
bool lex_is_joined(const struct lex *x, uint32_t i); /* a backslash and a newline, which are nothing */
bool lex_is_break(int c);              /* ends a word: blank, newline, operator, or the end */

/* lex_word.c. At a character that begins a word. */
bool lex_word(struct lex *x, enum word_mode mode, uint32_t *ret);
void lex_link(struct lex *x, uint32_t word, uint32_t command, unsigned flags);
bool lex_single_quotes(struct lex *x, struct word_state *w);
bool lex_double_quotes(struct lex *x, struct word_state *w);

/* lex_dollar.c */
bool lex_process(struct lex *x, struct word_state *w); /* <( and >( */
bool lex_dollar(struct lex *x, struct word_state *w, bool quoted);
bool lex_backtick(struct lex *x, struct word_state *w, bool quoted);
bool lex_here_body(struct lex *x, uint32_t redirect);
bool lex_arithmetic(struct lex *x);    /* after "((", up to and with "))" */

/* lex_tokens.c */
enum reserved {
	R_NONE, R_IF, R_WHILE, R_UNTIL, R_FOR, R_SELECT, R_CASE, R_OPEN, R_COND, R_FUNCTION, R_COPROC, R_TIME, R_NOT,
	R_THEN, R_ELSE, R_ELIF, R_FI, R_DO, R_DONE, R_CLOSE, R_ESAC, R_COND_END, R_IN,
};
/* The reserved word at the place, which is not taken: a number for the two below, or -1. Only plain letters make one. */
int lex_reserved_at(const struct lex *x, uint32_t *ret_end);
enum reserved lex_reserved_id(int k);
unsigned lex_reserved_end(int k);      /* which END_ it is, or 0 */
enum reserved lex_peek_reserved(const struct lex *x);
bool lex_take_reserved(struct lex *x, enum reserved wanted);
bool lex_is_reserved(const struct lex *x, const struct word *w);
bool lex_unexpected(struct lex *x);    /* false, always */
bool lex_looking_at(const struct lex *x, const char *text);
static inline bool lex_is_name_start(int c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static inline bool lex_is_digit(int c) { return c >= '0' && c <= '9'; }
static inline bool lex_is_name(int c)
{
	return lex_is_name_start(c) || lex_is_digit(c);
}
bool lex_is_identifier(const char *s, size_t n);
bool lex_begins_redirect(const struct lex *x);
bool lex_redirect(struct lex *x, uint32_t start); /* start: where the number of a descriptor before it begins */
bool lex_redirects(struct lex *x);     /* after a compound command */
bool lex_is_number(const struct lex *x, const struct word *w);
bool lex_is_descriptor_variable(const struct lex *x, const struct word *w); /* {name} */

/* lex_simple.c */
bool lex_simple(struct lex *x);

/* lex_command.c */
bool lex_command(struct lex *x);
bool lex_function_body(struct lex *x);
enum {
	END_TEXT = 1 << 0, END_PAREN = 1 << 1, END_THEN = 1 << 2, END_ELSE = 1 << 3, END_ELIF = 1 << 4, END_FI = 1 << 5, END_DO = 1 << 6,
	END_DONE = 1 << 7, END_BRACE = 1 << 8, END_ESAC = 1 << 9, END_CLAUSE = 1 << 10,
	END_EMPTY = 1 << 11, /* no end: the list may have no command */
};
/* A list of commands up to one of ends, which is taken too; which one is left in *ret. */
bool lex_list(struct lex *x, unsigned ends, unsigned *ret);
