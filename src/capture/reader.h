/*
 * reader.h - read a capture. Tool side only; one thread per reader. All bytes are untrusted.
 */
#ifndef FAH_CAPTURE_READER_H
#define FAH_CAPTURE_READER_H

#include "capture/format.h"
#include "core/segment.h"
#include "core/varint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fah_reader; /* opaque */

struct fah_record {
	enum fah_record_type type; /* may be one this version does not know */
	const uint8_t *payload;	   /* borrowed, lives as long as the reader */
	uint32_t len;
	uint64_t offset;  /* of the record in the file */
	uint32_t version; /* of the file's format */
};

/*
 * Open the capture at path; where path does not exist but path.partial does, that one. A file cut
 * within its head, also an empty one, opens and has no records. The file is read into memory: what
 * happens to it later does not matter. The caller owns *ret (fah_reader_free). FAH_ERR_SYS,
 * FAH_ERR_FORMAT, FAH_ERR_VERSION, FAH_ERR_NOMEM.
 */
int fah_reader_new(const char *path, struct fah_reader **ret);
/* The same over bytes in memory, borrowed; for the fuzzer and for tests. */
int fah_reader_new_mem(const uint8_t *data, size_t len, struct fah_reader **ret);

/* 1: *ret_rec is the next whole record. 0: no more whole records; fah_reader_state says why. */
int fah_reader_next(struct fah_reader *r, struct fah_record *ret_rec);
void fah_reader_rewind(struct fah_reader *r);

/* Of what was read so far; whole once fah_reader_next has given 0. */
struct fah_reader_state {
	bool partial;  /* read from a .partial file: the run did not end in an orderly way */
	bool complete; /* an END record was seen */
	bool cut;      /* what is lost ends in the middle of a record; else a checksum is wrong */
	uint64_t good_bytes; /* up to here all records are whole */
	uint64_t lost_bytes; /* after that: cut or damaged; 0 until the end is reached */
};
void fah_reader_state(const struct fah_reader *r, struct fah_reader_state *ret);
/* The path that was opened (maybe the .partial); "" for memory. Borrowed. */
const char *fah_reader_path(const struct fah_reader *r);
uint32_t fah_reader_version(const struct fah_reader *r);
void fah_reader_free(struct fah_reader *r); /* NULL is fine */

/* Decoders: 0, or FAH_ERR_DAMAGED and *ret is unspecified. str pointers are borrowed from the
 * payload. */
