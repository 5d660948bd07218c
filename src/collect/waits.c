/*
 * waits.c - see waits.h.
 *
 * Cheap ways first: a process whose CPU clock did not move has no thread that did; a thread whose
 * count of slices did not move is where it was. Only what moved is read anew, and accepted only if
 * it did not run between the first and the last byte that was read.
 */
#include "collect/waits.h"

#include "collect/watching.h"
#include "core/err.h"
#include "core/segment.h"
#include "core/time.h"
#include "target/call.h"

#include <stdlib.h>
#include <time.h>

#define TICK_NS 20000000u
#define CALM_TICKS 8u  /* in which nobody began or ended a wait: then looks are rarer ... */
#define CALM_LONGER 2u /* ... by so much, until somebody does */
#define CALM_NS 1000000u
#define CALM_BLOCKED_NS (LATER_DIVISOR * CALM_LONGER * (uint64_t)TICK_NS)
#define BUDGET_PER_MILLE 5u    /* of a core, for readings */
#define POINT_NS 50000000u     /* beyond the budget, accounts are read no more often */
#define CREDIT_MAX_NS 20000000 /* saved up: a start of many threads at once */
#define LATER_DIVISOR 64u /* a thread blocked for t is asked again after t/64 at the earliest */
#define LATER_MAX_NS 500000000u
#define TRIES 3u /* to find the stack of a thread that stays blocked */
#define AGAIN_NS 120000000u

struct fah_waits {
	struct fah_drain *d;
	struct fah_writer *w;
	uint64_t run_start_ns, tick_ns;
	int64_t credit_ns; /* CPU that we may take */
	uint32_t calm;	   /* ticks so far in which nothing changed */
	uint64_t random;
	struct fah_watching *list;
	struct fah_waits_stats stats;
};

static uint64_t next_random(struct fah_waits *ws)
{
	ws->random ^= ws->random << 13;
	ws->random ^= ws->random >> 7;
	ws->random ^= ws->random << 17;
	return ws->random;
}

static void on_thread_end(void *arg, struct fah_collected *p, const struct fah_thread_word *word);
static void on_process_end(void *arg, struct fah_collected *p);

int fah_waits_new(struct fah_drain *d, struct fah_writer *w, uint64_t run_start_ns,
		  struct fah_waits **ret)
{
	struct fah_waits *ws = calloc(1, sizeof(*ws));

	if (!ws)
		return FAH_ERR_NOMEM;
	ws->d = d;
	ws->w = w;
	ws->run_start_ns = ws->tick_ns = run_start_ns;
	ws->credit_ns = CREDIT_MAX_NS;
	ws->random = run_start_ns | 1;
	fah_drain_tell_ends(d, &(struct fah_drain_ends){ws, on_thread_end, on_process_end});
	*ret = ws;
	return 0;
}

const struct fah_waits_stats *fah_waits_stats(const struct fah_waits *ws)
{
	return &ws->stats;
}

uint64_t fah_waits_pause(struct fah_waits *ws)
{
	uint64_t ns = TICK_NS / 2 + next_random(ws) % TICK_NS;

	return ws->calm < CALM_TICKS ? ns : ns * CALM_LONGER;
}

/* A futex: the GIL, another lock, or not known where the interpreter cannot be read. */
static enum fah_wait futex_reason(const struct fah_watching *g, const struct fah_watched *t,
				  uint64_t addr)
{
	int gil = g->outside ? fah_outside_is_gil(g->outside, &t->python, addr) : FAH_ERR_FAULT;

	return gil < 0 ? FAH_WAIT_UNKNOWN : gil ? FAH_WAIT_GIL : FAH_WAIT_LOCK;
}

enum look { LOOK_RUNS, LOOK_BLOCKED, LOOK_AGENTS, LOOK_ENDED };

/* Without its system call: by the letter that everybody may read. */
static enum look look_at_state(const struct fah_watched *t, uint32_t *reason)
{
	struct fah_task_info info;

	if (fah_task_info(t->task->pid, t->task->tid, &info) < 0 || info.state == 'Z' ||
	    info.state == 'X')
		return LOOK_ENDED;
	if (info.state == 'D')
		*reason = FAH_WAIT_DISK;
	return info.state == 'R' ? LOOK_RUNS : LOOK_BLOCKED;
}

static enum look look(struct fah_waits *ws, struct fah_watching *g, struct fah_watched *t,
		      uint32_t *reason, bool *ret_stack)
{
	struct fah_call call;
	uint64_t futex;
	int got = fah_task_call(t->task, &call);

	if (got == 0)
		return LOOK_RUNS;
	if (got < 0) {
		ws->stats.refused++;
		return look_at_state(t, reason);
	}
	if (call.nr < 0 && !call.sp)
		return LOOK_ENDED; /* its stack is gone */
	if (fah_call_is_agents(&call))
		return LOOK_AGENTS; /* what it does next is not known */
	*ret_stack = g->outside && fah_outside_walk(g->outside, t->task->tid, &call, &t->python,
						    ws->tick_ns) == 0;
	*reason = fah_call_futex(&call, &futex)
			  ? futex_reason(g, t, futex)
			  : fah_call_reason(g->pid, t->task->tid, &g->mem, &call);
	if (*reason == FAH_WAIT_UNKNOWN && call.nr >= 0 && look_at_state(t, reason) == LOOK_ENDED)
		return LOOK_ENDED;
	return LOOK_BLOCKED;
}

