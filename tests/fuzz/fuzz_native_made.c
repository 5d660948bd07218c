/*
 * fuzz_native_made.c - any bytes as the image of a compiler at run time, and as the memory of its
 * process. Whatever comes of it, a part that is cut lies inside the memory asked for, its table
 * opens, and each of its addresses has a name.
 */
#include "native/made.h"
#include "native/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct memory {
	const uint8_t *data;
	size_t len;
} memory;

/* Every address is an offset into the data, its upper half left out. */
static int read_memory(const struct fah_mem *mem, const struct fah_piece *pieces, int n)
{
	(void)mem;
	for (int i = 0; i < n; i++) {
		uint64_t at = pieces[i].addr & 0xffff;

		if (at > memory.len || pieces[i].len > memory.len - at)
			return i;
		memcpy(pieces[i].dst, memory.data + at, pieces[i].len);
	}
	return n;
}

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void name_all(struct fah_made_part *part)
{
	struct fah_names *names = fah_names_new(NULL, "", "");
	uint64_t len = part->end - part->start;

	check(names);
	fah_names_give(names, &part->symbols);
	fah_names_give_debug(names, part->start, part->debugs, part->n_debugs);
	for (uint64_t at = 0; at < len && at < 128; at += 3) {
		uint32_t n = 0;
		struct fah_name_frame *frames = fah_names_find(names, at, &n);

		check(frames && n && n <= FAH_INLINE_MAX);
		for (uint32_t i = 0; i < n; i++)
			check(frames[i].function);
	}
	fah_names_free(names);
}

static void cut(const struct fah_made *made, uint64_t start, uint64_t end)
{
	const struct fah_mem mem = {read_memory, 0};
	struct fah_made_part part;
	struct fah_table table;

	if (!fah_made_cut(made, start, end, &mem, &part))
		return;
	check(part.start >= start && part.end <= end && part.start < part.end);
	check(fah_table_open(part.table.bytes, part.table.len, &table) == 0);
	for (size_t i = 0; i < part.symbols.n; i++) {
		const struct fah_symbol *s = &part.symbols.symbols[i];

		check(s->name[0] && s->start < part.end - part.start &&
		      s->end <= part.end - part.start);
		check(!i || s->start > s[-1].start);
	}
	name_all(&part);
	fah_made_part_release(&part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct fah_mem mem = {read_memory, 0};
	struct fah_made_debugs debugs = {0};
	struct fah_made made = {.store = &debugs};

	memory = (struct memory){data, len};
	check(fah_made_add_image(&made, data, len, &mem) == 0);
	check(fah_made_add_image(&made, data, len, NULL) == 0);
	check(fah_made_add_frames(&made, len / 2, &mem) == 0);
	fah_made_sort(&made);
	cut(&made, 0, UINT64_MAX);
	cut(&made, 1, 1u << 16);
	for (size_t i = 0; i < made.n_symbols && i < 16; i++)
		cut(&made, made.symbols[i].start, made.symbols[i].end);
	for (size_t i = 0; i < made.eh.n_fdes && i < 16; i++)
		cut(&made, made.eh.fdes[i].start & ~4095ull,
		    (made.eh.fdes[i].start & ~4095ull) + 4096);
	fah_made_release(&made);
	fah_made_debugs_release(&debugs);
	return 0;
}
