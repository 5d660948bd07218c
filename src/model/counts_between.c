/*
 * counts_between.c - see counting.h. The run is cut into slices of a few samples each; a line was
 * at it in a slice where one of them shows it.
 */
#include "core/err.h"
#include "model/counting.h"

#define LINES_MAX 64u	    /* estimated ones that are told apart in a process */
#define SAMPLES_A_SLICE 25u /* of the time in which a line was at it, or not */
#define SLICES_MAX 65536u
#define UP_MAX 64u /* frames to the caller */

static int by_count(const void *a, const void *b)
{
	const struct line *x = *(struct line *const *)a, *y = *(struct line *const *)b;

	return x->n != y->n ? (x->n > y->n ? -1 : 1) : x < y ? -1 : x > y;
}

/* The lines that are to be estimated get a bit each. How many. */
static int choose_lines(struct fah_counts_making *m, uint32_t *ret_n)
{
	struct line **found = calloc(m->n_lines + 1, sizeof(*found));
	size_t n = 0;

	*ret_n = 0;
	if (!found)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < m->n_lines; i++)
		if (m->lines[i].leader == i && fah_counted_function(m, m->lines[i].function)->gaps)
			found[n++] = &m->lines[i];
	if (n)
		qsort(found, n, sizeof(struct line *), by_count);
	for (; *ret_n < n && *ret_n < LINES_MAX; ++*ret_n)
		found[*ret_n]->bit = *ret_n + 1;
	free(found);
	return 0;
}

/* The line by which the node's function was called, or NULL. */
static const struct line *line_of(const struct fah_counts_making *m, uint32_t node)
{
	const struct fah_node *nodes = m->p->nodes;
	uint32_t function = m->p->canonical[nodes[node].function], up = nodes[node].parent;
	const struct function *f = fah_counted_function(m, function);

	if (!f || !f->gaps)
		return NULL;
	for (uint32_t i = 0; i < UP_MAX; i++, up = nodes[up].parent) {
		uint32_t caller = up ? m->p->canonical[nodes[up].function] : 0;
		const uint32_t *at =
			fah_map_get(&m->leader_ids,
				    fah_key_u32x4(function, caller, up ? nodes[up].line : 0, 0));

		if (at)
			return &m->lines[*at - 1];
		if (!up)
			break;
	}
	return NULL;
}

struct slices {
	uint64_t from_ns, width_ns;
	size_t n;
	double *cpu_ns;
	uint64_t *seen; /* bits of lines */
};

static uint64_t samples_of(const struct fah_counts_making *m, uint32_t process)
{
	uint64_t n = 0;

	for (size_t t = 0; t < m->p->n_threads; t++)
		if (m->p->threads[t].process == process)
			for (uint32_t b = m->l->chains[t].blocks.first; b != FAH_NO_BLOCK;
			     b = m->l->blocks[b].next)
				n += m->l->blocks[b].samples.left;
	return n;
}

static void slice_thread(const struct fah_counts_making *m, uint32_t thread, const uint64_t *bits,
			 struct slices *s)
{
	for (uint32_t b = m->l->chains[thread].blocks.first; b != FAH_NO_BLOCK;
	     b = m->l->blocks[b].next) {
		struct fah_samples_block block = m->l->blocks[b].samples;
		struct fah_sample_item item;

		while (fah_samples_next(&block, &item)) {
			size_t i = item.time_ns > s->from_ns
					   ? (item.time_ns - s->from_ns) / s->width_ns
					   : 0;

			i = i < s->n ? i : s->n - 1;
			s->cpu_ns[i] += (double)item.cpu_ns;
			s->seen[i] |= item.node < m->p->n_nodes ? bits[item.node] : 0;
		}
	}
}

static void set_bits(const struct fah_counts_making *m, uint64_t *bits)
{
	for (uint32_t i = 1; i < m->p->n_nodes; i++) {
		const struct line *line = line_of(m, i);

		bits[i] = bits[m->p->nodes[i].parent];
		if (line && line->bit)
			bits[i] |= 1ull << (line->bit - 1);
	}
}

/* By slice, what of it lies in times in which the function was not counted: 0 to 1. */
static void find_uncounted(const struct fah_counts_making *m, const struct function *f,
			   const struct slices *s, double *ret)
{
	memset(ret, 0, s->n * sizeof(*ret));
	for (uint32_t i = f->gaps; i; i = m->gaps[i - 1].before) {
		uint64_t at = m->gaps[i - 1].from_ns, end = s->from_ns + s->n * s->width_ns;

		if (m->gaps[i - 1].to_ns < end)
			end = m->gaps[i - 1].to_ns;
		if (at < s->from_ns)
			at = s->from_ns;
		while (at < end) {
			uint64_t k = (at - s->from_ns) / s->width_ns;
			uint64_t next = s->from_ns + (k + 1) * s->width_ns;

			next = next < end ? next : end;
			ret[k] += (double)(next - at) / (double)s->width_ns;
			at = next;
		}
	}
}

static void add_unseen(struct fah_counts_making *m, const struct slices *s, double *uncounted)
{
	for (size_t i = 0; i < m->n_functions; i++) {
		const struct function *f = &m->functions[i];

		if (!f->gaps)
			continue;
		find_uncounted(m, f, s, uncounted);
		for (uint32_t k = f->first_line; k; k = m->lines[k - 1].next) {
			struct line *line = &m->lines[k - 1];

			uint32_t bit = m->lines[line->leader].bit;

			for (size_t j = 0; bit && j < s->n; j++)
				if (s->seen[j] >> (bit - 1) & 1)
					line->unseen_ns += s->cpu_ns[j] * uncounted[j];
		}
	}
}

static int look_between(struct fah_counts_making *m, uint32_t process)
{
	const struct fah_process *proc = &m->p->processes[process];
	uint64_t n = samples_of(m, process) / SAMPLES_A_SLICE, end = proc->end_ns;
	struct slices s = {.from_ns = proc->start_ns};
	double *uncounted;
	uint64_t *bits;
	int err = FAH_ERR_NOMEM;

	if (!end && m->n_events)
		end = m->events[m->n_events - 1].time_ns;
	s.n = n < 1 ? 1 : n > SLICES_MAX ? SLICES_MAX : n;
	s.width_ns = end > s.from_ns ? (end - s.from_ns) / s.n + 1 : 1;
	s.cpu_ns = calloc(s.n, sizeof(*s.cpu_ns));
	s.seen = calloc(s.n, sizeof(*s.seen));
	uncounted = calloc(s.n, sizeof(*uncounted));
	bits = calloc(m->p->n_nodes, sizeof(*bits));
	if (s.cpu_ns && s.seen && uncounted && bits) {
		set_bits(m, bits);
		for (uint32_t t = 0; t < m->p->n_threads; t++)
			if (m->p->threads[t].process == process)
				slice_thread(m, t, bits, &s);
		add_unseen(m, &s, uncounted);
		err = 0;
	}
	free(s.cpu_ns);
	free(s.seen);
	free(uncounted);
	free(bits);
	return err;
}

int fah_counts_between(struct fah_counts_making *m, uint32_t process)
{
	uint32_t n;
	int err = choose_lines(m, &n);

	return err == 0 && n ? look_between(m, process) : err;
}
