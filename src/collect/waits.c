/*
 * waits.c - see waits.h.
 *
 * Cheap ways first: a process whose CPU clock did not move has no thread that did; a thread whose
 * count of slices did not move is where it was. Only what moved is read anew, and accepted only if
 * it did not run between the first and the last byte that was read.
 */
#include "collect/waits.h"

#include "collect/account.h"
#include "collect/outside.h"
#include "collect/process.h"
#include "core/err.h"
#include "core/segment.h"
#include "core/time.h"
#include "target/call.h"
#include "target/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS 20000000u
#define CALM_TICKS 8u  /* in which nobody began or ended a wait: then looks are rarer ... */
#define CALM_LONGER 2u /* ... by so much, until somebody does */
#define CALM_NS 1000000u
#define CALM_BLOCKED_NS (LATER_DIVISOR * CALM_LONGER * (uint64_t)TICK_NS)
#define MAX_TASKS 8192u	       /* threads of one process that are watched */
#define BUDGET_PER_MILLE 5u    /* of a core, for readings */
#define POINT_NS 50000000u     /* beyond the budget, accounts are read no more often */
#define CREDIT_MAX_NS 20000000 /* saved up: a start of many threads at once */
#define LATER_DIVISOR 64u /* a thread blocked for t is asked again after t/64 at the earliest */
#define LATER_MAX_NS 500000000u
#define TRIES 3u /* to find the stack of a thread that stays blocked */
#define AGAIN_NS 120000000u
#define ROUND_NS 10000000u /* the kernel's rounding of start times */
#define YOUNG_NS 12000000u /* of which ROUND_NS are the kernel's */
#define OLDER_NS 20000000u /* a thread that began so long before its process's record */

struct watched {
	struct fah_task *task; /* the process's */
	struct fah_account account;
	struct fah_outside_thread python;
	uint64_t look_ns;  /* not before this */
	uint64_t again_ns; /* blocked without a stack: try again then */
	uint32_t tries;	   /* left */
	bool gone, listed;
	bool told;   /* the thread has told of its end itself: nothing is left to find out */
	bool unread; /* it has moved */
};

struct watching {
	struct watching *next;
	struct fah_collected *p; /* borrowed from the drain */
	uint32_t pid;
	bool over; /* its end is written */
	int tasks_fd;
	uint32_t n_tasks, n_young; /* those known; of the list, too young to be */
	uint64_t cpu_ns, listed_ns;
	struct fah_mem mem;
	struct fah_outside *outside; /* NULL: no stacks from this one */
	struct watched *threads;
	size_t n;
	struct fah_account *ended; /* gone, and their own word of it is not here yet */
	size_t n_ended, cap_ended;
};

