/*
 * test_model_batches.c - the same history of blocks, written one record each and in batches: every
 * figure must be the same.
 */
#include "build_heap.h"

#include "core/segment.h"
#include "model/heap_pick.h"

#define EVENTS 6000
#define NODES 5
#define BATCH 700

/* What happened: a block of so many bytes comes at a node; bytes 0: block `node` goes. */
struct happened {
	uint32_t node, kind;
	uint64_t bytes;
	double at_ms;
};

static struct happened history[EVENTS];
static uint64_t sizes[EVENTS + 1];

static void make_history(uint64_t seed)
{
	struct build b = {.seed = seed};
	uint32_t live[EVENTS], n_live = 0, n = 0;
	double ms = 1;

	for (int i = 0; i < EVENTS; i++) {
		/* now and then a long while without any */
		ms += build_random(&b) < 0.001 ? 100 : 0.2;
		if (n_live && build_random(&b) < (i > EVENTS / 2 ? 0.51 : 0.45)) {
			/* mostly the young ones */
			uint32_t age = (uint32_t)(build_random(&b) * build_random(&b) * n_live);
			uint32_t at = n_live - 1 - age;

			history[i] = (struct happened){live[at], 0, 0, ms};
			live[at] = live[--n_live];
			continue;
		}
		sizes[++n] = 16 + (uint64_t)(build_random(&b) * 40) * 16;
		if (build_random(&b) < 0.01)
			sizes[n] = 1000003;
		history[i] = (struct happened){(uint32_t)(build_random(&b) * NODES),
					       (uint32_t)(build_random(&b) * 3), sizes[n], ms};
		live[n_live++] = n;
	}
}

static void write_nodes(struct build *b, uint32_t *nodes)
{
	uint32_t f = build_function(b, "/p/main.py", "f", "f", 1),
		 g = build_function(b, "/p/lib.py", "g", "g", 1);

	nodes[0] = 0;
	nodes[1] = fah_writer_node(b->w, 0, f, 11);
	nodes[2] = fah_writer_node(b->w, 0, f, 12);
	nodes[3] = fah_writer_node(b->w, nodes[2], g, 13);
	nodes[4] = fah_writer_node(b->w, nodes[1], g, 14);
}

static struct fah_profile *one_by_one(struct build *b)
{
	struct memory m = memory_new(b, 5003, 0);
	uint32_t nodes[NODES];

	write_nodes(b, nodes);
	for (int i = 0; i < EVENTS; i++) {
		const struct happened *h = &history[i];

		if (h->bytes)
			memory_alloc_kind(&m, h->at_ms, nodes[h->node], h->bytes, h->kind);
		else
			memory_free(&m, h->at_ms, h->node, sizes[h->node]);
	}
	memory_end(&m, history[EVENTS - 1].at_ms + 10);
	return build_load(b, history[EVENTS - 1].at_ms + 10, 10);
}

/* As an agent writes it, with shapes in places that are taken again and again. */
static struct fah_profile *in_batches(struct build *b, uint32_t thread_of_frees)
{
	struct memory m = memory_new(b, 5003, 0);
	uint32_t nodes[NODES], other = build_thread(b, m.process, 11, 0);
	uint64_t next = 1;

	write_nodes(b, nodes);
	for (int from = 0; from < EVENTS; from += BATCH) {
		uint8_t events[BATCH * 40], *p = events;
		uint64_t places[FAH_BLOCKS_SHAPES] = {0}, ns = MS(history[from].at_ms);
		struct fah_rec_blocks r = {.thread = from / BATCH % 2 && thread_of_frees ? other
											 : m.thread,
					   .first = next,
					   .held = m.held,
					   .n_sites = NODES};
		int to = from + BATCH < EVENTS ? from + BATCH : EVENTS;

		r.age_ns = ns;
		for (int i = from; i < to; i++) {
			const struct happened *h = &history[i];
			uint64_t now = MS(h->at_ms), shape = h->bytes << 8 | h->node << 2 | h->kind;
			uint32_t place = (uint32_t)(h->bytes / 16 + h->node) % 4 + 250;

			if (now > ns) {
				*p++ = FAH_BLOCKS_TIME;
				p = fah_put_varint(p, now - ns);
				ns = now;
			}
			if (!h->bytes) {
				memory_count(&m, -(int64_t)sizes[h->node]);
				p = fah_put_varint(p,
						   fah_zigzag((int64_t)(next - h->node)) << 1 | 1);
				continue;
			}
			memory_count(&m, (int64_t)h->bytes);
			next++;
			if (places[place] == shape) {
				p = fah_put_varint(p, place << 2);
				continue;
			}
			places[place] = shape;
			*p++ = FAH_BLOCKS_SHAPE;
			*p++ = (uint8_t)place;
			p = fah_put_varint(p, h->node);
			p = fah_put_varint(p, h->bytes << 2 | h->kind);
		}
		r.time_ns = ns;
		r.age_ns = ns - r.age_ns;
		r.most = m.most;
		r.events = (struct fah_cursor){events, p, false};
		fah_writer_blocks(b->w, &r, nodes);
	}
	memory_end(&m, history[EVENTS - 1].at_ms + 10);
	return build_load(b, history[EVENTS - 1].at_ms + 10, 10);
}

