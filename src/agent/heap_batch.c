/* heap_batch.c - see heap_batch.h. */
#include "agent/heap_batch.h"

#include "agent/heap_every.h"
#include "agent/heap_here.h"
#include "agent/heap_sums.h"
#include "core/arch.h"

#include <string.h>

#define FULL (FAH_BATCH_ROOM - 512) /* here it is lost; one event more and its time fit */
#define ENOUGH 4096u   /* it is written; where that fails, again and again up to FULL */
#define DEFS_MAX 2048u /* nodes that it may have to define */
#define DEF_MAX 12u    /* bytes of one: distance, code, instruction */
#define HEAD_MAX (8 * FAH_VARINT_MAX)
#define TICKS_APART (1u << 17) /* of the CPU's clock between two times: some 50 us */
#define LARGE 4096u	       /* bytes from which on a block's own time matters */
#define LOOK_EVERY 8u	       /* of other blocks, one has the clock looked at */
#define WAIT_NS 20000000u      /* a batch is written after that */

_Static_assert(FAH_PY_MAX_FRAMES <= DEFS_MAX, "the deepest stack can be defined");
_Static_assert(HEAD_MAX + 3 * FAH_BATCH_SITES + DEFS_MAX * DEF_MAX + FAH_BATCH_ROOM <
		       sizeof(((struct fah_chunk *)0)->data) - 64,
	       "a batch fits a chunk");

void fah_batch_close(struct fah_batch *b)
{
	b->open = false;
	b->len = b->n_events = 0;
	b->due = false;
}

void fah_batch_reset(struct fah_batch *b)
{
	fah_batch_close(b);
	fah_sites_reset(&b->tree);
	b->next = 0;
	b->chunk = NULL;
}

static void open_batch(struct fah_batch *b, int64_t change)
{
	uint64_t most;

	b->open = true;
	b->number++;
	b->n_sites = b->n_defs = 0;
	b->first = b->next;
	memset(b->shapes, 0xff, sizeof(b->shapes));
	fah_heap_sums(&b->held, &most);
	b->held = (int64_t)b->held > change ? b->held - (uint64_t)change : 0;
	b->begin_ns = b->time_ns = fah_now_mono();
	b->ticks = fah_arch_ticks();
}

/* The nodes that the batch's sites need and that the chunk does not have yet: parents first. */
static uint8_t *put_defs(struct fah_batch *b, uint8_t *p, uint32_t *ret_n)
{
	struct fah_site *nodes = b->tree.nodes;

	*ret_n = 0;
	for (uint32_t i = 0; i < b->n_sites; i++) {
		uint32_t n = 0, node = b->sites[i];

		for (; node && nodes[node].gen != b->gen; node = nodes[node].parent)
			b->stack[n++] = node;
		while (n--) {
			struct fah_site *s = &nodes[b->stack[n]];
			uint32_t parent = s->parent ? nodes[s->parent].local : 0;

			s->gen = b->gen;
			s->local = ++b->n_local;
			p = fah_put_varint(p, parent ? s->local - parent : 0);
			p = fah_put_varint(p, s->code);
			p = fah_put_varint(p, (uint32_t)(s->instr + 1));
			(*ret_n)++;
		}
	}
	return p;
}

/* Numbers of nodes begin anew where the thread goes on in another chunk. */
static void see_chunk(struct fah_batch *b, const struct fah_thread_state *t)
{
	uint32_t order = atomic_load(&t->chunk->order);

	if (t->chunk == b->chunk && order == b->order)
		return;
	b->chunk = t->chunk;
	b->order = order;
	b->gen++;
	b->n_local = 0;
}

/* With t's chunk ours to write to. False: no room. The batch is as before. */
static bool write_ending(struct fah_batch *b, struct fah_thread_state *t, bool ending)
{
	uint64_t held, most;
	uint32_t n_defs;
	uint8_t *p = fah_record_begin(t, HEAD_MAX + 3 * b->n_sites + (size_t)b->n_defs * DEF_MAX +
						 b->len),
		*count;

	if (!p)
		return false;
	see_chunk(b, t);
	p = fah_record_put_time(t, p);
	p = fah_put_varint(p, t->chunk_time_ns > b->begin_ns ? t->chunk_time_ns - b->begin_ns : 0);
	p = fah_put_varint(p, ending);
	p = fah_put_varint(p, b->first);
	fah_heap_sums(&held, &most);
	p = fah_put_varint(p, b->held);
	p = fah_put_varint(p, most);
	count = p; /* up to 2 bytes: written as 2 */
	p = put_defs(b, p + 2, &n_defs);
	count[0] = (uint8_t)(n_defs | 0x80);
	count[1] = (uint8_t)(n_defs >> 7);
	p = fah_put_varint(p, b->n_sites);
	for (uint32_t i = 0; i < b->n_sites; i++)
		p = fah_put_varint(p, b->sites[i] ? b->tree.nodes[b->sites[i]].local : 0);
	memcpy(p, b->events, b->len);
	fah_record_commit(t, FAH_SEG_BLOCKS, p + b->len);
	return true;
}

bool fah_batch_write(struct fah_batch *b, struct fah_thread_state *t)
{
	return write_ending(b, t, false);
}

