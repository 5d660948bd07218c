/*
 * drain.c - see drain.h.
 *
 * A sample may name code that another thread described, in another chunk. That description was
 * whole before the sample was, so a cycle first notes how far each chunk reaches, then takes all
 * definitions (which may reach further), and only then the samples up to the noted marks.
 */
#include "collect/drain_internal.h"

#include "capture/reader.h"
#include "collect/health.h"
#include "collect/kept.h"
#include "collect/logs.h"
#include "collect/runtime_code.h"
#include "core/err.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define LOOKS 3 /* after something new has come to the folder */

int fah_drain_new(const char *session_dir, struct fah_writer *w, uint64_t start_mono_ns,
		  struct fah_drain **ret)
{
	struct fah_drain *d = calloc(1, sizeof(*d));

	if (!d)
		return FAH_ERR_NOMEM;
	d->dir = strdup(session_dir);
	d->w = w;
	d->start_mono_ns = start_mono_ns;
	d->news = -1;
	if (!d->dir) {
		free(d);
		return FAH_ERR_NOMEM;
	}
	*ret = d;
	return 0;
}

int fah_drain_moved(struct fah_drain *d, const char *session_dir)
{
	char *dir = strdup(session_dir);

	if (!dir)
		return FAH_ERR_NOMEM;
	free(d->dir);
	d->dir = dir;
	return 0;
}

void fah_drain_free(struct fah_drain *d)
{
	if (!d)
		return;
	fah_collected_free_all(d->processes);
	fah_modules_free(d->modules);
	if (d->news >= 0)
		close(d->news);
	free(d->known);
	free(d->dir);
	free(d);
}

struct fah_collected *fah_drain_processes(struct fah_drain *d)
{
	return d->processes;
}

void fah_drain_knows_thread(struct fah_drain *d, uint32_t process, uint32_t tid, uint64_t start_ns,
			    uint32_t id)
{
	struct known_thread *grown = d->known;

	if (!(d->n_known & (d->n_known + 1))) /* it is full: 0, 1, 3, 7 … of 2 n + 1 */
		grown = realloc(d->known, (2 * d->n_known + 1) * sizeof(*grown));
	if (!grown)
		return;
	d->known = grown;
	d->known[d->n_known++] = (struct known_thread){process, tid, id, start_ns};
}

void fah_drain_log_to(struct fah_drain *d, struct fah_logs *logs)
{
	d->logs = logs;
}

void fah_drain_tell_ends(struct fah_drain *d, const struct fah_drain_ends *ends)
{
	d->ends = *ends;
}

const struct fah_drain_stats *fah_drain_stats(const struct fah_drain *d)
{
	return &d->stats;
}

int fah_drain_watch(struct fah_drain *d)
{
	d->modules = fah_modules_new(d->dir);
	d->news = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (d->news >= 0 && inotify_add_watch(d->news, d->dir, IN_CREATE | IN_MOVED_TO) < 0) {
		close(d->news);
		d->news = -1;
	}
	d->looks = LOOKS;
	return d->modules ? 0 : FAH_ERR_NOMEM;
}

void fah_drain_share(struct fah_drain *d, struct fah_turns *turns)
{
	d->turns = turns;
	if (d->modules)
		fah_modules_share(d->modules, turns);
}

static void define_process(struct fah_drain *d, struct fah_collected *p)
{
	const struct fah_segment_head *head = fah_segment_map_head(&p->segments[0]);
	struct fah_process_def def = {
		.pid = head->pid,
		.ppid = head->ppid,
		.forked = head->forked,
		.python_version = head->python_version,
		.clock = head->clock,
		.start_ns = fah_drain_since(d, head->start_mono_ns),
		.period_ns = head->period_ns,
		.cmdline = head->cmdline,
		.cmdline_len =
			head->cmdline_len <= FAH_CMDLINE_MAX ? head->cmdline_len : FAH_CMDLINE_MAX,
	};

	p->id = fah_writer_process(d->w, &def);
	for (size_t i = 0; i < d->n_known; i++)
		if (d->known[i].process == p->id)
			fah_threads_known(&p->threads, d->known[i].tid, d->known[i].id,
					  d->start_mono_ns + d->known[i].start_ns);
	d->stats.processes++;
	if (!d->stats.refused[0] && atomic_load(&head->status) == FAH_AGENT_REFUSED)
		snprintf(d->stats.refused, sizeof(d->stats.refused), "%.*s",
			 (int)FAH_REASON_MAX - 1, head->reason);
}

static void note_descriptors(struct fah_drain *d, int err)
{
	d->stats.no_descriptors |= err == EMFILE || err == ENFILE;
}

