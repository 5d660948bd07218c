/*
 * counts.c - see counts.h.
 *
 * A function that is called too often is counted in windows. How often a line calls it each time
 * that the line's own function is called is known from whole calls of that one, and how often that
 * one was called, it being called less, is known: the product is exact where all calls do the same.
 * Where the line's function never ended in a window its loop tells: how many turns it made between
 * two windows, and how many it makes in a second of the program's CPU when nothing is counted.
 * Where there is no loop that can be read (a recursion, while), the windows tell how often it calls
 * in a second of the program's own CPU, and the CPU that passed between them, where samples show
 * that the line was at it, has as many. Records of a process are taken in the order of time.
 */
#include "model/counts.h"

#include "core/err.h"
#include "model/counting.h"

#include <math.h>

#define CALL_LEAST_NS 25.0

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	/* what was counted is told before it ends */
	return (x->counting > 0) - (y->counting > 0);
}

static bool add_event(struct fah_counts_making *m, struct event e)
{
	if (!fah_room(&m->events, m->n_events, &m->cap_events, sizeof(*m->events)))
		return false;
	m->events[m->n_events++] = e;
	return true;
}

static int events_of(struct fah_counts_making *m, uint32_t process)
{
	const struct fah_loader *l = m->l;

	m->n_events = 0;
	for (uint32_t i = 0; i < l->n_calls; i++)
		if (l->calls[i].process == process &&
		    !add_event(m, (struct event){l->calls[i].time_ns, i + 1, 0}))
			return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < l->n_counting; i++)
		if (l->counting[i].process == process &&
		    !add_event(m, (struct event){l->counting[i].time_ns, 0, i + 1}))
			return FAH_ERR_NOMEM;
	if (m->n_events)
		qsort(m->events, m->n_events, sizeof(*m->events), by_time);
	return 0;
}

static uint32_t canonical(const struct fah_counts_making *m, uint32_t function)
{
	return function < m->p->n_functions ? m->p->canonical[function] : 0;
}

static struct function *function_of(struct fah_counts_making *m, uint32_t id)
{
	uint32_t *at = fah_map_put(&m->function_ids, fah_key_u64(id), NULL);

	if (!at)
		return NULL;
	if (!*at) {
		if (!fah_room(&m->functions, m->n_functions, &m->cap_functions,
			      sizeof(*m->functions)))
			return NULL;
		m->functions[m->n_functions++] = (struct function){.on = true};
		*at = (uint32_t)m->n_functions;
	}
	return &m->functions[*at - 1];
}

static void take_pace(const struct fah_counts_making *m, struct pace *pace,
		      const struct fah_paced_calls *r)
{
	if (r->function)
		pace->function = canonical(m, r->function);
	pace->starts += r->starts;
	pace->calls += r->calls;
	if (r->total > pace->total)
		pace->total = r->total;
}

static int take_calls(struct fah_counts_making *m, const struct fah_rec_calls *r)
{
	uint32_t function = canonical(m, r->function), caller = canonical(m, r->caller);
	struct function *f = function_of(m, function);
	uint32_t *at =
		fah_map_put(&m->line_ids, fah_key_u32x4(function, caller, r->line, r->place), NULL);
	uint32_t *leader =
		fah_map_put(&m->leader_ids, fah_key_u32x4(function, caller, r->line, 0), NULL);
	struct line *line;

	if (!f || !at || !leader)
		return FAH_ERR_NOMEM;
	if (!*at) {
		if (!fah_room(&m->lines, m->n_lines, &m->cap_lines, sizeof(*m->lines)))
			return FAH_ERR_NOMEM;
		m->lines[m->n_lines++] = (struct line){.function = function,
						       .caller = caller,
						       .line = r->line,
						       .next = f->first_line};
		f->first_line = *at = (uint32_t)m->n_lines;
		*leader = *leader ? *leader : *at;
		m->lines[*at - 1].leader = *leader - 1;
	}
	line = &m->lines[*at - 1];
	line->n += r->count;
	line->now += r->count;
	take_pace(m, &line->by_caller, &r->by_caller);
	line->by_caller.between += r->missed;
	take_pace(m, &line->by_other, &r->by_other);
	line->passed = (double)r->passed;
	return 0;
}