struct fah_waits {
	struct fah_drain *d;
	struct fah_writer *w;
	uint64_t run_start_ns, tick_ns;
	int64_t credit_ns; /* CPU that we may take */
	uint32_t calm;	   /* ticks so far in which nothing changed */
	uint64_t random;
	struct watching *list;
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

/* When the thread began, for the capture, and the kernel's account at that time. */
static void find_start(struct watching *g, struct watched *t, uint64_t kernel_start, uint64_t now,
		       const struct fah_sched *s, uint64_t *ret_start, struct fah_sched *ret_base)
{
	const struct fah_segment_head *head = fah_segment_map_head(&g->p->segments[0]);
	/* between what the kernel says and 10 ms later; not before a list that it was not in. One
	 * that was too young for that list began before it */
	bool newer = g->listed_ns > kernel_start && g->listed_ns < kernel_start + ROUND_NS;
	uint64_t start = newer ? g->listed_ns : kernel_start;
	uint64_t used = s->cpu_ns + s->ready_ns;

	*ret_base = (struct fah_sched){0};
	if (!head->forked && t->task->tid == head->first_tid &&
	    head->first_cpu_ns <= s->cpu_ns + TICK_NS) {
		/* what came before was the interpreter's own start */
		ret_base->cpu_ns = head->first_cpu_ns < s->cpu_ns ? head->first_cpu_ns : s->cpu_ns;
		ret_base->ready_ns =
			head->first_ready_ns < s->ready_ns ? head->first_ready_ns : s->ready_ns;
		start = head->start_mono_ns;
	} else if (!head->forked && kernel_start + OLDER_NS < head->start_mono_ns) {
		*ret_base = *s;
		start = now;
	} else if (start + used > now) {
		start = now - (used < now ? used : now); /* the kernel knows it to 10 ms only */
	}
	*ret_start = start < now ? start : now;
}

/* The agent opens files in threads of its own; a thread that has not run yet may be one too. */
static bool is_agents_own(const struct watching *g, uint32_t tid)
{
	struct fah_segment_head *head = fah_segment_map_head(&g->p->segments[0]);

	for (uint32_t i = 0; i < FAH_OWN_THREADS; i++)
		if (atomic_load(&head->own_tids[i]) == tid)
			return true;
	return false;
}

static void give_task(struct watching *g, struct watched *t)
{
	fah_task_give(&g->p->task_files, t->task);
	t->task = NULL;
}

static bool begin_thread(struct fah_waits *ws, struct watching *g, struct watched *t, uint32_t tid)
{
	struct fah_sched s, base;
	struct fah_task_info info;
	struct fah_thread_seen seen = {
		.w = ws->w, .process = g->p->id, .run_start_ns = ws->run_start_ns, .tid = tid};
	uint64_t now;
	bool own, gone;

	memset(t, 0, sizeof(*t));
	t->task = fah_task_take(&g->p->task_files, g->pid, tid);
	if (!t->task)
		return false;
	now = fah_clock_ns(CLOCK_MONOTONIC);
	/* in this order: one that ran before we ask and lives after it is still named there */
	gone = fah_task_sched(t->task, &s) < 0;
	own = is_agents_own(g, tid);
	gone |= fah_task_info(g->pid, tid, &info) < 0;
	if (gone || info.state == 'Z' || info.state == 'X') {
		give_task(g, t);
		return false;
	}
	if (tid != g->pid && (now < info.start_mono_ns + YOUNG_NS || !s.slices || own)) {
		g->n_young++;
		give_task(g, t);
		return false;
	}
	find_start(g, t, info.start_mono_ns, now, &s, &seen.start_ns, &base);
	seen.name = info.name;
	seen.name_len = strlen(info.name);
	t->account.w = ws->w;
	t->account.run_start_ns = ws->run_start_ns;
	t->account.thread = fah_threads_of_kernel(&g->p->threads, &seen, info.start_mono_ns);
	fah_account_begin(&t->account, seen.start_ns, &base);
	return true;
}

/* Its own word is to come with the next cycle, or with its process's end. */
static void keep_account(struct watching *g, const struct fah_account *a)
{
	struct fah_account *grown;

	if (g->n_ended == g->cap_ended) {
		size_t cap = g->cap_ended ? 2 * g->cap_ended : 16;

		grown = realloc(g->ended, cap * sizeof(*grown));
		if (!grown)
			return;
		g->ended = grown;
		g->cap_ended = cap;
	}
	g->ended[g->n_ended++] = *a;
}

static void end_thread(struct watching *g, struct watched *t, uint64_t now)
{
	if (!t->told)
		keep_account(g, &t->account);
	fah_threads_ended(&g->p->threads, t->account.thread, now);
	give_task(g, t);
	t->gone = true;
}

static void list_threads(struct fah_waits *ws, struct watching *g, uint64_t now)
{
	static uint32_t tids[MAX_TASKS];
	size_t n = fah_tasks_list(g->tasks_fd, tids, MAX_TASKS), kept = 0, at = 0;
	struct watched *grown;

	ws->calm = 0;
	g->n_young = 0;
	for (size_t i = 0; i < g->n; i++)
		g->threads[i].listed = false;
	grown = realloc(g->threads, (g->n + n + 1) * sizeof(*grown));
	if (!grown)
		return;
	g->threads = grown;
	for (size_t i = 0, known = g->n; i < n; i++) {
		size_t tries = 0;

		/* both are in the kernel's order, mostly */
		for (; tries < known; tries++, at = (at + 1) % known)
			if (!g->threads[at].gone && g->threads[at].task->tid == tids[i])
				break;
		if (tries < known)
			g->threads[at].listed = true;
		else if (begin_thread(ws, g, &g->threads[g->n], tids[i]))
			g->threads[g->n++].listed = true;
	}
	for (size_t i = 0; i < g->n; i++) {
		if (!g->threads[i].gone && !g->threads[i].listed)
			end_thread(g, &g->threads[i], now);
		if (!g->threads[i].gone)
			g->threads[kept++] = g->threads[i];
	}
	g->n = kept;
	g->n_tasks = (uint32_t)n - g->n_young; /* another number than this: look again */
	g->listed_ns = now;
}

/* A futex: the GIL, another lock, or not known where the interpreter cannot be read. */
static enum fah_wait futex_reason(const struct watching *g, const struct watched *t, uint64_t addr)
{
	int gil = g->outside ? fah_outside_is_gil(g->outside, &t->python, addr) : FAH_ERR_FAULT;

