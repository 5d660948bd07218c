/* records.c - see records.h. Each adds its time to the chunk's, also where it is not written. */
#include "collect/records.h"

#include "capture/reader.h"
#include "capture/writer.h"
#include "base/room.h"
#include "core/varint.h"

/* The first number of each: its distance to the one before. Its time since the start. */
static uint64_t take_time(const struct fah_taking *t, struct fah_cursor *cur)
{
	uint64_t mono_ns = t->ctx->time_ns += fah_get_varint(cur);

	return mono_ns > t->start_mono_ns ? mono_ns - t->start_mono_ns : 0;
}

/* Where a block or a copy was asked for; 0: it is not known, and counts all the same. */
static uint32_t take_stack(const struct fah_taking *t, struct fah_cursor *cur, uint32_t flags)
{
	uint32_t node;

	return fah_stack_take(&t->ctx->stack, &t->p->codes, t->modules, fah_collected_runtime(t->p),
			      t->w, cur, &flags, t->stacks, &node)
		       ? node
		       : 0;
}

static void take_iterations(const struct fah_taking *t, struct fah_cursor *cur)
{
	struct fah_rec_iterations it;
	const uint8_t *label;
	uint64_t n;

	it.thread = t->ctx->thread;
	it.time_ns = take_time(t, cur);
	it.loop = fah_get_varint(cur);
	it.first = fah_get_varint(cur);
	it.count = fah_get_varint(cur);
	it.wall_ns = fah_get_varint(cur);
	it.cpu_ns = fah_get_varint(cur);
	it.squares = fah_get_varint(cur);
	n = fah_get_varint(cur);
	label = fah_get_bytes(cur, n);
	if (cur->bad || !t->write)
		return;
	it.label = fah_writer_string(t->w, (const char *)label, (size_t)n);
	fah_writer_iterations(t->w, &it);
}

static void take_calls(const struct fah_taking *t, struct fah_cursor *cur)
{
	struct fah_rec_calls c = {.process = t->p->id};
	uint32_t callee, caller, other, instr, line;

	c.time_ns = take_time(t, cur);
	callee = (uint32_t)fah_get_varint(cur);
	caller = (uint32_t)fah_get_varint(cur);
	instr = (uint32_t)fah_get_varint(cur);
	c.count = fah_get_varint(cur);
	c.by_caller.starts = fah_get_varint(cur);
	c.by_caller.calls = fah_get_varint(cur);
	c.by_caller.total = fah_get_varint(cur);
	c.missed = fah_get_varint(cur);
	other = (uint32_t)fah_get_varint(cur);
	c.by_other.starts = fah_get_varint(cur);
	c.by_other.calls = fah_get_varint(cur);
	c.by_other.total = fah_get_varint(cur);
	c.passed = fah_get_varint(cur);
	if (other && !cur->bad &&
	    !fah_codes_resolve(&t->p->codes, t->w, other, 0, &c.by_other.function, &line))
		c.by_other = (struct fah_paced_calls){0};
	c.place = instr;
	if (!cur->bad && t->write &&
	    fah_codes_resolve(&t->p->codes, t->w, callee, 0, &c.function, &line) &&
	    (!caller || fah_codes_resolve(&t->p->codes, t->w, caller, instr, &c.caller, &c.line)))
		fah_writer_calls(t->w, &c);
}

static void take_counting(const struct fah_taking *t, struct fah_cursor *cur)
{
	struct fah_rec_counting c = {.process = t->p->id};
	uint32_t id, line;

	c.time_ns = take_time(t, cur);
	id = (uint32_t)fah_get_varint(cur);
	c.on = (uint32_t)fah_get_varint(cur);
	c.work_ns = fah_get_varint(cur);
	if (!cur->bad && t->write &&
	    (!id || fah_codes_resolve(&t->p->codes, t->w, id, 0, &c.function, &line)))
		fah_writer_counting(t->w, &c);
}

void fah_records_timed(struct fah_collected *p, struct fah_writer *w, uint32_t callee, uint64_t by,
		       struct fah_rec_timed *r)
{
	uint32_t line;

