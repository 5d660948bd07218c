/*
 * stats_files.h - what `stats` has at hand: calls from some files, added up, and their order. For
 * the command and its shell.
 */
#ifndef FAH_CLI_STATS_FILES_H
#define FAH_CLI_STATS_FILES_H

#include "model/exact.h"
#include "report/pstats.h"

struct fah_stats_files {
	struct fah_exact exact;
	char **titles; /* of the files */
	size_t n_titles, cap_titles;
	struct fah_pstats_order order;
};

void fah_stats_files_init(struct fah_stats_files *s);
void fah_stats_files_release(
	struct fah_stats_files *s); /* usable again after; also for _cleanup_ */
/* As fah_exact_open, on top of what is there. The order is forgotten, as pstats does. */
int fah_stats_files_add(struct fah_stats_files *s, const char *path);
/* Files without their folders. The order is forgotten, as pstats does. FAH_ERR_NOMEM. */
int fah_stats_files_strip(struct fah_stats_files *s);
/* On stdout. FAH_ERR_SYS, FAH_ERR_NOMEM. */
int fah_stats_files_print(const struct fah_stats_files *s, enum fah_pstats_what what,
			  const struct fah_pstats_limit *limits, size_t n_limits);

/* stats_shell.c: commands from stdin until it ends, as of `python -m pstats`, at first for these
 * files; what cannot be read is said. The exit status. */
int fah_stats_shell(char *const *paths, size_t n_paths, const struct fah_pstats_order *order,
		    bool strip);

#endif
