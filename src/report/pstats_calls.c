/* pstats_calls.c - who called each function, or what it called, with the part of the time. */
#include "base/cleanup.h"
#include "core/err.h"
#include "report/pstats_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct calls {
	const struct fah_pstats_list *l;
	bool callees;
	size_t width;
	uint32_t *edges; /* room for all */
};

static uint32_t other_of(const struct calls *c, uint32_t edge)
{
	const struct fah_exact_edge *x = &c->l->e->edges[edge];

	return c->callees ? x->callee : x->caller;
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct calls *c = ctx;
	const struct fah_exact_function *f = &c->l->e->functions[other_of(c, *(const uint32_t *)a)];
	const struct fah_exact_function *g = &c->l->e->functions[other_of(c, *(const uint32_t *)b)];
	int r = strcmp(f->file, g->file);

	if (!r)
		r = f->line < g->line ? -1 : f->line > g->line;
	return r ? r : strcmp(f->name, g->name);
}

/* The first function that has callers tells whether they have times. */
static bool have_times(const struct calls *c)
{
	const struct fah_exact *e = c->l->e;

	for (uint32_t i = 0; i < e->n_functions; i++)
		if (!e->functions[i].only_caller && fah_exact_callers(e, i, c->edges))
			return !e->edges[c->edges[0]].only_count;
	return false;
}

static void add_call(struct fah_strbuf *sb, const struct calls *c, uint32_t edge, bool first)
{
	const struct fah_exact_edge *x = &c->l->e->edges[edge];
	uint32_t other = other_of(c, edge);
	char calls[64];

	if (!first)
		fah_strbuf_fill(sb, ' ', c->width + (x->only_count ? 3 : 1));
	if (x->only_count) {
		fah_pstats_add_name(sb, c->l->names[other]);
		fah_strbuf_addf(sb, "(%" PRIu64 ") %8.3f\n", x->times.calls,
				c->l->e->functions[other].times.total_s);
		return;
	}
	if (x->times.calls == x->times.primitive)
		snprintf(calls, sizeof(calls), "%" PRIu64, x->times.calls);
	else
		snprintf(calls, sizeof(calls), "%" PRIu64 "/%" PRIu64, x->times.calls,
			 x->times.primitive);
	fah_strbuf_addf(sb, "%*s %8.3f %8.3f  ", first ? 7 : 9, calls, x->times.self_s,
			x->times.total_s);
	fah_pstats_add_name(sb, c->l->names[other]);
	fah_strbuf_addc(sb, '\n');
}

/* Text behind which spaces go up to the width; len: how many characters it counts. */
static void pad(struct fah_strbuf *sb, size_t len, size_t width)
{
	if (len < width)
		fah_strbuf_fill(sb, ' ', width - len);
}

static void add_function(struct fah_strbuf *sb, struct calls *c, uint32_t function)
{
	const char *name = c->l->names[function];
	size_t n = c->callees ? fah_exact_callees(c->l->e, function, c->edges)
			      : fah_exact_callers(c->l->e, function, c->edges);

	fah_pstats_add_name(sb, name);
	pad(sb, fah_pstats_len(name), c->width);
	fah_strbuf_adds(sb, c->callees ? "-> " : "<- ");
	if (!n)
		fah_strbuf_addc(sb, '\n');
	else
		qsort_r(c->edges, n, sizeof(*c->edges), compare, c);
	for (size_t i = 0; i < n; i++)
		add_call(sb, c, c->edges[i], i == 0);
}

int fah_pstats_calls(FILE *out, const struct fah_pstats_list *l, enum fah_pstats_what what,
		     size_t width)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;
	_cleanup_(fah_freep) uint32_t *edges = calloc(l->e->n_edges + 1, sizeof(*edges));
	struct calls c = {l, what == FAH_PSTATS_CALLEES, width, edges};

	if (!edges)
		return FAH_ERR_NOMEM;
	fah_strbuf_adds(&sb, "Function ");
	pad(&sb, strlen("Function "), width);
	fah_strbuf_adds(&sb, c.callees ? "called...\n" : "was called by...\n");
	if (have_times(&c)) {
		fah_strbuf_fill(&sb, ' ', width);
		fah_strbuf_adds(&sb, l->e->samples ? "    nsamples" : "    ncalls");
		fah_strbuf_adds(&sb, "  tottime  cumtime\n");
	}
	for (size_t i = 0; i < l->n; i++)
		add_function(&sb, &c, l->functions[i]);
	fah_strbuf_adds(&sb, "\n\n");
	if (sb.failed)
		return FAH_ERR_NOMEM;
	fwrite(sb.p, 1, sb.len, out);
	return 0;
}
