/*
 * merge.h - fewer stretches of time where there are more than a viewer opens: within windows of one
 * length, those of one stack are added up.
 *
 * Nothing is left out, so sums are exact; inside of a window the stacks stand in the order in which
 * each was first seen, callees within their callers, so time is true to a window. One that is
 * longer than the window stays alone. First all are counted, then the smallest window is chosen
 * that is enough, then all are merged, thread by thread.
 */
#ifndef FAH_EXPORT_MERGE_H
#define FAH_EXPORT_MERGE_H

#include "export/out.h"
#include "export/spans.h"

struct fah_merge; /* opaque */

/* What is counted against the limit. */
enum fah_merge_unit {
	FAH_MERGE_FRAMES, /* each frame that begins: what nests is written once */
	FAH_MERGE_SPANS,
	FAH_MERGE_STATES, /* spans of fah_spans_states, which have no path */
};

/* No more than max units are left, if any window does that. stacks are borrowed until
 * fah_merge_free. NULL: no memory. */
struct fah_merge *fah_merge_new(struct fah_stacks *stacks, enum fah_merge_unit unit, uint64_t max);
void fah_merge_free(struct fah_merge *m); /* NULL is fine */

/* A fah_span_fn, with the merge as context: all of a thread in time order. (fah_merge_windows does
 * the three for two at a time.) */
void fah_merge_count(void *merge, const struct fah_span *span);
void fah_merge_thread_counted(struct fah_merge *m);
/* When all are counted. 0 or FAH_ERR_NOMEM (also of counting). */
int fah_merge_choose(struct fah_merge *m);
/* ns; 0: there is nothing to merge, all is given as it came. UINT64_MAX: the whole of a thread. */
uint64_t fah_merge_window(const struct fah_merge *m);

/* For each thread: begin, fah_merge_add (a fah_span_fn) for all, end. fn gets what is left. */
void fah_merge_begin(struct fah_merge *m, fah_span_fn *fn, void *context);
void fah_merge_add(void *merge, const struct fah_span *span);
void fah_merge_end(struct fah_merge *m);

/* What gives a thread's stretches to fn, in time order. */
typedef int fah_merge_visit(void *context, uint32_t thread, fah_span_fn *fn, void *fn_context);

/*
 * Counts all threads' stacks, as visit gives them, and their states, and chooses the window of
 * each. Where one of the two merges, out says for people what is not as it was recorded. 0, or what
 * visit returned, or FAH_ERR_NOMEM.
 */
int fah_merge_windows(struct fah_merge *of_stacks, struct fah_merge *of_states,
		      fah_merge_visit *visit, void *context, const char *format,
		      struct fah_out *out);

#endif
