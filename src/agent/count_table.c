/*
 * count_table.c - code objects and who calls them, in two tables of our own memory that only grow;
 * and from there into records. Changed with the GIL only; written out by whoever comes first.
 */
#include "agent/count.h"
#include "core/sys.h"
#include "core/varint.h"

#include <string.h>
#include <sys/mman.h>

#define CODES 32768u
#define EDGES 32768u
#define SLOTS 65536u /* of each; index + 1, 0: empty */

struct tables {
	struct fah_counted codes[CODES];
	struct fah_edge edges[EDGES];
	uint32_t code_slots[SLOTS], edge_slots[SLOTS];
};

static struct tables *all;
static _Atomic uint32_t n_codes, n_edges;
static _Atomic bool writing;
static uint32_t next_written; /* writer's: where fah_count_write_some goes on */

int fah_count_table_setup(void)
{
	if (!all)
		all = fah_pages(sizeof(*all));
	return all ? 0 : FAH_ERR_NOMEM;
}

void fah_count_table_clear(void)
{
	if (!all)
		return;
	atomic_store(&n_codes, 0);
	atomic_store(&n_edges, 0);
	atomic_store(&writing, false);
	next_written = 0;
	fah_loops_clear();
	FAH_SYS3(SYS_madvise, all, sizeof(*all), MADV_DONTNEED);
}

static inline uint32_t slot_of(uint64_t a, uint64_t b)
{
	uint64_t x = (a >> 4) * 0x9e3779b97f4a7c15ull ^ b * 0xd6e8feb86659fd93ull;

	return (uint32_t)(x >> 40) & (SLOTS - 1);
}

struct fah_edge *fah_edge_find(uint64_t callee, uint32_t callee_version, uint64_t at,
			       uint32_t caller_version)
{
	for (uint32_t i = slot_of(callee, at); all->edge_slots[i]; i = (i + 1) & (SLOTS - 1)) {
		struct fah_edge *e = &all->edges[all->edge_slots[i] - 1];

		if (e->callee == callee && e->at == at && e->callee_version == callee_version &&
		    e->caller_version == caller_version)
			return e;
	}
	return NULL;
}

/* Its slot, or the empty one where it belongs. */
static uint32_t code_slot(uint64_t code, uint32_t version)
{
	uint32_t i = slot_of(code, version);

	for (; all->code_slots[i]; i = (i + 1) & (SLOTS - 1)) {
		const struct fah_counted *c = &all->codes[all->code_slots[i] - 1];

		if (c->code == code && c->version == version)
			break;
	}
	return i;
}

struct fah_counted *fah_counted_find(uint64_t code, uint32_t version)
{
	uint32_t found = all->code_slots[code_slot(code, version)];

	return found ? &all->codes[found - 1] : NULL;
}

struct fah_counted *fah_counted_get(uint64_t code, uint32_t version, bool *ret_new)
{
	uint32_t n = atomic_load(&n_codes), i = code_slot(code, version);

	*ret_new = !all->code_slots[i];
	if (!*ret_new)
		return &all->codes[all->code_slots[i] - 1];
	if (n == CODES)
		return NULL;
	all->codes[n] = (struct fah_counted){.code = code, .version = version};
	all->code_slots[i] = n + 1;
	atomic_store(&n_codes, n + 1);
	return &all->codes[n];
}

struct fah_counted *fah_counted_at(uint32_t i)
{
	return i < atomic_load(&n_codes) ? &all->codes[i] : NULL;
}

uint32_t fah_counted_index(const struct fah_counted *c)
{
	return (uint32_t)(c - all->codes);
}

uint32_t fah_counted_number(void)
{
	return atomic_load(&n_codes);
}

uint32_t fah_edge_index(const struct fah_edge *e)
{
	return (uint32_t)(e - all->edges);
}

struct fah_edge *fah_edge_at(uint32_t i)
{
	return &all->edges[i];
}