static void gap_ends(struct fah_counts_making *m, struct function *f, uint64_t time_ns)
{
	m->gaps[f->gaps - 1].to_ns = time_ns;
	for (uint32_t i = f->first_line; i; i = m->lines[i - 1].next) {
		struct line *line = &m->lines[i - 1];

		line->by_caller.between += line->by_caller.total - line->by_caller.at_end;
		line->by_other.between += line->by_other.total - line->by_other.at_end;
	}
}

static void window_begins(struct fah_counts_making *m, struct function *f,
			  const struct fah_rec_counting *r)
{
	f->before_ns = f->on && r->work_ns > f->since_work_ns ? r->work_ns - f->since_work_ns : 0;
	f->since_work_ns = r->work_ns;
	for (uint32_t i = f->first_line; i; i = m->lines[i - 1].next) {
		struct line *line = &m->lines[i - 1];

		line->before = f->on ? line->now : 0;
		line->now = 0;
	}
	if (!f->on)
		gap_ends(m, f, r->time_ns);
	f->on = true;
}

static int window_ends(struct fah_counts_making *m, struct function *f,
		       const struct fah_rec_counting *r)
{
	uint64_t work = f->before_ns;

	if (!f->on)
		return 0;
	if (!fah_room(&m->gaps, m->n_gaps, &m->cap_gaps, sizeof(*m->gaps)))
		return FAH_ERR_NOMEM;
	work += r->work_ns > f->since_work_ns ? r->work_ns - f->since_work_ns : 0;
	for (uint32_t i = f->first_line; i; i = m->lines[i - 1].next) {
		struct line *line = &m->lines[i - 1];

		if (line->before + line->now) {
			line->in_windows += (double)(line->before + line->now);
			line->work_ns += (double)work;
		}
		line->before = line->now = 0;
		line->by_caller.at_end = line->by_caller.total;
		line->by_other.at_end = line->by_other.total;
	}
	m->gaps[m->n_gaps++] = (struct gap){r->time_ns, UINT64_MAX, f->gaps};
	f->gaps = (uint32_t)m->n_gaps;
	f->before_ns = 0;
	f->on = false;
	return 0;
}

static int take_counting(struct fah_counts_making *m, const struct fah_rec_counting *r)
{
	struct function *f;

	if (r->function) {
		f = function_of(m, canonical(m, r->function));
		if (!f)
			return FAH_ERR_NOMEM;
		if (!r->on)
			return window_ends(m, f, r);
		window_begins(m, f, r);
		return 0;
	}
	/* of a fork's child, whose parent had some that were not: those are not in its table */
	if (r->on)
		for (size_t i = 0; i < m->n_functions; i++)
			if (!m->functions[i].on)
				window_begins(m, &m->functions[i], r);
	return 0;
}

static double uncounted_of(struct fah_counts_making *m, uint32_t function);

/* Of whose starts pace the line's calls: all of its caller's, but of another function's only those
 * that the same caller makes. */
static double uncounted_starts(struct fah_counts_making *m, const struct line *line,
			       const struct pace *pace)
{
	double all = uncounted_of(m, pace->function), n = 0;
	const struct function *from = fah_counted_function(m, pace->function);

	if (pace == &line->by_caller || !from)
		return all;
	for (uint32_t i = from->first_line; i; i = m->lines[i - 1].next)
		if (m->lines[i - 1].caller == line->caller)
			n += m->lines[i - 1].uncounted;
	return n;
}

static double estimate(struct fah_counts_making *m, struct line *line)
{
	const struct pace *pace =
		line->by_other.calls > line->by_caller.calls ? &line->by_other : &line->by_caller;
	const struct function *from = fah_counted_function(m, pace->function);
	double work;

	if (line->passed > 0 && !line->by_caller.starts)
		return line->passed;
	if (pace->starts && from && from->done != AT_IT)
		return (double)pace->calls / (double)pace->starts *
		       ((double)pace->between + uncounted_starts(m, line, pace));
	line->roughly = true;
	if (!(line->work_ns > 0))
		return 0;
	/* what was taken off the windows for the counting is not exact: no call takes less */
	work = fmax(line->work_ns, line->in_windows * CALL_LEAST_NS);
	return line->in_windows / work * line->unseen_ns;
}

/* What was not counted of a function, in all. Functions that call each other in a circle get what
 * the clock says. */
