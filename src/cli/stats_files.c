/* stats_files.c - see stats_files.h. */
#include "cli/stats_files.h"

#include "base/room.h"
#include "cli/exact_open.h"
#include "core/err.h"

#include <stdio.h>
#include <stdlib.h>

void fah_stats_files_init(struct fah_stats_files *s)
{
	*s = (struct fah_stats_files){0};
	fah_exact_init(&s->exact);
}

void fah_stats_files_release(struct fah_stats_files *s)
{
	for (size_t i = 0; i < s->n_titles; i++)
		free(s->titles[i]);
	free(s->titles);
	fah_exact_done(&s->exact);
	fah_stats_files_init(s);
}

int fah_stats_files_add(struct fah_stats_files *s, const char *path)
{
	struct fah_exact more;
	char *title = NULL;
	int r;

	fah_exact_init(&more);
	r = fah_exact_open(path, &more);
	if (r == 0 && (!fah_room(&s->titles, s->n_titles, &s->cap_titles, sizeof(*s->titles)) ||
		       !(title = fah_pstats_title(path))))
		r = FAH_ERR_NOMEM;
	if (r == 0) {
		s->titles[s->n_titles++] = title;
		s->order = (struct fah_pstats_order){0};
		r = fah_exact_add(&s->exact, &more);
	}
	fah_exact_done(&more);
	return r;
}

int fah_stats_files_strip(struct fah_stats_files *s)
{
	struct fah_exact stripped;
	int err;

	fah_exact_init(&stripped);
	err = fah_pstats_strip_dirs(&s->exact, &stripped);
	if (err < 0) {
		fah_exact_done(&stripped);
		return err;
	}
	fah_exact_done(&s->exact);
	s->exact = stripped;
	s->order = (struct fah_pstats_order){0};
	return 0;
}

int fah_stats_files_print(const struct fah_stats_files *s, enum fah_pstats_what what,
			  const struct fah_pstats_limit *limits, size_t n_limits)
{
	const struct fah_pstats_options o = {
		.what = what,
		.titles = (const char *const *)s->titles,
		.n_titles = s->n_titles,
		.order = &s->order,
		.limits = limits,
		.n_limits = n_limits,
	};

	return fah_report_pstats(stdout, &s->exact, &o);
}
