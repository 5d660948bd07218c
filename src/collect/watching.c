/* watching.c - see watching.h. */
#include "collect/watching.h"

#include "core/segment.h"
#include "core/time.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_TASKS 8192u	   /* threads of one process that are watched */
#define ROUND_NS 10000000u /* the kernel's rounding of start times */
#define YOUNG_NS 12000000u /* of which ROUND_NS are the kernel's */
#define OLDER_NS 20000000u /* a thread that began so long before its process's record */
#define AHEAD_NS 20000000u /* the agent's account of its first thread may be, of the kernel's */

/* When the thread began, for the capture, and the kernel's account at that time. */
static void find_start(struct fah_watching *g, struct fah_watched *t, uint64_t kernel_start,
		       uint64_t now, const struct fah_sched *s, uint64_t *ret_start,
		       struct fah_sched *ret_base)
{
	const struct fah_segment_head *head = fah_segment_map_head(&g->p->segments[0]);
	/* between what the kernel says and 10 ms later; not before a list that it was not in. One
	 * that was too young for that list began before it */
	bool newer = g->listed_ns > kernel_start && g->listed_ns < kernel_start + ROUND_NS;
	uint64_t start = newer ? g->listed_ns : kernel_start;
	uint64_t used = s->cpu_ns + s->ready_ns;

	*ret_base = (struct fah_sched){0};
	if (!head->forked && t->task->tid == head->first_tid &&
	    head->first_cpu_ns <= s->cpu_ns + AHEAD_NS) {
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
static bool is_agents_own(const struct fah_watching *g, uint32_t tid)
{
	struct fah_segment_head *head = fah_segment_map_head(&g->p->segments[0]);

	for (uint32_t i = 0; i < FAH_OWN_THREADS; i++)
		if (atomic_load(&head->own_tids[i]) == tid)
			return true;
	return false;
}

static void give_task(struct fah_watching *g, struct fah_watched *t)
{
	fah_task_give(&g->p->task_files, t->task);
	t->task = NULL;
}

static bool begin_thread(struct fah_watching *g, struct fah_watched *t, uint32_t tid)
{
	struct fah_sched s, base;
	struct fah_task_info info;
	struct fah_thread_seen seen = {
		.w = g->w, .process = g->p->id, .run_start_ns = g->run_start_ns, .tid = tid};
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
	t->account.w = g->w;
	t->account.run_start_ns = g->run_start_ns;
	t->account.thread = fah_threads_of_kernel(&g->p->threads, &seen, info.start_mono_ns);
	fah_account_begin(&t->account, seen.start_ns, &base);
	return true;
}

/* Its own word is to come with the next cycle, or with its process's end. */
static void keep_account(struct fah_watching *g, const struct fah_account *a)
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

void fah_watching_end_thread(struct fah_watching *g, struct fah_watched *t, uint64_t now)
{
	if (!t->told)
		keep_account(g, &t->account);
	fah_threads_ended(&g->p->threads, t->account.thread, now);
	give_task(g, t);
	t->gone = true;
}

void fah_watching_list(struct fah_watching *g, uint64_t now)
{
	static uint32_t tids[MAX_TASKS];
	size_t n = fah_tasks_list(g->tasks_fd, tids, MAX_TASKS), kept = 0, at = 0;
	struct fah_watched *grown;

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
		else if (begin_thread(g, &g->threads[g->n], tids[i]))
			g->threads[g->n++].listed = true;
	}
	for (size_t i = 0; i < g->n; i++) {
		if (!g->threads[i].gone && !g->threads[i].listed)
			fah_watching_end_thread(g, &g->threads[i], now);
		if (!g->threads[i].gone)
			g->threads[kept++] = g->threads[i];
	}
	g->n = kept;
	g->n_tasks = (uint32_t)n - g->n_young; /* another number than this: look again */
	g->listed_ns = now;
}

void fah_watching_told(struct fah_watching *g, const struct fah_thread_word *word)
{
	for (size_t i = 0; i < g->n; i++) {
		struct fah_watched *t = &g->threads[i];

		if (t->gone || t->told || t->account.thread != word->thread)
			continue;
		fah_account_end(&t->account, word->start_ns, word->end_ns, word->cpu_ns);
		t->told = true; /* the kernel may list it for a while yet */
		t->unread = false;
		return;
	}
	for (size_t i = 0; i < g->n_ended; i++) {
		if (g->ended[i].thread != word->thread)
			continue;
		fah_account_end(&g->ended[i], word->start_ns, word->end_ns, word->cpu_ns);
		g->ended[i] = g->ended[--g->n_ended];
		return;
	}
}

void fah_watching_end_all(struct fah_watching *g, uint64_t now)
{
	for (size_t i = 0; i < g->n; i++)
		if (!g->threads[i].gone)
			fah_watching_end_thread(g, &g->threads[i], now);
	g->n = 0;
	g->over = true;
}

void fah_watching_write_ended(struct fah_watching *g)
{
	for (size_t i = 0; i < g->n_ended; i++)
		fah_account_flush(&g->ended[i], true);
	g->n_ended = 0;
}

struct fah_watching *fah_watching_new(struct fah_collected *p, struct fah_writer *w,
				      uint64_t run_start_ns)
{
	struct fah_watching *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->p = p;
	g->w = w;
	g->run_start_ns = run_start_ns;
	g->pid = p->pid;
	g->mem = fah_target_mem(p->pid);
	g->tasks_fd = fah_tasks_open(p->pid);
	g->outside = fah_outside_new(fah_segment_map_head(&p->segments[0]));
	return g;
}

void fah_watching_free(struct fah_watching *g)
{
	for (size_t i = 0; i < g->n; i++)
		give_task(g, &g->threads[i]);
	free(g->threads);
	free(g->ended);
	fah_outside_free(g->outside);
	if (g->tasks_fd >= 0)
		close(g->tasks_fd);
	free(g);
}
