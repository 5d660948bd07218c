/* heap_batches.c - see heap_batches.h. */
#include "model/heap_batches.h"

#include "base/machine.h"
#include "base/room.h"
#include "capture/blocks.h"
#include "core/err.h"
#include "model/internal.h"

#include <string.h>

#define NOISE 65536 /* bytes that sums of several threads may differ by from what a batch says */

static struct fah_heap_lives *lives_of(struct fah_heap_batches *b, uint32_t process)
{
	if (process >= b->n_lives) {
		struct fah_heap_lives *grown =
			reallocarray(b->lives, (size_t)process + 1, sizeof(*grown));

		if (!grown)
			return NULL;
		memset(grown + b->n_lives, 0, (process + 1 - b->n_lives) * sizeof(*grown));
		b->lives = grown;
		b->n_lives = (size_t)process + 1;
	}
	return &b->lives[process];
}

/* Its place, made where there is none; NULL: no memory. */
static struct fah_heap_life *make_life(struct fah_heap_batches *b, struct fah_heap_lives *l,
				       uint32_t number)
{
	size_t page = number / FAH_HEAP_PAGE, n = l->n_pages ? l->n_pages : 64;

	if (page >= l->n_pages) {
		struct fah_heap_life **grown;

		while (n <= page)
			n *= 2;
		grown = reallocarray(l->pages, n, sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + l->n_pages, 0, (n - l->n_pages) * sizeof(*grown));
		l->pages = grown;
		l->n_pages = n;
	}
	if (!l->pages[page]) {
		l->pages[page] = calloc(FAH_HEAP_PAGE, sizeof(**l->pages));
		b->n_life_pages++;
	}
	return l->pages[page] ? &l->pages[page][number % FAH_HEAP_PAGE] : NULL;
}

/* + 1; 0: no memory. */
static uint32_t shape_of(struct fah_heap_batches *b, const struct fah_heap_shape *s)
{
	struct fah_key key = {s->bytes << 2 | s->kind, (uint64_t)s->thread << 32 | s->node};
	bool is_new;
	uint32_t *id;

	if (!fah_room(&b->shapes, b->n_shapes, &b->cap_shapes, sizeof(*b->shapes)))
		return 0;
	id = fah_map_put(&b->shape_ids, key, &is_new);
	if (!id)
		return 0;
	if (is_new) {
		b->shapes[b->n_shapes++] = *s;
		*id = (uint32_t)b->n_shapes;
	}
	return *id;
}

/* What is true of a whole record, and where the loader is in it. */
struct loading {
	struct fah_heap_records *h;
	struct fah_heap_batches *b;
	struct fah_heap_lives *lives;
	const struct fah_rec_blocks *rec;
	uint32_t process;
	uint64_t time_ns;
	size_t pieces; /* of this record */
	uint32_t *nodes;
	uint32_t shapes[FAH_BLOCKS_SHAPES]; /* of places: + 1 */
};

static bool add_to(struct loading *l, uint32_t event)
{
	struct fah_heap_batches *b = l->b;

	if (!fah_room(&b->events, b->n_events, &b->cap_events, sizeof(*b->events)))
		return false;
	b->events[b->n_events++] = event;
	b->pieces[b->n_pieces - 1].n++;
	return true;
}

static bool begin_piece(struct loading *l)
{
	struct fah_heap_batches *b = l->b;
	struct fah_heap_records *h = l->h;

	if (!fah_room(&b->pieces, b->n_pieces, &b->cap_pieces, sizeof(*b->pieces)) ||
	    !fah_room(&h->events, h->n_events, &h->cap_events, sizeof(*h->events)))
		return false;
	h->events[h->n_events++] =
		(struct fah_heap_event){l->time_ns, 0, 0, b->n_pieces, l->process, FAH_HEAP_PIECE};
	b->pieces[b->n_pieces++] = (struct fah_heap_piece){
		.time_ns = l->time_ns,
		.held = l->rec->held,
		.most = l->rec->most,
		.first = b->n_events,
		.change = b->n_changes,
		.process = l->process,
		.opens = !l->pieces++,
	};
	return true;
}

