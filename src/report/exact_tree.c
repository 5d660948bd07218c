/* exact_tree.c - see exact_tree.h. */
#include "report/exact_tree.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "core/err.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 60

struct tree {
	FILE *out;
	const struct fah_exact *e;
	const struct fah_exact_tree_look *look;
	double whole_s;
	bool *on_path; /* by function */
	struct fah_strbuf lead;
	bool no_memory;
};

/* A function, or what one caller had of it. */
struct branch {
	uint32_t function;
	double total_s;
	uint64_t calls;
};

static int by_time(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	if (x->total_s != y->total_s)
		return x->total_s < y->total_s ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static void print_one(struct tree *t, const struct branch *b)
{
	const struct fah_exact_function *f = &t->e->functions[b->function];
	_cleanup_(fah_strbuf_release) struct fah_strbuf name = FAH_STRBUF_INIT;

	fah_strbuf_add_printable(&name, f->name, strlen(f->name));
	if (f->line) {
		fah_strbuf_adds(&name, "  ");
		fah_strbuf_add_printable(&name, fah_basename(f->file),
					 strlen(fah_basename(f->file)));
		fah_strbuf_addf(&name, ":%" PRId64, f->line);
	}
	fprintf(t->out, "%s%.3f %s  (%" PRIu64 " call%s, itself %.3f)\n", fah_strbuf_str(&t->lead),
		b->total_s, fah_strbuf_str(&name), b->calls, b->calls == 1 ? "" : "s",
		f->times.total_s > 0 ? f->times.self_s * b->total_s / f->times.total_s : 0.0);
}

static void print_branches(struct tree *t, struct branch *branches, size_t n, int depth);

/* What this function called, its part of it. */
static void print_below(struct tree *t, const struct branch *b, int depth)
{
	const struct fah_exact_function *f = &t->e->functions[b->function];
	double part = f->times.total_s > 0 ? b->total_s / f->times.total_s : 0;
	_cleanup_(fah_freep) struct branch *below = NULL;
	size_t n = 0, cap = 0;

	if (t->on_path[b->function] || depth >= DEPTH_MAX)
		return;
	for (uint32_t i = f->first_callee; i; i = t->e->edges[i - 1].next_callee)
		cap++;
	below = calloc(cap + 1, sizeof(*below));
	if (!below) {
		t->no_memory = true;
		return;
	}
	for (uint32_t i = f->first_callee; i; i = t->e->edges[i - 1].next_callee) {
		const struct fah_exact_edge *edge = &t->e->edges[i - 1];

		if (edge->callee != b->function)
			below[n++] =
				(struct branch){edge->callee, edge->times.total_s * part,
						(uint64_t)((double)edge->times.calls * part + 0.5)};
	}
	t->on_path[b->function] = true;
	print_branches(t, below, n, depth + 1);
	t->on_path[b->function] = false;
}

static void print_branches(struct tree *t, struct branch *branches, size_t n, int depth)
{
	size_t lead = t->lead.len, shown = 0;

	qsort(branches, n, sizeof(*branches), by_time);
	while (shown < n && branches[shown].total_s >= t->look->floor * t->whole_s)
		shown++;
	for (size_t i = 0; i < shown; i++) {
		bool last = i + 1 == shown;

		if (depth)
			fah_strbuf_adds(&t->lead, t->look->utf8 ? (last ? "└─ " : "├─ ")
								: (last ? "`- " : "|- "));
		print_one(t, &branches[i]);
		fah_strbuf_truncate(&t->lead, lead);
		if (depth)
			fah_strbuf_adds(&t->lead, last ? "   " : t->look->utf8 ? "│  " : "|  ");
		print_below(t, &branches[i], depth);
		fah_strbuf_truncate(&t->lead, lead);
	}
}

/* By how much a function was called by nobody: by the interpreter, as a thread, after a fork. */
static double from_nobody(const struct fah_exact *e, const struct fah_exact_function *f,
			  uint64_t *ret_calls)
{
	double by_others = 0;
	uint64_t calls = 0;

	for (uint32_t i = f->first_caller; i; i = e->edges[i - 1].next_caller) {
		if (e->functions[e->edges[i - 1].caller].name == f->name &&
		    e->edges[i - 1].caller == e->edges[i - 1].callee) {
			calls += e->edges[i - 1].times.calls; /* recursion */
			continue;
		}
		by_others += e->edges[i - 1].times.total_s;
		calls += e->edges[i - 1].times.calls;
	}
	*ret_calls = f->times.calls > calls ? f->times.calls - calls : 0;
	return *ret_calls ? f->times.total_s - by_others : 0;
}

int fah_report_exact_tree(FILE *out, const struct fah_exact *e,
			  const struct fah_exact_tree_look *look)
{
	_cleanup_(fah_freep) bool *on_path = calloc(e->n_functions + 1, sizeof(*on_path));
	_cleanup_(fah_freep) struct branch *roots = calloc(e->n_functions + 1, sizeof(*roots));
	struct tree t = {.out = out,
			 .e = e,
			 .look = look,
			 .on_path = on_path,
			 .lead = FAH_STRBUF_INIT,
			 .whole_s = fah_exact_whole(e).self_s};
	size_t n = 0;
	int err;

	if (!on_path || !roots)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < e->n_functions; i++) {
		uint64_t calls;
		double total_s = from_nobody(e, &e->functions[i], &calls);

		if (calls)
			roots[n++] = (struct branch){i, total_s > 0 ? total_s : 0, calls};
	}
	print_branches(&t, roots, n, 0);
	err = t.no_memory || t.lead.failed ? FAH_ERR_NOMEM : ferror(out) ? FAH_ERR_SYS : 0;
	fah_strbuf_release(&t.lead);
	return err;
}
