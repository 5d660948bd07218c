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
#define FAH_CAPTURE_VERSION 1
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
	/* file str-id, name str-id, qualname str-id (0: unknown), first line; ids count from 1 */
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
	 * previous sample - that CPU), node << 6 | flags (core/segment.h enum fah_sample_flag) }.
	 * The CPU between samples is regular and the second number is the waiting, so a sample of a
	 * thread that computes takes 2 bytes and the node's */
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
};

#endif
