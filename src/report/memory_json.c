/* memory_json.c - see memory_timeline.h. What is not known is null. */
#include "report/memory_timeline.h"

static void put_figure(struct fah_json *j, const char *key, uint64_t bytes)
{
	fah_json_key(j, key);
	if (bytes == FAH_MEMORY_UNKNOWN)
		fah_json_null(j);
	else
		fah_json_u64(j, bytes);
}

static void put_row(struct fah_json *j, const char *key, const char *extreme,
		    const struct fah_memory_row *row)
{
	fah_json_key(j, key);
	if (!row->known) {
		fah_json_null(j);
		return;
	}
	fah_json_begin_object(j);
	fah_json_put_u64(j, extreme, fah_heap_bytes(row->extreme));
	fah_json_put_double(j, "at_s", row->at_s);
	fah_json_put_u64(j, "last_bytes", fah_heap_bytes(row->last));
	fah_json_key(j, "timeline");
	fah_json_begin_array(j);
	for (int i = 0; i < FAH_HEAP_BUCKETS; i++)
		fah_json_u64(j, fah_heap_bytes(row->timeline[i]));
	fah_json_end_array(j);
	fah_json_end_object(j);
}

/* No limit is null too: there is no number that would be it. */
static uint64_t limit_of(uint64_t limit)
{
	return limit < FAH_MEMORY_NO_LIMIT ? limit : FAH_MEMORY_UNKNOWN;
}

static void put_point(struct fah_json *j, const struct fah_rec_memory *point)
{
	fah_json_begin_object(j);
	fah_json_put_double(j, "at_s", (double)point->time_ns * 1e-9);
	if (point->process) {
		put_figure(j, "rss_bytes", point->resident);
		put_figure(j, "swap_bytes", point->swapped);
		put_figure(j, "high_water_bytes", point->high);
	} else {
		put_figure(j, "available_bytes", point->available);
		put_figure(j, "group_bytes", point->used);
		put_figure(j, "group_cache_bytes", point->cache);
		put_figure(j, "group_limit_bytes", limit_of(point->limit));
		put_figure(j, "group_kills", point->kills);
	}
	fah_json_end_object(j);
}

/* Points of a process, which begin at i; where the next one's do. */
static size_t put_points(struct fah_json *j, const struct fah_memory_timeline *m, size_t i,
			 uint32_t process)
{
	fah_json_key(j, "points");
	fah_json_begin_array(j);
	for (; i < m->n_points && m->points[i].process == process; i++)
		put_point(j, &m->points[i]);
	fah_json_end_array(j);
	return i;
}

void fah_memory_timeline_json(struct fah_json *j, const struct fah_profile *p,
			      const struct fah_memory_timeline *m)
{
	size_t n, i = 0;
	const struct fah_process *processes = fah_profile_processes(p, &n);

	fah_json_key(j, "memory_timeline");
	fah_json_begin_object(j);
	fah_json_put_double(j, "to_s", m->to_s);
	put_row(j, "heap", "max_bytes", &m->rows[FAH_MEMORY_HEAP]);
	put_row(j, "rss", "max_bytes", &m->rows[FAH_MEMORY_RESIDENT]);
	put_row(j, "high_water", "max_bytes", &m->rows[FAH_MEMORY_HIGH]);
	put_row(j, "swap", "max_bytes", &m->rows[FAH_MEMORY_SWAPPED]);
	put_row(j, "group", "max_bytes", &m->rows[FAH_MEMORY_GROUP]);
	put_row(j, "available", "min_bytes", &m->rows[FAH_MEMORY_AVAILABLE]);
	put_figure(j, "total_bytes", m->total);
	put_figure(j, "group_limit_bytes", limit_of(m->limit));
	fah_json_key(j, "group_left");
	if (m->limited)
		fah_json_double(j, m->left / m->left_of);
	else
		fah_json_null(j);
	fah_json_put_u64(j, "group_kills", m->kills);
	fah_json_put_bool(j, "killed_for_memory", m->killed);
	fah_json_key(j, "machine");
	fah_json_begin_object(j);
	i = put_points(j, m, 0, 0);
	fah_json_end_object(j);
	fah_json_key(j, "processes");
	fah_json_begin_array(j);
	while (i < m->n_points) {
		fah_json_begin_object(j);
		fah_json_put_u64(j, "pid", processes[m->points[i].process - 1].pid);
		i = put_points(j, m, i, m->points[i].process);
		fah_json_end_object(j);
	}
	fah_json_end_array(j);
	fah_json_end_object(j);
}
