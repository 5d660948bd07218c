/*
 * frames.c - .eh_frame that compilers at run time register: handed on to whose function it is, and
 * noted, for the collector to make tables of. Never read here. Runs in the program's own calls.
 */
#include "agent/agent.h"

static struct fah_registered frames;

void __register_frame(void *begin);
void __deregister_frame(void *begin);

uint64_t fah_frames_address(void)
{
	return (uint64_t)(uintptr_t)&frames;
}

/* One too many is not noted: walks end in its code, as they do where nothing is registered. */
static void note(uint64_t begin)
{
	for (uint32_t i = 0; i < FAH_FRAMES_MAX; i++) {
		uint64_t none = 0;
		uint32_t n = atomic_load(&frames.n);

		if (!atomic_compare_exchange_strong(&frames.at[i], &none, begin))
			continue;
		while (n <= i && !atomic_compare_exchange_weak(&frames.n, &n, i + 1))
			;
		return;
	}
}

static void forget(uint64_t begin)
{
	for (uint32_t i = atomic_load(&frames.n); i-- > 0;) {
		uint64_t it = begin;

		if (atomic_compare_exchange_strong(&frames.at[i], &it, 0))
			return;
	}
}

typedef void (*frame_fn)(void *);

/* What the first caller got, set once: in a fork's child the loader's lock, which a search needs,
 * may be held by a thread that is not there. */
struct first {
	_Atomic bool taken;
	void *real;
	_Atomic uintptr_t caller;
};

static frame_fn real_for(struct first *first, const char *name, uintptr_t caller)
{
	void *found;

	if (atomic_load(&fah_agent.forked) && atomic_load(&first->caller) == caller)
		return (frame_fn)(uintptr_t)first->real;
	found = fah_real_for(name, caller);
	if (found && !atomic_exchange(&first->taken, true)) {
		first->real = found;
		atomic_store(&first->caller, caller);
	}
	return (frame_fn)(uintptr_t)found;
}

FAH_AGENT_EXPORT void __register_frame(void *begin)
{
	static struct first first;
	frame_fn real =
		real_for(&first, "__register_frame", (uintptr_t)__builtin_return_address(0));
	struct fah_segment_head *head = fah_segment_head();

	if (real)
		real(begin);
	if (begin)
		note((uint64_t)(uintptr_t)begin);
	if (head)
		atomic_fetch_add(&head->registered, 1);
}

/* Other code may stand there next, as after dlclose(). */
FAH_AGENT_EXPORT void __deregister_frame(void *begin)
{
	static struct first first;
	frame_fn real =
		real_for(&first, "__deregister_frame", (uintptr_t)__builtin_return_address(0));

	fah_native_unload_begin();
	if (begin)
		forget((uint64_t)(uintptr_t)begin);
	if (real)
		real(begin);
	fah_native_unload_end(true);
}
