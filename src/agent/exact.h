/*
 * exact.h - every call, its time and its caller (`calls`): the files of it.
 *
 * The interpreter tells of each call by calling us, with the GIL: by sys.monitoring since 3.12, as
 * the thread's profile function before. Each thread has its own stack and table (core/kept.h), so
 * nothing on the hot path is shared. Times are those of the processor's clock, minus what telling
 * costs.
 */
#ifndef FAH_AGENT_EXACT_H
#define FAH_AGENT_EXACT_H

#include "agent/agent.h"
#include "agent/event_clock.h"
#include "agent/kept.h"
#include "agent/pyapi.h"

/* A call that runs. */
struct fah_exact_frame {
	struct fah_exact_call *call;
	uint64_t key;	      /* as told: the call may stand for several */
	int64_t begun, below; /* ticks: when, and what was spent in calls of its own */
};

/* What a thread has; taken over by another when it ended. */
struct fah_exact_thread {
	struct fah_exact_frame *top, *frames, *end;
	int64_t taken;		       /* ticks that telling took so far */
	_Atomic int64_t slowed;	       /* and what samples have found since: exact_slow.c */
	int64_t due;		       /* ticks: a look at the machine's speed, and */
	int64_t write_due;	       /* what is new is written */
	bool told;		       /* a call of a Python function, which begins next */
	struct fah_exact_call **slots; /* of mask + 1 */
	uint64_t mask, n_calls;
	struct fah_exact_called *all; /* the last one first */
	struct fah_exact_called **called_slots;
	uint64_t called_mask, n_called;
	struct fah_exact_call *calls;	 /* room: what is left of it ... */
	struct fah_exact_called *called; /* ... likewise */
	uint32_t calls_left, called_left;
	struct fah_exact_block *blocks;		  /* of calls, to go through them */
	struct fah_exact_called *nobody, *others; /* those beside the functions */
	struct fah_exact_call root;
	_Atomic uint32_t used, writing;
};

/* What telling costs, in ticks: what a call adds to its caller's time, and what to its own. */
struct fah_exact_cost {
	int64_t to_caller, to_callee;
};

struct fah_exact_costs {
	struct fah_exact_cost call;   /* a Python function, by Python code */
	struct fah_exact_cost quiet;  /* likewise, at a place that is switched off */
	struct fah_exact_cost from_c; /* likewise, by code of C */
	struct fah_exact_cost resume; /* a generator */
	struct fah_exact_cost c_call; /* a function of C */
	/* those that the interpreter has instructions of their own for, but not while it tells */
	struct fah_exact_cost len, isinstance, append;
	/* each of the two times it is told of what is no call of either kind: of a type; of two
	 * that have such instructions too */
	int64_t unknown, str, type;
};

struct fah_exacting {
	_Atomic bool on;
	_Atomic bool attention; /* callbacks are to look before they do anything: exact_attend */
	bool forked;		/* the tables are the parent's */
	bool raw;		/* what telling costs is left in */
	bool children;		/* forks and what they start are recorded too */
	bool measuring;
	long tool;		      /* of sys.monitoring; -1: the profile function */
	struct fah_exact_costs costs; /* as the machine runs now */
	int64_t second;		      /* ticks of one, about */
	_Atomic uint64_t bytes;	      /* of all tables and stacks */
};
extern struct fah_exacting fah_exacting;

/* exact.c: events, on the hot path; with the GIL. What the interpreter calls. */
fah_object *fah_exact_on_start(fah_object *self, fah_object *const *args, long n);
fah_object *fah_exact_on_resume(fah_object *self, fah_object *const *args, long n);
fah_object *fah_exact_on_return(fah_object *self, fah_object *const *args, long n);
fah_object *fah_exact_on_call(fah_object *self, fah_object *const *args, long n);
fah_object *fah_exact_on_c_return(fah_object *self, fah_object *const *args, long n);
int fah_exact_on_profile(fah_object *self, const void *frame, int what, fah_object *arg);
bool fah_exact_events_setup(void); /* false: something of the C API is missing */
/* A call begins now; there is room for it. */
void fah_exact_push(struct fah_exact_thread *t, struct fah_exact_call *c, uint64_t key);
void fah_exact_end_open(struct fah_exact_thread *t); /* all calls that run end now */

