/*
 * writer.c - encode a run into records: interned definitions, blocks of nodes and of samples.
 *
 * Samples wait in a block of their thread, nodes in one block for all. Before a block of samples
 * goes out, the nodes do, so that definitions stand before their use; strings and functions go out
 * at once. The file, and a disk that is full, are the sink's business.
 */
#include "capture/writer.h"

#include "base/cleanup.h"
#include "capture/reader.h"
#include "capture/writer_internal.h"
#include "core/err.h"
#include "core/segment.h"
#include "core/varint.h"

#include <errno.h>
#include <string.h>

#define BLOCK_BYTES 4096u
#define ITEM_MAX (5 * FAH_VARINT_MAX)
#define BLOCK_HEAD_MAX (4 * FAH_VARINT_MAX)
#define US_LIMIT (FAH_US_MAX / 2) /* what a reader accepts, with room for the rest */
#define ONE_BYTE 64		  /* differences below this take one byte */
#define TEXT_MAX (1u << 20)	  /* of one string; what is longer is cut */

int fah_writer_new(const char *path, struct fah_writer **ret)
{
	_cleanup_(fah_freep) struct fah_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return FAH_ERR_NOMEM;
	err = fah_sink_open(&w->sink, path);
	if (err < 0)
		return err;
	*ret = TAKE_PTR(w);
	return 0;
}

/* A payload with up to 1 MB of text in it; a failure of memory is the sink's to count. */
static void put_number(struct fah_strbuf *sb, uint64_t v)
{
	uint8_t buf[FAH_VARINT_MAX];

	fah_strbuf_add(sb, buf, (size_t)(fah_put_varint(buf, v) - buf));
}

static void put_text(struct fah_strbuf *sb, const char *s, size_t len)
{
	if (len > TEXT_MAX)
		len = TEXT_MAX;
	put_number(sb, len);
	fah_strbuf_add(sb, s, len);
}

/* false: no memory. */
static bool send(struct fah_writer *w, enum fah_record_type type, struct fah_strbuf *payload)
{
	bool ok = !payload->failed;

	if (ok)
		fah_sink_record(&w->sink, type, fah_strbuf_str(payload), payload->len);
	fah_strbuf_release(payload);
	return ok;
}

void fah_writer_meta(struct fah_writer *w, const char *key, const char *value)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	put_text(&sb, key, strlen(key));
	put_text(&sb, value, strlen(value));
	send(w, FAH_REC_META, &sb);
}

uint32_t fah_writer_string(struct fah_writer *w, const char *s, size_t len)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	uint32_t *id;

	if (len > TEXT_MAX)
		len = TEXT_MAX;
	id = fah_strmap_put(&w->strings, s, len, NULL, NULL);
	if (!id)
		return 0;
	if (!*id) {
		put_text(&sb, s, len);
		if (send(w, FAH_REC_STRING, &sb))
			*id = ++w->n_strings;
	}
	return *id;
}

static uint32_t define_function(struct fah_writer *w, uint32_t file, uint32_t name,
				uint32_t qualname, uint32_t first_line, uint32_t kind,
				uint32_t module)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	uint32_t *id;

	if (file > w->n_strings || name > w->n_strings || qualname > w->n_strings ||
	    module > w->n_strings)
		return 0;
	id = fah_map_put(&w->functions,
			 fah_function_key(file, name, qualname, first_line, kind, module), NULL);
	if (!id)
		return 0;
	if (!*id) {
		put_number(&sb, file);
		put_number(&sb, name);
		put_number(&sb, qualname);
		put_number(&sb, first_line);
		put_number(&sb, kind);
		if (module)
			put_number(&sb, module);
		if (send(w, FAH_REC_FUNCTION, &sb))
			*id = ++w->n_functions;
	}
	return *id;
}

uint32_t fah_writer_function(struct fah_writer *w, uint32_t file, uint32_t name, uint32_t qualname,
			     uint32_t first_line)
{
	return define_function(w, file, name, qualname, first_line, FAH_FUNCTION_PYTHON, 0);
}

