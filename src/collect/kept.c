/* kept.c - see kept.h. */
#include "collect/kept.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/room.h"
#include "base/strbuf.h"
#include "capture/reader.h"
#include "collect/records.h"
#include "core/kept.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MAX (256u << 20)
#define LINES_A_RECORD 1024u

struct called {
	uint64_t address; /* of the first, in the process */
	const struct fah_exact_called *all;
	size_t n;
};

struct kept {
	struct fah_collected *p;
	struct fah_writer *w;
	uint64_t time_ns;
	struct called *called; /* by address */
	size_t n_called, cap;
};

typedef void (*table_fn)(struct kept *, const struct fah_kept_head *, const void *, size_t size);

/* The tables of a kind that are whole. */
static void each(struct kept *k, const char *data, size_t len, enum fah_kept kind, table_fn fn)
{
	const struct fah_kept_head *head;
	size_t at = 0;

	while (len - at >= sizeof(*head)) {
		head = (const struct fah_kept_head *)(const void *)(data + at);
		if (head->magic != FAH_KEPT_MAGIC || head->size < sizeof(*head) ||
		    head->size % FAH_KEPT_PAGE || head->size > len - at)
			return;
		if (head->kind == kind && head->ns_a_tick >= 0 && head->ns_a_tick < 1e6)
			fn(k, head, head + 1, (size_t)head->size - sizeof(*head));
		at += (size_t)head->size;
	}
}

static void note_called(struct kept *k, const struct fah_kept_head *head, const void *table,
			size_t size)
{
	if (fah_room(&k->called, k->n_called, &k->cap, sizeof(*k->called)))
		k->called[k->n_called++] = (struct called){head->address, table,
							   size / sizeof(struct fah_exact_called)};
}

static int by_address(const void *a, const void *b)
{
	const struct called *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int holds(const void *key, const void *element)
{
	uint64_t at = *(const uint64_t *)key;
	const struct called *c = element;

	return at < c->address ? -1 : at - c->address >= c->n * sizeof(*c->all) ? 1 : 0;
}

/* By its address in the process; NULL: there is none. */
static const struct fah_exact_called *called_at(const struct kept *k, const void *pointer)
{
	uint64_t at = (uint64_t)(uintptr_t)pointer;
	const struct called *c =
		k->n_called ? bsearch(&at, k->called, k->n_called, sizeof(*k->called), holds)
			    : NULL;

	return c && (at - c->address) % sizeof(*c->all) == 0
		       ? &c->all[(at - c->address) / sizeof(*c->all)]
		       : NULL;
}

static int64_t ns_of(int64_t ticks, const struct fah_kept_head *head)
{
	double ns = (double)ticks * head->ns_a_tick;

	return ns > -9e18 && ns < 9e18 ? (int64_t)ns : 0;
}

static void take_calls(struct kept *k, const struct fah_kept_head *head, const void *table,
		       size_t size)
{
	const struct fah_exact_block *b = table;

	if (size < sizeof(*b) || b->n > FAH_EXACT_BLOCK)
		return;
	for (uint32_t i = 0; i < b->n; i++) {
		const struct fah_exact_call *c = &b->calls[i];
		const struct fah_exact_called *callee = c->calls ? called_at(k, c->callee) : NULL;
		const struct fah_exact_called *caller = callee ? called_at(k, c->caller) : NULL;
		struct fah_rec_timed r = {.calls = c->calls,
					  .recursive = c->recursive,
					  .self_ns = ns_of(c->self, head),
					  .total_ns = ns_of(c->total, head)};

		if (callee && callee->id && caller)
			fah_records_timed(k->p, k->w, callee->id, caller->id + 1ull, &r);
	}
}

static void take_called(struct kept *k, const struct fah_kept_head *head, const void *table,
			size_t size)
{
	const struct fah_exact_called *f = table;

	for (size_t i = 0; i < size / sizeof(*f); i++, f++) {
		struct fah_rec_timed r = {.recursive = f->recursive,
					  .total_ns = ns_of(f->total, head)};
		uint8_t changed;

		memcpy(&changed, &f->changed, 1); /* a bool in memory that we did not write */
		if (f->id && changed)
			fah_records_timed(k->p, k->w, f->id, 0, &r);
	}
}

/* A record of lines, from *at on, of those that have any. */
static void take_some(struct kept *k, const struct fah_kept_head *head,
		      const struct fah_lines_kept *l, uint32_t *at)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf rest = FAH_STRBUF_INIT;
	struct fah_rec_lines lines = {.code = l->id, .marked = !!l->marked, .time_ns = k->time_ns};
	uint32_t n = 0;

	for (; *at < l->n && n < LINES_A_RECORD; ++*at) {
		const struct fah_line *line = &l->lines[*at];
		int64_t ns = ns_of(line->ticks, head), called_ns = ns_of(line->called, head);
		uint8_t buf[4 * FAH_VARINT_MAX], *p = buf;

		if (!line->hits && !line->ticks)
			continue;
		ns = ns > 0 ? ns : 0;
		called_ns = called_ns < 0 ? 0 : called_ns < ns ? called_ns : ns;
		p = fah_put_varint(p, (uint64_t)l->base + *at);
		p = fah_put_varint(p, line->hits);
		p = fah_put_varint(p, (uint64_t)ns);
		p = fah_put_varint(p, (uint64_t)called_ns);
		fah_strbuf_add(&rest, buf, (size_t)(p - buf));
		n++;
	}
	lines.rest.p = (const uint8_t *)fah_strbuf_str(&rest);
	lines.rest.end = lines.rest.p + rest.len;
	if (n && !rest.failed)
		fah_records_lines(k->p, k->w, &lines);
}

static void take_lines(struct kept *k, const struct fah_kept_head *head, const void *table,
		       size_t size)
{
	const char *at = table, *end = at + size;

	while ((size_t)(end - at) >= sizeof(struct fah_lines_kept)) {
		const struct fah_lines_kept *l = (const struct fah_lines_kept *)(const void *)at;
		uint32_t next = 0;

		at += sizeof(*l);
		if (!l->n || l->n > (size_t)(end - at) / sizeof(*l->lines))
			return;
		while (l->id && l->base > 0 && next < l->n)
			take_some(k, head, l, &next);
		at += l->n * sizeof(*l->lines);
	}
}

void fah_kept_take(struct fah_collected *p, const char *dir, struct fah_writer *w, uint64_t time_ns)
{
	_cleanup_(fah_freep) char *data = NULL;
	_cleanup_(fah_strbuf_release) struct fah_strbuf path = FAH_STRBUF_INIT;
	struct kept k = {.p = p, .w = w, .time_ns = time_ns};
	size_t len;

	if (!p->kept_path)
		return;
	fah_strbuf_addf(&path, "%s/%s", dir,
			fah_basename(p->kept_path)); /* the folder may have moved */
	if (path.failed || fah_file_read_regular(path.p, FILE_MAX, &data, &len) < 0)
		return;
	each(&k, data, len, FAH_KEPT_CALLED, note_called);
	if (k.n_called)
		qsort(k.called, k.n_called, sizeof(*k.called), by_address);
	each(&k, data, len, FAH_KEPT_CALLS, take_calls);
	each(&k, data, len, FAH_KEPT_CALLED, take_called);
	each(&k, data, len, FAH_KEPT_LINES, take_lines);
	free(k.called);
}
