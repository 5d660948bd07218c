/*
 * test_model_charge.c - which line pays: scopes, recursion, totals over stacks, names.
 */
#include "build.h"
#include "model/frames.h"

#include <math.h>
#include <sys/stat.h>

static const char *const project[] = {"/home/me/project"};

static void near(double a, double b, double tolerance)
{
	if (fabs(a - b) > tolerance)
		fail_msg("%g is not within %g of %g", a, tolerance, b);
}

/*
 *  main.py <module>:30 -> main.py work:12 -> lib/json.py dumps:5 (outside)     2 s
 *                                         -> sub/deep.py fact:3 -> fact:4      1 s, native
 *  lib/thread.py run:9 (outside, nothing inside)                               1 s
 *  no Python at all                                                            0.4 s, system
 */
static struct fah_profile *sample_project(void)
{
	struct build b;
	uint32_t module, work, dumps, fact, run, at_work, nodes[4], thread;
	int at = 0;

	build_begin(&b);
	module = build_function(&b, "main.py", "<module>", "<module>", 1);
	work = build_function(&b, "/home/me/project/./main.py", "work", "Job.work", 10);
	dumps = build_function(&b, "/usr/lib/python3.11/json.py", "dumps", "dumps", 1);
	fact = build_function(&b, "sub/../sub/deep.py", "fact", "fact", 2);
	run = build_function(&b, "<frozen thread>", "run", "run", 9);
	at_work = fah_writer_node(b.w, fah_writer_node(b.w, 0, module, 30), work, 12);
	nodes[0] = fah_writer_node(b.w, at_work, dumps, 5);
	nodes[1] = fah_writer_node(b.w, fah_writer_node(b.w, at_work, fact, 3), fact, 4);
	nodes[2] = fah_writer_node(b.w, 0, run, 9);
	nodes[3] = 0;
	thread = build_thread(&b, build_process(&b, 10, 0), 10, 0);
	for (int i = 1; i <= 1100; i++) {
		static const int until[] = {500, 750, 1000, 1100};
		static const uint32_t flags[] = {FAH_IN_PYTHON, FAH_IN_NATIVE, FAH_IN_PYTHON,
						 FAH_IN_SYSTEM};

		while (i > until[at])
			at++;
		fah_writer_sample(b.w, thread, MS(4 * i), MS(4), flags[at], nodes[at]);
	}
	fah_writer_thread_end(b.w, thread, MS(4400), MS(4400));
	return build_load(&b, 4400, 4400);
}

static void scope_charges_callers(void **state)
{
	struct fah_scope scope = {.dirs = project, .n_dirs = 1};
	struct fah_profile *p = sample_project();
	const struct fah_charges *c;

	(void)state;
	assert_int_equal(fah_profile_charge(p, &scope, &c), 0);
	assert_int_equal(c->n_files, 2);
	assert_string_equal(c->files[0].abspath, "/home/me/project/main.py");
	assert_int_equal(c->files[0].n_lines, 1);
	assert_int_equal(c->files[0].lines[0].line, 12); /* the call into json.py */
	near(c->files[0].lines[0].times.python, 2, 1e-6);
	assert_string_equal(fah_profile_function(p, c->files[0].lines[0].function)->name,
			    "Job.work");
	assert_string_equal(c->files[1].abspath, "/home/me/project/sub/deep.py");
	assert_int_equal(c->files[1].lines[0].line, 4); /* recursion: the innermost one pays */
	near(c->files[1].times.native, 1, 1e-6);
	near(c->outside.python, 1, 1e-6);
	near(c->no_python.system, 0.4, 1e-6);
	assert_int_equal(c->n_functions, 2);
	near(c->functions[0].share, 2 / 4.4, 1e-6);
	assert_int_equal(c->functions[0].samples, 500);
	assert_true(c->functions[0].interval > 0.02 && c->functions[0].interval < 0.04);
	fah_profile_free(p);
}

