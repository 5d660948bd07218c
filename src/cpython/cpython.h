/*
 * cpython.h - all that is known about CPython's memory, as pure functions over bytes.
 *
 * Runs in the agent's signal handler, in the collector (another process's memory) and in tests
 * (an image): so no allocation, no libc beyond memcpy/memcmp/memset, no Python headers, no global
 * state. Every byte read is untrusted: each load may fail, each loop is bounded by a FAH_PY_MAX_.
 */
#ifndef FAH_CPYTHON_CPYTHON_H
#define FAH_CPYTHON_CPYTHON_H

#include "core/varint.h"
#include "core/load.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAH_PY_MAX_FRAMES 2048	  /* kept of one stack: the innermost ones */
#define FAH_PY_MAX_WALK 200000	  /* frames followed at all */
#define FAH_PY_MAX_THREADS 100000 /* thread states followed */
#define FAH_PY_MAX_INTERPRETERS 1000
#define FAH_PY_NOT_STARTED UINT32_MAX /* struct fah_py_frame.instr: no instruction yet */

/* How a version stores the lines of a code object. */
enum fah_py_lines {
	FAH_PY_LINES_LNOTAB = 1, /* 3.8, 3.9 */
	FAH_PY_LINES_310 = 2,	 /* 3.10: co_linetable of PEP 626 */
	FAH_PY_LINES_311 = 3,	 /* 3.11+: locations with columns */
};

/* Offsets and facts of one CPython build; from the generated table or from _Py_DebugOffsets. */
struct fah_py_layout; /* defined in cpython/layout.h */

/*
 * The layout for a build: PY_VERSION_HEX of the running interpreter, and the address of its
 * `_PyRuntime` (used from 3.13 on, where the interpreter describes itself; that table is checked
 * as untrusted input). FAH_ERR_UNKNOWN_PYTHON: too old, too new, free-threaded or not credible.
 */
int fah_py_layout_init(struct fah_py_layout *ret, const struct fah_mem *mem, uint32_t version_hex,
		       uint64_t runtime_addr);

/* The thread state whose thread_id is pthread_id (pthread_self()). 0, FAH_ERR_DOUBT: none found. */
int fah_py_find_thread(const struct fah_mem *mem, const struct fah_py_layout *layout,
		       uint64_t runtime_addr, uint64_t pthread_id, uint64_t *ret_tstate);

/* All thread states, each with its thread_id, at most max; how many. What changes meanwhile may be
 * missing or stale: check each with fah_py_thread_is. */
struct fah_py_thread {
	uint64_t tstate, pthread_id;
};
size_t fah_py_list_threads(const struct fah_mem *mem, const struct fah_py_layout *layout,
			   uint64_t runtime_addr, struct fah_py_thread *ret, size_t max);

/* Whether tstate still is the state of that thread: cheap, for each sample. */
bool fah_py_thread_is(const struct fah_mem *mem, const struct fah_py_layout *layout,
		      uint64_t tstate, uint64_t pthread_id);

/* An interrupted thread: who it is, and where its C stack is. */
struct fah_py_who {
	uint64_t pthread_id; /* pthread_self() */
	uint64_t pc;
	uint64_t sp, stack_end; /* what is in use of its C stack; the end may lie beyond it */
	const uint64_t *regs;	/* its registers, n_regs of them, in any order */
	uint32_t n_regs;
};

/*
 * The state in which that thread runs, also among several interpreters. *tstate: the answer of last
 * time, or 0; on success the answer, 0: this thread has none. Cheap while there is one interpreter.
 * FAH_ERR_DOUBT: the lists could not be read, or it has several and none is proved.
 */
int fah_py_running(const struct fah_mem *mem, const struct fah_py_layout *layout,
		   uint64_t runtime_addr, const struct fah_py_who *who, uint64_t *tstate);

struct fah_py_frame {
	uint64_t code;	/* address of the code object; its type was checked */
	uint32_t instr; /* byte offset of the current instruction in co_code, or FAH_PY_NOT_STARTED
			 */
	uint32_t entry; /* nonzero: C code called this frame (a boundary between eval loops) */
	uint64_t ident; /* changes when a freed code object's address is used by another one */
};

/* Why a walk was given up; the order is the order of the counters in reports. */
enum fah_py_doubt {
	FAH_PY_DOUBT_NONE = 0,
	FAH_PY_DOUBT_FAULT = 1, /* a pointer led nowhere */
	FAH_PY_DOUBT_FRAME = 2, /* a frame outside the data stack, or not tiling it */
	FAH_PY_DOUBT_CODE = 3,	/* an executable that is no code object */
	FAH_PY_DOUBT_LOOP = 4,	/* a chain without end */
	FAH_PY_DOUBT_MOVED = 5, /* outside reading: the thread ran on meanwhile */
	FAH_PY_DOUBT_COUNT = 6,
};

/*
 * One thread's walk with its scratch memory and what it remembers of its last walk (a hint for
 * batching, never trusted). About 150 kB; lives as long as the thread; zero it before first use.
 */
struct fah_py_walk; /* defined in cpython/walk.h */

