/*
 * test_drain.c - from segments to a capture: order, definitions from other chunks, what is not
 * whole, what a killed collector had taken already. The segments are written here byte by byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/reader.h"
#include "collect/drain.h"
#include "collect/recover.h"
#include "collect/session.h"
#include "core/kept.h"
#include "core/segment.h"
#include "core/varint.h"
#include "cpython/cpython.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define START 1000000000ull /* the run's start, monotonic ns */
#define TID 77u

static char dir[64], capture[128];

struct seg {
	uint8_t *base;
};

static struct fah_segment_head *head(struct seg *s)
{
	return (struct fah_segment_head *)(void *)s->base;
}

static struct fah_chunk *chunk(struct seg *s, unsigned i)
{
	return (struct fah_chunk *)(void *)(s->base + FAH_SEGMENT_HEAD +
					    (size_t)i * FAH_CHUNK_SIZE);
}

static struct seg make_segment(uint32_t pid, unsigned n)
{
	char path[256];
	struct seg s;
	int fd;

	snprintf(path, sizeof(path), "%s/%u-%llu-%u.seg", dir, pid, START, n);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0 && ftruncate(fd, FAH_SEGMENT_SIZE) == 0);
	s.base = mmap(NULL, FAH_SEGMENT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(s.base != MAP_FAILED);
	close(fd);
	head(&s)->version = FAH_SEGMENT_VERSION;
	head(&s)->pid = pid;
	head(&s)->n = n;
	head(&s)->lines_kind = FAH_PY_LINES_LNOTAB;
	head(&s)->start_mono_ns = START;
	atomic_store(&head(&s)->status, FAH_AGENT_RUNNING);
	head(&s)->magic = FAH_SEGMENT_MAGIC;
	return s;
}

static void put(struct seg *s, unsigned i, uint32_t type, const uint8_t *payload, size_t len)
{
	struct fah_chunk *c = chunk(s, i);
	uint32_t used = atomic_load(&c->used), word = (uint32_t)len << 8 | type;

	memcpy(c->data + used, &word, 4);
	memcpy(c->data + used + 4, payload, len);
	atomic_store(&c->used, used + 4 + (uint32_t)len);
}

static void begin_chunk(struct seg *s, unsigned i, uint32_t order)
{
	uint8_t buf[64], *p = buf;

	atomic_store(&chunk(s, i)->state, FAH_CHUNK_OWNED);
	atomic_store(&chunk(s, i)->order, order);
	p = fah_put_varint(p, TID);
	p = fah_put_varint(p, START);
	p = fah_put_varint(p, 4);
	memcpy(p, "main", 4);
	put(s, i, FAH_SEG_THREAD, buf, (size_t)(p + 4 - buf));
}

static uint8_t *put_str(uint8_t *p, const char *text)
{
	p = fah_put_varint(p, strlen(text));
	memcpy(p, text, strlen(text));
	return p + strlen(text);
}

/* Code without a line table: every instruction is on its first line. */
static void put_code(struct seg *s, unsigned i, uint32_t id, const char *name, int line)
{
	uint8_t buf[256], *p = buf;

	p = fah_put_varint(p, id);
	p = fah_put_varint(p, fah_zigzag(line));
	p = fah_put_varint(p, 0);
	p = put_str(put_str(put_str(p, "/tmp/a.py"), name), "");
	p = fah_put_varint(p, 0);
	put(s, i, FAH_SEG_CODE, buf, (size_t)(p - buf));
}

/* time: ns since the last one in the chunk, or since boot for the first. */
static void put_sample(struct seg *s, unsigned i, uint64_t time, uint32_t keep, uint32_t code)
{
	uint8_t buf[64], *p = buf;

	p = fah_put_varint(p, time);
	p = fah_put_varint(p, 4000000);
	p = fah_put_varint(p, 0);
	p = fah_put_varint(p, keep);
	p = fah_put_varint(p, 1);
	p = fah_put_varint(p, code << 1 | 1);
	p = fah_put_varint(p, 1);
	put(s, i, FAH_SEG_SAMPLE, buf, (size_t)(p - buf));
}

struct seen {
	uint64_t times[64];
	uint32_t nodes[64];
	unsigned n, functions, processes, drops;
	struct fah_rec_timed timed[8];
	struct fah_rec_line lines[8];
	unsigned n_timed, n_lines;
};

