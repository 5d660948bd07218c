/*
 * callgrind.c - functions with the cost of their lines and of what they called, as KCachegrind and
 * callgrind_annotate read it. Costs are nanoseconds.
 *
 * The format adds up what a function's calls cost to get what it took with all below it. So where a
 * function stands in a stack several times, only its innermost call has the stack's seconds: then
 * no sum counts a moment twice, and recursion never exceeds the whole.
 */
#include "base/cleanup.h"
#include "base/map.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "core/err.h"
#include "export/export.h"
#include "export/functions.h"

#include <math.h>
#include <stdlib.h>

/* What a line of a function took by itself (callee 0), or in calls of another function. */
struct cost {
	uint32_t function, callee, line; /* functions: index + 1 */
	double seconds;
	uint64_t samples;
};

struct function {
	uint32_t file; /* index + 1 of its name, among files */
	uint32_t seen; /* the last path it was met in */
	bool named;    /* its name was written */
};

struct graph {
	const struct fah_frame *frames;
	const struct fah_path *paths;
	struct fah_functions functions;
	struct function *known;	 /* by function */
	bool *doubled;		 /* by function, of the first of its name: there are others */
	struct fah_strmap files; /* name -> index + 1 */
	bool *file_named;
	struct fah_map by_place; /* function, callee, line -> cost */
	struct cost *costs;
	size_t n_costs, cap_costs;
};

static int prepare(struct graph *g, size_t n_frames)
{
	uint32_t n;
	int err = fah_functions_init(&g->functions, g->frames, n_frames);

	if (err < 0)
		return err;
	n = g->functions.n;
	g->known = calloc(n + 1, sizeof(*g->known));
	g->doubled = calloc(n + 1, sizeof(*g->doubled));
	g->file_named = calloc(n + 1, sizeof(*g->file_named));
	if (!g->known || !g->doubled || !g->file_named)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const char *name = g->functions.all[i]->file;
		uint32_t *file = fah_strmap_put(&g->files, name, strlen(name), NULL, NULL);

		if (!file)
			return FAH_ERR_NOMEM;
		if (!*file)
			*file = (uint32_t)g->files.n;
		g->known[i].file = *file;
		g->doubled[g->functions.namesake[i]] |= g->functions.namesake[i] != i;
	}
	return 0;
}

static uint32_t line_of(const struct fah_frame *f)
{
	return f->line ? f->line : f->first_line;
}

static bool add_cost(struct graph *g, uint32_t function, uint32_t callee, uint32_t line,
		     const struct fah_path_sum *sum)
{
	uint32_t *slot = fah_map_put(&g->by_place, fah_key_u32x4(function, callee, line, 0), NULL);
	struct cost *c;

	if (!slot)
		return false;
	if (!*slot) {
		if (g->n_costs == g->cap_costs) {
			size_t cap = g->cap_costs ? g->cap_costs * 2 : 256;
			struct cost *grown = reallocarray(g->costs, cap, sizeof(*grown));

			if (!grown)
				return false;
			g->costs = grown;
			g->cap_costs = cap;
		}
		g->costs[g->n_costs++] = (struct cost){function, callee, line, 0, 0};
		*slot = (uint32_t)g->n_costs;
	}
	c = &g->costs[*slot - 1];
	c->seconds += sum->seconds;
	c->samples += sum->samples;
	return true;
}

/* From the innermost frame outwards: the first time that a function is met is its innermost call.
 */
static bool add_path(struct graph *g, uint32_t path, const struct fah_path_sum *sum)
{
	uint32_t callee = 0;

	for (uint32_t i = path; i; i = g->paths[i].parent) {
		const struct fah_frame *f = &g->frames[g->paths[i].frame];
		uint32_t function = g->functions.of_frame[g->paths[i].frame] + 1;
		struct function *fn = &g->known[function - 1];

		if (fn->seen != path && !add_cost(g, function, callee, line_of(f), sum))
			return false;
		fn->seen = path;
		callee = function;
	}
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* "fl=(3) /path/of/file.py", the text only the first time. */
static void put_name(struct fah_out *out, const char *what, uint32_t number, bool *named,
		     const char *text, uint32_t line)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_out_addf(out, "%s=(%u)", what, number);
	if (!*named) {
		fah_strbuf_add_printable(&sb, text, strlen(text));
		fah_out_addf(out, " %s", sb.len ? fah_strbuf_str(&sb) : "???");
		if (line)
			fah_out_addf(out, ":%u", line);
		fah_strbuf_release(&sb);
		*named = true;
	}
	fah_out_addc(out, '\n');
}

