/* test_format.c - checksums, round trips, size: what is written is what is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/crc32.h"
#include "capture/reader.h"
#include "capture/writer.h"
#include "core/err.h"
#include "core/segment.h"
#include "make.h"
#include "scratch.h"

#include <string.h>
#include <sys/stat.h>

FAH_DEFINE_FREEP(struct fah_reader *, fah_reader_free)
FAH_DEFINE_FREEP(struct fah_writer *, fah_writer_free)

static void crc(void **state)
{
	uint8_t bytes[200];
	size_t i, cut;
	uint32_t whole;

	assert_int_equal(fah_crc32(0, "123456789", 9), 0xcbf43926); /* the standard's check value */
	assert_int_equal(fah_crc32(0, "", 0), 0);
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 31 + 7);
	whole = fah_crc32(0, bytes, sizeof(bytes));
	for (cut = 0; cut <= sizeof(bytes); cut++)
		assert_int_equal(
			fah_crc32(fah_crc32(0, bytes, cut), bytes + cut, sizeof(bytes) - cut),
			whole);
}

/* Every length of varint beside every other: the quick way must give what the careful way does. */
static void three_varints(void **state)
{
	uint8_t buf[64], *p;
	uint64_t v[3];
	unsigned a, b, c, room;

	for (a = 0; a < 64; a++)
		for (b = 0; b < 64; b++)
			for (c = 0; c < 64; c++)
				for (room = 0; room < 9; room += 8) {
					uint64_t want[3] = {~0ull >> a, (~0ull >> b) / 3,
							    1ull << c};
					struct fah_cursor cur = {buf, NULL, false};

					p = fah_put_varint(buf, want[0]);
					p = fah_put_varint(p, want[1]);
					p = fah_put_varint(p, want[2]);
					memset(p, 0x80, 8);
					cur.end = p + room;
					fah_get_varint3(&cur, v);
					if (cur.bad || cur.p != p || memcmp(v, want, sizeof(v)))
						fail_msg("%u %u %u %u", a, b, c, room);
				}
}

static void varint_cut(void **state)
{
	uint8_t buf[16];
	uint64_t v[3];
	size_t n;

	memset(buf, 0xff, sizeof(buf));
	for (n = 0; n < sizeof(buf); n++) {
		struct fah_cursor cur = {buf, buf + n, false};

		fah_get_varint3(&cur, v);
		assert_true(cur.bad);
	}
}

#define THREADS 5
#define SAMPLES 20011

struct kept {
	uint32_t thread, node, flags;
	uint64_t time_ns, cpu_ns, system_ns;
};

/* What one thread was given, in the same order, against what a reader gets for it. */
static void check_samples(struct fah_reader *r, const struct kept *kept)
{
	uint64_t cpu_in[THREADS] = {0}, cpu_out[THREADS] = {0}, n = 0;
	uint64_t system_in[THREADS] = {0}, system_out[THREADS] = {0};
	size_t next[THREADS] = {0};
	struct fah_record rec;

	while (fah_reader_next(r, &rec) > 0) {
		struct fah_samples_block block;
		struct fah_sample_item item;

		if (rec.type != FAH_REC_SAMPLES)
			continue;
		assert_int_equal(fah_samples_open(&rec, &block), 0);
		while (fah_samples_next(&block, &item)) {
			uint32_t t = block.thread - 1;
			const struct kept *k;

			assert_true(t < THREADS);
			while (kept[next[t]].thread != block.thread)
				next[t]++;
			k = &kept[next[t]++];
			n++;
			cpu_in[t] += k->cpu_ns;
			cpu_out[t] += item.cpu_ns;
			system_in[t] += k->system_ns;
			system_out[t] += item.system_ns;
			if (item.node != k->node || item.flags != k->flags ||
			    item.time_ns > k->time_ns || k->time_ns - item.time_ns >= 1000)
				fail_msg("sample %zu", next[t] - 1);
			/* The sum never drifts, whatever is rounded on the way. */
			if (cpu_out[t] > cpu_in[t] || cpu_in[t] - cpu_out[t] >= 1000)
				fail_msg("CPU at sample %zu", next[t] - 1);
			if (system_out[t] > system_in[t] || system_in[t] - system_out[t] >= 2000)
				fail_msg("system time at sample %zu", next[t] - 1);
		}
		assert_false(block.c.bad);
	}
	assert_int_equal(n, SAMPLES);
}

