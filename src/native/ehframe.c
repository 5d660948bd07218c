/*
 * ehframe.c - see ehframe.h. Entries, from the start of the section:
 *
 *     u32 length | u32 0            | CIE: version, augmentation, alignments, initial instructions
 *     u32 length | u32 back to CIE  | FDE: address, length, augmentation data, instructions
 *     u32 0                           the end
 */
#include "native/ehframe.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "core/err.h"
#include "native/regs.h"

#include <stdlib.h>
#include <string.h>

#define MAX_AUGMENTATION 16

enum {
	DW_EH_PE_absptr = 0x00,
	DW_EH_PE_uleb128 = 0x01,
	DW_EH_PE_udata2 = 0x02,
	DW_EH_PE_udata4 = 0x03,
	DW_EH_PE_udata8 = 0x04,
	DW_EH_PE_sleb128 = 0x09,
	DW_EH_PE_sdata2 = 0x0a,
	DW_EH_PE_sdata4 = 0x0b,
	DW_EH_PE_sdata8 = 0x0c,
	DW_EH_PE_pcrel = 0x10,
	DW_EH_PE_datarel = 0x30,
	DW_EH_PE_indirect = 0x80,
	DW_EH_PE_omit = 0xff,
};

struct section {
	const uint8_t *bytes;
	size_t len;
	uint64_t vaddr, data; /* data: what datarel counts from */
};

static uint64_t get_number(struct fah_cursor *c, unsigned len, bool is_signed)
{
	const uint8_t *p = fah_get_bytes(c, len);
	uint64_t v = 0;

	if (!p)
		return 0;
	memcpy(&v, p, len);
	if (is_signed && len < 8 && v >> (len * 8 - 1))
		v |= ~0ull << (len * 8);
	return v;
}

/* Of an indirect pointer only the place of its value. */
static uint64_t get_pointer(struct fah_cursor *c, const struct section *s, uint8_t encoding)
{
	uint64_t here = s->vaddr + (uint64_t)(c->p - s->bytes), v;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		v = get_number(c, 8, false);
		break;
	case DW_EH_PE_uleb128:
		v = fah_get_varint(c);
		break;
	case DW_EH_PE_sleb128:
		v = (uint64_t)fah_get_sleb(c);
		break;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		v = get_number(c, 2, encoding & 8);
		break;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		v = get_number(c, 4, encoding & 8);
		break;
	default:
		c->bad = true;
		return 0;
	}
	switch (encoding & 0x70) {
	case 0:
		return v;
	case DW_EH_PE_pcrel:
		return v ? here + v : 0;
	case DW_EH_PE_datarel:
		return s->data + v;
	default:
		c->bad = true;
		return 0;
	}
}

/* What 'z' and the letters behind it announce. */
static bool read_augmentation(struct fah_cie *cie, struct fah_cursor *c, const struct section *s,
			      const char *letters)
{
	uint64_t len = fah_get_varint(c);
	const uint8_t *p = fah_get_bytes(c, len);
	struct fah_cursor data = {p, p ? p + len : NULL, !p};

	cie->has_augmentation = true;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->pointer_encoding = (uint8_t)get_number(&data, 1, false);
			break;
		case 'P':
			get_pointer(&data, s, (uint8_t)get_number(&data, 1, false) & 0x7f);
			break;
		case 'L':
			get_number(&data, 1, false);
			break;
		case 'S':
			cie->signal = true;
			break;
		default:
			return false;
		}
	}
	return !data.bad && !(cie->pointer_encoding & DW_EH_PE_indirect);
}