uint32_t fah_writer_other_function(struct fah_writer *w, uint32_t file, uint32_t name,
				   uint32_t kind)
{
	return define_function(w, file, name, 0, 0, kind, 0);
}

uint32_t fah_writer_native_function(struct fah_writer *w, uint32_t file, uint32_t name,
				    uint32_t module)
{
	return define_function(w, file, name, 0, 0, FAH_FUNCTION_NATIVE, module);
}

/* Room for one more item; the caller sends the block when it is full. */
static uint8_t *block_room(struct block *b)
{
	if (!b->buf)
		b->buf = malloc(BLOCK_BYTES);
	return b->buf ? b->buf + b->len : NULL;
}

static void block_send(struct fah_writer *w, struct block *b, enum fah_record_type type,
		       const uint8_t *head, size_t head_len)
{
	uint8_t payload[BLOCK_HEAD_MAX + BLOCK_BYTES];

	memcpy(payload, head, head_len);
	memcpy(payload + head_len, b->buf, b->len);
	fah_sink_record(&w->sink, type, payload, head_len + b->len);
	b->len = 0;
	b->count = 0;
}

static void send_nodes(struct fah_writer *w)
{
	uint8_t head[BLOCK_HEAD_MAX];

	if (w->node_block.count)
		block_send(w, &w->node_block, FAH_REC_NODES, head,
			   (size_t)(fah_put_varint(head, w->node_block.count) - head));
}

uint32_t fah_writer_node(struct fah_writer *w, uint32_t parent, uint32_t function, uint32_t line)
{
	struct block *b = &w->node_block;
	uint32_t *id;
	uint8_t *p;

	if (parent > w->n_nodes || function > w->n_functions)
		return 0;
	id = fah_map_put(&w->nodes, fah_key_u32x4(parent, function, line, 0), NULL);
	if (!id || *id)
		return id ? *id : 0;
	p = block_room(b);
	if (!p)
		return 0;
	*id = ++w->n_nodes;
	p = fah_put_varint(p, *id - parent);
	p = fah_put_varint(p, function);
	p = fah_put_varint(p, line);
	b->len = (size_t)(p - b->buf);
	b->count++;
	if (b->len > BLOCK_BYTES - ITEM_MAX)
		send_nodes(w);
	return w->n_nodes;
}

uint32_t fah_writer_process(struct fah_writer *w, const struct fah_process_def *def)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	uint32_t *id = fah_map_put(&w->processes, fah_process_key(def->pid, def->start_ns), NULL);

	if (!id || *id)
		return id ? *id : 0;
	put_number(&sb, def->pid);
	put_number(&sb, def->ppid);
	put_number(&sb, def->forked ? 1 : 0);
	put_number(&sb, def->python_version);
	put_number(&sb, def->start_ns);
	put_text(&sb, def->cmdline, def->cmdline_len);
	put_number(&sb, def->period_ns);
	put_number(&sb, def->clock);
	if (send(w, FAH_REC_PROCESS, &sb))
		*id = ++w->n_processes;
	return *id;
}

bool fah_writer_thread_room(struct fah_writer *w)
{
	size_t cap = w->cap_threads ? w->cap_threads * 2 : 16;
	struct thread *bigger;

	if (w->n_threads == w->cap_threads) {
		bigger = realloc(w->threads, cap * sizeof(*bigger));
		if (!bigger)
			return false;
		w->threads = bigger;
		w->cap_threads = cap;
	}
	w->threads[w->n_threads] = (struct thread){0};
	return true;
}

uint32_t fah_writer_thread(struct fah_writer *w, uint32_t process, uint32_t tid, uint64_t start_ns,
			   const char *name, size_t name_len)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	uint32_t *id;

	if (!process || process > w->n_processes)
		return 0;
	id = fah_map_put(&w->thread_ids, fah_thread_key(process, tid, start_ns), NULL);
	if (!id || *id || !fah_writer_thread_room(w))
		return id ? *id : 0;
	put_number(&sb, process);
	put_number(&sb, tid);
	put_number(&sb, start_ns);
	put_text(&sb, name, name_len);
	if (send(w, FAH_REC_THREAD, &sb))
		*id = ++w->n_threads;
	return *id;
}

