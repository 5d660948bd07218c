/*
 * python_gc.c - finds the code of the garbage collector and of the evaluation loop, once at start.
 *
 * The collector is a static function without a name in the dynamic symbols; but PyGC_Collect, which
 * has one, calls it, and so does whatever else starts a collection. Where each function begins
 * stands in the table that the linker makes for exceptions (.eh_frame_hdr, sorted); the next one's
 * begin is its end. All functions that PyGC_Collect calls are taken: the others (saving an
 * exception) are never met while a collection is under way. Reads the program's code only; changes
 * nothing.
 */
#include "agent/python_gc.h"

#include "agent/agent.h"
#include "core/arch.h"

#include <link.h>
#include <string.h>

#define HDR_WANTED 0x3b031b01u /* version 1, pointers and table as every linker writes them */
#define CODE_MAX 4096	       /* bytes of PyGC_Collect looked at */

struct fah_py_gc_code fah_gc_code;

/* .eh_frame_hdr of one module: pairs of function and description, relative to the header. */
struct table {
	uint64_t wanted; /* an address in the module looked for */
	uint64_t hdr;
	const int32_t *pairs;
	uint32_t n;
};

static int find_table(struct dl_phdr_info *info, size_t size, void *data)
{
	const ElfW(Phdr) *hdr = NULL;
	struct table *t = data;
	uint32_t head[3];
	bool mine = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD &&
		    t->wanted - info->dlpi_addr - ph->p_vaddr < ph->p_memsz)
			mine = true;
		if (ph->p_type == PT_GNU_EH_FRAME)
			hdr = ph;
	}
	if (!mine || !hdr || hdr->p_memsz < sizeof(head))
		return mine;
	t->hdr = info->dlpi_addr + hdr->p_vaddr;
	if (fah_load(&fah_mem_self, t->hdr, head, sizeof(head)) < 0 || head[0] != HDR_WANTED ||
	    head[2] > (hdr->p_memsz - sizeof(head)) / 8)
		return 1;
	t->pairs = (const int32_t *)(uintptr_t)(t->hdr + sizeof(head));
	t->n = head[2];
	return 1;
}

static uint64_t start_of(const struct table *t, uint32_t i)
{
	return t->hdr + (uint64_t)(int64_t)t->pairs[2 * (size_t)i];
}

/* The function that begins at pc; false: none does. */
static bool span_at(const struct table *t, uint64_t pc, struct fah_py_span *ret)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (start_of(t, mid) < pc)
			low = mid + 1;
		else
			high = mid;
	}
	if (low + 1 >= t->n || start_of(t, low) != pc)
		return false;
	*ret = (struct fah_py_span){pc, start_of(t, low + 1)};
	return true;
}

/* Those that have a name do something else: they allocate, or keep an exception. */
static bool has_name(uint64_t start)
{
	static const char *const names[] = {
		"PyObject_Malloc", "PyMem_Malloc", "PyErr_NoMemory", "_PyErr_NoMemory",
		"PyErr_Fetch",	   "_PyErr_Fetch", "PyErr_Restore",  "_PyErr_Restore",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if ((uint64_t)(uintptr_t)fah_global(names[i]) == start)
			return true;
	return false;
}

static void add_callee(const struct fah_py_span *span)
{
	struct fah_py_gc_code *code = &fah_gc_code;

	for (uint32_t i = 0; i < code->n_collect; i++)
		if (code->collect[i].start == span->start)
			return;
	if (!has_name(span->start) && code->n_collect < FAH_PY_GC_SPANS)
		code->collect[code->n_collect++] = *span;
}

/* All that this function calls. */
static void add_callees_of(const struct table *t, uint64_t function)
{
	struct fah_py_span outer, callee;
	uint8_t text[CODE_MAX];
	uint64_t target;
	size_t len;

	if (!function || !span_at(t, function, &outer))
		return;
	len = outer.end - outer.start < CODE_MAX ? (size_t)(outer.end - outer.start) : CODE_MAX;
	if (fah_load(&fah_mem_self, outer.start, text, len) < 0)
		return;
	/* every byte may begin a call: what is none does not lead to the begin of a function */
	for (size_t i = 0; i + FAH_ARCH_CALL_INSN_LEN <= len; i++)
		if (fah_arch_call_target(text + i, outer.start + i, &target) &&
		    target - outer.start >= outer.end - outer.start && span_at(t, target, &callee))
			add_callee(&callee);
}

void fah_gc_learn(void)
{
	uint64_t eval = (uint64_t)(uintptr_t)fah_global("_PyEval_EvalFrameDefault");
	struct table t = {.wanted = (uint64_t)(uintptr_t)fah_global("PyGC_Collect")};

	fah_gc_code.n_collect = 0;
	if (!t.wanted || !eval)
		return;
	dl_iterate_phdr(find_table, &t);
	if (!t.pairs || !span_at(&t, eval, &fah_gc_code.eval))
		return;
	add_callees_of(&t, t.wanted);
	/* before 3.12; compilers make one collector for this, another for the above */
	add_callees_of(&t, (uint64_t)(uintptr_t)fah_global("_PyObject_GC_Malloc"));
}