static void scope_ignores(void **state)
{
	static const char *const ignore[] = {"/home/me/project/sub/"};
	struct fah_scope scope = {.dirs = project, .n_dirs = 1, .ignore = ignore, .n_ignore = 1};
	struct fah_profile *p = sample_project();
	const struct fah_charges *c;

	(void)state;
	assert_int_equal(fah_profile_charge(p, &scope, &c), 0);
	assert_int_equal(c->n_files, 1);
	near(fah_times_sum(&c->files[0].times), 3, 1e-6);
	fah_profile_free(p);
}

/* --detailed --ignore: all code but that, whose time is its caller's. */
static void everything_but(void **state)
{
	static const char *const ignore[] = {"/usr/lib/python3.11"};
	struct fah_scope scope = {.everything = true, .ignore = ignore, .n_ignore = 1};
	struct fah_profile *p = sample_project();
	const struct fah_charges *c;

	(void)state;
	assert_int_equal(fah_profile_charge(p, &scope, &c), 0);
	assert_int_equal(c->n_files, 3);
	assert_string_equal(c->files[0].abspath, "/home/me/project/main.py");
	near(fah_times_sum(&c->files[0].times), 2, 1e-6);
	near(fah_times_sum(&c->outside), 0, 1e-6);
	fah_profile_free(p);
}

/* The script that was asked for, though its folder is ignored. */
static void one_file_always(void **state)
{
	struct fah_scope scope = {.dirs = project,
				  .n_dirs = 1,
				  .ignore = project,
				  .n_ignore = 1,
				  .always = "/home/me/project/sub/deep.py"};
	struct fah_profile *p = sample_project();
	const struct fah_charges *c;

	(void)state;
	assert_int_equal(fah_profile_charge(p, &scope, &c), 0);
	assert_int_equal(c->n_files, 1);
	assert_string_equal(c->files[0].abspath, "/home/me/project/sub/deep.py");
	near(fah_times_sum(&c->files[0].times), 1, 1e-6);
	near(fah_times_sum(&c->outside), 3, 1e-6);
	fah_profile_free(p);
}

static void scope_everything(void **state)
{
	struct fah_scope scope = {.everything = true};
	struct fah_profile *p = sample_project();
	const struct fah_charges *c;
	double sum = 0;

	(void)state;
	assert_int_equal(fah_profile_charge(p, &scope, &c), 0);
	assert_int_equal(c->n_files, 3);
	assert_string_equal(c->files[0].abspath, "/usr/lib/python3.11/json.py");
	for (size_t i = 0; i < c->n_files; i++)
		sum += fah_times_sum(&c->files[i].times);
	near(sum + c->no_python.system, fah_profile_totals(p)->on_cpu_s, 1e-6);
	fah_profile_free(p);
}

/* "/home/me/project2" is not below "/home/me/project"; "<string>" is whole or nothing. */
static void scope_names(void **state)
{
	static const char *const dirs[] = {"/home/me/pro", "<frozen thread>"};
	struct fah_scope scope = {.dirs = dirs, .n_dirs = 2};
	struct fah_profile *p = sample_project();
	const struct fah_charges *c;

	(void)state;
	assert_int_equal(fah_profile_charge(p, &scope, &c), 0);
	assert_int_equal(c->n_files, 1);
	assert_string_equal(c->files[0].path, "<frozen thread>");
	fah_profile_free(p);
}

static void totals_over_stacks(void **state)
{
	struct fah_profile *p = sample_project();
	const struct fah_function_total *f;
	size_t n, seen = 0;

	(void)state;
	assert_int_equal(fah_profile_function_totals(p, false, &f, &n), 0);
	assert_int_equal(n, 5);
	for (size_t i = 0; i < n; i++) {
		const char *name = fah_profile_function(p, f[i].function)->name;

		if (!strcmp(name, "<module>")) {
			near(f[i].total_s, 3, 1e-6);
			near(f[i].self_s, 0, 1e-9);
			seen++;
		} else if (!strcmp(name, "fact")) {
			near(f[i].total_s, 1, 1e-6); /* once, though it is on the stack twice */
			near(f[i].self_s, 1, 1e-6);
			seen++;
		}
	}
	assert_int_equal(seen, 2);
	fah_profile_free(p);
}