static void send_samples(struct fah_writer *w, uint32_t id)
{
	struct thread *t = &w->threads[id - 1];
	uint8_t head[BLOCK_HEAD_MAX], *p = head;

	if (!t->block.count)
		return;
	send_nodes(w);
	p = fah_put_varint(p, id);
	p = fah_put_varint(p, t->block.count);
	p = fah_put_varint(p, t->base_ns);
	p = fah_put_varint(p, t->usual_us);
	block_send(w, &t->block, FAH_REC_SAMPLES, head, (size_t)(p - head));
}

static void send_waits(struct fah_writer *w, uint32_t id)
{
	struct thread *t = &w->threads[id - 1];
	uint8_t head[BLOCK_HEAD_MAX], *p = head;

	if (!t->waits.count)
		return;
	send_nodes(w);
	p = fah_put_varint(p, id);
	p = fah_put_varint(p, t->waits.count);
	p = fah_put_varint(p, t->waits_base_ns);
	block_send(w, &t->waits, FAH_REC_WAITS, head, (size_t)(p - head));
}

static void mark_dirty(struct fah_writer *w, uint32_t id)
{
	struct thread *t = &w->threads[id - 1];

	if (t->dirty)
		return;
	t->dirty = true;
	t->next_dirty = 0;
	if (w->last_dirty)
		w->threads[w->last_dirty - 1].next_dirty = id;
	else
		w->first_dirty = id;
	w->last_dirty = id;
}

void fah_writer_sample(struct fah_writer *w, uint32_t thread, uint64_t time_ns, uint64_t cpu_ns,
		       uint32_t flags, uint32_t node)
{
	fah_writer_sample_part(w, thread, time_ns, cpu_ns, 0,
			       flags & ~(uint32_t)FAH_SAMPLE_SYSTEM_PART, node);
}

void fah_writer_sample_part(struct fah_writer *w, uint32_t thread, uint64_t time_ns,
			    uint64_t cpu_ns, uint64_t system_ns, uint32_t flags, uint32_t node)
{
	uint64_t cpu_us, since_us, system_us;
	struct thread *t;
	uint32_t more;
	uint8_t *p;

	flags &= FAH_SAMPLE_FLAGS_MASK;
	if (!thread || thread > w->n_threads || node > w->n_nodes)
		return;
	t = &w->threads[thread - 1];
	p = block_room(&t->block);
	if (!p) {
		w->sink.loss.records++;
		return;
	}
	if (cpu_ns > US_LIMIT * 1000)
		cpu_ns = US_LIMIT * 1000;
	cpu_ns += t->cpu_rest_ns;
	cpu_us = cpu_ns / 1000;
	t->cpu_rest_ns = cpu_ns % 1000;
	if (cpu_us < t->last_us + ONE_BYTE && t->last_us < cpu_us + ONE_BYTE)
		t->next_usual_us = cpu_us;
	t->last_us = cpu_us;
	if (!t->block.count) { /* as if it had never waited: one byte */
		t->usual_us = t->next_usual_us ? t->next_usual_us : cpu_us;
		t->base_ns = time_ns > cpu_us * 1000 ? time_ns - cpu_us * 1000 : 0;
		t->time_ns = t->base_ns;
	}
	since_us = time_ns > t->time_ns ? (time_ns - t->time_ns) / 1000 : 0;
	if (since_us > US_LIMIT)
		since_us = US_LIMIT;
	t->time_ns += since_us * 1000;

	p = fah_put_varint(p, fah_zigzag((int64_t)(cpu_us - t->usual_us)));
	p = fah_put_varint(p, fah_zigzag((int64_t)(since_us - cpu_us)));
	more = flags & ~(uint32_t)(FAH_IN_MASK | FAH_SAMPLE_RAN_ON);
	p = fah_put_varint(p, (uint64_t)node << FAH_SHORT_BITS | (flags & FAH_IN_MASK) |
				      (flags & FAH_SAMPLE_RAN_ON) >> 3 |
				      (more ? FAH_SHORT_MORE : 0));
	if (more)
		p = fah_put_varint(p, flags);
	if (flags & FAH_SAMPLE_SYSTEM_PART) {
		system_ns += t->system_rest_ns;
		system_us = system_ns / 1000 < cpu_us ? system_ns / 1000 : cpu_us;
		t->system_rest_ns = system_ns - system_us * 1000;
		p = fah_put_varint(p, system_us);
	}
	t->block.len = (size_t)(p - t->block.buf);
	t->block.count++;
	mark_dirty(w, thread);
	if (t->block.len > BLOCK_BYTES - ITEM_MAX)
		send_samples(w, thread);
}

