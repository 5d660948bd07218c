/* writer_threads.c - what threads and processes did: samples, waits, ends. See writer.h. */
#include "capture/writer.h"

#include "capture/reader.h"
#include "capture/writer_internal.h"
#include "core/segment.h"
#include "core/varint.h"

#include <stdlib.h>
#include <string.h>

#define US_LIMIT (FAH_US_MAX / 2) /* what a reader accepts, with room for the rest */
#define ONE_BYTE 64		  /* differences below this take one byte */

static void send_samples(struct fah_writer *w, uint32_t id)
{
	struct thread *t = &w->threads[id - 1];
	uint8_t head[FAH_BLOCK_HEAD_MAX], *p = head;

	if (!t->block.count)
		return;
	fah_writer_send_nodes(w);
	p = fah_put_varint(p, id);
	p = fah_put_varint(p, t->block.count);
	p = fah_put_varint(p, t->base_ns);
	p = fah_put_varint(p, t->usual_us);
	fah_block_send(w, &t->block, FAH_REC_SAMPLES, head, (size_t)(p - head));
}

static void send_waits(struct fah_writer *w, uint32_t id)
{
	struct thread *t = &w->threads[id - 1];
	uint8_t head[FAH_BLOCK_HEAD_MAX], *p = head;

	if (!t->waits.count)
		return;
	fah_writer_send_nodes(w);
	p = fah_put_varint(p, id);
	p = fah_put_varint(p, t->waits.count);
	p = fah_put_varint(p, t->waits_base_ns);
	fah_block_send(w, &t->waits, FAH_REC_WAITS, head, (size_t)(p - head));
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
	p = fah_block_room(&t->block);
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
	if (t->block.len > FAH_BLOCK_BYTES - FAH_ITEM_MAX)
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
	p = fah_block_room(&t->waits);
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
	if (t->waits.len > FAH_BLOCK_BYTES - FAH_ITEM_MAX)
		send_waits(w, thread);
}

void fah_writer_states(struct fah_writer *w, uint32_t thread, uint64_t time_ns, uint64_t cpu_ns,
		       uint64_t ready_ns)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!thread || thread > w->n_threads)
		return;
	fah_payload_numbers(&sb, thread, time_ns, cpu_ns, ready_ns);
	fah_writer_send(w, FAH_REC_STATES, &sb);
}

void fah_writer_drops(struct fah_writer *w, uint32_t thread, uint64_t time_ns, uint32_t reason,
		      uint64_t count, uint64_t cpu_ns)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!thread || thread > w->n_threads)
		return;
	send_samples(w, thread); /* a thread's records stay in the order of time */
	fah_payload_numbers(&sb, thread, time_ns, reason, count, cpu_ns);
	fah_writer_send(w, FAH_REC_DROPS, &sb);
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
	fah_payload_numbers(&sb, thread, time_ns, cpu_ns);
	for (int i = 0; life && i < 2; i++)
		fah_payload_number(&sb, life[i]);
	fah_writer_send(w, FAH_REC_THREAD_END, &sb);
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

void fah_writer_send_all(struct fah_writer *w)
{
	uint32_t id, next;

	for (id = w->first_dirty; id; id = next) {
		next = w->threads[id - 1].next_dirty;
		send_samples(w, id);
		send_waits(w, id);
		w->threads[id - 1].dirty = false;
	}
	w->first_dirty = w->last_dirty = 0;
	fah_writer_send_nodes(w);
}

void fah_writer_process_end(struct fah_writer *w, const struct fah_process_end *end)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	unsigned i;

	_Static_assert(FAH_DROP_COUNT <= sizeof(end->drops) / sizeof(end->drops[0]), "drops[]");
	if (!end->process || end->process > w->n_processes)
		return;
	fah_writer_send_all(w); /* its threads' are among them */
	fah_payload_numbers(&sb, end->process, end->time_ns, end->user_ns, end->system_ns,
			    end->max_rss_bytes, end->samples, end->recovered, FAH_DROP_COUNT);
	for (i = 0; i < FAH_DROP_COUNT; i++)
		fah_payload_number(&sb, end->drops[i]);
	fah_payload_number(&sb, end->status);
	fah_payload_text(&sb, end->reason, strlen(end->reason));
	fah_writer_send(w, FAH_REC_PROCESS_END, &sb);
}

static void put_counted(struct fah_strbuf *sb, const uint64_t *numbers, size_t n)
{
	while (n && !numbers[n - 1])
		n--;
	fah_payload_number(sb, n);
	for (size_t i = 0; i < n; i++)
		fah_payload_number(sb, numbers[i]);
}

static void put_hist(struct fah_strbuf *sb, const struct fah_hist *h)
{
	fah_payload_number(sb, h->sum_ns);
	fah_payload_number(sb, h->max_ns);
	put_counted(sb, h->buckets, FAH_HIST_BUCKETS);
}

void fah_writer_health(struct fah_writer *w, const struct fah_rec_health *health)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!health->process || health->process > w->n_processes)
		return;
	fah_payload_number(&sb, health->process);
	put_hist(&sb, &health->handlers);
	put_hist(&sb, &health->gaps);
	fah_payload_number(&sb, health->interval_sum_ns);
	put_counted(&sb, health->native_stops, FAH_NATIVE_STOPS);
	fah_payload_number(&sb, health->told_ns);
	fah_writer_send(w, FAH_REC_HEALTH, &sb);
}
