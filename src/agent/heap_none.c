/* heap_none.c - the agent that stands in front of no allocator. */
#include "agent/heap.h"

void fah_heap_setup(void)
{
}

void fah_heap_load(void)
{
}

void fah_heap_start(void)
{
}

void fah_heap_tick(struct fah_thread_state *t)
{
	(void)t;
}

void fah_heap_thread_end(void)
{
}

void fah_heap_forked(void)
{
}

void fah_heap_end(void)
{
}

void fah_heap_flush(void)
{
}

void fah_heap_end_all(void)
{
}

void fah_heap_pause(void)
{
}

void fah_heap_resume(void)
{
}
