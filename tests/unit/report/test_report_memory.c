/* test_report_memory.c - memory through the run, as text and as JSON, against files in golden/. */
#include "build_memory.h"
#include "golden.h"

#include "report/memory_timeline.h"

#include <signal.h>

static void check(struct fah_profile *p, const char *name, struct fah_report_options o)
{
	const struct fah_memory_timeline *m = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct fah_text t;

	assert_int_equal(fah_profile_memory(p, &m), 0);
	fah_text_init(&t, out, &o);
	fah_memory_timeline(&t, m);
	assert_int_equal(fah_text_finish(&t), 0);
	fclose(out);
	golden_compare(name, text);
	free(text);
}

static void check_json(struct fah_profile *p, const char *name)
{
	const struct fah_memory_timeline *m = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct fah_json j;

	assert_int_equal(fah_profile_memory(p, &m), 0);
	fah_json_init(&j, out);
	fah_json_begin_object(&j);
	fah_memory_timeline_json(&j, p, m);
	fah_json_end_object(&j);
	assert_int_equal(fah_json_finish(&j), 0);
	fclose(out);
	golden_compare(name, text);
	free(text);
}

/* 10 s: the heap grows to 210 MB by the third second and falls to 60, RSS stays; a group of 512 MB,
 * which others use too. */
static void begin(struct build *b, double limit)
{
	uint32_t process, thread;
	struct memory heap;
	uint64_t block;

	build_begin(b);
	process = build_process(b, 10, 0);
	thread = build_thread(b, process, 10, 0);
	heap = memory_begin(b, process, thread, 100, 10000000, 0);
	memory_alloc(&heap, 1000, 0, 50000000);
	block = memory_alloc(&heap, 3000, 0, 150000000);
	for (int i = 0; i < 100; i++) {
		double at = 150 + 98 * i, rss = at < 1000 ? 20 : at < 3000 ? 75 : 225;

		seen_process(b, process, at, rss, 0, rss);
		seen_machine(b, at,
			     (struct seen){12000 - rss, rss + 2 * i, i % 10 ? -1 : 12, limit, 3});
	}
	memory_free(&heap, 7000, block, 150000000);
	memory_state(&heap, 9900);
	build_process_end(b, process, 9900, 231000000);
}

static void with_a_limit(void **state)
{
	struct fah_profile *p;
	struct build b;

	(void)state;
	begin(&b, 512);
	p = load_ended(&b, 10000, 0);
	check(p, "memory-timeline", (struct fah_report_options){.utf8 = true});
	check(p, "memory-timeline-80", (struct fah_report_options){.width = 80, .utf8 = true});
	check(p, "memory-timeline-ascii", (struct fah_report_options){.width = 50});
	check(p, "memory-timeline-colour",
	      (struct fah_report_options){.width = 20, .utf8 = true, .colour = true});
	check_json(p, "memory-timeline-json");
	fah_profile_free(p);
}

static void without_a_limit(void **state)
{
	struct fah_profile *p;
	struct build b;

	(void)state;
	begin(&b, 0);
	p = load_ended(&b, 10000, 0);
	check(p, "memory-timeline-no-limit", (struct fah_report_options){.width = 80});
	fah_profile_free(p);
}

static void killed(void **state)
{
	struct fah_profile *p;
	struct build b;

	(void)state;
	begin(&b, 512);
	seen_machine(&b, 9990, (struct seen){12000, 20, 10, 512, 4});
	p = load_ended(&b, 10000, SIGKILL);
	check(p, "memory-timeline-killed", (struct fah_report_options){.width = 80});
	fah_profile_free(p);
	begin(&b, 512);
	seen_machine(&b, 9990, (struct seen){12000, 20, 10, 512, 5});
	p = load_ended(&b, 10000, 0);
	check(p, "memory-timeline-child-killed", (struct fah_report_options){.width = 80});
	fah_profile_free(p);
}

/* Of a machine that shows nothing; of two processes. */
static void not_known(void **state)
{
	struct fah_profile *p;
	struct build b;

	(void)state;
	build_begin(&b);
	seen_process(&b, build_process(&b, 10, 0), 100, 20, -1, -1);
	seen_process(&b, build_process(&b, 11, 50), 200, 30, -1, -1);
	p = load_ended(&b, 1000, 0);
	check(p, "memory-timeline-not-known", (struct fah_report_options){.width = 80});
	check_json(p, "memory-timeline-not-known-json");
	fah_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_a_limit),
		cmocka_unit_test(without_a_limit),
		cmocka_unit_test(killed),
		cmocka_unit_test(not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
