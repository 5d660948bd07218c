/* pstats_list.h - what the files of pstats' reports share; for them only. */
#ifndef FAH_REPORT_PSTATS_LIST_H
#define FAH_REPORT_PSTATS_LIST_H

#include "report/pstats.h"

/* The functions that a report shows. */
struct fah_pstats_list {
	const struct fah_exact *e;
	char **names;	     /* by function: "file:line(name)" as pstats has it; in the arena */
	uint32_t *functions; /* in their order */
	size_t n;
	struct fah_arena arena;
};

/* All functions that have times, in the order wanted. FAH_ERR_NOMEM; release either way. */
int fah_pstats_list_init(struct fah_pstats_list *l, const struct fah_exact *e,
			 const struct fah_pstats_order *order);
void fah_pstats_list_release(struct fah_pstats_list *l); /* also for _cleanup_ */

/* Leave out what the limit does not allow, and say so in note as pstats does. FAH_ERR_NOMEM. */
int fah_pstats_limit_apply(const struct fah_pstats_limit *limit, struct fah_pstats_list *l,
			   struct fah_strbuf *note);

/* pstats_regex.c: a regular expression of Python's for regcomp, with REG_EXTENDED. false: it is
 * none, or has something that regcomp lacks. */
bool fah_pstats_regex(const char *python, struct fah_strbuf *out, bool *ret_ignore_case);

/* "internal time, function name". */
void fah_pstats_order_text(struct fah_strbuf *sb, const struct fah_pstats_order *o);

/* pstats_text.c: characters as Python counts them in a text; bytes that are no UTF-8 are one each.
 */
size_t fah_pstats_len(const char *s);
/* A name for a report: control characters and what is no UTF-8 as Python's backslashreplace has
 * them, all else as it is. */
void fah_pstats_add_name(struct fah_strbuf *sb, const char *s);
/* The text as Python's repr() shows it. */
void fah_pstats_add_repr(struct fah_strbuf *sb, const char *s);
void fah_pstats_add_float(struct fah_strbuf *sb, double v);

/* pstats_calls.c: who called each function of the list, or what it called. */
int fah_pstats_calls(FILE *out, const struct fah_pstats_list *l, enum fah_pstats_what what,
		     size_t width);

#endif