/* False: it is still there. */
static bool flush(struct fah_batch *b, bool ending)
{
	struct fah_thread_state *t;
	uint64_t mask;
	bool done = false;

	if (!b->open || (!b->len && !ending))
		return true;
	t = fah_heap_write_begin(&mask);
	if (t) {
		done = write_ending(b, t, ending);
		fah_heap_write_end(t, &mask);
	}
	if (done)
		fah_batch_close(b);
	return done;
}

bool fah_batch_flush(struct fah_batch *b)
{
	return flush(b, false);
}

void fah_batch_end(struct fah_batch *b)
{
	flush(b, false);
	if (!b->open)
		open_batch(b, 0);
	flush(b, true);
}

/* What cannot be written any more is lost, and counted. */
static void drop(struct fah_batch *b)
{
	fah_heap_lost(b->n_events);
	fah_batch_close(b);
}

void fah_batch_finish(struct fah_batch *b)
{
	if (flush(b, false))
		fah_batch_close(b); /* empty, it may be open */
	else
		drop(b);
}

void fah_batch_relieve(struct fah_batch *b)
{
	if (__builtin_expect(b->len > ENOUGH, 0) && !flush(b, false) && b->len > FULL)
		drop(b);
}

bool fah_batch_has_waited(const struct fah_batch *b)
{
	return b->open && b->len && fah_now_mono() - b->begin_ns >= WAIT_NS;
}

/* Room for one event, with the time before it where some has passed. change: of what is held. */
static inline uint8_t *place(struct fah_batch *b, int64_t change, bool large)
{
	uint8_t *p;
	uint64_t ticks, now;

	if (__builtin_expect(!b->open, 0))
		open_batch(b, change);
	p = b->events + b->len;
	if (__builtin_expect(!large && ++b->looks % LOOK_EVERY, 1))
		return p;
	ticks = fah_arch_ticks();
	if (__builtin_expect(ticks - b->ticks < TICKS_APART, 1))
		return p;
	b->ticks = ticks;
	now = fah_now_mono();
	if (now <= b->time_ns)
		return p;
	*p++ = FAH_BLOCKS_TIME;
	p = fah_put_varint(p, now - b->time_ns);
	b->time_ns = now;
	if (now - b->begin_ns > WAIT_NS)
		b->due = true;
	return p;
}

static inline void placed(struct fah_batch *b, uint8_t *end)
{
	b->len = (uint32_t)(end - b->events);
	b->n_events++;
	if (__builtin_expect(b->due, 0))
		flush(b, false);
}

/* The site's place in the batch. False: the batch is too full for it. */
static bool site_index(struct fah_batch *b, uint32_t node, uint32_t *ret)
{
	struct fah_site *nodes = b->tree.nodes;
	uint32_t n = 0;

	if (nodes[node].batch == b->number && nodes[node].index) {
		*ret = nodes[node].index - 1;
		return true;
	}
	for (uint32_t i = node; i && nodes[i].batch != b->number; i = nodes[i].parent)
		n++;
	if (b->n_sites == FAH_BATCH_SITES || b->n_defs + n > DEFS_MAX)
		return false;
	b->n_defs += n;
	for (uint32_t i = node; i && nodes[i].batch != b->number; i = nodes[i].parent) {
		nodes[i].batch = b->number;
		nodes[i].index = 0;
	}
	nodes[node].batch = b->number; /* of 0, too */
	*ret = b->n_sites;
	b->sites[b->n_sites++] = node;
	nodes[node].index = b->n_sites;
	return true;
}

static inline uint32_t slot_of(uint32_t node, uint64_t bytes, uint32_t kind)
{
	uint64_t h = (bytes << 2 | kind) * 0x9e3779b97f4a7c15ull ^ (uint64_t)node << 32;

	return (uint32_t)((h * 0xd6e8feb86659fd93ull) >> 56) & (FAH_BLOCKS_SHAPES - 1);
}

bool fah_batch_take(struct fah_batch *b, uint32_t node, uint64_t bytes, uint32_t kind)
{
	uint32_t slot = slot_of(node, bytes, kind), index;
	uint8_t *p = place(b, (int64_t)bytes, bytes >= LARGE);
	struct fah_batch_shape *s = &b->shapes[slot];

	if (__builtin_expect(s->node == node && s->bytes == bytes && s->kind == kind, 1)) {
		placed(b, fah_put_varint(p, slot << 2));
		return true;
	}
	if (__builtin_expect(!site_index(b, node, &index), 0)) {
		fah_batch_finish(b);
		p = place(b, (int64_t)bytes, bytes >= LARGE);
		if (!site_index(b, node, &index))
			return false;
	}
	*s = (struct fah_batch_shape){bytes, node, kind};
	*p++ = FAH_BLOCKS_SHAPE;
	*p++ = (uint8_t)slot;
	p = fah_put_varint(p, index);
	p = fah_put_varint(p, bytes << 2 | kind);
	placed(b, p);
	return true;
}

void fah_batch_give(struct fah_batch *b, uint32_t number, uint64_t bytes)
{
	uint8_t *p = place(b, -(int64_t)bytes, bytes >= LARGE);

	if (__builtin_expect(number != 0, 1)) {
		p = fah_put_varint(p, fah_zigzag((int64_t)b->next - number) << 1 | 1);
	} else {
		*p++ = FAH_BLOCKS_OTHER;
		p = fah_put_varint(p, fah_zigzag(-(int64_t)bytes));
	}
	placed(b, p);
}
