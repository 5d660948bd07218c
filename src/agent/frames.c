/*
 * frames.c - .eh_frame that compilers at run time register: handed on to whose function it is, and
 * noted, for the collector to make tables of. Never read here. Runs in the program's own calls.
 */
#include "agent/agent.h"

static struct fah_registered frames;

/* As libgcc has them; no header declares them. object is memory of the caller's for libgcc's use.
 */
void __register_frame(void *begin);
void __register_frame_info(const void *begin, void *object);
void __register_frame_info_bases(const void *begin, void *object, void *text, void *data);
void __register_frame_table(void *begin);
void __register_frame_info_table(void *begin, void *object);
void __register_frame_info_table_bases(void *begin, void *object, void *text, void *data);
void __deregister_frame(void *begin);
void *__deregister_frame_info(const void *begin);
void *__deregister_frame_info_bases(const void *begin);

uint64_t fah_frames_address(void)
{
	return (uint64_t)(uintptr_t)&frames;
}

static bool is_noted(uint64_t begin)
{
	for (uint32_t i = atomic_load(&frames.n); i-- > 0;)
		if ((atomic_load(&frames.at[i]) & FAH_FRAMES_ADDRESS) == begin)
			return true;
	return false;
}

/*
 * Once, also where libgcc comes back to us: its functions call each other by their names. One too
 * many is not noted: walks end in its code, as they do where nothing is registered.
 */
static void note(uint64_t begin, uint64_t bits)
{
	if (!begin || begin > FAH_FRAMES_ADDRESS || is_noted(begin))
		return;
	for (uint32_t i = 0; i < FAH_FRAMES_MAX; i++) {
		uint64_t none = 0;
		uint32_t n = atomic_load(&frames.n);

		if (!atomic_compare_exchange_strong(&frames.at[i], &none, begin | bits))
			continue;
		while (n <= i && !atomic_compare_exchange_weak(&frames.n, &n, i + 1))
			;
		return;
	}
}

/* The bits that it was noted with; 0: it was not. */
static uint64_t forget(uint64_t begin)
{
	for (uint32_t i = begin ? atomic_load(&frames.n) : 0; i-- > 0;) {
		uint64_t it = atomic_load(&frames.at[i]);

		if ((it & FAH_FRAMES_ADDRESS) == begin &&
		    atomic_compare_exchange_strong(&frames.at[i], &it, 0))
			return it & ~FAH_FRAMES_ADDRESS;
	}
	return 0;
}

/*
 * What the first caller got, set once. It gets the same as long as no library has gone: those that
 * come are searched behind those that are there. In a fork's child the loader's lock, which a
 * search needs, may be held by a thread that is not there.
 */
struct first {
	_Atomic bool taken;
	void *real;
	uint64_t removals;
	_Atomic uintptr_t caller;
};

static uintptr_t real_for(struct first *first, const char *name, uintptr_t caller)
{
	uint64_t removals;
	bool known = fah_native_removals(&removals);
	void *found;

	if (atomic_load(&first->caller) == caller &&
	    (atomic_load(&fah_agent.forked) || (known && removals == first->removals)))
		return (uintptr_t)first->real;
	found = fah_real_for(name, caller);
	if (found && !atomic_exchange(&first->taken, true)) {
		first->real = found;
		first->removals = known ? removals : UINT64_MAX;
		atomic_store(&first->caller, caller);
	}
	return (uintptr_t)found;
}

static void registered(const void *begin, uint64_t bits)
{
	struct fah_segment_head *head = fah_segment_head();

	note((uint64_t)(uintptr_t)begin, bits);
	if (head)
		atomic_fetch_add(&head->registered, 1);
}

/*
 * Old start files ask whether there is such a function at all: without us there may be none. Then
 * libgcc, where it comes later, must not be told that something goes which it never saw: it aborts.
 */
static uint64_t bits_of(uintptr_t real)
{
	return real ? 0 : FAH_FRAMES_KEPT_BACK;
}

#define CALLER ((uintptr_t)__builtin_return_address(0))

FAH_AGENT_EXPORT void __register_frame(void *begin)
{
	static struct first first;
	uintptr_t real = real_for(&first, "__register_frame", CALLER);

	if (real)
		((void (*)(void *))real)(begin);
	registered(begin, bits_of(real));
}

FAH_AGENT_EXPORT void __register_frame_table(void *begin)
{
	static struct first first;
	uintptr_t real = real_for(&first, "__register_frame_table", CALLER);

	if (real)
		((void (*)(void *))real)(begin);
	registered(begin, FAH_FRAMES_TABLE | bits_of(real));
}

FAH_AGENT_EXPORT void __register_frame_info(const void *begin, void *object)
{
	static struct first first;
	uintptr_t real = real_for(&first, "__register_frame_info", CALLER);

	if (real)
		((void (*)(const void *, void *))real)(begin, object);
	registered(begin, bits_of(real));
}

FAH_AGENT_EXPORT void __register_frame_info_table(void *begin, void *object)
{
	static struct first first;
	uintptr_t real = real_for(&first, "__register_frame_info_table", CALLER);

	if (real)
		((void (*)(void *, void *))real)(begin, object);
	registered(begin, FAH_FRAMES_TABLE | bits_of(real));
}

/* What counts from text or data is not read (native/ehframe.c): no compiler for x86-64 writes it.
 */
FAH_AGENT_EXPORT void __register_frame_info_bases(const void *begin, void *object, void *text,
						  void *data)
{
	static struct first first;
	uintptr_t real = real_for(&first, "__register_frame_info_bases", CALLER);

	if (real)
		((void (*)(const void *, void *, void *, void *))real)(begin, object, text, data);
	registered(begin, bits_of(real));
}

FAH_AGENT_EXPORT void __register_frame_info_table_bases(void *begin, void *object, void *text,
							void *data)
{
	static struct first first;
	uintptr_t real = real_for(&first, "__register_frame_info_table_bases", CALLER);

	if (real)
		((void (*)(void *, void *, void *, void *))real)(begin, object, text, data);
	registered(begin, FAH_FRAMES_TABLE | bits_of(real));
}

/* Other code may stand there next, as after dlclose(). */
static void *deregister(struct first *first, const char *name, uintptr_t caller, const void *begin)
{
	uintptr_t real = real_for(first, name, caller);
	void *object = NULL;

	fah_native_unload_begin();
	if (!(forget((uint64_t)(uintptr_t)begin) & FAH_FRAMES_KEPT_BACK) && real)
		object = ((void *(*)(const void *))real)(begin);
	fah_native_unload_end(true);
	return object;
}

/* Returns nothing: what the register of a result has is nobody's. */
FAH_AGENT_EXPORT void __deregister_frame(void *begin)
{
	static struct first first;

	(void)deregister(&first, "__deregister_frame", CALLER, begin);
}

FAH_AGENT_EXPORT void *__deregister_frame_info(const void *begin)
{
	static struct first first;

	return deregister(&first, "__deregister_frame_info", CALLER, begin);
}

FAH_AGENT_EXPORT void *__deregister_frame_info_bases(const void *begin)
{
	static struct first first;

	return deregister(&first, "__deregister_frame_info_bases", CALLER, begin);
}
