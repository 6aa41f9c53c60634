/* Strings: a growing buffer, escaping of untrusted names, nearest match. Pure; all memory is the caller's to free. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str { char *s; size_t len, cap; }; /* s is NUL-terminated once anything was added */
#define STR_INIT ((struct str){ 0 })

void str_add(struct str *b, const char *s);
void str_addn(struct str *b, const char *s, size_t n);
void str_addf(struct str *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_vaddf(struct str *b, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));
void str_free(struct str *b);
/* The text, ownership with the caller; "" when nothing was added. */
char *str_take(struct str *b);

/* printf into fresh memory; aborts when there is none, as all of this file does. */
char *strf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xstrdup(const char *s);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);

/* Control characters, newlines and bytes that are not valid UTF-8 become escapes (strvis style: \n, \033, \M-x), so that a
 * name chosen by the confined side can neither forge a line nor drive a terminal. Printable UTF-8 stays. */
char *str_escape(const char *s);
void str_add_escaped(struct str *b, const char *s);
/* As above, but a backslash stays single: for text whose names were escaped before. */
void str_add_visible(struct str *b, const char *s);

/* Bytes of the well-formed UTF-8 sequence at s, and its code point; 0 when there is none. */
size_t str_utf8(const char *s, uint32_t *ret_code);
bool str_drives_terminal(uint32_t code); /* moves the cursor, ends a line, or reorders what stands beside it */

/* The entry of names (n of them) that s was probably meant to be, or NULL: at most one edit per three characters. */
const char *str_nearest(const char *s, const char *const *names, size_t n);

/* A NULL-terminated, owned list of owned strings. */
struct strv { char **v; size_t n; };
void strv_add(struct strv *l, const char *s);
void strv_free(struct strv *l);
bool strv_has(const struct strv *l, const char *s);
