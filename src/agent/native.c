/*
 * native.c - the native stack of a sample, by the tables that the collector made. Runs in the
 * signal handler.
 *
 * The collector writes a file with all modules of this process and their tables, and its number
 * into our segment; the first sample that sees a new number maps the file. Until then, and where
 * nobody makes one, samples have no native stack. A thread's own stack is read as it is
 * (own_stack.c), any other, such as a coroutine's or a handler's, in pieces through the kernel.
 */
#include "agent/agent.h"
#include "agent/apart.h"
#include "core/sys.h"
#include "native/map_file.h"
#include "native/unwind.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>

#define N_SLOTS 8u /* maps at once: the one in use, and those that handlers still read */

/* A map is taken down when another is in use and nobody reads it any more. */
static struct slot {
	_Atomic uint32_t readers;
	uint32_t number;
	_Atomic uint32_t unloads;	    /* what this map knows of: see unloads below */
	struct fah_unwind_modules *modules; /* NULL: the slot is free */
	size_t modules_size, len;
	const uint8_t *bytes;
	uint32_t filled; /* counts all that were: a fork's child has maps with numbers anew */
} slots[N_SLOTS];
static _Atomic uint32_t in_use; /* slot + 1; 0: none yet */
static _Atomic uint64_t tried;	/* what the segment's head said when it was last looked for */
static _Atomic bool opening;
static uint32_t n_filled; /* `opening` is held */

/*
 * Other code may stand where some stood before; a map from before that would give it wrong names.
 * So none is used while something that may take code away is under way (`closing`, mostly
 * dlclose), and none from before it did take some (`unloads`), until the collector has looked
 * again. Most calls of dlclose give back what others hold too: LLVM makes two for each thing that
 * it compiles.
 */
static _Atomic uint32_t closing;
static _Atomic uint32_t unloads;

static void put_path(char *path, uint32_t number)
{
	static const char before[] = "/map-", behind[] = ".unwind";
	size_t n = strlen(fah_agent.session);

	memcpy(path, fah_agent.session, n);
	memcpy(path + n, before, sizeof(before) - 1);
	path = fah_put_decimal(path + n + sizeof(before) - 1, number);
	memcpy(path, behind, sizeof(behind));
}

/* What open_file is asked, and answers. One at a time: `opening` is held. */
static struct opened {
	char path[FAH_PATH_MAX + 32];
	const uint8_t *bytes; /* NULL: not to be had */
	size_t len;
} opened;
static uint8_t opening_stack[FAH_APART_STACK] __attribute__((aligned(16)));

