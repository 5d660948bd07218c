/*
 * test_report_views.c - the call tree and the flame graph as text, compared with golden/.
 */
#include "golden.h"

#include "report/calls.h"
#include "report/flame.h"

struct run {
	struct build b;
	uint32_t thread;
	double at; /* ms */
};

static void spend(struct run *r, double ms, uint32_t flags, uint32_t node)
{
	for (double until = r->at + ms; r->at + 1 < until;) {
		r->at += 4;
		fah_writer_sample(r->b.w, r->thread, MS(r->at), MS(4), flags, node);
	}
}

static uint32_t below(struct run *r, uint32_t node, const char *file, const char *name,
		      uint32_t line)
{
	return fah_writer_node(r->b.w, node, build_function(&r->b, file, name, name, line),
			       line + 1);
}

static uint32_t below_native(struct run *r, uint32_t node, const char *module, const char *name)
{
	uint32_t file = fah_writer_string(r->b.w, module, strlen(module));
	uint32_t n = fah_writer_string(r->b.w, name, strlen(name));

	return fah_writer_node(r->b.w, node,
			       fah_writer_other_function(r->b.w, file, n, FAH_FUNCTION_NATIVE), 0);
}

/* 10 s: a chain, recursion, names to be careful with, native code, the kernel, waits, idle time. */
static struct fah_profile *whole_run(struct fah_reader **reader)
{
	struct run r = {0};
	uint32_t process, module, main_, work, encode, deep, list;

	build_begin(&r.b);
	fah_writer_meta(r.b.w, "root", "/home/me/project");
	process = build_process(&r.b, 10, 0);
	r.thread = fah_writer_thread(r.b.w, process, 10, 0, "MainThread", 10);
	module = below(&r, below_native(&r, 0, "/usr/bin/python3.11", "_start"), "a.py", "<module>",
		       1);
	main_ = below(&r, module, "a.py", "main", 40);
	spend(&r, 40, FAH_IN_SYSTEM, module);
	work = below(&r, main_, "a.py", "Work.run", 12);
	spend(&r, 1000, FAH_IN_PYTHON, work);
	encode = below(&r, work, "/usr/lib/python3.11/json/encoder.py", "JSONEncoder.encode", 183);
	spend(&r, 1200, FAH_IN_PYTHON, encode);
	spend(&r, 1600, FAH_IN_NATIVE,
	      below_native(&r, encode, "/usr/lib/python3.11/lib-dynload/_json.so",
			   "encoder_listencode_obj"));
	spend(&r, 600, FAH_IN_SYSTEM, encode);
	deep = work;
	for (int i = 0; i < 30; i++)
		deep = below(&r, deep, "a.py", "fact", 20);
	spend(&r, 800, FAH_IN_PYTHON, deep);
	spend(&r, 600, FAH_IN_PYTHON,
	      below(&r, work, "pkg/er.py", "面白い関数.<locals>.<lambda>", 7));
	spend(&r, 400, FAH_IN_PYTHON,
	      below(&r, main_, "pkg/\"quoted\" & <b>.py", "evil\033[31m\nname\"<&>", 70000));
	list = below(&r, main_, "b.py", "a_function_with_a_name_that_is_too_long_for_its_box", 5);
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "small_%d", i);
		spend(&r, 40, FAH_IN_PYTHON, below(&r, list, "b.py", name, 100));
	}
	for (int i = 0; i < 16; i++) {
		r.at += 50;
		fah_writer_wait(
			r.b.w, r.thread, MS(r.at), MS(50), MS(50), FAH_WAIT_SLEEP,
			below(&r,
			      below(&r, below(&r, 0, "a.py", "<module>", 1), "a.py", "main", 40),
			      "a.py", "pause", 30));
	}
	spend(&r, 100, FAH_IN_NATIVE | FAH_SAMPLE_NO_PYTHON, 0);
	fah_writer_thread_end(r.b.w, r.thread, MS(10000), MS(7140));
	build_process_end(&r.b, process, 10000, 9000000);
	return build_load_moments(&r.b, 10000, 7140, reader);
}

static void check_tree(struct fah_profile *p, const char *name, struct fah_report_options o,
		       struct fah_calls_options c, bool native)
{
	struct fah_view view = {.native = native, .idle = true};
	struct fah_stacks *stacks;
	struct fah_calltree *tree;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(fah_stacks_new(p, &view, &stacks), 0);
	assert_int_equal(fah_calltree_new(stacks, false, &tree), 0);
	assert_int_equal(fah_report_calls(f, p, tree, &c, &o), 0);
	fclose(f);
	fah_calltree_free(tree);
	fah_stacks_free(stacks);
	golden_compare(name, text);
	free(text);
}

