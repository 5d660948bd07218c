/*
 * test_report_damage.c - captures that are cut, flipped or made up load and print, or are refused;
 * they never crash. Worth most under ASan and UBSan. Checksums are made right again after each
 * damage, so that the bad numbers reach the model.
 */
#include "build_heap.h"

#include "base/file.h"
#include "base/crc32.h"
#include "core/varint.h"
#include "report/calls.h"
#include "report/flame.h"
#include "report/lines.h"
#include "report/summary.h"
#include "report/threads.h"

#include <math.h>

/* Whatever the bytes say, each moment has one owner, and no number is none. */
static void adds_up(const struct fah_profile *p)
{
	const struct fah_totals *t = fah_profile_totals(p);
	size_t n;
	const struct fah_thread *threads = fah_profile_threads(p, &n);

	assert_true(fabs(t->on_cpu_s + t->waited_s + t->ready_idle_s + t->unknown_s - t->wall_s) <=
		    1e-6 * (1 + t->wall_s));
	for (size_t i = 0; i < n; i++) {
		const struct fah_states *s = &threads[i].states;

		assert_true(fabs(s->cpu_s + s->ready_s + s->waited_s - s->wall_s) <=
			    1e-9 * (1 + s->wall_s));
		assert_true(s->cpu_s >= 0 && s->ready_s >= 0 && s->waited_s >= 0);
	}
}

/* Whatever is shown, no call has more than its caller. */
static void try_calls(FILE *out, struct fah_profile *p, const struct fah_report_options *o)
{
	for (int k = 0; k < 8; k++) {
		struct fah_view view = {
			.native = k & 1, .threads = k & 4, .idle = k < 6, .memory = k < 5 ? k : 0};
		struct fah_calls_options calls = {.min = 0.001 * k, .depth = 10};
		struct fah_stacks *stacks;
		struct fah_calltree *tree;

		assert_int_equal(fah_stacks_new(p, &view, &stacks), 0);
		assert_int_equal(fah_calltree_new(stacks, k & 2, &tree), 0);
		for (size_t i = 1; i < tree->n; i++)
			assert_true(fah_times_sum(&tree->calls[i].total) <=
				    fah_times_sum(&tree->calls[tree->calls[i].parent].total) *
						    (1 + 1e-9) +
					    1e-9);
		assert_int_equal(fah_report_calls(out, p, tree, &calls, o), 0);
		assert_int_equal(fah_report_calls_json(out, p, tree), 0);
		assert_int_equal(fah_report_flame(out, p, tree, (uint32_t)k, o), 0);
		fah_calltree_free(tree);
		fah_stacks_free(stacks);
	}
}

static void try(const uint8_t *data, size_t len)
{
	struct fah_report_options o = {.width = 60, .utf8 = true, .root = "/home/me"};
	const struct fah_function_total *totals;
	struct fah_profile *p;
	struct fah_reader *r;
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	FILE *out;
	size_t n;

	if (fah_reader_new_mem(data, len, &r) < 0)
		return;
	assert_int_equal(fah_profile_load_moments(r, &p), 0);
	out = fopen("/dev/null", "w");
	assert_non_null(out);
	assert_int_equal(fah_report_summary(out, p, &o), 0);
	assert_int_equal(fah_report_summary_json(out, p, &o), 0);
	assert_int_equal(fah_report_lines(out, p, &o), 0);
	assert_int_equal(fah_profile_function_totals(p, false, &totals, &n), 0);
	assert_int_equal(fah_profile_function_totals(p, true, &totals, &n), 0);
	assert_int_equal(fah_report_threads(&sb, p), 0);
	fah_strbuf_release(&sb);
	adds_up(p);
	try_calls(out, p, &o);
	fclose(out);
	fah_profile_free(p);
	fah_reader_free(r);
}

static void write_memory(struct build *b, uint32_t process, uint32_t thread)
{
	struct memory m = memory_begin(b, process, thread, 5, 1000, 300);

	for (uint32_t i = 1; i <= 8; i++)
		memory_alloc_kind(&m, 20 * i, i, 100 * i, i % 3);
	memory_free(&m, 170, 2, 200);
	memory_free(&m, 180, 7, 700);
	memory_end(&m, 200);
}