static uint64_t to_us(uint64_t ns)
{
	return ns / 1000 < US_LIMIT ? ns / 1000 : US_LIMIT;
}

void fah_writer_wait(struct fah_writer *w, uint32_t thread, uint64_t time_ns, uint64_t length_ns,
		     uint64_t waited_ns, uint32_t reason, uint32_t node)
{
	uint64_t since_us;
	struct thread *t;
	uint8_t *p;

	if (!thread || thread > w->n_threads || node > w->n_nodes)
		return;
	t = &w->threads[thread - 1];
	p = block_room(&t->waits);
	if (!p) {
		w->sink.loss.records++;
		return;
	}
	if (!t->waits.count)
		t->waits_base_ns = t->waits_time_ns = time_ns;
	since_us = time_ns > t->waits_time_ns ? to_us(time_ns - t->waits_time_ns) : 0;
	t->waits_time_ns += since_us * 1000;
	p = fah_put_varint(p, since_us);
	p = fah_put_varint(p, to_us(length_ns));
	p = fah_put_varint(p,
			   to_us(length_ns) - to_us(waited_ns < length_ns ? waited_ns : length_ns));
	p = fah_put_varint(p, (uint64_t)node << FAH_WAIT_BITS |
				      (reason < FAH_WAIT_COUNT ? reason : FAH_WAIT_UNKNOWN));
	t->waits.len = (size_t)(p - t->waits.buf);
	t->waits.count++;
	mark_dirty(w, thread);
	if (t->waits.len > BLOCK_BYTES - ITEM_MAX)
		send_waits(w, thread);
}

void fah_writer_states(struct fah_writer *w, uint32_t thread, uint64_t time_ns, uint64_t cpu_ns,
		       uint64_t ready_ns)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!thread || thread > w->n_threads)
		return;
	put_number(&sb, thread);
	put_number(&sb, time_ns);
	put_number(&sb, cpu_ns);
	put_number(&sb, ready_ns);
	send(w, FAH_REC_STATES, &sb);
}

void fah_writer_drops(struct fah_writer *w, uint32_t thread, uint64_t time_ns, uint32_t reason,
		      uint64_t count, uint64_t cpu_ns)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!thread || thread > w->n_threads)
		return;
	send_samples(w, thread); /* a thread's records stay in the order of time */
	put_number(&sb, thread);
	put_number(&sb, time_ns);
	put_number(&sb, reason);
	put_number(&sb, count);
	put_number(&sb, cpu_ns);
	send(w, FAH_REC_DROPS, &sb);
}

/* Nothing of the thread follows. life: two more fields; NULL: without them. */
static void end_thread(struct fah_writer *w, uint32_t thread, uint64_t time_ns, uint64_t cpu_ns,
		       const uint64_t life[2])
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!thread || thread > w->n_threads)
		return;
	send_samples(w, thread);
	send_waits(w, thread);
	free(w->threads[thread - 1].block.buf);
	free(w->threads[thread - 1].waits.buf);
	w->threads[thread - 1].block.buf = w->threads[thread - 1].waits.buf = NULL;
	put_number(&sb, thread);
	put_number(&sb, time_ns);
	put_number(&sb, cpu_ns);
	for (int i = 0; life && i < 2; i++)
		put_number(&sb, life[i]);
	send(w, FAH_REC_THREAD_END, &sb);
}