static int add_came(struct loading *l, const struct fah_blocks_item *item)
{
	struct fah_heap_life *life;

	if (item->number - 1 >= FAH_HEAP_NUMBER_MAX)
		return FAH_ERR_DAMAGED;
	if (item->is_new)
		l->shapes[item->shape] =
			shape_of(l->b, &(struct fah_heap_shape){item->bytes, UINT64_MAX,
								l->rec->thread - 1, l->process,
								l->nodes[item->site], item->kind});
	life = make_life(l->b, l->lives, (uint32_t)item->number);
	if (!life || !l->shapes[item->shape])
		return FAH_ERR_NOMEM;
	life->shape = l->shapes[item->shape];
	return add_to(l, (uint32_t)item->number) ? 0 : FAH_ERR_NOMEM;
}

static int add_item(struct loading *l, const struct fah_blocks_item *item)
{
	struct fah_heap_batches *b = l->b;

	switch (item->what) {
	case FAH_BLOCKS_CAME:
		return add_came(l, item);
	case FAH_BLOCKS_WENT:
		if (item->number - 1 >= FAH_HEAP_NUMBER_MAX)
			return FAH_ERR_DAMAGED;
		return add_to(l, (uint32_t)item->number | FAH_HEAP_WENT) ? 0 : FAH_ERR_NOMEM;
	case FAH_BLOCKS_CHANGED:
		if (!fah_room(&b->changes, b->n_changes, &b->cap_changes, sizeof(*b->changes)))
			return FAH_ERR_NOMEM;
		b->changes[b->n_changes++] = (int64_t)item->bytes;
		return add_to(l, FAH_HEAP_CHANGE) ? 0 : FAH_ERR_NOMEM;
	case FAH_BLOCKS_PASSED:
		/* no time behind the batch's own end */
		if (item->bytes > l->rec->time_ns - l->time_ns)
			l->time_ns = l->rec->time_ns;
		else
			l->time_ns += item->bytes;
		return begin_piece(l) ? 0 : FAH_ERR_NOMEM;
	}
	return 0;
}

static int add_items(struct loading *l)
{
	struct fah_blocks_reader r;
	struct fah_blocks_item item;
	int err, more;

	fah_blocks_begin(&r, l->rec);
	while ((more = fah_blocks_next(&r, &item)) > 0) {
		err = add_item(l, &item);
		if (err < 0)
			return err;
	}
	return more;
}

static bool is_too_large(const struct fah_heap_batches *b)
{
	return b->cap_events * sizeof(*b->events) + b->cap_pieces * sizeof(*b->pieces) +
		       b->cap_shapes * sizeof(*b->shapes) +
		       b->n_life_pages * FAH_HEAP_PAGE * sizeof(struct fah_heap_life) >
	       b->limit;
}

static void leave_out(struct fah_heap_records *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n_events; i++)
		if (h->events[i].kind != FAH_HEAP_PIECE)
			h->events[n++] = h->events[i];
	h->n_events = n;
	fah_heap_batches_free(h->batches);
	h->batches = NULL;
	h->left_out = true;
}

int fah_heap_batches_add(const struct fah_profile *p, struct fah_heap_records *h,
			 const struct fah_record *rec)
{
	struct fah_rec_blocks r;
	struct loading l = {.h = h, .rec = &r};
	int err = fah_decode_blocks(rec, &r);

	if (err < 0)
		return err;
	if (r.thread - 1 >= p->n_threads || p->threads[r.thread - 1].process >= p->n_processes)
		return FAH_ERR_DAMAGED;
	if (h->left_out)
		return 0;
	if (!h->batches) {
		h->batches = calloc(1, sizeof(*h->batches));
		if (!h->batches)
			return FAH_ERR_NOMEM;
		h->batches->limit = fah_machine_memory() / 2;
	}
	l.b = h->batches;
	l.process = p->threads[r.thread - 1].process;
	l.lives = lives_of(l.b, l.process);
	l.nodes = calloc((size_t)r.n_sites + 1, sizeof(*l.nodes));
	l.time_ns = r.time_ns > r.age_ns ? r.time_ns - r.age_ns : 0;
	err = l.lives && l.nodes && begin_piece(&l) ? 0 : FAH_ERR_NOMEM;
	for (uint32_t i = 0; err == 0 && i < r.n_sites; i++)
		l.nodes[i] = (uint32_t)fah_get_varint(&r.sites); /* checked when all are known */
	if (err == 0) {
		l.lives->several |= l.lives->thread && l.lives->thread != r.thread;
		l.lives->thread = r.thread;
		err = add_items(&l);
		l.b->pieces[l.b->n_pieces - 1].closes = true;
	}
	free(l.nodes);
	if (err == 0 && r.ending) {
		if (!fah_room(&h->events, h->n_events, &h->cap_events, sizeof(*h->events)))
			return FAH_ERR_NOMEM;
		h->events[h->n_events++] = (struct fah_heap_event){
			r.time_ns, r.held, r.most, 0, l.process, FAH_HEAP_ENDING};
	}
	if (err == 0 && is_too_large(l.b))
		leave_out(h);
	return err;
}

