/* made.c - see made.h. */
#include "native/made.h"

#include "core/err.h"
#include "native/table_build.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 4096u
#define SYMBOLS_MAX (1u << 22)
#define STEP 4096u /* .eh_frame is read in such pieces until its end is found */

void fah_made_release(struct fah_made *made)
{
	fah_ehframe_release(&made->eh);
	free(made->symbols);
	free(made->debugs);
	fah_arena_release(&made->arena);
	*made = (struct fah_made){0};
}

static int add_symbol(struct fah_made *made, const struct fah_symbol *from, uint64_t base)
{
	char *name;

	if (made->n_symbols == SYMBOLS_MAX || from->start >= from->end)
		return 0;
	if ((made->n_symbols & (made->n_symbols - 1)) == 0) {
		size_t room = made->n_symbols ? made->n_symbols * 2 : 1;
		struct fah_symbol *more = reallocarray(made->symbols, room, sizeof(*more));

		if (!more)
			return FAH_ERR_NOMEM;
		made->symbols = more;
	}
	name = fah_arena_strndup(&made->arena, from->name, strnlen(from->name, NAME_MAX_LEN));
	if (!name)
		return FAH_ERR_NOMEM;
	made->symbols[made->n_symbols++] =
		(struct fah_symbol){base + from->start, base + from->end, name};
	return 0;
}

/* For so many bytes of .eh_frame; *ret is NULL where that is too much. */
static int make_room(struct fah_made *made, uint64_t len, uint8_t **ret)
{
	*ret = NULL;
	if (len > FAH_MADE_FRAMES_MAX || made->frames_len + len > FAH_MADE_ALL_FRAMES_MAX)
		return 0;
	made->frames_len += len;
	*ret = fah_arena_alloc(&made->arena, len);
	return *ret ? 0 : FAH_ERR_NOMEM;
}

/* bytes are in the arena. */
static int add_section(struct fah_made *made, const uint8_t *bytes, size_t len, uint64_t vaddr)
{
	_cleanup_(fah_ehframe_release) struct fah_ehframe eh = {0};
	int err = fah_ehframe_read(&eh, bytes, len, vaddr, SIZE_MAX);

	return err < 0 ? err : fah_ehframe_append(&made->eh, &eh);
}

static int load_frames(struct fah_made *made, uint64_t addr, uint64_t len,
		       const struct fah_mem *mem)
{
	uint8_t *bytes;
	int err = make_room(made, len, &bytes);

	if (err < 0 || !bytes || fah_load(mem, addr, bytes, len) < 0)
		return err;
	return add_section(made, bytes, len, addr);
}

static int add_section_of(struct fah_made *made, const struct fah_elf *elf,
			  const struct fah_elf_section *section, const struct fah_mem *mem)
{
	_cleanup_(fah_freep) uint8_t *bytes = NULL;
	uint8_t *kept;
	int err;

	if (mem && section->vaddr)
		return load_frames(made, section->vaddr, section->len, mem);
	err = make_room(made, section->len, &kept);
	if (err < 0 || !kept)
		return err;
	err = fah_elf_read(elf, section->offset, section->len, &bytes);
	if (err < 0)
		return err == FAH_ERR_NOMEM ? err : 0;
	memcpy(kept, bytes, section->len);
	return add_section(made, kept, section->len, section->vaddr);
}

static int add_debug(struct fah_made *made, const struct fah_elf *elf)
{
	struct fah_made_debug *debug = made->store ? fah_made_debugs_take(made->store, elf) : NULL;

	if (!debug)
		return 0;
	if ((made->n_debugs & (made->n_debugs - 1)) == 0) {
		size_t room = made->n_debugs ? made->n_debugs * 2 : 1;
		struct fah_made_debug **more = reallocarray(made->debugs, room, sizeof(*more));

		if (!more)
			return FAH_ERR_NOMEM;
		made->debugs = more;
	}
	made->debugs[made->n_debugs++] = debug;
	return 0;
}

