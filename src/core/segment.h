/*
 * segment.h - the file through which an agent hands records to the collector.
 *
 * One process has one or more segments, `<pid>-<start>-<n>.seg` in the session folder, each
 * fallocated before it is mapped. A segment is a header page and FAH_CHUNKS chunks; a thread owns
 * a chunk and appends to it alone, so writing needs no lock and leaves no holes:
 *
 *   +--------+---------------------+---------------------+--- - -
 *   | header | chunk 0: head|recs  | chunk 1: head|recs  |
 *   +--------+---------------------+---------------------+--- - -
 *
 * Chunk states: FREE -> OWNED (a thread, by compare and swap) -> FULL (its owner, when the next
 * record does not fit) or IDLE (its owner ended; another thread may go on in it) -> FREE (the
 * collector, when all of it is drained). `used` is stored with release after each record: what lies
 * below it is whole, whatever kills the writer.
 */
#ifndef FAH_CORE_SEGMENT_H
#define FAH_CORE_SEGMENT_H

#include "core/histogram.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define FAH_PYTHONS "CPython 3.8 to 3.15"     /* what can be recorded */
#define FAH_SEGMENT_MAGIC 0x31474553484146ull /* "FAHSEG1\0" */
#define FAH_SEGMENT_VERSION 9
#define FAH_SEGMENT_HEAD 45056u
#define FAH_CHUNK_SIZE 32768u
#define FAH_CHUNKS 32u
#define FAH_SEGMENT_SIZE (FAH_SEGMENT_HEAD + FAH_CHUNKS * FAH_CHUNK_SIZE)
#define FAH_SEGMENTS_MAX 64u /* a process; beyond that samples are dropped and counted */
#define FAH_CMDLINE_MAX 1024u
#define FAH_REASON_MAX 256u
#define FAH_OWN_THREADS 4u /* threads of the agent's own that can be told, at a time */
/* How clone() makes them (sched.h has the names): a thread for which its maker stands still. No
 * library makes a thread so, and fork, vfork and posix_spawn make no thread. */
#define FAH_OWN_CLONE (CLONE_THREAD | CLONE_VFORK)
#define FAH_CLOCK_SLOTS 1000u /* threads that can have an event at a time */
#define FAH_CLOCK_VARIES 0.4  /* the part by which the rate of events is higher or lower at most */
#define FAH_NATIVE_STOPS 8u
#define FAH_LOG_TEXT_MAX 16384u /* bytes of a log record's message; its other texts are shorter */
#define FAH_FRAMES_MAX 16384u	/* .eh_frame sections that are registered at a time */
#define FAH_NATIVE_MAX 192u	/* native frames of a sample: the innermost ones */

enum fah_chunk_state {
	FAH_CHUNK_FREE = 0,
	FAH_CHUNK_OWNED = 1,
	FAH_CHUNK_FULL = 2,
	FAH_CHUNK_IDLE = 3,
};

struct fah_chunk {
	_Atomic uint32_t state;
	_Atomic uint32_t used;	  /* bytes of data[] that hold whole records */
	_Atomic uint32_t drained; /* the collector's: bytes of data[] it has taken */
	_Atomic uint32_t
		order; /* counts up with each taking: a thread's chunks in the order of time */
	uint8_t data[FAH_CHUNK_SIZE - 16];
};

enum fah_agent_status {
	FAH_AGENT_STARTING = 0,
	FAH_AGENT_RUNNING = 1,
	FAH_AGENT_REFUSED = 2, /* reason[] says why; nothing is recorded */
	FAH_AGENT_ENDED = 3,   /* the process ended in an orderly way */
	FAH_AGENT_STOPPED = 4, /* recorded up to a point; reason[] says why not further */
	FAH_AGENT_WENT_ON = 5, /* captures only: it was RUNNING when the recording ended */
};

