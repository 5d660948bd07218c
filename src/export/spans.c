/* spans.c - see spans.h. Waits are few and are kept; samples pass through. */
#include "export/spans.h"

#include "base/cleanup.h"
#include "core/err.h"

#include <stdlib.h>

struct spanning {
	fah_span_fn *fn;
	void *context;
	struct fah_span *waits;
	size_t n_waits, cap, next;
	uint64_t end_ns;	/* of the last span that was given */
	struct fah_span joined; /* of states: held back while it grows */
	bool is_states, failed;
};

static void give(struct spanning *s, const struct fah_span *span)
{
	struct fah_span *j = &s->joined;

	s->end_ns = span->end_ns;
	if (!s->is_states) {
		s->fn(s->context, span);
		return;
	}
	if (j->end_ns == span->begin_ns && j->is_wait == span->is_wait && j->end_ns > j->begin_ns &&
	    j->reason == span->reason) {
		j->end_ns = span->end_ns;
		return;
	}
	if (j->end_ns > j->begin_ns)
		s->fn(s->context, j);
	*j = *span;
}

static void keep_wait(void *context, const struct fah_sight *sight)
{
	const struct fah_moment *m = sight->moment;
	struct spanning *s = context;

	if (!m->is_wait)
		return;
	if (s->n_waits == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 256;
		struct fah_span *grown = reallocarray(s->waits, cap, sizeof(*grown));

		if (!grown) {
			s->failed = true;
			return;
		}
		s->waits = grown;
		s->cap = cap;
	}
	s->waits[s->n_waits++] = (struct fah_span){
		.begin_ns = m->time_ns > m->length_ns ? m->time_ns - m->length_ns : 0,
		.end_ns = m->time_ns,
		.path = sight->path,
		.reason = m->reason,
		.is_wait = true,
	};
}

/* The waits between the last span and the next one's begin. */
static void give_waits(struct spanning *s, uint64_t until_ns)
{
	for (; s->next < s->n_waits && s->waits[s->next].begin_ns < until_ns; s->next++) {
		struct fah_span w = s->waits[s->next];

		if (w.begin_ns < s->end_ns)
			w.begin_ns = s->end_ns;
		if (w.end_ns > until_ns)
			w.end_ns = until_ns;
		if (w.begin_ns < w.end_ns)
			give(s, &w);
		if (s->waits[s->next].end_ns > until_ns)
			break; /* it may go on behind what comes now */
	}
}

static void add_sample(void *context, const struct fah_sight *sight)
{
	const struct fah_moment *m = sight->moment;
	struct spanning *s = context;
	struct fah_span span = {.end_ns = m->time_ns, .path = sight->path};

	if (m->is_wait)
		return;
	span.begin_ns = m->time_ns > m->length_ns ? m->time_ns - m->length_ns : 0;
	if (m->flags & FAH_SAMPLE_RAN_ON && s->end_ns)
		span.begin_ns = s->end_ns;
	give_waits(s, span.begin_ns);
	if (span.begin_ns < s->end_ns)
		span.begin_ns = s->end_ns;
	if (span.begin_ns < span.end_ns)
		give(s, &span);
}

static void finish(struct spanning *s)
{
	give_waits(s, UINT64_MAX);
	if (s->is_states && s->joined.end_ns > s->joined.begin_ns)
		s->fn(s->context, &s->joined);
	free(s->waits);
}

int fah_spans_stacks(struct fah_stacks *stacks, uint32_t thread, fah_span_fn *fn, void *context)
{
	struct spanning s = {.fn = fn, .context = context};
	int err = fah_stacks_visit(stacks, thread, FAH_OWN_TIME, keep_wait, &s);

	if (err == 0)
		err = fah_stacks_visit(stacks, thread, FAH_OWN_TIME, add_sample, &s);
	finish(&s);
	return s.failed ? FAH_ERR_NOMEM : err;
}

static void keep_wait_moment(void *context, const struct fah_moment *m)
{
	keep_wait(context, &(struct fah_sight){.moment = m});
}

static void add_sample_moment(void *context, const struct fah_moment *m)
{
	add_sample(context, &(struct fah_sight){.moment = m});
}

int fah_spans_states(struct fah_stacks *stacks, uint32_t thread, fah_span_fn *fn, void *context)
{
	struct spanning s = {.fn = fn, .context = context, .is_states = true};
	struct fah_profile *p = fah_stacks_profile(stacks);

	fah_profile_moments(p, thread, FAH_OWN_TIME, true, keep_wait_moment, &s);
	fah_profile_moments(p, thread, FAH_OWN_TIME, false, add_sample_moment, &s);
	finish(&s);
	return s.failed ? FAH_ERR_NOMEM : 0;
}
