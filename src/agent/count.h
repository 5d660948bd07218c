/*
 * count.h - who calls whom, and how often: the files of the counting. CPython 3.12 and later.
 *
 * The interpreter tells of each function that begins (sys.monitoring, PY_START) by calling us, with
 * the GIL: so one thread at a time changes the table. Handlers of others read it meanwhile, to
 * write what is new into their chunks.
 */
#ifndef FAH_AGENT_COUNT_H
#define FAH_AGENT_COUNT_H

#include "agent/agent.h"
#include "agent/pyapi.h"

/* A code object that was met. */
struct fah_counted {
	uint64_t code;
	uint32_t version;    /* the interpreter's own count: no two code objects have the same */
	uint32_t id;	     /* the segment's; 0: not told yet */
	uint32_t first_edge; /* by which it is called: index + 1 */
	uint32_t first_out;  /* by which it calls what is called often: likewise */
	_Atomic uint64_t n;  /* calls */
	uint64_t at_on;	     /* of them, when all were last counted again, ... */
	uint64_t before_on;  /* ... and the time before */
	uint32_t since_on;   /* calls since it is counted again */
	bool inside;	     /* its calls are wanted */
	bool often;	     /* it was called often: its edges are in their callers' lists */
	bool off;	     /* they are too many: not counted now */
};

/* A line, or nobody, and whom it calls. */
struct fah_edge {
	uint64_t callee, at; /* code object; address of the calling instruction, 0: nobody */
	uint32_t callee_version, caller_version;
	uint32_t counted;  /* the callee: index */
	uint32_t caller;   /* id; 0: nobody */
	uint32_t instr;	   /* offset + 1; 0: not started */
	uint32_t next;	   /* of the same callee: index + 1 */
	uint32_t next_out; /* of the same caller, of those in its list */
	uint32_t from;	   /* the caller: index + 1 of its struct fah_counted; 0: nobody */
	bool inside;	   /* the caller is; else whoever called that one is looked for */
	_Atomic uint64_t n;
	/* By the starts of its caller; and by those of another function that the same caller calls,
	 * seldom: a main loop begins only once. */
	struct fah_paced {
		/* Between two starts all calls were counted: how many starts, how many calls. So
		 * the calls of later starts are known without being counted. */
		_Atomic uint64_t starts, calls;
		uint64_t at_start; /* n at the last start, ... */
		bool whole;	   /* ... and all were counted since */
		uint64_t starts_written, calls_written;
	} paced[2];
	uint32_t pacer;	 /* the edge to that other one: index + 1 */
	bool had_whole;	 /* since the callee is counted */
	uint32_t missed; /* starts of the caller before it was met, when the callee was not counted
			  */
	uint64_t written;
	_Atomic uint64_t passed; /* of a loop that goes on while its calls are not counted: so many
				  * in all, by its turns; 0: not known */
	uint32_t loop;		 /* count_loops.c's: index + 1 */
	bool away; /* its calls ceased to be counted there; the next one is to be told */
};

/* count_scope.c: whose calls are wanted. False: nobody asked for counts. */
bool fah_count_scope_read(void);
bool fah_count_scope_has(const char *file);

/* count_table.c. 0 or FAH_ERR_NOMEM. */
int fah_count_table_setup(void);
void fah_count_table_clear(void);
/* NULL: not met yet. at 0: called by nobody; caller_version then 0 too. */
struct fah_edge *fah_edge_find(uint64_t callee, uint32_t callee_version, uint64_t at,
			       uint32_t caller_version);
/* NULL: the table is full. Of a new one everything but its key is empty. */
struct fah_counted *fah_counted_get(uint64_t code, uint32_t version, bool *ret_new);
struct fah_counted *fah_counted_find(uint64_t code, uint32_t version); /* NULL: not met yet */
struct fah_edge *fah_edge_add(struct fah_counted *callee, uint64_t at, uint32_t caller_version);
struct fah_counted *fah_counted_at(uint32_t i); /* NULL beyond the last */
struct fah_edge *fah_edge_at(uint32_t i);
uint32_t fah_edge_index(const struct fah_edge *e);
uint32_t fah_counted_index(const struct fah_counted *c);
uint32_t fah_counted_number(void);
/* What is new of the calls of one, and the starts by which they are paced; not in a handler. */
void fah_count_write_edges(struct fah_thread_state *t, const struct fah_counted *callee);
/* What is new of some: called in handlers, so not of all at once. */
void fah_count_write_some(struct fah_thread_state *t, uint32_t most);

/* count_loops.c, with the GIL, in callbacks, for the newest frame's call. */
void fah_loops_setup(void);
void fah_loops_clear(void);
void fah_loops_check(struct fah_edge *e); /* in a loop of ours, twice: whether they can be read */
void fah_loop_begins(struct fah_edge *e); /* its calls are all counted; again: nothing new */
bool fah_loop_wants_more(const struct fah_edge *e); /* to know the calls of a turn */
void fah_loop_forget(struct fah_edge *e);	    /* they cease to be counted, elsewhere */
void fah_loop_left(struct fah_edge *e);		    /* from now on they are not */
void fah_loop_again(struct fah_edge *e);	    /* once they are, if it is away */
void fah_loops_sample(struct fah_thread_state *t, uint64_t now_ns); /* in a handler */
void fah_loops_end(void); /* nothing is counted any more; not in a handler */

/* What callbacks and their start share (count.c); but for `on` with the GIL only. */
struct fah_counting {
	_Atomic bool on; /* counting was begun */
	long tool;	 /* our id among those of sys.monitoring */
	fah_object *disable, *restart;
	uint64_t n_told, probe_ns; /* calls that were told, and what one costs */
	uint64_t new_ns;	   /* what calls took that were new */
	uint64_t cpu_ns;	   /* of the process, when it was last asked for */
	_Atomic bool untold; /* in a fork's child functions are off that no record says so of */
	bool measuring;	     /* that, at the start ... */
	bool measured_off;   /* ... and what it costs without */
	bool checking;	     /* before that: whether loops can be read */
	bool met_new;	     /* a function began for the first time */
};
extern struct fah_counting fah_counting;

/* count_edges.c, with the GIL, in callbacks. */
bool fah_count_setup(void);    /* false: no memory */
uint64_t fah_count_work(void); /* the CPU that the program used for itself */
/* From now on calls of it (id 0: of all) are counted, or not. */
void fah_count_write_state(struct fah_thread_state *t, uint32_t id, bool counted);
void fah_count_tell_unknown(struct fah_thread_state *t); /* also in handlers */
/* By whom the newest frame, of this code, was called. NULL: its calls are not counted. */
struct fah_edge *fah_edge_of_call(uint64_t code);
/* Into its caller's list. What a function calls of itself says nothing of how often that is. */
void fah_edge_list(const struct fah_counted *callee, struct fah_edge *e);

/* count.c */
/* The callback, of PY_START: args are the code object and an offset. */
fah_object *fah_count_call(fah_object *self, fah_object *const *args, long n);
void fah_count_forked(void);			 /* in a fork's child */
void fah_count_tick(struct fah_thread_state *t); /* in a handler, after its sample */
void fah_count_end(void);			 /* what is not written yet; not in a handler */

/* count_start.c, at the start of recording, with the GIL; does nothing where counts are not wanted
 * or cannot be had. */
void fah_count_start(void);

#endif
