/* heap_sites.c - see heap_sites.h. */
#include "agent/heap_sites.h"

#include "agent/gil.h"
#include "agent/heap.h"

#include <string.h>

#define PROBES 8u

_Atomic uint64_t fah_sites_epoch;

void fah_sites_reset(struct fah_sites *s)
{
	if (s->n_nodes)
		memset(s->slots, 0, sizeof(s->slots));
	s->n_nodes = s->n_chain = 0;
	s->far.tstate = 0;
}

/* Where the code's block is marked, and its number; NULL: nobody would hear of its end. */
static uint32_t *mark_of(uint64_t code)
{
	uint16_t *entry = fah_shadow_make((void *)(uintptr_t)code);

	return entry ? fah_shadow_number(entry, (void *)(uintptr_t)code) : NULL;
}

static struct fah_sites_code *code_slot(struct fah_sites *s, uint64_t addr, bool make)
{
	uint32_t at = (uint32_t)((addr >> 4) * 0x9e3779b97f4a7c15ull >> 40);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct fah_sites_code *c = &s->codes[(at + i) & (FAH_SITES_CODES - 1)];

		if (c->addr == addr || (make && !c->addr))
			return c;
	}
	return make ? &s->codes[at & (FAH_SITES_CODES - 1)] : NULL;
}

/* Notes that the code object is known by this id; false: its end could not be heard of. */
static bool learn_code(struct fah_sites *s, uint64_t addr, uint32_t id, uint32_t firsttraceable)
{
	uint32_t *mark = mark_of(addr);

	if (!mark)
		return false;
	*mark |= FAH_SHADOW_CODE;
	*code_slot(s, addr, true) = (struct fah_sites_code){addr, atomic_load(&fah_sites_epoch),
							    *mark, id, firsttraceable};
	return true;
}

/* NULL: not known, or it was another one. */
static const struct fah_sites_code *find_code(struct fah_sites *s, uint64_t addr, uint64_t epoch)
{
	struct fah_sites_code *c = code_slot(s, addr, false);
	struct fah_py_chain_code seen;
	const uint32_t *mark;

	if (__builtin_expect(c && c->epoch == epoch, 1))
		return c;
	if (c) {
		mark = mark_of(addr);
		if (mark && *mark == c->number) {
			c->epoch = epoch;
			return c;
		}
		c->addr = 0;
	}
	seen = fah_py_chain_code(&fah_agent.layout, addr);
	if (!seen.skip || !learn_code(s, addr, 0, 0))
		return NULL;
	return code_slot(s, addr, false);
}

/* 0: the tree is full. */
static uint32_t node_of(struct fah_sites *s, uint32_t parent, uint32_t code, uint32_t instr)
{
	uint64_t h = ((uint64_t)parent << 32 | code) * 0x9e3779b97f4a7c15ull ^ instr;
	uint32_t at, node;

	h *= 0xd6e8feb86659fd93ull;
	for (at = (uint32_t)(h >> 40);; at++) {
		uint32_t *slot = &s->slots[at & (FAH_SITES_SLOTS - 1)];
		struct fah_site *n = &s->nodes[*slot];

		if (*slot && n->parent == parent && n->code == code && n->instr == instr)
			return *slot;
		if (*slot)
			continue;
		if (s->n_nodes == FAH_SITES_NODES)
			return 0;
		node = ++s->n_nodes;
		s->nodes[node] = (struct fah_site){.parent = parent, .code = code, .instr = instr};
		*slot = node;
		return node;
	}
}

static inline bool same(const struct fah_py_link *a, const struct fah_py_link *b)
{
	return a->code == b->code && a->instr == b->instr;
}

/* The chain at hand, n links of s->now. */
static enum fah_sites_answer look_up(struct fah_sites *s, uint32_t n, uint32_t *ret_node)
{
	uint64_t epoch = atomic_load_explicit(&fah_sites_epoch, memory_order_acquire);
	uint32_t keep = 0, node;

	if (__builtin_expect(s->epoch == epoch, 1))
		while (keep < n && keep < s->n_chain &&
		       same(&s->now[n - 1 - keep], &s->chain[keep].link))
			keep++;
	s->epoch = epoch;
	node = keep ? s->chain[keep - 1].node : 0;
	for (; keep < n; keep++) {
		const struct fah_py_link *link = &s->now[n - 1 - keep];
		const struct fah_sites_code *c = find_code(s, link->code, epoch);

		s->n_chain = keep;
		if (__builtin_expect(!c, 0))
			return FAH_SITES_WALK;
		if (c->id) {
			uint32_t below = node_of(
				s, node, c->id,
				fah_py_chain_instr(&fah_agent.layout, link, c->firsttraceable));

			if (!below)
				return FAH_SITES_FULL;
			node = below;
		}
		s->chain[keep] = (struct fah_sites_frame){*link, node, c->id};
	}
	s->n_chain = n;
	*ret_node = node;
	return FAH_SITES_FOUND;
}