static void see_exact(struct seen *seen, const struct fah_record *rec)
{
	struct fah_rec_lines lines;

	if (rec->type == FAH_REC_TIMED && seen->n_timed < 8 &&
	    fah_decode_timed(rec, &seen->timed[seen->n_timed]) == 0)
		seen->n_timed++;
	if (rec->type == FAH_REC_LINES && fah_decode_lines(rec, &lines) == 0)
		while (seen->n_lines < 8 && fah_lines_next(&lines, &seen->lines[seen->n_lines]) > 0)
			seen->n_lines++;
}

static struct seen read_capture(const char *path)
{
	struct fah_reader *r = NULL;
	struct fah_samples_block block;
	struct fah_sample_item item;
	struct fah_record rec;
	struct seen seen = {0};

	assert_int_equal(fah_reader_new(path, &r), 0);
	while (fah_reader_next(r, &rec) > 0) {
		seen.functions += rec.type == FAH_REC_FUNCTION;
		seen.processes += rec.type == FAH_REC_PROCESS;
		seen.drops += rec.type == FAH_REC_DROPS;
		see_exact(&seen, &rec);
		if (rec.type != FAH_REC_SAMPLES || fah_samples_open(&rec, &block) < 0)
			continue;
		while (fah_samples_next(&block, &item)) {
			assert_true(seen.n < 64);
			seen.times[seen.n] = item.time_ns;
			seen.nodes[seen.n++] = item.node;
		}
	}
	fah_reader_free(r);
	return seen;
}

static struct seen drain_all(void)
{
	struct fah_write_loss loss;
	struct fah_run_end end = {0};
	struct fah_writer *w = NULL;
	struct fah_drain *d = NULL;

	assert_int_equal(fah_writer_new(capture, &w), 0);
	assert_int_equal(fah_drain_new(dir, w, START, &d), 0);
	fah_drain_finish(d);
	fah_drain_free(d);
	assert_int_equal(fah_writer_finish(w, &end, &loss), 0);
	fah_writer_free(w);
	return read_capture(capture);
}

static int enter(void **state)
{
	char lock[128];

	strcpy(dir, "/tmp/fixingahole-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(capture, sizeof(capture), "%s.fah", dir);
	snprintf(lock, sizeof(lock), "%s/" FAH_SESSION_LOCK, dir);
	return close(open(lock, O_RDWR | O_CREAT, 0600));
}

static int leave(void **state)
{
	struct fah_session session = {.lock_fd = -1};
	char partial[160];

	snprintf(partial, sizeof(partial), "%s.partial", capture);
	strcpy(session.dir, dir);
	unlink(capture);
	unlink(partial);
	fah_session_remove(&session);
	return access(dir, F_OK) == 0; /* fails where something was left */
}

/* A thread that filled chunk 3 goes on in chunk 0: time must not run backwards. */
static void chunks_are_taken_in_order_of_age(void **state)
{
	struct seg s = make_segment(5001, 0);
	struct seen seen;

	begin_chunk(&s, 3, 1);
	put_code(&s, 3, 1, "early", 10);
	put_sample(&s, 3, START + 4000000, 0, 1);
	put_sample(&s, 3, 4000000, 0, 1);
	begin_chunk(&s, 0, 2);
	put_code(&s, 0, 2, "late", 20);
	put_sample(&s, 0, START + 12000000, 0, 2);
	put_sample(&s, 0, 4000000, 0, 2);
	seen = drain_all();
	assert_int_equal(seen.n, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_true(seen.times[i] == (i + 1) * 4000000ull);
	assert_true(seen.nodes[0] == seen.nodes[1] && seen.nodes[2] == seen.nodes[3]);
	assert_true(seen.nodes[0] != seen.nodes[2]);
}

/* What a sample names may be described in a chunk that stands, and was begun, after its own. */
static void definitions_come_first_wherever_they_are(void **state)
{
	struct seg s = make_segment(5002, 0);
	struct seen seen;

	begin_chunk(&s, 1, 1);
	put_sample(&s, 1, START + 4000000, 0, 9);
	begin_chunk(&s, 2, 2);
	put_code(&s, 2, 9, "other", 1);
	seen = drain_all();
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.functions, 1);
	assert_int_equal(seen.drops, 0);
}

/* Code that nobody described: the sample is no sample, but its CPU is told. */
static void unknown_code_is_a_drop(void **state)
{
	struct seg s = make_segment(5003, 0);
	struct seen seen;

	begin_chunk(&s, 0, 1);
	put_code(&s, 0, 1, "known", 1);
	put_sample(&s, 0, START + 4000000, 0, 1);
	put_sample(&s, 0, 4000000, 1, 1234);
	put_sample(&s, 0, 4000000, 0, 1);
	seen = drain_all();
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.drops, 1);
}

