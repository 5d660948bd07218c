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
};

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(chunks_are_taken_in_order_of_age, enter, leave),
		cmocka_unit_test_setup_teardown(definitions_come_first_wherever_they_are, enter,
						leave),
		cmocka_unit_test_setup_teardown(unknown_code_is_a_drop, enter, leave),
		cmocka_unit_test_setup_teardown(nonsense_is_left_alone, enter, leave),
		cmocka_unit_test_setup_teardown(leftovers_are_added_once, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
