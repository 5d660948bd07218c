/*
 * test_export_dot.c - the text for Graphviz: what is in a label, what is escaped, colours. That
 * Graphviz reads it as it is meant, tests/e2e/test_graph.py asks Graphviz itself.
 */
#include "export/dot.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* The text of a graph in which one function, of 1 second, calls another, of half of it. */
static char *drawn(const struct fah_exact_function *first, const char *second,
		   const struct fah_dot_look *look)
{
	struct fah_callgraph_wanted w = {0};
	struct fah_callgraph g;
	struct fah_exact e;
	uint32_t a, b, edge;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	fah_exact_init(&e);
	assert_int_equal(fah_exact_function(&e, first->file, strlen(first->file), first->line,
					    first->name, strlen(first->name), &a),
			 0);
	assert_int_equal(fah_exact_function(&e, "~", 1, 0, second, strlen(second), &b), 0);
	e.functions[a].times = (struct fah_exact_times){1234, 1, 0.5, 1};
	e.functions[b].times = (struct fah_exact_times){0, 0, 0.5, 0.5};
	assert_int_equal(fah_exact_edge(&e, a, b, &edge), 0);
	e.edges[edge].times = (struct fah_exact_times){7, 7, 0.5, 0.5};
	assert_int_equal(fah_callgraph_init(&g, &e, &w), 0);
	assert_int_equal(fah_dot_write(f, &g, look), 0);
	assert_int_equal(fclose(f), 0);
	fah_callgraph_done(&g);
	fah_exact_done(&e);
	return text;
}

static void has(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("no %s in\n%s", what, text);
}

static void has_not(const char *text, const char *what)
{
	if (strstr(text, what))
		fail_msg("%s in\n%s", what, text);
}

static void labels(void **state)
{
	const struct fah_exact_function f = {
		.file = "/home/me/pkg/app.py", .name = "run", .line = 7};
	struct fah_dot_look look = {.folder = "/home/me"};
	char *text = drawn(&f, "<built-in method x>", &look);

	(void)state;
	has(text, "n0 [label=\"run\\npkg/app.py:7\\n100.00%\\n(50.00%)\\n1,234×\"");
	has(text, "tooltip=\"run\\n/home/me/pkg/app.py:7\"");
	has(text, "fillcolor=\"#ff0000\"");
	/* C code has no file, and who knows no calls shows none */
	has(text, "n1 [label=\"<built-in method x>\\n50.00%\\n(50.00%)\"");
	has(text, "n0 -> n1 [label=\"  50.00%\\n  7×\"");
	has_not(text, "~");
	free(text);

	look = (struct fah_dot_look){.strip = true, .by_self = true, .title = "a \"title\""};
	text = drawn(&f, "x", &look);
	has(text, "n0 [label=\"run\\napp.py:7\\n");
	has(text, "label=\"a \\\"title\\\"\";");
	has_not(text, "#ff0000"); /* half of it is its own: green */
	has(text, "fillcolor=\"#0ab60a\"");
	free(text);
}

static void what_means_something_is_escaped(void **state)
{
	const struct fah_exact_function f = {
		.file = "C:\\new\\x.py", .name = "a\"b\\N\n&lt;\xff<é>\x1b", .line = 1};
	const struct fah_dot_look look = {0};
	char *text = drawn(&f, "\\", &look);

	(void)state;
	has(text,
	    "[label=\"a\\\"b\\\\N\\\\n&amp;lt;\\\\xff<é>\\\\x1b\\nC:\\\\new\\\\x.py:1\\n100.00%");
	has(text, "n1 [label=\"\\\\\\n50.00%"); /* a backslash, then a newline */
	free(text);
}

/* Cut in the label, between characters; whole in the tooltip. */
static void long_names(void **state)
{
	const struct fah_dot_look look = {0};
	char name[10001], *text;
	struct fah_exact_function f = {.file = "", .name = name};

	(void)state;
	memset(name, 'x', 10000);
	for (size_t i = 0; i + 1 < 10000; i += 2)
		memcpy(name + i, "é", 2);
	name[10000] = '\0';
	text = drawn(&f, "y", &look);
	has(text, "éé…\\n100.00%");
	assert_null(memmem(text, (size_t)(strstr(text, "tooltip=\"é") - text), name, 200));
	has(text, name);
	free(text);
}

static void library_files(void **state)
{
	struct fah_exact_function f = {.file = "/usr/lib/libc.so.6", .name = "malloc"};
	const struct fah_dot_look look = {.folder = "/home"};
	char *text = drawn(&f, "x", &look);

	(void)state;
	has(text, "[label=\"malloc\\nlibc.so.6\\n");
	free(text);
	f = (struct fah_exact_function){
		.file = "/usr/lib/python3.11/json/decoder.py", .name = "f", .line = 3};
	text = drawn(&f, "x", &look);
	has(text, "[label=\"f\\njson/decoder.py:3\\n");
	free(text);
}

static void a_full_disk(void **state)
{
	struct fah_callgraph_wanted w = {0};
	struct fah_callgraph g;
	struct fah_exact e;
	FILE *f = fopen("/dev/full", "w");

	(void)state;
	fah_exact_init(&e);
	assert_int_equal(fah_callgraph_init(&g, &e, &w), 0);
	assert_true(fah_dot_write(f, &g, &(struct fah_dot_look){0}) < 0);
	fclose(f);
	fah_callgraph_done(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels),      cmocka_unit_test(what_means_something_is_escaped),
		cmocka_unit_test(long_names),  cmocka_unit_test(library_files),
		cmocka_unit_test(a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
