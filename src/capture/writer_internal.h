/*
 * writer_internal.h - a writer's insides, for writer*.c and copy.c.
 */
#ifndef FAH_CAPTURE_WRITER_INTERNAL_H
#define FAH_CAPTURE_WRITER_INTERNAL_H

#include "base/map.h"
#include "base/strbuf.h"
#include "capture/sink.h"
#include "core/varint.h"

#define FAH_BLOCK_BYTES 4096u
#define FAH_ITEM_MAX (5 * FAH_VARINT_MAX)
#define FAH_BLOCK_HEAD_MAX (4 * FAH_VARINT_MAX)

struct block {
	uint8_t *buf; /* FAH_BLOCK_BYTES, made at the first item */
	size_t len;
	uint32_t count;
};

struct thread {
	struct block block, waits;
	uint64_t waits_base_ns, waits_time_ns;
	uint64_t base_ns, time_ns; /* of the block; of its last sample, as a reader will have it */
	uint64_t cpu_rest_ns;	   /* less than 1 us, so that the sum over samples is right */
	uint64_t system_rest_ns;   /* the same of the kernel's part */
	uint64_t usual_us;	   /* of the block */
	uint64_t last_us, next_usual_us; /* CPU that came twice in a row: the next block's usual */
	uint32_t next_dirty;		 /* list of threads with samples waiting, ended by 0 */
	bool dirty;
};

struct fah_writer {
	struct fah_sink sink;
	struct fah_strmap strings;
	struct fah_map functions, nodes;
	struct fah_map processes, thread_ids;
	struct block node_block;
	uint32_t n_strings, n_functions, n_nodes, n_processes, n_threads;
	struct thread *threads; /* by id - 1 */
	size_t cap_threads;
	uint32_t first_dirty, last_dirty;
};

/* No line lies beyond 2^30. Only functions without a qualified name have a module. */
static inline struct fah_key fah_function_key(uint32_t file, uint32_t name, uint32_t qualname,
					      uint32_t first_line, uint32_t kind, uint32_t module)
{
	return fah_key_u32x4(file, name, qualname ^ module, first_line ^ kind << 30);
}

static inline struct fah_key fah_process_key(uint32_t pid, uint64_t start_ns)
{
	return (struct fah_key){pid, start_ns};
}

static inline struct fah_key fah_thread_key(uint32_t process, uint32_t tid, uint64_t start_ns)
{
	return (struct fah_key){(uint64_t)process << 32 | tid, start_ns};
}

/* A payload with up to 1 MB of text in it; a failure of memory is the sink's to count. */
void fah_payload_number(struct fah_strbuf *sb, uint64_t v);
void fah_payload_list(struct fah_strbuf *sb, const uint64_t *numbers, size_t n);
void fah_payload_text(struct fah_strbuf *sb, const char *s, size_t len);
#define fah_payload_numbers(sb, ...) \
	fah_payload_list((sb), (const uint64_t[]){__VA_ARGS__}, \
			 sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
/* The record, and the payload is empty again. false: no memory. */
bool fah_writer_send(struct fah_writer *w, enum fah_record_type type, struct fah_strbuf *payload);

/* Room for one more item, NULL: no memory. The caller sends the block when it is full. */
uint8_t *fah_block_room(struct block *b);
void fah_block_send(struct fah_writer *w, struct block *b, enum fah_record_type type,
		    const uint8_t *head, size_t head_len);
/* Definitions stand before their use: before a record that names nodes. */
void fah_writer_send_nodes(struct fah_writer *w);
/* The blocks of all threads that have some, and the nodes. */
void fah_writer_send_all(struct fah_writer *w);

/* A place for the next thread's samples; false: no memory. */
bool fah_writer_thread_room(struct fah_writer *w);

#endif
