/* exact.c - see exact.h. */
#include "model/exact.h"

#include "base/room.h"
#include "core/err.h"

void fah_exact_init(struct fah_exact *e)
{
	*e = (struct fah_exact){
		.function_ids = FAH_MAP_INIT, .edge_ids = FAH_MAP_INIT, .texts = FAH_STRMAP_INIT};
}

void fah_exact_done(struct fah_exact *e)
{
	free(e->functions);
	free(e->edges);
	fah_map_release(&e->function_ids);
	fah_map_release(&e->edge_ids);
	fah_strmap_release(&e->texts);
	fah_exact_init(e);
}

/* Its number in *ret, from 1 on. */
static int text(struct fah_exact *e, const char *s, size_t n, uint32_t *ret, const char **ret_copy)
{
	bool is_new;
	uint32_t *id = fah_strmap_put(&e->texts, s, n, &is_new, ret_copy);

	if (!id)
		return FAH_ERR_NOMEM;
	if (is_new)
		*id = (uint32_t)e->texts.n;
	*ret = *id;
	return 0;
}

int fah_exact_function(struct fah_exact *e, const char *file, size_t file_len, int64_t line,
		       const char *name, size_t name_len, uint32_t *ret)
{
	uint32_t file_id, name_id, *id;
	const char *file_copy, *name_copy;
	bool is_new;

	if (text(e, file, file_len, &file_id, &file_copy) < 0 ||
	    text(e, name, name_len, &name_id, &name_copy) < 0 ||
	    !fah_room(&e->functions, e->n_functions, &e->cap_functions, sizeof(*e->functions)))
		return FAH_ERR_NOMEM;
	id = fah_map_put(&e->function_ids,
			 (struct fah_key){(uint64_t)file_id << 32 | name_id, (uint64_t)line},
			 &is_new);
	if (!id)
		return FAH_ERR_NOMEM;
	if (is_new) {
		*id = (uint32_t)e->n_functions;
		e->functions[e->n_functions++] = (struct fah_exact_function){
			.file = file_copy, .name = name_copy, .line = line};
	}
	*ret = *id;
	return 0;
}

int fah_exact_edge(struct fah_exact *e, uint32_t caller, uint32_t callee, uint32_t *ret)
{
	uint32_t *id;
	bool is_new;

	if (!fah_room(&e->edges, e->n_edges, &e->cap_edges, sizeof(*e->edges)))
		return FAH_ERR_NOMEM;
	id = fah_map_put(&e->edge_ids, fah_key_u32x4(0, 0, caller, callee), &is_new);
	if (!id)
		return FAH_ERR_NOMEM;
	if (is_new) {
		struct fah_exact_function *from = &e->functions[caller],
					  *to = &e->functions[callee];

		*id = (uint32_t)e->n_edges;
		e->edges[e->n_edges++] = (struct fah_exact_edge){.caller = caller,
								 .callee = callee,
								 .next_caller = to->first_caller,
								 .next_callee = from->first_callee};
		to->first_caller = from->first_callee = *id + 1;
	}
	*ret = *id;
	return 0;
}

void fah_exact_times_add(struct fah_exact_times *to, const struct fah_exact_times *from)
{
	to->calls += from->calls;
	to->primitive += from->primitive;
	to->self_s += from->self_s;
	to->total_s += from->total_s;
}

int fah_exact_add(struct fah_exact *to, const struct fah_exact *from)
{
	uint32_t *ids = calloc(from->n_functions + 1, sizeof(*ids)), edge;
	size_t before = to->n_functions, edges_before = to->n_edges;
	int r = ids ? 0 : FAH_ERR_NOMEM;

	for (size_t i = 0; i < from->n_functions && r == 0; i++) {
		const struct fah_exact_function *f = &from->functions[i];

		r = fah_exact_function(to, f->file, strlen(f->file), f->line, f->name,
				       strlen(f->name), &ids[i]);
		if (r < 0)
			break;
		fah_exact_times_add(&to->functions[ids[i]].times, &f->times);
		to->functions[ids[i]].only_caller =
			f->only_caller && (ids[i] >= before || to->functions[ids[i]].only_caller);
	}
	for (size_t i = 0; i < from->n_edges && r == 0; i++) {
		const struct fah_exact_edge *x = &from->edges[i];

		r = fah_exact_edge(to, ids[x->caller], ids[x->callee], &edge);
		if (r < 0)
			break;
		fah_exact_times_add(&to->edges[edge].times, &x->times);
		to->edges[edge].only_count =
			x->only_count && (edge >= edges_before || to->edges[edge].only_count);
	}
	to->samples |= from->samples;
	free(ids);
	return r;
}

/* The lists have the last one first. */
static size_t turned(uint32_t *edges, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t edge = edges[i];

		edges[i] = edges[n - 1 - i];
		edges[n - 1 - i] = edge;
	}
	return n;
}

size_t fah_exact_callers(const struct fah_exact *e, uint32_t function, uint32_t *ret)
{
	size_t n = 0;

	for (uint32_t i = e->functions[function].first_caller; i; i = e->edges[i - 1].next_caller)
		ret[n++] = i - 1;
	return turned(ret, n);
}

size_t fah_exact_callees(const struct fah_exact *e, uint32_t function, uint32_t *ret)
{
	size_t n = 0;

	for (uint32_t i = e->functions[function].first_callee; i; i = e->edges[i - 1].next_callee)
		ret[n++] = i - 1;
	return turned(ret, n);
}

struct fah_exact_times fah_exact_whole(const struct fah_exact *e)
{
	struct fah_exact_times sum = {0};

	for (size_t i = 0; i < e->n_functions; i++)
		fah_exact_times_add(&sum, &e->functions[i].times);
	/* what it all took is what each took by itself */
	sum.total_s = sum.self_s;
	return sum;
}
