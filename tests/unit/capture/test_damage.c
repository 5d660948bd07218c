/*
 * test_damage.c - a capture cut at every byte, and with every single bit flipped: it opens, all
 * whole records before the damage come out as they were, and nothing after it is made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "capture/reader.h"
#include "capture/text.h"
#include "core/err.h"
#include "make.h"
#include "scratch.h"

FAH_DEFINE_FREEP(struct fah_reader *, fah_reader_free)

#define RECORDS_MAX 200

static char *golden;
static size_t golden_len, starts[RECORDS_MAX + 1], n_records;

static int load_golden(void **state)
{
	_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
	struct fah_record rec;

	if (scratch_enter(state) < 0 || make_golden("v1.fah") < 0 ||
	    fah_file_read("v1.fah", 1 << 20, &golden, &golden_len) < 0 ||
	    fah_reader_new("v1.fah", &r) < 0)
		return -1;
	for (n_records = 0; fah_reader_next(r, &rec) > 0 && n_records < RECORDS_MAX; n_records++)
		starts[n_records] = rec.offset;
	starts[n_records] = golden_len;
	return n_records > 20 ? 0 : -1;
}

static int free_golden(void **state)
{
	free(golden);
	return scratch_leave(state);
}

/* How many records end at or before this byte. */
static size_t whole_before(size_t byte)
{
	size_t n = 0;

	while (n < n_records && starts[n + 1] <= byte)
		n++;
	return n;
}

/* A copy of exactly n bytes, so that the sanitizer sees the first byte beyond. */
static uint8_t *copy_of(size_t n)
{
	uint8_t *p = malloc(n ? n : 1);

	assert_non_null(p);
	memcpy(p, golden, n);
	return p;
}

/* Reads everything; the first `same` records must be golden's. Returns how many came. */
static size_t read_all(struct fah_reader *r, size_t same)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;
	struct fah_text text = {0};
	struct fah_record rec;
	size_t n = 0;

	while (fah_reader_next(r, &rec) > 0) {
		fah_text_record(&text, &rec, &sb);
		if (n < same) {
			assert_int_equal(rec.offset, starts[n]);
			assert_memory_equal(rec.payload, golden + starts[n] + FAH_RECORD_HEAD,
					    rec.len);
		}
		n++;
	}
	assert_int_equal(fah_reader_next(r, &rec), 0);
	assert_true(n >= same);
	return n;
}

static void cut_at_every_byte(void **state)
{
	size_t cut;

	for (cut = 1; cut <= golden_len; cut++) {
		_cleanup_(fah_freep) uint8_t *bytes = copy_of(cut);
		_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
		struct fah_reader_state rs;
		size_t whole = whole_before(cut);

		assert_int_equal(fah_reader_new_mem(bytes, cut, &r), 0);
		assert_int_equal(read_all(r, whole), whole);
		fah_reader_state(r, &rs);
		assert_int_equal(rs.complete, cut == golden_len);
		assert_int_equal(rs.good_bytes + rs.lost_bytes, cut);
		if (cut >= FAH_CAPTURE_HEAD)
			assert_int_equal(rs.good_bytes, starts[whole]);
		assert_int_equal(rs.cut, rs.lost_bytes != 0);
	}
}

/* There is nothing to recover, and nothing that says what it was. */
static void an_empty_file_is_none(void **state)
{
	struct fah_reader *r = NULL;

	assert_int_equal(fah_reader_new_mem(NULL, 0, &r), FAH_ERR_FORMAT);
	assert_null(r);
}

static void every_bit_flipped(void **state)
{
	size_t byte;
	int bit;

	for (byte = 0; byte < golden_len; byte++) {
		for (bit = 0; bit < 8; bit++) {
			_cleanup_(fah_freep) uint8_t *bytes = copy_of(golden_len);
			_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
			struct fah_reader_state rs;
			size_t whole = whole_before(byte);
			int err;

			bytes[byte] ^= (uint8_t)(1 << bit);
			err = fah_reader_new_mem(bytes, golden_len, &r);
			if (byte < 12) { /* magic and version */
				assert_true(err == FAH_ERR_FORMAT || err == FAH_ERR_VERSION);
				assert_null(r);
				continue;
			}
			assert_int_equal(err, 0);
			if (byte < FAH_CAPTURE_HEAD) { /* reserved: later versions may use it */
				assert_int_equal(read_all(r, n_records), n_records);
				continue;
			}
			/* CRC-32 finds every single bit, also in the length and in the checksum. */
			assert_int_equal(read_all(r, whole), whole);
			fah_reader_state(r, &rs);
			assert_false(rs.complete);
			assert_int_equal(rs.good_bytes, starts[whole]);
			assert_int_equal(rs.lost_bytes, golden_len - starts[whole]);
		}
	}
}

