/*
 * counts.c - see counts.h.
 *
 * A function that is called too often is counted in windows. How often a line calls it each time
 * that the line's own function is called is known from whole calls of that one, and how often that
 * one was called, it being called less, is known: the product is exact where all calls do the same.
 * Where the line's function never ended in a window (a main loop, a recursion), the windows tell
 * how often it calls in a second of the program's own CPU, and the CPU that passed between them,
 * where samples show that the line was at it, has as many. Records of a process are taken in the
 * order of time.
 */
#include "model/counts.h"

#include "core/err.h"
#include "model/load.h"

#define LINES_MAX 64u	    /* estimated ones that are told apart in a process */
#define SAMPLES_A_SLICE 25u /* of the time in which a line was at it, or not */
#define SLICES_MAX 65536u
#define UP_MAX 64u /* frames to the caller */

struct event {
	uint64_t time_ns;
	uint32_t calls, counting; /* index + 1 of one of both */
};

/* A function in one process. */
struct function {
	uint32_t first_line;		   /* of those that call it: index + 1 */
	uint32_t gaps;			   /* index + 1 of the last */
	uint64_t since_work_ns, before_ns; /* the window at hand; how long the one before was */
	uint64_t counted;
	double uncounted; /* once it is done */
	bool on;
	enum { NOT_DONE, AT_IT, DONE } done;
};

/* A line that calls it. */
struct line {
	uint32_t function, caller, line, next;
	uint64_t n;
	struct pace {
		uint32_t function;	/* whose starts; 0: nobody's */
		uint64_t starts, calls; /* between starts with all calls counted */
		uint64_t at_end;	/* starts when a window ended, ... */
		uint64_t between;	/* ... and in all gaps */
	} by_caller, by_other;
	double uncounted;
	uint64_t now, before;	    /* in the window at hand, and in the one before */
	double in_windows, work_ns; /* in windows that ended because there were too many */
	double unseen_ns;	    /* CPU in which it was at it, and was not counted */
	bool roughly;
	uint32_t bit; /* + 1; 0: it is not told apart */
};

/* A time in which a function was not counted. */
struct gap {
	uint64_t from_ns, to_ns;
	uint32_t before; /* index + 1 of the function's last one before */
};

struct making {
	struct fah_loader *l;
	struct fah_profile *p;
	struct event *events;
	struct fah_map function_ids, line_ids; /* index + 1 */
	struct function *functions;
	struct line *lines;
	struct gap *gaps;
	size_t n_events, cap_events, n_functions, cap_functions, n_lines, cap_lines, n_gaps,
		cap_gaps;
};

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	/* what was counted is told before it ends */
	return (x->counting > 0) - (y->counting > 0);
}

static bool add_event(struct making *m, struct event e)
{
	if (!fah_room(&m->events, m->n_events, &m->cap_events, sizeof(*m->events)))
		return false;
	m->events[m->n_events++] = e;
	return true;
}

static int events_of(struct making *m, uint32_t process)
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

static uint32_t canonical(const struct making *m, uint32_t function)
{
	return function < m->p->n_functions ? m->p->canonical[function] : 0;
}

static struct function *function_of(struct making *m, uint32_t id)
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

static struct function *known_function(const struct making *m, uint32_t id)
{
	const uint32_t *at = fah_map_get(&m->function_ids, fah_key_u64(id));

	return at ? &m->functions[*at - 1] : NULL;
}

static void take_pace(const struct making *m, struct pace *pace, const struct fah_paced_calls *r)
{
	if (r->function)
		pace->function = canonical(m, r->function);
	pace->starts += r->starts;
	pace->calls += r->calls;
}

static int take_calls(struct making *m, const struct fah_rec_calls *r)
{
	uint32_t function = canonical(m, r->function), caller = canonical(m, r->caller);
	struct function *f = function_of(m, function);
	uint32_t *at = fah_map_put(&m->line_ids, fah_key_u32x4(function, caller, r->line, 0), NULL);
	struct line *line;

	if (!f || !at)
		return FAH_ERR_NOMEM;
	if (!*at) {
		if (!fah_room(&m->lines, m->n_lines, &m->cap_lines, sizeof(*m->lines)))
			return FAH_ERR_NOMEM;
		m->lines[m->n_lines++] = (struct line){.function = function,
						       .caller = caller,
						       .line = r->line,
						       .next = f->first_line};
		f->first_line = *at = (uint32_t)m->n_lines;
	}
	line = &m->lines[*at - 1];
	f->counted += r->count;
	line->n += r->count;
	line->now += r->count;
	take_pace(m, &line->by_caller, &r->by_caller);
	take_pace(m, &line->by_other, &r->by_other);
	return 0;
}

/* Calls so far of who paces the line: of its own function all, of another those by that function.
 */
