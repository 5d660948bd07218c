/* ahead.c - see ahead.h. Signal-handler safe: no allocation, no call but the load itself. */
#include "core/ahead.h"

#include <string.h>

/* The held piece that has all of [addr, addr + len); they are mostly wanted in the same order. */
static struct fah_ahead_piece *find(struct fah_ahead *a, uint64_t addr, size_t len)
{
	uint32_t at = a->at;

	for (uint32_t i = 0; i < a->n; i++, at++) {
		struct fah_ahead_piece *p;

		if (at >= a->n)
			at = 0;
		p = &a->pieces[at];
		if (addr >= p->addr && addr - p->addr <= p->len &&
		    len <= p->len - (addr - p->addr)) {
			a->at = at + 1;
			return p;
		}
	}
	return NULL;
}

/* This walk wants it, so the next one will. */
static void note(struct fah_ahead *a, uint64_t addr, size_t len)
{
	if (a->n_next < FAH_PIECES_MAX && len <= FAH_AHEAD_PIECE_MAX)
		a->next[a->n_next++] = (struct fah_ahead_piece){.addr = addr, .len = (uint32_t)len};
}

/* By pages: to look for each piece among those held takes longer. */
static int read_pages(struct fah_ahead *a, const struct fah_piece *pieces, int n)
{
	int done = 0;

	while (done < n && pieces[done].len < FAH_PAGE_CACHE_PAGE &&
	       fah_page_cache_read(a->pages, &a->under, &pieces[done]))
		done++;
	if (done < n)
		done += a->under.read(&a->under, pieces + done, n - done);
	for (int i = 0; i < done; i++)
		note(a, pieces[i].addr, pieces[i].len);
	return done;
}

static bool by_pages(struct fah_ahead *a)
{
	if (a->misses <= FAH_AHEAD_MISSES)
		return false;
	if (!a->pages)
		a->pages = fah_page_cache_new();
	if (!a->pages)
		a->misses = 0; /* no memory: not asked for again at once */
	return a->pages != NULL;
}

static int read_ahead(const struct fah_mem *mem, const struct fah_piece *pieces, int n)
{
	struct fah_ahead *a = (struct fah_ahead *)(uintptr_t)mem->ctx;
	int done = 0;

	if (by_pages(a))
		return read_pages(a, pieces, n);
	while (done < n) {
		struct fah_ahead_piece *held = find(a, pieces[done].addr, pieces[done].len);
		int missing = done, got;

		if (held) {
			memcpy(pieces[done].dst,
			       a->held + held->from + (pieces[done].addr - held->addr),
			       pieces[done].len);
			if (!held->wanted) {
				held->wanted = 1;
				note(a, held->addr, held->len);
			}
			done++;
			continue;
		}
		while (missing < n && !find(a, pieces[missing].addr, pieces[missing].len))
			missing++;
		a->misses++;
		got = a->under.read(&a->under, pieces + done, missing - done);
		for (int i = 0; i < got; i++)
			note(a, pieces[done + i].addr, pieces[done + i].len);
		done += got;
		if (done < missing)
			break;
	}
	return done;
}

void fah_ahead_init(struct fah_ahead *a)
{
	a->under = fah_mem_self;
	a->under.ctx = (uint64_t)(uintptr_t)a->room;
	a->mem.read = read_ahead;
	a->mem.ctx = (uint64_t)(uintptr_t)a;
}

void fah_ahead_begin(struct fah_ahead *a)
{
	struct fah_piece pieces[FAH_PIECES_MAX];
	uint32_t from = 0, n = 0, first = 0;
	int got;

	if (a->misses > FAH_AHEAD_MISSES && a->pages)
		fah_page_cache_forget(a->pages);
	a->misses = 0;
	for (uint32_t i = 0; i < a->n_next && from + a->next[i].len <= FAH_AHEAD_ROOM; i++) {
		a->pieces[n] = a->next[i];
		a->pieces[n].from = from;
		pieces[n] = (struct fah_piece){a->held + from, a->next[i].addr, a->next[i].len};
		from += a->next[i].len;
		n++;
	}
	a->n = a->at = a->n_next = 0;
	if (!n)
		return;
	/* one that is gone hides those behind it: once more from there, and no third time */
	got = fah_load_gather(pieces, (int)n, a->held, from);
	first = got > 0 ? (uint32_t)got : 0;
	if (first < n && got >= 0) {
		uint32_t rest = first + 1;

		a->pieces[first].len = 0;
		got = rest < n ? fah_load_gather(pieces + rest, (int)(n - rest),
						 a->held + a->pieces[rest].from,
						 from - a->pieces[rest].from)
			       : 0;
		first = rest + (got > 0 ? (uint32_t)got : 0);
	}
	a->n = first;
}