int fah_made_add_image(struct fah_made *made, const void *bytes, size_t len,
		       const struct fah_mem *mem)
{
	_cleanup_(fah_elf_freep) struct fah_elf *elf = NULL;
	_cleanup_(fah_symbols_release) struct fah_symbols syms = {0};
	int err = fah_elf_open_made(bytes, len, &elf);

	if (err == 0)
		err = fah_symbols_read(elf, &syms);
	for (size_t i = 0; i < syms.n && err == 0; i++)
		err = add_symbol(made, &syms.symbols[i], elf->base);
	for (uint32_t i = 0; err == 0 && i < elf->n_sections; i++)
		if (!strcmp(fah_elf_section_name(elf, &elf->sections[i]), ".eh_frame"))
			err = add_section_of(made, elf, &elf->sections[i], mem);
	if (err == 0)
		err = add_debug(made, elf);
	return err == FAH_ERR_NOMEM ? err : 0;
}

/* How long the section at addr is, its end mark left out; 0: it has none within bounds. */
static uint64_t frames_len(uint64_t addr, const struct fah_mem *mem)
{
	uint8_t bytes[STEP];
	uint64_t at = 0, have = 0, have_at = 0; /* bytes[] has [have_at, have_at + have) */

	while (at < FAH_MADE_FRAMES_MAX) {
		uint32_t len;

		if (at < have_at || at + sizeof(len) > have_at + have) {
			have_at = at;
			have = STEP - (addr + at) % STEP; /* to the page's end */
			if (have < sizeof(len))
				have = sizeof(len);
			if (fah_load(mem, addr + at, bytes, have) < 0)
				return 0;
		}
		memcpy(&len, bytes + (at - have_at), sizeof(len));
		if (!len)
			return at;
		if (len >= 0xfffffff0u)
			return 0;
		at += sizeof(len) + (uint64_t)len;
	}
	return 0;
}

int fah_made_add_frames(struct fah_made *made, uint64_t addr, const struct fah_mem *mem)
{
	uint64_t len = frames_len(addr, mem);

	return len ? load_frames(made, addr, len, mem) : 0;
}