static uint64_t starts_of(const struct making *m, const struct line *line, const struct pace *pace)
{
	const struct function *f = pace->function ? known_function(m, pace->function) : NULL;
	uint64_t n = 0;

	if (!f || pace == &line->by_caller)
		return f ? f->counted : 0;
	for (uint32_t i = f->first_line; i; i = m->lines[i - 1].next)
		if (m->lines[i - 1].caller == line->caller)
			n += m->lines[i - 1].n;
	return n;
}

static void gap_ends(struct making *m, struct function *f, uint64_t time_ns)
{
	m->gaps[f->gaps - 1].to_ns = time_ns;
	for (uint32_t i = f->first_line; i; i = m->lines[i - 1].next) {
		struct line *line = &m->lines[i - 1];

		line->by_caller.between +=
			starts_of(m, line, &line->by_caller) - line->by_caller.at_end;
		line->by_other.between +=
			starts_of(m, line, &line->by_other) - line->by_other.at_end;
	}
}

static void window_begins(struct making *m, struct function *f, const struct fah_rec_counting *r)
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

static int window_ends(struct making *m, struct function *f, const struct fah_rec_counting *r)
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
		line->by_caller.at_end = starts_of(m, line, &line->by_caller);
		line->by_other.at_end = starts_of(m, line, &line->by_other);
	}
	m->gaps[m->n_gaps++] = (struct gap){r->time_ns, UINT64_MAX, f->gaps};
	f->gaps = (uint32_t)m->n_gaps;
	f->before_ns = 0;
	f->on = false;
	return 0;
}

static int take_counting(struct making *m, const struct fah_rec_counting *r)
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

static int by_count(const void *a, const void *b)
{
	const struct line *x = *(struct line *const *)a, *y = *(struct line *const *)b;

	return x->n != y->n ? (x->n > y->n ? -1 : 1) : x < y ? -1 : x > y;
}

/* The lines that are to be estimated get a bit each. How many. */
static int choose_lines(struct making *m, uint32_t *ret_n)
{
	struct line **found = calloc(m->n_lines + 1, sizeof(*found));
	size_t n = 0;

	*ret_n = 0;
	if (!found)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < m->n_lines; i++)
		if (known_function(m, m->lines[i].function)->gaps)
			found[n++] = &m->lines[i];
	if (n)
		qsort(found, n, sizeof(struct line *), by_count);
	for (; *ret_n < n && *ret_n < LINES_MAX; ++*ret_n)
		found[*ret_n]->bit = *ret_n + 1;
	free(found);
	return 0;
}

/* The line by which the node's function was called, or NULL. */
static const struct line *line_of(const struct making *m, uint32_t node)
{
	const struct fah_node *nodes = m->p->nodes;
	uint32_t function = m->p->canonical[nodes[node].function], up = nodes[node].parent;
	const struct function *f = known_function(m, function);

	if (!f || !f->gaps)
		return NULL;
	for (uint32_t i = 0; i < UP_MAX; i++, up = nodes[up].parent) {
		uint32_t caller = up ? m->p->canonical[nodes[up].function] : 0;
		const uint32_t *at = fah_map_get(
			&m->line_ids, fah_key_u32x4(function, caller, up ? nodes[up].line : 0, 0));

		if (at)
			return &m->lines[*at - 1];
		if (!up)
			break;
	}
	return NULL;
}

struct slices {
	uint64_t from_ns, width_ns;
	size_t n;
	double *cpu_ns;
	uint64_t *seen; /* bits of lines */
};

static uint64_t samples_of(const struct making *m, uint32_t process)
{
	uint64_t n = 0;

	for (size_t t = 0; t < m->p->n_threads; t++)
		if (m->p->threads[t].process == process)
			for (uint32_t b = m->l->chains[t].blocks.first; b != FAH_NO_BLOCK;
			     b = m->l->blocks[b].next)
				n += m->l->blocks[b].samples.left;
	return n;
}

static void slice_thread(const struct making *m, uint32_t thread, const uint64_t *bits,
			 struct slices *s)
{
	for (uint32_t b = m->l->chains[thread].blocks.first; b != FAH_NO_BLOCK;
	     b = m->l->blocks[b].next) {
		struct fah_samples_block block = m->l->blocks[b].samples;
		struct fah_sample_item item;

		while (fah_samples_next(&block, &item)) {
			size_t i = item.time_ns > s->from_ns
					   ? (item.time_ns - s->from_ns) / s->width_ns
					   : 0;

			i = i < s->n ? i : s->n - 1;
			s->cpu_ns[i] += (double)item.cpu_ns;
			s->seen[i] |= item.node < m->p->n_nodes ? bits[item.node] : 0;
		}
	}
}

static void set_bits(const struct making *m, uint64_t *bits)
{
	for (uint32_t i = 1; i < m->p->n_nodes; i++) {
		const struct line *line = line_of(m, i);

		bits[i] = bits[m->p->nodes[i].parent];
		if (line && line->bit)
			bits[i] |= 1ull << (line->bit - 1);
	}
}

