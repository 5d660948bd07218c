/*
 * unwind.c - see unwind.h. Runs in the target's signal handler.
 *
 * Why a step cannot loop or leave the stack: every CFA must be above the last one, except behind a
 * signal frame, where the thread may have been on another stack; and max bounds the whole.
 */
#include "native/unwind.h"

#include "core/err.h"

#include <string.h>

struct walk {
	struct fah_regs regs;
	struct fah_stack stack;
	struct fah_unwind_cache *cache;
	const struct fah_unwind_module *module; /* of the last rule: mostly the next one's too */
	bool exact;				/* regs.pc is not a return address */
	uint32_t signal_frames;
};

static bool before(const struct fah_unwind_module *a, const struct fah_unwind_module *b)
{
	return a->start < b->start;
}

/* Insertion: a few hundred, mostly sorted already since they come from a list of mappings. */
int fah_unwind_modules_sort(struct fah_unwind_modules *mods)
{
	struct fah_unwind_module *m = mods->modules, moved;
	uint32_t i, j;

	for (i = 1; i < mods->n; i++) {
		if (!before(&m[i], &m[i - 1]))
			continue;
		moved = m[i];
		for (j = i; j > 0 && before(&moved, &m[j - 1]); j--)
			m[j] = m[j - 1];
		m[j] = moved;
	}
	for (i = 0; i < mods->n; i++)
		if (m[i].start >= m[i].end || m[i].base > m[i].start ||
		    (i && m[i].start < m[i - 1].end))
			return FAH_ERR_RANGE;
	return 0;
}

const struct fah_unwind_module *fah_unwind_modules_find(const struct fah_unwind_modules *mods,
							uint64_t pc)
{
	uint32_t lo = 0, hi = mods->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (pc < mods->modules[mid].start)
			hi = mid;
		else if (pc >= mods->modules[mid].end)
			lo = mid + 1;
		else
			return &mods->modules[mid];
	}
	return NULL;
}

static bool on_stack(const struct fah_stack *stack, uint64_t addr, uint64_t len)
{
	return addr >= stack->lo && addr < stack->hi && stack->hi - addr >= len;
}

static bool read_stack(const struct walk *w, uint64_t addr, void *dst, size_t len)
{
	if (on_stack(&w->stack, addr, len)) {
		memcpy(dst, (const void *)(uintptr_t)addr, len);
		return true;
	}
	return w->stack.mem && fah_load(w->stack.mem, addr, dst, len) == 0;
}

static bool knows(const struct walk *w, unsigned reg)
{
	return w->regs.known >> reg & 1;
}

/* 0 and *ret_cfa, or why not. */
static enum fah_unwind_stop find_cfa(const struct walk *w, const struct fah_rule *rule, uint64_t at,
				     uint64_t *ret_cfa)
{
	uint64_t sp = w->regs.r[FAH_REG_SP], cfa;

	if (!knows(w, rule->reg))
		return FAH_UNWIND_NO_REG;
	cfa = w->regs.r[rule->reg] + (uint64_t)(int64_t)rule->off;
	if (rule->cfa == FAH_CFA_DEREF) {
		if ((cfa & 7) || !read_stack(w, cfa, &cfa, 8))
			return FAH_UNWIND_BAD_READ;
		cfa += (uint64_t)(int64_t)rule->add;
	} else if (rule->cfa == FAH_CFA_PLT) {
		cfa += (int32_t)(at & 15) >= rule->add ? 8 : 0;
	}
	if ((cfa & 7) || cfa <= sp || cfa < 8)
		return FAH_UNWIND_BAD_CFA;
	if (w->stack.hi && !on_stack(&w->stack, cfa - 8, 8))
		return FAH_UNWIND_BAD_CFA;
	*ret_cfa = cfa;
	return 0;
}

/* The handler's caller is the code that was interrupted, with all its registers; on whichever stack
 * it was. */
static enum fah_unwind_stop pass_signal(struct walk *w, const struct fah_stack *given)
{
	uint64_t gregs[FAH_CONTEXT_REGS], at = w->regs.r[FAH_REG_SP] + FAH_CONTEXT_REGS_AT;

	if ((at & 7) || !read_stack(w, at, gregs, sizeof(gregs)))
		return FAH_UNWIND_BAD_READ;
	fah_regs_of_context(&w->regs, gregs);
	if (on_stack(given, w->regs.r[FAH_REG_SP], 8))
		w->stack = *given;
	else
		w->stack.lo = w->stack.hi = 0;
	w->exact = true;
	w->signal_frames++;
	return 0;
}

