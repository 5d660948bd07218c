/*
 * memory.c - see memory.h.
 *
 * Each figure stands until the next of the same process, or its end. Sums over processes are made
 * in the order of time; bars are the extreme of each part of it.
 */
#include "model/memory.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "model/heap_account.h"
#include "model/heap_whole.h"
#include "model/internal.h"
#include "model/memory_records.h"

#include <signal.h>
#include <sys/wait.h>

/* A point, or the end of a process. */
struct event {
	uint64_t time_ns;
	size_t point;
	bool is_end;
};

/* What a process adds, since its last point. */
struct part {
	double resident, swapped;
};

struct maker {
	struct fah_profile *p;
	struct fah_memory_timeline *out;
	struct fah_heap_clock clock;
	struct fah_heap_account accounts[FAH_MEMORY_ROWS];
	struct part *parts; /* by process */
	double resident, swapped, high;
	double cache;	      /* of the group, the last that is known */
	uint64_t first_kills; /* FAH_MEMORY_UNKNOWN: not yet seen */
};

static int by_process(const void *a, const void *b)
{
	const struct fah_rec_memory *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->is_end != y->is_end)
		return x->is_end ? 1 : -1;
	return x->point < y->point ? -1 : x->point > y->point;
}

static double known(uint64_t bytes)
{
	return bytes == FAH_MEMORY_UNKNOWN ? 0 : (double)bytes;
}

/* What is the most, for rows where more is the extreme. */
static void set(struct maker *m, enum fah_memory_row_kind kind, uint64_t time_ns, double bytes)
{
	struct fah_memory_row *row = &m->out->rows[kind];

	if (!row->known || bytes > row->extreme) {
		row->extreme = bytes;
		row->at_s = (double)time_ns * 1e-9;
	}
	row->known = true;
	row->last = bytes;
	fah_heap_account_set(&m->accounts[kind], &m->clock, time_ns, bytes, 0);
}

static void take_process(struct maker *m, const struct fah_rec_memory *point)
{
	struct part *part = &m->parts[point->process - 1];
	double high = (double)fah_memory_point_high(point);

	if (point->resident != FAH_MEMORY_UNKNOWN) {
		m->resident += (double)point->resident - part->resident;
		part->resident = (double)point->resident;
		set(m, FAH_MEMORY_RESIDENT, point->time_ns, m->resident);
	}
	if (point->swapped != FAH_MEMORY_UNKNOWN) {
		m->swapped += (double)point->swapped - part->swapped;
		part->swapped = (double)point->swapped;
		set(m, FAH_MEMORY_SWAPPED, point->time_ns, m->swapped);
	}
	if (high > m->high) {
		m->high = high;
		set(m, FAH_MEMORY_HIGH, point->time_ns, high);
	}
}

/* Its memory is gone; the kernel's last word on the high-water mark comes with it. */
static void end_process(struct maker *m, const struct fah_rec_memory *point, uint64_t time_ns)
{
	struct part *part = &m->parts[point->process - 1];
	double high = (double)m->p->processes[point->process - 1].max_rss_bytes;
	double resident = m->out->rows[FAH_MEMORY_RESIDENT].last;
	double swapped = m->out->rows[FAH_MEMORY_SWAPPED].last;

	m->resident -= part->resident;
	m->swapped -= part->swapped;
	if (part->resident > 0)
		set(m, FAH_MEMORY_RESIDENT, time_ns, m->resident);
	if (part->swapped > 0)
		set(m, FAH_MEMORY_SWAPPED, time_ns, m->swapped);
	/* The last is what it was before the last process went. */
	if (!(m->resident > 0)) {
		m->out->rows[FAH_MEMORY_RESIDENT].last = resident;
		m->out->rows[FAH_MEMORY_SWAPPED].last = swapped;
	}
	if (high > m->high) {
		m->high = high;
		set(m, FAH_MEMORY_HIGH, time_ns, high);
	}
}

