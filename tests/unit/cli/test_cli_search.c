/* test_cli_search.c - names below a root: one, several, none; what is not looked into; the nearest.
 */
#include "tree.h"

#include "cli/search.h"

/* The paths, without the root, with spaces between; nearest ones behind "~". */
static void finds(const char *name, const char *const *skip, size_t n_skip, const char *wanted)
{
	struct fah_search where = {tree_root, skip, n_skip};
	struct fah_found found = {0};
	char text[8192] = "";

	assert_int_equal(fah_search(&where, name, &found), 0);
	assert_false(found.gave_up);
	for (size_t i = 0; i < found.n; i++) {
		strcat(text, i ? " " : "");
		strcat(text, found.paths[i] + strlen(tree_root) + 1);
	}
	for (size_t i = 0; i < found.n_nearest; i++) {
		strcat(text, i ? " " : "~");
		strcat(text, found.nearest[i] + strlen(tree_root) + 1);
	}
	assert_string_equal(text, wanted);
	fah_found_release(&found);
}

static void one_several_none(void **state)
{
	(void)state;
	tree_file("a/one.py", "1");
	tree_file("a/run.py", "1");
	tree_file("b/run.py", "1");
	tree_file("b/c/run.py", "1");
	tree_file("run.py", "1");
	tree_file("a/not_run.py", "1");
	finds("one.py", NULL, 0, "a/one.py");
	finds("run.py", NULL, 0, "a/run.py b/c/run.py b/run.py run.py");
	finds("c/run.py", NULL, 0, "b/c/run.py");
	finds("a/run.py", NULL, 0, "a/run.py");
	finds("xyzzy.py", NULL, 0, "");
	/* With its folder in front it is the one at that place. */
	tree_file("b/a/run.py", "1");
	finds("a/run.py", NULL, 0, "a/run.py");
	finds("b/a/run.py", NULL, 0, "b/a/run.py");
}

static void not_looked_into(void **state)
{
	char ignored[4096 + 256];
	const char *skip[1] = {ignored};

	(void)state;
	snprintf(ignored, sizeof(ignored), "%s", tree_path("old/er"));
	tree_file(".git/x.py", "1");
	tree_file("sub/.git/x.py", "1");
	tree_file(".venv/lib/x.py", "1");
	tree_file("sub/.venv/x.py", "1");
	tree_file("env/pyvenv.cfg", "home = /usr/bin");
	tree_file("env/lib/x.py", "1");
	tree_file("old/er/x.py", "1");
	tree_file("results/x/20260126_145848/profile.fah", "1");
	tree_file("results/x/20260126_145848/x.py", "1");
	tree_folder("dir/x.py"); /* a folder of that name */
	finds("x.py", skip, 1, "");
	tree_file("old/erer/x.py", "1");
	finds("x.py", skip, 1, "old/erer/x.py");
	finds("x.py", NULL, 0, "old/er/x.py old/erer/x.py");
	tree_file(".hidden/x.py", "1");
	finds("x.py", skip, 1, ".hidden/x.py old/erer/x.py");
}

static void links(void **state)
{
	(void)state;
	tree_file("real/x.py", "1");
	assert_int_equal(symlink("real", tree_path("a_folder")), 0); /* is not followed */
	assert_int_equal(symlink("..", tree_path("real/up")), 0);    /* nor in a circle */
	assert_int_equal(symlink("nowhere", tree_path("real/dangling.py")), 0);
	finds("x.py", NULL, 0, "real/x.py");
	finds("dangling.py", NULL, 0, "");
	/* One file of several names is one: the file itself. */
	tree_folder("first");
	assert_int_equal(symlink("../real/x.py", tree_path("first/x.py")), 0);
	assert_int_equal(link(tree_path("real/x.py"), tree_path("first/y.py")), 0);
	finds("x.py", NULL, 0, "real/x.py");
	/* A link to a file elsewhere is a script of that name. */
	assert_int_equal(symlink("/etc/passwd", tree_path("first/p.py")), 0);
	finds("p.py", NULL, 0, "first/p.py");
}

static void odd_names(void **state)
{
	(void)state;
	tree_file("with space/né me.py", "1");
	tree_file("日本/関数.py", "1");
	tree_file("new\nline/a'b\".py", "1");
	tree_file("-dash.py", "1");
	tree_file("x.pyx.py", "1");
	finds("né me.py", NULL, 0, "with space/né me.py");
	finds("with space/né me.py", NULL, 0, "with space/né me.py");
	finds("関数.py", NULL, 0, "日本/関数.py");
	finds("a'b\".py", NULL, 0, "new\nline/a'b\".py");
	finds("-dash.py", NULL, 0, "-dash.py");
	finds("pyx.py", NULL, 0, "~x.pyx.py"); /* names are whole */
	finds("*.py", NULL, 0, "");	       /* and no patterns */
}

static void the_nearest(void **state)
{
	(void)state;
	tree_file("deep/advanced.py", "1");
	tree_file("advance.py", "1");
	tree_file("advanced.txt", "1");
	tree_file("tests/Advanced.ipynb", "1");
	tree_file("a/advancer.py", "1");
	tree_file("b/advanceds.py", "1");
	tree_file("quite_another.py", "1");
	finds("advanecd.py", NULL, 0, "~deep/advanced.py a/advancer.py advance.py");
	finds("advanced", NULL, 0, "~deep/advanced.py tests/Advanced.ipynb a/advancer.py");
	finds("wrong/advanced.py", NULL, 0, "~deep/advanced.py a/advancer.py advance.py");
	finds("nothing_like_it.py", NULL, 0, "");
}

static void deep_and_wide(void **state)
{
	char name[4096] = "";

	(void)state;
	for (int i = 0; i < 300; i++)
		strcat(name, "d/");
	strcat(name, "x.py");
	tree_file(name, "1");
	for (int i = 0; i < 300; i++) {
		char other[64];

		snprintf(other, sizeof(other), "w%d/y.py", i);
		tree_file(other, "1");
	}
	finds("x.py", NULL, 0, name);
	finds("w299/y.py", NULL, 0, "w299/y.py");
}

#define ONE(f) cmocka_unit_test_setup_teardown(f, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ONE(one_several_none), ONE(not_looked_into), ONE(links),
		ONE(odd_names),	       ONE(the_nearest),     ONE(deep_and_wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