/* Bytes from a target are not to be trusted: lengths beyond the chunk, keeps beyond the stack. */
static void nonsense_is_left_alone(void **state)
{
	struct seg s = make_segment(5004, 0);
	uint8_t junk[64];
	struct seen seen;

	memset(junk, 0xff, sizeof(junk));
	begin_chunk(&s, 0, 1);
	put_code(&s, 0, 1, "f", 1);
	put_sample(&s, 0, START + 4000000, 0, 1);
	put(&s, 0, FAH_SEG_SAMPLE, junk, sizeof(junk));
	put(&s, 0, FAH_SEG_CODE, junk, sizeof(junk));
	put(&s, 0, 200, junk, sizeof(junk));
	put_sample(&s, 0, 4000000, 2000, 1); /* keeps frames that were never there */
	begin_chunk(&s, 1, 2);
	memset(chunk(&s, 1)->data, 0xff, 4);
	begin_chunk(&s, 2, 3);
	atomic_store(&chunk(&s, 2)->used, UINT32_MAX);
	seen = drain_all();
	assert_true(seen.n >= 1 && seen.n <= 2);
	assert_true(seen.times[0] == 4000000);
}

/* A collector that was killed had written the first two samples; the rest is added, and only that.
 */
static void leftovers_are_added_once(void **state)
{
	struct seg s = make_segment(5005, 0);
	struct fah_writer *w = NULL;
	struct fah_drain *d = NULL;
	char text[32];
	struct seen seen;

	begin_chunk(&s, 0, 1);
	put_code(&s, 0, 1, "f", 1);
	put_sample(&s, 0, START + 4000000, 0, 1);
	put_sample(&s, 0, 4000000, 0, 1);
	assert_int_equal(fah_writer_new(capture, &w), 0);
	fah_writer_meta(w, "session", dir);
	snprintf(text, sizeof(text), "%llu", START);
	fah_writer_meta(w, "start_mono_ns", text);
	assert_int_equal(fah_drain_new(dir, w, START, &d), 0);
	head(&s)->pid = (uint32_t)getpid(); /* alive: the cycle keeps its segment */
	fah_drain_cycle(d);
	fah_drain_free(d); /* killed: no end, the segment stays */
	fah_writer_free(w);

	put_sample(&s, 0, 4000000, 0, 1);
	put_sample(&s, 0, 4000000, 0, 1);
	assert_int_equal(fah_recover(capture), 1);
	assert_int_equal(fah_recover(capture), 0);
	seen = read_capture(capture);
	assert_int_equal(seen.n, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_true(seen.times[i] == (i + 1) * 4000000ull);
	assert_int_equal(seen.processes, 1);
	assert_int_equal(seen.functions, 1);
	assert_int_equal(mkdir(dir, 0700), 0); /* it took the session's folder away */
}

/* What a process had counted, as it would lie in its file: tables of a page and more. */
static struct kept_file {
	struct fah_kept_head head;
	struct fah_exact_called called[64];
	uint8_t rest[4096 - (64 + 64 * sizeof(struct fah_exact_called)) % 4096];
	struct fah_kept_head calls_head;
	struct fah_exact_block calls;
	uint8_t calls_rest[4096 - (sizeof(struct fah_exact_block) + 64) % 4096];
	struct fah_kept_head lines_head;
	uint8_t lines[4096 - 64];
} kept;

static struct fah_kept_head kept_head(enum fah_kept kind, size_t size, uint64_t address)
{
	return (struct fah_kept_head){.magic = FAH_KEPT_MAGIC,
				      .size = size,
				      .address = address,
				      .ns_a_tick = 0.5,
				      .kind = kind};
}

static struct fah_lines_kept *kept_lines(uint8_t *at, uint32_t n, uint32_t id, int32_t base)
{
	struct fah_lines_kept *l = (struct fah_lines_kept *)(void *)at;

	l->n = n;
	l->id = id;
	l->base = base;
	return l;
}

/* f (5) is called 30 times by nobody and 4 times by itself; lines 20 and 22 of it have hits. */
static void fill_kept(void)
{
	struct fah_exact_called *at = (void *)(uintptr_t)0x7000000; /* where they stood */
	struct fah_lines_kept *l;
	size_t size = offsetof(struct kept_file, calls_head);

	assert_int_equal(size % FAH_KEPT_PAGE, 0);
	memset(&kept, 0, sizeof(kept));
	kept.head = kept_head(FAH_KEPT_CALLED, size, (uint64_t)(uintptr_t)at);
	kept.called[2] = (struct fah_exact_called){
		.key = 1, .id = 5, .recursive = 4, .total = 900, .changed = true};
	size = offsetof(struct kept_file, lines_head) - size;
	assert_int_equal(size % FAH_KEPT_PAGE, 0);
	kept.calls_head = kept_head(FAH_KEPT_CALLS, size, 0x8000000);
	kept.calls.n = 3;
	kept.calls.calls[0] = (struct fah_exact_call){
		.caller = at, .callee = at + 2, .calls = 30, .self = 200, .total = 600};
	kept.calls.calls[1] = (struct fah_exact_call){.caller = at + 2,
						      .callee = at + 2,
						      .calls = 4,
						      .recursive = 4,
						      .self = 100,
						      .total = 300};
	/* no function stands there */
	kept.calls.calls[2] =
		(struct fah_exact_call){.caller = at, .callee = at + 1000, .calls = 7};
	kept.lines_head = kept_head(FAH_KEPT_LINES, 4096, 0x9000000);
	l = kept_lines(kept.lines, 2, 0, 20); /* moved since */
	l->lines[0].hits = 99;
	l = kept_lines((uint8_t *)(l->lines + l->n), 4, 5, 20);
	l->lines[0] = (struct fah_line){3, 100, 40};
	l->lines[2] = (struct fah_line){1, 10, 0};
}

static void write_kept(size_t len)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%u-%llu-0.kept", dir, 9u, START);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && write(fd, &kept, len) == (ssize_t)len);
	close(fd);
}

