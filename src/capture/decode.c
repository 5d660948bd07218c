/*
 * decode.c - payloads to structs. Every number from the file is bounded here; bytes behind what
 * this version knows are ignored, so that later versions may add fields at the end.
 */
#include "capture/reader.h"

#include "core/err.h"

static struct fah_cursor over(const struct fah_record *rec)
{
	return (struct fah_cursor){rec->payload, rec->payload + rec->len, false};
}

static int done(const struct fah_cursor *c)
{
	return c->bad ? FAH_ERR_DAMAGED : 0;
}

static uint32_t get_u32(struct fah_cursor *c)
{
	uint64_t v = fah_get_varint(c);

	if (v > UINT32_MAX)
		c->bad = true;
	return (uint32_t)v;
}

static struct fah_str get_str(struct fah_cursor *c)
{
	uint64_t len = fah_get_varint(c);
	const uint8_t *p = fah_get_bytes(c, len);

	if (!p)
		return (struct fah_str){"", 0};
	return (struct fah_str){(const char *)p, (uint32_t)len};
}

int fah_decode_meta(struct fah_cursor *c, struct fah_str *ret_key, struct fah_str *ret_value)
{
	if (!c->bad && c->p == c->end)
		return 0;
	*ret_key = get_str(c);
	*ret_value = get_str(c);
	return c->bad ? FAH_ERR_DAMAGED : 1;
}

int fah_decode_string(const struct fah_record *rec, struct fah_str *ret)
{
	struct fah_cursor c = over(rec);

	*ret = get_str(&c);
	return done(&c);
}

int fah_decode_function(const struct fah_record *rec, struct fah_rec_function *ret)
{
	struct fah_cursor c = over(rec);

	ret->file = get_u32(&c);
	ret->name = get_u32(&c);
	ret->qualname = get_u32(&c);
	ret->first_line = get_u32(&c);
	/* version 1 had no kinds */
	ret->kind = !c.bad && c.p < c.end ? get_u32(&c) : FAH_FUNCTION_PYTHON;
	ret->module = !c.bad && c.p < c.end ? get_u32(&c) : 0;
	return done(&c);
}

int fah_decode_process(const struct fah_record *rec, struct fah_rec_process *ret)
{
	struct fah_cursor c = over(rec);

	ret->pid = get_u32(&c);
	ret->ppid = get_u32(&c);
	ret->forked = get_u32(&c) & 1;
	ret->python_version = get_u32(&c);
	ret->start_ns = fah_get_varint(&c);
	ret->cmdline = get_str(&c);
	ret->period_ns = fah_get_varint(&c);
	ret->clock = get_u32(&c);
	return done(&c);
}

int fah_decode_thread(const struct fah_record *rec, struct fah_rec_thread *ret)
{
	struct fah_cursor c = over(rec);

	ret->process = get_u32(&c);
	ret->tid = get_u32(&c);
	ret->start_ns = fah_get_varint(&c);
	ret->name = get_str(&c);
	return done(&c);
}

int fah_decode_drops(const struct fah_record *rec, struct fah_rec_drops *ret)
{
	struct fah_cursor c = over(rec);

	ret->thread = get_u32(&c);
	ret->time_ns = fah_get_varint(&c);
	ret->reason = get_u32(&c);
	ret->count = fah_get_varint(&c);
	ret->cpu_ns = fah_get_varint(&c);
	return done(&c);
}

int fah_decode_thread_end(const struct fah_record *rec, struct fah_rec_thread_end *ret)
{
	struct fah_cursor c = over(rec);

	ret->thread = get_u32(&c);
	ret->time_ns = fah_get_varint(&c);
	ret->cpu_ns = fah_get_varint(&c);
	ret->start_ns = UINT64_MAX;
	ret->before_ns = 0;
	if (c.p < c.end && !c.bad) {
		ret->start_ns = fah_get_varint(&c);
		ret->before_ns = fah_get_varint(&c);
	}
	return done(&c);
}

/* A count, then that many numbers; those beyond max are passed over. How many are in to[]. */
static uint32_t get_numbers(struct fah_cursor *c, uint64_t *to, uint32_t max)
{
	uint64_t n = fah_get_varint(c), v;
	uint32_t kept = 0;

	for (uint64_t i = 0; i < n && !c->bad; i++) {
		v = fah_get_varint(c);
		if (kept < max)
			to[kept++] = v;
	}
	return kept;
}