	r->process = p->id;
	r->whole = by == 0;
	if (fah_codes_resolve(&p->codes, w, callee, 0, &r->function, &line) &&
	    (by < 2 || fah_codes_resolve(&p->codes, w, (uint32_t)(by - 1), 0, &r->caller, &line)))
		fah_writer_timed(w, r);
}

static void take_timed(const struct fah_taking *t, struct fah_cursor *cur)
{
	struct fah_rec_timed r = {0};
	uint32_t callee;
	uint64_t by;

	(void)take_time(t, cur); /* the capture has none for it */
	callee = (uint32_t)fah_get_varint(cur);
	by = fah_get_varint(cur);
	r.calls = fah_get_varint(cur);
	r.recursive = fah_get_varint(cur);
	r.self_ns = fah_unzigzag(fah_get_varint(cur));
	r.total_ns = fah_unzigzag(fah_get_varint(cur));
	if (!cur->bad && t->write)
		fah_records_timed(t->p, t->w, callee, by, &r);
}

void fah_records_lines(struct fah_collected *p, struct fah_writer *w, struct fah_rec_lines *lines)
{
	uint32_t line;

	lines->process = p->id;
	if (fah_codes_resolve(&p->codes, w, lines->code, 0, &lines->function, &line))
		fah_writer_lines(w, lines);
}

static void take_lines(const struct fah_taking *t, struct fah_cursor *cur)
{
	struct fah_rec_lines lines = {0};

	lines.time_ns = take_time(t, cur);
	lines.code = (uint32_t)fah_get_varint(cur);
	lines.marked = (uint32_t)fah_get_varint(cur);
	lines.rest = *cur; /* as it stands in the capture */
	if (!cur->bad && t->write)
		fah_records_lines(t->p, t->w, &lines);
}

static void take_lines_state(const struct fah_taking *t, struct fah_cursor *cur)
{
	struct fah_rec_lines_state s = {.process = t->p->id};

	s.time_ns = take_time(t, cur);
	s.line_ns = fah_get_varint(cur);
	s.lost_functions = fah_get_varint(cur);
	s.lost_frames = fah_get_varint(cur);
	s.lost_lines = fah_get_varint(cur);
	s.why.len = fah_get_varint(cur);
	s.why.p = (const char *)fah_get_bytes(cur, s.why.len);
	if (!cur->bad && t->write)
		fah_writer_lines_state(t->w, &s);
}

static void take_alloc(const struct fah_taking *t, struct fah_cursor *cur)
{
	struct fah_rec_alloc a = {.thread = t->ctx->thread};
	uint32_t flags;

	a.time_ns = take_time(t, cur);
	a.block = fah_get_varint(cur);
	a.kind = (uint32_t)fah_get_varint(cur);
	a.bytes = fah_get_varint(cur);
	a.held = fah_get_varint(cur);
	a.most = fah_get_varint(cur);
	flags = (uint32_t)fah_get_varint(cur);
	if (cur->bad)
		return;
	a.node = take_stack(t, cur, flags);
	if (t->write)
		fah_writer_alloc(t->w, &a);
}

static void take_free(const struct fah_taking *t, struct fah_cursor *cur)
{
	struct fah_rec_free f = {.process = t->p->id};

	f.time_ns = take_time(t, cur);
	f.block = fah_get_varint(cur);
	f.held = fah_get_varint(cur);
	f.most = fah_get_varint(cur);
	f.ending = (uint32_t)fah_get_varint(cur);
	if (!cur->bad && t->write)
		fah_writer_free_block(t->w, &f);
}

/* A node of the thread's own numbers; 0: none, or it cannot be told. */
static uint32_t node_at(const struct fah_chunk_ctx *ctx, uint64_t local)
{
	return local && local <= ctx->n_nodes ? ctx->nodes[local - 1] : 0;
}