/* A process that was killed: what its tables hold counts. */
static void counted_and_not_written(void **state)
{
	struct seg s = make_segment(9, 0);
	struct seen seen;

	begin_chunk(&s, 0, 1);
	put_code(&s, 0, 5, "f", 19);
	fill_kept();
	write_kept(sizeof(kept));
	seen = drain_all();
	assert_int_equal(seen.n_timed, 3);
	assert_int_equal(seen.timed[0].calls, 30);
	assert_int_equal(seen.timed[0].caller, 0);
	assert_int_equal(seen.timed[0].self_ns, 100);
	assert_int_equal(seen.timed[0].total_ns, 300);
	assert_int_equal(seen.timed[1].calls, 4);
	assert_int_equal(seen.timed[1].recursive, 4);
	assert_int_equal(seen.timed[1].caller, seen.timed[1].function);
	assert_true(seen.timed[2].whole);
	assert_int_equal(seen.timed[2].total_ns, 450);
	assert_int_equal(seen.n_lines, 2);
	assert_int_equal(seen.lines[0].line, 20);
	assert_int_equal(seen.lines[0].hits, 3);
	assert_int_equal(seen.lines[0].called_ns, 20);
	assert_int_equal(seen.lines[1].line, 22);
}

/* Cut anywhere, or with a byte that is another: less, or other numbers, and never a fault. */
static void damaged_tables(void **state)
{
	struct seg s = make_segment(9, 0);
	uint32_t random = 1;

	begin_chunk(&s, 0, 1);
	put_code(&s, 0, 5, "f", 19);
	fill_kept();
	for (size_t len = 0; len < sizeof(kept); len += 997) {
		write_kept(len);
		assert_true(drain_all().n_timed <= 3);
	}
	for (int i = 0; i < 300; i++) {
		fill_kept();
		for (int k = 0; k < 8; k++) {
			random = random * 1664525 + 1013904223;
			/* heads and the first rows, where something stands */
			size_t at =
				random % 3 == 0 ? random / 3 % 320
				: random % 3 == 1
					? offsetof(struct kept_file, calls_head) + random / 3 % 400
					: offsetof(struct kept_file, lines_head) + random / 3 % 300;

			((uint8_t *)&kept)[at] = (uint8_t)(random >> 24);
		}
		write_kept(sizeof(kept));
		drain_all();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counted_and_not_written, enter, leave),
		cmocka_unit_test_setup_teardown(damaged_tables, enter, leave),
		cmocka_unit_test_setup_teardown(chunks_are_taken_in_order_of_age, enter, leave),
		cmocka_unit_test_setup_teardown(definitions_come_first_wherever_they_are, enter,
						leave),
		cmocka_unit_test_setup_teardown(unknown_code_is_a_drop, enter, leave),
		cmocka_unit_test_setup_teardown(nonsense_is_left_alone, enter, leave),
		cmocka_unit_test_setup_teardown(leftovers_are_added_once, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
