/*
 * count.c - counts the calls of the program's own functions, and what may be spent on it.
 *
 * A call that is told costs some 50 ns, as much as a small function takes. So what all of them cost
 * is held to a part of the program's CPU: beyond it, functions that are called often are told no
 * more (DISABLE), until there is room again; then all of them are, for a while (restart_events).
 * Which function was counted when stands in the records, so that the rest can be estimated, and is
 * said to be. Functions that are called seldom are always counted.
 */
#include "agent/count.h"
#include "agent/count_frames.h"
#include "agent/event_writer.h"
#include "agent/monitoring.h"
#include "core/sys.h"
#include "core/time.h"

#include <string.h>

#define FREE_NS 5000000u  /* calls may cost so much, ... */
#define SHARE 70u	  /* ... and of the CPU one part of so many */
#define MORE_NS 10000000u /* beyond that until what paces them has come twice, ... */
#define MORE_SHARE 100u	  /* ... and so much of the CPU */
#define ROOM_NS 2000000u  /* left of that: those that were too many are counted again, ... */
#define ROOM_SHARE 500u	  /* ... and so much of the CPU: a long run has longer windows, not more */
#define OFTEN 256u	  /* calls since it is counted; a power of two */
#define LOOK_EVERY 256u	  /* calls */
#define NEW_NS 2000000u	  /* counting all again for functions that are new may cost so much, ... */
#define NEW_SHARE 200u	  /* ... and of the CPU one part of so many */
#define RESTART_NS 500u	  /* of that for each code object that is known */
#define USUAL_PPM 30000u  /* of the CPU, all three together */
#define RUNNING_MAX 1000  /* frames among which a caller is looked for */
#define WRITE_EVERY_NS 900000000u
#define WRITE_AT_ONCE 128u

enum { BY_CALLER = 0, BY_OTHER = 1 }; /* struct fah_edge.paced */

struct fah_counting fah_counting;

static _Atomic bool look;   /* a handler came by: some time has passed */
static bool over, far_over; /* what calls cost is too much; by far */
static uint32_t n_off;
static uint64_t for_new_ns; /* what it cost to count all again for functions that are new */
static bool unknown_off;    /* a fork's child: functions are off that are not in the table ... */
static _Atomic uint64_t written_ns;

/* All are counted again. What another tool has switched off would come back to it: then not. */
static void count_all(void)
{
	struct fah_thread_state *t;
	struct fah_counted *c;
	fah_object *done;

	if (fah_monitoring_others(fah_counting.tool))
		return;
	t = fah_event_writer();
	if (!t)
		return;
	for (uint32_t i = 0; (c = fah_counted_at(i)); i++)
		if (c->off)
			fah_count_write_edges(t, c);
	fah_count_write_state(t, 0, true);
	fah_event_writer_end();
	for (uint32_t i = 0; (c = fah_counted_at(i)); i++) {
		c->off = false;
		c->since_on = 0;
		c->before_on = c->at_on;
		c->at_on = atomic_load_explicit(&c->n, memory_order_relaxed);
		for (uint32_t k = c->often ? c->first_edge : 0; k; k = fah_edge_at(k - 1)->next)
			fah_edge_at(k - 1)->had_whole = false;
	}
	n_off = 0;
	unknown_off = false;
	done = fah_py.call_args(fah_counting.restart, NULL);
	if (done)
		fah_py.decref(done);
	else
		fah_py.err_clear();
}

/* For who asks what profiling costs. */
static void say_cost(uint64_t spent)
{
	struct fah_segment_head *head = fah_segment_head();

	if (head && !fah_counting.measuring)
		atomic_store_explicit(&head->told_ns, spent + fah_counting.new_ns,
				      memory_order_relaxed);
}

/*
 * So much may be spent: ns, and one part in so many of the CPU. Of a budget that was asked for
 * half, which is what budget_ppm says before the collector knows better; the other half is for
 * samples, which get what counting leaves (collect/budget.c).
 */
static uint64_t part(uint64_t cpu, uint64_t ns, uint64_t share)
{
	uint64_t of_budget = fah_agent.budget_ppm;

	ns += cpu / share;
	return of_budget && of_budget < USUAL_PPM ? ns * of_budget / USUAL_PPM : ns;
}

