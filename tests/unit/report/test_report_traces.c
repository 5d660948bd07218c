/*
 * test_report_traces.c - the Stack Trace Summary, whole, as in golden/: one block a caller, several
 * ways to one, callers that are not shown, code outside, and numbers of calls that are counted,
 * about, by the clock, or not known.
 */
#include "golden.h"

#include "capture/reader.h"
#include "report/traces.h"

#define ROOT "/home/me/project"

struct run {
	struct build b;
	uint32_t process, thread, module, main, work, load, fib, outside;
	double at;
};

/* So many samples of 4 ms. */
static void samples(struct run *r, int n, uint32_t node)
{
	while (n--) {
		r->at += 4;
		fah_writer_sample(r->b.w, r->thread, MS(r->at), MS(4), FAH_IN_PYTHON, node);
	}
}

static uint32_t main_at(struct run *r, uint32_t module_line, uint32_t line)
{
	uint32_t node = fah_writer_node(r->b.w, 0, r->module, module_line);

	return fah_writer_node(r->b.w, node, r->main, line);
}

static uint32_t work_by(struct run *r, uint32_t module_line, uint32_t line)
{
	return fah_writer_node(r->b.w, main_at(r, module_line, line), r->work, 3);
}

/* passed: of those, not counted, by a loop's turns. */
static void calls(struct run *r, int ms, uint32_t function, uint32_t line, uint64_t n,
		  uint64_t passed)
{
	uint32_t caller = line == 6 ? r->fib : line ? r->main : 0;

	fah_writer_calls(r->b.w, &(struct fah_rec_calls){.process = r->process,
							 .function = function,
							 .caller = caller,
							 .line = line,
							 .time_ns = MS(ms),
							 .count = n,
							 .passed = passed});
}

static void counting(struct run *r, int ms, uint32_t function, bool on)
{
	fah_writer_counting(r->b.w, &(struct fah_rec_counting){.process = r->process,
							       .function = function,
							       .on = on,
							       .time_ns = MS(ms),
							       .work_ns = MS(ms)});
}

/* load as it was counted; work from main's line 21 by two ways and by turns, from 20 and by a
 * thread by the clock; from four more lines, of which two are shown; fib by itself, by the clock
 * too. */
static struct fah_profile *program(bool counted)
{
	struct run r = {0};
	uint32_t node;

	build_begin(&r.b);
	r.module = build_function(&r.b, ROOT "/app/main.py", "<module>", "<module>", 1);
	r.main = build_function(&r.b, ROOT "/app/main.py", "main", "main", 18);
	r.work = build_function(&r.b, "app/main.py", "work", "Job.work", 2);
	r.load = build_function(&r.b, ROOT "/app/main.py", "load", "load", 10);
	r.fib = build_function(&r.b, "app/main.py", "fib", "fib", 5);
	r.outside = build_function(&r.b, "/usr/lib/python3.12/threading.py", "run", "run", 1);
	r.process = build_process(&r.b, 10, 0);
	r.thread = build_thread(&r.b, r.process, 10, 0);
	if (counted) {
		counting(&r, 1, r.work, true);
		counting(&r, 1, r.load, true);
		counting(&r, 1, r.fib, true);
		calls(&r, 100, r.load, 50, 1234, 0);
		calls(&r, 100, r.work, 20, 90, 0);
		calls(&r, 100, r.work, 21, 5000, 0);
		calls(&r, 100, r.work, 0, 4, 0);
		counting(&r, 100, r.work, false);
		calls(&r, 900, r.work, 21, 0, 700123);
		calls(&r, 980, r.fib, 40, 3, 0);
		counting(&r, 990, r.fib, true);
		calls(&r, 1000, r.fib, 6, 500, 0);
		counting(&r, 1000, r.fib, true);
		counting(&r, 1000, r.fib, false);
	}
	samples(&r, 100, work_by(&r, 90, 20));
	samples(&r, 60, work_by(&r, 90, 21));
	samples(&r, 20, work_by(&r, 91, 21));
	node = fah_writer_node(r.b.w, 0, r.outside, 7);
	samples(&r, 30, fah_writer_node(r.b.w, node, r.work, 3));
	for (uint32_t line = 30; line < 34; line++)
		samples(&r, (int)(44 - line), work_by(&r, 90, line));
	node = fah_writer_node(r.b.w, main_at(&r, 90, 40), r.fib, 6);
	samples(&r, 240, fah_writer_node(r.b.w, node, r.fib, 7));
	samples(&r, 25, fah_writer_node(r.b.w, main_at(&r, 90, 50), r.load, 11));
	fah_writer_thread_end(r.b.w, r.thread, MS(2100), MS(2100));
	build_process_end(&r.b, r.process, 2100, 9000000);
	return build_load(&r.b, 2100, 2100);
}

static void check(const char *name, bool counted, const struct fah_report_options *how)
{
	static const char *const dirs[] = {ROOT};
	static const struct fah_scope scope = {.dirs = dirs, .n_dirs = 1};
	struct fah_report_options o = *how;
	struct fah_profile *p = program(counted);
	const struct fah_charges *charges;
	struct fah_text t;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	o.root = ROOT;
	o.scope = &scope;
	assert_int_equal(fah_profile_charge(p, &scope, &charges), 0);
	fah_text_init(&t, f, &o);
	assert_int_equal(fah_traces_print(&t, p, charges), 0);
	assert_int_equal(fah_text_finish(&t), 0);
	fclose(f);
	golden_compare(name, text);
	free(text);
	fah_profile_free(p);
}

static void one_block_a_caller(void **state)
{
	(void)state;
	check("traces", true, &(struct fah_report_options){.width = 80, .utf8 = true});
	check("traces-ascii", true, &(struct fah_report_options){.width = 40, .seconds = true});
	check("traces-samples", false, &(struct fah_report_options){.width = 80, .utf8 = true});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_block_a_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