void fah_writer_thread_end(struct fah_writer *w, uint32_t thread, uint64_t time_ns, uint64_t cpu_ns)
{
	end_thread(w, thread, time_ns, cpu_ns, NULL);
}

void fah_writer_thread_life(struct fah_writer *w, uint32_t thread, uint64_t time_ns,
			    uint64_t cpu_ns, uint64_t start_ns, uint64_t before_ns)
{
	end_thread(w, thread, time_ns, cpu_ns, (const uint64_t[]){start_ns, before_ns});
}

static void send_all_samples(struct fah_writer *w)
{
	uint32_t id, next;

	for (id = w->first_dirty; id; id = next) {
		next = w->threads[id - 1].next_dirty;
		send_samples(w, id);
		send_waits(w, id);
		w->threads[id - 1].dirty = false;
	}
	w->first_dirty = w->last_dirty = 0;
	send_nodes(w);
}

void fah_writer_process_end(struct fah_writer *w, const struct fah_process_end *end)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	unsigned i;

	_Static_assert(FAH_DROP_COUNT <= sizeof(end->drops) / sizeof(end->drops[0]), "drops[]");
	if (!end->process || end->process > w->n_processes)
		return;
	send_all_samples(w); /* its threads' are among them */
	put_number(&sb, end->process);
	put_number(&sb, end->time_ns);
	put_number(&sb, end->user_ns);
	put_number(&sb, end->system_ns);
	put_number(&sb, end->max_rss_bytes);
	put_number(&sb, end->samples);
	put_number(&sb, end->recovered);
	put_number(&sb, FAH_DROP_COUNT);
	for (i = 0; i < FAH_DROP_COUNT; i++)
		put_number(&sb, end->drops[i]);
	put_number(&sb, end->status);
	put_text(&sb, end->reason, strlen(end->reason));
	send(w, FAH_REC_PROCESS_END, &sb);
}

static void put_numbers(struct fah_strbuf *sb, const uint64_t *numbers, size_t n)
{
	while (n && !numbers[n - 1])
		n--;
	put_number(sb, n);
	for (size_t i = 0; i < n; i++)
		put_number(sb, numbers[i]);
}

static void put_hist(struct fah_strbuf *sb, const struct fah_hist *h)
{
	put_number(sb, h->sum_ns);
	put_number(sb, h->max_ns);
	put_numbers(sb, h->buckets, FAH_HIST_BUCKETS);
}

void fah_writer_health(struct fah_writer *w, const struct fah_rec_health *health)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!health->process || health->process > w->n_processes)
		return;
	put_number(&sb, health->process);
	put_hist(&sb, &health->handlers);
	put_hist(&sb, &health->gaps);
	put_number(&sb, health->interval_sum_ns);
	put_numbers(&sb, health->native_stops, FAH_NATIVE_STOPS);
	put_number(&sb, health->told_ns);
	send(w, FAH_REC_HEALTH, &sb);
}

void fah_writer_iterations(struct fah_writer *w, const struct fah_rec_iterations *it)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!it->thread || it->thread > w->n_threads || it->label > w->n_strings)
		return;
	put_number(&sb, it->thread);
	put_number(&sb, it->loop);
	put_number(&sb, it->label);
	put_number(&sb, it->first);
	put_number(&sb, it->count);
	put_number(&sb, it->time_ns);
	put_number(&sb, it->wall_ns);
	put_number(&sb, it->cpu_ns);
	put_number(&sb, it->squares);
	send(w, FAH_REC_ITERATIONS, &sb);
}