static void samples_round_trip(void **state)
{
	static struct kept kept[SAMPLES];
	_cleanup_(fah_writer_freep) struct fah_writer *w = NULL;
	_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
	struct fah_process_def def = {.pid = 1, .cmdline = ""};
	struct fah_run_end end = {.wall_ns = 1};
	struct fah_reader_state rs;
	struct fah_write_loss loss;
	uint64_t now[THREADS] = {0}, random = 88172645463325252ull;
	uint32_t process, i, node = 0;

	assert_int_equal(fah_writer_new("a.fah", &w), 0);
	process = fah_writer_process(w, &def);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(fah_writer_thread(w, process, i, 0, "t", 1), i + 1);
	for (i = 0; i < SAMPLES; i++) {
		struct kept *k = &kept[i];

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		if (i % 3 == 0)
			node = fah_writer_node(w, (uint32_t)(random % (node + 1)), 0, i);
		k->thread = 1 + (uint32_t)(random >> 20) % THREADS;
		/* From nothing to days, so that each number takes from 1 to 8 bytes. */
		k->cpu_ns = (random >> 8) >> (16 + random % 40);
		k->node = (uint32_t)(random >> 30) % (node + 1);
		k->flags = (uint32_t)(random >> 40) & FAH_SAMPLE_FLAGS_MASK;
		k->system_ns = k->flags & FAH_SAMPLE_SYSTEM_PART ? k->cpu_ns / 3 : 0;
		now[k->thread - 1] += (random >> 3) >> (16 + (random >> 50) % 40);
		k->time_ns = now[k->thread - 1];
		fah_writer_sample_part(w, k->thread, k->time_ns, k->cpu_ns, k->system_ns, k->flags,
				       k->node);
		if (i % 7001 == 0)
			fah_writer_flush(w);
	}
	assert_int_equal(fah_writer_finish(w, &end, &loss), 0);
	assert_int_equal(loss.records, 0);
	assert_int_equal(fah_reader_new("a.fah", &r), 0);
	check_samples(r, kept);
	fah_reader_state(r, &rs);
	assert_true(rs.complete && !rs.partial && !rs.lost_bytes);
	fah_reader_rewind(r);
	check_samples(r, kept);
}

/* Definitions stand before what uses them, at every record of the file. */
static void check_order(struct fah_reader *r, struct make_sums *got)
{
	uint32_t strings = 0, functions = 0, nodes = 0, threads = 0, processes = 0;
	struct fah_record rec;

	*got = (struct make_sums){0};
	while (fah_reader_next(r, &rec) > 0) {
		struct fah_rec_function f;
		struct fah_rec_thread t;
		struct fah_nodes_block nb;
		struct fah_node_item ni;
		struct fah_samples_block sb;
		struct fah_sample_item si;

		strings += rec.type == FAH_REC_STRING;
		processes += rec.type == FAH_REC_PROCESS;
		if (rec.type == FAH_REC_FUNCTION) {
			assert_int_equal(fah_decode_function(&rec, &f), 0);
			assert_true(f.file && f.file <= strings && f.name && f.name <= strings);
			functions++;
		} else if (rec.type == FAH_REC_THREAD) {
			assert_int_equal(fah_decode_thread(&rec, &t), 0);
			assert_true(t.process && t.process <= processes);
			threads++;
		} else if (rec.type == FAH_REC_NODES) {
			assert_int_equal(fah_nodes_open(&rec, &nb), 0);
			while (fah_nodes_next(&nb, &ni)) {
				nodes++;
				if (!ni.distance || ni.distance > nodes || !ni.function ||
				    ni.function > functions)
					fail_msg("node %u", nodes);
			}
			assert_false(nb.c.bad);
		} else if (rec.type == FAH_REC_SAMPLES) {
			assert_int_equal(fah_samples_open(&rec, &sb), 0);
			assert_true(sb.thread && sb.thread <= threads);
			while (fah_samples_next(&sb, &si)) {
				got->samples++;
				got->cpu_us += si.cpu_ns / 1000;
				if (!si.node || si.node > nodes)
					fail_msg("a sample of node %u of %u", si.node, nodes);
			}
			assert_false(sb.c.bad);
		}
	}
	got->nodes = nodes;
	got->functions = functions;
}

