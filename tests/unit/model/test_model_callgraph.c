/*
 * test_model_callgraph.c - functions and edges from stacks, totals from edges, and what is drawn of
 * them, over graphs whose numbers are known by hand.
 */
#include "build.h"

#include "base/strbuf.h"
#include "core/err.h"
#include "model/callgraph.h"
#include "model/exact_stacks.h"
#include "model/exact_totals.h"

#include <math.h>

static void near(double value, double wanted)
{
	if (!(fabs(value - wanted) < 1e-9))
		fail_msg("%.12f, not %.12f", value, wanted);
}

static uint32_t function(struct fah_exact *e, const char *name)
{
	uint32_t id;

	assert_int_equal(fah_exact_function(e, "", 0, 0, name, strlen(name), &id), 0);
	return id;
}

static struct fah_exact_times *own(struct fah_exact *e, const char *name)
{
	uint32_t id = function(e, name);

	return &e->functions[id].times;
}

static const struct fah_exact_times *times(const struct fah_exact *e, const char *name)
{
	for (size_t i = 0; i < e->n_functions; i++)
		if (!strcmp(e->functions[i].name, name))
			return &e->functions[i].times;
	fail_msg("there is no %s", name);
	return NULL;
}

static struct fah_exact_times *between(struct fah_exact *e, const char *caller, const char *callee)
{
	uint32_t from = function(e, caller), to = function(e, callee), edge;

	assert_int_equal(fah_exact_edge(e, from, to, &edge), 0);
	return &e->edges[edge].times;
}

/* "a b a" is a stack, the outermost first: of functions with names of one letter. */
static void stack(struct fah_exact_stacks *s, const char *names, double seconds)
{
	uint32_t ids[64];
	size_t n = 0;

	for (; *names; names++)
		if (*names != ' ')
			assert_int_equal(fah_exact_function(s->into, "", 0, 0, names, 1, &ids[n++]),
					 0);
	assert_int_equal(fah_exact_stacks_add(s, ids, n, seconds), 0);
}

static void a_stack_counts_once(void **state)
{
	struct fah_exact_stacks s;
	struct fah_exact e;

	(void)state;
	fah_exact_init(&e);
	fah_exact_stacks_init(&s, &e);
	stack(&s, "m a b a b", 3);
	stack(&s, "m a", 2);
	stack(&s, "m r r r", 5);
	near(times(&e, "m")->total_s, 10);
	near(times(&e, "m")->self_s, 0);
	near(times(&e, "a")->total_s, 5);
	near(times(&e, "a")->self_s, 2);
	near(times(&e, "b")->total_s, 3);
	near(times(&e, "r")->total_s, 5);
	near(times(&e, "r")->self_s, 5);
	near(between(&e, "a", "b")->total_s, 3);
	near(between(&e, "b", "a")->total_s, 3);
	near(between(&e, "m", "a")->total_s, 5);
	near(between(&e, "r", "r")->total_s, 5);
	assert_int_equal(e.n_edges, 5);
	assert_int_equal(times(&e, "r")->calls, 0); /* samples don't tell */
	fah_exact_stacks_done(&s);
	fah_exact_done(&e);
}

/* Many more than the arrays begin with, and deep. */
static void long_stacks(void **state)
{
	enum { N = 3000 };
	struct fah_exact_stacks s;
	struct fah_exact e;
	uint32_t ids[N];
	char name[16];

	(void)state;
	fah_exact_init(&e);
	fah_exact_stacks_init(&s, &e);
	for (size_t i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "f%zu", i);
		ids[i] = function(&e, name);
		assert_int_equal(fah_exact_stacks_add(&s, ids, i + 1, 1), 0);
	}
	near(times(&e, "f0")->total_s, N);
	near(times(&e, "f2999")->total_s, 1);
	near(fah_exact_whole(&e).total_s, N);
	/* the same from the edges: a chain as deep as that */
	for (size_t i = 0; i < N; i++)
		e.functions[i].times.total_s = -1;
	assert_int_equal(fah_exact_totals(&e, NULL), 0);
	near(times(&e, "f0")->total_s, N);
	near(times(&e, "f1500")->total_s, N - 1500);
	fah_exact_stacks_done(&s);
	fah_exact_done(&e);
}

