/*
 * reader.h - read a capture. Tool side only; one thread per reader. All bytes are untrusted.
 */
#ifndef FAH_CAPTURE_READER_H
#define FAH_CAPTURE_READER_H

#include "capture/format.h"
#include "core/varint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fah_reader; /* opaque */

struct fah_record {
	enum fah_record_type type; /* may be one this version does not know */
	const uint8_t *payload;    /* borrowed, lives as long as the reader */
	uint32_t len;
	uint64_t offset; /* of the record in the file */
};

/*
 * Open the capture at path; where path does not exist but path.partial does, that one.
 * The caller owns *ret (fah_reader_free). FAH_ERR_SYS, FAH_ERR_FORMAT, FAH_ERR_VERSION.
 */
int fah_reader_new(const char *path, struct fah_reader **ret);
/* The same over bytes in memory, borrowed; for the fuzzer and for tests. */
int fah_reader_new_mem(const uint8_t *data, size_t len, struct fah_reader **ret);

/* 1: *ret_rec is the next whole record. 0: no more whole records; fah_reader_state says why. */
int fah_reader_next(struct fah_reader *r, struct fah_record *ret_rec);
void fah_reader_rewind(struct fah_reader *r);

struct fah_reader_state {
	bool partial;        /* read from a .partial file: the run did not end in an orderly way */
	bool complete;       /* an END record was seen */
	uint64_t good_bytes; /* up to here all records are whole */
	uint64_t lost_bytes; /* after that: cut or damaged */
};
void fah_reader_state(const struct fah_reader *r, struct fah_reader_state *ret);
void fah_reader_free(struct fah_reader *r); /* NULL is fine */

/* Decoders: 0, or FAH_ERR_DAMAGED and *ret is unspecified. str pointers are borrowed from the payload. */
struct fah_str {
	const char *p;
	uint32_t len;
};
struct fah_rec_function {
	uint32_t file, name, qualname, first_line;
};
struct fah_rec_process {
	uint32_t pid, ppid, forked, python_version, clock;
	uint64_t start_ns, period_ns;
	struct fah_str cmdline;
};
struct fah_rec_thread {
	uint32_t process, tid;
	uint64_t start_ns;
	struct fah_str name;
};
struct fah_rec_drops {
	uint32_t thread, reason;
	uint64_t time_ns, count, cpu_ns;
};
struct fah_rec_thread_end {
	uint32_t thread;
	uint64_t time_ns, cpu_ns;
};
struct fah_rec_process_end {
	uint32_t process, status, n_drops;
	uint64_t time_ns, user_ns, system_ns, max_rss_bytes, samples, recovered;
	uint64_t drops[16];
	struct fah_str reason;
};
struct fah_rec_end {
	uint64_t wall_ns, user_ns, system_ns, max_rss_bytes, lost_records, lost_bytes;
	uint32_t wait_status;
};
/* 1: the next pair of a META payload; 0: no more; FAH_ERR_DAMAGED. Start with c over the payload. */
int fah_decode_meta(struct fah_cursor *c, struct fah_str *ret_key, struct fah_str *ret_value);
int fah_decode_string(const struct fah_record *rec, struct fah_str *ret);
int fah_decode_function(const struct fah_record *rec, struct fah_rec_function *ret);
int fah_decode_process(const struct fah_record *rec, struct fah_rec_process *ret);
int fah_decode_thread(const struct fah_record *rec, struct fah_rec_thread *ret);
int fah_decode_drops(const struct fah_record *rec, struct fah_rec_drops *ret);
int fah_decode_thread_end(const struct fah_record *rec, struct fah_rec_thread_end *ret);
int fah_decode_process_end(const struct fah_record *rec, struct fah_rec_process_end *ret);
int fah_decode_end(const struct fah_record *rec, struct fah_rec_end *ret);

/* Blocks: open, then take one item at a time (inline, hot: 10 million samples a second and more). */
struct fah_nodes_block {
	struct fah_cursor c;
	uint32_t left;
};
struct fah_node_item {
	uint32_t distance, function, line;
};
int fah_nodes_open(const struct fah_record *rec, struct fah_nodes_block *ret);

struct fah_samples_block {
	struct fah_cursor c;
	uint32_t thread, left;
	uint64_t time_ns; /* of the last item taken; before the first: the base */
};
struct fah_sample_item {
	uint64_t time_ns, cpu_ns;
	uint32_t node, flags;
};
int fah_samples_open(const struct fah_record *rec, struct fah_samples_block *ret);

static inline bool fah_nodes_next(struct fah_nodes_block *b, struct fah_node_item *ret)
{
	if (!b->left)
		return false;
	b->left--;
	ret->distance = (uint32_t)fah_get_varint(&b->c);
	ret->function = (uint32_t)fah_get_varint(&b->c);
	ret->line = (uint32_t)fah_get_varint(&b->c);
	return !b->c.bad;
}

static inline bool fah_samples_next(struct fah_samples_block *b, struct fah_sample_item *ret)
{
	uint64_t dt, tail;
	int64_t cpu;

	if (!b->left)
		return false;
	b->left--;
	dt = fah_get_varint(&b->c);
	cpu = (int64_t)dt + fah_unzigzag(fah_get_varint(&b->c));
	tail = fah_get_varint(&b->c);
	b->time_ns += dt * 1000;
	ret->time_ns = b->time_ns;
	ret->cpu_ns = cpu > 0 ? (uint64_t)cpu * 1000 : 0;
	ret->node = (uint32_t)(tail >> 5);
	ret->flags = (uint32_t)(tail & 31);
	return !b->c.bad;
}

#endif
