/*
 * profile.h - a capture in memory, and every number that a view may show.
 *
 * Built from a capture only, so live and offline views agree. Tool side, one thread. All of a
 * profile lives in one arena; pointers into it are borrowed until fah_profile_free.
 */
#ifndef FAH_MODEL_PROFILE_H
#define FAH_MODEL_PROFILE_H

#include "capture/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds of the run's time, by where the thread was. */
struct fah_times {
	double python, native, system;
};

struct fah_function {
	const char *file;     /* as the interpreter has it; never NULL */
	const char *name;     /* qualified where known */
	uint32_t first_line;
	uint32_t file_id;     /* index into files[] */
};

struct fah_node { /* a stack is a path of nodes up to node 0 */
	uint32_t parent, function, line;
};

struct fah_thread {
	uint32_t process, tid;
	uint64_t start_ns, end_ns;
	const char *name;
	uint64_t cpu_ns;         /* whole CPU of the thread, 0: unknown */
	uint64_t sampled_cpu_ns; /* CPU that samples account for */
	uint64_t dropped_cpu_ns; /* CPU of samples that were dropped */
	uint64_t samples;
};

struct fah_process {
	uint32_t pid, ppid, python_version, status; /* status: enum fah_agent_status */
	bool forked;
	uint64_t start_ns, end_ns, user_ns, system_ns, max_rss_bytes;
	const char *cmdline; /* arguments joined with spaces */
	const char *reason;  /* why it was refused; "" if it was not */
};

struct fah_profile; /* opaque; accessors below */

/* Load everything. A cut capture loads as far as it is whole. FAH_ERR_*; the caller frees *ret. */
int fah_profile_load(struct fah_reader *reader, struct fah_profile **ret);
void fah_profile_free(struct fah_profile *p); /* NULL is fine */

struct fah_totals {
	double wall_s;            /* the run, from the kernel; from the samples where it was cut */
	double cpu_s;             /* user + system of the tree, from wait4; from samples where cut */
	double on_cpu_s;          /* part of wall_s in which something of the tree ran */
	double idle_s;            /* wall_s - on_cpu_s: waiting, or no core */
	uint64_t max_rss_bytes;   /* of the tree's largest process */
	uint64_t samples, drops, recovered;
	uint64_t drops_by[16];
	double rate_asked, rate_reached; /* Hz of thread CPU; 0: unknown */
	int wait_status;
	bool complete; /* the capture has its end */
	uint64_t lost_bytes;   /* cut off or damaged at the end of the file */
	uint64_t lost_records; /* not written for want of space */
	int unsampled_threads; /* threads with CPU but without a sample */
	double unsampled_s;
	double interval_points; /* half width of the 95 % interval of a 50 % share, in points */
};

const struct fah_totals *fah_profile_totals(const struct fah_profile *p);
const char *fah_profile_meta(const struct fah_profile *p, const char *key); /* NULL: not there */
const struct fah_process *fah_profile_processes(const struct fah_profile *p, size_t *ret_n);
const struct fah_thread *fah_profile_threads(const struct fah_profile *p, size_t *ret_n);

/*
 * Which code a report blames: a file is inside when it lies below one of dirs[] and below none of
 * ignore[]. With everything set, each sample is charged to its innermost frame.
 */
struct fah_scope {
	const char *const *dirs;
	size_t n_dirs;
	const char *const *ignore;
	size_t n_ignore;
	bool everything;
};

struct fah_line_cost {
	uint32_t line;
	uint32_t function; /* index for fah_profile_function */
	struct fah_times times;
};
struct fah_function_cost {
	uint32_t function;
	struct fah_times times;
	double share;    /* of wall, 0..1 */
	double interval; /* half width of the 95 % interval of share */
	uint64_t samples;
};
struct fah_file_cost {
	const char *path; /* as the interpreter has it */
	struct fah_times times;
	struct fah_line_cost *lines; /* by line number */
	size_t n_lines;
	struct fah_function_cost *functions; /* by first line */
	size_t n_functions;
};
struct fah_charges {
	struct fah_file_cost *files; /* dearest first */
	size_t n_files;
	struct fah_function_cost *functions; /* dearest first */
	size_t n_functions;
	struct fah_times outside; /* samples with no frame inside the scope */
	struct fah_times no_python; /* threads without Python frames */
	double wall_s;
};

/*
 * Charge each sample to the innermost frame inside the scope: all numbers of summary and line table come
 * from here. Each moment of the run is divided among the threads that ran then, by the CPU they
 * used, so the sum over everything is on_cpu_s. *ret belongs to the profile.
 */
int fah_profile_charge(struct fah_profile *p, const struct fah_scope *scope,
		       const struct fah_charges **ret);
const struct fah_function *fah_profile_function(const struct fah_profile *p, uint32_t function);

/* Self and total seconds by function over whole stacks (recursion counted once). */
struct fah_function_total {
	uint32_t function;
	double self_s, total_s;
};
int fah_profile_function_totals(struct fah_profile *p, const struct fah_function_total **ret, size_t *ret_n);

#endif