/* The file of a callee is left out where it is its caller's: 0 where there is no caller. */
static void put_function(struct fah_out *out, struct graph *g, uint32_t function, uint32_t caller)
{
	const struct fah_frame *frame = g->functions.all[function - 1];
	struct function *fn = &g->known[function - 1];

	if (!caller || g->known[caller - 1].file != fn->file)
		put_name(out, caller ? "cfi" : "fl", fn->file, &g->file_named[fn->file - 1],
			 frame->file, 0);
	put_name(out, caller ? "cfn" : "fn", function, &fn->named, frame->name,
		 g->doubled[g->functions.namesake[function - 1]] ? frame->first_line : 0);
}

static uint64_t whole_ns(double seconds)
{
	return seconds > 0 && seconds < 9e9 ? (uint64_t)llround(seconds * 1e9) : 0;
}

static void put_costs(struct fah_out *out, struct graph *g)
{
	uint32_t current = 0;

	for (size_t i = 0; i < g->n_costs; i++) {
		const struct cost *c = &g->costs[i];

		if (c->function != current) {
			current = c->function;
			fah_out_addc(out, '\n');
			put_function(out, g, current, 0);
		}
		if (c->callee) {
			put_function(out, g, c->callee, current);
			fah_out_addf(out, "calls=%llu %u\n",
				     (unsigned long long)(c->samples ? c->samples : 1),
				     g->functions.all[c->callee - 1]->first_line);
		}
		fah_out_addf(out, "%u %llu\n", c->line, (unsigned long long)whole_ns(c->seconds));
	}
}

static void put_head(struct fah_out *out, struct fah_stacks *stacks, const struct graph *g)
{
	const struct fah_profile *p = fah_stacks_profile(stacks);
	const struct fah_totals *totals = fah_profile_totals(p);
	const char *command = fah_profile_meta(p, "command");
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	uint64_t all = 0;

	for (size_t i = 0; i < g->n_costs; i++)
		if (!g->costs[i].callee)
			all += whole_ns(g->costs[i].seconds);
	if (command)
		fah_strbuf_add_printable(&sb, command, strlen(command));
	fah_out_addf(out,
		     "# callgrind format\nversion: 1\ncreator: fixingahole " FAH_VERSION
		     "\ncmd: %s\npart: 1\n",
		     fah_strbuf_str(&sb));
	fah_out_addf(out, "desc: Samples: %s; calls are counted in samples, not one by one\n",
		     fah_num_count(totals->samples).s);
	fah_out_addf(out, "desc: Shares are known to %.1f points or better (95%%)\n",
		     totals->interval_points);
	if (!totals->complete)
		fah_out_adds(out, "desc: The capture has no end: the recording was cut short\n");
	fah_out_addf(out,
		     "positions: line\nevent: ns : nanoseconds of %s time\nevents: ns\n"
		     "summary: %llu\n",
		     fah_view_measure(fah_stacks_view(stacks)) == FAH_OWN_TIME ? "the threads' own"
									       : "the run's",
		     (unsigned long long)all);
	fah_strbuf_release(&sb);
}

static void release(struct graph *g)
{
	fah_functions_release(&g->functions);
	free(g->known);
	free(g->doubled);
	free(g->file_named);
	free(g->costs);
	fah_strmap_release(&g->files);
	fah_map_release(&g->by_place);
}

static int write_callgrind(struct fah_out *out, struct fah_stacks *stacks)
{
	_cleanup_(release) struct graph g = {0};
	const struct fah_path_sum *sums;
	size_t n_paths, n_frames;
	int err = fah_stacks_sum(stacks, FAH_ALL_THREADS, fah_view_measure(fah_stacks_view(stacks)),
				 &sums, &n_paths);

	if (err < 0)
		return err;
	g.paths = fah_stacks_paths(stacks, &n_paths);
	g.frames = fah_stacks_frames(stacks, &n_frames);
	err = prepare(&g, n_frames);
	if (err < 0)
		return err;
	for (uint32_t i = 1; i < n_paths; i++)
		if (sums[i].seconds > 0 && !add_path(&g, i, &sums[i]))
			return FAH_ERR_NOMEM;
	if (g.n_costs)
		qsort(g.costs, g.n_costs, sizeof(*g.costs), by_place);
	put_head(out, stacks, &g);
	put_costs(out, &g);
	return 0;
}

const struct fah_export fah_export_callgrind = {
	.name = "callgrind",
	.aliases = {"kcachegrind"},
	.extensions = {".callgrind", ".cgrind"},
	.summary = "functions, lines, calls: for KCachegrind and callgrind_annotate",
	.write = write_callgrind,
};
