/*
 * codes.c - code objects become ids, and each is described once. Runs in signal handlers of any
 * thread.
 *
 * A table without locks: a slot is one word, which holds the id and most of the key's bits, and is
 * stored once, when the definition is written. So whatever a thread finds there belongs together,
 * also while others add to the table or empty it. Threads that meet the same code for the first
 * time at once define it each under an id of its own, which the reader merges. The key covers what
 * identifies a code object, so a freed one whose address is used again is another entry.
 */
#include "agent/agent.h"
#include "core/sys.h"
#include "core/varint.h"

#include <string.h>
#include <sys/mman.h>

#ifndef SLOTS /* tests have a small table */
#define SLOTS 65536u
#endif
#define SLOTS_FULL (SLOTS / 2)
#define PROBES 32u
#define ID_BITS 24 /* the collector takes no more; the other 40 are the key's upper bits */
#define ID_MASK ((1u << ID_BITS) - 1)
#define LINES_PART 8192u

typedef _Atomic uint64_t slot; /* key & ~ID_MASK | id; 0: empty */

static slot *slots;
static _Atomic uint32_t next_id = 1;
static _Atomic uint32_t n_taken;

int fah_codes_setup(void)
{
	slots = fah_pages(SLOTS * sizeof(*slots));
	return slots ? 0 : FAH_ERR_NOMEM;
}

void fah_codes_forget(void)
{
	if (slots)
		FAH_SYS3(SYS_madvise, slots, SLOTS * sizeof(*slots), MADV_DONTNEED);
	atomic_store(&next_id, 1);
	atomic_store(&n_taken, 0);
}

/* Programs that make code without end fill the table: start it afresh, ids go on. */
static void empty_if_full(void)
{
	uint32_t n = atomic_load(&n_taken);

	if (n >= SLOTS_FULL && atomic_compare_exchange_strong(&n_taken, &n, 0))
		FAH_SYS3(SYS_madvise, slots, SLOTS * sizeof(*slots), MADV_DONTNEED);
}

_Static_assert(sizeof(((struct fah_thread_state *)0)->text) >= FAH_PY_TEXT_ROOM, "room for names");

static uint64_t key_of(const struct fah_py_frame *f)
{
	uint64_t x = f->code * 0x9e3779b97f4a7c15ull ^ f->ident;

	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	return x;
}

static bool write_lines(struct fah_thread_state *t, uint32_t id, uint64_t data, size_t len)
{
	size_t at, part;
	uint8_t *p;

	for (at = 0; at < len; at += part) {
		part = len - at < LINES_PART ? len - at : LINES_PART;
		p = fah_record_begin(t, part + 3 * FAH_VARINT_MAX);
		if (!p)
			return false;
		p = fah_put_varint(p, id);
		p = fah_put_varint(p, at);
		p = fah_put_varint(p, part);
		if (fah_load(&t->mem, data + at, p, part) < 0)
			return false;
		fah_record_commit(t, FAH_SEG_CODE_LINES, p + part);
	}
	return true;
}

static bool define(struct fah_thread_state *t, uint32_t id, uint64_t code, enum fah_drop *ret_drop)
{
	struct fah_py_described d;
	uint8_t *p;

	*ret_drop = FAH_DROP_CODE;
	if (fah_py_describe(&t->mem, &fah_agent.layout, code, (char *)t->text, &d) < 0)
		return false;
	*ret_drop = FAH_DROP_NO_ROOM;
	p = fah_record_begin(t, FAH_PY_CODE_PAYLOAD(&d));
	if (!p)
		return false;
	fah_record_commit(t, FAH_SEG_CODE, fah_py_code_put(p, id, &d, (char *)t->text));
	return write_lines(t, id, d.lines, d.n_lines);
}

/* 0: 16 million of them are taken; what is new is dropped and counted. */
static uint32_t new_id(void)
{
	uint32_t id = atomic_load(&next_id);

	do
		if (id > ID_MASK)
			return 0;
	while (!atomic_compare_exchange_weak(&next_id, &id, id + 1));
	return id;
}

uint32_t fah_codes_other(struct fah_thread_state *t, const char *file, const char *name)
{
	size_t n_file = strlen(file), n_name = strlen(name);
	uint8_t *p = fah_record_begin(t, n_file + n_name + 7 * FAH_VARINT_MAX);
	uint32_t id = p ? new_id() : 0;

	if (!id)
		return 0;
	p = fah_put_varint(p, id);
	p = fah_put_varint(p, 0); /* line */
	p = fah_put_varint(p, 0); /* flags */
	p = fah_put_varint(p, n_file);
	memcpy(p, file, n_file);
	p = fah_put_varint(p + n_file, n_name);
	memcpy(p, name, n_name);
	p = fah_put_varint(p + n_name, 0); /* no qualified name */
	p = fah_put_varint(p, 0);	   /* no line table */
	fah_record_commit(t, FAH_SEG_CODE, p);
	return id;
}

uint32_t fah_codes_id(struct fah_thread_state *t, const struct fah_py_frame *frame,
		      enum fah_drop *ret_drop)
{
	uint64_t key = key_of(frame), found = 0;
	uint32_t at = (uint32_t)key & (SLOTS - 1), id;
	slot *empty = NULL;

	for (unsigned i = 0; i < PROBES; i++, at = (at + 1) & (SLOTS - 1)) {
		found = atomic_load(&slots[at]);
		if (!found) {
			empty = &slots[at];
			break;
		}
		if (!((found ^ key) >> ID_BITS))
			return (uint32_t)found & ID_MASK;
	}
	*ret_drop = FAH_DROP_CODE;
	id = new_id();
	if (!id || !define(t, id, frame->code, ret_drop))
		return 0; /* whoever comes next tries anew, with another id */
	/* where another thread took the slot meanwhile, this code is defined again next time */
	if (empty && atomic_compare_exchange_strong(empty, &found, (key & ~(uint64_t)ID_MASK) | id))
		atomic_fetch_add(&n_taken, 1);
	empty_if_full();
	return id;
}