static void totals_from_edges(void **state)
{
	struct fah_exact e;

	(void)state;
	fah_exact_init(&e);
	/* main 10: 1 by itself, f 6 (recursion, of which g has 2), g 3 */
	own(&e, "main")->self_s = 1;
	own(&e, "f")->self_s = 4;
	own(&e, "g")->self_s = 5;
	between(&e, "main", "f")->total_s = 6;
	between(&e, "f", "f")->total_s = 55; /* each level once more, as valgrind counts */
	between(&e, "f", "g")->total_s = 2;
	between(&e, "main", "g")->total_s = 3;
	assert_int_equal(fah_exact_totals(&e, NULL), 0);
	near(times(&e, "main")->total_s, 10);
	near(times(&e, "f")->total_s, 6);
	near(times(&e, "g")->total_s, 5);
	near(between(&e, "f", "f")->total_s, 6); /* cut to what there is */
	near(between(&e, "main", "f")->total_s, 6);
	fah_exact_done(&e);
}

/* even and odd call each other: inner calls are counted many times in what the edges say. */
static void a_circle_has_no_more_than_it_took(void **state)
{
	struct fah_exact e;

	(void)state;
	fah_exact_init(&e);
	own(&e, "main")->self_s = 2;
	own(&e, "even")->self_s = 3;
	own(&e, "odd")->self_s = 4;
	own(&e, "leaf")->self_s = 1;
	between(&e, "main", "even")->total_s = 8;
	between(&e, "even", "odd")->total_s = 500;
	between(&e, "odd", "even")->total_s = 480;
	between(&e, "odd", "leaf")->total_s = 1;
	assert_int_equal(fah_exact_totals(&e, NULL), 0);
	near(times(&e, "main")->total_s, 10);
	near(times(&e, "even")->total_s, 8);
	near(times(&e, "odd")->total_s, 8);
	near(times(&e, "leaf")->total_s, 1);
	near(between(&e, "even", "odd")->total_s, 8);
	near(between(&e, "main", "even")->total_s, 8);
	fah_exact_done(&e);

	/* calls of itself are in what it took already */
	own(&e, "p")->self_s = 1;
	own(&e, "q")->self_s = 4;
	between(&e, "p", "p")->total_s = 50;
	between(&e, "p", "q")->total_s = 2;
	between(&e, "q", "p")->total_s = 1;
	assert_int_equal(fah_exact_totals(&e, NULL), 0);
	near(times(&e, "p")->total_s, 3);
	near(times(&e, "q")->total_s, 5);
	fah_exact_done(&e);
}

/* Several circles, one behind the other, and one apart; all orders in which they can be met. */
static void circles_are_told_apart(void **state)
{
	static const char *const edges[] = {"ab", "ba", "bc", "cd", "dc", "ce", "xy", "yx", "yc"};
	enum { N = sizeof(edges) / sizeof(*edges) };

	(void)state;
	for (size_t first = 0; first < N; first++) {
		struct fah_exact_stacks s;
		struct fah_exact e;

		fah_exact_init(&e);
		fah_exact_stacks_init(&s, &e);
		for (size_t i = 0; i < N; i++) {
			char pair[4] = {edges[(first + i) % N][0], ' ', edges[(first + i) % N][1]};

			stack(&s, pair, 0);
		}
		for (size_t i = 0; i < e.n_functions; i++)
			e.functions[i].times.self_s = 1;
		for (size_t i = 0; i < e.n_edges; i++)
			e.edges[i].times.total_s = 100;
		between(&e, "b", "c")->total_s = 2.5; /* of c, d, e */
		between(&e, "y", "c")->total_s = 0.5;
		between(&e, "c", "e")->total_s = 1;
		assert_int_equal(fah_exact_totals(&e, NULL), 0);
		near(times(&e, "a")->total_s, 4.5);
		near(times(&e, "b")->total_s, 4.5);
		near(times(&e, "c")->total_s, 3);
		near(times(&e, "d")->total_s, 3);
		near(times(&e, "e")->total_s, 1);
		near(times(&e, "x")->total_s, 2.5);
		fah_exact_stacks_done(&s);
		fah_exact_done(&e);
	}
}

