/* lines_result.h - what `lines` and `annotate` share: results of either kind read, saved, printed.
 */
#ifndef FAH_CLI_LINES_RESULT_H
#define FAH_CLI_LINES_RESULT_H

#include "model/linehits.h"
#include "report/linehits.h"

/* What a profile says of lines; not sorted. 0, or an exit status after printing. The caller
 * releases *ret, here and below. */
int fah_lines_of(struct fah_linehits *ret, const char *command, const struct fah_profile *p,
		 struct fah_linehits_state *ret_state);
/* The same of a file: a capture, or line_profiler's. */
int fah_lines_open(struct fah_linehits *ret, const char *command, const char *path);
/* "1e-6": seconds. 0, or an exit status after printing. */
int fah_lines_parse_unit(const char *command, const char *text, double *ret);
/* As line_profiler's file. 0, or an exit status after printing. */
int fah_lines_save(const struct fah_linehits *h, const char *path);
/* To stdout. 0, or an exit status after printing. */
int fah_lines_print(const struct fah_linehits *h, const char *command,
		    const struct fah_linehits_options *how);

/* To stderr; asked: functions were to be chosen by name or place. */
void fah_lines_say_none(const struct fah_linehits_state *state, const struct fah_profile *p,
			bool asked);
void fah_lines_say_result(const struct fah_linehits_state *state, const char *path, bool printed);

#endif