void fah_writer_calls(struct fah_writer *w, const struct fah_rec_calls *calls)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!calls->process || calls->process > w->n_processes || !calls->function)
		return;
	put_number(&sb, calls->process);
	put_number(&sb, calls->time_ns);
	put_number(&sb, calls->function);
	put_number(&sb, calls->caller);
	put_number(&sb, calls->line);
	put_number(&sb, calls->place);
	put_number(&sb, calls->count);
	put_number(&sb, calls->by_caller.starts);
	put_number(&sb, calls->by_caller.calls);
	put_number(&sb, calls->by_caller.total);
	put_number(&sb, calls->missed);
	put_number(&sb, calls->by_other.function);
	put_number(&sb, calls->by_other.starts);
	put_number(&sb, calls->by_other.calls);
	put_number(&sb, calls->by_other.total);
	send(w, FAH_REC_CALLS, &sb);
}

void fah_writer_counting(struct fah_writer *w, const struct fah_rec_counting *c)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!c->process || c->process > w->n_processes)
		return;
	put_number(&sb, c->process);
	put_number(&sb, c->time_ns);
	put_number(&sb, c->function);
	put_number(&sb, c->on);
	put_number(&sb, c->work_ns);
	send(w, FAH_REC_COUNTING, &sb);
}

void fah_writer_timed(struct fah_writer *w, const struct fah_rec_timed *t)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!t->process || t->process > w->n_processes || !t->function)
		return;
	put_number(&sb, t->process);
	put_number(&sb, t->function);
	put_number(&sb, t->whole ? 0 : t->caller + 1ull);
	put_number(&sb, t->calls);
	put_number(&sb, t->recursive);
	put_number(&sb, fah_zigzag(t->self_ns));
	put_number(&sb, fah_zigzag(t->total_ns));
	send(w, FAH_REC_TIMED, &sb);
}

void fah_writer_lines(struct fah_writer *w, const struct fah_rec_lines *lines)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!lines->process || lines->process > w->n_processes || !lines->function)
		return;
	put_number(&sb, lines->process);
	put_number(&sb, lines->time_ns);
	put_number(&sb, lines->function);
	put_number(&sb, lines->code);
	put_number(&sb, lines->marked);
	fah_strbuf_add(&sb, lines->rest.p, (size_t)(lines->rest.end - lines->rest.p));
	send(w, FAH_REC_LINES, &sb);
}

void fah_writer_lines_state(struct fah_writer *w, const struct fah_rec_lines_state *state)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!state->process || state->process > w->n_processes)
		return;
	put_number(&sb, state->process);
	put_number(&sb, state->time_ns);
	put_number(&sb, state->line_ns);
	put_number(&sb, state->lost_functions);
	put_number(&sb, state->lost_frames);
	put_number(&sb, state->lost_lines);
	put_number(&sb, state->why.len);
	fah_strbuf_add(&sb, state->why.p, state->why.len);
	send(w, FAH_REC_LINES_STATE, &sb);
}

void fah_writer_alloc(struct fah_writer *w, const struct fah_rec_alloc *a)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!a->thread || a->thread > w->n_threads || a->node > w->n_nodes)
		return;
	send_nodes(w); /* this one's among them */
	put_number(&sb, a->thread);
	put_number(&sb, a->time_ns);
	put_number(&sb, a->block);
	put_number(&sb, a->kind);
	put_number(&sb, a->node);
	put_number(&sb, a->bytes);
	put_number(&sb, a->held);
	put_number(&sb, a->most);
	send(w, FAH_REC_ALLOC, &sb);
}

void fah_writer_free_block(struct fah_writer *w, const struct fah_rec_free *f)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!f->process || f->process > w->n_processes)
		return;
	put_number(&sb, f->process);
	put_number(&sb, f->time_ns);
	put_number(&sb, f->block);
	put_number(&sb, f->held);
	put_number(&sb, f->most);
	put_number(&sb, f->ending);
	send(w, FAH_REC_FREE, &sb);
}

void fah_writer_blocks(struct fah_writer *w, const struct fah_rec_blocks *b, const uint32_t *nodes)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!b->thread || b->thread > w->n_threads)
		return;
	send_nodes(w);
	put_number(&sb, b->thread);
	put_number(&sb, b->time_ns);
	put_number(&sb, b->age_ns);
	put_number(&sb, b->ending);
	put_number(&sb, b->first);
	put_number(&sb, b->held);
	put_number(&sb, b->most);
	put_number(&sb, b->n_sites);
	for (uint32_t i = 0; i < b->n_sites; i++)
		put_number(&sb, nodes[i] <= w->n_nodes ? nodes[i] : 0);
	fah_strbuf_add(&sb, b->events.p, (size_t)(b->events.end - b->events.p));
	send(w, FAH_REC_BLOCKS, &sb);
}

