/* page_cache.c - see page_cache.h. Signal-handler safe: raw system calls only. */
#include "core/page_cache.h"

#include "core/pages.h"

#include <string.h>

struct fah_page_cache *fah_page_cache_new(void)
{
	return fah_pages(sizeof(struct fah_page_cache));
}

void fah_page_cache_forget(struct fah_page_cache *c)
{
	c->n_last = 0;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->wanted[i])
			c->page[c->n_last++] = c->page[i];
	c->n = 0;
	memset(c->slot, 0, sizeof(c->slot));
}

/* Where the page's place stands, or is to stand. There are more slots than pages. */
static uint8_t *slot_of(struct fah_page_cache *c, uint64_t page)
{
	uint32_t at = (uint32_t)(page / FAH_PAGE_CACHE_PAGE * 0x9e3779b97f4a7c15ull >> 40);

	while (c->slot[at % FAH_PAGE_CACHE_SLOTS] &&
	       c->page[c->slot[at % FAH_PAGE_CACHE_SLOTS] - 1] != page)
		at++;
	return &c->slot[at % FAH_PAGE_CACHE_SLOTS];
}

static void hold(struct fah_page_cache *c, uint64_t page)
{
	uint8_t *slot = slot_of(c, page);

	c->page[c->n] = page;
	c->wanted[c->n] = false;
	*slot = (uint8_t)++c->n;
}

/* What the last walk wanted. One that is gone hides those behind it. */
static void foresee(struct fah_page_cache *c)
{
	struct fah_piece pieces[FAH_PAGE_CACHE_PAGES];
	int n = (int)c->n_last, got;

	c->n_last = 0;
	for (int i = 0; i < n; i++)
		pieces[i] = (struct fah_piece){NULL, c->page[i], FAH_PAGE_CACHE_PAGE};
	got = fah_load_gather(pieces, n, c->bytes, (size_t)n * FAH_PAGE_CACHE_PAGE);
	for (int i = 0; i < got; i++)
		hold(c, pieces[i].addr);
}

/* NULL: no room, or cannot be read. */
static const uint8_t *page_at(struct fah_page_cache *c, const struct fah_mem *under, uint64_t page)
{
	uint8_t *slot;

	if (c->n_last)
		foresee(c);
	slot = slot_of(c, page);
	if (!*slot) {
		if (c->n == FAH_PAGE_CACHE_PAGES ||
		    fah_load(under, page, c->bytes[c->n], FAH_PAGE_CACHE_PAGE) < 0)
			return NULL;
		hold(c, page);
	}
	c->wanted[*slot - 1] = true;
	return c->bytes[*slot - 1];
}

bool fah_page_cache_read(struct fah_page_cache *c, const struct fah_mem *under,
			 const struct fah_piece *piece)
{
	uint8_t *to = piece->dst;
	uint64_t addr = piece->addr;
	size_t left = piece->len;

	while (left > 0) {
		uint64_t inside = addr % FAH_PAGE_CACHE_PAGE;
		size_t n =
			FAH_PAGE_CACHE_PAGE - inside < left ? FAH_PAGE_CACHE_PAGE - inside : left;
		const uint8_t *page = page_at(c, under, addr - inside);

		if (!page)
			return false;
		memcpy(to, page + inside, n);
		to += n;
		addr += n;
		left -= n;
	}
	return true;
}