static const struct fah_callgraph_node *node(const struct fah_callgraph *g, const char *name)
{
	for (size_t i = 0; i < g->n_nodes; i++)
		if (!strcmp(g->exact->functions[g->nodes[i].function].name, name))
			return &g->nodes[i];
	return NULL;
}

static double edge_share(const struct fah_callgraph *g, const char *caller, const char *callee)
{
	for (size_t i = 0; i < g->n_edges; i++)
		if (&g->nodes[g->edges[i].caller] == node(g, caller) &&
		    &g->nodes[g->edges[i].callee] == node(g, callee))
			return g->edges[i].share;
	return -1;
}

/* m 100: a 60 (b 20), c 30 (b 10, r 5 with recursion), z 10 that nobody calls */
static void make_example(struct fah_exact *e)
{
	struct fah_exact_stacks s;

	fah_exact_init(e);
	fah_exact_stacks_init(&s, e);
	stack(&s, "m a", 40);
	stack(&s, "m a b", 20);
	stack(&s, "m c", 15);
	stack(&s, "m c b", 10);
	stack(&s, "m c r r", 5);
	stack(&s, "z", 10);
	fah_exact_stacks_done(&s);
}

static void shares_and_thresholds(void **state)
{
	struct fah_callgraph_wanted w = {0};
	struct fah_callgraph g;
	struct fah_exact e;

	(void)state;
	make_example(&e);
	assert_int_equal(fah_callgraph_init(&g, &e, &w), 0);
	assert_int_equal(g.n_nodes, 6);
	assert_int_equal(g.n_edges, 6);
	near(node(&g, "m")->total, 0.9);
	near(node(&g, "m")->self, 0);
	near(node(&g, "b")->total, 0.3);
	near(node(&g, "c")->total, 0.3);
	near(node(&g, "c")->self, 0.15);
	near(edge_share(&g, "m", "a"), 0.6);
	near(edge_share(&g, "c", "b"), 0.1);
	near(edge_share(&g, "r", "r"), 0.05);
	assert_ptr_equal(node(&g, "m"), &g.nodes[0]); /* the largest first */
	fah_callgraph_done(&g);

	w = (struct fah_callgraph_wanted){.node_share = 0.06, .edge_share = 0.15};
	assert_int_equal(fah_callgraph_init(&g, &e, &w), 0);
	assert_null(node(&g, "r"));
	assert_non_null(node(&g, "z"));
	near(edge_share(&g, "a", "b"), 0.2);
	near(edge_share(&g, "c", "b"), -1);
	fah_callgraph_done(&g);

	/* of more than is there, as of a run some of which nobody saw */
	w = (struct fah_callgraph_wanted){.whole = 200};
	assert_int_equal(fah_callgraph_init(&g, &e, &w), 0);
	near(node(&g, "m")->total, 0.45);
	near(node(&g, "z")->self, 0.05);
	fah_callgraph_done(&g);
	fah_exact_done(&e);
}

static void roots_and_leaves(void **state)
{
	struct fah_callgraph_wanted w = {.root = "c"};
	struct fah_callgraph g;
	struct fah_exact e;

	(void)state;
	make_example(&e);
	assert_int_equal(fah_callgraph_init(&g, &e, &w), 0);
	assert_int_equal(g.n_nodes, 3); /* c, b, r */
	assert_int_equal(g.n_edges, 3);
	near(node(&g, "b")->total, 0.3); /* of the whole run */
	near(edge_share(&g, "c", "b"), 0.1);
	fah_callgraph_done(&g);

	w = (struct fah_callgraph_wanted){.leaf = "b"};
	assert_int_equal(fah_callgraph_init(&g, &e, &w), 0);
	assert_int_equal(g.n_nodes, 4); /* m, a, c, b */
	assert_null(node(&g, "r"));
	fah_callgraph_done(&g);

	w = (struct fah_callgraph_wanted){.root = "a", .leaf = "b"};
	assert_int_equal(fah_callgraph_init(&g, &e, &w), 0);
	assert_int_equal(g.n_nodes, 2);
	assert_int_equal(g.n_edges, 1);
	fah_callgraph_done(&g);

	w = (struct fah_callgraph_wanted){.root = "nothing"};
	assert_int_equal(fah_callgraph_init(&g, &e, &w), FAH_ERR_USAGE);
	fah_callgraph_done(&g);
	fah_exact_done(&e);
}