enum fah_clock {
	FAH_CLOCK_THREAD_CPU = 1, /* timer on each thread's CPU clock, bound to the kernel tick */
	FAH_CLOCK_TEST = 2,	  /* tests only: monotonic timers, faster than the tick */
	FAH_CLOCK_PERF = 3,	  /* perf's task-clock, opened by the collector on each thread; the
				     thread's own timer until it comes */
	FAH_CLOCK_BOTH = 4, /* the same outside of the kernel only, and inside it the thread's timer
			       (agent/timers.c says why) */
};

/* The collector opens events on the threads, which ask for them in the head. */
static inline bool fah_clock_has_events(uint32_t clock)
{
	return clock == FAH_CLOCK_PERF || clock == FAH_CLOCK_BOTH;
}

/* Why a sample was not kept. 0..5 are enum fah_py_doubt; records carry the same numbers. */
enum fah_drop {
	FAH_DROP_FAULT = 1,
	FAH_DROP_FRAME = 2,
	FAH_DROP_CODE = 3,
	FAH_DROP_LOOP = 4,
	FAH_DROP_MOVED = 5,
	FAH_DROP_NO_ROOM =
		6,	     /* no chunk free: the collector is late or gone, or the disk is full */
	FAH_DROP_NESTED = 7, /* the timer came again while a sample was taken */
	FAH_DROP_NO_STATE = 8, /* the thread's Python state could not be found */
	FAH_DROP_COUNT = 9,
};

/* In the agent's own memory, for the collector to read: which .eh_frame are registered. */
struct fah_registered {
	_Atomic uint32_t n;		     /* none was ever used from there on */
	_Atomic uint64_t at[FAH_FRAMES_MAX]; /* addresses, with these bits; 0: free */
};
#define FAH_FRAMES_TABLE (1ull << 63)	  /* that of a list of addresses with a 0 behind */
#define FAH_FRAMES_KEPT_BACK (1ull << 62) /* nobody else was there to be told of it */
#define FAH_FRAMES_ADDRESS (FAH_FRAMES_KEPT_BACK - 1)