struct fah_edge *fah_edge_add(struct fah_counted *callee, uint64_t at, uint32_t caller_version)
{
	uint32_t n = atomic_load(&n_edges), i = slot_of(callee->code, at);
	struct fah_edge *e;

	if (n == EDGES)
		return NULL;
	while (all->edge_slots[i])
		i = (i + 1) & (SLOTS - 1);
	e = &all->edges[n];
	memset(e, 0, sizeof(*e));
	e->callee = callee->code;
	e->callee_version = callee->version;
	e->at = at;
	e->caller_version = caller_version;
	e->counted = fah_counted_index(callee);
	e->next = callee->first_edge;
	callee->first_edge = n + 1;
	all->edge_slots[i] = n + 1;
	atomic_store(&n_edges, n + 1);
	return e;
}

static bool is_paced_anew(const struct fah_paced *paced)
{
	return atomic_load_explicit(&paced->starts, memory_order_relaxed) != paced->starts_written;
}

static uint8_t *put_new(uint8_t *p, _Atomic uint64_t *value, uint64_t *written)
{
	uint64_t now = atomic_load_explicit(value, memory_order_relaxed), before = *written;

	*written = now;
	return fah_put_varint(p, now - before);
}

/* total: starts so far, counted all of them or not. */
static uint8_t *put_paced(uint8_t *p, struct fah_paced *paced, uint64_t total)
{
	p = put_new(p, &paced->starts, &paced->starts_written);
	p = put_new(p, &paced->calls, &paced->calls_written);
	return fah_put_varint(p, total);
}

static void write_edge(struct fah_thread_state *t, struct fah_edge *e)
{
	uint64_t n = atomic_load_explicit(&e->n, memory_order_acquire);
	const struct fah_counted *callee = &all->codes[e->counted];
	const struct fah_edge *pacer = e->pacer ? &all->edges[e->pacer - 1] : NULL;
	uint8_t *p;

	/* of one that is off, what paces it goes on */
	if ((n == e->written && !is_paced_anew(&e->paced[0]) && !is_paced_anew(&e->paced[1]) &&
	     !(callee->off && n)) ||
	    !callee->id)
		return;
	p = fah_record_begin(t, 14 * FAH_VARINT_MAX);
	if (!p)
		return; /* the next time, then */
	p = fah_record_put_time(t, p);
	p = fah_put_varint(p, callee->id);
	p = fah_put_varint(p, e->caller);
	p = fah_put_varint(p, e->instr);
	p = fah_put_varint(p, n - e->written);
	p = put_paced(p, &e->paced[0], e->from ? atomic_load(&all->codes[e->from - 1].n) : 0);
	p = fah_put_varint(p, e->missed);
	e->missed = 0;
	p = fah_put_varint(p, pacer ? all->codes[pacer->counted].id : 0);
	p = put_paced(p, &e->paced[1], pacer ? atomic_load(&pacer->n) : 0);
	p = fah_put_varint(p, atomic_load_explicit(&e->passed, memory_order_relaxed));
	e->written = n;
	fah_record_commit(t, FAH_SEG_CALLS, p);
}

void fah_count_write_edges(struct fah_thread_state *t, const struct fah_counted *callee)
{
	/* a handler that is at it takes microseconds; where it does not end, they come later */
	for (int i = 0; atomic_exchange(&writing, true); i++) {
		if (i == 1000)
			return;
		FAH_SYS0(SYS_sched_yield);
	}
	for (uint32_t i = callee->first_edge; i; i = all->edges[i - 1].next)
		write_edge(t, &all->edges[i - 1]);
	atomic_store(&writing, false);
}

void fah_count_write_some(struct fah_thread_state *t, uint32_t most)
{
	uint32_t n = all ? atomic_load(&n_edges) : 0;

	if (!n || atomic_exchange(&writing, true))
		return;
	for (uint32_t i = 0; i < most && i < n; i++) {
		next_written = next_written < n ? next_written : 0;
		write_edge(t, &all->edges[next_written++]);
	}
	atomic_store(&writing, false);
}