static void check_size(const struct make_options *opt, uint64_t limit)
{
	_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
	struct make_sums want, got;
	struct stat st;

	assert_int_equal(make_samples("big.fah", opt, &want, NULL), 0);
	assert_int_equal(stat("big.fah", &st), 0);
	assert_true((uint64_t)st.st_size < limit);
	/* Nothing that was reserved is kept. */
	assert_true((uint64_t)st.st_blocks * 512 < (uint64_t)st.st_size + 65536);
	assert_int_equal(fah_reader_new("big.fah", &r), 0);
	check_order(r, &got);
	assert_int_equal(got.samples, opt->samples);
	assert_int_equal(got.nodes, want.nodes);
	assert_int_equal(got.functions, want.functions);
	assert_in_range(want.cpu_us - got.cpu_us, 0, opt->threads);
	assert_true(got.nodes >= opt->stacks);
}

static void million_samples_under_8_mb(void **state)
{
	struct make_options opt = {.samples = 1000000, .stacks = 5000, .depth = 20, .threads = 8};

	check_size(&opt, 8000000);
	opt.contended = true;
	check_size(&opt, 8000000);
}

static void interning(void **state)
{
	_cleanup_(fah_writer_freep) struct fah_writer *w = NULL;
	struct fah_process_def def = {.pid = 7, .cmdline = ""};
	uint32_t a, b, f, n;

	assert_int_equal(fah_writer_new("a.fah", &w), 0);
	a = fah_writer_string(w, "a", 1);
	b = fah_writer_string(w, "", 0);
	assert_int_equal(a, 1);
	assert_int_equal(b, 2);
	assert_int_equal(fah_writer_string(w, "abc", 1), a);
	f = fah_writer_function(w, a, b, 0, 3);
	assert_int_equal(fah_writer_function(w, a, b, 0, 3), f);
	assert_int_equal(fah_writer_function(w, a, b, 0, 4), f + 1);
	assert_int_equal(fah_writer_function(w, 3, b, 0, 4), 0);
	n = fah_writer_node(w, 0, f, 1);
	assert_int_equal(fah_writer_node(w, n, f, 1), n + 1);
	assert_int_equal(fah_writer_node(w, 0, f, 1), n);
	assert_int_equal(fah_writer_node(w, 99, f, 1), 0);
	assert_int_equal(fah_writer_node(w, 0, 99, 1), 0);
	assert_int_equal(fah_writer_thread(w, 1, 1, 0, "t", 1), 0);
	assert_int_equal(fah_writer_process(w, &def), 1);
	assert_int_equal(fah_writer_process(w, &def), 1);
	def.start_ns = 5; /* the same pid again, later */
	assert_int_equal(fah_writer_process(w, &def), 2);
	assert_int_equal(fah_writer_thread(w, 2, 7, 0, "t", 1), 1);
	/* Ids that were never given out are left out, they can't be told later. */
	fah_writer_sample(w, 9, 1, 1, 0, n);
	fah_writer_sample(w, 0, 1, 1, 0, n);
	fah_writer_sample(w, 1, 1, 1, 0, 77);
	fah_writer_drops(w, 9, 1, 1, 1, 1);
	fah_writer_thread_end(w, 9, 1, 1);
}

