/* stack.c - see stack.h. What a record says is bounded here: the target could have written it. */
#include "collect/stack.h"

#include "capture/format.h"
#include "native/names.h"

#include <string.h>

/* The frames that this sample does not share with the last one. False: damaged. */
static bool take_frames(struct fah_stack_ctx *ctx, struct fah_codes *codes, struct fah_writer *w,
			struct fah_cursor *cur)
{
	uint64_t keep = fah_get_varint(cur), push = fah_get_varint(cur);

	if (cur->bad || keep > ctx->n_frames || push > FAH_PY_MAX_FRAMES - keep)
		return false;
	ctx->n_frames = (uint32_t)keep;
	while (push--) {
		struct fah_stack_frame *f = &ctx->frames[ctx->n_frames++];
		uint64_t code = fah_get_varint(cur);
		uint32_t instr = (uint32_t)fah_get_varint(cur);

		f->entry = code & 1;
		f->function = f->line = 0;
		f->known = fah_codes_resolve(codes, w, (uint32_t)(code >> 1), instr, &f->function,
					     &f->line);
	}
	return !cur->bad;
}

/* The native frames, if the record has them: the number of their map, 0: none. */
static uint32_t take_pcs(struct fah_stack_ctx *ctx, struct fah_cursor *cur)
{
	uint64_t map, keep, push, pc = 0;

	if (cur->p == cur->end)
		return 0;
	map = fah_get_varint(cur);
	keep = fah_get_varint(cur);
	push = fah_get_varint(cur);
	if (cur->bad || !map || map > UINT32_MAX || keep > ctx->n_pcs ||
	    push > FAH_NATIVE_MAX - keep) {
		ctx->n_pcs = 0;
		return 0;
	}
	ctx->n_pcs = (uint32_t)keep;
	while (push--) {
		pc += (uint64_t)fah_unzigzag(fah_get_varint(cur));
		ctx->pcs[ctx->n_pcs++] = pc;
	}
	return cur->bad ? 0 : (uint32_t)map;
}

static uint32_t native_function(struct fah_writer *w, const struct fah_name_frame *f,
				const char *path)
{
	uint32_t module = fah_writer_string(w, path, strlen(path)),
		 name = fah_writer_string(w, f->function, strlen(f->function));

	if (!f->file)
		return fah_writer_other_function(w, module, name, FAH_FUNCTION_NATIVE);
	return fah_writer_native_function(w, fah_writer_string(w, f->file, strlen(f->file)), name,
					  module);
}

/* One address may be several frames: what the compiler has inlined. */
static uint32_t native_nodes(struct fah_modules *modules, struct fah_writer *w, uint32_t parent,
			     const struct fah_native_place *place)
{
	uint32_t n = 0;
	struct fah_name_frame *frames = fah_modules_frames(modules, place, &n);

	for (uint32_t i = 0; frames && i < n; i++) {
		struct fah_name_frame *f = &frames[i];

		if (!f->id)
			f->id = native_function(w, f, place->path);
		parent = fah_writer_node(w, parent, f->id, f->line);
	}
	return parent;
}

static uint32_t python_node(struct fah_writer *w, uint32_t parent, const struct fah_stack_frame *f)
{
	return fah_writer_node(w, parent, f->function, f->line);
}

/* The garbage collector's own frame, beneath the one that it was called from. */
static uint32_t collector_node(struct fah_writer *w, uint32_t caller)
{
	static const char name[] = "<garbage collector>";
	uint32_t function = fah_writer_other_function(
		w, 0, fah_writer_string(w, name, sizeof(name) - 1), FAH_FUNCTION_RUNTIME);

	return fah_writer_node(w, caller, function, 0);
}

struct merge {
	struct fah_stack_ctx *ctx;
	struct fah_writer *w;
	struct fah_modules *modules;
	struct fah_runtime_code *runtime;
	struct fah_native_place places[FAH_NATIVE_MAX]; /* of ctx->pcs */
	uint32_t evals;					/* among pcs: how many */
	uint32_t inner; /* of pcs, the innermost that is one, or machine code that the interpreter's
			   own JIT made for it: what follows it was called from there */
	bool reached;	/* there is one */
	uint32_t n_frames; /* of ctx->frames that stand in loops */
	uint32_t entries;  /* among them */
	uint32_t ended_at; /* the frame behind them stands before this one of pcs; 0: it does not */
	bool in_gc;
};