static void take_limit(struct maker *m, const struct fah_rec_memory *point)
{
	struct fah_memory_timeline *out = m->out;
	double cache, left;

	if (point->limit == FAH_MEMORY_UNKNOWN)
		return;
	out->limit = point->limit < FAH_MEMORY_NO_LIMIT ? point->limit : FAH_MEMORY_NO_LIMIT;
	if (out->limit == FAH_MEMORY_NO_LIMIT || point->used == FAH_MEMORY_UNKNOWN || !point->limit)
		return;
	cache = m->cache < known(point->used) ? m->cache : known(point->used);
	left = (double)point->limit - (known(point->used) - cache);
	left = left > 0 ? left : 0;
	if (out->limited && left / (double)point->limit >= out->left / out->left_of)
		return;
	out->limited = true;
	out->left = left;
	out->left_of = (double)point->limit;
	out->left_at_s = (double)point->time_ns * 1e-9;
}

static void take_machine(struct maker *m, const struct fah_rec_memory *point)
{
	struct fah_memory_timeline *out = m->out;

	if (point->total != FAH_MEMORY_UNKNOWN)
		out->total = point->total;
	/* as what is taken: the most of that is the least that is available */
	if (point->total != FAH_MEMORY_UNKNOWN && point->available <= point->total)
		set(m, FAH_MEMORY_AVAILABLE, point->time_ns,
		    (double)(point->total - point->available));
	if (point->cache != FAH_MEMORY_UNKNOWN)
		m->cache = (double)point->cache;
	if (point->used != FAH_MEMORY_UNKNOWN)
		set(m, FAH_MEMORY_GROUP, point->time_ns, (double)point->used);
	take_limit(m, point);
	if (point->kills == FAH_MEMORY_UNKNOWN)
		return;
	if (m->first_kills == FAH_MEMORY_UNKNOWN || point->kills < m->first_kills)
		m->first_kills = point->kills; /* fewer: it moved to another group */
	out->kills = point->kills - m->first_kills;
}

/* By time: all points, and where each process ended. */
static int order(struct maker *m, struct event **ret, size_t *ret_n)
{
	const struct fah_memory_timeline *out = m->out;
	struct event *events = reallocarray(NULL, 2 * out->n_points + 1, sizeof(*events));
	size_t n = 0;

	if (!events)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < out->n_points; i++) {
		const struct fah_rec_memory *point = &out->points[i];
		uint64_t end;

		events[n++] = (struct event){point->time_ns, i, false};
		if (!point->process ||
		    (i + 1 < out->n_points && out->points[i + 1].process == point->process))
			continue;
		m->out->n_processes++;
		end = m->p->processes[point->process - 1].end_ns;
		events[n++] = (struct event){end > point->time_ns ? end : point->time_ns, i, true};
	}
	qsort(events, n, sizeof(*events), by_time);
	*ret = events;
	*ret_n = n;
	return 0;
}

static int take_heap(struct maker *m)
{
	struct fah_memory_row *row = &m->out->rows[FAH_MEMORY_HEAP];
	struct fah_heap_whole whole;
	int err;

	if (!m->p->heap_records)
		return 0;
	err = fah_heap_order(m->p);
	if (err == 0)
		err = fah_heap_whole(m->p, &m->clock, &whole);
	if (err < 0)
		return err;
	row->known = true;
	row->extreme = whole.all.peak;
	row->at_s = (double)whole.peak_ns * 1e-9;
	row->last = whole.end;
	memcpy(row->timeline, whole.all.timeline, sizeof(row->timeline));
	return 0;
}

/* From what is taken to what is available. */
static void turn_available(struct fah_memory_timeline *out)
{
	struct fah_memory_row *row = &out->rows[FAH_MEMORY_AVAILABLE];
	double total = known(out->total);

	row->extreme = total > row->extreme ? total - row->extreme : 0;
	row->last = total > row->last ? total - row->last : 0;
	for (int i = 0; i < FAH_HEAP_BUCKETS; i++)
		row->timeline[i] = total > row->timeline[i] ? total - row->timeline[i] : 0;
}