/* Whatever a file says, nothing has more than all. */
static void impossible_numbers(void **state)
{
	struct fah_callgraph_wanted w = {0};
	struct fah_callgraph g;
	struct fah_exact e;

	(void)state;
	fah_exact_init(&e);
	*own(&e, "main") = (struct fah_exact_times){1, 1, 1, 4};
	*own(&e, "f") = (struct fah_exact_times){9, 1, -2, 3};
	*own(&e, "n") = (struct fah_exact_times){9, 1, NAN, NAN};
	*between(&e, "main", "f") = (struct fah_exact_times){9, 1, 2, 77};
	*between(&e, "main", "n") = (struct fah_exact_times){9, 1, NAN, NAN};
	*between(&e, "f", "main") = (struct fah_exact_times){9, 1, 2, 77};
	assert_int_equal(fah_callgraph_init(&g, &e, &w), 0);
	near(node(&g, "main")->total, 1);
	near(node(&g, "main")->self, 1);
	near(node(&g, "f")->self, 0);
	near(node(&g, "f")->total, 0.75);
	near(node(&g, "n")->total, 0);
	near(edge_share(&g, "main", "f"), 0.75);
	near(edge_share(&g, "f", "main"), 0.75);
	fah_callgraph_done(&g);
	fah_exact_done(&e);

	fah_exact_init(&e);
	assert_int_equal(fah_callgraph_init(&g, &e, &w), 0);
	assert_int_equal(g.n_nodes, 0);
	fah_callgraph_done(&g);
	fah_exact_done(&e);
}

/* As the module profile writes them: how often, not how long. */
static void edges_without_times(void **state)
{
	struct fah_callgraph_wanted w = {0};
	struct fah_callgraph g;
	struct fah_exact e;

	(void)state;
	fah_exact_init(&e);
	*own(&e, "a") = (struct fah_exact_times){1, 1, 0, 9};
	*own(&e, "b") = (struct fah_exact_times){1, 1, 2, 5};
	*own(&e, "f") = (struct fah_exact_times){4, 4, 8, 8};
	between(&e, "a", "f")->calls = 3;
	between(&e, "b", "f")->calls = 1;
	e.edges[0].only_count = e.edges[1].only_count = true;
	assert_int_equal(fah_callgraph_init(&g, &e, &w), 0);
	near(edge_share(&g, "a", "f"), 0.6);
	near(edge_share(&g, "b", "f"), 0.2);
	assert_int_equal(node(&g, "f")->calls, 4);
	fah_callgraph_done(&g);
	e.samples = true; /* then nobody knows of calls */
	assert_int_equal(fah_callgraph_init(&g, &e, &w), 0);
	assert_int_equal(node(&g, "f")->calls, 0);
	assert_int_equal(g.edges[0].calls, 0);
	fah_callgraph_done(&g);
	fah_exact_done(&e);
}

