/*
 * test_model_cells.c - a notebook's cells: their names, their sources in the capture, and stacks
 * that begin at them.
 */
#include "build.h"

#include "model/cells.h"

#include <math.h>

#define NOTEBOOK "/home/me/project/a b.ipynb"
#define FOLDER "/opt/lib/fixingahole/notebook/"
#define RUNNER FOLDER "run.py"

static void names(void **state)
{
	static const struct {
		const char *path;
		uint32_t number;
	} cases[] = {
		{NOTEBOOK "/cell 1", 1},
		{NOTEBOOK "/cell 120", 120},
		{NOTEBOOK, 0},
		{NOTEBOOK "/cell ", 0},
		{NOTEBOOK "/cell 1x", 0},
		{NOTEBOOK "/cell x", 0},
		{"/home/me/a.py/cell 1", 0},
		{"cell 1", 0},
		{"/cell 1", 0},
		{NOTEBOOK "/cell 1/x", 0},
		{"", 0},
		{"x.ipynb/cell 3", 3},
		{NOTEBOOK "/cell 99999999999", 0},
	};
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	size_t len = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (fah_cell_number(cases[i].path, NULL) != cases[i].number)
			fail_msg("%s", cases[i].path);
	fah_cell_number(NOTEBOOK "/cell 7", &len);
	assert_int_equal(len, strlen(NOTEBOOK));
	fah_place_add(&sb, NOTEBOOK "/cell 7", 2);
	assert_string_equal(fah_strbuf_str(&sb), "a b.ipynb, cell 7, line 2");
	fah_strbuf_truncate(&sb, 0);
	fah_place_add(&sb, "dir/x.py", 2);
	fah_place_add(&sb, " libz.so", 0);
	assert_string_equal(fah_strbuf_str(&sb), "dir/x.py:2 libz.so");
	fah_strbuf_release(&sb);
}

/*
 * 100 samples each of
 *   run.py run:9 -> IPython run_cell:5                                        (the shell starts)
 *   run.py run:9 -> IPython run_cell:5 -> cell 1 <module>:3 -> cell 1 f:2
 *   run.py run:9 -> IPython run_cell:5 -> cell 2 <module>:1 -> IPython time:8 -> cell 2 <module>:4
 *   threading run:7 -> cell 1 f:2                                             (no runner)
 *   run.py run:9 -> IPython run_cell:5 -> cell 2 <module>:4 -> fah_helpers.py system:8   (a "!")
 * On 3.8: the functions have no qualified names, and each statement is a <module> of its own.
 */
static struct fah_profile *sample_notebook(const char *runner)
{
	struct build b;
	uint32_t run, shell, module, again, second, inner, time, f, thread, started, help, nodes[5];

	build_begin(&b);
	if (runner)
		fah_writer_meta(b.w, "runner", runner);
	fah_writer_meta(b.w, "cell 1", "class C:\n    def f(self):\n        pass\n");
	run = build_function(&b, RUNNER, "run", NULL, 5);
	shell = build_function(&b, "/lib/IPython/shell.py", "run_cell", NULL, 1);
	time = build_function(&b, "/lib/IPython/magics.py", "time", NULL, 1);
	module = build_function(&b, NOTEBOOK "/cell 1", "<module>", NULL, 1);
	again = build_function(&b, NOTEBOOK "/cell 1", "<module>", NULL, 3);
	second = build_function(&b, NOTEBOOK "/cell 2", "<module>", NULL, 1);
	inner = build_function(&b, NOTEBOOK "/cell 2", "<module>", NULL, 4);
	f = build_function(&b, NOTEBOOK "/cell 1", "f", NULL, 2);
	started = build_function(&b, "/lib/threading.py", "run", NULL, 1);
	nodes[0] = fah_writer_node(b.w, fah_writer_node(b.w, 0, run, 9), shell, 5);
	nodes[1] = fah_writer_node(b.w, fah_writer_node(b.w, nodes[0], again, 3), f, 2);
	nodes[2] = fah_writer_node(b.w, nodes[0], second, 1);
	nodes[2] = fah_writer_node(b.w, fah_writer_node(b.w, nodes[2], time, 8), inner, 4);
	nodes[3] = fah_writer_node(b.w, fah_writer_node(b.w, 0, started, 7), f, 2);
	fah_writer_node(b.w, nodes[0], module, 1);
	help = build_function(&b, FOLDER "fah_helpers.py", "system", NULL, 3);
	nodes[4] = fah_writer_node(b.w, fah_writer_node(b.w, nodes[0], inner, 4), help, 8);
	thread = build_thread(&b, build_process(&b, 10, 0), 10, 0);
	for (int i = 0; i < 500; i++)
		fah_writer_sample(b.w, thread, MS(4 * (i + 1)), MS(4), FAH_IN_PYTHON,
				  nodes[i / 100]);
	fah_writer_thread_end(b.w, thread, MS(2000), MS(2000));
	return build_load(&b, 2000, 2000);
}