struct fah_str {
	const char *p;
	uint32_t len;
};
struct fah_rec_function {
	uint32_t file, name, qualname, first_line;
	uint32_t kind;	 /* enum fah_function_kind */
	uint32_t module; /* of a native function whose file is its source; 0: file is the module */
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
	uint64_t start_ns;  /* better than THREAD's; UINT64_MAX: not said */
	uint64_t before_ns; /* of cpu_ns, before start_ns */
};
struct fah_rec_process_end {
	uint32_t process, status, n_drops;
	uint64_t time_ns, user_ns, system_ns, max_rss_bytes, samples, recovered;
	uint64_t drops[16]; /* of which n_drops are there; the rest is 0 */
	struct fah_str reason;
};
struct fah_rec_states {
	uint32_t thread;
	uint64_t time_ns, cpu_ns, ready_ns;
};
/* Durations by their length; count is the sum of the buckets. */
struct fah_hist {
	uint64_t count, sum_ns, max_ns;
	uint64_t buckets[FAH_HIST_BUCKETS];
};
struct fah_rec_health {
	uint32_t process;
	uint64_t interval_sum_ns;
	struct fah_hist handlers, gaps;
	uint64_t native_stops[FAH_NATIVE_STOPS];
	uint64_t told_ns; /* that it took to be told of calls that are counted */
};
/* Iterations of a loop that the program marked; one, or several that were short. */
struct fah_rec_iterations {
	uint32_t thread, label;	  /* label: a string's id */
	uint64_t loop;		  /* as its process counts, from 1 */
	uint64_t first, count;	  /* numbers first to first + count - 1, from 0 */
	uint64_t time_ns;	  /* the end of the last */
	uint64_t wall_ns, cpu_ns; /* added up */
	uint64_t squares;	  /* of the wall times, added up; 0 where count is 1 */
};
/* Calls of one function by another, since the last such record. */
struct fah_rec_calls {
	uint32_t process, function, caller, line; /* caller 0: nobody; line: of the call */
	uint32_t place;				  /* tells calls of one line apart */
	uint64_t time_ns, count;
	/* starts of the caller, and of another function that it calls, between which all calls were
	 * counted */
	struct fah_paced_calls {
		uint32_t function; /* of the other; 0: none */
		uint64_t starts, calls;
		uint64_t total; /* starts so far, between which all calls were counted or not */
	} by_caller, by_other;
	uint64_t missed; /* starts of the caller before this call was met, with no call counted */
	uint64_t passed; /* calls that were not counted, so far, by the turns of the loop that makes
			  * them; 0: not known */
};
/* From time_ns on calls of a function (0: of all) are counted, or not. */
struct fah_rec_counting {
	uint32_t process, function, on;
	uint64_t time_ns, work_ns; /* CPU of the process so far, without what counting took */
};
/* Calls that were told one by one, since the last such record. */
struct fah_rec_timed {
	uint32_t process, function, caller; /* caller 0: nobody */
	bool whole; /* by anybody: only what is no sum of those by callers */
	uint64_t calls, recursive;
	int64_t self_ns, total_ns;
};
/* Lines that were told one by one: fah_lines_next takes them. */
struct fah_rec_lines {
	uint32_t process, function, code;
	uint32_t marked; /* in the program, by profile() */
	uint64_t time_ns;
	struct fah_cursor rest;
};
struct fah_rec_line {
	uint32_t line;
	uint64_t hits, ns, called_ns;
};
struct fah_rec_lines_state {
	uint32_t process;
	uint64_t time_ns, line_ns, lost_functions, lost_frames, lost_lines;
	struct fah_str why; /* empty: lines were told */
};
/* A block of memory that was recorded, and when it was given back. */
struct fah_rec_alloc {
	uint32_t thread, node;
	uint32_t kind; /* enum fah_memory, or one of a later version */
	uint64_t time_ns, block, bytes;
	uint64_t held, most; /* by the process, then and up to then */
};
struct fah_rec_free {
	uint32_t process;
	uint32_t ending; /* 1: by the interpreter's own end */
	uint64_t time_ns, block, held, most;
};
/* Every block that a thread asked for or gave back in some time. */
struct fah_rec_blocks {
	uint32_t thread;
	uint32_t ending;	  /* 1: when it was written, the program had ended */
	uint64_t time_ns, age_ns; /* its end; from its begin to that */
	uint64_t first;		  /* number of its first block */
	uint64_t held, most;	  /* by the process: at the begin; up to the end */
	uint32_t n_sites;
	struct fah_cursor sites;  /* nodes; all can be read */
	struct fah_cursor events; /* for fah_blocks_next */
};
/* All memory of a process, counted block by block. */
struct fah_rec_heap {
	uint32_t process;
	uint64_t time_ns, interval;    /* mean bytes between recorded blocks; 0: all are */
	uint64_t before;	       /* held when the program began */
	uint64_t python, native, most; /* held, and the most so far */
	uint64_t lost;		       /* blocks that could not be recorded */
	uint64_t copied;
};
/* A copy that was recorded. */
struct fah_rec_copy {
	uint32_t thread, node;
	uint64_t time_ns, bytes, interval; /* interval: as in struct fah_rec_heap */
};
/* Memory as the kernel counts it: of a process, or of the machine. */
#define FAH_MEMORY_UNKNOWN UINT64_MAX
#define FAH_MEMORY_NO_LIMIT (UINT64_C(1) << 62) /* and more */
struct fah_rec_memory {
	uint32_t process; /* 0: the machine; those of the other kind are FAH_MEMORY_UNKNOWN */
	uint64_t time_ns;
	uint64_t resident, swapped, high; /* high: the most that was resident so far */
	uint64_t total, available;
	uint64_t used, cache, limit, kills; /* of the control group */
};
struct fah_rec_end {
	uint64_t wall_ns, user_ns, system_ns, max_rss_bytes, lost_records, lost_bytes;
	uint32_t wait_status;
};
/* 1: the next pair of a META payload; 0: no more; FAH_ERR_DAMAGED. Start with c over the payload.
 */
