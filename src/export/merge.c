/* merge.c - see merge.h. */
#include "export/merge.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "capture/words.h"
#include "core/err.h"

#include <stdlib.h>

#define FIRST_NS 1000000u /* the smallest window; each is STEP times the one before */
#define STEP 4u
#define WINDOWS 12 /* the last is more than an hour; beyond it is the whole thread */

struct node {
	uint32_t stamp;		       /* the window in which it was seen last */
	uint32_t child, last, sibling; /* of the window, in the order of time; 0: none */
	uint32_t reason;
	bool is_wait;
	uint64_t ns, cpu_ns; /* of exactly this path */
	double seconds;
};

struct fah_merge {
	struct fah_stacks *stacks;
	enum fah_merge_unit unit;
	uint64_t max;
	const struct fah_path *paths; /* NULL: none has a parent */
	/* counting */
	uint32_t *seen; /* by path, by window: its number + 1 */
	size_t room;
	uint64_t plain;		 /* units as they are; not counted beyond max */
	uint64_t n[WINDOWS + 1]; /* by window; the last is one for all */
	int first;		 /* the first window that has not more than max so far */
	uint64_t first_ns;
	uint32_t before;    /* path of the last span */
	uint64_t before_ns; /* its end */
	bool failed;
	/* merging */
	uint64_t window_ns, window; /* its number */
	struct node *nodes;
	uint32_t stamp;
	uint64_t begin_ns, end_ns, given_ns; /* of the window; the end of what was given */
	bool any;
	fah_span_fn *fn;
	void *context;
};

struct fah_merge *fah_merge_new(struct fah_stacks *stacks, enum fah_merge_unit unit, uint64_t max)
{
	struct fah_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->stacks = stacks;
	m->unit = unit;
	m->max = max;
	m->first_ns = FIRST_NS;
	return m;
}

void fah_merge_free(struct fah_merge *m)
{
	if (!m)
		return;
	free(m->seen);
	free(m->nodes);
	free(m);
}

/* A state is a path without a parent. */
static uint32_t path_of(const struct fah_merge *m, const struct fah_span *span)
{
	if (m->unit != FAH_MERGE_STATES)
		return span->path;
	return span->is_wait ? span->reason + 2 : 1;
}

static bool room_for(struct fah_merge *m, uint32_t path)
{
	const size_t row = WINDOWS + 1;
	size_t n = (size_t)path * 2 + 1024;
	uint32_t *grown;

	if (path < m->room)
		return true;
	grown = reallocarray(m->seen, n, row * sizeof(*grown));
	if (!grown) {
		m->failed = true;
		return false;
	}
	memset(grown + m->room * row, 0, (n - m->room) * row * sizeof(*grown));
	m->seen = grown;
	m->room = n;
	return true;
}

/* Frames of a path that the one before did not have. A parent's number is the smaller one. */
static uint64_t new_frames(const struct fah_merge *m, uint32_t path, uint32_t before)
{
	uint64_t n = 0;

	while (path != before) {
		if (path > before) {
			path = m->paths[path].parent;
			n++;
		} else {
			before = m->paths[before].parent;
		}
	}
	return n;
}

void fah_merge_count(void *merge, const struct fah_span *span)
{
	struct fah_merge *m = merge;
	uint32_t path = path_of(m, span);
	uint64_t window;
	size_t n;

	if (!room_for(m, path))
		return;
	while (m->first < WINDOWS && m->n[m->first] > m->max) {
		m->first++;
		m->first_ns *= STEP;
	}
	window = span->end_ns / m->first_ns;
	m->paths = m->unit == FAH_MERGE_STATES ? NULL : fah_stacks_paths(m->stacks, &n);
	if (m->unit != FAH_MERGE_FRAMES)
		m->plain++;
	else if (m->plain <= m->max)
		m->plain += new_frames(m, path, span->begin_ns > m->before_ns ? 0 : m->before);
	m->before = path;
	m->before_ns = span->end_ns;
	for (int i = m->first; i <= WINDOWS; i++, window /= STEP) {
		uint32_t number = i < WINDOWS ? (uint32_t)window + 1 : 1, at = path;

		/* windows lie within each other: what a small one has, a large one has */
		if (m->seen[(size_t)at * (WINDOWS + 1) + (size_t)i] == number)
			break;
		do {
			m->seen[(size_t)at * (WINDOWS + 1) + (size_t)i] = number;
			m->n[i]++;
			at = m->unit == FAH_MERGE_FRAMES ? m->paths[at].parent : 0;
		} while (at && m->seen[(size_t)at * (WINDOWS + 1) + (size_t)i] != number);
	}
}

void fah_merge_thread_counted(struct fah_merge *m)
{
	if (m->seen)
		memset(m->seen, 0, m->room * (WINDOWS + 1) * sizeof(*m->seen));
	m->before = 0;
	m->before_ns = 0;
}

int fah_merge_choose(struct fah_merge *m)
{
	size_t n = FAH_WAIT_COUNT + 2;
	int i = 0;

	free(m->seen);
	m->seen = NULL;
	if (m->failed)
		return FAH_ERR_NOMEM;
	m->window_ns = 0;
	if (m->plain <= m->max)
		return 0;
	for (m->window_ns = FIRST_NS; i < WINDOWS && m->n[i] > m->max; i++)
		m->window_ns *= STEP;
	if (i == WINDOWS)
		m->window_ns = UINT64_MAX;
	if (m->unit != FAH_MERGE_STATES)
		m->paths = fah_stacks_paths(m->stacks, &n);
	m->nodes = calloc(n, sizeof(*m->nodes));
	return m->nodes ? 0 : FAH_ERR_NOMEM;
}

