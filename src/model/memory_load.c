/* memory_load.c - MEMORY records of a capture, as they stand in it. */
#include "base/cleanup.h"
#include "core/err.h"
#include "model/internal.h"
#include "model/memory_records.h"

int fah_memory_records_add(struct fah_profile *p, const struct fah_record *rec)
{
	struct fah_memory_records *m = p->memory_records;
	struct fah_rec_memory point;
	int err = fah_decode_memory(rec, &point);

	if (err < 0)
		return err;
	if (point.process > p->n_processes)
		return FAH_ERR_DAMAGED;
	if (!m)
		m = p->memory_records = calloc(1, sizeof(*m));
	if (!m || !fah_room(&m->points, m->n, &m->cap, sizeof(*m->points)))
		return FAH_ERR_NOMEM;
	m->points[m->n++] = point;
	return 0;
}

uint64_t fah_memory_point_high(const struct fah_rec_memory *point)
{
	uint64_t resident = point->resident == FAH_MEMORY_UNKNOWN ? 0 : point->resident;

	return point->high == FAH_MEMORY_UNKNOWN || point->high < resident ? resident : point->high;
}

int fah_memory_records_settle(struct fah_profile *p)
{
	const struct fah_memory_records *m = p->memory_records;
	_cleanup_(fah_freep) bool *told = calloc(p->n_processes + 1, sizeof(*told));

	if (!told)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < p->n_processes; i++)
		told[i] = p->processes[i].max_rss_bytes > 0;
	for (size_t i = 0; m && i < m->n; i++) {
		uint32_t of = m->points[i].process - 1;
		uint64_t high = fah_memory_point_high(&m->points[i]);

		if (m->points[i].process && !told[of] && high > p->processes[of].max_rss_bytes)
			p->processes[of].max_rss_bytes = high;
	}
	return 0;
}

void fah_memory_records_free(struct fah_memory_records *m)
{
	if (!m)
		return;
	free(m->points);
	free(m);
}