int fah_decode_process_end(const struct fah_record *rec, struct fah_rec_process_end *ret)
{
	struct fah_cursor c = over(rec);

	*ret = (struct fah_rec_process_end){0};
	ret->process = get_u32(&c);
	ret->time_ns = fah_get_varint(&c);
	ret->user_ns = fah_get_varint(&c);
	ret->system_ns = fah_get_varint(&c);
	ret->max_rss_bytes = fah_get_varint(&c);
	ret->samples = fah_get_varint(&c);
	ret->recovered = fah_get_varint(&c);
	/* a later version may know more reasons than fit */
	ret->n_drops = get_numbers(&c, ret->drops, sizeof(ret->drops) / sizeof(ret->drops[0]));
	ret->status = get_u32(&c);
	ret->reason = get_str(&c);
	return done(&c);
}

int fah_decode_states(const struct fah_record *rec, struct fah_rec_states *ret)
{
	struct fah_cursor c = over(rec);

	ret->thread = get_u32(&c);
	ret->time_ns = fah_get_varint(&c);
	ret->cpu_ns = fah_get_varint(&c);
	ret->ready_ns = fah_get_varint(&c);
	return done(&c);
}

static void get_hist(struct fah_cursor *c, struct fah_hist *h)
{
	h->sum_ns = fah_get_varint(c);
	h->max_ns = fah_get_varint(c);
	get_numbers(c, h->buckets, FAH_HIST_BUCKETS);
	for (uint32_t i = 0; i < FAH_HIST_BUCKETS; i++)
		if (__builtin_add_overflow(h->count, h->buckets[i], &h->count))
			c->bad = true;
}

int fah_decode_health(const struct fah_record *rec, struct fah_rec_health *ret)
{
	struct fah_cursor c = over(rec);

	*ret = (struct fah_rec_health){0};
	ret->process = get_u32(&c);
	get_hist(&c, &ret->handlers);
	get_hist(&c, &ret->gaps);
	ret->interval_sum_ns = fah_get_varint(&c);
	get_numbers(&c, ret->native_stops, FAH_NATIVE_STOPS);
	if (c.p < c.end) /* older ones do not say */
		ret->told_ns = fah_get_varint(&c);
	return done(&c);
}

int fah_decode_iterations(const struct fah_record *rec, struct fah_rec_iterations *ret)
{
	struct fah_cursor c = over(rec);

	ret->thread = get_u32(&c);
	ret->loop = fah_get_varint(&c);
	ret->label = get_u32(&c);
	ret->first = fah_get_varint(&c);
	ret->count = fah_get_varint(&c);
	ret->time_ns = fah_get_varint(&c);
	ret->wall_ns = fah_get_varint(&c);
	ret->cpu_ns = fah_get_varint(&c);
	ret->squares = fah_get_varint(&c);
	if (!ret->count || ret->first + ret->count < ret->count)
		c.bad = true;
	return done(&c);
}

int fah_decode_calls(const struct fah_record *rec, struct fah_rec_calls *ret)
{
	struct fah_cursor c = over(rec);

	ret->process = get_u32(&c);
	ret->time_ns = fah_get_varint(&c);
	ret->function = get_u32(&c);
	ret->caller = get_u32(&c);
	ret->line = get_u32(&c);
	ret->place = get_u32(&c);
	ret->count = fah_get_varint(&c);
	ret->by_caller.function = ret->caller;
	ret->by_caller.starts = fah_get_varint(&c);
	ret->by_caller.calls = fah_get_varint(&c);
	ret->by_caller.total = fah_get_varint(&c);
	ret->missed = fah_get_varint(&c);
	ret->by_other.function = get_u32(&c);
	ret->by_other.starts = fah_get_varint(&c);
	ret->by_other.calls = fah_get_varint(&c);
	ret->by_other.total = fah_get_varint(&c);
	ret->passed = c.p < c.end ? fah_get_varint(&c) : 0; /* older ones do not say */
	return done(&c);
}

int fah_decode_counting(const struct fah_record *rec, struct fah_rec_counting *ret)
{
	struct fah_cursor c = over(rec);

	ret->process = get_u32(&c);
	ret->time_ns = fah_get_varint(&c);
	ret->function = get_u32(&c);
	ret->on = get_u32(&c);
	ret->work_ns = fah_get_varint(&c);
	return done(&c);
}

int fah_decode_timed(const struct fah_record *rec, struct fah_rec_timed *ret)
{
	struct fah_cursor c = over(rec);
	uint64_t by;

	ret->process = get_u32(&c);
	ret->function = get_u32(&c);
	by = fah_get_varint(&c);
	ret->whole = by == 0;
	ret->caller = by > 1 && by <= UINT32_MAX ? (uint32_t)(by - 1) : 0;
	ret->calls = fah_get_varint(&c);
	ret->recursive = fah_get_varint(&c);
	ret->self_ns = fah_unzigzag(fah_get_varint(&c));
	ret->total_ns = fah_unzigzag(fah_get_varint(&c));
	if (by > UINT32_MAX)
		c.bad = true;
	return done(&c);
}