/* One process while its pieces pass. */
struct running {
	int64_t held;
	bool begun;
};

static void settle_piece(struct fah_heap_records *h, struct fah_heap_event *e, struct running *run)
{
	struct fah_heap_batches *b = h->batches;
	struct fah_heap_piece *piece = &b->pieces[e->what];
	struct fah_heap_of *of = &h->processes[e->process];
	const struct fah_heap_lives *lives = &b->lives[e->process];
	uint32_t id = (uint32_t)e->what + 1;
	int64_t held = run->held, peak, off = (int64_t)piece->held - held;
	size_t change = piece->change;
	double asked = of->asked;

	/* One thread's sums are right to the byte; those of several are, up to what each holds back
	 * and to the order of pieces. */
	if (piece->opens && (!run->begun || !lives->several || off > NOISE || off < -NOISE))
		held = (int64_t)piece->held;
	run->begun = true;
	peak = held;
	piece->peak_at = 0;
	piece->asked = asked;
	for (size_t i = 0; i < piece->n; i++) {
		uint32_t event = b->events[piece->first + i];
		struct fah_heap_life *life;

		if (event == FAH_HEAP_CHANGE) {
			held += b->changes[change++];
			continue;
		}
		life = fah_heap_life_at(lives, event & ~FAH_HEAP_WENT);
		if (!life || !life->shape)
			continue;
		if (event & FAH_HEAP_WENT) {
			if (life->died)
				continue;
			life->died = life->born ? id : id | FAH_HEAP_EARLY;
			held -= (int64_t)b->shapes[life->shape - 1].bytes;
			continue;
		}
		if (life->born)
			continue;
		life->born = id;
		if (b->shapes[life->shape - 1].first_ns > piece->time_ns)
			b->shapes[life->shape - 1].first_ns = piece->time_ns;
		b->blocks++;
		of->blocks++;
		asked += (double)b->shapes[life->shape - 1].bytes;
		held += (int64_t)b->shapes[life->shape - 1].bytes;
		if (held > peak) {
			peak = held;
			piece->peak_at = (uint32_t)i + 1;
		}
	}
	of->asked = asked;
	run->held = held;
	piece->peak = peak > 0 ? (uint64_t)peak : 0;
	e->held = held > 0 ? (uint64_t)held : 0;
	e->most = piece->closes && piece->most > piece->peak ? piece->most : piece->peak;
}

int fah_heap_batches_settle(const struct fah_profile *p, struct fah_heap_records *h)
{
	struct running *runs = calloc(p->n_processes + 1, sizeof(*runs));

	if (!runs)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < h->batches->n_shapes; i++) {
		struct fah_heap_shape *s = &h->batches->shapes[i];

		if (s->node >= p->n_nodes)
			s->node = 0;
		if (s->kind > FAH_MEMORY_COUNT)
			s->kind = FAH_MEMORY_COUNT;
	}
	for (size_t i = 0; i < h->n_events; i++)
		if (h->events[i].kind == FAH_HEAP_PIECE)
			settle_piece(h, &h->events[i], &runs[h->events[i].process]);
	free(runs);
	return 0;
}

void fah_heap_batches_free(struct fah_heap_batches *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->n_lives; i++) {
		for (size_t k = 0; k < b->lives[i].n_pages; k++)
			free(b->lives[i].pages[k]);
		free(b->lives[i].pages);
	}
	free(b->lives);
	free(b->shapes);
	free(b->pieces);
	free(b->events);
	free(b->changes);
	fah_map_release(&b->shape_ids);
	free(b);
}
