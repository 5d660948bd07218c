/* test_cli_links.c - by which names, through symlinks, Python knows a project's code. */
#include "tree.h"

#include "cli/links.h"

static const char *inside(const char *name)
{
	return tree_path(name);
}

/* Names below the test's folder; "from to" of each link found, with ", " between. */
static void finds(const char *root, const char *file, const char *pythonpath, const char *wanted)
{
	struct fah_settings s = {.cwd = tree_root, .root = inside(root)};
	char said[8192] = "", *links, *line;
	size_t n = 0;

	links = fah_links_find(&s, file, pythonpath);
	assert_non_null(links);
	for (line = strtok(links, "\n"); line; line = strtok(NULL, "\n")) {
		assert_int_equal(strncmp(line, tree_root, strlen(tree_root)), 0);
		strcat(said, !n ? "" : n % 2 ? " " : ", ");
		strcat(said, line + strlen(tree_root));
		n++;
	}
	free(links);
	if (strcmp(said, wanted) != 0)
		fail_msg("root %s, file %s: '%s' is not '%s'", root, file ? file : "-", said,
			 wanted);
}

static void make(void)
{
	tree_file("real/repo/sub/x.py", "1");
	tree_file("real/repo/lib/m.py", "1");
	tree_file("real/other/o.py", "1");
	assert_int_equal(symlink("real", "link"), 0);
	assert_int_equal(symlink("real/repo/sub", "deep"), 0);
	assert_int_equal(symlink("real/repo/sub/x.py", "renamed.py"), 0);
	assert_int_equal(symlink("../real/other/o.py", "real/o.py"), 0);
	assert_int_equal(symlink("../other", "real/repo/elsewhere"), 0);
}

static void of_the_script(void **state)
{
	(void)state;
	make();
	/* The highest folder that has another name. */
	finds("real/repo", inside("link/repo/sub/x.py"), NULL, "/link /real");
	finds("real/repo", "link/repo/sub/x.py", NULL, "/link /real");
	finds("real/repo", inside("deep/x.py"), NULL, "/deep /real/repo/sub");
	finds("real/repo", inside("renamed.py"), NULL, "/renamed.py /real/repo/sub/x.py");
	finds("real/other", inside("link/repo/sub/x.py"), NULL, "/link /real");
	/* No link; one that lies in the root under its own name; nothing there. */
	finds("real/repo", inside("real/repo/sub/x.py"), NULL, "");
	finds("real/repo", inside("real/repo/elsewhere/o.py"), NULL, "");
	finds("real/repo", inside("link/absent.py"), NULL, "");
	finds("real/repo", NULL, NULL, "");
	/* ".." behind a link leads where the link leads: Python's name for it is another file's. */
	finds("real/repo", inside("deep/../lib/m.py"), NULL, "/lib/m.py /real/repo/lib/m.py");
}

static void of_pythonpath(void **state)
{
	char path[16384];

	(void)state;
	snprintf(path, sizeof(path), "::%s:%s:/absent:/:%s", inside("link/repo/lib"),
		 inside("deep"), inside("link/repo/sub"));
	finds("real/repo", NULL, path, "/link /real, /deep /real/repo/sub");
	finds("real/repo", inside("link/repo/sub/x.py"), inside("link/repo/lib"), "/link /real");
	/* Code of nobody's here keeps the name that it has. */
	finds("real/repo", NULL, inside("link/other"), "");
	finds("real/repo", inside("real/other/o.py"), inside("link/other"), "/link /real");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_script),
		cmocka_unit_test(of_pythonpath),
	};

	return cmocka_run_group_tests(tests, tree_setup, tree_teardown);
}