static double uncounted_of(struct fah_counts_making *m, uint32_t function)
{
	struct function *f = fah_counted_function(m, function);

	if (!f || !f->gaps || f->done == AT_IT)
		return 0;
	if (f->done == NOT_DONE) {
		f->done = AT_IT;
		for (uint32_t i = f->first_line; i; i = m->lines[i - 1].next) {
			m->lines[i - 1].uncounted = estimate(m, &m->lines[i - 1]);
			f->uncounted += m->lines[i - 1].uncounted;
		}
		f->done = DONE;
	}
	return f->uncounted;
}

/* All lines of a process to those of the profile. */
static int add_up(struct fah_counts_making *m)
{
	struct fah_profile *p = m->p;

	for (size_t i = 0; i < m->n_lines; i++) {
		const struct line *line = &m->lines[i];
		uint32_t *at = fah_map_put(
			&p->call_ids, fah_key_u32x4(line->function, line->caller, line->line, 0),
			NULL);
		struct fah_call_count *c;

		if (!at)
			return FAH_ERR_NOMEM;
		if (!*at) {
			if (!fah_room(&p->calls, p->n_calls, &m->l->cap_call_counts,
				      sizeof(*p->calls)))
				return FAH_ERR_NOMEM;
			p->calls[p->n_calls++] = (struct fah_call_count){.function = line->function,
									 .caller = line->caller,
									 .line = line->line};
			*at = (uint32_t)p->n_calls;
		}
		c = &p->calls[*at - 1];
		c->n += (double)line->n + line->uncounted;
		c->roughly |= line->roughly && line->uncounted > 0;
		if (fah_counted_function(m, line->function)->gaps)
			c->estimated |= line->uncounted > 0 || line->unseen_ns > 0 ||
					line->in_windows > 0 || !m->lines[line->leader].bit;
	}
	return 0;
}

static void forget(struct fah_counts_making *m)
{
	m->n_functions = m->n_lines = m->n_gaps = 0;
	fah_map_release(&m->function_ids);
	fah_map_release(&m->line_ids);
	fah_map_release(&m->leader_ids);
}

static int process_counts(struct fah_counts_making *m, uint32_t process)
{
	int err = events_of(m, process + 1);

	for (size_t i = 0; err == 0 && i < m->n_events; i++)
		err = m->events[i].calls
			      ? take_calls(m, &m->l->calls[m->events[i].calls - 1])
			      : take_counting(m, &m->l->counting[m->events[i].counting - 1]);
	if (err == 0)
		err = fah_counts_between(m, process);
	for (size_t i = 0; err == 0 && i < m->n_functions; i++)
		if (!m->functions[i].on)
			gap_ends(m, &m->functions[i], UINT64_MAX);
	for (size_t i = 0; err == 0 && i < m->n_lines; i++)
		uncounted_of(m, m->lines[i].function);
	if (err == 0)
		err = add_up(m);
	forget(m);
	return err;
}

int fah_loader_counts(struct fah_loader *l)
{
	struct fah_counts_making m = {.l = l, .p = l->p};
	int err = 0;

	for (uint32_t i = 0; err == 0 && l->n_calls && i < l->p->n_processes; i++)
		err = process_counts(&m, i);
	free(m.events);
	free(m.functions);
	free(m.lines);
	free(m.gaps);
	return err;
}

const struct fah_call_count *fah_profile_calls(const struct fah_profile *p, uint32_t function,
					       uint32_t caller, uint32_t line)
{
	const uint32_t *at = fah_map_get(&p->call_ids, fah_key_u32x4(function, caller, line, 0));

	return at ? &p->calls[*at - 1] : NULL;
}

const struct fah_call_count *fah_profile_all_calls(const struct fah_profile *p, size_t *ret_n)
{
	*ret_n = p->n_calls;
	return p->calls;
}

double fah_profile_calls_itself(const struct fah_profile *p, uint32_t function, bool *ret_estimated,
				bool *ret_roughly)
{
	double n = 0;

	*ret_estimated = *ret_roughly = false;
	for (size_t i = 0; i < p->n_calls; i++)
		if (p->calls[i].function == function && p->calls[i].caller == function) {
			n += p->calls[i].n;
			*ret_estimated |= p->calls[i].estimated;
			*ret_roughly |= p->calls[i].roughly;
		}
	return n;
}
