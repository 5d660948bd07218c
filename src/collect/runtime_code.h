/*
 * runtime_code.h - names of code that a process makes at run time and says no more of
 * (made_code.h), by the map that it writes for perf: /tmp/perf-PID.map, in its own root. One
 * thread.
 */
#ifndef FAH_COLLECT_RUNTIME_CODE_H
#define FAH_COLLECT_RUNTIME_CODE_H

#include <stdint.h>

struct fah_names;
struct fah_runtime_code; /* opaque: that of one process */

/* pid as the process knows itself, outer as we do (0: not at all). NULL: no memory. The caller owns
 * it. */
struct fah_runtime_code *fah_runtime_code_new(uint32_t pid, uint32_t outer);
void fah_runtime_code_free(struct fah_runtime_code *code); /* NULL is fine */

/* Reads the map, if it has grown, at most ten times a second. */
void fah_runtime_code_look(struct fah_runtime_code *code);

/* To ask for this address (offset: the address), which is in no file of code; NULL: the map does
 * not name it. Lives as long as code. */
struct fah_names *fah_runtime_code_names(struct fah_runtime_code *code, uint64_t pc);

#endif
