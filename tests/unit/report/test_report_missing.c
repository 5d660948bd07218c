/*
 * test_report_missing.c - what the summary and inspect say of a capture that is not all there: one
 * whose END tells of records that the disk had no room for, one that is cut in a record. As in
 * golden/.
 */
#include "golden.h"

#include "report/inspect.h"
#include "report/summary.h"

#include <sys/resource.h>
#include <sys/stat.h>

static void spend(struct build *b, uint32_t thread, int from, int to, uint32_t node)
{
	for (int i = from + 1; i <= to; i++)
		fah_writer_sample(b->w, thread, MS(4 * i), MS(4), FAH_IN_PYTHON, node);
}

/* 2 s of one function. Between the two numbers of samples, files could grow no longer. */
static void write_run(struct build *b, int lost_from, int lost_to)
{
	uint32_t process, thread, node;
	struct rlimit old, none;

	build_begin(b);
	process = build_process(b, 10, 0);
	thread = build_thread(b, process, 10, 0);
	node = fah_writer_node(b->w, 0, build_function(b, "/home/me/project/a.py", "f", "f", 3), 4);
	spend(b, thread, 0, lost_from, node);
	fah_writer_flush(b->w);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	none = (struct rlimit){.rlim_cur = 64, .rlim_max = old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	spend(b, thread, lost_from, lost_to, node);
	fah_writer_flush(b->w);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	spend(b, thread, lost_to, 500, node);
	fah_writer_thread_end(b->w, thread, MS(2000), MS(2000));
	build_process_end(b, process, 2000, 9000000);
	build_finish(b, 2000, 2000);
}

static void check(struct build *b, const char *summary, const char *inspect)
{
	struct fah_report_options o = {.width = 80, .utf8 = true, .root = "/home/me/project"};
	struct fah_profile *p;
	struct fah_reader *r;
	char *text = NULL, *at;
	size_t len;
	FILE *f;

	assert_int_equal(fah_reader_new(b->path, &r), 0);
	assert_int_equal(fah_profile_load(r, &p), 0);
	f = open_memstream(&text, &len);
	assert_non_null(f);
	assert_int_equal(fah_report_summary(f, p, &o), 0);
	fclose(f);
	golden_compare(summary, text);
	free(text);
	fah_profile_free(p);
	fah_reader_free(r);

	f = open_memstream(&text, &len);
	assert_non_null(f);
	assert_int_equal(fah_report_inspect(f, b->path, &(struct fah_inspect_options){0}), 0);
	fclose(f);
	at = strstr(text, b->path + 5); /* without "/tmp/" */
	assert_non_null(at);
	memcpy(at, "profile-of-a-test.fah", strlen(b->path + 5));
	golden_compare(inspect, text);
	free(text);
	build_remove(b);
}

static void no_room(void **state)
{
	struct build b;

	(void)state;
	write_run(&b, 200, 330);
	check(&b, "missing-no-room", "inspect-no-room");
}

/* In the last record but some, so that what is lost is more than END. */
static void cut_in_a_record(void **state)
{
	struct build b;
	struct stat st;

	(void)state;
	write_run(&b, 0, 0);
	assert_int_equal(stat(b.path, &st), 0);
	assert_int_equal(truncate(b.path, st.st_size - 70), 0);
	check(&b, "missing-cut", "inspect-cut");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_room),
		cmocka_unit_test(cut_in_a_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
