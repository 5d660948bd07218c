/*
 * pstats.h - the reports that Python's pstats prints, of calls that were told one by one: the same
 * text, byte for byte, for the same calls.
 */
#ifndef FAH_REPORT_PSTATS_H
#define FAH_REPORT_PSTATS_H

#include "base/strbuf.h"
#include "model/exact.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FAH_PSTATS_KEYS_MAX 32

enum fah_pstats_key {
	FAH_PSTATS_CALLS,
	FAH_PSTATS_CUMULATIVE,
	FAH_PSTATS_FILE,
	FAH_PSTATS_LINE,
	FAH_PSTATS_NAME,
	FAH_PSTATS_NFL,
	FAH_PSTATS_PRIMITIVE,
	FAH_PSTATS_STDNAME,
	FAH_PSTATS_TIME,
	FAH_PSTATS_SAMPLES, /* as calls, in other words */
};

/* pstats_order.c: what functions are sorted by. No keys: the file's own order. */
struct fah_pstats_order {
	enum fah_pstats_key keys[FAH_PSTATS_KEYS_MAX];
	size_t n;
	bool reverse; /* without keys it has no effect, as in pstats */
};

struct fah_pstats_word {
	const char *word;
	enum fah_pstats_key key;
	const char *text;
};
/* The words for keys, as pstats lists them; no word at the end. */
extern const struct fah_pstats_word fah_pstats_words[];

/* A key behind the others: one of the words, a beginning that is only one word's, either in any
 * case, or -1, 0, 1 or 2. false: it is none of them, or too many. */
bool fah_pstats_order_add(struct fah_pstats_order *o, const char *word);

/* pstats_limit.c: which functions are shown. */
struct fah_pstats_limit {
	enum { FAH_PSTATS_COUNT, FAH_PSTATS_FRACTION, FAH_PSTATS_REGEX } type;
	int64_t count;
	double fraction;
	const char *text; /* of all; borrowed */
};

/* A number of lines, a fraction of them, or a regular expression that name and place match.
 * FAH_ERR_RANGE: a fraction outside 0 to 1. */
int fah_pstats_limit_parse(const char *text, struct fah_pstats_limit *ret);

enum fah_pstats_what { FAH_PSTATS_FUNCTIONS, FAH_PSTATS_CALLERS, FAH_PSTATS_CALLEES };

struct fah_pstats_options {
	enum fah_pstats_what what;
	const char *const *titles; /* lines above the functions; pstats_title for a file's */
	size_t n_titles;
	const struct fah_pstats_order *order; /* NULL: the file's own */
	const struct fah_pstats_limit *limits;
	size_t n_limits; /* one after the other */
};

/* Print one report. FAH_ERR_SYS (out failed), FAH_ERR_NOMEM. */
int fah_report_pstats(FILE *out, const struct fah_exact *e, const struct fah_pstats_options *o);

/* "Mon Nov 16 04:38:27 2026    path": when the file was changed last. The path where there is none.
 * The caller frees it; NULL: no memory. */
char *fah_pstats_title(const char *path);

/*
 * pstats_strip.c: the same without folders in files' names, into an empty *to. Functions that are
 * the same then become one. Of several callers of one function that are the same then, the last one
 * stays, which is what pstats does. FAH_ERR_NOMEM.
 */
int fah_pstats_strip_dirs(const struct fah_exact *from, struct fah_exact *to);

#endif