/* Before 3.11: the name comes from the source, if it still has the function at that line. */
static void names_from_source(void **state)
{
	char dir[] = "/tmp/fah-test-XXXXXX", path[64];
	struct fah_scope scope = {.everything = true};
	const struct fah_charges *c;
	struct fah_profile *p;
	struct build b;
	uint32_t good, stale, thread;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.py", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("class A:\n    @staticmethod\n    def f():\n        pass\n", f);
	fclose(f);
	build_begin(&b);
	good = build_function(&b, path, "f", NULL, 2);
	stale = build_function(&b, path, "g", NULL, 3);
	thread = build_thread(&b, build_process(&b, 10, 0), 10, 0);
	fah_writer_sample(b.w, thread, MS(4), MS(4), 0, fah_writer_node(b.w, 0, good, 4));
	fah_writer_sample(b.w, thread, MS(8), MS(4), 0, fah_writer_node(b.w, 0, good, 4));
	fah_writer_sample(b.w, thread, MS(12), MS(4), 0, fah_writer_node(b.w, 0, stale, 4));
	p = build_load(&b, 12, 12);
	assert_int_equal(fah_profile_charge(p, &scope, &c), 0);
	assert_int_equal(c->n_functions, 2);
	assert_string_equal(fah_profile_function(p, c->functions[0].function)->name, "A.f");
	assert_string_equal(fah_profile_function(p, c->functions[1].function)->name, "g");
	fah_profile_free(p);
	unlink(path);
	rmdir(dir);
}

/* A project reached through a symlink is the same project. */
static void scope_through_symlink(void **state)
{
	char dir[] = "/tmp/fah-test-XXXXXX", real[64], link[64], path[80], seen[80];
	const char *dirs[] = {real};
	struct fah_scope scope = {.dirs = dirs, .n_dirs = 1};
	const struct fah_charges *c;
	struct fah_profile *p;
	struct build b;
	uint32_t f, thread;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(real, sizeof(real), "%s/real", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	snprintf(path, sizeof(path), "%s/a.py", real);
	snprintf(seen, sizeof(seen), "%s/a.py", link);
	assert_int_equal(mkdir(real, 0700), 0);
	assert_int_equal(symlink(real, link), 0);
	fclose(fopen(path, "w"));
	build_begin(&b);
	f = build_function(&b, seen, "f", "f", 1);
	thread = build_thread(&b, build_process(&b, 10, 0), 10, 0);
	fah_writer_sample(b.w, thread, MS(4), MS(4), 0, fah_writer_node(b.w, 0, f, 1));
	p = build_load(&b, 4, 4);
	assert_int_equal(fah_profile_charge(p, &scope, &c), 0);
	assert_int_equal(c->n_files, 1);
	fah_profile_free(p);
	unlink(link);
	unlink(path);
	rmdir(real);
	rmdir(dir);
}

static uint32_t build_other(struct build *b, const char *file, const char *name, uint32_t kind)
{
	return fah_writer_other_function(b->w, fah_writer_string(b->w, file, strlen(file)),
					 fah_writer_string(b->w, name, strlen(name)), kind);
}

static const struct fah_function_total *total_of(const struct fah_profile *p,
						 const struct fah_function_total *f, size_t n,
						 const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(fah_profile_function(p, f[i].function)->name, name))
			return &f[i];
	return NULL;
}

/*
 *  main (libc.so) -> main.py work:12 -> sort (ext.so of the project)                     1 s,
 * native
 *                                    -> sort -> main.py key:3                            1 s
 *                                    -> sort -> key:3 -> sort -> <garbage collector>     1 s
 *  main -> /usr/lib/x.py other:1 -> sort                                                 1 s
 *  main -> sort: no Python frame                                                         1 s
 */
/* A relative path of debug information is not below the folder where the program was started; one
 * of the program's is. */