/* The thread has moved: where is it now? */
static void read_place(struct fah_waits *ws, struct fah_watching *g, struct fah_watched *t)
{
	struct fah_place place = {FAH_WAIT_UNKNOWN, 0};
	struct fah_sched after;
	bool stack = false;
	enum look found = look(ws, g, t, &place.reason, &stack);
	bool gone = fah_task_sched(t->task, &after) < 0;

	if (found == LOOK_RUNS) {
		fah_account_running(&t->account);
		return;
	}
	ws->stats.readings++;
	if (gone || found != LOOK_BLOCKED || after.slices != t->account.last.slices) {
		ws->stats.rejected++;
		if (g->outside)
			fah_outside_reject(g->outside);
		fah_account_unknown(&t->account);
		if (gone || found == LOOK_ENDED)
			fah_watching_end_thread(g, t, ws->tick_ns);
		return;
	}
	/* it has blocked meanwhile, perhaps: what it used up to then is known only now */
	t->account.last = after;
	if (stack)
		place.node = fah_outside_accept(g->outside, ws->w);
	else
		ws->stats.no_stack++;
	t->tries = stack || !g->outside ? 0 : t->account.blocked ? t->tries - 1 : TRIES;
	t->again_ns = ws->tick_ns + AGAIN_NS;
	fah_account_blocked(&t->account, place);
}

/* The account at this moment; false: it is gone. */
static bool take_point(struct fah_waits *ws, struct fah_watching *g, struct fah_watched *t)
{
	struct fah_account *a = &t->account;
	uint64_t pause, now, used, last = a->last_ns;
	struct fah_sched s, before = a->last;

	if (fah_task_sched(t->task, &s) < 0) {
		fah_watching_end_thread(g, t, ws->tick_ns);
		return false;
	}
	now = fah_clock_ns(CLOCK_MONOTONIC);
	t->unread =
		!fah_account_point(a, &s, now) ||
		(t->tries && ws->tick_ns >= t->again_ns); /* a new thread has no state at first */
	used = s.cpu_ns - before.cpu_ns + s.ready_ns - before.ready_ns;
	if (t->unread && now - last > used + CALM_NS)
		ws->calm = 0; /* it has waited meanwhile */
	t->look_ns = 0;
	if (!t->unread) {
		pause = (a->last_ns - a->since_ns) / LATER_DIVISOR;
		t->look_ns = ws->tick_ns + (pause < LATER_MAX_NS ? pause : LATER_MAX_NS);
	}
	return true;
}

/* Of the threads that moved, the one with most waiting that has no place; NULL: all are read. */
static struct fah_watched *most_due(struct fah_watching *g)
{
	struct fah_watched *most = NULL;

	for (size_t i = 0; i < g->n; i++) {
		struct fah_watched *t = &g->threads[i];

		if (t->unread && !t->gone &&
		    (!most || fah_account_due(&t->account) > fah_account_due(&most->account)))
			most = t;
	}
	return most;
}

static void read_within_budget(struct fah_waits *ws, struct fah_watching *g)
{
	uint64_t cpu = fah_clock_ns(CLOCK_THREAD_CPUTIME_ID), after;
	struct fah_watched *t;

	while (ws->credit_ns > 0 && (t = most_due(g))) {
		if (take_point(ws, g, t) && t->unread)
			read_place(ws, g, t);
		t->unread = false;
		after = fah_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		ws->credit_ns -= (int64_t)(after - cpu);
		cpu = after;
	}
	for (size_t i = 0; i < g->n; i++) {
		if (!g->threads[i].unread || g->threads[i].gone)
			continue;
		ws->stats.put_off++;
		g->threads[i].unread = false;
		if (!g->threads[i].account.blocked)
			fah_account_unknown(&g->threads[i].account);
	}
}

/* True: one of them ended. */
static bool tick_threads(struct fah_waits *ws, struct fah_watching *g)
{
	uint64_t now = ws->tick_ns;
	bool any = false, ended = false;

	for (size_t i = 0; i < g->n; i++) {
		struct fah_watched *t = &g->threads[i];

		/* where it could not be read, the account alone is worth a look now and then */
		if (t->gone || t->told || now < t->look_ns ||
		    (ws->credit_ns <= 0 && now < t->account.last_ns + POINT_NS))
			continue;
		take_point(ws, g, t);
		any |= t->unread;
	}
	if (any)
		read_within_budget(ws, g);
	for (size_t i = 0; i < g->n; i++)
		ended |= g->threads[i].gone;
	return ended;
}

static bool all_blocked(const struct fah_watching *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->threads[i].told || !g->threads[i].account.blocked || g->threads[i].tries)
			return false;
	return g->n > 0;
}

static struct fah_watching *watching_of(struct fah_waits *ws, const struct fah_collected *p)
{
	struct fah_watching *g = ws->list;