static void ask_runtime(const struct merge *m, uint64_t pc, struct fah_native_place *place)
{
	struct fah_names *names = m->runtime ? fah_runtime_code_names(m->runtime, pc) : NULL;

	if (!names)
		return;
	place->names = names;
	place->offset = pc;
	place->path = FAH_PATH_MADE;
}

static void look(struct merge *m, uint32_t map)
{
	m->evals = m->entries = m->inner = 0;
	m->reached = false;
	for (uint32_t i = 0; i < m->ctx->n_pcs; i++) {
		uint64_t pc = m->ctx->pcs[i] >> 2;

		fah_modules_place(m->modules, map, pc, &m->places[i]);
		m->places[i].eval |= m->ctx->pcs[i] & 1;
		m->places[i].jit |= (m->ctx->pcs[i] & 2) != 0;
		if (m->places[i].kind == FAH_MODULE_UNKNOWN && !m->places[i].named &&
		    !m->places[i].jit)
			ask_runtime(m, pc, &m->places[i]);
		m->evals += m->places[i].eval;
		if (m->places[i].eval || m->places[i].jit) {
			m->inner = i;
			m->reached = true;
		}
	}
	for (uint32_t i = 0; i < m->n_frames; i++)
		m->entries += m->ctx->frames[i].entry;
}

/* Does code of neither the interpreter nor the C library run inside the innermost loop? */
static bool foreign(const struct merge *m)
{
	for (uint32_t i = m->reached ? m->inner + 1 : 0; i < m->ctx->n_pcs; i++)
		if (m->places[i].kind == FAH_MODULE_OTHER ||
		    m->places[i].kind == FAH_MODULE_UNKNOWN)
			return true;
	return false;
}

/* The interpreter tells our agent of something: it calls a function of ours, not the program's. */
static bool is_told(const struct merge *m, uint32_t from)
{
	for (uint32_t i = from; i < m->ctx->n_pcs; i++)
		if (m->places[i].kind == FAH_MODULE_AGENT)
			return true;
	return false;
}

/*
 * The innermost frame stands at a call instruction: has it called C code that still runs, or is the
 * interpreter about to begin, or to end, a call of Python code? Where that is not to be told the
 * instruction's word holds, which the agent went by.
 */
static bool called_c(struct merge *m)
{
	bool helped = false;

	if (!m->reached || foreign(m))
		return true;
	for (uint32_t i = m->inner; i + 1 < m->ctx->n_pcs; i++) {
		switch (fah_modules_step(m->modules, &m->places[i], &m->places[i + 1])) {
		case FAH_CALLEE_C:
			return !(helped && is_told(m, i + 1));
		case FAH_CALLEE_POINTER:
			return !(helped && (m->in_gc || is_told(m, i + 1)));
		case FAH_CALLEE_HELPER:
			helped = true;
			break;
		case FAH_CALLEE_PASSES:
			break;
		default: /* in the C library it does what its caller does */
			return false;
		}
	}
	return false;
}

/*
 * The innermost frame has ended if something is freed inside the innermost loop: then it is what
 * the frame held. A frame that was just pushed looks like the one that stood there before until it
 * is filled, but nothing is freed meanwhile. *ret_at: the native frame that was called to run it.
 */
static bool is_dying(struct merge *m, uint32_t *ret_at)
{
	*ret_at = 0;
	for (uint32_t i = m->inner; m->reached && i + 1 < m->ctx->n_pcs; i++) {
		enum fah_callee_step step =
			fah_modules_step(m->modules, &m->places[i], &m->places[i + 1]);

		if (step != FAH_CALLEE_PASSES && !*ret_at)
			*ret_at = i + 1;
		if (step == FAH_CALLEE_FREES)
			return true;
		if (step != FAH_CALLEE_PASSES && step != FAH_CALLEE_HELPER &&
		    step != FAH_CALLEE_PYTHON)
			return false;
	}
	return false;
}

/* The innermost frame is taken away, or put in its place among the native ones. */
static bool place_dying(struct merge *m)
{
	bool entry = m->ctx->frames[m->n_frames - 1].entry;
	uint32_t at;
	bool dying = is_dying(m, &at);

	/* it ran in the innermost loop, which is still there */
	if (dying && (!entry || m->evals == m->entries))
		return true;
	m->n_frames--;
	m->entries -= entry;
	/* 3.11: its loop has gone, and the innermost one is its caller's */
	if (!dying || m->in_gc || m->evals != m->entries)
		return false;
	m->ended_at = at;
	return true;
}