int fah_decode_meta(struct fah_cursor *c, struct fah_str *ret_key, struct fah_str *ret_value);
int fah_decode_string(const struct fah_record *rec, struct fah_str *ret);
int fah_decode_function(const struct fah_record *rec, struct fah_rec_function *ret);
int fah_decode_process(const struct fah_record *rec, struct fah_rec_process *ret);
int fah_decode_thread(const struct fah_record *rec, struct fah_rec_thread *ret);
int fah_decode_drops(const struct fah_record *rec, struct fah_rec_drops *ret);
int fah_decode_thread_end(const struct fah_record *rec, struct fah_rec_thread_end *ret);
int fah_decode_process_end(const struct fah_record *rec, struct fah_rec_process_end *ret);
int fah_decode_end(const struct fah_record *rec, struct fah_rec_end *ret);
int fah_decode_states(const struct fah_record *rec, struct fah_rec_states *ret);
int fah_decode_health(const struct fah_record *rec, struct fah_rec_health *ret);
/* count is at least 1, and first + count does not overflow */
int fah_decode_iterations(const struct fah_record *rec, struct fah_rec_iterations *ret);
int fah_decode_calls(const struct fah_record *rec, struct fah_rec_calls *ret);
int fah_decode_counting(const struct fah_record *rec, struct fah_rec_counting *ret);
int fah_decode_timed(const struct fah_record *rec, struct fah_rec_timed *ret);
int fah_decode_lines(const struct fah_record *rec, struct fah_rec_lines *ret);
/* 1: the next; 0: no more; FAH_ERR_DAMAGED. */
int fah_lines_next(struct fah_rec_lines *lines, struct fah_rec_line *ret);
int fah_decode_lines_state(const struct fah_record *rec, struct fah_rec_lines_state *ret);
int fah_decode_alloc(const struct fah_record *rec, struct fah_rec_alloc *ret);
int fah_decode_free(const struct fah_record *rec, struct fah_rec_free *ret);
int fah_decode_blocks(const struct fah_record *rec, struct fah_rec_blocks *ret);
int fah_decode_heap(const struct fah_record *rec, struct fah_rec_heap *ret);
int fah_decode_copy(const struct fah_record *rec, struct fah_rec_copy *ret);
int fah_decode_memory(const struct fah_record *rec, struct fah_rec_memory *ret);

/* Blocks: open, then take one item at a time (inline, hot: 10 million samples a second and more).
 */
struct fah_nodes_block {
	struct fah_cursor c;
	uint32_t left;
};
struct fah_node_item {
	uint32_t distance, function, line;
};
/* FAH_ERR_DAMAGED where the payload is too short for its count. */
int fah_nodes_open(const struct fah_record *rec, struct fah_nodes_block *ret);

struct fah_samples_block {
	struct fah_cursor c;
	uint32_t thread, left;
	uint64_t usual_us;
	uint64_t time_ns; /* of the last item taken; before the first: the base */
	bool v1;	  /* of a file of version 1 */
};
struct fah_sample_item {
	uint64_t time_ns, cpu_ns;
	uint64_t system_ns; /* of cpu_ns, with FAH_SAMPLE_SYSTEM_PART; else 0 */
	uint32_t node, flags;
};
int fah_samples_open(const struct fah_record *rec, struct fah_samples_block *ret);

struct fah_waits_block {
	struct fah_cursor c;
	uint32_t thread, left;
	uint64_t time_ns; /* as in fah_samples_block */
};
struct fah_wait_item {
	uint64_t time_ns, length_ns, waited_ns; /* waited_ns <= length_ns */
	uint32_t node, reason; /* reason: enum fah_wait, or one of a later version */
};
int fah_waits_open(const struct fah_record *rec, struct fah_waits_block *ret);
/* As fah_samples_next; not hot. */
bool fah_waits_next(struct fah_waits_block *b, struct fah_wait_item *ret);

