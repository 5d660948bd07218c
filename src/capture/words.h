/*
 * words.h - the numbers of a capture in words, the same in every view. Never NULL; a number of a
 * later version gives "unknown".
 */
#ifndef FAH_CAPTURE_WORDS_H
#define FAH_CAPTURE_WORDS_H

#include <stdint.h>

/* Of enum fah_drop: "a frame that could not be proved". */
const char *fah_drop_words(uint32_t reason);
/* Of enum fah_clock: "each thread's CPU time, bound to the kernel's tick". */
const char *fah_clock_words(uint32_t clock);
/* Of enum fah_agent_status: "ended in an orderly way". */
const char *fah_status_words(uint32_t status);
/* Of the low two bits of enum fah_sample_flag: "python", "native", "system". */
const char *fah_where_words(uint32_t flags);
/* Of enum fah_memory: "python", "native", "mapped". */
const char *fah_memory_words(uint32_t kind);
/* Of enum fah_wait: "socket", "GIL". */
const char *fah_wait_words(uint32_t reason);
/* Of enum fah_unwind_stop (native/unwind.h), how a native stack ended: "whole", "too long". */
const char *fah_native_stop_words(uint32_t stop);
/* Of META `stopped_by`, which is a word already: "--duration". */
const char *fah_stopped_words(const char *stopped_by);
/* Of META `kill` (NULL: absent), what the program did when the recording had ended: "went on". */
const char *fah_stopped_then(const char *kill);

#endif