static void close_rows(struct maker *m)
{
	struct fah_memory_timeline *out = m->out;
	double most = 0;

	for (int i = FAH_MEMORY_RESIDENT; i < FAH_MEMORY_ROWS; i++) {
		fah_heap_account_close(&m->accounts[i], &m->clock);
		memcpy(out->rows[i].timeline, m->accounts[i].timeline,
		       sizeof(out->rows[i].timeline));
	}
	if (out->rows[FAH_MEMORY_AVAILABLE].known)
		turn_available(out);
	for (int i = FAH_MEMORY_HEAP; i <= FAH_MEMORY_SWAPPED; i++)
		if (out->rows[i].known && out->rows[i].extreme > most)
			most = out->rows[i].extreme;
	for (int i = FAH_MEMORY_HEAP; i <= FAH_MEMORY_SWAPPED; i++)
		out->rows[i].full = most;
	out->rows[FAH_MEMORY_GROUP].full = out->limit < FAH_MEMORY_NO_LIMIT
						   ? (double)out->limit
						   : out->rows[FAH_MEMORY_GROUP].extreme;
	out->rows[FAH_MEMORY_AVAILABLE].full = known(out->total);
}

static bool ended_by_kill(const struct fah_profile *p)
{
	return p->totals.complete && !fah_profile_meta(p, "stopped_by") &&
	       WIFSIGNALED(p->totals.wait_status) && WTERMSIG(p->totals.wait_status) == SIGKILL;
}

static int make(struct maker *m)
{
	_cleanup_(fah_freep) struct event *events = NULL;
	_cleanup_(fah_freep) struct part *parts = calloc(m->p->n_processes + 1, sizeof(*parts));
	double wall_ns = m->p->totals.wall_s * 1e9;
	size_t n;
	int err = order(m, &events, &n);

	if (err < 0 || !parts)
		return FAH_ERR_NOMEM;
	m->parts = parts;
	m->clock.to_ns = wall_ns > 0 && wall_ns < 1e18 ? (uint64_t)wall_ns : 0;
	if (events[n - 1].time_ns > m->clock.to_ns)
		m->clock.to_ns = events[n - 1].time_ns;
	m->out->to_s = (double)m->clock.to_ns * 1e-9;
	for (int i = 0; i < FAH_MEMORY_ROWS; i++)
		fah_heap_account_init(&m->accounts[i], &m->clock);
	for (size_t i = 0; i < n; i++) {
		const struct fah_rec_memory *point = &m->out->points[events[i].point];

		if (events[i].is_end)
			end_process(m, point, events[i].time_ns);
		else if (point->process)
			take_process(m, point);
		else
			take_machine(m, point);
	}
	err = take_heap(m);
	if (err < 0)
		return err;
	close_rows(m);
	m->out->killed = m->out->kills && ended_by_kill(m->p);
	return 0;
}

int fah_profile_memory(struct fah_profile *p, const struct fah_memory_timeline **ret)
{
	struct fah_memory_records *records = p->memory_records;
	_cleanup_(fah_freep) struct maker *m = NULL;
	int err;

	*ret = NULL;
	if (!records)
		return 0;
	m = calloc(1, sizeof(*m));
	if (!m)
		return FAH_ERR_NOMEM;
	m->p = p;
	m->first_kills = FAH_MEMORY_UNKNOWN;
	m->out = fah_arena_alloc(&p->arena, sizeof(*m->out));
	if (!m->out)
		return FAH_ERR_NOMEM;
	qsort(records->points, records->n, sizeof(*records->points), by_process);
	*m->out = (struct fah_memory_timeline){.limit = FAH_MEMORY_UNKNOWN,
					       .total = FAH_MEMORY_UNKNOWN,
					       .points = records->points,
					       .n_points = records->n};
	err = make(m);
	if (err < 0)
		return err;
	*ret = m->out;
	return 0;
}