static void relative_sources(void **state)
{
	struct fah_frames frames = {0};
	struct fah_profile *p;
	struct build b;
	uint32_t native, python, id;

	(void)state;
	build_begin(&b);
	native = build_other(&b, "./csu/../csu/libc-start.c", "start", FAH_FUNCTION_NATIVE);
	python = build_function(&b, "./csu/../csu/libc-start.c", "f", "f", 1);
	p = build_load(&b, 5000, 5000);
	assert_int_equal(fah_frames_init(&frames, p), 0);
	id = fah_frames_function(&frames, native, 1);
	assert_string_equal(frames.all[id].file, "./csu/libc-start.c");
	id = fah_frames_function(&frames, python, 1);
	assert_string_equal(frames.all[id].file, "/home/me/project/csu/libc-start.c");
	fah_frames_release(&frames);
	fah_profile_free(p);
}

static void native_functions(void **state)
{
	struct fah_scope scope = {.dirs = project, .n_dirs = 1}, everything = {.everything = true};
	const struct fah_function_total *f;
	const struct fah_charges *c;
	struct fah_profile *p;
	struct build b;
	uint32_t start, work, sort, key, gc, other, top, nodes[5], thread;
	size_t n;

	(void)state;
	build_begin(&b);
	start = build_other(&b, "/usr/lib/libc.so.6", "main", FAH_FUNCTION_NATIVE);
	sort = build_other(&b, "/home/me/project/ext.so", "sort", FAH_FUNCTION_NATIVE);
	gc = build_other(&b, "", "<garbage collector>", FAH_FUNCTION_RUNTIME);
	work = build_function(&b, "main.py", "work", "work", 10);
	key = build_function(&b, "main.py", "key", "key", 2);
	other = build_function(&b, "/usr/lib/x.py", "other", "other", 1);
	top = fah_writer_node(b.w, 0, start, 0);
	nodes[0] = fah_writer_node(b.w, fah_writer_node(b.w, top, work, 12), sort, 0);
	nodes[1] = fah_writer_node(b.w, nodes[0], key, 3);
	nodes[2] = fah_writer_node(b.w, fah_writer_node(b.w, nodes[1], sort, 0), gc, 0);
	nodes[3] = fah_writer_node(b.w, fah_writer_node(b.w, top, other, 1), sort, 0);
	nodes[4] = fah_writer_node(b.w, top, sort, 0);
	thread = build_thread(&b, build_process(&b, 10, 0), 10, 0);
	for (int i = 0; i < 1250; i++)
		fah_writer_sample(b.w, thread, MS(4 * (i + 1)), MS(4),
				  i < 250 ? FAH_IN_NATIVE : FAH_IN_PYTHON, nodes[i / 250]);
	fah_writer_thread_end(b.w, thread, MS(5000), MS(5000));
	p = build_load(&b, 5000, 5000);

	assert_int_equal(fah_profile_charge(p, &scope, &c), 0);
	assert_int_equal(c->n_files, 1); /* no library is one, also where it lies in the project */
	assert_string_equal(c->files[0].abspath, "/home/me/project/main.py");
	assert_int_equal(c->files[0].n_lines, 2);
	assert_int_equal(c->files[0].lines[0].line, 3);
	near(c->files[0].lines[0].times.python, 2, 1e-6);
	near(c->files[0].lines[1].times.native, 1, 1e-6);
	assert_int_equal(c->n_functions, 2);
	near(fah_times_sum(&c->outside), 1, 1e-6);
	near(fah_times_sum(&c->no_python), 1, 1e-6);
	near(c->collecting, 1, 1e-6);
	for (size_t i = 0; i < 2; i++)
		near(c->functions[i].collecting, c->functions[i].function == key ? 1 : 0, 1e-6);
	assert_int_equal(fah_profile_charge(p, &everything, &c), 0);
	assert_int_equal(c->n_functions, 3);
	near(fah_times_sum(&c->outside), 0, 1e-9);
	near(fah_times_sum(&c->no_python), 1, 1e-6);

	assert_int_equal(fah_profile_function_totals(p, false, &f, &n), 0);
	assert_int_equal(n, 3);
	near(total_of(p, f, n, "work")->self_s, 1, 1e-6);
	near(total_of(p, f, n, "work")->total_s, 3, 1e-6);
	near(total_of(p, f, n, "key")->self_s, 2, 1e-6);
	assert_int_equal(fah_profile_function_totals(p, true, &f, &n), 0);
	assert_int_equal(n, 6);
	near(total_of(p, f, n, "work")->self_s, 0, 1e-9);
	near(total_of(p, f, n, "sort")->self_s, 3, 1e-6);
	near(total_of(p, f, n, "sort")->total_s, 5, 1e-6);
	near(total_of(p, f, n, "<garbage collector>")->self_s, 1, 1e-6);
	fah_profile_free(p);
}