/*
 * The caller's rbp. A slot that is not within the frame is none of this frame: where compilers
 * realign the stack, their rules go on to name the slot that rbp points to when rbp is the caller's
 * again, from its pop to the return.
 */
static bool find_fp(const struct walk *w, const struct fah_rule *rule, uint64_t cfa, uint64_t *fp)
{
	uint64_t from;

	if (rule->fp == FAH_FP_SAME)
		return knows(w, FAH_REG_FP);
	if (rule->fp == FAH_FP_LOST || (rule->fp == FAH_FP_AT_REG && !knows(w, rule->fp_reg)))
		return false;
	if (rule->fp == FAH_FP_AT_REG) {
		from = w->regs.r[rule->fp_reg] + (uint64_t)(int64_t)rule->fp_off;
		if (from < w->regs.r[FAH_REG_SP] || from >= cfa)
			return rule->fp_reg == FAH_REG_FP;
	} else {
		from = cfa + (uint64_t)(int64_t)rule->fp_off;
	}
	return !(from & 7) && read_stack(w, from, fp, 8);
}

static enum fah_unwind_stop step(struct walk *w, const struct fah_rule *rule, uint64_t at)
{
	uint64_t cfa, pc, fp = w->regs.r[FAH_REG_FP];
	enum fah_unwind_stop stop = find_cfa(w, rule, at, &cfa);
	bool has_fp;

	if (stop)
		return stop;
	if (!read_stack(w, cfa - 8, &pc, 8))
		return FAH_UNWIND_BAD_READ;
	has_fp = find_fp(w, rule, cfa, &fp);
	w->regs.pc = pc;
	w->regs.r[FAH_REG_SP] = cfa;
	w->regs.r[FAH_REG_FP] = fp;
	w->regs.known = 1u << FAH_REG_SP | (has_fp ? 1u << FAH_REG_FP : 0);
	w->exact = rule->flags & FAH_RULE_EXACT;
	return 0;
}

/* NULL: code of no module. */
static const struct fah_rule *find_rule(const struct fah_unwind_modules *mods, struct walk *w,
					uint64_t at)
{
	struct fah_unwind_cached *c =
		w->cache ? &w->cache->slots[(at * 0x9e3779b97f4a7c15ull >> 40) &
					    (FAH_UNWIND_CACHE - 1)]
			 : NULL;
	const struct fah_rule *rule;

	if (c && c->rule && c->pc == at)
		return c->rule;
	if (!w->module || at < w->module->start || at >= w->module->end)
		w->module = fah_unwind_modules_find(mods, at);
	if (!w->module)
		return NULL;
	rule = fah_table_find(&w->module->table, at - w->module->base);
	if (c)
		*c = (struct fah_unwind_cached){at, rule};
	return rule;
}

/* True where the walk goes on; else *ret_stop says why not. */
static bool to_caller(const struct fah_unwind_modules *mods, const struct fah_stack *given,
		      struct walk *w, uint64_t at, enum fah_unwind_stop *ret_stop)
{
	const struct fah_rule *rule = find_rule(mods, w, at);

	if (!rule) {
		*ret_stop = FAH_UNWIND_NO_MODULE;
		return false;
	}
	switch (rule->cfa) {
	case FAH_CFA_NONE:
		*ret_stop = FAH_UNWIND_NO_RULE;
		return false;
	case FAH_CFA_END:
		*ret_stop = FAH_UNWIND_END;
		return false;
	case FAH_CFA_SIGNAL:
		*ret_stop = pass_signal(w, given);
		break;
	default:
		*ret_stop = step(w, rule, at);
		break;
	}
	return *ret_stop == 0;
}

int fah_unwind(const struct fah_unwind_modules *mods, struct fah_unwind_cache *cache,
	       const struct fah_regs *regs, const struct fah_stack *stack, uint64_t *pcs,
	       uint64_t *sps, int max, struct fah_unwind_result *ret)
{
	struct walk w = {.regs = *regs, .stack = *stack, .cache = cache, .exact = true};
	enum fah_unwind_stop stop = FAH_UNWIND_LIMIT;
	int n = 0;

	while (n < max) {
		uint64_t at = w.regs.pc - !w.exact;

		if (sps)
			sps[n] = w.regs.r[FAH_REG_SP];
		pcs[n++] = at;
		if (!to_caller(mods, stack, &w, at, &stop))
			break;
		if (!w.regs.pc) /* how makers of stacks end them */
			break;
		stop = FAH_UNWIND_LIMIT;
	}
	ret->stop = stop;
	ret->pc = w.regs.pc;
	ret->sp = w.regs.r[FAH_REG_SP];
	ret->signal_frames = w.signal_frames;
	return n;
}