static bool take_node(const struct fah_taking *t, struct fah_cursor *cur)
{
	struct fah_chunk_ctx *ctx = t->ctx;
	uint64_t distance = fah_get_varint(cur);
	uint32_t code = (uint32_t)fah_get_varint(cur), instr = (uint32_t)fah_get_varint(cur);
	uint32_t parent = distance && distance <= ctx->n_nodes
				  ? node_at(ctx, ctx->n_nodes + 1 - distance)
				  : 0,
		 function, line;

	if (cur->bad || ctx->n_nodes > FAH_CHUNK_SIZE ||
	    !fah_room(&ctx->nodes, ctx->n_nodes, &ctx->cap_nodes, sizeof(*ctx->nodes)))
		return false;
	ctx->nodes[ctx->n_nodes++] =
		fah_codes_resolve(&t->p->codes, t->w, code, instr, &function, &line)
			? fah_writer_node(t->w, parent, function, line)
			: parent;
	return true;
}

static void take_blocks(const struct fah_taking *t, struct fah_cursor *cur)
{
	struct fah_rec_blocks b = {.thread = t->ctx->thread};
	uint32_t sites[FAH_CHUNK_SIZE / 16];
	uint64_t n;

	b.time_ns = take_time(t, cur);
	b.age_ns = fah_get_varint(cur);
	b.ending = (uint32_t)fah_get_varint(cur);
	b.first = fah_get_varint(cur);
	b.held = fah_get_varint(cur);
	b.most = fah_get_varint(cur);
	for (n = fah_get_varint(cur); n && !cur->bad; n--)
		if (!take_node(t, cur))
			return;
	n = fah_get_varint(cur);
	if (cur->bad || n > sizeof(sites) / sizeof(sites[0]))
		return;
	b.n_sites = (uint32_t)n;
	for (uint32_t i = 0; i < n; i++)
		sites[i] = node_at(t->ctx, fah_get_varint(cur));
	b.events = *cur; /* as they stand in the capture */
	if (!cur->bad && t->write)
		fah_writer_blocks(t->w, &b, sites);
}

static void take_copy(const struct fah_taking *t, struct fah_cursor *cur)
{
	struct fah_rec_copy c = {.thread = t->ctx->thread};
	uint32_t flags;

	c.time_ns = take_time(t, cur);
	c.bytes = fah_get_varint(cur);
	c.interval = fah_get_varint(cur);
	flags = (uint32_t)fah_get_varint(cur);
	if (cur->bad)
		return;
	c.node = take_stack(t, cur, flags);
	if (t->write)
		fah_writer_copied(t->w, &c);
}

static void take_heap(const struct fah_taking *t, struct fah_cursor *cur)
{
	struct fah_rec_heap h = {.process = t->p->id};

	h.time_ns = take_time(t, cur);
	h.interval = fah_get_varint(cur);
	h.before = fah_get_varint(cur);
	h.python = fah_get_varint(cur);
	h.native = fah_get_varint(cur);
	h.most = fah_get_varint(cur);
	h.lost = fah_get_varint(cur);
	h.copied = fah_get_varint(cur);
	if (!cur->bad && t->write)
		fah_writer_heap(t->w, &h);
}

static const struct {
	enum fah_seg_record type;
	void (*take)(const struct fah_taking *t, struct fah_cursor *cur);
} records[] = {
	{FAH_SEG_ITERATIONS, take_iterations},
	{FAH_SEG_CALLS, take_calls},
	{FAH_SEG_COUNTING, take_counting},
	{FAH_SEG_TIMED, take_timed},
	{FAH_SEG_LINES, take_lines},
	{FAH_SEG_LINES_STATE, take_lines_state},
	{FAH_SEG_ALLOC, take_alloc},
	{FAH_SEG_FREE, take_free},
	{FAH_SEG_HEAP, take_heap},
	{FAH_SEG_COPY, take_copy},
	{FAH_SEG_BLOCKS, take_blocks},
};

bool fah_records_take(const struct fah_taking *t, int type, struct fah_cursor *cur)
{
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		if ((int)records[i].type != type)
			continue;
		records[i].take(t, cur);
		return true;
	}
	return false;
}