/* A wait in code outside is the caller's, as its CPU would be; the line says for what. */
static void waits_are_charged(void **state)
{
	struct fah_scope scope = {.dirs = project, .n_dirs = 1};
	const struct fah_charges *c;
	struct fah_profile *p;
	struct build b;
	uint32_t work, recv, at, thread;

	(void)state;
	build_begin(&b);
	work = build_function(&b, "main.py", "work", "work", 10);
	recv = build_function(&b, "/usr/lib/socket.py", "recv", "recv", 1);
	at = fah_writer_node(b.w, 0, work, 12);
	thread = build_thread(&b, build_process(&b, 10, 0), 10, 0);
	fah_writer_sample(b.w, thread, MS(4), MS(4), 0, at);
	fah_writer_wait(b.w, thread, MS(1004), MS(1000), MS(1000), FAH_WAIT_SOCKET,
			fah_writer_node(b.w, at, recv, 5));
	fah_writer_wait(b.w, thread, MS(1204), MS(200), MS(200), FAH_WAIT_LOCK,
			fah_writer_node(b.w, 0, work, 12));
	fah_writer_wait(b.w, thread, MS(1304), MS(100), MS(100), FAH_WAIT_DISK,
			fah_writer_node(b.w, 0, work, 13)); /* a line without any sample */
	fah_writer_wait(b.w, thread, MS(1404), MS(100), MS(100), FAH_WAIT_DISK,
			fah_writer_node(b.w, 0, recv, 5));
	fah_writer_wait(b.w, thread, MS(1504), MS(100), MS(100), FAH_WAIT_UNKNOWN, 0);
	fah_writer_thread_end(b.w, thread, MS(1504), MS(4));
	p = build_load(&b, 1504, 4);
	assert_int_equal(fah_profile_charge(p, &scope, &c), 0);
	assert_int_equal(c->n_files, 1);
	assert_int_equal(c->files[0].n_lines, 2);
	near(c->files[0].lines[0].times.waiting, 1.2, 1e-3);
	near(c->files[0].lines[0].waited_by[FAH_WAIT_SOCKET], 1, 1e-3);
	near(c->files[0].lines[0].waited_by[FAH_WAIT_LOCK], 0.2, 1e-3);
	near(c->files[0].lines[1].times.waiting, 0.1, 1e-3);
	near(c->files[0].times.waiting, 1.3, 1e-3);
	near(c->functions[0].share, 1.304 / 1.504, 1e-3);
	near(c->functions[0].waited_by[FAH_WAIT_SOCKET], 1, 1e-3);
	near(c->functions[0].waited_by[FAH_WAIT_DISK], 0.1, 1e-3);
	near(c->outside.waiting, 0.1, 1e-3);
	near(c->no_python.waiting, 0.1, 1e-3);
	fah_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scope_charges_callers), cmocka_unit_test(scope_ignores),
		cmocka_unit_test(scope_everything),	 cmocka_unit_test(scope_names),
		cmocka_unit_test(totals_over_stacks),	 cmocka_unit_test(names_from_source),
		cmocka_unit_test(scope_through_symlink), cmocka_unit_test(native_functions),
		cmocka_unit_test(relative_sources),	 cmocka_unit_test(waits_are_charged),
		cmocka_unit_test(everything_but),	 cmocka_unit_test(one_file_always),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