uint64_t fah_merge_window(const struct fah_merge *m)
{
	return m->window_ns;
}

void fah_merge_begin(struct fah_merge *m, fah_span_fn *fn, void *context)
{
	m->fn = fn;
	m->context = context;
	m->given_ns = 0;
	m->any = false;
	m->stamp++;
}

static void give(struct fah_merge *m, uint32_t path)
{
	const struct node *node = &m->nodes[path];
	struct fah_span span = {
		.begin_ns = m->given_ns,
		.end_ns = m->given_ns + node->ns,
		.path = m->unit == FAH_MERGE_STATES ? 0 : path,
		.reason = node->reason,
		.is_wait = node->is_wait,
		.cpu_ns = node->cpu_ns,
		.seconds = node->seconds,
	};

	if (!node->ns && !node->cpu_ns && node->seconds <= 0)
		return; /* only what is below it was seen */
	if (span.end_ns > m->end_ns)
		span.end_ns = m->end_ns;
	m->given_ns = span.end_ns;
	m->fn(m->context, &span);
}

/* Callers before what they call, in the order in which each was first seen. Node 0 is the root. */
static void end_window(struct fah_merge *m)
{
	uint32_t at = m->any ? m->nodes[0].child : 0;

	if (m->given_ns < m->begin_ns)
		m->given_ns = m->begin_ns;
	while (at) {
		give(m, at);
		if (m->nodes[at].child) {
			at = m->nodes[at].child;
			continue;
		}
		while (at && !m->nodes[at].sibling)
			at = m->paths ? m->paths[at].parent : 0;
		if (at)
			at = m->nodes[at].sibling;
	}
	m->any = false;
	m->stamp++;
}

static void see(struct fah_merge *m, uint32_t path)
{
	uint32_t inner = 0;

	for (;; path = m->paths ? m->paths[path].parent : 0) {
		struct node *node = &m->nodes[path];
		bool is_new = node->stamp != m->stamp;

		if (is_new)
			*node = (struct node){.stamp = m->stamp};
		if (inner && node->last)
			m->nodes[node->last].sibling = inner;
		else if (inner)
			node->child = inner;
		if (inner)
			node->last = inner;
		if (!is_new || !path)
			return;
		inner = path;
	}
}

void fah_merge_add(void *merge, const struct fah_span *span)
{
	struct fah_merge *m = merge;
	uint64_t ns = span->end_ns - span->begin_ns, window;
	uint32_t path = path_of(m, span);
	struct node *node;

	if (!m->window_ns) {
		m->fn(m->context, span);
		return;
	}
	window = span->end_ns / m->window_ns;
	if (m->any && window != m->window)
		end_window(m);
	if (ns >= m->window_ns) { /* so it does not end in the window of the one before */
		m->given_ns = span->end_ns;
		m->fn(m->context, span);
		return;
	}
	if (!m->any) {
		m->any = true;
		m->window = window;
		m->begin_ns = span->begin_ns;
	}
	m->end_ns = span->end_ns;
	see(m, path);
	node = &m->nodes[path];
	node->ns += ns;
	node->cpu_ns += span->cpu_ns;
	node->seconds += span->seconds;
	node->reason = span->reason;
	node->is_wait = span->is_wait;
}

void fah_merge_end(struct fah_merge *m)
{
	if (m->window_ns && m->any)
		end_window(m);
}

static const char *within(const struct fah_merge *m, struct fah_num *room)
{
	if (m->window_ns == UINT64_MAX)
		return "each thread";
	*room = fah_num_duration((double)m->window_ns * 1e-9);
	return room->s;
}

static void note(const struct fah_merge *stacks, const struct fah_merge *states, const char *format,
		 struct fah_out *out)
{
	static const char *const units[] = {"slices", "samples"};
	struct fah_num room;

	if (stacks->window_ns)
		fah_out_note(out,
			     "%s: more than %s %s, which its viewers don't open: those of one "
			     "stack are added up within %s",
			     format, fah_num_count(stacks->max).s, units[stacks->unit],
			     within(stacks, &room));
	if (states->window_ns && stacks->window_ns)
		fah_out_note(out, ", those of one state within %s", within(states, &room));
	else if (states->window_ns)
		fah_out_note(
			out,
			"%s: more than %s changes of state, which its viewers don't open: those "
			"of one state are added up within %s",
			format, fah_num_count(states->max).s, within(states, &room));
	if (stacks->window_ns || states->window_ns)
		fah_out_note(out,
			     "; sums stay exact. --only FUNC shows less, -f jsonl every sample");
}

int fah_merge_windows(struct fah_merge *of_stacks, struct fah_merge *of_states,
		      fah_merge_visit *visit, void *context, const char *format,
		      struct fah_out *out)
{
	size_t n_threads;
	int err = 0;

	fah_profile_threads(fah_stacks_profile(of_stacks->stacks), &n_threads);
	for (uint32_t i = 0; err == 0 && i < n_threads; i++) {
		err = visit(context, i, fah_merge_count, of_stacks);
		fah_merge_thread_counted(of_stacks);
		if (err == 0)
			err = fah_spans_states(of_states->stacks, i, fah_merge_count, of_states);
		fah_merge_thread_counted(of_states);
	}
	if (err == 0)
		err = fah_merge_choose(of_stacks);
	if (err == 0)
		err = fah_merge_choose(of_states);
	if (err == 0)
		note(of_stacks, of_states, format, out);
	return err;
}
