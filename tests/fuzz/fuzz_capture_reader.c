/*
 * fuzz_capture_reader.c - any bytes as a capture, of format version 1 or 2: the reader, every
 * decoder and every kind of block on every record whatever its type, the text, and, of one input in
 * 16, copying into a writer. Each input is read as it is, and with its checksums put right.
 */
#include "capture/blocks.h"
#include "capture/reader.h"
#include "capture/text.h"
#include "capture/writer.h"
#include "capture_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static volatile uint64_t sink; /* so that every byte of a borrowed text is looked at */

static void touch(struct fah_str s)
{
	uint32_t i;

	for (i = 0; i < s.len; i++)
		sink += (uint8_t)s.p[i];
}

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void decode_counts(const struct fah_record *rec)
{
	struct fah_rec_calls calls;
	struct fah_rec_counting counting;
	struct fah_rec_timed timed;
	struct fah_rec_lines lines;
	struct fah_rec_line line;
	struct fah_rec_lines_state state;

	if (fah_decode_calls(rec, &calls) == 0)
		check(calls.by_caller.function == calls.caller);
	fah_decode_counting(rec, &counting);
	if (fah_decode_timed(rec, &timed) == 0)
		check(!timed.whole || !timed.caller);
	if (fah_decode_lines(rec, &lines) == 0)
		while (fah_lines_next(&lines, &line) > 0)
			check(lines.rest.p <= rec->payload + rec->len);
	if (fah_decode_lines_state(rec, &state) == 0)
		touch(state.why);
}

static void events(const struct fah_rec_blocks *batch)
{
	static struct fah_blocks_reader r; /* 6 kB */
	struct fah_blocks_item item;

	fah_blocks_begin(&r, batch);
	while (fah_blocks_next(&r, &item) > 0)
		check(r.c.p <= r.c.end && (item.what != FAH_BLOCKS_CAME ||
					   (item.site < batch->n_sites && item.kind < 4)));
}

static void decode_memory(const struct fah_record *rec)
{
	struct fah_rec_alloc alloc;
	struct fah_rec_free freed;
	struct fah_rec_blocks batch;
	struct fah_rec_heap heap;
	struct fah_rec_copy copy;
	struct fah_rec_memory memory;

	fah_decode_alloc(rec, &alloc);
	fah_decode_free(rec, &freed);
	fah_decode_heap(rec, &heap);
	fah_decode_copy(rec, &copy);
	if (fah_decode_memory(rec, &memory) == 0)
		check(memory.process ? memory.total == FAH_MEMORY_UNKNOWN
				     : memory.resident == FAH_MEMORY_UNKNOWN);
	if (fah_decode_blocks(rec, &batch) == 0) {
		for (uint32_t i = 0; i < batch.n_sites; i++)
			fah_get_varint(&batch.sites);
		check(!batch.sites.bad && batch.sites.p == batch.sites.end);
		events(&batch);
	}
}

static void decode_all(const struct fah_record *rec)
{
	struct fah_cursor c = {rec->payload, rec->payload + rec->len, false};
	struct fah_str key, value;
	struct fah_rec_function function;
	struct fah_rec_process process;
	struct fah_rec_thread thread;
	struct fah_rec_drops drops;
	struct fah_rec_thread_end thread_end;
	struct fah_rec_process_end process_end;
	struct fah_rec_end end;
	struct fah_rec_states states;
	struct fah_rec_health health;
	struct fah_rec_iterations iterations;

	while (fah_decode_meta(&c, &key, &value) > 0) {
		touch(key);
		touch(value);
	}
	if (fah_decode_string(rec, &value) == 0)
		touch(value);
	if (fah_decode_process(rec, &process) == 0)
		touch(process.cmdline);
	if (fah_decode_thread(rec, &thread) == 0)
		touch(thread.name);
	if (fah_decode_process_end(rec, &process_end) == 0) {
		touch(process_end.reason);
		check(process_end.n_drops <= 16);
	}
	fah_decode_function(rec, &function);
	fah_decode_drops(rec, &drops);
	fah_decode_thread_end(rec, &thread_end);
	fah_decode_end(rec, &end);
	fah_decode_states(rec, &states);
	if (fah_decode_health(rec, &health) == 0)
		check(health.handlers.count >= health.handlers.buckets[FAH_HIST_BUCKETS - 1]);
	if (fah_decode_iterations(rec, &iterations) == 0)
		check(iterations.first + iterations.count > iterations.first);
	decode_counts(rec);
	decode_memory(rec);
}

