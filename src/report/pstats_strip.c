/* pstats_strip.c - see pstats.h: files without their folders. */
#include "base/cleanup.h"
#include "base/file.h"
#include "core/err.h"
#include "report/pstats.h"

#include <stdlib.h>
#include <string.h>

static int add_function(const struct fah_exact_function *f, struct fah_exact *to, uint32_t *ret)
{
	const char *file = fah_basename(f->file);
	size_t before = to->n_functions;
	int err =
		fah_exact_function(to, file, strlen(file), f->line, f->name, strlen(f->name), ret);

	if (err < 0)
		return err;
	if (*ret == before)
		to->functions[*ret].only_caller = f->only_caller;
	else
		to->functions[*ret].only_caller &= f->only_caller;
	fah_exact_times_add(&to->functions[*ret].times, &f->times);
	return 0;
}

struct stripping {
	const struct fah_exact *from;
	struct fah_exact *to;
	uint32_t *ids;	 /* by function of from: that of to */
	uint32_t *edges; /* room for all */
	uint32_t *by;	 /* by edge of to: the function of from, + 1, that was last */
	struct fah_exact_times *before; /* by edge of to: without that function's */
};

/* The callers of one function: of those that have become one, the last one counts. */
static int add_callers(struct stripping *s, uint32_t function)
{
	size_t n = fah_exact_callers(s->from, function, s->edges);
	uint32_t edge;

	for (size_t i = 0; i < n; i++) {
		const struct fah_exact_edge *x = &s->from->edges[s->edges[i]];
		int err = fah_exact_edge(s->to, s->ids[x->caller], s->ids[function], &edge);

		if (err < 0)
			return err;
		if (s->by[edge] != function + 1) {
			s->by[edge] = function + 1;
			s->before[edge] = s->to->edges[edge].times;
		}
		s->to->edges[edge].times = s->before[edge];
		s->to->edges[edge].only_count = x->only_count;
		fah_exact_times_add(&s->to->edges[edge].times, &x->times);
	}
	return 0;
}

int fah_pstats_strip_dirs(const struct fah_exact *from, struct fah_exact *to)
{
	_cleanup_(fah_freep) uint32_t *ids = calloc(from->n_functions + 1, sizeof(*ids));
	_cleanup_(fah_freep) uint32_t *edges = calloc(from->n_edges + 1, sizeof(*edges));
	_cleanup_(fah_freep) uint32_t *by = calloc(from->n_edges + 1, sizeof(*by));
	_cleanup_(fah_freep) struct fah_exact_times *before =
		calloc(from->n_edges + 1, sizeof(*before));
	struct stripping s = {from, to, ids, edges, by, before};
	int err = ids && edges && by && before ? 0 : FAH_ERR_NOMEM;

	to->samples = from->samples;
	for (uint32_t i = 0; err == 0 && i < from->n_functions; i++)
		err = add_function(&from->functions[i], to, &ids[i]);
	for (uint32_t i = 0; err == 0 && i < from->n_functions; i++)
		err = add_callers(&s, i);
	return err;
}
