/*
 * event_writer.h - records by callbacks of the interpreter, outside of handlers. With the GIL, or
 * at the end of the process.
 *
 * They go to a chunk of their own, which is no thread's: in a thread's own one a sample may be on
 * its way, and would be lost where it comes meanwhile.
 */
#ifndef FAH_AGENT_EVENT_WRITER_H
#define FAH_AGENT_EVENT_WRITER_H

#include "agent/agent.h"

bool fah_event_writer_setup(void); /* false: no memory */
/* Where callbacks write, up to fah_event_writer_end; NULL: not now. */
struct fah_thread_state *fah_event_writer(void);
void fah_event_writer_end(void);
/* The same, to read code objects by and for room for texts; nothing is written. */
struct fah_thread_state *fah_event_reader(void);
void fah_event_writer_forked(void); /* in a fork's child */
/* The id of a code object that lives; version: what tells it from another at its place. 0: none. */
uint32_t fah_event_code_id(struct fah_thread_state *t, uint64_t code, uint32_t version);

#endif