/* First segments before further ones, whatever order the folder lists them in. */
static void find_segments(struct fah_drain *d)
{
	struct fah_collected *p;
	struct dirent *e;
	DIR *dir = opendir(d->dir);

	if (!dir) {
		note_descriptors(d, errno);
		return;
	}
	for (int pass = 0; pass < 2; pass++) {
		rewinddir(dir);
		while ((e = readdir(dir))) {
			size_t n = strlen(e->d_name);
			char path[8192];
			bool first;

			if (n < 6 || strcmp(e->d_name + n - 4, ".seg"))
				continue;
			first = !strcmp(e->d_name + n - 6, "-0.seg");
			snprintf(path, sizeof(path), "%s/%s", d->dir, e->d_name);
			if (first == (pass == 0) && !fah_collected_has(d->processes, path) &&
			    fah_collected_add(&d->processes, path) == FAH_ERR_SYS)
				note_descriptors(d, errno);
		}
	}
	closedir(dir);
	for (p = d->processes; p; p = p->next)
		if (!p->id && p->n_segments)
			define_process(d, p);
}

/* A map's file is for agents that have not opened it yet. */
static void forget_map(struct fah_drain *d, uint32_t map)
{
	for (struct fah_collected *p = d->processes; p; p = p->next)
		if (!p->done && p->n_segments &&
		    (uint32_t)atomic_load(&fah_segment_map_head(&p->segments[0])->map) == map)
			return;
	fah_modules_forget(d->modules, map);
}

/* Tell the agent of code that the process has mapped since. */
static void look_at(struct fah_drain *d, struct fah_collected *p)
{
	struct fah_segment_head *head;
	uint64_t before, now;
	uint32_t unloads, map;

	if (!d->modules || p->done || p->seen_dead || !p->n_segments)
		return;
	head = fah_segment_map_head(&p->segments[0]);
	unloads = atomic_load(&head->unloads); /* first: what is unloaded meanwhile is not seen */
	map = fah_modules_look(d->modules, fah_collected_outer_pid(p), head->frames);
	p->looked = true;
	if (fah_collected_runtime(p)) { /* now: some programs remove their map when they end */
		fah_turn_end(d->turns);
		fah_runtime_code_look(p->runtime);
		fah_turn_begin(d->turns);
	}
	before = atomic_load(&head->map);
	now = (uint64_t)unloads << 32 | map;
	if (!map || before == now)
		return;
	atomic_store_explicit(&head->map, now, memory_order_release);
	if (before && (uint32_t)before != map)
		forget_map(d, (uint32_t)before);
}

/* Reading the folder at each tick was most of the collector's cost. */
static bool folder_has_news(struct fah_drain *d)
{
	char events[4096];

	if (d->news < 0)
		return true;
	while (read(d->news, events, sizeof(events)) > 0)
		d->looks = LOOKS;
	if (!d->looks)
		return false;
	d->looks--;
	return true;
}

bool fah_drain_notice(struct fah_drain *d)
{
	bool due = false;

	if (folder_has_news(d))
		find_segments(d);
	for (struct fah_collected *p = d->processes; p; p = p->next) {
		p->look_due |= !p->looked || fah_collected_wants_look(p);
		due |= p->look_due;
	}
	return due;
}

void fah_drain_look(struct fah_drain *d)
{
	for (struct fah_collected *p = d->processes; p; p = p->next) {
		if (!p->look_due)
			continue;
		p->look_due = false;
		look_at(d, p);
	}
}

typedef void (*chunk_fn)(struct fah_drain *, struct fah_collected *, struct fah_chunk_ctx *,
			 struct fah_chunk *);

static void each_chunk(struct fah_drain *d, chunk_fn fn)
{
	for (struct fah_collected *p = d->processes; p; p = p->next)
		for (uint32_t s = 0; !p->done && s < p->n_segments; s++)
			for (uint32_t i = 0; i < FAH_CHUNKS; i++)
				fn(d, p, &p->segments[s].ctx[i],
				   fah_segment_map_chunk(&p->segments[s], i));
}

static void mark_one(struct fah_drain *d, struct fah_collected *p, struct fah_chunk_ctx *ctx,
		     struct fah_chunk *c)
{
	ctx->limit = fah_chunk_used(c);
}

static void define_one(struct fah_drain *d, struct fah_collected *p, struct fah_chunk_ctx *ctx,
		       struct fah_chunk *c)
{
	fah_chunk_define(p, ctx, c);
}

static void give_one(struct fah_drain *d, struct fah_collected *p, struct fah_chunk_ctx *ctx,
		     struct fah_chunk *c)
{
	fah_chunk_give_back(ctx, c);
}

struct ordered {
	uint32_t order, segment, chunk;
};

