/*
 * own_stack.c - how much of its own stack a thread may read by plain loads.
 *
 * A thread's stack ends below its own structure (the first one's where the program began), and
 * stays mapped while the thread lives. From sp up to there each page is asked for once, by a load
 * that cannot fault; what has answered is never asked for again. A stack elsewhere, as coroutines
 * and handlers have it, is not the thread's own: there is a hole in between, or it lies above.
 */
#include "agent/agent.h"

#define PAGE 4096u
#define FARTHEST (64ull << 20) /* bytes of stack: beyond, it is another one */
#define REFUSALS 16u	       /* so often a thread may be found elsewhere */

static uint64_t first_end; /* of the first thread's; 0: not known */

void fah_own_stack_setup(void)
{
	const uint64_t *end = fah_global("__libc_stack_end");

	first_end = end ? *end & ~7ull : 0;
}

/* The first thread's structure stands among the libraries, and with it what coroutines run on. A
 * fork's child is a first thread, on whichever stack: elsewhere, if that was another's. */
static uint64_t end_of(const struct fah_thread_state *t)
{
	return t->tid == atomic_load(&fah_agent.pid) ? first_end : t->pthread_id;
}

/* Every page of [lo, hi) can be read. */
static bool answers(struct fah_thread_state *t, uint64_t lo, uint64_t hi)
{
	struct fah_piece pieces[FAH_PIECES_MAX];
	uint8_t bytes[FAH_PIECES_MAX];
	int n = 0;

	for (uint64_t page = lo & ~(uint64_t)(PAGE - 1); page < hi; page += PAGE) {
		pieces[n] = (struct fah_piece){&bytes[n], page, 1};
		if (++n < FAH_PIECES_MAX && page + PAGE < hi)
			continue;
		if (t->mem.read(&t->mem, pieces, n) != n)
			return false;
		n = 0;
	}
	return true;
}

bool fah_own_stack(struct fah_thread_state *t, uint64_t sp, uint64_t *ret_hi)
{
	uint64_t lo = sp & ~(uint64_t)(PAGE - 1), hi;

	if (sp >= t->own_lo && sp < t->own_hi) {
		*ret_hi = t->own_hi;
		return true;
	}
	if (t->own_refused == REFUSALS)
		return false;
	hi = t->own_hi ? t->own_lo : end_of(t);
	if (sp >= hi || hi - sp > FARTHEST || (t->own_hi && t->own_hi - sp > FARTHEST) ||
	    !answers(t, lo, hi)) {
		t->own_refused++;
		return false;
	}
	t->own_lo = lo;
	if (!t->own_hi)
		t->own_hi = hi;
	*ret_hi = t->own_hi;
	return true;
}