static void trees(void **state)
{
	const struct fah_report_options plain = {.width = 80, .utf8 = true};
	struct fah_reader *reader;
	struct fah_profile *p = whole_run(&reader);

	(void)state;
	check_tree(p, "tree", plain, (struct fah_calls_options){.min = 0.01}, false);
	check_tree(p, "tree-native", (struct fah_report_options){.width = 120, .utf8 = true},
		   (struct fah_calls_options){.min = 0.001}, true);
	check_tree(p, "tree-ascii", (struct fah_report_options){.width = 80},
		   (struct fah_calls_options){.min = 0.01}, false);
	check_tree(p, "tree-narrow", (struct fah_report_options){.width = 44, .utf8 = true},
		   (struct fah_calls_options){.min = 0.01}, false);
	check_tree(p, "tree-colour",
		   (struct fah_report_options){.width = 80, .utf8 = true, .colour = true},
		   (struct fah_calls_options){.min = 0.05}, false);
	check_tree(p, "tree-depth", plain, (struct fah_calls_options){.min = 0.01, .depth = 3},
		   false);
	check_tree(p, "tree-self-less", plain,
		   (struct fah_calls_options){.min = 0.01, .self_less = true}, true);
	fah_profile_free(p);
	fah_reader_free(reader);
}

static void check_flame(struct fah_profile *p, const char *name, struct fah_view view,
			uint32_t rows, struct fah_report_options o)
{
	struct fah_stacks *stacks;
	struct fah_calltree *tree;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(fah_stacks_new(p, &view, &stacks), 0);
	assert_int_equal(fah_calltree_new(stacks, true, &tree), 0);
	assert_int_equal(fah_report_flame(f, p, tree, rows, &o), 0);
	fclose(f);
	fah_calltree_free(tree);
	fah_stacks_free(stacks);
	golden_compare(name, text);
	free(text);
}

static void flames(void **state)
{
	const struct fah_view all = {.native = true, .idle = true};
	struct fah_reader *reader;
	struct fah_profile *p = whole_run(&reader);

	(void)state;
	check_flame(p, "flame", all, 0, (struct fah_report_options){.width = 80, .utf8 = true});
	check_flame(p, "flame-wide", (struct fah_view){.idle = true}, 10,
		    (struct fah_report_options){.width = 140, .utf8 = true});
	check_flame(p, "flame-ascii", all, 6, (struct fah_report_options){.width = 60});
	check_flame(p, "flame-colour", all, 4,
		    (struct fah_report_options){.width = 80, .utf8 = true, .colour = true});
	check_flame(p, "flame-threads", (struct fah_view){.threads = true}, 4,
		    (struct fah_report_options){.width = 80, .utf8 = true});
	fah_profile_free(p);
	fah_reader_free(reader);
}

/* An empty capture says why it is; a cut one shows what it has, and says that it is cut. */
static void empty_and_cut(void **state)
{
	const struct fah_report_options plain = {.width = 80, .utf8 = true};
	const struct fah_calls_options all = {.min = 0.01};
	struct fah_reader *reader;
	struct fah_profile *p;
	struct run r = {0};

	(void)state;
	build_begin(&r.b);
	r.thread = build_thread(&r.b, build_process(&r.b, 10, 1), 10, 1);
	p = build_load_moments(&r.b, 5, 4, &reader);
	check_tree(p, "tree-empty", plain, all, false);
	check_flame(p, "flame-empty", (struct fah_view){.idle = true}, 0, plain);
	fah_profile_free(p);
	fah_reader_free(reader);

	build_begin(&r.b);
	r.thread = build_thread(&r.b, build_process(&r.b, 10, 0), 10, 0);
	r.at = 0;
	spend(&r, 400, FAH_IN_PYTHON, below(&r, 0, "gone.py", "f", 3));
	p = build_load_moments(&r.b, 0, 0, &reader);
	check_tree(p, "tree-cut", plain, all, false);
	check_flame(p, "flame-cut", (struct fah_view){.idle = true}, 0, plain);
	fah_profile_free(p);
	fah_reader_free(reader);
}

/* There are samples, but none in what was asked for. */
static void nothing_in_view(void **state)
{
	const struct fah_report_options plain = {.width = 80, .utf8 = true};
	struct fah_reader *reader;
	struct fah_profile *p;
	struct run r = {0};

	(void)state;
	build_begin(&r.b);
	r.thread = build_thread(&r.b, build_process(&r.b, 10, 0), 10, 0);
	spend(&r, 400, FAH_IN_SYSTEM, below(&r, 0, "a.py", "f", 3));
	fah_writer_thread_end(r.b.w, r.thread, MS(400), MS(400));
	p = build_load_moments(&r.b, 400, 400, &reader);
	check_flame(p, "flame-nothing", (struct fah_view){.gil = true}, 0, plain);
	fah_profile_free(p);
	fah_reader_free(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees),
		cmocka_unit_test(flames),
		cmocka_unit_test(empty_and_cut),
		cmocka_unit_test(nothing_in_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