static int by_start(const void *a, const void *b)
{
	const struct fah_symbol *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void fah_made_sort(struct fah_made *made)
{
	fah_ehframe_sort(&made->eh);
	if (made->n_symbols)
		qsort(made->symbols, made->n_symbols, sizeof(*made->symbols), by_start);
}

/* Of a sorted list, the first that begins at addr or behind. */
static size_t first_symbol(const struct fah_made *made, uint64_t addr)
{
	size_t lo = 0, hi = made->n_symbols;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (made->symbols[mid].start < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static size_t first_fde(const struct fah_made *made, uint64_t addr)
{
	size_t lo = 0, hi = made->eh.n_fdes;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (made->eh.fdes[mid].start < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void widen(struct fah_made_part *part, uint64_t start, uint64_t end)
{
	if (start < part->start)
		part->start = start;
	if (end > part->end)
		part->end = end;
}

/* The symbols [from, to), counted from the part's start, with names of their own; a sum of them. */
static bool take_symbols(const struct fah_made *made, size_t from, size_t to,
			 struct fah_made_part *part, uint64_t *ret_sum)
{
	struct fah_symbols *syms = &part->symbols;
	size_t len = 0, n = 0;
	char *names;

	for (size_t i = from; i < to; i++)
		len += strlen(made->symbols[i].name) + 1;
	syms->symbols = calloc(to - from + 1, sizeof(*syms->symbols));
	syms->strings[0] = calloc(1, len + 8);
	names = (char *)syms->strings[0];
	if (!syms->symbols || !names)
		return false;
	*ret_sum = 0;
	for (size_t i = from; i < to; i++) {
		const struct fah_symbol *s = &made->symbols[i];
		struct fah_symbol *to_symbol = &syms->symbols[n];

		if (n && s->start - part->start == syms->symbols[n - 1].start)
			continue;
		*to_symbol = (struct fah_symbol){
			s->start - part->start,
			(s->end < part->end ? s->end : part->end) - part->start, names};
		names = stpcpy(names, s->name) + 1;
		*ret_sum = (*ret_sum ^ to_symbol->start ^ to_symbol->end << 32) *
			   0x9e3779b97f4a7c15ull;
		n++;
	}
	syms->n = n;
	*ret_sum ^= fah_table_sum(syms->strings[0], len & ~(size_t)7);
	for (size_t i = len & ~(size_t)7; i < len; i++)
		*ret_sum = (*ret_sum ^ syms->strings[0][i]) * 0x100000001b3ull;
	return true;
}

static bool take_starts(const struct fah_ehframe *inside, struct fah_made_part *part)
{
	part->starts = calloc(inside->n_fdes + 1, sizeof(*part->starts));
	for (size_t i = 0; part->starts && i < inside->n_fdes; i++)
		part->starts[part->n_starts++] = inside->fdes[i].start;
	return part->starts;
}

/* Adds to the sum, too: the same names may come to have other lines. */
static bool take_debugs(const struct fah_made *made, struct fah_made_part *part, uint64_t *sum)
{
	part->debugs = calloc(made->n_debugs + 1, sizeof(struct fah_made_debug *));
	for (size_t i = 0; part->debugs && i < made->n_debugs; i++) {
		struct fah_made_debug *debug = made->debugs[i];

		if (debug->start >= part->end || debug->end <= part->start)
			continue;
		part->debugs[part->n_debugs++] = debug;
		*sum = (*sum ^ debug->sum) * 0x9e3779b97f4a7c15ull;
	}
	return part->debugs;
}

/* NULL: it cannot be read, or is too much. */
static uint8_t *code_of(const struct fah_made_part *part, const struct fah_mem *mem)
{
	uint64_t len = part->end - part->start;
	uint8_t *code;

	if (!mem || !part->symbols.n || len > FAH_MADE_CODE_MAX)
		return NULL;
	code = malloc(len);
	if (code && fah_load(mem, part->start, code, len) == 0)
		return code;
	free(code);
	return NULL;
}

bool fah_made_cut(const struct fah_made *made, uint64_t start, uint64_t end,
		  const struct fah_mem *mem, struct fah_made_part *ret)
{
	_cleanup_(fah_freep) uint8_t *code = NULL;
	struct fah_made_part part = {.start = UINT64_MAX};
	size_t fde = first_fde(made, start), symbol = first_symbol(made, start), to;
	struct fah_ehframe inside = {.cies = made->eh.cies, .n_cies = made->eh.n_cies};
	uint64_t sum;

	inside.fdes = fde < made->eh.n_fdes ? &made->eh.fdes[fde] : NULL;
	for (; fde < made->eh.n_fdes && made->eh.fdes[fde].start < end; fde++, inside.n_fdes++)
		if (made->eh.fdes[fde].end <= end)
			widen(&part, made->eh.fdes[fde].start, made->eh.fdes[fde].end);
	for (to = symbol; to < made->n_symbols && made->symbols[to].start < end; to++)
		widen(&part, made->symbols[to].start,
		      made->symbols[to].end < end ? made->symbols[to].end : end);
	if (part.start >= part.end)
		return false;
	if (!take_symbols(made, symbol, to, &part, &sum) || !take_starts(&inside, &part) ||
	    !take_debugs(made, &part, &sum)) {
		fah_made_part_release(&part);
		return false;
	}
	code = code_of(&part, mem);
	if (fah_table_build_made(&inside, &part.symbols, code, part.start, part.end, &sum,
				 sizeof(sum), &part.table.bytes, &part.table.len) < 0) {
		fah_made_part_release(&part);
		return false;
	}
	*ret = part;
	return true;
}

void fah_made_part_release(struct fah_made_part *part)
{
	free(part->table.bytes);
	fah_symbols_release(&part->symbols);
	free(part->starts);
	free(part->debugs);
	*part = (struct fah_made_part){0};
}
