/*
 * lines_table.c - the code objects that were chosen, and room for the counts of their lines, which
 * outlives the process (core/kept.h). With the GIL.
 */
#include "agent/lines.h"

#include <string.h>

#define SLOTS (2 * FAH_LINED_MAX) /* index + 1, 0: empty */
#define BLOCK (1u << 18)
#define BYTES_MAX (64u << 20) /* of all counts */
#define FIRST_ROOM 32u	      /* lines */
#define SPAN_MAX (1 << 20)    /* lines from a function's first to its last */

struct tables {
	struct fah_lined all[FAH_LINED_MAX];
	uint16_t slots[SLOTS];
};
_Static_assert(FAH_LINED_MAX < 65536, "an index is 16 bits");

static struct tables *tables;
static _Atomic uint32_t n_all;
static uint8_t *block;
static size_t block_left, bytes;
static bool keeps, forking;

int fah_lined_setup(void)
{
	if (!tables)
		tables = fah_pages(sizeof(*tables));
	return tables ? 0 : FAH_ERR_NOMEM;
}

static uint32_t slot_of(uint64_t code)
{
	uint32_t i = (uint32_t)((code >> 4) * 0x9e3779b97f4a7c15ull >> 40) & (SLOTS - 1);

	while (tables->slots[i] && tables->all[tables->slots[i] - 1].code != code)
		i = (i + 1) & (SLOTS - 1);
	return i;
}

struct fah_lined *fah_lined_find(uint64_t code)
{
	uint32_t found = tables->slots[slot_of(code)];

	return found ? &tables->all[found - 1] : NULL;
}

struct fah_lined *fah_lined_at(uint32_t i)
{
	return i < atomic_load(&n_all) ? &tables->all[i] : NULL;
}

uint32_t fah_lined_index(const struct fah_lined *l)
{
	return (uint32_t)(l - tables->all);
}

static void *more(size_t size)
{
	void *p;

	if (bytes + size > BYTES_MAX)
		return NULL;
	p = keeps ? fah_kept_room(FAH_KEPT_LINES, size) : NULL;
	p = p ? p : fah_pages(size);
	bytes += p ? size : 0;
	return p;
}

static struct fah_lines_kept *room_for(uint32_t n)
{
	size_t size = sizeof(struct fah_lines_kept) + n * sizeof(struct fah_line);
	struct fah_lines_kept *room;

	if (size > BLOCK / 4) {
		room = more(size);
	} else {
		if (size > block_left) {
			block = more(BLOCK);
			block_left = block ? BLOCK : 0;
		}
		room = (struct fah_lines_kept *)(void *)block;
		block += block ? size : 0;
		block_left -= block ? size : 0;
	}
	if (room)
		room->n = n;
	return room;
}

static struct fah_lines_kept *kept_of(const struct fah_lined *l)
{
	return l->lines ? (struct fah_lines_kept *)(void *)l->lines - 1 : NULL;
}

void fah_lined_told(struct fah_lined *l)
{
	struct fah_lines_kept *kept = kept_of(l);

	if (!kept)
		return;
	kept->marked = l->marked;
	kept->base = l->base;
	kept->id = l->id;
}

/* Frames that run hold indices. */
static void shift_frames(const struct fah_lined *l, uint32_t by)
{
	struct fah_lines_thread *t;

	for (uint32_t i = 0; (t = fah_lines_thread_at(i)); i++)
		for (uint32_t k = 0; k < t->depth; k++)
			if (t->frames[k].of == l && t->frames[k].line)
				t->frames[k].line += by;
}

uint32_t fah_lined_room(struct fah_lined *l, int32_t line)
{
	uint32_t old = atomic_load(&l->n_lines), n = old > FIRST_ROOM ? old : FIRST_ROOM;
	int64_t from = old && l->base < line ? l->base : line;
	int64_t to = old && (int64_t)l->base + old > line ? (int64_t)l->base + old : line + 1ll;
	struct fah_lines_kept *kept = kept_of(l), *grown = NULL;

	if (line > 0 && to - from <= SPAN_MAX) {
		while (n < to - from)
			n *= 2;
		grown = room_for(n);
	}
	if (!grown) {
		atomic_fetch_add_explicit(&fah_lining.lost_lines, 1, memory_order_relaxed);
		return 0;
	}
	if (old) {
		memcpy(grown->lines + (l->base - from), l->lines, old * sizeof(*l->lines));
		if (!forking)
			shift_frames(l, (uint32_t)(l->base - from));
	}
	/* a handler may read meanwhile: who sees the new length sees the new lines */
	l->lines = grown->lines;
	l->base = (int32_t)from;
	if (keeps)
		fah_lines_tell(l);
	if (kept)
		kept->id = 0;
	atomic_store_explicit(&l->n_lines, n, memory_order_release);
	return (uint32_t)(line - l->base) + 1;
}

struct fah_lined *fah_lined_add(fah_object *code, bool *ret_new)
{
	uint32_t n = atomic_load(&n_all), i = slot_of((uint64_t)(uintptr_t)code);

	*ret_new = !tables->slots[i];
	if (!*ret_new)
		return &tables->all[tables->slots[i] - 1];
	if (n == FAH_LINED_MAX) {
		atomic_fetch_add_explicit(&fah_lining.lost_codes, 1, memory_order_relaxed);
		return NULL;
	}
	fah_py.incref(code);
	tables->all[n] = (struct fah_lined){.code = (uint64_t)(uintptr_t)code, .changed = true};
	tables->slots[i] = (uint16_t)(n + 1);
	atomic_store(&n_all, n + 1);
	return &tables->all[n];
}

static void nothing_lost(void)
{
	atomic_store(&fah_lining.lost_codes, 0);
	atomic_store(&fah_lining.lost_frames, 0);
	atomic_store(&fah_lining.lost_lines, 0);
}

/* Lines that run go on, where they have room: frames hold numbers, not indices, up to the end. */
static void move_frames(struct fah_lines_thread *t)
{
	struct fah_lines_frame *f;

	for (f = t->frames; f < t->frames + t->depth; f++)
		if (f->line)
			fah_lined_room(f->of, (int32_t)f->line);
	for (f = t->frames; f < t->frames + t->depth; f++) {
		uint32_t at = f->line - (uint32_t)f->of->base;

		f->line = f->line && at < atomic_load(&f->of->n_lines) ? at + 1 : 0;
	}
}

void fah_lined_forked(void)
{
	struct fah_lines_thread *t = fah_lines_mine_or_none();
	struct fah_lined *l;

	nothing_lost();
	for (uint32_t i = 0; t && i < t->depth; i++)
		if (t->frames[i].line)
			t->frames[i].line += (uint32_t)t->frames[i].of->base - 1;
	for (uint32_t i = 0; (l = fah_lined_at(i)); i++) {
		l->lines = NULL; /* they are the parent's */
		atomic_store(&l->n_lines, 0);
		l->id = 0;
		atomic_store(&l->changed, false);
	}
	block = NULL;
	block_left = bytes = 0;
	/* in memory of the process alone: most forks become another program, and need no file */
	keeps = false;
	forking = true;
	if (t)
		move_frames(t);
	forking = false;
	fah_lined_keep();
}

void fah_lined_keep(void)
{
	block = NULL;
	block_left = 0;
	keeps = true;
}

void fah_lined_clear(void)
{
	uint32_t n = atomic_exchange(&n_all, 0);

	for (uint32_t i = 0; i < n; i++)
		fah_py.decref((fah_object *)(uintptr_t)tables->all[i].code);
	memset(tables, 0, sizeof(*tables));
	nothing_lost();
}