static void names(void **state)
{
	struct fah_exact_function f = {
		.file = "/home/me/pkg/app.py", .name = "Store.parse", .line = 12};
	static const char *const yes[] = {"Store.parse",
					  "parse",
					  "Store.*",
					  "*parse",
					  "app.py:parse",
					  "app.py:Store.parse",
					  "pkg/app.py:parse",
					  "/home/me/pkg/app.py:Store.parse",
					  "app:12:Store.parse",
					  "app.py:12:parse",
					  "*app.py:*"};
	static const char *const no[] = {
		"Store", "pars",    "xapp.py:parse", "pp.py:parse", "app:13:Store.parse",
		"",	 "app.py:", "other.py:parse"};

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		if (!fah_function_called(&f, yes[i]))
			fail_msg("%s does not mean it", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		if (fah_function_called(&f, no[i]))
			fail_msg("%s means it", no[i]);
	f = (struct fah_exact_function){.file = "~", .name = "<method 'x' of 'a.b[c]' objects>"};
	assert_true(fah_function_called(&f, "<method 'x' of 'a.b[c]' objects>"));
	assert_false(fah_function_called(&f, "b[c]' objects>"));
	f = (struct fah_exact_function){.file = "", .name = "ns::f(std::vector<int>)"};
	assert_true(fah_function_called(&f, "ns::f(std::vector<int>)"));
	assert_true(fah_function_called(&f, "ns::f*"));
}

static void nearest(void **state)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	struct fah_exact e;

	(void)state;
	fah_exact_init(&e);
	function(&e, "Store.parse");
	function(&e, "parser");
	function(&e, "sparse");
	own(&e, "purse")->total_s = 9;
	function(&e, "something.else");
	fah_function_nearest(&sb, &e, "app.py:prase");
	assert_string_equal(fah_strbuf_str(&sb), "Store.parse, purse, parser");
	fah_strbuf_truncate(&sb, 0);
	fah_function_nearest(&sb, &e, "nothing like it");
	assert_string_equal(fah_strbuf_str(&sb), "");
	fah_strbuf_release(&sb);
	fah_exact_done(&e);
}

/* A capture through its view: Python and native. */
static void of_a_capture(void **state)
{
	const struct fah_view view = {.native = true, .idle = true};
	struct fah_reader *reader = NULL;
	struct fah_stacks *stacks = NULL;
	struct fah_profile *p;
	struct fah_exact e;
	struct build b;
	uint32_t thread, main_node, f, c;

	(void)state;
	build_begin(&b);
	thread = build_thread(&b, build_process(&b, 10, 0), 10, 0);
	main_node =
		fah_writer_node(b.w, 0, build_function(&b, "/home/me/a.py", "main", "main", 3), 4);
	f = fah_writer_node(b.w, main_node, build_function(&b, "/home/me/a.py", "f", "K.f", 8), 9);
	c = fah_writer_node(
		b.w, f,
		fah_writer_other_function(b.w, fah_writer_string(b.w, "/usr/lib/libx.so", 16),
					  fah_writer_string(b.w, "crunch", 6), FAH_FUNCTION_NATIVE),
		0);
	for (int i = 1; i <= 10; i++)
		fah_writer_sample(b.w, thread, MS(4 * i), MS(4),
				  i <= 5 ? FAH_IN_NATIVE : FAH_IN_PYTHON,
				  i <= 5   ? c
				  : i <= 8 ? f
					   : main_node);
	fah_writer_thread_end(b.w, thread, MS(40), MS(40));
	p = build_load_moments(&b, 40, 40, &reader);
	fah_exact_init(&e);
	assert_int_equal(fah_stacks_new(p, &view, &stacks), 0);
	assert_int_equal(fah_exact_of_view(&e, stacks), 0);
	assert_int_equal(e.n_functions, 3);
	near(times(&e, "main")->total_s, 0.040);
	near(times(&e, "main")->self_s, 0.008);
	near(times(&e, "K.f")->total_s, 0.032);
	near(times(&e, "crunch")->self_s, 0.020);
	assert_int_equal(e.n_edges, 2);
	near(e.edges[e.functions[2].first_caller - 1].times.total_s, 0.020);
	assert_string_equal(e.functions[2].file, "/usr/lib/libx.so");
	assert_string_equal(e.functions[1].file, "/home/me/a.py");
	assert_int_equal(e.functions[1].line, 8);
	fah_exact_done(&e);
	fah_stacks_free(stacks);
	fah_profile_free(p);
	fah_reader_free(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_counts_once),
		cmocka_unit_test(long_stacks),
		cmocka_unit_test(totals_from_edges),
		cmocka_unit_test(a_circle_has_no_more_than_it_took),
		cmocka_unit_test(circles_are_told_apart),
		cmocka_unit_test(shares_and_thresholds),
		cmocka_unit_test(roots_and_leaves),
		cmocka_unit_test(impossible_numbers),
		cmocka_unit_test(edges_without_times),
		cmocka_unit_test(names),
		cmocka_unit_test(nearest),
		cmocka_unit_test(of_a_capture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
