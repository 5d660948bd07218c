/*
 * test_model_traces.c - where functions are called from: callers and ways, recursion, code outside
 * of the scope in between; and all of it adds up to what the function is charged with.
 */
#include "build.h"

#include "model/traces.h"

#include <math.h>

static const char *const project[] = {"/home/me/project"};
static const struct fah_scope scope = {.dirs = project, .n_dirs = 1};

static void near(double a, double b)
{
	if (fabs(a - b) > 1e-6)
		fail_msg("%g is not %g", a, b);
}

struct made {
	uint32_t module, main, work, even, odd, map, thread_run;
	uint32_t thread;
	int at;
	struct build b;
};

static uint32_t step(struct made *m, uint32_t parent, uint32_t function, uint32_t line)
{
	return fah_writer_node(m->b.w, parent, function, line);
}

/* n samples of 4 ms. */
static void samples(struct made *m, int n, uint32_t node)
{
	while (n--) {
		m->at++;
		fah_writer_sample(m->b.w, m->thread, MS(4 * m->at), MS(4), FAH_IN_PYTHON, node);
	}
}

/*
 *  <module>:90 -> main:20 -> work:3                             100
 *                 main:21 -> work:3                              50
 *  <module>:91 -> main:21 -> work:4 -> (outside) map:7           30   another way to the same
 * caller <module>:92 -> (outside) map:7 -> even:5 -> odd:6 -> even:5   40 odd:6             20
 *  (outside) run:1 -> work:3                                     10   nobody inside called it
 */
static struct fah_profile *program(struct made *m)
{
	uint32_t by_main, at_main, below;

	build_begin(&m->b);
	m->module = build_function(&m->b, "main.py", "<module>", "<module>", 1);
	m->main = build_function(&m->b, "main.py", "main", "main", 18);
	m->work = build_function(&m->b, "main.py", "work", "work", 2);
	m->even = build_function(&m->b, "main.py", "even", "even", 5);
	m->odd = build_function(&m->b, "main.py", "odd", "odd", 6);
	m->map = build_function(&m->b, "/usr/lib/python3.11/x.py", "map", "map", 7);
	m->thread_run = build_function(&m->b, "/usr/lib/python3.11/x.py", "run", "run", 1);
	m->thread = build_thread(&m->b, build_process(&m->b, 10, 0), 10, 0);
	by_main = step(m, 0, m->module, 90);
	samples(m, 100, step(m, step(m, by_main, m->main, 20), m->work, 3));
	samples(m, 50, step(m, step(m, by_main, m->main, 21), m->work, 3));
	at_main = step(m, step(m, 0, m->module, 91), m->main, 21);
	samples(m, 30, step(m, step(m, at_main, m->work, 4), m->map, 7));
	below = step(m, step(m, step(m, 0, m->module, 92), m->map, 7), m->even, 5);
	below = step(m, below, m->odd, 6);
	samples(m, 20, below);
	samples(m, 40, step(m, below, m->even, 5));
	samples(m, 10, step(m, step(m, 0, m->thread_run, 1), m->work, 3));
	fah_writer_thread_end(m->b.w, m->thread, MS(1000), MS(1000));
	return build_load(&m->b, 1000, 1000);
}

static const struct fah_traced *of(const struct fah_profile *p, const struct fah_traced *traced,
				   size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(fah_profile_function(p, traced[i].function)->name, name))
			return &traced[i];
	fail_msg("no %s", name);
	return NULL;
}

static void is_step(const struct fah_profile *p, const struct fah_trace_step *step,
		    const char *name, uint32_t line)
{
	assert_string_equal(fah_profile_function(p, step->function)->name, name);
	assert_int_equal(step->line, line);
}

static void callers_and_ways(void **state)
{
	struct made m = {0};
	struct fah_profile *p = program(&m);
	const struct fah_charges *charges;
	const struct fah_traced *traced, *work, *even, *odd;
	size_t n;

	assert_int_equal(fah_profile_charge(p, &scope, &charges), 0);
	assert_int_equal(fah_profile_traces(p, &scope, charges, 10, &traced, &n), 0);
	assert_int_equal(n, charges->n_functions);
	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		for (size_t k = 0; k < traced[i].n; k++)
			sum += traced[i].traces[k].share;
		near(sum, charges->functions[i].share);
	}
	work = of(p, traced, n, "work");
	assert_int_equal(work->n, 3);
	assert_int_equal(work->traces[0].n_steps, 2);
	is_step(p, &work->traces[0].steps[0], "main", 20);
	is_step(p, &work->traces[0].steps[1], "<module>", 90);
	assert_int_equal(work->traces[0].samples, 100);
	assert_int_equal(work->traces[0].n_ways, 1);
	near(work->traces[0].share, 0.4);
	/* the same line of main, reached by two lines of the module: the dearer one is shown */
	is_step(p, &work->traces[1].steps[0], "main", 21);
	is_step(p, &work->traces[1].steps[1], "<module>", 90);
	assert_int_equal(work->traces[1].samples, 80);
	assert_int_equal(work->traces[1].n_ways, 2);
	assert_int_equal(work->traces[2].n_steps, 0);
	assert_int_equal(work->traces[2].samples, 10);
	/* who calls itself through another is called by who called the outermost */
	even = of(p, traced, n, "even");
	assert_int_equal(even->n, 1);
	assert_int_equal(even->traces[0].n_steps, 1);
	is_step(p, &even->traces[0].steps[0], "<module>", 92);
	odd = of(p, traced, n, "odd");
	assert_int_equal(odd->n, 1);
	is_step(p, &odd->traces[0].steps[0], "even", 5);
	is_step(p, &odd->traces[0].steps[1], "<module>", 92);
	fah_profile_free(p);
}

static void only_so_many(void **state)
{
	struct made m = {0};
	struct fah_profile *p = program(&m);
	const struct fah_charges *charges;
	const struct fah_traced *traced;
	size_t n;

	assert_int_equal(fah_profile_charge(p, &scope, &charges), 0);
	assert_int_equal(fah_profile_traces(p, &scope, charges, 1, &traced, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(traced[0].n, 3);
	assert_int_equal(fah_profile_traces(p, &scope, charges, 0, &traced, &n), 0);
	assert_int_equal(n, 0);
	fah_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_and_ways),
		cmocka_unit_test(only_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