void fah_writer_heap(struct fah_writer *w, const struct fah_rec_heap *h)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!h->process || h->process > w->n_processes)
		return;
	put_number(&sb, h->process);
	put_number(&sb, h->time_ns);
	put_number(&sb, h->interval);
	put_number(&sb, h->before);
	put_number(&sb, h->python);
	put_number(&sb, h->native);
	put_number(&sb, h->most);
	put_number(&sb, h->lost);
	put_number(&sb, h->copied);
	send(w, FAH_REC_HEAP, &sb);
}

void fah_writer_copied(struct fah_writer *w, const struct fah_rec_copy *c)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!c->thread || c->thread > w->n_threads || c->node > w->n_nodes)
		return;
	send_nodes(w);
	put_number(&sb, c->thread);
	put_number(&sb, c->time_ns);
	put_number(&sb, c->node);
	put_number(&sb, c->bytes);
	put_number(&sb, c->interval);
	send(w, FAH_REC_COPY, &sb);
}

/* FAH_MEMORY_UNKNOWN becomes 0. */
static void put_figures(struct fah_strbuf *sb, const uint64_t *figures, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_number(sb, figures[i] + 1);
}

void fah_writer_memory(struct fah_writer *w, const struct fah_rec_memory *m)
{
	const uint64_t own[] = {m->resident, m->swapped, m->high};
	const uint64_t machine[] = {m->total, m->available, m->used, m->cache, m->limit, m->kills};
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (m->process > w->n_processes)
		return;
	put_number(&sb, m->process);
	put_number(&sb, m->time_ns);
	if (m->process)
		put_figures(&sb, own, sizeof(own) / sizeof(own[0]));
	else
		put_figures(&sb, machine, sizeof(machine) / sizeof(machine[0]));
	send(w, FAH_REC_MEMORY, &sb);
}

bool fah_writer_lost(const struct fah_writer *w)
{
	return w->sink.loss.records || w->sink.out.len;
}

void fah_writer_flush(struct fah_writer *w)
{
	send_all_samples(w);
	fah_sink_flush(&w->sink);
}

int fah_writer_finish(struct fah_writer *w, const struct fah_run_end *end,
		      struct fah_write_loss *ret_loss)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	uint64_t size;

	send_all_samples(w);
	fah_sink_flush_last(&w->sink);
	*ret_loss = w->sink.loss;

	put_number(&sb, end->wall_ns);
	put_number(&sb, end->user_ns);
	put_number(&sb, end->system_ns);
	put_number(&sb, end->max_rss_bytes);
	put_number(&sb, end->wait_status);
	put_number(&sb, w->sink.loss.records);
	put_number(&sb, w->sink.loss.bytes);
	size = w->sink.size;
	send(w, FAH_REC_END, &sb);
	w->sink.given_up = false; /* the end refers to nothing, so it may stand in any capture */
	fah_sink_flush_last(&w->sink);
	if (w->sink.size == size) { /* not even that: the partial file stays, and is readable */
		errno = w->sink.loss.error;
		return FAH_ERR_SYS;
	}
	return fah_sink_commit(&w->sink);
}

void fah_writer_free(struct fah_writer *w)
{
	uint32_t i;

	if (!w)
		return;
	fah_sink_release(&w->sink);
	fah_strmap_release(&w->strings);
	fah_map_release(&w->functions);
	fah_map_release(&w->nodes);
	fah_map_release(&w->processes);
	fah_map_release(&w->thread_ids);
	for (i = 0; i < w->n_threads; i++) {
		free(w->threads[i].block.buf);
		free(w->threads[i].waits.buf);
	}
	free(w->threads);
	free(w->node_block.buf);
	free(w);
}
