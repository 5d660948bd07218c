/*
 * exact_tree.c - see exact_tree.h.
 *
 * Calls are known by caller and callee. A row is right as long as every function above it was
 * called from one place only: then all that it did was done on that path. Below a function with
 * several callers nobody knows which of them led to what; such rows are shares, and say so.
 */
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
	bool any_shared; /* a row that is not known exactly was printed */
	bool no_memory;
};

/* A function, or what one caller had of it. */
struct branch {
	uint32_t function;
	double total_s, self_s;
	uint64_t calls;	  /* known only where it is not shared */
	bool shared;	  /* among several callers of a function above, by their time in that */
	bool self_shared; /* the calls are known, but not what recursion below took itself */
};

static int by_time(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	if (x->total_s != y->total_s)
		return x->total_s < y->total_s ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static const char *about(const struct tree *t)
{
	return t->look->utf8 ? "≈" : "~";
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
	fprintf(t->out, "%s%s%.3f %s  (", fah_strbuf_str(&t->lead), b->shared ? about(t) : "",
		b->total_s, fah_strbuf_str(&name));
	if (!b->shared)
		fprintf(t->out, "%" PRIu64 " call%s, ", b->calls, b->calls == 1 ? "" : "s");
	fprintf(t->out, "itself %s%.3f)\n", b->shared || b->self_shared ? about(t) : "", b->self_s);
	t->any_shared |= b->shared || b->self_shared;
}

/* Whether it was called from one place only (recursion aside): then each row of it is all of it. */
static bool has_one_caller(const struct fah_exact *e, const struct fah_exact_function *f)
{
	uint64_t by_others = 0;
	size_t callers = 0;

	for (uint32_t i = f->first_caller; i; i = e->edges[i - 1].next_caller) {
		callers += e->edges[i - 1].caller != e->edges[i - 1].callee;
		by_others += e->edges[i - 1].times.calls;
	}
	return callers + (f->times.calls > by_others) <= 1;
}

/* What a row's function had of one that it called. part: the row's, of all that the function did.
 */
static struct branch branch_of(const struct tree *t, const struct fah_exact_edge *edge, double part,
			       bool shared)
{
	const struct fah_exact_function *callee = &t->e->functions[edge->callee];
	bool recursive = callee->times.primitive < callee->times.calls;
	struct branch b = {.function = edge->callee,
			   .total_s = edge->times.total_s * part,
			   .self_s = edge->times.self_s * part,
			   .calls = edge->times.calls,
			   .shared = shared};

	/* calls of itself are an edge of their own: whose they are is known of an only caller */
	if (recursive && has_one_caller(t->e, callee)) {
		b.self_s = callee->times.self_s * part;
	} else if (recursive && callee->times.total_s > 0) {
		b.self_s = callee->times.self_s * b.total_s / callee->times.total_s;
		b.self_shared = true;
	}
	return b;
}

static void print_branches(struct tree *t, struct branch *branches, size_t n, int depth);

/* What this function called, its part of it. */
static void print_below(struct tree *t, const struct branch *b, int depth)
{
	const struct fah_exact_function *f = &t->e->functions[b->function];
	bool shared = b->shared || !has_one_caller(t->e, f);
	double part = !shared ? 1 : f->times.total_s > 0 ? b->total_s / f->times.total_s : 0;
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
			below[n++] = branch_of(t, edge, part < 1 ? part : 1, shared);
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

/*
 * What nobody called of a function: the interpreter did, as a thread, after a fork. Such a call is
 * never inside another one of the same function, so of one that is recursive by way of others the
 * outermost calls are shared out; if all of them are nobody's, that is all of it.
 */
static struct branch from_nobody(const struct fah_exact *e, uint32_t function)
{
	const struct fah_exact_times *times = &e->functions[function].times;
	struct branch b = {function, times->total_s, times->self_s, times->calls, false, false};
	double part;

	for (uint32_t i = e->functions[function].first_caller; i; i = e->edges[i - 1].next_caller) {
		const struct fah_exact_edge *edge = &e->edges[i - 1];

		b.calls -= edge->times.calls < b.calls ? edge->times.calls : b.calls;
		if (edge->caller != function) {
			b.total_s -= edge->times.total_s;
			b.self_s -= edge->times.self_s;
		}
	}
	if (times->primitive < times->calls && times->primitive) {
		part = (double)b.calls / (double)times->primitive;
		b.shared = part < 1;
		b.total_s = times->total_s * (part < 1 ? part : 1);
		b.self_s = times->self_s * (part < 1 ? part : 1);
	}
	b.total_s = b.total_s > 0 ? b.total_s : 0;
	b.self_s = b.self_s > 0 ? b.self_s : 0;
	return b;
}

static void explain(const struct tree *t)
{
	fprintf(t->out,
		"\n%s: shared out. Calls are recorded by caller, not by path: what a function with "
		"several callers called is divided\namong them by time, and not all of them need "
		"have "
		"led there.\n",
		about(t));
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
		roots[n] = from_nobody(e, i);
		n += roots[n].calls > 0;
	}
	print_branches(&t, roots, n, 0);
	if (t.any_shared)
		explain(&t);
	err = t.no_memory || t.lead.failed ? FAH_ERR_NOMEM : ferror(out) ? FAH_ERR_SYS : 0;
	fah_strbuf_release(&t.lead);
	return err;
}