/* A function that is new may call those that are not counted now: how often is known only once they
 * were. */
static bool is_worth_it(uint64_t cpu)
{
	uint64_t cost = (uint64_t)fah_counted_number() * RESTART_NS +
			(uint64_t)n_off * OFTEN * fah_counting.probe_ns;

	if (for_new_ns + cost > part(cpu, NEW_NS, NEW_SHARE))
		return false;
	for_new_ns += cost;
	return true;
}

static void look_at_cost(void)
{
	uint64_t cpu = fah_now_process_cpu(), spent = fah_counting.n_told * fah_counting.probe_ns,
		 allowed = part(cpu, FREE_NS, SHARE), room = part(cpu, ROOM_NS, ROOM_SHARE);

	fah_counting.cpu_ns = cpu;
	atomic_store_explicit(&look, false, memory_order_relaxed);
	say_cost(spent);
	/* nobody reads it any more: as few as can be */
	if (fah_segment_closed())
		allowed = 0;
	over = spent > allowed;
	far_over = spent > allowed + (allowed ? part(cpu, MORE_NS, MORE_SHARE) : 0);
	if ((n_off || unknown_off) &&
	    (spent + room < allowed || (fah_counting.met_new && allowed && is_worth_it(cpu))))
		count_all();
	fah_counting.met_new = false;
}

static fah_object *given(fah_object *o)
{
	fah_py.incref(o);
	return o;
}

static bool is_running(const struct fah_counted *c)
{
	uint64_t frame = fah_frame_current();

	for (int i = 0; i < RUNNING_MAX && (frame = fah_frame_outer(frame)); i++)
		if (fah_frame_code(frame) == c->code)
			return true;
	return false;
}

static void one_start(struct fah_edge *e, struct fah_paced *paced)
{
	uint64_t n = atomic_load_explicit(&e->n, memory_order_relaxed);

	atomic_fetch_add_explicit(&paced->starts, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&paced->calls, n - paced->at_start, memory_order_relaxed);
	e->had_whole = true;
}

/* It is counted no more. Callers that have ended since they began have made all their calls. */
static void no_more(struct fah_counted *c)
{
	struct fah_thread_state *t;

	for (uint32_t i = c->first_edge; i; i = fah_edge_at(i - 1)->next) {
		struct fah_edge *e = fah_edge_at(i - 1);

		if (e->paced[BY_CALLER].whole && !is_running(fah_counted_at(e->from - 1)))
			one_start(e, &e->paced[BY_CALLER]);
		e->paced[BY_CALLER].whole = e->paced[BY_OTHER].whole = false;
		fah_loop_forget(e);
	}
	c->off = true;
	n_off++;
	t = fah_event_writer();
	if (!t)
		return;
	fah_count_write_edges(t, c);
	fah_count_write_state(t, c->id, false);
	fah_event_writer_end();
}

/*
 * Half of its calls, or more, came since the last such word, so that what they took is known of the
 * latest ones: a function may be called now and then for long before it is called all the time.
 */
static void often(struct fah_counted *c, struct fah_edge *e)
{
	struct fah_thread_state *t = fah_event_writer();

	if (t) {
		fah_count_write_edges(t, c);
		fah_count_write_state(t, c->id, true);
		fah_event_writer_end();
	}
	for (uint32_t i = c->often ? 0 : c->first_edge; i; i = fah_edge_at(i - 1)->next)
		fah_edge_list(c, fah_edge_at(i - 1));
	c->often = true;
	fah_loop_begins(e);
}

/* What was called since the last start is all that comes with one. */
static void pace(struct fah_edge *e, struct fah_paced *paced)
{
	struct fah_counted *callee = fah_counted_at(e->counted);

	if (callee->off)
		return;
	if (paced->whole)
		one_start(e, paced);
	paced->at_start = atomic_load_explicit(&e->n, memory_order_relaxed);
	paced->whole = !over || !e->had_whole || callee->since_on < OFTEN;
	if (!paced->whole)
		no_more(callee);
}