int fah_decode_lines(const struct fah_record *rec, struct fah_rec_lines *ret)
{
	struct fah_cursor c = over(rec);

	ret->process = get_u32(&c);
	ret->time_ns = fah_get_varint(&c);
	ret->function = get_u32(&c);
	ret->code = get_u32(&c);
	ret->marked = get_u32(&c);
	ret->rest = c;
	return done(&c);
}

int fah_lines_next(struct fah_rec_lines *lines, struct fah_rec_line *ret)
{
	struct fah_cursor *c = &lines->rest;

	if (c->p == c->end)
		return 0;
	ret->line = get_u32(c);
	ret->hits = fah_get_varint(c);
	ret->ns = fah_get_varint(c);
	ret->called_ns = fah_get_varint(c);
	return done(c) < 0 ? FAH_ERR_DAMAGED : 1;
}

int fah_decode_lines_state(const struct fah_record *rec, struct fah_rec_lines_state *ret)
{
	struct fah_cursor c = over(rec);

	ret->process = get_u32(&c);
	ret->time_ns = fah_get_varint(&c);
	ret->line_ns = fah_get_varint(&c);
	ret->lost_functions = fah_get_varint(&c);
	ret->lost_frames = fah_get_varint(&c);
	ret->lost_lines = fah_get_varint(&c);
	ret->why = get_str(&c);
	return done(&c);
}

int fah_decode_alloc(const struct fah_record *rec, struct fah_rec_alloc *ret)
{
	struct fah_cursor c = over(rec);

	ret->thread = get_u32(&c);
	ret->time_ns = fah_get_varint(&c);
	ret->block = fah_get_varint(&c);
	ret->kind = get_u32(&c);
	ret->node = get_u32(&c);
	ret->bytes = fah_get_varint(&c);
	ret->held = fah_get_varint(&c);
	ret->most = fah_get_varint(&c);
	return done(&c);
}

int fah_decode_free(const struct fah_record *rec, struct fah_rec_free *ret)
{
	struct fah_cursor c = over(rec);

	ret->process = get_u32(&c);
	ret->time_ns = fah_get_varint(&c);
	ret->block = fah_get_varint(&c);
	ret->held = fah_get_varint(&c);
	ret->most = fah_get_varint(&c);
	ret->ending = c.p < c.end ? get_u32(&c) : 0;
	return done(&c);
}

int fah_decode_blocks(const struct fah_record *rec, struct fah_rec_blocks *ret)
{
	struct fah_cursor c = over(rec);
	uint64_t n;

	ret->thread = get_u32(&c);
	ret->time_ns = fah_get_varint(&c);
	ret->age_ns = fah_get_varint(&c);
	ret->ending = get_u32(&c);
	ret->first = fah_get_varint(&c);
	ret->held = fah_get_varint(&c);
	ret->most = fah_get_varint(&c);
	n = fah_get_varint(&c);
	if (c.bad || n > (uint64_t)(c.end - c.p))
		return FAH_ERR_DAMAGED;
	ret->n_sites = (uint32_t)n;
	ret->sites = c;
	while (n--)
		get_u32(&c);
	ret->sites.end = c.p;
	ret->events = c;
	return done(&c);
}

int fah_decode_heap(const struct fah_record *rec, struct fah_rec_heap *ret)
{
	struct fah_cursor c = over(rec);

	ret->process = get_u32(&c);
	ret->time_ns = fah_get_varint(&c);
	ret->interval = fah_get_varint(&c);
	ret->before = fah_get_varint(&c);
	ret->python = fah_get_varint(&c);
	ret->native = fah_get_varint(&c);
	ret->most = fah_get_varint(&c);
	ret->lost = fah_get_varint(&c);
	ret->copied = fah_get_varint(&c);
	return done(&c);
}

int fah_decode_copy(const struct fah_record *rec, struct fah_rec_copy *ret)
{
	struct fah_cursor c = over(rec);

	ret->thread = get_u32(&c);
	ret->time_ns = fah_get_varint(&c);
	ret->node = get_u32(&c);
	ret->bytes = fah_get_varint(&c);
	ret->interval = fah_get_varint(&c);
	return done(&c);
}

/* Plus 1, 0: not known; nor is what the record does not have. */
static uint64_t get_figure(struct fah_cursor *c)
{
	return !c->bad && c->p < c->end ? fah_get_varint(c) - 1 : FAH_MEMORY_UNKNOWN;
}

