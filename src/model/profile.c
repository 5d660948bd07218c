/*
 * profile.c - the profile's accessors and its end.
 */
#include "model/internal.h"

#include <math.h>
#include <string.h>

const struct fah_scope fah_scope_everything = {.everything = true};

void fah_profile_free(struct fah_profile *p)
{
	if (!p)
		return;
	free(p->strings);
	free(p->functions);
	free(p->canonical);
	free(p->files);
	free(p->nodes);
	free(p->costs);
	free(p->waits);
	free(p->processes);
	free(p->threads);
	free(p->loops);
	fah_told_lines_free(p->told);
	fah_heap_records_free(p->heap_records);
	fah_memory_records_free(p->memory_records);
	free(p->meta);
	free(p->calls);
	free(p->timed);
	fah_map_release(&p->call_ids);
	fah_kept_free(p->kept);
	fah_arena_release(&p->arena);
	free(p);
}

const struct fah_totals *fah_profile_totals(const struct fah_profile *p)
{
	return &p->totals;
}

const char *fah_profile_meta(const struct fah_profile *p, const char *key)
{
	for (size_t i = p->n_meta; i--;) /* a later value replaces an earlier one */
		if (!strcmp(p->meta[i].key, key))
			return p->meta[i].value;
	return NULL;
}

uint64_t fah_profile_count(const struct fah_profile *p, const char *key)
{
	const char *text = fah_profile_meta(p, key);

	return text ? strtoull(text, NULL, 10) : 0;
}

const struct fah_process *fah_profile_processes(const struct fah_profile *p, size_t *ret_n)
{
	*ret_n = p->n_processes;
	return p->processes;
}

const struct fah_thread *fah_profile_threads(const struct fah_profile *p, size_t *ret_n)
{
	*ret_n = p->n_threads;
	return p->threads;
}

const struct fah_function *fah_profile_function(const struct fah_profile *p, uint32_t function)
{
	return &p->functions[function < p->n_functions ? function : 0];
}

const char *fah_profile_abspath(const struct fah_profile *p, uint32_t function)
{
	return p->files[fah_profile_function(p, function)->file_id].abspath;
}

const struct fah_node *fah_profile_nodes(const struct fah_profile *p, size_t *ret_n)
{
	*ret_n = p->n_nodes;
	return p->nodes;
}

const struct fah_node_cost *fah_profile_node_costs(const struct fah_profile *p)
{
	return p->costs;
}

const struct fah_wait_cost *fah_profile_waits(const struct fah_profile *p, size_t *ret_n)
{
	*ret_n = p->n_waits;
	return p->waits;
}

double fah_share_interval(double share, double n)
{
	const double z = 1.959964; /* 97.5 % of the normal distribution */
	double centre, half, low, high;

	if (!(n > 0))
		return 1;
	share = share < 0 ? 0 : share > 1 ? 1 : share;
	centre = (share + z * z / (2 * n)) / (1 + z * z / n);
	half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
	low = share - (centre - half);
	high = centre + half - share;
	return low > high ? low : high;
}