static void near(double a, double b)
{
	if (fabs(a - b) > 1e-9 * (fabs(a) + fabs(b)))
		fail_msg("%.17g is not %.17g", a, b);
}

static void same_cost(const struct fah_heap_cost *a, const struct fah_heap_cost *b)
{
	assert_true(a->peak == b->peak && a->at_peak == b->at_peak && a->live == b->live);
	assert_true(a->allocated == b->allocated && a->blocks == b->blocks);
	assert_true(a->temporary == b->temporary);
	near(a->average, b->average);
	near(a->python, b->python);
	for (int i = 0; i < FAH_HEAP_BUCKETS; i++)
		assert_true(a->timeline[i] == b->timeline[i]);
}

static void same_heap(const struct fah_heap *a, const struct fah_heap *b)
{
	assert_true(a->max == b->max && a->before == b->before && a->end == b->end);
	assert_true(a->allocated == b->allocated && a->blocks == b->blocks);
	assert_true(a->unassigned == 0 && b->unassigned == 0);
	near(a->average, b->average);
	near(a->max_at_s, b->max_at_s);
	near(a->growth, b->growth);
	same_cost(&a->no_python, &b->no_python);
	assert_int_equal(a->n_functions, b->n_functions);
	for (size_t i = 0; i < a->n_functions; i++)
		same_cost(&a->functions[i].cost, &b->functions[i].cost);
	for (uint32_t line = 11; line < 15; line++) {
		same_cost(&heap_line(a, line)->cost, &heap_line(b, line)->cost);
		near(heap_line(a, line)->leak.velocity, heap_line(b, line)->leak.velocity);
		near(heap_line(a, line)->leak.likelihood, heap_line(b, line)->leak.likelihood);
	}
}

/* What a view of stacks shows of a node. */
static double shown(struct fah_profile *p, enum fah_heap_view which, uint32_t node)
{
	struct fah_heap_picked picked = {0};
	double sum = 0;

	assert_int_equal(fah_heap_pick(p, which, &picked), 0);
	for (size_t i = 0; i < picked.first[p->n_threads]; i++)
		sum += picked.blocks[i]->node == node ? picked.blocks[i]->weight : 0;
	fah_heap_picked_release(&picked);
	return sum;
}

static void same_views(struct fah_profile *a, struct fah_profile *b)
{
	static const enum fah_heap_view views[] = {FAH_HEAP_VIEW_PEAK, FAH_HEAP_VIEW_LIVE,
						   FAH_HEAP_VIEW_TEMPORARY, FAH_HEAP_VIEW_TOTAL};

	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
		for (uint32_t node = 0; node < NODES; node++)
			assert_true(shown(a, views[i], node) == shown(b, views[i], node));
	assert_true(shown(a, FAH_HEAP_VIEW_TOTAL, 3) > 0);
}

static void the_same(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 12; seed++) {
		struct fah_profile *a, *b;
		struct build one, two;

		make_history(seed * 88172645463325252u);
		a = one_by_one(&one);
		b = in_batches(&two, 0);
		same_heap(heap_of(a), heap_of(b));
		same_views(a, b);
		fah_profile_free(a);
		fah_profile_free(b);
	}
}

/* Batches of two threads in turns: the same sums, whoever gave back. */
static void of_two_threads(void **state)
{
	struct fah_profile *a, *b;
	struct build one, two;

	(void)state;
	make_history(77);
	a = one_by_one(&one);
	b = in_batches(&two, 1);
	same_heap(heap_of(a), heap_of(b));
	fah_profile_free(a);
	fah_profile_free(b);
}

/* The comparison itself can fail. */
static void differs(void **state)
{
	struct fah_profile *a, *b;
	struct build one, two;
	const struct fah_heap *x, *y;

	(void)state;
	make_history(5);
	a = one_by_one(&one);
	for (int i = EVENTS / 2; i < EVENTS; i++)
		if (history[i].bytes) {
			history[i].bytes += 16; /* one block of another size */
			break;
		}
	b = in_batches(&two, 0);
	x = heap_of(a);
	y = heap_of(b);
	assert_true(x->allocated == y->allocated - 16);
	fah_profile_free(a);
	fah_profile_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same),
		cmocka_unit_test(of_two_threads),
		cmocka_unit_test(differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
