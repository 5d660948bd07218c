/* heap_replay.c - see heap_replay.h. One tight loop: whatever it asks for a block is in an array.
 */
#include "model/heap_replay.h"

double fah_heap_replay_piece(const struct fah_heap_records *h, const struct fah_heap_clock *c,
			     const struct fah_heap_ways *ways, const struct fah_heap_piece *piece,
			     size_t from, size_t to)
{
	const struct fah_heap_batches *b = h->batches;
	const struct fah_heap_lives *lives = &b->lives[piece->process];
	uint32_t id = (uint32_t)(piece - b->pieces) + 1;
	double asked = 0;

	for (size_t i = from; i < to; i++) {
		uint32_t event = b->events[piece->first + i];
		const struct fah_heap_life *life;
		const struct fah_heap_shape *s;
		const struct fah_heap_ways *way;

		if (event == FAH_HEAP_CHANGE)
			continue;
		life = fah_heap_life_at(lives, event & ~FAH_HEAP_WENT);
		if (!life || !life->shape)
			continue;
		s = &b->shapes[life->shape - 1];
		way = &ways[life->shape - 1];
		if (event & FAH_HEAP_WENT) {
			if (life->died != id || !life->born)
				continue; /* another end of it counted; or the next one's birth */
			fah_heap_account_went(way->line, c, piece->time_ns, (double)s->bytes);
			if (way->function)
				fah_heap_account_went(way->function, c, piece->time_ns,
						      (double)s->bytes);
			continue;
		}
		if (life->born != id)
			continue;
		bool temporary = fah_heap_life_is_temporary(h, b, life);
		bool python = s->kind == FAH_MEMORY_PYTHON, gone = life->died & FAH_HEAP_EARLY;

		asked += (double)s->bytes;
		fah_heap_account_came(way->line, c, piece->time_ns, (double)s->bytes, python,
				      temporary);
		if (gone)
			fah_heap_account_went(way->line, c, piece->time_ns, (double)s->bytes);
		if (!way->function)
			continue;
		fah_heap_account_came(way->function, c, piece->time_ns, (double)s->bytes, python,
				      temporary);
		if (gone)
			fah_heap_account_went(way->function, c, piece->time_ns, (double)s->bytes);
	}
	return asked;
}

static void end_at(struct fah_heap_account *a, const struct fah_heap_clock *c, uint64_t time_ns,
		   double bytes)
{
	a->live += bytes;
	fah_heap_account_went(a, c, time_ns, bytes);
}

void fah_heap_replay_end(const struct fah_heap_records *h, const struct fah_heap_clock *c,
			 const struct fah_heap_ways *ways, uint32_t process, uint64_t time_ns)
{
	const struct fah_heap_batches *b = h->batches;
	const struct fah_heap_lives *lives;

	if (!b || process >= b->n_lives)
		return;
	lives = &b->lives[process];
	for (size_t page = 0; page < lives->n_pages; page++)
		for (uint32_t i = 0; lives->pages[page] && i < FAH_HEAP_PAGE; i++) {
			const struct fah_heap_life *life = &lives->pages[page][i];
			double bytes;

			if (!life->born || life->died)
				continue;
			bytes = (double)b->shapes[life->shape - 1].bytes;
			end_at(ways[life->shape - 1].line, c, time_ns, bytes);
			if (ways[life->shape - 1].function)
				end_at(ways[life->shape - 1].function, c, time_ns, bytes);
		}
}
