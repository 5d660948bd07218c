/*
 * native.c - the native stack of a sample, by the tables that the collector made. Runs in the
 * signal handler.
 *
 * The collector writes a file with all modules of this process and their tables, and its number
 * into our segment; the first sample that sees a new number maps the file. Until then, and where
 * nobody makes one, samples have no native stack. A map is never unmapped: another thread's handler
 * may be reading it. The stack is read in pieces, through the kernel: whose stack sp points into,
 * a greenlet's or a handler's, need not be known.
 */
#include "agent/agent.h"
#include "core/sys.h"
#include "native/map_file.h"
#include "native/unwind.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>

#define MAPS_MAX 64 /* of one process: a program that loads and unloads for ever keeps the last */

struct code_map {
	uint32_t number;
	struct fah_unwind_modules *modules;
};

static struct code_map maps[MAPS_MAX];
static _Atomic uint32_t n_maps; /* published; the last one is in use */
static _Atomic uint32_t tried;	/* the number that was last looked for */
static _Atomic bool opening;

static void put_path(char *path, uint32_t number)
{
	static const char before[] = "/map-", behind[] = ".unwind";
	size_t n = strlen(fah_agent.session);
	char digits[10];
	int d = 0;

	memcpy(path, fah_agent.session, n);
	memcpy(path + n, before, sizeof(before) - 1);
	n += sizeof(before) - 1;
	do
		digits[d++] = (char)('0' + number % 10);
	while (number /= 10);
	while (d)
		path[n++] = digits[--d];
	memcpy(path + n, behind, sizeof(behind));
}

struct opened {
	uint32_t number;
	const uint8_t *bytes; /* NULL: not to be had */
	size_t len;
};

static void open_file(struct opened *o)
{
	char path[FAH_PATH_MAX + 32];
	struct stat st;
	long fd, at;

	put_path(path, o->number);
	fd = FAH_SYS4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd < 0)
		return;
	if (FAH_SYS2(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size >= sizeof(struct fah_map_head) &&
	    (uint64_t)st.st_size <= FAH_MAP_SIZE_MAX) {
		at = FAH_SYS6(SYS_mmap, 0, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (at > 0 || at < -4095) {
			o->bytes = (const uint8_t *)at;
			o->len = (size_t)st.st_size;
		}
	}
	FAH_SYS1(SYS_close, fd);
}

/* NULL: the file is not what it should be, or no memory. */
static struct fah_unwind_modules *take_modules(const struct opened *o)
{
	const struct fah_map_head *head = (const void *)o->bytes;
	const struct fah_map_module *from = (const void *)(head + 1);
	struct fah_unwind_modules *mods;

	if (head->magic != FAH_MAP_MAGIC || head->size != o->len || !head->n ||
	    head->n > FAH_MAP_MODULES_MAX || o->len - sizeof(*head) < head->n * sizeof(*from))
		return NULL;
	mods = fah_pages(fah_unwind_modules_size(head->n));
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
	return fah_unwind_modules_sort(mods) == 0 ? mods : NULL;
}

/* The collector has seen other modules than we have. */
static void open_map(uint32_t number)
{
	struct opened o = {.number = number};
	uint32_t n = atomic_load(&n_maps);

	if (n == MAPS_MAX || atomic_exchange(&opening, true))
		return;
	if (atomic_load(&tried) != number) {
		atomic_store(&tried, number);
		open_file(&o);
		maps[n].number = number;
		maps[n].modules = o.bytes ? take_modules(&o) : NULL;
		if (maps[n].modules)
			atomic_store(&n_maps, n + 1);
		else if (o.bytes)
			FAH_SYS2(SYS_munmap, o.bytes, o.len);
	}
	atomic_store(&opening, false);
}

static const struct code_map *current_map(void)
{
	struct fah_segment_head *head = fah_segment_head();
	uint32_t wanted = head ? atomic_load_explicit(&head->map, memory_order_acquire) : 0, n;

	if (wanted && wanted != atomic_load(&tried))
		open_map(wanted);
	n = atomic_load(&n_maps);
	return n ? &maps[n - 1] : NULL;
}

/* Eight bytes of the stack at a time, read 2 kB at a time: what is wanted next lies above. */
static int read_window(const struct fah_mem *mem, const struct fah_piece *pieces, int n)
{
	struct fah_thread_state *t = (struct fah_thread_state *)(uintptr_t)mem->ctx;
	struct fah_stack_window *w = &t->window;

	for (int i = 0; i < n; i++) {
		uint64_t addr = pieces[i].addr;
		size_t len = pieces[i].len, page = 4096 - addr % 4096;

		if (addr < w->addr || addr - w->addr > w->len || len > w->len - (addr - w->addr)) {
			w->len = 0;
			if (len > sizeof(w->bytes))
				return i;
			if (fah_load(&t->mem, addr, w->bytes, sizeof(w->bytes)) == 0)
				w->len = sizeof(w->bytes);
			else if (page >= len && page < sizeof(w->bytes) &&
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
	const struct code_map *map = current_map();
	struct fah_stack stack = {.mem = &t->window.mem};
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
	fah_regs_of_context(&regs, uc->uc_mcontext.gregs);
	/* leaf functions keep things below sp; most rules want what is right above it */
	fah_load(&t->window.mem, regs.r[FAH_REG_SP] & ~7ull, &word, sizeof(word));
	t->n_pcs = (uint32_t)fah_unwind(map->modules, &regs, &stack, t->pcs, t->sps, FAH_NATIVE_MAX,
					&result);
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