/* By slice, what of it lies in times in which the function was not counted: 0 to 1. */
static void find_uncounted(const struct making *m, const struct function *f, const struct slices *s,
			   double *ret)
{
	memset(ret, 0, s->n * sizeof(*ret));
	for (uint32_t i = f->gaps; i; i = m->gaps[i - 1].before) {
		uint64_t at = m->gaps[i - 1].from_ns, end = s->from_ns + s->n * s->width_ns;

		if (m->gaps[i - 1].to_ns < end)
			end = m->gaps[i - 1].to_ns;
		if (at < s->from_ns)
			at = s->from_ns;
		while (at < end) {
			uint64_t k = (at - s->from_ns) / s->width_ns;
			uint64_t next = s->from_ns + (k + 1) * s->width_ns;

			next = next < end ? next : end;
			ret[k] += (double)(next - at) / (double)s->width_ns;
			at = next;
		}
	}
}

static void add_unseen(struct making *m, const struct slices *s, double *uncounted)
{
	for (size_t i = 0; i < m->n_functions; i++) {
		const struct function *f = &m->functions[i];

		if (!f->gaps)
			continue;
		find_uncounted(m, f, s, uncounted);
		for (uint32_t k = f->first_line; k; k = m->lines[k - 1].next) {
			struct line *line = &m->lines[k - 1];

			for (size_t j = 0; line->bit && j < s->n; j++)
				if (s->seen[j] >> (line->bit - 1) & 1)
					line->unseen_ns += s->cpu_ns[j] * uncounted[j];
		}
	}
}

static int look_between(struct making *m, uint32_t process)
{
	const struct fah_process *proc = &m->p->processes[process];
	uint64_t n = samples_of(m, process) / SAMPLES_A_SLICE, end = proc->end_ns;
	struct slices s = {.from_ns = proc->start_ns};
	double *uncounted;
	uint64_t *bits;
	int err = FAH_ERR_NOMEM;

	if (!end && m->n_events)
		end = m->events[m->n_events - 1].time_ns;
	s.n = n < 1 ? 1 : n > SLICES_MAX ? SLICES_MAX : n;
	s.width_ns = end > s.from_ns ? (end - s.from_ns) / s.n + 1 : 1;
	s.cpu_ns = calloc(s.n, sizeof(*s.cpu_ns));
	s.seen = calloc(s.n, sizeof(*s.seen));
	uncounted = calloc(s.n, sizeof(*uncounted));
	bits = calloc(m->p->n_nodes, sizeof(*bits));
	if (s.cpu_ns && s.seen && uncounted && bits) {
		set_bits(m, bits);
		for (uint32_t t = 0; t < m->p->n_threads; t++)
			if (m->p->threads[t].process == process)
				slice_thread(m, t, bits, &s);
		add_unseen(m, &s, uncounted);
		err = 0;
	}
	free(s.cpu_ns);
	free(s.seen);
	free(uncounted);
	free(bits);
	return err;
}

static double uncounted_of(struct making *m, uint32_t function);

static double estimate(struct making *m, struct line *line)
{
	const struct pace *pace =
		line->by_other.calls > line->by_caller.calls ? &line->by_other : &line->by_caller;
	const struct function *from = known_function(m, pace->function);

	if (pace->starts && from && from->done != AT_IT)
		return (double)pace->calls / (double)pace->starts *
		       ((double)pace->between + uncounted_of(m, pace->function));
	line->roughly = true;
	return line->work_ns > 0 ? line->in_windows / line->work_ns * line->unseen_ns : 0;
}

/* What was not counted of a function, in all. Functions that call each other in a circle get what
 * the clock says. */
static double uncounted_of(struct making *m, uint32_t function)
{
	struct function *f = known_function(m, function);

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
static int add_up(struct making *m)
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
		if (known_function(m, line->function)->gaps)
			c->estimated |= line->uncounted > 0 || line->unseen_ns > 0 || !line->bit;
	}
	return 0;
}

static void forget(struct making *m)
{
	m->n_functions = m->n_lines = m->n_gaps = 0;
	fah_map_release(&m->function_ids);
	fah_map_release(&m->line_ids);
}

static int process_counts(struct making *m, uint32_t process)
{
	uint32_t n = 0;
	int err = events_of(m, process + 1);

	for (size_t i = 0; err == 0 && i < m->n_events; i++)
		err = m->events[i].calls
			      ? take_calls(m, &m->l->calls[m->events[i].calls - 1])
			      : take_counting(m, &m->l->counting[m->events[i].counting - 1]);
	if (err == 0)
		err = choose_lines(m, &n);
	if (err == 0 && n)
		err = look_between(m, process);
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
	struct making m = {.l = l, .p = l->p};
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