/* A function begins that calls others often. */
static void caller_begins(const struct fah_counted *caller)
{
	for (uint32_t i = caller->first_out; i; i = fah_edge_at(i - 1)->next_out)
		pace(fah_edge_at(i - 1), &fah_edge_at(i - 1)->paced[BY_CALLER]);
}

/* One that is seldom called begins, by a function that calls others often. */
static void other_begins(const struct fah_edge *e)
{
	const struct fah_counted *caller = fah_counted_at(e->from - 1);

	for (uint32_t i = caller->first_out; i; i = fah_edge_at(i - 1)->next_out) {
		struct fah_edge *out = fah_edge_at(i - 1);

		if (!out->pacer)
			out->pacer = fah_edge_index(e) + 1;
		if (out->pacer == fah_edge_index(e) + 1)
			pace(out, &out->paced[BY_OTHER]);
	}
}

/* A call that has no place in the table. */
static fah_object *not_counted(uint64_t code)
{
	struct fah_counted *c = fah_counted_find(code, fah_code_version(code));

	if (c && c->id && !c->off)
		no_more(c);
	return given(fah_counting.disable);
}

fah_object *fah_count_call(fah_object *self, fah_object *const *args, long n)
{
	struct fah_counted *c;
	struct fah_edge *e;

	(void)self;
	if (n < 1 || (!fah_counting.measuring &&
		      !atomic_load_explicit(&fah_agent.active, memory_order_relaxed)))
		return given(fah_counting.disable);
	e = fah_edge_of_call((uint64_t)(uintptr_t)args[0]);
	fah_counting.n_told++;
	if (!e)
		return not_counted((uint64_t)(uintptr_t)args[0]);
	c = fah_counted_at(e->counted);
	if (!(fah_counting.n_told % LOOK_EVERY) || fah_counting.met_new ||
	    atomic_load_explicit(&look, memory_order_relaxed))
		look_at_cost();
	if (c->first_out)
		caller_begins(c);
	if (e->from && !c->often)
		other_begins(e);
	if (c->off)
		return given(fah_counting.disable);
	if (e->away)
		fah_loop_again(e);
	/* release: who reads it, in another thread's handler, finds the rest of the edge too */
	atomic_store_explicit(&e->n, atomic_load_explicit(&e->n, memory_order_relaxed) + 1,
			      memory_order_release);
	atomic_store_explicit(&c->n, atomic_load_explicit(&c->n, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	c->since_on++;
	if (fah_counting.checking)
		fah_loops_check(e);
	if (fah_counting.measuring)
		return given(fah_counting.measured_off ? fah_counting.disable : fah_py.none);
	if (c->since_on >= OFTEN && !(c->since_on & (c->since_on - 1)))
		often(c, e);
	if (far_over && c->since_on >= OFTEN && !fah_loop_wants_more(e)) {
		fah_loop_left(e);
		no_more(c);
		return given(fah_counting.disable);
	}
	return given(fah_py.none);
}

void fah_count_tick(struct fah_thread_state *t)
{
	uint64_t now, last;

	if (!atomic_load_explicit(&fah_counting.on, memory_order_relaxed))
		return;
	atomic_store_explicit(&look, true, memory_order_relaxed);
	now = fah_now_mono();
	fah_loops_sample(t, now);
	last = atomic_load(&written_ns);
	if (now - last < WRITE_EVERY_NS || !atomic_compare_exchange_strong(&written_ns, &last, now))
		return;
	fah_count_tell_unknown(t);
	fah_count_write_some(t, WRITE_AT_ONCE);
}

void fah_count_end(void)
{
	struct fah_thread_state *t = atomic_load(&fah_counting.on) && fah_segment_head()
					     ? fah_thread_write_begin()
					     : NULL;

	if (!t)
		return;
	say_cost(fah_counting.n_told * fah_counting.probe_ns);
	fah_loops_end();
	fah_count_write_some(t, UINT32_MAX);
	fah_thread_write_end(t);
}

void fah_count_forked(void)
{
	if (!atomic_load(&fah_counting.on))
		return;
	unknown_off |= n_off > 0;
	atomic_store(&fah_counting.untold, unknown_off);
	n_off = 0;
	fah_counting.n_told = fah_counting.new_ns = for_new_ns = 0;
	over = far_over = false;
	fah_count_table_clear();
}