static int by_order(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

/*
 * A thread goes on in whichever chunk is free, so its place says nothing of its age: they are taken
 * in the order in which they were begun.
 */
static void sample_in_order(struct fah_drain *d, struct fah_collected *p)
{
	struct ordered list[FAH_SEGMENTS_MAX * FAH_CHUNKS];
	size_t n = 0;

	for (uint32_t s = 0; !p->done && s < p->n_segments && s < FAH_SEGMENTS_MAX; s++)
		for (uint32_t i = 0; i < FAH_CHUNKS; i++)
			if (p->segments[s].ctx[i].limit > p->segments[s].ctx[i].taken)
				list[n++] = (struct ordered){
					atomic_load(
						&fah_segment_map_chunk(&p->segments[s], i)->order),
					s, i};
	qsort(list, n, sizeof(list[0]), by_order);
	for (size_t k = 0; k < n; k++) {
		fah_chunk_take(d, p, &p->segments[list[k].segment].ctx[list[k].chunk],
			       fah_segment_map_chunk(&p->segments[list[k].segment], list[k].chunk));
		fah_turn_pass(d->turns);
	}
}

/* Who is alive when the recording ends was not killed. */
static uint32_t status_of(const struct fah_drain *d, struct fah_collected *p)
{
	uint32_t status = atomic_load(&fah_segment_map_head(&p->segments[0])->status);

	return status == FAH_AGENT_RUNNING && fah_collected_outer_pid(p) &&
			       !fah_collected_is_dead(d->processes, p)
		       ? FAH_AGENT_WENT_ON
		       : status;
}

static void add_cost(struct fah_drain_cost *to, const struct fah_segment_head *head)
{
	to->handler_ns += atomic_load(&head->handler_ns);
	to->told_ns += atomic_load(&head->told_ns);
}

static void end_process(struct fah_drain *d, struct fah_collected *p)
{
	const struct fah_segment_head *head = fah_segment_map_head(&p->segments[0]);
	struct fah_process_end end = {
		.process = p->id,
		.status = status_of(d, p),
		.time_ns = head->end_mono_ns ? fah_drain_since(d, head->end_mono_ns) : 0,
		.user_ns = head->user_ns,
		.system_ns = head->system_ns,
		.max_rss_bytes = head->max_rss_kb * 1024,
		.samples = atomic_load(&head->samples),
		.recovered = atomic_load(&head->recovered),
	};
	char reason[FAH_REASON_MAX];

	if (d->ends.process)
		d->ends.process(d->ends.arg, p);
	fah_kept_take(p, d->dir, d->w, end.time_ns);
	for (unsigned i = 0; i < FAH_DROP_COUNT; i++)
		end.drops[i] = atomic_load(&head->drops[i]);
	memcpy(reason, head->reason, sizeof(reason));
	reason[sizeof(reason) - 1] = 0;
	end.reason = reason;
	fah_writer_process_end(d->w, &end);
	fah_health_write(d->w, p->id, head);
	add_cost(&d->ended, head);
	d->stats.unrecorded += atomic_load(&head->unrecorded);
	if (d->logs)
		fah_logs_lost(d->logs, atomic_load(&head->logs_lost));
}

struct fah_drain_cost fah_drain_cost(const struct fah_drain *d)
{
	struct fah_drain_cost cost = d->ended;

	for (const struct fah_collected *p = d->processes; p; p = p->next)
		if (!p->done && p->n_segments)
			add_cost(&cost, fah_segment_map_head(&p->segments[0]));
	return cost;
}

void fah_drain_allow(struct fah_drain *d, uint32_t budget_ppm)
{
	for (struct fah_collected *p = d->processes; p; p = p->next)
		if (!p->done && p->n_segments)
			atomic_store(&fah_segment_map_head(&p->segments[0])->budget_ppm,
				     budget_ppm);
}

static void take_all(struct fah_drain *d)
{
	find_segments(d);
	each_chunk(d, mark_one);
	find_segments(d); /* a definition may stand in one that was made just now */
	each_chunk(d, define_one);
	for (struct fah_collected *p = d->processes; p; p = p->next)
		sample_in_order(d, p);
	fah_writer_flush(d->w);
	if (d->logs)
		fah_logs_flush(d->logs);
	each_chunk(d, give_one);
}

void fah_drain_cycle(struct fah_drain *d)
{
	struct fah_collected *p;

	/* whoever was dead before this cycle has written its last: after it, all of it is taken */
	for (p = d->processes; p; p = p->next)
		if (!p->done && p->n_segments)
			p->seen_dead = fah_collected_is_dead(d->processes, p);
	for (p = d->processes; p; p = p->next)
		if (p->n_segments && !atomic_load(&fah_segment_map_head(&p->segments[0])->map))
			look_at(d, p); /* it could not be read so far */
	take_all(d);
	for (p = d->processes; p; p = p->next) {
		if (p->done || !p->seen_dead || !p->n_segments)
			continue;
		end_process(d, p);
		fah_writer_flush(d->w);
		fah_collected_close(p, true);
	}
}

void fah_drain_close(struct fah_drain *d)
{
	find_segments(d);
	for (struct fah_collected *p = d->processes; p; p = p->next)
		for (uint32_t s = 0; !p->done && s < p->n_segments; s++)
			atomic_store(&fah_segment_map_head(&p->segments[s])->closed, 1);
}

void fah_drain_finish(struct fah_drain *d)
{
	struct fah_collected *p;

	fah_drain_close(d);
	take_all(d);
	for (p = d->processes; p; p = p->next) {
		if (p->done || !p->n_segments)
			continue;
		end_process(d, p);
		fah_collected_close(p, false);
	}
}
