/*
 * kept.h - what a process counts in memory of its own, in a file, so that it outlives the process.
 *
 * Calls and lines are counted in tables, and written as records now and then. A process that is
 * killed, or that becomes another program, has no chance to write the last of them; each worker of
 * a multiprocessing.Pool ends so. Hence the tables lie in a file beside the segments,
 * `<pid>-<start>-0.kept`, named as the process's first segment; when the process is gone the
 * collector takes what they hold and no record said.
 *
 *   +------+-------+------+-------+--- - -
 *   | head | table | head | table |          each allocated before it is mapped, by itself
 *   +------+-------+------+-------+--- - -
 *
 * Tables point to each other by addresses of the process: a head says where its table stood. All of
 * it is untrusted: the program could write there.
 */
#ifndef FAH_CORE_KEPT_H
#define FAH_CORE_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#define FAH_KEPT_MAGIC 0x3154504b484146ull /* "FAHKPT1\0" */
#define FAH_KEPT_PAGE 4096u		   /* heads stand at multiples of it */

enum fah_kept {
	FAH_KEPT_CALLED = 1, /* struct fah_exact_called, as many as there is room for */
	FAH_KEPT_CALLS = 2,  /* struct fah_exact_block */
	FAH_KEPT_LINES = 3,  /* struct fah_lines_kept with its lines, one behind the other */
};

struct fah_kept_head {
	uint64_t magic; /* stored last */
	uint64_t size;	/* of head and table, with what is left of the last page */
	uint64_t address;
	double ns_a_tick; /* of the clock that times are counted by */
	uint32_t kind;	  /* enum fah_kept */
	uint32_t unused[7];
};
_Static_assert(sizeof(struct fah_kept_head) == 64, "tables begin at a line of the cache");

/* A function in one thread's table; id 0 and no key: nobody, who called what began. */
struct fah_exact_called {
	uint64_t key;	     /* its code object, or the PyMethodDef of one of C's; 0: all others */
	uint32_t version;    /* of the code object: another may come to its place; 0: not known */
	uint32_t id;	     /* the segment's; 0: not told yet */
	uint32_t level;	     /* so often it runs now */
	bool starts_threads; /* of C: a thread may have come by it */
	bool takes_tool;     /* of C: the program may want the number of our tool */
	bool replaces_us;    /* of C: before 3.12 it sets another profile function */
	bool changed;	     /* since it was written */
	uint64_t recursive;  /* calls while it ran already, and */
	int64_t total;	     /* ticks with what it called: since written */
	const struct fah_exact_cost *cost; /* of C: what telling of it costs */
	struct fah_exact_call *last;	   /* that it made: loops call the same again */
	struct fah_exact_called *next;	   /* of all in the table */
};

/* Calls of it by one other. 64 bytes: one line of the cache. */
struct fah_exact_call {
	uint64_t key;
	struct fah_exact_called *caller, *callee;
	uint32_t version, level;
	uint64_t calls, recursive; /* and ticks, all since written */
	int64_t self, total;
};
_Static_assert(sizeof(struct fah_exact_call) == 64, "a line of the cache");

/* Calls are handed out from these; they stay where they are. */
#define FAH_EXACT_BLOCK 1023u
struct fah_exact_block {
	struct fah_exact_block *next;
	uint32_t n, unused[13];
	struct fah_exact_call calls[FAH_EXACT_BLOCK];
};

struct fah_line {
	uint64_t hits;
	int64_t ticks, called; /* of its time, what was spent in functions that it called */
};

/* Lines of a code object, all so far. */
struct fah_lines_kept {
	uint32_t n;	 /* lines that follow; 0: none was put from here on */
	uint32_t id;	 /* the segment's, of the code; 0: its lines stand elsewhere by now */
	int32_t base;	 /* the first one's number */
	uint32_t marked; /* in the program */
	struct fah_line lines[];
};

#endif
