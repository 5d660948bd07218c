/* chunk.c - the records of one chunk, from an agent to the capture. See drain_internal.h. */
#include "collect/drain_internal.h"

#include "capture/format.h"
#include "collect/logs.h"
#include "collect/records.h"
#include "core/varint.h"

#include <stdlib.h>
#include <string.h>

/* The record at *at below limit: its type, or -1 where none is whole. */
static int next_record(const struct fah_chunk *c, uint32_t *at, uint32_t limit,
		       const uint8_t **ret_payload, uint32_t *ret_len)
{
	uint32_t word;

	if (limit - *at < 4)
		return -1;
	memcpy(&word, c->data + *at, 4);
	if (word >> 8 > limit - *at - 4)
		return -1;
	*ret_payload = c->data + *at + 4;
	*ret_len = word >> 8;
	*at += 4 + (word >> 8);
	return (int)(word & 0xff);
}

uint32_t fah_chunk_used(const struct fah_chunk *c)
{
	uint32_t n = atomic_load_explicit(&c->used, memory_order_acquire);

	return n <= sizeof(c->data) ? n : 0; /* not credible: as if empty */
}

void fah_chunk_define(struct fah_collected *p, struct fah_chunk_ctx *ctx, const struct fah_chunk *c)
{
	uint32_t limit = fah_chunk_used(c), len;
	const uint8_t *payload;
	int type;

	while ((type = next_record(c, &ctx->defined, limit, &payload, &len)) >= 0)
		if (type == FAH_SEG_CODE || type == FAH_SEG_CODE_LINES)
			fah_codes_record(&p->codes, (uint32_t)type, payload, len);
}

static void take_thread(struct fah_drain *d, struct fah_collected *p, struct fah_chunk_ctx *ctx,
			struct fah_cursor *cur)
{
	uint32_t tid = (uint32_t)fah_get_varint(cur);
	uint64_t start = fah_get_varint(cur), n = fah_get_varint(cur);
	const uint8_t *name = fah_get_bytes(cur, n);

	ctx->time_ns = 0;
	ctx->tid = tid;
	ctx->start_ns = start;
	ctx->stack.n_frames = ctx->stack.n_pcs = 0;
	ctx->n_nodes = 0;
	const struct fah_thread_seen seen = {
		.w = d->w,
		.process = p->id,
		.run_start_ns = d->start_mono_ns,
		.tid = tid,
		.start_ns = start,
		.name = (const char *)name,
		.name_len = (size_t)n,
	};

	/* tid 0: what callbacks write, which is no thread's */
	ctx->thread = cur->bad || !tid ? 0 : fah_threads_of_agent(&p->threads, &seen);
}

static void take_thread_end(struct fah_drain *d, struct fah_collected *p,
			    const struct fah_chunk_ctx *ctx, uint64_t cpu_ns)
{
	const struct fah_segment_head *head = fah_segment_map_head(&p->segments[0]);
	const struct fah_thread_word word = {
		.thread = ctx->thread,
		.start_ns = ctx->start_ns,
		.end_ns = ctx->time_ns,
		.cpu_ns = cpu_ns,
		/* of the first thread: the interpreter's own start */
		.before_ns = !head->forked && ctx->tid == head->first_tid ? head->first_cpu_ns : 0,
	};

	if (d->ends.thread)
		d->ends.thread(d->ends.arg, p, &word);
	fah_writer_thread_life(d->w, word.thread, fah_drain_since(d, word.end_ns), word.cpu_ns,
			       fah_drain_since(d, word.start_ns), word.before_ns);
}

static void take_record(struct fah_drain *d, struct fah_collected *p, struct fah_chunk_ctx *ctx,
			int type, const uint8_t *payload, uint32_t len, bool write)
{
	const struct fah_taking taking = {d->w, d->modules, &d->stats.stacks, d->start_mono_ns, p,
					  ctx,	write};
	struct fah_cursor cur = {payload, payload + len, false};
	uint64_t time, cpu, system = 0;
	uint32_t flags, node;
	bool known;

	if (type == FAH_SEG_THREAD) {
		take_thread(d, p, ctx, &cur);
		return;
	}
	if (fah_records_take(&taking, type, &cur))
		return;
	if (type == FAH_SEG_LOG) {
		ctx->time_ns += fah_get_varint(&cur);
		if (write && d->logs)
			fah_logs_take(d->logs, p->pid, ctx->time_ns, &cur);
		return;
	}
	if (type != FAH_SEG_SAMPLE && type != FAH_SEG_DROP && type != FAH_SEG_THREAD_END)
		return;
	ctx->time_ns += fah_get_varint(&cur);
	cpu = fah_get_varint(&cur);
	time = fah_drain_since(d, ctx->time_ns);
	if (cur.bad || !ctx->thread)
		return;
	d->stats.cpu_ns += cpu;
	switch (type) {
	case FAH_SEG_SAMPLE:
		flags = (uint32_t)fah_get_varint(&cur);
		if (flags & FAH_SAMPLE_SYSTEM_PART)
			system = fah_get_varint(&cur);
		known = fah_stack_take(&ctx->stack, &p->codes, d->modules, fah_collected_runtime(p),
				       d->w, &cur, &flags, &d->stats.stacks, &node);
		if (!write)
			return;
		if (known) {
			fah_writer_sample_part(d->w, ctx->thread, time, cpu, system, flags, node);
			d->stats.samples++;
		} else {
			fah_writer_drops(d->w, ctx->thread, time, FAH_DROP_CODE, 1, cpu);
			d->stats.unresolved++;
		}
		return;
	case FAH_SEG_DROP:
		if (!write)
			return;
		fah_writer_drops(d->w, ctx->thread, time, (uint32_t)fah_get_varint(&cur), 1, cpu);
		d->stats.drops++;
		return;
	default:
		if (write)
			take_thread_end(d, p, ctx, fah_get_varint(&cur));
	}
}

void fah_chunk_take(struct fah_drain *d, struct fah_collected *p, struct fah_chunk_ctx *ctx,
		    const struct fah_chunk *c)
{
	const uint8_t *payload;
	uint32_t len;
	int type;

	while ((type = next_record(c, &ctx->taken, ctx->limit, &payload, &len)) >= 0)
		take_record(d, p, ctx, type, payload, len, ctx->taken > ctx->skip);
}

void fah_chunk_give_back(struct fah_chunk_ctx *ctx, struct fah_chunk *c)
{
	uint32_t idle = FAH_CHUNK_IDLE;

	atomic_store(&c->drained, ctx->taken);
	if (ctx->taken && ctx->taken == fah_chunk_used(c))
		atomic_compare_exchange_strong(&c->state, &idle, FAH_CHUNK_FULL);
	if (atomic_load_explicit(&c->state, memory_order_acquire) != FAH_CHUNK_FULL ||
	    ctx->taken != fah_chunk_used(c))
		return;
	free(ctx->nodes);
	memset(ctx, 0, sizeof(*ctx));
	atomic_store(&c->used, 0); /* first: a kill in between must not have it taken twice */
	atomic_store(&c->drained, 0);
	atomic_store_explicit(&c->state, FAH_CHUNK_FREE, memory_order_release);
}
