/*
 * heap_every.h - every block (--exact): what comes and goes is told in batches, one for each thread
 * at a time, written as one record (FAH_SEG_BLOCKS) when they are full or some time has passed.
 *
 * A block has a number, which stands in the shadow while it lives, so that giving it back is told
 * by that number alone.
 */
#ifndef FAH_AGENT_HEAP_EVERY_H
#define FAH_AGENT_HEAP_EVERY_H

#include "agent/agent.h"

/* A block has come: its entry in the shadow, NULL: a mapping, which has none. */
void fah_every_take(void *block, uint64_t bytes, uint32_t kind, uint16_t *entry);
/* A block goes, or has gone, whose number it was; 0: none, but it was counted. */
void fah_every_give(uint32_t number, uint64_t bytes);
/* Of a mapping; number: its last part. */
void fah_every_unmapped(uint64_t bytes, uint32_t number);

/* In the thread's handler: what has waited for long is written. */
void fah_every_tick(struct fah_thread_state *t);
void fah_every_thread_end(void);
void fah_every_forked(void);  /* in a fork's child */
void fah_every_flush(void);   /* the calling thread's */
void fah_every_end_all(void); /* of all threads; nobody else writes any more */

/* heap_sample.c: blocks, or ends of blocks, that could not be told. */
void fah_heap_lost(uint64_t n);
/* Is the interpreter being taken down? */
bool fah_heap_is_ending(void);

#endif