int fah_decode_memory(const struct fah_record *rec, struct fah_rec_memory *ret)
{
	struct fah_cursor c = over(rec);
	uint64_t *own[] = {&ret->resident, &ret->swapped, &ret->high};
	uint64_t *machine[] = {&ret->total, &ret->available, &ret->used,
			       &ret->cache, &ret->limit,     &ret->kills};
	size_t i;

	ret->process = get_u32(&c);
	ret->time_ns = fah_get_varint(&c);
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		*own[i] = ret->process ? get_figure(&c) : FAH_MEMORY_UNKNOWN;
	for (i = 0; i < sizeof(machine) / sizeof(machine[0]); i++)
		*machine[i] = ret->process ? FAH_MEMORY_UNKNOWN : get_figure(&c);
	return done(&c);
}

int fah_decode_end(const struct fah_record *rec, struct fah_rec_end *ret)
{
	struct fah_cursor c = over(rec);

	ret->wall_ns = fah_get_varint(&c);
	ret->user_ns = fah_get_varint(&c);
	ret->system_ns = fah_get_varint(&c);
	ret->max_rss_bytes = fah_get_varint(&c);
	ret->wait_status = get_u32(&c);
	ret->lost_records = fah_get_varint(&c);
	ret->lost_bytes = fah_get_varint(&c);
	return done(&c);
}

/* An item has at least three bytes, so a count that the payload can't hold is found here. */
static int check_count(struct fah_cursor *c, uint64_t count, uint32_t *ret_left)
{
	if (c->bad || count > (uint64_t)(c->end - c->p) / 3)
		return FAH_ERR_DAMAGED;
	*ret_left = (uint32_t)count;
	return 0;
}

int fah_nodes_open(const struct fah_record *rec, struct fah_nodes_block *ret)
{
	uint64_t count;

	ret->c = over(rec);
	ret->left = 0;
	count = fah_get_varint(&ret->c);
	return check_count(&ret->c, count, &ret->left);
}

int fah_samples_open(const struct fah_record *rec, struct fah_samples_block *ret)
{
	uint64_t count;

	ret->c = over(rec);
	ret->left = 0;
	ret->thread = get_u32(&ret->c);
	count = fah_get_varint(&ret->c);
	ret->time_ns = fah_get_varint(&ret->c);
	ret->usual_us = fah_get_varint(&ret->c);
	ret->v1 = rec->version < 2;
	if (ret->usual_us >= FAH_US_MAX)
		return FAH_ERR_DAMAGED;
	return check_count(&ret->c, count, &ret->left);
}

void fah_samples_more(struct fah_samples_block *b, struct fah_sample_item *item, uint64_t word)
{
	uint64_t system;

	if (b->v1) {
		item->node = (uint32_t)(word >> 6);
		item->flags = (uint32_t)word & 63;
		return;
	}
	item->flags = (uint32_t)fah_get_varint(&b->c) & FAH_SAMPLE_FLAGS_MASK;
	if (!(item->flags & FAH_SAMPLE_SYSTEM_PART))
		return;
	system = fah_get_varint(&b->c);
	item->system_ns = system < item->cpu_ns / 1000 ? system * 1000 : item->cpu_ns;
}

int fah_waits_open(const struct fah_record *rec, struct fah_waits_block *ret)
{
	uint64_t count;

	ret->c = over(rec);
	ret->left = 0;
	ret->thread = get_u32(&ret->c);
	count = fah_get_varint(&ret->c);
	ret->time_ns = fah_get_varint(&ret->c);
	return check_count(&ret->c, count, &ret->left);
}

bool fah_waits_next(struct fah_waits_block *b, struct fah_wait_item *ret)
{
	uint64_t since, length, other, place;

	if (!b->left)
		return false;
	b->left--;
	since = fah_get_varint(&b->c);
	length = fah_get_varint(&b->c);
	other = fah_get_varint(&b->c);
	place = fah_get_varint(&b->c);
	if ((since | length | other) >= FAH_US_MAX || place >> FAH_WAIT_BITS >> 32)
		b->c.bad = true;
	b->time_ns += since * 1000;
	ret->time_ns = b->time_ns;
	ret->length_ns = length * 1000;
	ret->waited_ns = other < length ? (length - other) * 1000 : 0;
	ret->node = (uint32_t)(place >> FAH_WAIT_BITS);
	ret->reason = (uint32_t)place & ((1u << FAH_WAIT_BITS) - 1);
	return !b->c.bad;
}
