/*
 * profile.h - a capture in memory, and every number that a view may show.
 *
 * Built from a capture only, so live and offline views agree. Tool side, one thread. All of a
 * profile lives in one arena; pointers into it are borrowed until fah_profile_free.
 */
#ifndef FAH_MODEL_PROFILE_H
#define FAH_MODEL_PROFILE_H

#include "capture/reader.h"
#include "core/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds of the run's time, by where the thread was. */
struct fah_times {
	double python, native, system, waiting;
};

struct fah_function {
	const char *file;  /* as the interpreter has it; never NULL */
	const char *name;  /* qualified where known */
	const char *plain; /* never qualified */
	uint32_t first_line;
	uint32_t file_id; /* index into files[] */
	uint32_t kind;	  /* enum fah_function_kind */
};

struct fah_node { /* a stack is a path of nodes up to node 0 */
	uint32_t parent, function, line;
};

/*
 * What a thread did with its life, in seconds of its own: cpu + ready + waited is wall, exactly.
 * waited_by adds up to waited; what was not seen is unknown (FAH_WAIT_UNKNOWN).
 */
struct fah_states {
	double wall_s, cpu_s;
	double ready_s; /* wanted a core and had none; 0 where the capture does not say */
	double waited_s, waited_by[FAH_WAIT_COUNT];
};

struct fah_thread {
	uint32_t process; /* index into fah_profile_processes */
	uint32_t tid;
	uint64_t start_ns, end_ns;
	const char *name;
	uint64_t cpu_ns;	 /* whole CPU of the thread, 0: unknown */
	uint64_t before_ns;	 /* of it: used before start_ns */
	uint64_t sampled_cpu_ns; /* CPU that samples account for */
	uint64_t dropped_cpu_ns; /* CPU of samples that were dropped */
	uint64_t samples;
	struct fah_states states;
};

/* A loop whose iterations the program marked (fixingahole.repeat). Seconds. */
struct fah_loop {
	uint32_t process; /* index into fah_profile_processes */
	uint64_t number;  /* as that counts them */
	const char *label;
	uint64_t count;	  /* iterations that ended, and were recorded */
	uint64_t missing; /* that were not, of those before the last that was */
	bool has_first;	  /* the first is known, and told apart: */
	double first_s, first_cpu_s;
	uint64_t rest; /* the others: how many, each on average */
	double mean_s, sd_s, mean_cpu_s;
};

#define FAH_DROPS_MAX 16

/* What the samples of a process cost it, and how well they came. */
struct fah_health {
	struct fah_hist handlers; /* CPU that each took */
	struct fah_hist gaps;	  /* thread CPU by which each came later than it was due */
	uint64_t interval_sum_ns; /* of the interval in force, over all handlers */
	uint64_t native_stops[FAH_NATIVE_STOPS]; /* native stacks by how they ended */
	uint64_t told_ns;			 /* CPU that counting calls took */
};
/* The duration in ns that a share q (0..1) of them does not exceed, to an eighth. */
double fah_hist_quantile(const struct fah_hist *h, double q);

struct fah_process {
	uint32_t pid, ppid, python_version;
	uint32_t status; /* enum fah_agent_status; STARTING where the capture does not say */
	uint32_t clock;	 /* enum fah_clock */
	bool forked;
	uint64_t period_ns; /* of thread CPU between samples, as the agent set it; 0: unknown */
	uint64_t start_ns, end_ns, user_ns, system_ns, max_rss_bytes;
	const char *cmdline;			   /* arguments joined with spaces */
	const char *reason;			   /* why it was refused; "" if it was not */
	double cpu_s;				   /* from the kernel, else of its threads */
	uint64_t samples, drops_by[FAH_DROPS_MAX]; /* as its agent counted */
	const struct fah_health *health;	   /* NULL: the capture does not say */
};

struct fah_profile; /* opaque; accessors below */

/*
 * Load everything from where the reader stands. A cut capture loads as far as it is whole. The
 * reader is not needed afterwards. FAH_ERR_NOMEM; the caller owns *ret (fah_profile_free).
 */
int fah_profile_load(struct fah_reader *reader, struct fah_profile **ret);
/* The same for who will go through the samples one by one (moments.h): the reader must outlive the
 * profile. */
