/*
 * format.h - the capture file (.fah): every record type and its bytes. doc/format.md draws them.
 *
 * Append-only. Definitions stand before their first use, so any prefix of a capture is a capture.
 * Numbers in payloads are varints (core/varint.h) unless said; str = varint length + UTF-8 bytes.
 * A reader skips record types and trailing payload bytes that it does not know.
 */
#ifndef FAH_CAPTURE_FORMAT_H
#define FAH_CAPTURE_FORMAT_H

#include <stdint.h>

#define FAH_CAPTURE_MAGIC "FAHCAP\r\n" /* a text-mode copy breaks the magic, not the data */
#define FAH_CAPTURE_VERSION \
	2 /* version 1, which is still read, had all flags beside the node, 6 bits */
#define FAH_CAPTURE_HEAD 16 /* magic[8], u32 version, u32 zero; little-endian */

/* Before each payload: u32 payload length, u32 CRC-32 of the type byte and the payload, u8 type. */
#define FAH_RECORD_HEAD 9
#define FAH_RECORD_MAX (16u << 20) /* longest payload a reader accepts */

enum fah_record_type {
	/* pairs of str key, str value until the payload ends: see enum-like names in doc/format.md
	 * (command, cwd, root, script, tool, host, kernel, start, clock, rate_asked, python,
	 * session, ...) */
	FAH_REC_META = 1,
	/* str; ids count from 1 in file order, 0 is "none" */
	FAH_REC_STRING = 2,
	/* file str-id, name str-id, qualname str-id (0: unknown), first line, enum
	 * fah_function_kind, module str-id (may be absent: 0); ids count from 1 */
	FAH_REC_FUNCTION = 3,
	/* count, then count times { parent node (id distance: this id - parent), function, line };
	 * node ids count from 1 in file order; distance = own id means parent 0 (the root) */
	FAH_REC_NODES = 4,
	/* pid, ppid, flags (1: forked without exec), PY_VERSION_HEX, start (ns since the run's
	 * start), command line str (NUL-separated), period ns, clock; ids count from 1 */
	FAH_REC_PROCESS = 5,
	/* process, tid, start (ns since the run's start), name str; ids count from 1 */
	FAH_REC_THREAD = 6,
	/* thread, count, base time (ns since the run's start), usual CPU (us), then count times
	 * { zigzag(CPU (us) since the thread's previous sample - usual), zigzag(time (us) since the
	 * previous sample - that CPU), node << 4 | FAH_SHORT_ flags; with FAH_SHORT_MORE all flags
	 * (core/segment.h enum fah_sample_flag), and with FAH_SAMPLE_SYSTEM_PART among them the
	 * kernel's part of that CPU (us) }. The CPU between samples is regular and the second
	 * number is the waiting, so a sample of a thread that computes takes 2 bytes and the node's
	 */
	FAH_REC_SAMPLES = 7,
	/* thread, time ns, enum fah_drop, count, CPU ns without a stack */
	FAH_REC_DROPS = 8,
	/* thread, time ns, whole CPU ns of the thread */
	FAH_REC_THREAD_END = 9,
	/* process, time ns, user ns, system ns, max RSS bytes, samples the agent took, recovered
	 * ones, FAH_DROP_COUNT, that many counts; 0 where unknown; status (enum fah_agent_status),
	 * reason str */
	FAH_REC_PROCESS_END = 10,
	/* wall ns, user ns, system ns (whole tree, from wait4), max RSS bytes of the tree's largest
	 * process, wait status, records lost for want of space (each sample of a lost block counts
	 * one), bytes lost */
	FAH_REC_END = 11,
	/* thread, count, base time (ns), then count times { end (us since the previous item's end;
	 * the first: since the base), length (us), of it not waited (us), node << 4 | reason
	 * (core/segment.h enum fah_wait) }: in the `length` before `end` the thread was blocked for
	 * all but `not waited`, there and for that reason. Seen from outside */
	FAH_REC_WAITS = 12,
	/* thread, time ns, CPU ns, ns ready to run without a core: both since the thread's start,
	 * from the kernel. What is neither is waiting */
	FAH_REC_STATES = 13,
	/* process; handlers, gaps: each sum ns, longest ns, count of buckets, that many counts
	 * (core/histogram.h; what is missing at the end is 0); ns of the intervals in force, added
	 * up over all handlers; count of kinds, that many native stacks by how they ended */
	FAH_REC_HEALTH = 14,
	/* thread, loop, label str-id, number of the first, count, time ns (the end of the last),
	 * wall ns, CPU ns, sum of the squares of the wall times (ns²; 0 where count is 1):
	 * iterations that the program marked, of a loop that its process counts so */
	FAH_REC_ITERATIONS = 15,
	/* process, time ns, function that was called, function that called (0: nobody), line of the
	 * call, its place (which tells calls of one line apart), how often since the last such
	 * record of the same; starts of the caller in which all of its calls were counted, how many
	 * calls those were, and all its starts so far; starts of it before this call was first met,
	 * while the function's were not counted; the same by starts of another function that this
	 * caller calls: that function (0: none), starts, calls, all its starts so far */
	FAH_REC_CALLS = 16,
	/* process, time ns, function (0: all), 1: its calls are counted from now on, 0: no more;
	 * CPU of the process so far (ns), without what counting took */
	FAH_REC_COUNTING = 17,
	/* process, function that was called, by whom (0: anybody, 1: nobody, else a function + 1),
	 * calls, those of them that came while it ran already, zigzag(ns without what it called),
	 * zigzag(ns with it): each call was told. To be added up. By anybody: the recursive ones
	 * and the ns with what it called alone, which are not the sums of those by callers */
	FAH_REC_TIMED = 18,
	/* process, time ns, function, code (which tells code objects of one function apart), 1:
	 * marked in the program, 0: chosen by name or place, then
	 * until the payload ends { line, hits, its time, of that what functions took that it called
	 * (ns) }: lines of a function that was told line by line; all so far, so of a line of one
	 * code object in one process the last counts. None: the function was chosen, and did not
	 * run */
	FAH_REC_LINES = 19,
	/* process, time ns, what telling a line cost (ns, which is taken off), functions, frames
	 * and lines that there was no room for, why no lines were told str (empty: they were) */
	FAH_REC_LINES_STATE = 20,
	/* thread, time ns, number of the block (from 1, in its process), enum fah_memory
	 * (core/segment.h), node, bytes asked for, bytes that the process held then (this block
	 * among them), the most it had held so far: a block of memory, one of those that HEAP's
	 * interval picks */
	FAH_REC_ALLOC = 21,
	/* process, time ns, number of the block, held, most as in ALLOC: it was given back; 1: by
	 * the interpreter's own end, when the program had ended (may be absent: 0) */
	FAH_REC_FREE = 22,
	/* process, time ns, mean bytes between blocks that are recorded (0: all are), bytes that
	 * the process held when the program began, bytes of Python's blocks and of others that it
	 * holds, the most it held so far, blocks that could not be recorded, bytes that were copied
	 * so far: every one counted. The last record has the last state */
	FAH_REC_HEAP = 23,
	/* thread, time ns, node, bytes, mean bytes between copies that are recorded: a copy by
	 * memcpy or its like, one of those that are picked as blocks are */
	FAH_REC_COPY = 24,
	/* thread, time ns, ns from the batch's begin to that, 1: the program had ended then (and
	 * what follows is the interpreter's own), number of the next block (from 1, in its
	 * process), bytes that the process held at the begin, the most it had held up to the end;
	 * count, that many nodes: the batch's sites; then events (core/segment.h enum
	 * fah_blocks_event) until the payload ends: every block that the thread asked for or gave
	 * back */
	FAH_REC_BLOCKS = 25,
	/* process (0: the machine), time ns, then figures of that time, each plus 1, 0: not known.
	 * Of a process: resident set, swapped out, the most that was resident so far. Of the
	 * machine: its memory, what the kernel could still give (MemAvailable), and of the control
	 * group whose limit is nearest: used, of that files not used lately, the limit (2^62 or
	 * more: none); processes of the program's own group that were ever killed for want of
	 * memory. Seen from outside */
	FAH_REC_MEMORY = 26,
};

/* The flags that most samples have none but these of, beside the node. */
#define FAH_SHORT_IN 3	   /* FAH_IN_MASK */
#define FAH_SHORT_RAN_ON 4 /* FAH_SAMPLE_RAN_ON */
#define FAH_SHORT_MORE 8   /* all of them follow */
#define FAH_SHORT_BITS 4

enum fah_function_kind {
	FAH_FUNCTION_PYTHON = 0,
	FAH_FUNCTION_NATIVE = 1,  /* name: of its symbol, or an offset; file: see doc/format.md */
	FAH_FUNCTION_RUNTIME = 2, /* work of the interpreter itself: "<garbage collector>" */
};

#endif
