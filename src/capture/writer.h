/*
 * writer.h - write a capture. Tool side, one thread per writer.
 *
 * The file grows as `<path>.partial` and gets its name when it is finished, so nothing half-written
 * ever stands under the final name; a killed run leaves the partial file, which the reader opens.
 * When the disk is full the writer cuts back to the last whole record, counts what it loses and
 * goes on: no call fails the run.
 */
#ifndef FAH_CAPTURE_WRITER_H
#define FAH_CAPTURE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fah_record;
struct fah_writer; /* opaque */

struct fah_write_loss {
	uint64_t records, bytes; /* not written for want of space; each sample counts one record */
	int error;		 /* errno of the first failure, 0: none */
};

/*
 * FAH_ERR_EXISTS: path is a folder or a symlink; FAH_ERR_SPECIAL: a device. FAH_ERR_SYS: errno
 * (EBUSY: another run is writing to the same path). A regular file at path is replaced, at
 * fah_writer_finish; one at path.partial, which an earlier run left, at once. The caller owns *ret
 * (fah_writer_free).
 */
int fah_writer_new(const char *path, struct fah_writer **ret);

/* Whether anything was lost for want of space, or waits for it, after a flush. */
bool fah_writer_lost(const struct fah_writer *w);

/*
 * A record of another capture as it is, but for its END; called for all of them in order, on a
 * writer that has written nothing yet. Definitions keep their ids, so what is written afterwards
 * goes on from there.
 */
void fah_writer_copy(struct fah_writer *w, const struct fah_record *rec);

void fah_writer_meta(struct fah_writer *w, const char *key, const char *value);

/*
 * Definitions return their id; 0: no memory, or an id among the arguments that was never given out.
 * They intern: the same arguments give the same id, written before anything that uses it. Processes
 * are the same by pid and start, threads by process, tid and start.
 */
uint32_t fah_writer_string(struct fah_writer *w, const char *s, size_t len);
uint32_t fah_writer_function(struct fah_writer *w, uint32_t file, uint32_t name, uint32_t qualname,
			     uint32_t first_line);
/* Not a Python function: kind is an enum fah_function_kind, file a module's path or 0. */
uint32_t fah_writer_other_function(struct fah_writer *w, uint32_t file, uint32_t name,
				   uint32_t kind);
/* A native function whose source is known: file is that, module the path of what it is in. */
uint32_t fah_writer_native_function(struct fah_writer *w, uint32_t file, uint32_t name,
				    uint32_t module);
uint32_t fah_writer_node(struct fah_writer *w, uint32_t parent, uint32_t function, uint32_t line);

struct fah_process_def {
	uint32_t pid, ppid, forked, python_version, clock;
	uint64_t start_ns, period_ns;
	const char *cmdline; /* NUL-separated, borrowed */
	size_t cmdline_len;
};
uint32_t fah_writer_process(struct fah_writer *w, const struct fah_process_def *def);
uint32_t fah_writer_thread(struct fah_writer *w, uint32_t process, uint32_t tid, uint64_t start_ns,
			   const char *name, size_t name_len);

/* Samples of a thread in time order; buffered until a block is full or fah_writer_flush. */
void fah_writer_sample(struct fah_writer *w, uint32_t thread, uint64_t time_ns, uint64_t cpu_ns,
		       uint32_t flags, uint32_t node);
/* The same of which system_ns of the CPU were the kernel's; flags has FAH_SAMPLE_SYSTEM_PART. */
void fah_writer_sample_part(struct fah_writer *w, uint32_t thread, uint64_t time_ns,
			    uint64_t cpu_ns, uint64_t system_ns, uint32_t flags, uint32_t node);
/* Waits of a thread in time order: of the length_ns before time_ns it was blocked waited_ns, in
 * node, for reason (enum fah_wait). Buffered as samples are. */
void fah_writer_wait(struct fah_writer *w, uint32_t thread, uint64_t time_ns, uint64_t length_ns,
		     uint64_t waited_ns, uint32_t reason, uint32_t node);
