/*
 * spans.h - when a thread was where: samples and waits as stretches of time that follow each other,
 * for formats that have a time axis.
 *
 * A sample stands for the CPU before it; where the thread did not block since the sample before,
 * for all time since then. Waits fill what is left between samples of the stretch in which they
 * were seen. What neither covers stays empty.
 */
#ifndef FAH_EXPORT_SPANS_H
#define FAH_EXPORT_SPANS_H

#include "model/view.h"

struct fah_span {
	uint64_t begin_ns, end_ns; /* begin < end; not before the end of the one before */
	uint32_t path;		   /* of the view; 0 of states */
	uint32_t reason;	   /* of a wait: enum fah_wait */
	bool is_wait;
	uint64_t cpu_ns; /* these two for formats that make spans of their own: 0 of those here */
	double seconds;
};
typedef void fah_span_fn(void *context, const struct fah_span *span);

/* What the view shows of a thread, in time order. 0 or FAH_ERR_NOMEM. */
int fah_spans_stacks(struct fah_stacks *s, uint32_t thread, fah_span_fn *fn, void *context);
/* Whether it ran or what it waited for, whatever the view shows; equal neighbours are one. */
int fah_spans_states(struct fah_stacks *s, uint32_t thread, fah_span_fn *fn, void *context);

#endif