/* A whole record of a type from the future, and a longer payload, are passed over. */
static void later_versions(void **state)
{
	static const uint8_t future[] = {3, 0, 0, 0, 0, 0, 0, 0, 200, 1, 2, 3};
	_cleanup_(fah_freep) uint8_t *bytes = malloc(golden_len + sizeof(future));
	_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;
	struct fah_text text = {0};
	struct fah_reader_state rs;
	struct fah_record rec;
	struct fah_rec_thread_end e;
	static const uint8_t longer[] = {1, 2, 3, 99, 99};
	uint32_t crc;
	size_t n = 0;

	memcpy(bytes, golden, golden_len);
	memcpy(bytes + golden_len, future, sizeof(future));
	crc = 0x384040fa; /* of c8 01 02 03 */
	memcpy(bytes + golden_len + 4, &crc, 4);
	assert_int_equal(fah_reader_new_mem(bytes, golden_len + sizeof(future), &r), 0);
	while (fah_reader_next(r, &rec) > 0) {
		fah_strbuf_truncate(&sb, 0);
		fah_text_record(&text, &rec, &sb);
		n++;
	}
	assert_int_equal(n, n_records + 1);
	assert_non_null(strstr(sb.p, "unknown type 200, 3 bytes"));
	fah_reader_state(r, &rs);
	assert_int_equal(rs.lost_bytes, 0);
	assert_true(rs.complete);

	rec = (struct fah_record){FAH_REC_THREAD_END, longer, sizeof(longer), 0,
				  FAH_CAPTURE_VERSION};
	assert_int_equal(fah_decode_thread_end(&rec, &e), 0);
	assert_int_equal(e.cpu_ns, 3);
}

/* Payloads that are whole by their checksum but lie: bounds, not crashes. */
static void lying_payloads(void **state)
{
	static const uint8_t huge[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
	static const uint8_t many[] = {0xff, 0xff, 0xff, 0xff, 7, 1, 1, 1};
	static const uint8_t big_cpu[] = {1, 1, 0, 0, /* zigzag(-1) */ 1, 0, 0};
	struct fah_record rec = {FAH_REC_STRING, huge, sizeof(huge), 0, FAH_CAPTURE_VERSION};
	struct fah_rec_process_end pe;
	struct fah_samples_block sb;
	struct fah_sample_item si;
	struct fah_nodes_block nb;
	struct fah_str s;

	assert_int_equal(fah_decode_string(&rec, &s), FAH_ERR_DAMAGED);
	assert_int_equal(fah_nodes_open(&rec, &nb), FAH_ERR_DAMAGED);
	assert_int_equal(fah_samples_open(&rec, &sb), FAH_ERR_DAMAGED);
	assert_int_equal(fah_decode_process_end(&rec, &pe), FAH_ERR_DAMAGED);
	rec.payload = many;
	rec.len = sizeof(many);
	assert_int_equal(fah_nodes_open(&rec, &nb), FAH_ERR_DAMAGED);
	rec.payload = big_cpu; /* -1 us of CPU */
	rec.len = sizeof(big_cpu);
	assert_int_equal(fah_samples_open(&rec, &sb), 0);
	assert_false(fah_samples_next(&sb, &si));
	assert_true(sb.c.bad);
}

static void not_captures(void **state)
{
	struct fah_reader *r = NULL;

	assert_int_equal(fah_reader_new_mem((const uint8_t *)"#!/bin/sh\n", 10, &r),
			 FAH_ERR_FORMAT);
	assert_int_equal(fah_reader_new("/dev/zero", &r), FAH_ERR_FORMAT);
	assert_int_equal(fah_reader_new(".", &r), FAH_ERR_SYS);
	assert_int_equal(fah_reader_new("none.fah", &r), FAH_ERR_SYS);
	golden[8] = FAH_CAPTURE_VERSION + 1;
	assert_int_equal(fah_reader_new_mem((uint8_t *)golden, golden_len, &r), FAH_ERR_VERSION);
	golden[8] = FAH_CAPTURE_VERSION;
	assert_null(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_at_every_byte), cmocka_unit_test(an_empty_file_is_none),
		cmocka_unit_test(every_bit_flipped), cmocka_unit_test(later_versions),
		cmocka_unit_test(lying_payloads),    cmocka_unit_test(not_captures),
	};

	return cmocka_run_group_tests(tests, load_golden, free_golden);
}