/* The thread's CPU, and how long it was ready without a core, both up to time_ns. */
void fah_writer_states(struct fah_writer *w, uint32_t thread, uint64_t time_ns, uint64_t cpu_ns,
		       uint64_t ready_ns);
void fah_writer_drops(struct fah_writer *w, uint32_t thread, uint64_t time_ns, uint32_t reason,
		      uint64_t count, uint64_t cpu_ns);
void fah_writer_thread_end(struct fah_writer *w, uint32_t thread, uint64_t time_ns,
			   uint64_t cpu_ns);
/* The same with what the thread itself knows of its start; before_ns of its CPU came earlier. */
void fah_writer_thread_life(struct fah_writer *w, uint32_t thread, uint64_t time_ns,
			    uint64_t cpu_ns, uint64_t start_ns, uint64_t before_ns);

struct fah_process_end {
	uint32_t process, status;
	uint64_t time_ns, user_ns, system_ns, max_rss_bytes, samples, recovered;
	uint64_t drops[16]; /* by enum fah_drop */
	const char *reason; /* borrowed; "" if none */
};
void fah_writer_process_end(struct fah_writer *w, const struct fah_process_end *end);

/* What the samples of a process cost; see struct fah_rec_health. */
struct fah_rec_health;
void fah_writer_health(struct fah_writer *w, const struct fah_rec_health *health);

/* Iterations of a loop; see struct fah_rec_iterations. label is a string's id. */
struct fah_rec_iterations;
void fah_writer_iterations(struct fah_writer *w, const struct fah_rec_iterations *it);

/* Calls that were counted, and when they are. Ids are of w; others are ignored. */
struct fah_rec_calls;
void fah_writer_calls(struct fah_writer *w, const struct fah_rec_calls *calls);
struct fah_rec_counting;
void fah_writer_counting(struct fah_writer *w, const struct fah_rec_counting *c);
struct fah_rec_timed;
void fah_writer_timed(struct fah_writer *w, const struct fah_rec_timed *t);
/* Lines with all that is in lines->rest, as FAH_REC_LINES has them. */
struct fah_rec_lines;
void fah_writer_lines(struct fah_writer *w, const struct fah_rec_lines *lines);
struct fah_rec_lines_state;
void fah_writer_lines_state(struct fah_writer *w, const struct fah_rec_lines_state *state);

/* Blocks of memory; ids are of w, others are ignored. */
struct fah_rec_alloc;
void fah_writer_alloc(struct fah_writer *w, const struct fah_rec_alloc *a);
struct fah_rec_free;
void fah_writer_free_block(struct fah_writer *w, const struct fah_rec_free *f);
struct fah_rec_blocks;
void fah_writer_blocks(struct fah_writer *w, const struct fah_rec_blocks *b, const uint32_t *nodes);
struct fah_rec_heap;
void fah_writer_heap(struct fah_writer *w, const struct fah_rec_heap *h);
struct fah_rec_copy;
void fah_writer_copied(struct fah_writer *w, const struct fah_rec_copy *c);
struct fah_rec_memory;
void fah_writer_memory(struct fah_writer *w, const struct fah_rec_memory *m);

struct fah_run_end {
	uint64_t wall_ns, user_ns, system_ns, max_rss_bytes;
	uint32_t wait_status; /* as wait4 gives it */
};

/* All buffered records to the file (no fsync). Call it once a second: a kill loses no more. */
void fah_writer_flush(struct fah_writer *w);

/* Write END, give the file its name. FAH_ERR_SYS, or FAH_ERR_EXISTS where something came in the way
 * meanwhile: the partial file stays. *ret_loss is always set. */
int fah_writer_finish(struct fah_writer *w, const struct fah_run_end *end,
		      struct fah_write_loss *ret_loss);
/* Without finish the partial file stays. NULL is fine. */
void fah_writer_free(struct fah_writer *w);

#endif
