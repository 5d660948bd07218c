/*
 * codes.c - code objects become ids, and each is described once. Runs in signal handlers of any
 * thread.
 *
 * A table without locks: a slot is claimed by its key, and its id appears when the definition is
 * written. A thread that finds a claimed slot without an id doesn't wait: it defines the code a
 * second time under an id of its own, which the reader merges. The key covers what identifies a
 * code object, so a freed one whose address is used again is another entry.
 */
#include "agent/agent.h"
#include "core/sys.h"
#include "core/varint.h"

#include <string.h>
#include <sys/mman.h>

#define SLOTS 65536u
#define SLOTS_FULL (SLOTS / 2)
#define PROBES 32u
#define LINES_MAX (1u << 20) /* longest line table kept */
#define LINES_PART 8192u
#define FILE_MAX 4095u
#define NAME_MAX_BYTES 1023u

struct slot {
	_Atomic uint64_t key; /* 0: empty */
	_Atomic uint32_t id;  /* 0: claimed, not defined yet */
};

static struct slot *slots;
static _Atomic uint32_t next_id = 1;
static _Atomic uint32_t n_taken;
static _Atomic uint32_t epoch; /* odd while the table is being emptied */

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
	atomic_store(&epoch, 0);
}

/* Programs that make code without end fill the table: start it afresh, ids go on. */
static void empty_if_full(void)
{
	uint32_t e = atomic_load(&epoch);

	if (atomic_load(&n_taken) < SLOTS_FULL || e & 1 ||
	    !atomic_compare_exchange_strong(&epoch, &e, e + 1))
		return;
	FAH_SYS3(SYS_madvise, slots, SLOTS * sizeof(*slots), MADV_DONTNEED);
	atomic_store(&n_taken, 0);
	atomic_store(&epoch, e + 2);
}

static uint64_t key_of(const struct fah_py_frame *f)
{
	uint64_t x = f->code * 0x9e3779b97f4a7c15ull ^ f->ident;

	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	return x ? x : 1;
}

static uint8_t *put_str(uint8_t *p, const char *s, size_t len)
{
	p = fah_put_varint(p, len);
	memcpy(p, s, len);
	return p + len;
}

/* A str object into t->text at *at; its length is returned, 0 where there is none. */
static size_t read_name(struct fah_thread_state *t, uint64_t str, size_t at, size_t cap)
{
	int n = str ? fah_py_read_str(&t->mem, &fah_agent.layout, str, (char *)t->text + at, cap)
		    : 0;

	return n > 0 ? (size_t)n : 0;
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
	const struct fah_py_layout *layout = &fah_agent.layout;
	size_t n_file, n_name, n_qual, n_lines = 0;
	struct fah_py_code info;
	uint64_t lines = 0;
	uint8_t *p;

	*ret_drop = FAH_DROP_CODE;
	if (fah_py_code_read(&t->mem, layout, code, &info) < 0)
		return false;
	n_file = read_name(t, info.filename, 0, FILE_MAX);
	n_name = read_name(t, info.name, n_file, NAME_MAX_BYTES);
	n_qual = read_name(t, info.qualname, n_file + n_name, NAME_MAX_BYTES);
	if (fah_py_bytes_span(&t->mem, layout, info.linetable, LINES_MAX, &lines, &n_lines) < 0)
		n_lines = 0;

	*ret_drop = FAH_DROP_NO_ROOM;
	p = fah_record_begin(t, n_file + n_name + n_qual + 8 * FAH_VARINT_MAX);
	if (!p)
		return false;
	p = fah_put_varint(p, id);
	p = fah_put_varint(p, fah_zigzag(info.firstlineno));
	p = fah_put_varint(p, info.flags);
	p = put_str(p, (char *)t->text, n_file);
	p = put_str(p, (char *)t->text + n_file, n_name);
	p = put_str(p, (char *)t->text + n_file + n_name, n_qual);
	p = fah_put_varint(p, n_lines);
	fah_record_commit(t, FAH_SEG_CODE, p);
	return write_lines(t, id, lines, n_lines);
}

uint32_t fah_codes_id(struct fah_thread_state *t, const struct fah_py_frame *frame,
		      enum fah_drop *ret_drop)
{
	uint64_t key = key_of(frame), found = 0;
	uint32_t e = atomic_load(&epoch), at = (uint32_t)key & (SLOTS - 1), id;
	struct slot *mine = NULL;

	for (unsigned i = 0; i < PROBES && !(e & 1); i++, at = (at + 1) & (SLOTS - 1)) {
		found = atomic_load(&slots[at].key);
		if (!found && atomic_compare_exchange_strong(&slots[at].key, &found, key)) {
			atomic_fetch_add(&n_taken, 1);
			mine = &slots[at];
			break;
		}
		if (found != key)
			continue;
		id = atomic_load(&slots[at].id);
		if (id && atomic_load(&epoch) == e)
			return id;
		if (!id)
			mine = &slots[at]; /* whoever claimed it is at it, or has failed: both ids
					      hold */
		break;
	}
	id = atomic_fetch_add(&next_id, 1);
	if (!define(t, id, frame->code, ret_drop)) {
		/* the claim stays without an id: whoever comes next defines it, and stores its own
		 */
		return 0;
	}
	if (mine && atomic_load(&epoch) == e)
		atomic_store(&mine->id, id);
	empty_if_full();
	return id;
}