	return gil < 0 ? FAH_WAIT_UNKNOWN : gil ? FAH_WAIT_GIL : FAH_WAIT_LOCK;
}

enum look { LOOK_RUNS, LOOK_BLOCKED, LOOK_ENDED };

/* Without its system call: by the letter that everybody may read. */
static enum look look_at_state(const struct watched *t, uint32_t *reason)
{
	struct fah_task_info info;

	if (fah_task_info(t->task->pid, t->task->tid, &info) < 0 || info.state == 'Z' ||
	    info.state == 'X')
		return LOOK_ENDED;
	if (info.state == 'D')
		*reason = FAH_WAIT_DISK;
	return info.state == 'R' ? LOOK_RUNS : LOOK_BLOCKED;
}

static enum look look(struct fah_waits *ws, struct watching *g, struct watched *t, uint32_t *reason,
		      bool *ret_stack)
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
	*ret_stack = g->outside && fah_outside_walk(g->outside, t->task->tid, &call, &t->python,
						    ws->tick_ns) == 0;
	*reason = fah_call_futex(&call, &futex) ? futex_reason(g, t, futex)
						: fah_call_reason(g->pid, &g->mem, &call);
	if (*reason == FAH_WAIT_UNKNOWN && call.nr >= 0 && look_at_state(t, reason) == LOOK_ENDED)
		return LOOK_ENDED;
	return LOOK_BLOCKED;
}