/* The 7-bit groups of up to 8 bytes of a varint, moved together. */
static inline uint64_t fah_squeeze(uint64_t x)
{
	x &= 0x7f7f7f7f7f7f7f7full;
	x = (x & 0x007f007f007f007full) | (x & 0x7f007f007f007f00ull) >> 1;
	x = (x & 0x00003fff00003fffull) | (x & 0x3fff00003fff0000ull) >> 2;
	return (x & 0x000000000fffffffull) | (x & 0x0fffffff00000000ull) >> 4;
}

/*
 * Three varints. Their lengths are hard to foresee, so where all lie within 8 bytes, as nearly
 * always, they are taken without a branch on them; near the end of the payload one by one.
 */
static inline void fah_get_varint3(struct fah_cursor *c, uint64_t v[3])
{
	uint64_t x, first, second, third;
	unsigned n1, n2, n3; /* bits up to the end of each */

	if (c->end - c->p >= 8) {
		memcpy(&x, c->p, 8);
		first = ~x & 0x8080808080808080ull;
		second = first & (first - 1);
		third = second & (second - 1);
		if (third) {
			n1 = (unsigned)__builtin_ctzll(first) + 1;
			n2 = (unsigned)__builtin_ctzll(second) + 1;
			n3 = (unsigned)__builtin_ctzll(third) + 1;
			c->p += n3 / 8;
			v[0] = fah_squeeze(x & ((1ull << n1) - 1));
			v[1] = fah_squeeze(x >> n1 & ((1ull << (n2 - n1)) - 1));
			v[2] = fah_squeeze(x >> n2 & ((1ull << (n3 - n2)) - 1));
			return;
		}
	}
	v[0] = fah_get_varint(c);
	v[1] = fah_get_varint(c);
	v[2] = fah_get_varint(c);
}

/* Nothing that a capture counts in us lasts longer: 2^48 us are nine years. */
#define FAH_US_MAX (1ull << 48)

/* false: no more, or the block is damaged there (b->c.bad). */
static inline bool fah_nodes_next(struct fah_nodes_block *b, struct fah_node_item *ret)
{
	uint64_t v[3];

	if (!b->left)
		return false;
	b->left--;
	fah_get_varint3(&b->c, v);
	if ((v[0] | v[1] | v[2]) >> 32)
		b->c.bad = true;
	ret->distance = (uint32_t)v[0];
	ret->function = (uint32_t)v[1];
	ret->line = (uint32_t)v[2];
	return !b->c.bad;
}

_Static_assert(FAH_SHORT_RAN_ON << 3 == FAH_SAMPLE_RAN_ON, "moved by as much");
/* What few samples have: item's flags and system_ns where they stand outside of word. */
void fah_samples_more(struct fah_samples_block *b, struct fah_sample_item *item, uint64_t word);

static inline bool fah_samples_next(struct fah_samples_block *b, struct fah_sample_item *ret)
{
	uint64_t v[3], cpu, dt;

	if (!b->left)
		return false;
	b->left--;
	fah_get_varint3(&b->c, v);
	cpu = b->usual_us + (uint64_t)fah_unzigzag(v[0]);
	dt = cpu + (uint64_t)fah_unzigzag(v[1]);
	if ((cpu | dt) >= FAH_US_MAX || v[2] >> 32 >> FAH_SHORT_BITS)
		b->c.bad = true;
	b->time_ns += dt * 1000;
	ret->time_ns = b->time_ns;
	ret->cpu_ns = cpu * 1000;
	ret->node = (uint32_t)(v[2] >> FAH_SHORT_BITS);
	ret->flags = (uint32_t)(v[2] & FAH_SHORT_IN) | (uint32_t)(v[2] & FAH_SHORT_RAN_ON) << 3;
	ret->system_ns = 0;
	if (__builtin_expect(b->v1 || v[2] & FAH_SHORT_MORE, 0))
		fah_samples_more(b, ret, v[2]);
	return !b->c.bad;
}

#endif