/* A capture copied record by record is the same, and goes on from its ids. */
static void copying(void **state)
{
	_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
	_cleanup_(fah_writer_freep) struct fah_writer *w = NULL;
	_cleanup_(fah_freep) char *from = NULL, *to = NULL;
	struct fah_process_def def = {.pid = 4242, .start_ns = 12345678, .cmdline = ""};
	struct fah_record rec;
	size_t n_from, n_to, end = 0;
	uint32_t file;

	assert_int_equal(make_golden("golden.fah"), 0);
	assert_int_equal(fah_reader_new("golden.fah", &r), 0);
	assert_int_equal(fah_writer_new("copy.fah", &w), 0);
	while (fah_reader_next(r, &rec) > 0) {
		fah_writer_copy(w, &rec);
		end = rec.type == FAH_REC_END ? rec.offset : end;
	}
	fah_writer_flush(w);
	assert_int_equal(fah_file_read("golden.fah", 1 << 20, &from, &n_from), 0);
	assert_int_equal(fah_file_read("copy.fah.partial", 1 << 20, &to, &n_to), 0);
	assert_int_equal(n_to, end);
	assert_memory_equal(from, to, end);

	file = fah_writer_string(w, "/home/user/advanced.py", 22);
	assert_int_equal(file, 1);
	assert_int_equal(fah_writer_function(w, 1, 2, 2, 1), 1);
	assert_int_equal(fah_writer_node(w, 1, 2, 19), 2);
	assert_int_equal(fah_writer_node(w, 0, 1, 41), 7);
	assert_int_equal(fah_writer_string(w, "new", 3), 11);
	assert_int_equal(fah_writer_process(w, &def), 1);
	assert_int_equal(fah_writer_thread(w, 1, 4250, 500000000, "", 0), 2);
	assert_int_equal(fah_writer_thread(w, 1, 4251, 500000000, "", 0), 3);
}

/* Header code that two libraries have is two functions; a record that is copied keeps its module.
 */
static void native_functions(void **state)
{
	_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
	_cleanup_(fah_writer_freep) struct fah_writer *w = NULL, *copy = NULL;
	uint32_t header, name, a, b, seen = 0;
	struct fah_rec_function f;
	struct fah_record rec;

	assert_int_equal(fah_writer_new("native.fah", &w), 0);
	header = fah_writer_string(w, "/usr/include/x.h", 16);
	name = fah_writer_string(w, "twice", 5);
	a = fah_writer_string(w, "/lib/a.so", 9);
	b = fah_writer_string(w, "/lib/b.so", 9);
	assert_int_equal(fah_writer_native_function(w, header, name, a), 1);
	assert_int_equal(fah_writer_native_function(w, header, name, b), 2);
	assert_int_equal(fah_writer_native_function(w, header, name, a), 1);
	assert_int_equal(fah_writer_other_function(w, header, name, FAH_FUNCTION_NATIVE), 3);
	assert_int_equal(fah_writer_native_function(w, header, name, 77), 0);
	fah_writer_flush(w);
	assert_int_equal(fah_reader_new("native.fah.partial", &r), 0);
	assert_int_equal(fah_writer_new("copy.fah", &copy), 0);
	while (fah_reader_next(r, &rec) > 0) {
		fah_writer_copy(copy, &rec);
		if (rec.type != FAH_REC_FUNCTION)
			continue;
		assert_int_equal(fah_decode_function(&rec, &f), 0);
		assert_int_equal(f.kind, FAH_FUNCTION_NATIVE);
		assert_int_equal(f.file, header);
		assert_int_equal(f.module, seen == 0 ? a : seen == 1 ? b : 0);
		seen++;
	}
	assert_int_equal(seen, 3);
	assert_int_equal(fah_writer_native_function(copy, header, name, b), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc),
		cmocka_unit_test(three_varints),
		cmocka_unit_test(varint_cut),
		cmocka_unit_test_setup_teardown(samples_round_trip, scratch_enter, scratch_leave),
		cmocka_unit_test_setup_teardown(million_samples_under_8_mb, scratch_enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(interning, scratch_enter, scratch_leave),
		cmocka_unit_test_setup_teardown(copying, scratch_enter, scratch_leave),
		cmocka_unit_test_setup_teardown(native_functions, scratch_enter, scratch_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
