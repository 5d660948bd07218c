/*
 * walk_texts.c - is this still the code object that had this address before?
 *
 * A program that makes code and drops it again gets the same addresses back, for the code object,
 * its name, its file name and its tables alike: pointers tell nothing. So what the names say is
 * part of what identifies a code object: their length, their hash, and their first characters; and
 * the beginning of the table of lines, for code that is made again and again under one name. Runs
 * in the agent's signal handler: one more read for a batch of frames, nothing allocated.
 */
#include "cpython/walk_internal.h"

#include <string.h>

#define TEXT_PROBES 4
#define TEXT_SALT 0x9e3779b97f4a7c15ull

/* Where addr is, or may be put: rather not over one that this walk has read. */
static struct fah_py_text *text_slot(struct fah_py_walk *w, uint64_t addr)
{
	uint32_t at = (uint32_t)((addr >> 4) * TEXT_SALT >> 40) % FAH_PY_TEXTS;
	struct fah_py_text *stale = NULL;

	for (uint32_t i = 0; i < TEXT_PROBES; i++) {
		struct fah_py_text *t = &w->texts[(at + i) % FAH_PY_TEXTS];

		if (t->addr == addr && t->walk_no == w->walk_no)
			return t;
		if (!stale && t->walk_no != w->walk_no)
			stale = t;
	}
	return stale ? stale : &w->texts[at];
}

static uint64_t chars_value(uint64_t value, const uint8_t *chars, uint32_t n)
{
	uint64_t rest = 0;

	for (; n >= 8; n -= 8, chars += 8)
		value = fah_py_mix(value, fah_py_u64(chars));
	memcpy(&rest, chars, n);
	return fah_py_mix(value, rest);
}

/* raw begins at the length; what lies behind the string's end is not its own, and not read. */
static uint64_t str_value(const struct fah_py_layout *l, const uint8_t *raw)
{
	uint64_t length = fah_py_u64(raw), value = fah_py_mix(length, fah_py_u64(raw + 8));
	uint32_t state, from = l->str_ascii_size - l->str_length, n;

	memcpy(&state, raw + (l->str_state - l->str_length), 4);
	if (!(state >> l->str_ascii_shift & 1) || from >= FAH_PY_TEXT_BYTES)
		return value; /* wide characters: length and hash must do */
	n = FAH_PY_TEXT_BYTES - from;
	if (n > length)
		n = (uint32_t)length;
	return fah_py_mix(chars_value(value, raw + from, n), n);
}

/* Likewise. Not their hash, which is computed when somebody wants it. */
static uint64_t bytes_value(const struct fah_py_layout *l, const uint8_t *raw)
{
	uint64_t length = fah_py_u64(raw);
	uint32_t from = l->bytes_data - l->ob_size;
	uint32_t n = from < FAH_PY_TEXT_BYTES ? FAH_PY_TEXT_BYTES - from : 0;

	return fah_py_mix(chars_value(length, raw + from, n < length ? n : (uint32_t)length),
			  length);
}

/* What of a code object is looked at. */
enum part { NAME, FILE_NAME, LINES, PARTS };

static uint64_t part_at(const struct fah_py_code_seen *code, enum part part)
{
	return part == NAME ? code->name : part == FILE_NAME ? code->filename : code->linetable;
}

static uint64_t from_of(const struct fah_py_layout *l, uint64_t addr, enum part part)
{
	return addr + (part == LINES ? l->ob_size : l->str_length);
}

static uint64_t value_of(const struct fah_py_layout *l, const uint8_t *raw, enum part part)
{
	return part == LINES ? bytes_value(l, raw) : str_value(l, raw);
}

static uint64_t value_at(struct fah_py_walk *w, uint64_t addr, enum part part)
{
	const struct fah_py_text *t = text_slot(w, addr);
	uint8_t raw[FAH_PY_TEXT_BYTES];

	if (t->addr == addr && t->walk_no == w->walk_no)
		return t->value;
	/* Its place was taken by another of the same batch. */
	if (fah_load(w->mem, from_of(w->layout, addr, part), raw, sizeof(raw)) < 0)
		return 0;
	return value_of(w->layout, raw, part);
}

void fah_py_texts_mix(struct fah_py_walk *w, int n)
{
	struct fah_py_text *slots[FAH_PIECES_MAX];
	enum part parts[FAH_PIECES_MAX];
	int wanted = 0, got;

	for (int i = 0; i < PARTS * n && wanted < FAH_PIECES_MAX; i++) {
		enum part part = (enum part)(i / n);
		uint64_t addr = part_at(&w->batch[i % n], part);
		struct fah_py_text *t = text_slot(w, addr);

		if (t->addr == addr && t->walk_no == w->walk_no)
			continue;
		*t = (struct fah_py_text){addr, 0, w->walk_no};
		slots[wanted] = t;
		parts[wanted] = part;
		w->pieces[wanted] = (struct fah_piece){
			w->text_raw[wanted], from_of(w->layout, addr, part), FAH_PY_TEXT_BYTES};
		wanted++;
	}
	/* One that cannot be read (at the end of a page, say) must not hide those behind it. */
	for (int at = 0; at < wanted; at += got + 1) {
		got = w->mem->read(w->mem, w->pieces + at, wanted - at);
		for (int i = at; i < at + got; i++)
			slots[i]->value = value_of(w->layout, w->text_raw[i], parts[i]);
	}
	for (int i = 0; i < n; i++)
		for (int part = 0; part < PARTS; part++)
			w->batch[i].ident =
				fah_py_mix(w->batch[i].ident,
					   value_at(w, part_at(&w->batch[i], (enum part)part),
						    (enum part)part));
}

void fah_py_texts_mix_here(const struct fah_py_layout *l, struct fah_py_code_seen *code)
{
	for (int part = 0; part < PARTS; part++) {
		uint64_t from = from_of(l, part_at(code, (enum part)part), (enum part)part);

		code->ident = fah_py_mix(code->ident, value_of(l, (const uint8_t *)(uintptr_t)from,
							       (enum part)part));
	}
}