int fah_profile_load_moments(struct fah_reader *reader, struct fah_profile **ret);
/* Likewise, for who wants time alone: blocks of memory, of which there may be billions, are not
 * read. */
int fah_profile_load_time(struct fah_reader *reader, struct fah_profile **ret);
void fah_profile_free(struct fah_profile *p); /* NULL is fine */

struct fah_totals {
	double wall_s;	     /* the run, from the kernel; from the samples where it was cut */
	double program_s;    /* from the first interpreter's readiness to its end, or wall_s */
	double cpu_s;	     /* user + system of the tree, from wait4; from samples where cut */
	double unseen_cpu_s; /* of cpu_s: before the agent started and after it ended, threads and
				children without Python */
	double absent_cpu_s; /* of cpu_s: short threads without a record, shared out over their like
			      */
	double on_cpu_s; /* part of wall_s in which a watched thread of the tree ran, or wanted a
			    core at a line that is known */
	/* Watched threads alive at the same time, at most; and the cores that were used on average
	 * while on_cpu_s lasted: never more than those, never below 1. */
	uint32_t threads_at_once;
	double cores;
	double idle_s;			  /* wall_s - on_cpu_s, of which: */
	double waited_s;		  /*   the main thread waited, in a place that is known */
	double ready_idle_s;		  /*   nobody ran for want of a core */
	double unknown_s;		  /*   neither is known; idle_s is the sum of the three */
	double waited_by[FAH_WAIT_COUNT]; /* waited_s by reason */
	double ready_s;			  /* part of wall_s in which a thread wanted a core and none
					     ran: ready_idle_s, and what lines that wanted the core have */
	double ran_s;			  /* of on_cpu_s: without the latter. ran_s, waited_s,
					     ready_s and unknown_s are wall_s */
	bool has_waits;			  /* the capture says what threads waited for */
	uint64_t max_rss_bytes;		  /* of the tree's largest process */
	uint64_t program_rss_bytes;	  /* of the first process, or max_rss_bytes */
	uint64_t samples, drops, recovered;
	uint64_t truncated; /* samples whose outer frames were left out */
	uint64_t in_jit;    /* Python samples in what CPython's JIT has made: lines are rougher */
	uint64_t samples_lost;		  /* taken by agents but not in the capture */
	uint64_t drops_by[FAH_DROPS_MAX]; /* by enum fah_drop */
	double dropped_cpu_s;
	double rate_asked, rate_reached; /* Hz of thread CPU; 0: unknown, or too few samples */
	double rate_lowered;	/* to it, for the budget or what handlers may take; 0: not */
	double budget_percent;	/* of a core, for all that recording costs; 0: none */
	bool budget_by_default; /* nobody asked for it */
	double handler_s;	/* CPU of the tree that handlers used */
	double told_s;		/* and that counting calls used */
	double collector_cpu_s; /* that the profiler used meanwhile; 0: unknown */
	double cost_share;	/* all together, of wall_s */
	double unprofiled_s;	/* estimate of program_s without them; 0: unknown */
	int wait_status;
	bool complete;	       /* the capture has its end */
	uint64_t lost_bytes;   /* cut off or damaged at the end of the file */
	uint64_t lost_records; /* not written for want of space */
	uint64_t bad_records;  /* whole by their checksum but with impossible contents: left out */
	uint32_t unsampled_threads; /* threads with CPU that no sample stands for */
	double unsampled_s;	    /* their part of on_cpu_s */
	double effective_samples;   /* (sum of weights)^2 / sum of squared weights */
	double interval_points; /* half width of the 95 % interval of the least certain share, in
				   points of wall_s */
};

const struct fah_totals *fah_profile_totals(const struct fah_profile *p);
const char *fah_profile_meta(const struct fah_profile *p, const char *key); /* NULL: not there */
uint64_t fah_profile_count(const struct fah_profile *p,
			   const char *key); /* of META; 0: not there */
const struct fah_process *fah_profile_processes(const struct fah_profile *p, size_t *ret_n);
const struct fah_thread *fah_profile_threads(const struct fah_profile *p, size_t *ret_n);
/* In the order of their first records. */
const struct fah_loop *fah_profile_loops(const struct fah_profile *p, size_t *ret_n);