/* exact_table.c */
extern _Thread_local __attribute__((
	tls_model("initial-exec"),
	visibility("hidden"))) struct fah_exact_thread *fah_exact_mine; /* NULL: none yet */
struct fah_exact_thread *fah_exact_thread_new(void);			/* NULL: no memory */
/* Met for the first time, or the one that stands for all that there is no room for. of: the
 * function object of one of C's, else NULL. */
struct fah_exact_call *fah_exact_call_new(struct fah_exact_thread *t,
					  struct fah_exact_called *caller, uint64_t key,
					  uint32_t version, fah_object *of);
bool fah_exact_deeper(struct fah_exact_thread *t);	  /* false: no room for a further frame */
void fah_exact_thread_end(void);			  /* by the thread itself */
struct fah_exact_thread *fah_exact_thread_at(uint32_t i); /* NULL beyond the last */
/* In a fork's child, with the GIL: only what runs now is kept, and begins now. */
void fah_exact_start_anew(void);
void fah_exact_clear(struct fah_exact_thread *t); /* all times and counts are 0 */

/* Code that is made anew all the time comes to one place again and again: the version counts. */
static inline uint64_t fah_exact_slot(const struct fah_exact_called *caller, uint64_t key,
				      uint32_t version)
{
	uint64_t x = ((uintptr_t)caller >> 4) * 0x9e3779b97f4a7c15ull ^
		     (key >> 4) * 0xd6e8feb86659fd93ull ^ version * 0xff51afd7ed558ccdull;

	return x ^ x >> 29;
}

/* exact_names.c: a function of C, as cProfile names it; in the segment. 0: not now. */
uint32_t fah_exact_c_id(struct fah_thread_state *t, uint64_t method_def, fah_object *function);

/* exact_write.c: what is new; by the thread itself, or by who ends the process. */
void fah_exact_write(struct fah_exact_thread *t);
void fah_exact_write_left(void); /* of threads that ended; with the GIL */
void fah_exact_end(void);	 /* of all threads, at the end of the process */

/* exact_start.c: at the start of recording, with the GIL; does nothing where it was not asked for.
 */
void fah_exact_start(void);
void fah_exact_note(const char *text); /* for people, where calls are not told; the first */
bool fah_exact_listen(bool on);	       /* events come, or not. False: refused */
void fah_exact_forked(void);	       /* in a fork's child */
bool fah_exact_attend(void); /* with the GIL, in a callback: a fork, an end. False: do nothing */
/* Of a program that wants our tool's number: another one, where there is one. */
void fah_exact_move(long wanted);
/* Before 3.12: threads that are new get our profile function too. */
void fah_exact_other_threads(void);

/* exact_sites.c: places that need not be told of. */
bool fah_exact_sites_setup(void); /* false: all are */
/* A Python function is called, as the CALL event's arguments say: what to return for it. */
fah_object *fah_exact_site(struct fah_exact_thread *t, fah_object *const *args);
void fah_exact_sites_again(void); /* all are told again */
void fah_exact_sites_stop(void);  /* and from now on; another tool comes */

/* Of a function of C's, by its definition. */
const struct fah_exact_cost *fah_exact_cost_of_c(uint64_t method_def);
/* exact_measure.c: what telling costs. False: calls are not told as they should be. */
bool fah_exact_measure(void);
void fah_exact_pace(void); /* costs are as the machine runs now; with the GIL */

/* exact_slow.c: of the time in the evaluation loop that part is not there when nobody is told. */
void fah_exact_slow_start(double part);
/* In a handler: its thread was at pc, and has used cpu_ns since the last one; the handler, own_ns.
 */
void fah_exact_tick(uint64_t pc, uint64_t cpu_ns, uint64_t own_ns);

#endif