/* Python or native, by the native frames. */
static void judge(struct merge *m, bool dying, uint32_t *flags)
{
	uint32_t in = *flags & FAH_IN_MASK;

	if (in == FAH_IN_PYTHON && foreign(m))
		*flags |= FAH_IN_NATIVE;
	else if (in == FAH_IN_NATIVE && m->n_frames && (dying ? !foreign(m) : !called_c(m)))
		*flags &= ~(uint32_t)FAH_IN_MASK; /* FAH_IN_PYTHON */
}

/* One entry frame and those behind it in the same loop; how many were taken. */
static uint32_t add_group(struct merge *m, uint32_t from, uint32_t *node)
{
	uint32_t i = from;

	do
		*node = python_node(m->w, *node, &m->ctx->frames[i++]);
	while (i < m->n_frames && !m->ctx->frames[i].entry);
	if (i == m->n_frames && m->in_gc)
		*node = collector_node(m->w, *node);
	return i - from;
}

static uint32_t add_natives(struct merge *m, uint32_t from, uint32_t to, uint32_t node)
{
	for (uint32_t i = from; i < to; i++) {
		if (m->ended_at && i == m->ended_at)
			node = python_node(m->w, node, &m->ctx->frames[m->n_frames]);
		/* the JIT's code is the Python frame that it was made of */
		if (!m->places[i].jit)
			node = native_nodes(m->modules, m->w, node, &m->places[i]);
	}
	return node;
}

static uint32_t join(struct merge *m, struct fah_stack_stats *stats)
{
	const struct fah_stack_ctx *ctx = m->ctx;
	uint32_t node = 0, frame = 0;

	if (!m->n_frames) /* a thread without Python, or before its first frame */
		return add_natives(m, 0, ctx->n_pcs, 0);
	/* The outermost frame always is an entry, unless the outer ones were left out. A loop that
	 * has just begun or is about to end has no frame of Python; only the innermost can be that.
	 */
	if ((m->evals == m->entries || m->evals == m->entries + 1) && m->evals &&
	    ctx->frames[0].entry) {
		stats->joined++;
		for (uint32_t i = 0; i < ctx->n_pcs; i++) {
			if (m->places[i].eval && frame < m->n_frames)
				frame += add_group(m, frame, &node);
			else
				node = add_natives(m, i, i + 1, node);
		}
		return node;
	}
	while (frame < m->n_frames)
		frame += add_group(m, frame, &node);
	if (!m->reached) {
		stats->unjoined++;
		if (ctx->n_pcs && m->places[0].kind == FAH_MODULE_UNKNOWN)
			return add_natives(m, 0, ctx->n_pcs, node);
		return node;
	}
	/* 3.14's JIT tells nobody how to unwind its code, but with one loop nothing is missing */
	if (!m->evals && m->entries == 1 && ctx->frames[0].entry)
		stats->joined++;
	else
		stats->partly++;
	return add_natives(m, m->inner + 1, ctx->n_pcs, node);
}

bool fah_stack_take(struct fah_stack_ctx *ctx, struct fah_codes *codes, struct fah_modules *modules,
		    struct fah_runtime_code *runtime, struct fah_writer *w, struct fah_cursor *cur,
		    uint32_t *flags, struct fah_stack_stats *stats, uint32_t *ret_node)
{
	struct merge m = {.ctx = ctx,
			  .w = w,
			  .modules = modules,
			  .runtime = runtime,
			  .in_gc = *flags & FAH_SAMPLE_IN_GC};
	bool dying = *flags & FAH_SAMPLE_DYING;
	uint32_t map;

	*flags &= FAH_SAMPLE_FLAGS_MASK;
	*ret_node = 0;
	if (!take_frames(ctx, codes, w, cur)) {
		ctx->n_frames = ctx->n_pcs = 0;
		return false;
	}
	map = take_pcs(ctx, cur);
	if (cur->bad)
		return false;
	for (uint32_t i = 0; i < ctx->n_frames; i++)
		if (!ctx->frames[i].known)
			return false;
	m.n_frames = ctx->n_frames;
	dying &= m.n_frames > 0;
	if (!map || !modules) {
		stats->without++;
		m.n_frames -= dying;
		for (uint32_t i = 0; i < m.n_frames;)
			i += add_group(&m, i, ret_node);
		return true;
	}
	look(&m, map);
	dying = dying && place_dying(&m);
	judge(&m, dying, flags);
	*ret_node = join(&m, stats);
	return true;
}