/*
 * Which code a report blames: a file is inside when it lies below one of dirs[] and below none of
 * ignore[], by its name or by what its name resolves to. An entry that begins with '<' is the name
 * of a file that is none, whole: "<string>". With everything set, dirs[] don't matter: each sample
 * is charged to its innermost frame that is not below one of ignore[].
 */
struct fah_scope {
	const char *const *dirs;
	size_t n_dirs;
	const char *const *ignore;
	size_t n_ignore;
	const char *always; /* one file, absolute, that is inside wherever it lies; NULL: none */
	bool everything;
};

extern const struct fah_scope fah_scope_everything;

struct fah_line_cost {
	uint32_t line;
	uint32_t function; /* index for fah_profile_function */
	struct fah_times times;
	double waited_by[FAH_WAIT_COUNT]; /* times.waiting by reason */
};
struct fah_function_cost {
	uint32_t function;
	struct fah_times times;
	double waited_by[FAH_WAIT_COUNT]; /* times.waiting by reason */
	double collecting;		  /* of times: the garbage collector, called from here */
	double share;			  /* of wall, waiting included, 0..1 */
	double interval; /* half width of the 95 % interval of share; waiting is taken as known */
	uint64_t samples;
};
struct fah_file_cost {
	const char *path;    /* as the interpreter has it */
	const char *abspath; /* absolute, without "." and ".."; of "<string>" and the like: path */
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
	struct fah_times outside;   /* samples with no frame inside the scope */
	struct fah_times no_python; /* outside any Python frame: threads without Python, and the
				     interpreter's own start and end; waits with no stack */
	double unsampled_s;	    /* threads that no sample stands for */
	double collecting;	    /* of the functions: the garbage collector */
	double wall_s;
};

/*
 * Charge each sample to the innermost Python frame inside the scope: all numbers of summary and
 * line table come from here. Each moment of the run is divided among the threads that ran then, by
 * the CPU they used, or where none did among those that wanted a core, and is the main thread's
 * where it waited; so files + outside + no_python + unsampled is on_cpu_s + waited_s. Functions
 * that are not Python's are looked through. *ret belongs to the profile.
 */
int fah_profile_charge(struct fah_profile *p, const struct fah_scope *scope,
		       const struct fah_charges **ret);
/* Never NULL; an id that the capture does not define is "?". */
const struct fah_function *fah_profile_function(const struct fah_profile *p, uint32_t function);
/* Of its file: see struct fah_file_cost. */
const char *fah_profile_abspath(const struct fah_profile *p, uint32_t function);

/* Self and total seconds by function over whole stacks (recursion counted once), waiting included,
 * largest total first. Without others, only Python's functions are listed, and what others do is
 * the self time of the Python function that called them. *ret belongs to the profile. */
struct fah_function_total {
	uint32_t function;
	double self_s, total_s;
};
int fah_profile_function_totals(struct fah_profile *p, bool others,
				const struct fah_function_total **ret, size_t *ret_n);

/* All nodes, and the seconds that samples spent in exactly this stack; node 0 is "no stack". */
const struct fah_node *fah_profile_nodes(const struct fah_profile *p, size_t *ret_n);
struct fah_node_cost {
	double seconds[3]; /* by enum fah_sample_flag: FAH_IN_PYTHON, _NATIVE, _SYSTEM */
	double waiting; /* seconds of the run in which the main thread waited here, and none ran */
	uint64_t samples;
};
const struct fah_node_cost *fah_profile_node_costs(const struct fah_profile *p);

/* The waiting of the nodes by reason: by node, then by reason; each pair once. */
struct fah_wait_cost {
	uint32_t node, reason; /* enum fah_wait */
	double seconds;
};
const struct fah_wait_cost *fah_profile_waits(const struct fah_profile *p, size_t *ret_n);

/* How far a share (0..1), seen through n independent samples, may be from the truth: the farther
 * end of Wilson's 95 % interval. Never 0; 1 where n is 0. */
double fah_share_interval(double share, double n);

static inline double fah_times_sum(const struct fah_times *t)
{
	return t->python + t->native + t->system + t->waiting;
}

static inline double fah_node_cost_sum(const struct fah_node_cost *c)
{
	return c->seconds[0] + c->seconds[1] + c->seconds[2] + c->waiting;
}

#endif