/* A small capture with every kind of record. */
static uint8_t *a_capture(size_t *ret_len)
{
	struct fah_run_end end = {.wall_ns = MS(500), .user_ns = MS(400)};
	struct fah_write_loss loss;
	uint32_t f, other, process, thread, node = 0;
	struct build b;
	char *data;

	build_begin(&b);
	f = build_function(&b, "/home/me/a.py", "f", "f", 1);
	build_function(&b, "b.py", "g", NULL, 1);
	other = fah_writer_other_function(b.w, fah_writer_string(b.w, "/lib/z.so", 9),
					  fah_writer_string(b.w, "inflate", 7),
					  FAH_FUNCTION_NATIVE);
	for (uint32_t i = 0; i < 20; i++)
		node = fah_writer_node(b.w, i % 5 ? node : 0, i % 4 ? f : other, i + 1);
	process = build_process(&b, 10, 0);
	for (uint32_t k = 0; k < 2; k++) {
		thread = build_thread(&b, process, 10 + k, k * 10);
		for (uint32_t i = 1; i <= 60; i++)
			fah_writer_sample(b.w, thread, MS(8 * i), MS(i % 7 + 1), i % 3, i % 20 + 1);
		for (uint32_t i = 1; i <= 10; i++) {
			fah_writer_wait(b.w, thread, MS(48 * i), MS(40), MS(30), i, i);
			fah_writer_states(b.w, thread, MS(48 * i), MS(20 * i), MS(5 * i));
		}
		fah_writer_drops(b.w, thread, MS(481), FAH_DROP_FAULT, 2, MS(8));
		fah_writer_thread_end(b.w, thread, MS(490), MS(300));
	}
	write_memory(&b, process, thread);
	build_process_end(&b, process, 495, 1000000);
	assert_int_equal(fah_writer_finish(b.w, &end, &loss), 0);
	fah_writer_free(b.w);
	assert_int_equal(fah_file_read(b.path, 1u << 20, &data, ret_len), 0);
	unlink(b.path);
	return (uint8_t *)data;
}

static uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_u32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static void repair(uint8_t *data, size_t len)
{
	size_t at = FAH_CAPTURE_HEAD;

	while (len - at >= FAH_RECORD_HEAD) {
		uint32_t n = get_u32(data + at);

		if (n > len - at - FAH_RECORD_HEAD)
			return;
		put_u32(data + at + 4,
			fah_crc32(0, data + at + FAH_RECORD_HEAD - 1, (size_t)n + 1));
		at += FAH_RECORD_HEAD + n;
	}
}

static void cut_anywhere(void **state)
{
	size_t len;
	uint8_t *data = a_capture(&len);

	(void)state;
	for (size_t cut = 0; cut <= len; cut++) {
		uint8_t *part = malloc(cut ? cut : 1); /* of its own, so that ASan sees its end */

		memcpy(part, data, cut);
		try(part, cut);
		free(part);
	}
	free(data);
}

static void flipped_bytes(void **state)
{
	struct build b = {.seed = 7};
	size_t len;
	uint8_t *data = a_capture(&len), *bad = malloc(len);

	(void)state;
	for (int round = 0; round < 500; round++) {
		memcpy(bad, data, len);
		for (int i = 1 + (int)(build_random(&b) * 4); i--;) {
			size_t at = FAH_CAPTURE_HEAD +
				    (size_t)(build_random(&b) * (double)(len - FAH_CAPTURE_HEAD));

			bad[at] = build_random(&b) < 0.3 ? 0xff : (uint8_t)(build_random(&b) * 256);
		}
		repair(bad, len);
		try(bad, len);
	}
	free(bad);
	free(data);
}

/* In every other round some of memory, which say little without threads and processes. */
static uint8_t random_type(struct build *b, int round)
{
	if (round % 2 && build_random(b) < 0.5)
		return (uint8_t)(FAH_REC_ALLOC + build_random(b) * 3);
	return (uint8_t)(1 + build_random(b) * FAH_REC_STATES);
}

/* Records of random numbers, many of them extreme: ids of nothing, times at the end of all time. */
static void made_up_records(void **state)
{
	struct build b = {.seed = 11};
	uint8_t *data = malloc(1 << 16);

	(void)state;
	for (int round = 0; round < 500; round++) {
		uint8_t *p = data + FAH_CAPTURE_HEAD;

		memset(data, 0, FAH_CAPTURE_HEAD);
		memcpy(data, FAH_CAPTURE_MAGIC, 8);
		data[8] = FAH_CAPTURE_VERSION;
		for (int records = 40; records--;) {
			uint8_t *head = p, type = random_type(&b, round);

			p += FAH_RECORD_HEAD;
			for (int n = (int)(build_random(&b) * 30); n--;) {
				double kind = build_random(&b);
				uint64_t v = (uint64_t)(build_random(&b) * 6);

				if (kind < 0.1)
					v = UINT64_MAX >> (uint64_t)(build_random(&b) * 64);
				else if (kind < 0.3)
					v = (uint64_t)(build_random(&b) * 1e10);
				p = fah_put_varint(p, v);
			}
			put_u32(head, (uint32_t)(p - head - FAH_RECORD_HEAD));
			head[FAH_RECORD_HEAD - 1] = type;
		}
		repair(data, (size_t)(p - data));
		try(data, (size_t)(p - data));
	}
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(flipped_bytes),
		cmocka_unit_test(made_up_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