/*
 * The Python stack of tstate, innermost first, into walk->frames[0..walk->n_frames). Own thread
 * (interrupted) or a stopped or blocked one. 0: proved, may be empty (n_frames 0: no Python frame).
 * FAH_ERR_DOUBT: not proved, walk->doubt says why, drop the sample. walk->truncated: outer frames
 * beyond FAH_PY_MAX_FRAMES were left out, or are not known: 3.9 has none above a generator that
 * waits while something is thrown into it. walk->leaf_call: the innermost frame's current
 * instruction is a call, so C code is running on its behalf. walk->recovered: the newest frame was
 * half made, and the stack is its caller's.
 */
int fah_py_walk_thread(struct fah_py_walk *walk, const struct fah_mem *mem,
		       const struct fah_py_layout *layout, uint64_t tstate);

/*
 * The same by plain loads, for the calling thread alone, where chain.h lets it. walk->leaf_call,
 * recovered and c_entry are not told. FAH_ERR_DOUBT: only fah_py_walk_thread can tell.
 */
int fah_py_walk_here(struct fah_py_walk *walk, const struct fah_py_layout *layout, uint64_t tstate);

/* What is worth keeping of a code object: addresses, to be read with fah_py_read_*. */
struct fah_py_code {
	uint64_t filename, name, qualname; /* str objects; qualname 0 before 3.11 */
	uint64_t linetable;		   /* bytes object */
	int32_t firstlineno;
	uint32_t flags; /* co_flags */
};

int fah_py_code_read(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t code,
		     struct fah_py_code *ret);

/*
 * A code object's texts in words, for whoever has no access to its memory: file, name and qualified
 * name behind one another in text, which has FAH_PY_TEXT_ROOM bytes; and where its line table is.
 */
#define FAH_PY_MAX_FILE 4095u
#define FAH_PY_MAX_NAME 1023u
#define FAH_PY_TEXT_ROOM (FAH_PY_MAX_FILE + 2 * FAH_PY_MAX_NAME)
#define FAH_PY_MAX_TABLE (1u << 20) /* longest line table kept; longer ones are left out */
struct fah_py_described {
	uint32_t n_file, n_name, n_qualname;
	int32_t firstlineno;
	uint32_t flags;
	uint64_t lines; /* address of the line table's bytes */
	size_t n_lines;
};
int fah_py_describe(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t code,
		    char *text, struct fah_py_described *ret);
/* That as the payload of a CODE record of a segment (core/segment.h), at most FAH_PY_CODE_PAYLOAD
 * bytes; its end. */
#define FAH_PY_CODE_PAYLOAD(d) ((size_t)(d)->n_file + (d)->n_name + (d)->n_qualname + 80)
uint8_t *fah_py_code_put(uint8_t *p, uint32_t id, const struct fah_py_described *d,
			 const char *text);

/*
 * A str object as UTF-8 into buf (not terminated), cut at a character boundary where cap is
 * short. The length, or a negative enum fah_err. Lone surrogates become U+FFFD.
 */
int fah_py_read_str(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t str,
		    char *buf, size_t cap);

/* A bytes object's address of data and size; FAH_ERR_RANGE above max. */
int fah_py_bytes_span(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t bytes,
		      size_t max, uint64_t *ret_data, size_t *ret_len);

struct fah_py_position {
	int32_t line;		    /* 0: none */
	int32_t end_line;	    /* = line where the table has no columns */
	int32_t column, end_column; /* bytes, from 0; -1: unknown */
};

/* The source position of an instruction (byte offset or FAH_PY_NOT_STARTED). 0 or FAH_ERR_FORMAT.
 */
int fah_py_position(enum fah_py_lines kind, const uint8_t *table, size_t len, int32_t firstlineno,
		    uint32_t instr, struct fah_py_position *ret);

/* All places of a table of 3.11 or later, one after the other: instructions from..to (byte offsets)
 * stand there. 1, 0: no more, FAH_ERR_FORMAT. */
struct fah_py_places {
	struct fah_cursor c;
	int64_t line;
	uint64_t from, to;
};
#define FAH_PY_PLACES(table, len, firstlineno) \
	{ \
		{(table), (table) + (len), false}, (firstlineno), 0, 0 \
	}
int fah_py_places_next(struct fah_py_places *p, struct fah_py_position *ret);

/* The GIL's holder (a thread state, 0: free), and whether tstate's interpreter is collecting. */
int fah_py_gil_holder(const struct fah_mem *mem, const struct fah_py_layout *layout,
		      uint64_t runtime_addr, uint64_t *ret_tstate);
/* Where the GIL of tstate's interpreter (0: the main one) lies, with all that its threads wait on.
 */
int fah_py_gil_span(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t tstate,
		    uint64_t *ret_start, uint64_t *ret_end);
int fah_py_gc_collecting(const struct fah_mem *mem, const struct fah_py_layout *layout,
			 uint64_t tstate, bool *ret_collecting);

/* Where the interpreter's code for two things lies: from start up to, not including, end. */
#define FAH_PY_GC_SPANS 8
struct fah_py_span {
	uint64_t start, end;
};
struct fah_py_gc_code {
	struct fah_py_span eval; /* the evaluation loop */
	struct fah_py_span collect[FAH_PY_GC_SPANS];
	uint32_t n_collect; /* 0: not known, then nothing is told to be in the collector */
};

/*
 * Whether the interrupted thread, which runs in tstate, is in the garbage collector, called on
 * behalf of its innermost Python frame. False in Python code that the collector called (__del__,
 * callbacks).
 */
bool fah_py_in_gc(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t tstate,
		  const struct fah_py_who *who, const struct fah_py_gc_code *code);

#endif
