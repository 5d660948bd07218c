/* event_writer.c - see event_writer.h. */
#include "agent/event_writer.h"

#include "core/sys.h"

#include <string.h>

#define WAIT_MAX 2000

static struct fah_thread_state *writer;
/* Taken: whoever ends the process may not have the GIL. */
static _Atomic bool busy;

static int read_directly(const struct fah_mem *mem, const struct fah_piece *pieces, int n)
{
	(void)mem;
	for (int i = 0; i < n; i++)
		memcpy(pieces[i].dst, (const void *)(uintptr_t)pieces[i].addr, pieces[i].len);
	return n;
}

bool fah_event_writer_setup(void)
{
	if (!writer)
		writer = fah_pages(sizeof(*writer));
	if (!writer)
		return false;
	/* with the GIL a code object that runs, and all it holds, stays where it is */
	writer->mem = (struct fah_mem){read_directly, 0};
	return true;
}

void fah_event_writer_end(void)
{
	atomic_store(&busy, false);
	fah_writing_end();
}

struct fah_thread_state *fah_event_writer(void)
{
	if (!fah_writing_begin())
		return NULL;
	for (int i = 0; atomic_exchange(&busy, true); i++) {
		if (i == WAIT_MAX) {
			fah_writing_end();
			return NULL;
		}
		FAH_SYS0(SYS_sched_yield);
	}
	if (atomic_load(&fah_agent.pid) == (uint32_t)FAH_SYS0(SYS_getpid) &&
	    (fah_segment_head() || fah_segment_start() == 0) && !fah_segment_closed())
		return writer;
	fah_event_writer_end();
	return NULL;
}

struct fah_thread_state *fah_event_reader(void)
{
	return writer;
}

void fah_event_writer_forked(void)
{
	if (!writer)
		return;
	atomic_store(&busy, false);
	writer->chunk = NULL;
	writer->chunk_time_ns = 0;
}

uint32_t fah_event_code_id(struct fah_thread_state *t, uint64_t code, uint32_t version)
{
	/* not what the walk takes for it: code may be told twice, which the reader merges */
	struct fah_py_frame frame = {.code = code, .ident = (uint64_t)version << 32 | 1};
	enum fah_drop drop;

	return fah_codes_id(t, &frame, &drop);
}