struct fah_segment_head {
	uint64_t magic;
	uint32_t version;
	uint32_t
		n; /* this process's n-th segment, from 0; counters and status stand in segment 0 */
	uint32_t pid, ppid;
	uint32_t forked;	 /* 1: made by fork without exec */
	uint32_t python_version; /* PY_VERSION_HEX; 0: not known yet */
	uint32_t clock;		 /* enum fah_clock */
	uint32_t lines_kind;	 /* enum fah_py_lines of this interpreter */
	uint64_t period_ns;
	uint64_t start_mono_ns, start_real_ns;
	_Atomic uint32_t status; /* enum fah_agent_status */
	_Atomic uint32_t closed; /* set by the collector: record no more */
	_Atomic uint64_t samples;
	_Atomic uint64_t recovered;
	_Atomic uint64_t drops[FAH_DROP_COUNT];
	_Atomic uint64_t handler_ns, handler_max_ns; /* time spent in the handler */
	/* Stored at an orderly end, with status ENDED: getrusage of the process alone. */
	uint64_t end_mono_ns, user_ns, system_ns, max_rss_kb;
	uint32_t cmdline_len;
	uint32_t pid_namespace; /* its inode; 0: not known. pid and ppid are those inside it */
	/* set by the collector: the number of the newest map of this process's code
	 * (native/map_file.h), 0: none; and, 32 bits up, `unloads` when it looked */
	_Atomic uint64_t map;
	/* the agent's: so often code was taken away, by dlclose() or the like */
	_Atomic uint32_t unloads;
	/* the agent's: so many .eh_frame were registered since recording began */
	_Atomic uint32_t registered;
	/* set by the collector: the share of the threads' CPU that handlers may use, in millionths;
	 * 0: the rate is as asked for */
	_Atomic uint32_t budget_ppm;
	/* native stacks by how they ended: enum fah_unwind_stop */
	_Atomic uint64_t native_stops[FAH_NATIVE_STOPS];
	char cmdline[FAH_CMDLINE_MAX]; /* NUL-separated, as in /proc */
	char reason[FAH_REASON_MAX];
	/* For who reads this process from outside; 0: not known. */
	uint64_t runtime;    /* address of _PyRuntime */
	uint64_t frames;     /* address of the process's struct fah_registered */
	uint32_t tid_offset; /* of the kernel's thread id in what pthread_self() points to */
	/* The thread that began recording, and what it had used before (not of a fork's child) */
	uint32_t first_tid;
	uint64_t first_cpu_ns, first_ready_ns;
	_Atomic uint64_t handlers[FAH_HIST_BUCKETS]; /* by the time they took: core/histogram.h */
	/* thread CPU by which samples came later than they were due: sum, longest, by length */
	_Atomic uint64_t gap_ns, gap_max_ns, gaps[FAH_HIST_BUCKETS];
	_Atomic uint64_t interval_sum_ns; /* the interval in force, added up over all handlers */
	/* perf's clock: what the agent asks of the collector, which has the events. The interval,
	 * 0: period_ns; and the threads that want an event. n_clocks: none was ever used from there
	 * on. */
	_Atomic uint64_t clock_interval_ns;
	/* Threads of the agent's own, which are none of the program's (apart.c): their ids stand
	 * here before they run, and until they are gone. */
	_Atomic uint32_t own_tids[FAH_OWN_THREADS];
	/* written by forks of this process, or of those below: they could make no segment */
	_Atomic uint32_t unrecorded;
	_Atomic uint32_t n_clocks;
	struct fah_clock_slot {
		_Atomic uint32_t wanted; /* the agent's: a tid, 0: no event */
		_Atomic uint32_t given;	 /* the collector's: the tid that has one, or gets it now */
		_Atomic uint32_t events; /* the agent's: signals of it that came */
		uint32_t spare;
		/* the collector's: the interval between events now, 0: it is being changed; and the
		 * CPU from one to the next on average, since each change cuts one short */
		_Atomic uint64_t interval_ns, stands_for_ns;
	} clocks[FAH_CLOCK_SLOTS];
	/* the collector's: its pid where it gives events; SIGURG makes it look at once */
	_Atomic uint32_t collector;
	/* the collector's: ns that a signal of perf's clock costs beyond its handler; 0: not known
	 */
	_Atomic uint32_t event_cost_ns;
	_Atomic uint64_t logs_lost; /* records for logs.log that there was no room for */
	_Atomic uint64_t told_ns;   /* CPU that it took to be told of calls that are counted */
};

_Static_assert(sizeof(struct fah_segment_head) <= FAH_SEGMENT_HEAD,
	       "segment header outgrew its page");
_Static_assert(sizeof(struct fah_chunk) == FAH_CHUNK_SIZE, "chunk size");

/*
 * Records in a chunk: u32 little-endian (payload length << 8 | type), then the payload of varints
 * (str = varint length + bytes). The first record after a thread takes a chunk is THREAD.
 */