/* c: behind the zero that marks a CIE. */
static bool read_cie(struct fah_cie *cie, struct fah_cursor c, const struct section *s)
{
	char letters[MAX_AUGMENTATION] = "";
	uint64_t version = get_number(&c, 1, false), ra;
	unsigned n = 0;

	*cie = (struct fah_cie){.pointer_encoding = DW_EH_PE_absptr};
	do {
		letters[n] = (char)get_number(&c, 1, false);
	} while (letters[n] && ++n < MAX_AUGMENTATION);
	if (c.bad || n == MAX_AUGMENTATION || (version != 1 && version != 3))
		return false;
	cie->code_align = fah_get_varint(&c);
	cie->data_align = fah_get_sleb(&c);
	ra = version == 1 ? get_number(&c, 1, false) : fah_get_varint(&c);
	if (c.bad || ra != FAH_REG_PC)
		return false;
	if (letters[0] && (letters[0] != 'z' || !read_augmentation(cie, &c, s, letters + 1)))
		return false;
	return !c.bad && fah_cfi_initial(cie, c) == 0;
}

static bool read_fde(struct fah_fde *fde, const struct fah_cie *cie, struct fah_cursor c,
		     const struct section *s)
{
	uint64_t start = get_pointer(&c, s, cie->pointer_encoding);
	uint64_t len = get_pointer(&c, s, cie->pointer_encoding & 0x07);

	if (cie->has_augmentation)
		fah_get_bytes(&c, fah_get_varint(&c));
	if (c.bad || !start || !len || start + len < start)
		return false;
	fde->start = start;
	fde->end = start + len;
	fde->program = c;
	return true;
}

static void *grown(void *array, size_t n, size_t size)
{
	if (n < 64 ? n : n & (n - 1)) /* full at 0, 64 and every power of two behind it */
		return array;
	return realloc(array, (n < 64 ? 64 : n * 2) * size);
}

/* The CIE at this offset: its index, or one of these. */
#define CIE_BAD (-1)
#define CIE_NOMEM (-2)
static int64_t find_cie(struct fah_ehframe *eh, struct fah_map *known, const struct section *s,
			size_t at)
{
	struct fah_cursor c = {s->bytes + at, s->bytes + s->len, false};
	struct fah_cie *cies;
	uint64_t len = get_number(&c, 4, false);
	uint32_t *seen;
	bool is_new;

	seen = fah_map_put(known, fah_key_u64(at), &is_new);
	if (!seen)
		return CIE_NOMEM;
	if (!is_new)
		return (int64_t)*seen - 1;
	if (c.bad || len < 4 || len > (uint64_t)(c.end - c.p))
		return CIE_BAD;
	c.end = c.p + len;
	if (get_number(&c, 4, false) != 0)
		return CIE_BAD;
	cies = grown(eh->cies, eh->n_cies, sizeof(*cies));
	if (!cies)
		return CIE_NOMEM;
	eh->cies = cies;
	if (!read_cie(&cies[eh->n_cies], c, s))
		return CIE_BAD;
	*seen = (uint32_t)++eh->n_cies;
	return (int64_t)eh->n_cies - 1;
}

static int add_fde(struct fah_ehframe *eh, struct fah_map *known, const struct section *s,
		   struct fah_cursor c, size_t cie_at)
{
	struct fah_fde *fdes;
	int64_t cie = find_cie(eh, known, s, cie_at);

	if (cie == CIE_NOMEM)
		return FAH_ERR_NOMEM;
	fdes = grown(eh->fdes, eh->n_fdes, sizeof(*fdes));
	if (!fdes)
		return FAH_ERR_NOMEM;
	eh->fdes = fdes;
	if (cie == CIE_BAD || !read_fde(&fdes[eh->n_fdes], &eh->cies[cie], c, s)) {
		eh->n_bad++;
		return 0;
	}
	fdes[eh->n_fdes++].cie = (uint32_t)cie;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	uint64_t x = ((const struct fah_fde *)a)->start, y = ((const struct fah_fde *)b)->start;

	return (x > y) - (x < y);
}