static void open_file(void *unused)
{
	struct stat st;
	long fd, at;

	(void)unused;
	fd = FAH_SYS4(SYS_openat, AT_FDCWD, opened.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd < 0)
		return;
	if (FAH_SYS2(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size >= sizeof(struct fah_map_head) &&
	    (uint64_t)st.st_size <= FAH_MAP_SIZE_MAX) {
		at = FAH_SYS6(SYS_mmap, 0, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (at > 0 || at < -4095) {
			opened.bytes = (const uint8_t *)at;
			opened.len = (size_t)st.st_size;
		}
	}
	FAH_SYS1(SYS_close, fd);
}

/* NULL: the file is not what it should be, or no memory. */
static struct fah_unwind_modules *take_modules(const struct opened *o, size_t *ret_size)
{
	const struct fah_map_head *head = (const void *)o->bytes;
	const struct fah_map_module *from = (const void *)(head + 1);
	struct fah_unwind_modules *mods;

	if (head->magic != FAH_MAP_MAGIC || head->size != o->len || !head->n ||
	    head->n > FAH_MAP_MODULES_MAX || o->len - sizeof(*head) < head->n * sizeof(*from))
		return NULL;
	*ret_size = fah_unwind_modules_size(head->n);
	mods = fah_pages(*ret_size);
	if (!mods)
		return NULL;
	for (uint32_t i = 0; i < head->n; i++) {
		struct fah_unwind_module *m = &mods->modules[mods->n];

		if (from[i].table_at % 8 || from[i].table_at > o->len ||
		    from[i].table_len > o->len - from[i].table_at ||
		    fah_table_attach(o->bytes + from[i].table_at, from[i].table_len, &m->table) < 0)
			continue;
		m->start = from[i].start;
		m->end = from[i].end;
		m->base = from[i].base;
		m->id = i;
		mods->n++;
	}
	if (fah_unwind_modules_sort(mods) == 0)
		return mods;
	FAH_SYS2(SYS_munmap, mods, *ret_size);
	return NULL;
}

static void free_slot(struct slot *s)
{
	if (!s->modules)
		return;
	FAH_SYS2(SYS_munmap, s->modules, s->modules_size);
	FAH_SYS2(SYS_munmap, s->bytes, s->len);
	s->modules = NULL;
}

/* A slot that nobody reads; all others of that kind are emptied on the way. NULL: none. */
static struct slot *unread_slot(void)
{
	struct slot *found = NULL;

	for (uint32_t i = 0; i < N_SLOTS; i++) {
		/* a reader that comes now sees that the slot is not in use, and goes */
		if (i + 1 == atomic_load(&in_use) || atomic_load(&slots[i].readers))
			continue;
		free_slot(&slots[i]);
		found = &slots[i];
	}
	return found;
}

static void fill_slot(struct slot *s, uint32_t number, uint32_t seen_unloads)
{
	opened.bytes = NULL;
	put_path(opened.path, number);
	fah_apart(open_file, NULL, opening_stack, sizeof(opening_stack));
	if (!opened.bytes)
		return;
	s->modules = take_modules(&opened, &s->modules_size);
	if (!s->modules) {
		FAH_SYS2(SYS_munmap, opened.bytes, opened.len);
		return;
	}
	s->bytes = opened.bytes;
	s->len = opened.len;
	s->number = number;
	s->filled = ++n_filled;
	atomic_store(&s->unloads, seen_unloads);
	atomic_store(&in_use, (uint32_t)(s - slots) + 1);
}

/* The collector has looked again: at other modules than we have, or after a dlclose. */
static void take_map(uint64_t word)
{
	uint32_t number = (uint32_t)word, seen = (uint32_t)(word >> 32), at;
	struct slot *s;

	if (atomic_exchange(&opening, true))
		return;
	at = atomic_load(&in_use);
	if (at && slots[at - 1].number == number) {
		atomic_store(&slots[at - 1].unloads, seen);
		atomic_store(&tried, word);
	} else if (atomic_load(&tried) != word && (s = unread_slot())) {
		atomic_store(&tried, word);
		fill_slot(s, number, seen);
	}
	atomic_store(&opening, false);
}

static bool is_true_of_now(struct slot *s)
{
	return !atomic_load(&closing) && atomic_load(&s->unloads) == atomic_load(&unloads);
}

/* The map of all code as it is, held until slot_release; NULL: there is none. */
static struct slot *slot_hold(void)
{
	struct fah_segment_head *head = fah_segment_head();
	uint64_t wanted = head ? atomic_load_explicit(&head->map, memory_order_acquire) : 0;
	uint32_t at;

	if (wanted && wanted != atomic_load(&tried))
		take_map(wanted);
	while ((at = atomic_load(&in_use))) {
		struct slot *s = &slots[at - 1];

		atomic_fetch_add(&s->readers, 1);
		if (atomic_load(&in_use) == at && is_true_of_now(s))
			return s;
		atomic_fetch_sub(&s->readers, 1);
		if (atomic_load(&in_use) == at)
			return NULL;
	}
	return NULL;
}

static void slot_release(struct slot *s)
{
	atomic_fetch_sub(&s->readers, 1);
}

void fah_native_forked(void)
{
	for (uint32_t i = 0; i < N_SLOTS; i++) /* threads that are not there read no more */
		atomic_store(&slots[i].readers, 0);
	atomic_store(&opening, false);
	if (atomic_exchange(&closing, 0)) /* by a thread that is not there to end it */
		atomic_fetch_add(&unloads, 1);
}

uint32_t fah_native_unloads(void)
{
	return atomic_load(&unloads);
}

void fah_native_unload_begin(void)
{
	atomic_fetch_add(&closing, 1);
}

void fah_native_unload_end(bool gone)
{
	struct fah_segment_head *head = fah_segment_head();
	uint32_t n = atomic_load(&closing), told;

	if (gone) {
		uint32_t now = atomic_fetch_add(&unloads, 1) + 1;

		told = head ? atomic_load(&head->unloads) : now;
		while ((int32_t)(now - told) > 0 &&
		       !atomic_compare_exchange_weak(&head->unloads, &told, now))
			;
	}
	while (n && !atomic_compare_exchange_weak(&closing, &n, n - 1))
		; /* 0: begun before a fork */
}

struct removals {
	bool known;
	uint64_t n; /* of libraries, so far */
};

static int see_removals(struct dl_phdr_info *info, size_t size, void *data)
{
	struct removals *r = data;

	r->known = size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs);
	r->n = r->known ? info->dlpi_subs : 0;
	return 1;
}

/* In a fork's child the loader's lock may be held by a thread that is not there: not known. */
bool fah_native_removals(uint64_t *ret)
{
	struct removals r = {0};

	if (!atomic_load(&fah_agent.forked))
		dl_iterate_phdr(see_removals, &r);
	*ret = r.n;
	return r.known;
}

/* To stand in front of dlopen would change whose RUNPATH it searches; dlclose asks for no caller.
 */
FAH_AGENT_EXPORT int dlclose(void *handle)
{
	int (*real)(void *) = (int (*)(void *))(uintptr_t)fah_real("dlclose");
	uint64_t before, after;
	bool known = fah_native_removals(&before);
	int ret;

	fah_native_unload_begin();
	ret = real ? real(handle) : -1;
	known &= fah_native_removals(&after);
	fah_native_unload_end(!known || before != after);
	return ret;
}

#define FIRST_WINDOW 2048 /* bytes; each next one is twice as long: few stacks need a third */

/* Eight bytes of the stack at a time, read many at a time: what is wanted next lies above. */
static int read_window(const struct fah_mem *mem, const struct fah_piece *pieces, int n)
{
	struct fah_thread_state *t = (struct fah_thread_state *)(uintptr_t)mem->ctx;
	struct fah_stack_window *w = &t->window;

	for (int i = 0; i < n; i++) {
		uint64_t addr = pieces[i].addr;
		size_t len = pieces[i].len, page = 4096 - addr % 4096;
		size_t most = 2 * (size_t)w->len;

		if (addr < w->addr || addr - w->addr > w->len || len > w->len - (addr - w->addr)) {
			most = most < FIRST_WINDOW ? FIRST_WINDOW : most;
			most = most > sizeof(w->bytes) ? sizeof(w->bytes) : most;
			w->len = 0;
			if (len > most)
				return i;
			if (fah_load(&t->mem, addr, w->bytes, most) == 0)
				w->len = (uint32_t)most;
			else if (page >= len && page < most &&
				 fah_load(&t->mem, addr, w->bytes, page) == 0)
				w->len = (uint32_t)page; /* the stack's last page */
			else
				return i;
			w->addr = addr;
		}
		memcpy(pieces[i].dst, w->bytes + (addr - w->addr), len);
	}
	return n;
}

void fah_native_walk(struct fah_thread_state *t, const void *ucontext)
{
	const ucontext_t *uc = ucontext;
	struct slot *map = slot_hold();
	struct fah_stack stack = {.mem = &t->window.mem};
	struct fah_unwind_cache *cache = &t->rules;
	struct fah_unwind_result result;
	struct fah_regs regs;
	uint64_t word;

	t->n_pcs = 0;
	t->map = map ? map->number : 0;
	if (!map)
		return;
	t->window.mem.read = read_window;
	t->window.mem.ctx = (uint64_t)(uintptr_t)t;
	t->window.len = 0;
	if (t->rules_of != map->filled) {
		memset(cache, 0, sizeof(*cache));
		t->rules_of = map->filled;
	}
	fah_regs_of_context(&regs, uc->uc_mcontext.gregs);
	/* leaf functions keep things below sp; most rules want what is right above it */
	if (fah_own_stack(t, regs.r[FAH_REG_SP], &stack.hi))
		stack.lo = regs.r[FAH_REG_SP];
	else
		fah_load(&t->window.mem, regs.r[FAH_REG_SP] & ~7ull, &word, sizeof(word));
	t->n_pcs = (uint32_t)fah_unwind(map->modules, cache, &regs, &stack, t->pcs, t->sps,
					FAH_NATIVE_MAX, &result);
	if (!is_true_of_now(map))
		t->map = t->n_pcs = 0; /* some of that code may have gone meanwhile */
	slot_release(map);
	_Static_assert(FAH_UNWIND_STOPS <= FAH_NATIVE_STOPS, "a count for each");
	atomic_fetch_add_explicit(&fah_segment_head()->native_stops[result.stop], 1,
				  memory_order_relaxed);
}

void fah_native_loops(struct fah_thread_state *t)
{
	uint32_t n = t->walk.n_loops < FAH_PY_LOOPS ? t->walk.n_loops : FAH_PY_LOOPS, at = 0;

	if (!t->map)
		return;
	memset(t->loop, 0, sizeof(t->loop));
	/* both innermost first, so one pass; the outermost frame has no end */
	for (uint32_t i = 0; t->walk.n_frames && i < n; i++) {
		uint64_t place = t->walk.loops[i];

		while (at + 1 < t->n_pcs && place >= t->sps[at + 1])
			at++;
		if (at + 1 < t->n_pcs && place >= t->sps[at])
			t->loop[at] = true;
	}
}