static void blocks(const struct fah_record *rec)
{
	struct fah_nodes_block nodes;
	struct fah_node_item node;
	struct fah_samples_block samples;
	struct fah_sample_item sample;
	struct fah_waits_block waits;
	struct fah_wait_item wait;

	if (fah_nodes_open(rec, &nodes) == 0)
		while (fah_nodes_next(&nodes, &node))
			check(nodes.c.p <= nodes.c.end);
	if (fah_samples_open(rec, &samples) == 0)
		while (fah_samples_next(&samples, &sample))
			check(sample.cpu_ns < FAH_US_MAX * 1000 &&
			      sample.flags <= FAH_SAMPLE_FLAGS_MASK &&
			      sample.system_ns <= sample.cpu_ns);
	if (fah_waits_open(rec, &waits) == 0)
		while (fah_waits_next(&waits, &wait))
			check(wait.waited_ns <= wait.length_ns &&
			      wait.length_ns < FAH_US_MAX * 1000);
}

/* A record is whole, inside the file, and behind the one before. */
static void read_all(const uint8_t *data, size_t len, struct fah_writer *copy)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	struct fah_text text = {0};
	struct fah_reader_state state;
	struct fah_reader *r = NULL;
	struct fah_record rec;
	size_t expected = FAH_CAPTURE_HEAD, n = 0, again = 0;

	if (fah_reader_new_mem(data, len, &r) < 0)
		return;
	while (fah_reader_next(r, &rec) > 0) {
		check(rec.offset == expected && rec.payload == data + rec.offset + FAH_RECORD_HEAD);
		expected += FAH_RECORD_HEAD + rec.len;
		check(expected <= len);
		decode_all(&rec);
		blocks(&rec);
		fah_strbuf_truncate(&sb, 0);
		fah_text_record(&text, &rec, &sb);
		check(sb.len && sb.p[sb.len - 1] == '\n');
		if (copy)
			fah_writer_copy(copy, &rec);
		n++;
	}
	fah_reader_state(r, &state);
	check(state.good_bytes + state.lost_bytes == len);
	fah_reader_rewind(r);
	while (fah_reader_next(r, &rec) > 0)
		again++;
	check(again == n);
	fah_strbuf_release(&sb);
	fah_reader_free(r);
}

/* What a writer makes of a copy is a capture again, whatever the copied records held. */
static void copy_all(const uint8_t *data, size_t len)
{
	static char path[64];
	struct fah_run_end end = {0};
	struct fah_write_loss loss;
	struct fah_writer *w = NULL;

	snprintf(path, sizeof(path), "/dev/shm/fah-fuzz-%d.fah", (int)getpid());
	if (fah_writer_new(path, &w) < 0)
		return;
	read_all(data, len, w);
	fah_writer_node(w, 0, fah_writer_function(w, fah_writer_string(w, "x", 1), 1, 1, 1), 1);
	check(fah_writer_finish(w, &end, &loss) == 0);
	fah_writer_free(w);
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static unsigned n;
	uint8_t *repaired = fuzz_repair(data, len);

	read_all(data, len, NULL);
	if (n++ % 16 == 0) /* files are slow */
		copy_all(repaired, len);
	else
		read_all(repaired, len, NULL);
	free(repaired);
	return 0;
}