/* One more piece of what the thread's place hangs on. Where its bytes stand now; NULL: no room, or
 * it cannot be read. */
static const uint8_t *far_add(struct fah_sites_far *f, size_t *at, uint64_t addr, size_t len)
{
	uint8_t *to = f->seen + *at;

	if (f->n == FAH_SITES_FAR + 2 || *at + len > sizeof(f->seen) ||
	    fah_load(&fah_mem_self, addr, to, len) < 0)
		return NULL;
	f->pieces[f->n++] = (struct fah_piece){NULL, addr, len};
	*at += len;
	return to;
}

static uint64_t word_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The chain is what the proved walk has just followed, and stays it: its thread is here. Of each
 * frame all between what it is known by; what else changes there only has it walked again. */
static void far_learn(struct fah_sites *s, uint64_t tstate, uint32_t node)
{
	const struct fah_py_layout *l = &fah_agent.layout;
	uint32_t from = least(l->f_previous, least(l->f_code, l->f_instr));
	uint32_t to = ~least(~l->f_previous, least(~l->f_code, ~l->f_instr)) + 8;
	struct fah_sites_far *f = &s->far;
	const uint8_t *p;
	size_t at = 0;

	if (l->f_owner >= to)
		to = l->f_owner + 1;
	f->tstate = 0;
	f->n = 0;
	f->epoch = atomic_load(&fah_sites_epoch);
	f->node = node;
	p = tstate ? far_add(f, &at, tstate + l->ts_frame, 8) : NULL;
	if (p && l->frames_kind == FAH_PY_FRAMES_CFRAME)
		p = far_add(f, &at, word_at(p) + l->cframe_current, 8);
	if (!p)
		return;
	for (uint64_t frame = word_at(p); frame; frame = word_at(p + l->f_previous - from)) {
		p = far_add(f, &at, frame + from, to - from);
		if (!p)
			return;
	}
	f->tstate = tstate;
}

static bool far_same(struct fah_sites *s, uint64_t tstate)
{
	struct fah_sites_far *f = &s->far;
	size_t total = 0;

	if (!tstate || f->tstate != tstate || f->epoch != atomic_load(&fah_sites_epoch))
		return false;
	for (uint32_t i = 0; i < f->n; i++)
		total += f->pieces[i].len;
	return fah_load_gather(f->pieces, (int)f->n, f->now, total) == (int)f->n &&
	       !memcmp(f->now, f->seen, total);
}

enum fah_sites_answer fah_sites_here(struct fah_sites *s, uint32_t *ret_node)
{
	bool none;
	uint64_t tstate = fah_gil_state(&none);
	uint32_t n;

	*ret_node = 0;
	if (__builtin_expect(!tstate, 0)) {
		if (none)
			return FAH_SITES_FOUND;
		if (!far_same(s, fah_gil_own_state()))
			return FAH_SITES_WALK;
		*ret_node = s->far.node;
		return FAH_SITES_FOUND;
	}
	n = fah_py_chain(&fah_agent.layout, tstate, s->now, FAH_PY_MAX_FRAMES);
	return n == FAH_PY_CHAIN_DOUBT ? FAH_SITES_WALK : look_up(s, n, ret_node);
}

enum fah_sites_answer fah_sites_walked(struct fah_sites *s, struct fah_thread_state *t,
				       bool has_gil, uint32_t *ret_node)
{
	uint32_t node = 0;

	for (uint32_t i = t->walk.n_frames; i--;) {
		const struct fah_py_frame *f = &t->walk.frames[i];
		enum fah_drop drop;
		uint32_t id = fah_codes_id(t, f, &drop);

		if (!id)
			return FAH_SITES_WALK;
		if (has_gil)
			learn_code(s, f->code, id,
				   fah_py_chain_code(&fah_agent.layout, f->code).firsttraceable);
		node = node_of(s, node, id, f->instr);
		if (!node)
			return FAH_SITES_FULL;
	}
	if (!has_gil && t->tstate && t->tstate == fah_gil_own_state())
		far_learn(s, t->tstate, node);
	*ret_node = node;
	return FAH_SITES_FOUND;
}