/* Linkers write them nearly in order. */
void fah_ehframe_sort(struct fah_ehframe *eh)
{
	size_t i, n = 0;

	for (i = 1; i < eh->n_fdes && eh->fdes[i - 1].start <= eh->fdes[i].start; i++)
		;
	if (i < eh->n_fdes)
		qsort(eh->fdes, eh->n_fdes, sizeof(*eh->fdes), by_start);
	for (i = 0; i < eh->n_fdes; i++) {
		if (n && eh->fdes[n - 1].start == eh->fdes[i].start)
			eh->n_bad++;
		else
			eh->fdes[n++] = eh->fdes[i];
	}
	eh->n_fdes = n;
}

int fah_ehframe_read(struct fah_ehframe *ret, const uint8_t *bytes, size_t len, uint64_t vaddr,
		     size_t max_fdes)
{
	_cleanup_(fah_map_release) struct fah_map known = FAH_MAP_INIT;
	const struct section s = {bytes, len, vaddr, 0};
	struct fah_cursor c = {bytes, bytes + len, false};
	struct fah_ehframe eh = {0};

	while (!c.bad && c.end - c.p >= 4 && eh.n_fdes + eh.n_bad < max_fdes) {
		uint64_t entry_len = get_number(&c, 4, false), back;
		struct fah_cursor entry = c;
		size_t at = (size_t)(c.p - bytes);

		if (entry_len == 0 || entry_len >= 0xfffffff0u || entry_len > len - at)
			break;
		fah_get_bytes(&c, entry_len);
		entry.end = entry.p + entry_len;
		back = get_number(&entry, 4, false);
		if (entry.bad || !back)
			continue; /* a CIE is read when a function names it */
		if (back > at) {
			eh.n_bad++;
			continue;
		}
		if (add_fde(&eh, &known, &s, entry, at - back) < 0) {
			fah_ehframe_release(&eh);
			return FAH_ERR_NOMEM;
		}
	}
	fah_ehframe_sort(&eh);
	*ret = eh;
	return 0;
}

int fah_ehframe_append(struct fah_ehframe *eh, const struct fah_ehframe *more)
{
	uint32_t first = (uint32_t)eh->n_cies;

	for (size_t i = 0; i < more->n_cies; i++) {
		struct fah_cie *cies = grown(eh->cies, eh->n_cies, sizeof(*cies));

		if (!cies)
			return FAH_ERR_NOMEM;
		eh->cies = cies;
		cies[eh->n_cies++] = more->cies[i];
	}
	for (size_t i = 0; i < more->n_fdes; i++) {
		struct fah_fde *fdes = grown(eh->fdes, eh->n_fdes, sizeof(*fdes));

		if (!fdes)
			return FAH_ERR_NOMEM;
		eh->fdes = fdes;
		fdes[eh->n_fdes] = more->fdes[i];
		fdes[eh->n_fdes++].cie += first;
	}
	return 0;
}

void fah_ehframe_release(struct fah_ehframe *eh)
{
	free(eh->fdes);
	free(eh->cies);
	*eh = (struct fah_ehframe){0};
}

int fah_ehframe_hdr(const uint8_t *bytes, size_t len, uint64_t vaddr, uint64_t *ret_eh_frame,
		    size_t *ret_fdes)
{
	const struct section s = {bytes, len, vaddr, vaddr};
	struct fah_cursor c = {bytes, bytes + len, false};
	uint64_t version = get_number(&c, 1, false);
	uint8_t frame = (uint8_t)get_number(&c, 1, false),
		count = (uint8_t)get_number(&c, 1, false);
	uint64_t eh_frame, fdes = SIZE_MAX;

	get_number(&c, 1, false); /* how the table is encoded, which we don't need */
	if (c.bad || version != 1 || frame == DW_EH_PE_omit || (frame & DW_EH_PE_indirect))
		return FAH_ERR_DAMAGED;
	eh_frame = get_pointer(&c, &s, frame);
	if (count != DW_EH_PE_omit)
		fdes = get_pointer(&c, &s, count);
	if (c.bad)
		return FAH_ERR_DAMAGED;
	*ret_eh_frame = eh_frame;
	*ret_fdes = fdes;
	return 0;
}