	while (g && g->p != p)
		g = g->next;
	return g;
}

static void on_thread_end(void *arg, struct fah_collected *p, const struct fah_thread_word *word)
{
	struct fah_watching *g = watching_of(arg, p);

	if (g)
		fah_watching_told(g, word);
}

static void on_process_end(void *arg, struct fah_collected *p)
{
	struct fah_waits *ws = arg;
	struct fah_watching *g = watching_of(ws, p);

	if (!g)
		return;
	if (!g->over)
		fah_watching_end_all(g, ws->tick_ns);
	fah_watching_write_ended(g);
}

/* The end of a wait is known to a 64th of its length: rarer looks would be too rare for it. */
static bool waits_of_late(const struct fah_watching *g, uint64_t now)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->threads[i].account.blocked &&
		    now - g->threads[i].account.since_ns < CALM_BLOCKED_NS)
			return true;
	return false;
}

static void list_threads(struct fah_waits *ws, struct fah_watching *g, uint64_t now)
{
	ws->calm = 0;
	fah_watching_list(g, now);
}

static void tick_process(struct fah_waits *ws, struct fah_watching *g)
{
	uint64_t cpu, now = ws->tick_ns;

	if (g->over)
		return;
	if (!fah_process_cpu(g->pid, &cpu)) {
		fah_watching_end_all(g, now);
		return;
	}
	if (waits_of_late(g, now))
		ws->calm = 0;
	if (cpu == g->cpu_ns && !g->n_young &&
	    all_blocked(g)) { /* nobody ran since: no new threads either */
		for (size_t i = 0; i < g->n; i++)
			fah_account_still(&g->threads[i].account, now);
		return;
	}
	g->cpu_ns = cpu;
	if (fah_tasks_count(g->tasks_fd) != g->n_tasks)
		list_threads(ws, g, now);
	if (tick_threads(ws, g))
		list_threads(ws, g, now);
}

static void watch(struct fah_waits *ws, struct fah_collected *p)
{
	struct fah_watching *g;

	p->watched = true;
	ws->calm = 0;
	/* in another namespace its threads have other numbers than those it knows */
	if (fah_collected_outer_pid(p) != p->pid)
		return;
	g = fah_watching_new(p, ws->w, ws->run_start_ns);
	if (!g)
		return;
	g->next = ws->list;
	ws->list = g;
}

/* Its agent did not know the interpreter, so we do not either. */
static bool is_refused(const struct fah_collected *p)
{
	return p->n_segments &&
	       atomic_load(&fah_segment_map_head(&p->segments[0])->status) == FAH_AGENT_REFUSED;
}

static void unwatch(struct fah_watching **at, uint64_t now, bool write)
{
	struct fah_watching *g = *at;

	*at = g->next;
	if (write && !is_refused(g->p)) {
		fah_watching_end_all(g, now);
		fah_watching_write_ended(g);
	}
	fah_watching_free(g);
}

static void find_processes(struct fah_waits *ws)
{
	struct fah_collected *list, *p;

	list = fah_drain_processes(ws->d);
	for (struct fah_watching **at = &ws->list; *at;)
		/* a segment is there a moment before it says that its agent refuses */
		if ((*at)->p->done || is_refused((*at)->p) ||
		    fah_collected_is_replaced(list, (*at)->p))
			unwatch(at, ws->tick_ns, !(*at)->p->done);
		else
			at = &(*at)->next;
	for (p = list; p; p = p->next)
		if (!p->watched && p->id && p->n_segments && !p->done &&
		    !fah_collected_is_replaced(list, p) && !is_refused(p))
			watch(ws, p);
}

void fah_waits_tick(struct fah_waits *ws)
{
	uint64_t now = fah_clock_ns(CLOCK_MONOTONIC), before;

	if (ws->stats.ticks++ && now - ws->tick_ns > ws->stats.longest_ns)
		ws->stats.longest_ns = now - ws->tick_ns;
	ws->calm++;
	ws->credit_ns += (int64_t)((now - ws->tick_ns) * BUDGET_PER_MILLE / 1000);
	if (ws->credit_ns > CREDIT_MAX_NS)
		ws->credit_ns = CREDIT_MAX_NS;
	ws->tick_ns = now;
	before = fah_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	find_processes(ws);
	for (struct fah_watching *g = ws->list; g; g = g->next)
		tick_process(ws, g);
	ws->stats.cpu_ns += fah_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
}

void fah_waits_flush(struct fah_waits *ws)
{
	for (struct fah_watching *g = ws->list; g; g = g->next) {
		for (size_t i = 0; i < g->n; i++)
			if (!g->threads[i].gone && !g->threads[i].told)
				fah_account_flush(&g->threads[i].account, false);
	}
}

void fah_waits_finish(struct fah_waits *ws)
{
	while (ws->list)
		unwatch(&ws->list, ws->tick_ns, !ws->list->p->done);
}

void fah_waits_free(struct fah_waits *ws)
{
	if (!ws)
		return;
	while (ws->list)
		unwatch(&ws->list, 0, false);
	free(ws);
}