enum fah_seg_record {
	/* tid, start (mono ns), name str; what follows in this chunk is this thread's; tid 0: the
	 * process's, not a thread's */
	FAH_SEG_THREAD = 1,
	/* id, firstlineno (zigzag), co_flags, filename str, name str, qualname str (may be empty),
	 * whole length of the line table, whose parts follow as CODE_LINES */
	FAH_SEG_CODE = 2,
	/* id, offset, a further part of the line table as str */
	FAH_SEG_CODE_LINES = 3,
	/* time since the chunk's last time (ns; the first: absolute mono ns), thread CPU since the
	 * thread's last record (ns), flags (enum fah_sample_flag), keep, push, push times { code
	 * id << 1 | entered from C, instr + 1 }: the stack is the first `keep` frames (from the
	 * root) of this chunk's last sample, then the pushed ones, root first. instr + 1 is 0 for a
	 * frame that has not started. With FAH_SAMPLE_SYSTEM_PART the kernel's part of the CPU (ns)
	 * stands before keep. Then, where the agent has a map of the process's code: its number,
	 * keep, push, push times { zigzag(x - the last pushed one's) }, x = address << 2 | 2: it
	 * is in code of CPython's JIT | 1: it is an evaluation loop by its place on the stack: the
	 * native stack, root first. */
	FAH_SEG_SAMPLE = 4,
	/* time and CPU as in SAMPLE, enum fah_drop: CPU that has no stack */
	FAH_SEG_DROP = 5,
	/* time as in SAMPLE, CPU since the thread's last record, whole CPU of the thread (ns): it
	   ended */
	FAH_SEG_THREAD_END = 6,
	/* time as in SAMPLE, loop (the program's count, from 1), number of the first of them (from
	 * 0), how many, their wall time and CPU (ns, added up), the sum of the squares of the wall
	 * times (0 where it is one), label str: iterations that the program marked */
	FAH_SEG_ITERATIONS = 7,
	/* time as in SAMPLE, level (Python's numbers; 0: a word of the agent's own), line, then
	 * str: the level's name, the logger's name or the warning's category, file, message,
	 * exception, stack: a log record or a warning */
	FAH_SEG_LOG = 8,
	/* time as in SAMPLE, code id of who was called, code id of who called (0: nobody), its
	 * instr + 1, how often since the last such record; starts of the caller in which all of its
	 * calls were counted, how many calls those were, and all its starts so far; starts of it
	 * before this call was met, while calls of that function were not counted; the same by
	 * starts of another function that this line's function calls: its code id (0: none),
	 * starts, calls, all its starts so far; calls that were not counted so far, by the turns
	 * of the loop that makes them (0: not known) */
	FAH_SEG_CALLS = 9,
	/* time as in SAMPLE, code id (0: all), 1: its calls are counted from now on, 0: no more;
	 * CPU of the process without what counting took (ns) */
	FAH_SEG_COUNTING = 10,
	/* time as in SAMPLE, code id of who was called, by whom (0: anybody; 1: nobody; else its
	 * code id + 1), calls, those of them that came while it ran already, zigzag(ns without what
	 * it called), zigzag(ns with it): what is new since the last such record. By anybody: of
	 * those only the recursive ones and the ns with what it called, the rest is the sum */
	FAH_SEG_TIMED = 11,
	/* time as in SAMPLE, code id, 1: marked in the program, then until the payload ends { line,
	 * hits, its time, of that what functions took that it called (ns) }: of lines of a function
	 * that is told line by line; all so far, so the last record of a line counts */
	FAH_SEG_LINES = 12,
	/* time as in SAMPLE, what telling a line costs (ns, taken off), functions, frames and lines
	 * that there was no room for, why no line is told str (empty: they are) */
	FAH_SEG_LINES_STATE = 13,
	/* time as in SAMPLE, number of the block among those recorded of its process (from 1),
	 * enum fah_memory, bytes asked for, bytes that the process holds (this block among them),
	 * the most it held so far; then as in SAMPLE from the flags on */
	FAH_SEG_ALLOC = 14,
	/* time as in SAMPLE, number of the block; held, most as in ALLOC: it is given back; 1: by
	 * the interpreter's own end */
	FAH_SEG_FREE = 15,
	/* time as in SAMPLE, then as in the capture's HEAP from the interval on */
	FAH_SEG_HEAP = 16,
	/* time as in SAMPLE, bytes, mean bytes between copies that are recorded; then as in SAMPLE
	 * from the flags on: a copy by memcpy or its like */
	FAH_SEG_COPY = 17,
	/* time as in SAMPLE, at the end of the batch; ns from its begin to that, 1: the program has
	 * ended at that end, number of the next block, bytes that the process held at the begin,
	 * the most that it held up to the end; count (two bytes: varint of at least 128), count
	 * times { own number - parent's (0: no parent), code id, instr + 1 }: nodes of stacks,
	 * which count from 1 in what the thread has written into this chunk; count, count times
	 * node (0: no Python): the batch's sites; then events (enum fah_blocks_event) up to the
	 * end: every block that the thread asked for or gave back */
	FAH_SEG_BLOCKS = 18,
};