/* The thread has moved: where is it now? */
static void read_place(struct fah_waits *ws, struct watching *g, struct watched *t)
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
	if (gone || found == LOOK_ENDED || after.slices != t->account.last.slices) {
		ws->stats.rejected++;
		if (g->outside)
			fah_outside_reject(g->outside);
		fah_account_unknown(&t->account);
		if (gone || found == LOOK_ENDED)
			end_thread(g, t, ws->tick_ns);
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
static bool take_point(struct fah_waits *ws, struct watching *g, struct watched *t)
{
	struct fah_account *a = &t->account;
	uint64_t pause, now, used, last = a->last_ns;
	struct fah_sched s, before = a->last;

	if (fah_task_sched(t->task, &s) < 0) {
		end_thread(g, t, ws->tick_ns);
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
static struct watched *most_due(struct watching *g)
{
	struct watched *most = NULL;

	for (size_t i = 0; i < g->n; i++) {
		struct watched *t = &g->threads[i];

		if (t->unread && !t->gone &&
		    (!most || fah_account_due(&t->account) > fah_account_due(&most->account)))
			most = t;
	}
	return most;
}

static void read_within_budget(struct fah_waits *ws, struct watching *g)
{
	uint64_t cpu = fah_clock_ns(CLOCK_THREAD_CPUTIME_ID), after;
	struct watched *t;

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
static bool tick_threads(struct fah_waits *ws, struct watching *g)
{
	uint64_t now = ws->tick_ns;
	bool any = false, ended = false;

	for (size_t i = 0; i < g->n; i++) {
		struct watched *t = &g->threads[i];

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

static bool all_blocked(const struct watching *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->threads[i].told || !g->threads[i].account.blocked || g->threads[i].tries)
			return false;
	return g->n > 0;
}

static void end_all(struct watching *g, uint64_t now)
{
	for (size_t i = 0; i < g->n; i++)
		if (!g->threads[i].gone)
			end_thread(g, &g->threads[i], now);
	g->n = 0;
	g->over = true;
}

/* Those whose own word will not come. */
static void write_ended(struct watching *g)
{
	for (size_t i = 0; i < g->n_ended; i++)
		fah_account_flush(&g->ended[i], true);
	g->n_ended = 0;
}

static struct watching *watching_of(struct fah_waits *ws, const struct fah_collected *p)
{
	struct watching *g = ws->list;

	while (g && g->p != p)
		g = g->next;
	return g;
}

static void on_thread_end(void *arg, struct fah_collected *p, const struct fah_thread_word *word)
{
	struct watching *g = watching_of(arg, p);

	for (size_t i = 0; g && i < g->n; i++) {
		struct watched *t = &g->threads[i];

		if (t->gone || t->told || t->account.thread != word->thread)
			continue;
		fah_account_end(&t->account, word->start_ns, word->end_ns, word->cpu_ns);
		t->told = true; /* the kernel may list it for a while yet */
		t->unread = false;
		return;
	}
	for (size_t i = 0; g && i < g->n_ended; i++) {
		if (g->ended[i].thread != word->thread)
			continue;
		fah_account_end(&g->ended[i], word->start_ns, word->end_ns, word->cpu_ns);
		g->ended[i] = g->ended[--g->n_ended];
		return;
	}
}

static void on_process_end(void *arg, struct fah_collected *p)
{
	struct fah_waits *ws = arg;
	struct watching *g = watching_of(ws, p);

	if (!g)
		return;
	if (!g->over)
		end_all(g, ws->tick_ns);
	write_ended(g);
}

/* The end of a wait is known to a 64th of its length: rarer looks would be too rare for it. */
static bool waits_of_late(const struct watching *g, uint64_t now)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->threads[i].account.blocked &&
		    now - g->threads[i].account.since_ns < CALM_BLOCKED_NS)
			return true;
	return false;
}

static void tick_process(struct fah_waits *ws, struct watching *g)
{
	uint64_t cpu, now = ws->tick_ns;
	uint32_t count;

	if (g->over)
		return;
	if (!fah_process_cpu(g->pid, &cpu)) {
		end_all(g, now);
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
	count = fah_tasks_count(g->tasks_fd);
	if (count != g->n_tasks)
		list_threads(ws, g, now);
	if (tick_threads(ws, g))
		list_threads(ws, g, now);
}

static void watch(struct fah_waits *ws, struct fah_collected *p)
{
	const struct fah_segment_head *head = fah_segment_map_head(&p->segments[0]);
	struct watching *g;

	p->watched = true;
	ws->calm = 0;
	/* in another namespace its threads have other numbers than those it knows */
	if (fah_collected_outer_pid(p) != p->pid)
		return;
	g = calloc(1, sizeof(*g));
	if (!g)
		return;
	g->p = p;
	g->pid = p->pid;
	g->mem = fah_target_mem(p->pid);
	g->tasks_fd = fah_tasks_open(p->pid);
	g->outside = fah_outside_new(head);
	g->next = ws->list;
	ws->list = g;
}

static void unwatch(struct watching **at, uint64_t now, bool write)
{
	struct watching *g = *at;

	*at = g->next;
	if (write) {
		end_all(g, now);
		write_ended(g);
	}
	for (size_t i = 0; i < g->n; i++)
		give_task(g, &g->threads[i]);
	free(g->threads);
	free(g->ended);
	fah_outside_free(g->outside);
	if (g->tasks_fd >= 0)
		close(g->tasks_fd);
	free(g);
}

static void find_processes(struct fah_waits *ws)
{
	struct fah_collected *list, *p;

	list = fah_drain_processes(ws->d);
	for (struct watching **at = &ws->list; *at;)
		if ((*at)->p->done || fah_collected_is_replaced(list, (*at)->p))
			unwatch(at, ws->tick_ns, !(*at)->p->done);
		else
			at = &(*at)->next;
	for (p = list; p; p = p->next)
		if (!p->watched && p->id && p->n_segments && !p->done &&
		    !fah_collected_is_replaced(list, p) &&
		    atomic_load(&fah_segment_map_head(&p->segments[0])->status) !=
			    FAH_AGENT_REFUSED)
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
	for (struct watching *g = ws->list; g; g = g->next)
		tick_process(ws, g);
	ws->stats.cpu_ns += fah_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
}

void fah_waits_flush(struct fah_waits *ws)
{
	for (struct watching *g = ws->list; g; g = g->next) {
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