/* The path of the node that has most of the samples behind it, outermost first. */
static void path_of(const struct fah_profile *p, uint32_t node, struct fah_strbuf *out)
{
	size_t n;
	const struct fah_node *nodes = fah_profile_nodes(p, &n);

	if (nodes[node].parent)
		path_of(p, nodes[node].parent, out);
	fah_strbuf_addf(out, "%s%s:%u", out->len ? " " : "",
			fah_profile_function(p, nodes[node].function)->name, nodes[node].line);
}

static void assert_paths(const struct fah_profile *p, const char *const *expected)
{
	const struct fah_node_cost *costs = fah_profile_node_costs(p);
	size_t n;

	fah_profile_nodes(p, &n);
	for (uint32_t i = 0; i < n; i++) {
		struct fah_strbuf path = FAH_STRBUF_INIT;

		if (!costs[i].samples)
			continue;
		path_of(p, i, &path);
		assert_string_equal(fah_strbuf_str(&path), *expected);
		expected++;
		fah_strbuf_release(&path);
	}
	assert_null(*expected);
}

static void stacks_begin_at_cells(void **state)
{
	static const char *const with[] = {"<notebook runner>:0", "<module>:3 C.f:2",
					   "<module>:4",	  "run:7 C.f:2",
					   "<module>:4 system:8", NULL};
	static const char *const without[] = {"run:9 run_cell:5",
					      "run:9 run_cell:5 <module>:3 C.f:2",
					      "run:9 run_cell:5 <module>:1 time:8 <module>:4",
					      "run:7 C.f:2",
					      "run:9 run_cell:5 <module>:4 system:8",
					      NULL};
	struct fah_profile *p = sample_notebook(RUNNER);

	(void)state;
	assert_paths(p, with);
	fah_profile_free(p);
	p = sample_notebook(NULL);
	assert_paths(p, without);
	fah_profile_free(p);
	p = sample_notebook("/elsewhere/run.py"); /* a capture may say anything */
	assert_paths(p, without);
	fah_profile_free(p);
}

static void cells_are_charged(void **state)
{
	static const char *const dirs[] = {"/home/me/project", "/opt"};
	struct fah_scope scope = {.dirs = dirs, .n_dirs = 2};
	struct fah_profile *p = sample_notebook(RUNNER);
	const struct fah_charges *c;

	(void)state;
	assert_int_equal(fah_profile_charge(p, &scope, &c), 0);
	assert_int_equal(c->n_files, 2);
	assert_string_equal(c->files[0].abspath, NOTEBOOK "/cell 1");
	assert_true(fabs(c->files[0].times.python - 0.8) < 1e-6);
	assert_string_equal(c->files[1].abspath, NOTEBOOK "/cell 2");
	assert_int_equal(c->files[1].n_functions, 1);
	assert_int_equal(fah_profile_function(p, c->files[1].functions[0].function)->first_line, 1);
	assert_int_equal(c->files[1].n_lines, 1);
	assert_int_equal(c->files[1].lines[0].line, 4); /* what it calls of our runner too */
	assert_true(fabs(c->files[1].times.python - 0.8) < 1e-6);
	/* of nobody's Python: the shell's start */
	assert_true(fabs(c->no_python.python - 0.4) < 1e-6);
	assert_true(fah_times_sum(&c->outside) < 1e-9);
	assert_string_equal(fah_profile_cell(p, NOTEBOOK "/cell 1"),
			    "class C:\n    def f(self):\n        pass\n");
	assert_null(fah_profile_cell(p, NOTEBOOK "/cell 2"));
	assert_null(fah_profile_cell(p, "/home/me/project/x.py"));
	fah_profile_free(p);
}

/* What is asked for is reported, wherever it lies. */
static void cells_of_what_is_asked_for(void **state)
{
	static const char *const ignored[] = {"/home/me"};
	struct fah_scope scope = {.everything = true, .ignore = ignored, .n_ignore = 1};
	struct fah_profile *p = sample_notebook(RUNNER);
	const struct fah_charges *c;

	(void)state;
	assert_int_equal(fah_profile_charge(p, &scope, &c), 0);
	for (size_t i = 0; i < c->n_files; i++)
		assert_int_equal(fah_cell_number(c->files[i].abspath, NULL), 0);
	fah_profile_free(p);
	p = sample_notebook(RUNNER);
	scope.always = NOTEBOOK;
	assert_int_equal(fah_profile_charge(p, &scope, &c), 0);
	assert_string_equal(c->files[0].abspath, NOTEBOOK "/cell 1");
	assert_true(fabs(c->files[0].times.python - 0.8) < 1e-6);
	fah_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(stacks_begin_at_cells),
		cmocka_unit_test(cells_are_charged),
		cmocka_unit_test(cells_of_what_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