/*
 * HEAP's interval, also in captures, where no byte is picked: every block is recorded; or every one
 * of malloc's and mmap's, and Python's small objects are its arenas.
 */
#define FAH_HEAP_EVERY 0u
#define FAH_HEAP_EVERY_MALLOC 1u
static inline bool fah_heap_is_every(uint64_t interval)
{
	return interval <= FAH_HEAP_EVERY_MALLOC;
}

/*
 * An event of a batch of blocks, also in captures: a varint, whose lowest bits say what it is. A
 * batch begins with FAH_BLOCKS_SHAPES empty places for shapes: site, kind and bytes.
 */
#define FAH_BLOCKS_SHAPES 256u
enum fah_blocks_event {
	/* ......00: a block, with the batch's next number, of the shape in place v >> 2 */
	/* .......1: given back is the block whose number is the next one less unzigzag(v >> 1) */
	/* the same, and before it a shape is put: place (one byte), site (its place among the
	 * batch's, from 0), bytes << 2 | enum fah_memory */
	FAH_BLOCKS_SHAPE = 2,
	FAH_BLOCKS_TIME = 6,   /* ns since the last such event, or the batch's begin */
	FAH_BLOCKS_OTHER = 10, /* zigzag(bytes): held changes by what is no recorded block */
};

/* Whose a block of memory is. Also in captures. */
enum fah_memory {
	FAH_MEMORY_PYTHON = 0, /* asked for by the interpreter's own allocators */
	FAH_MEMORY_NATIVE = 1, /* malloc and its like */
	FAH_MEMORY_MAPPED = 2, /* anonymous memory by mmap */
	FAH_MEMORY_COUNT = 3,
};

/* Plotting libraries whose show() is to return at once. */
enum fah_plots {
	FAH_PLOTS_MATPLOTLIB = 1,
	FAH_PLOTS_PLOTLY = 2,
	FAH_PLOTS_SEABORN = 4,
	FAH_PLOTS_BOKEH = 8,
	FAH_PLOTS_ALL = 15,
};

/* Where the thread was, in the low two bits; the rest are marks. Also in captures. */
enum fah_sample_flag {
	FAH_IN_PYTHON = 0,
	FAH_IN_NATIVE = 1,
	FAH_IN_SYSTEM = 2,
	FAH_IN_MASK = 3,
	FAH_SAMPLE_TRUNCATED = 4,  /* outer frames were left out */
	FAH_SAMPLE_RECOVERED = 8,  /* the newest frame was half made and is left out */
	FAH_SAMPLE_NO_PYTHON = 16, /* a thread without a Python state: native only */
	FAH_SAMPLE_RAN_ON =
		32, /* it never blocked since its last record: what is not CPU was want of a core */
	FAH_SAMPLE_IN_GC = 64, /* the garbage collector ran, called from the innermost frame */
	FAH_SAMPLE_SYSTEM_PART = 128, /* some of its CPU was the kernel's: how much follows */
	/* The innermost evaluation loop had gone over to machine code that CPython's JIT has made.
	 */
	FAH_SAMPLE_IN_JIT = 256,
	FAH_SAMPLE_FLAGS_MASK = 511,
	/* Not in captures. The innermost frame may be one that has ended, and what it holds is
	 * freed: the native frames have to say so. */
	FAH_SAMPLE_DYING = 512,
};

/* What a blocked thread waits for. Also in captures. */
enum fah_wait {
	FAH_WAIT_UNKNOWN = 0,
	FAH_WAIT_GIL = 1,
	FAH_WAIT_LOCK = 2,
	FAH_WAIT_SLEEP = 3,
	FAH_WAIT_DISK = 4,
	FAH_WAIT_SOCKET = 5,
	FAH_WAIT_PIPE = 6,
	FAH_WAIT_CHILD = 7,
	FAH_WAIT_TERMINAL = 8,
	FAH_WAIT_COUNT = 9,
#define FAH_WAIT_BITS 4
};

#endif
