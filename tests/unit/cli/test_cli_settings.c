/* test_cli_settings.c - whose word counts for each key, what paths are relative to, and every
 * refusal with its place. */
#include "tree.h"

#include "base/cleanup.h"
#include "cli/settings.h"
#include "core/err.h"

static const char *const variables[] = {"FIXINGAHOLE_ROOT", "FIXINGAHOLE_OUTPUT",
					"FIXINGAHOLE_IGNORE", "FIXINGAHOLE_DURATION"};

static int setup(void **state)
{
	for (size_t i = 0; i < 4; i++)
		unsetenv(variables[i]);
	return tree_setup(state);
}

static struct fah_settings load(const struct fah_settings_flags *flags)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf why = FAH_STRBUF_INIT;
	struct fah_settings s;

	if (fah_settings_load(&s, flags ? flags : &(struct fah_settings_flags){0}, &why) < 0)
		fail_msg("%s", fah_strbuf_str(&why));
	return s;
}

/* A failure in one line that has all the words. */
static void refused(const struct fah_settings_flags *flags, ...)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf why = FAH_STRBUF_INIT;
	_cleanup_(fah_settings_release) struct fah_settings s = {0};
	const char *word;
	va_list ap;

	assert_int_equal(
		fah_settings_load(&s, flags ? flags : &(struct fah_settings_flags){0}, &why),
		FAH_ERR_USAGE);
	assert_null(strchr(fah_strbuf_str(&why), '\n'));
	va_start(ap, flags);
	while ((word = va_arg(ap, const char *)))
		if (!strstr(fah_strbuf_str(&why), word))
			fail_msg("no '%s' in: %s", word, fah_strbuf_str(&why));
	va_end(ap);
}

static void defaults(void **state)
{
	struct fah_settings s = load(NULL);

	(void)state;
	assert_string_equal(s.root, tree_root);
	assert_string_equal(s.output, tree_path("performance"));
	assert_int_equal(s.n_ignore, 0);
	assert_false(s.seconds);
	for (int i = 0; i < FAH_SET_COUNT; i++)
		assert_string_equal(s.from[i], "default");
	fah_settings_release(&s);
}

static void the_file(void **state)
{
	struct fah_settings s;

	(void)state;
	tree_file("pyproject.toml", "[project]\nname = 'x'\n\n[tool.fixingahole]\n"
				    "root = \"src/\"\noutput = '../out//x/'\n"
				    "ignore = [\n  'old/', # one\n  '/abs/olute',\n]\n"
				    "duration = 'absolute'\n");
	tree_folder("src/old");
	tree_folder("src/deep/er");
	assert_int_equal(chdir(tree_path("src/deep/er")), 0);
	s = load(NULL);
	assert_string_equal(s.root, tree_path("src"));	   /* relative to the file */
	assert_string_equal(s.output, tree_path("out/x")); /* relative to root */
	assert_int_equal(s.n_ignore, 2);
	assert_string_equal(s.ignore[0], tree_path("src/old"));
	assert_string_equal(s.ignore[1], "/abs/olute");
	assert_true(s.seconds);
	assert_string_equal(s.from[FAH_SET_ROOT], tree_path("pyproject.toml:5"));
	assert_string_equal(s.from[FAH_SET_IGNORE], tree_path("pyproject.toml:7"));
	fah_settings_release(&s);
}

static void the_nearest_file_that_has_the_table(void **state)
{
	struct fah_settings s;

	(void)state;
	tree_file("pyproject.toml", "[tool.fixingahole]\noutput = 'far'\n");
	tree_file("a/pyproject.toml", "[tool.fixingahole]\noutput = 'near'\n");
	tree_file("a/b/pyproject.toml", "[tool.black]\nline-length = 100\n");
	tree_folder("a/b/pyproject.toml.d");
	tree_folder("a/b/c/pyproject.toml"); /* a folder is no file */
	assert_int_equal(chdir(tree_path("a/b/c")), 0);
	s = load(NULL);
	assert_string_equal(s.output, tree_path("a/b/c/near")); /* root: the current folder */
	fah_settings_release(&s);

	/* Not beyond the repository's root, be .git a folder or the file of a worktree. */
	tree_file("a/b/.git", "gitdir: /elsewhere\n");
	s = load(NULL);
	assert_string_equal(s.from[FAH_SET_OUTPUT], "default");
	fah_settings_release(&s);
	unlink(tree_path("a/b/.git"));
	tree_folder("a/.git");
	s = load(NULL);
	assert_string_equal(s.from[FAH_SET_OUTPUT], tree_path("a/pyproject.toml:2"));
	fah_settings_release(&s);
}

static void each_key_by_itself(void **state)
{
	static const char *const ignore[] = {"here", "../there"};
	struct fah_settings_flags flags = {0};
	struct fah_settings s;

	(void)state;
	tree_file("pyproject.toml", "[tool.fixingahole]\nroot = '.'\noutput = 'file'\n"
				    "ignore = 'file'\nduration = 'absolute'\n");
	tree_folder("sub");
	assert_int_equal(chdir(tree_path("sub")), 0);
	setenv("FIXINGAHOLE_OUTPUT", "env", 1);
	setenv("FIXINGAHOLE_IGNORE", ":e1:/e2::", 1);
	s = load(&flags);
	assert_string_equal(s.root, tree_root);
	assert_string_equal(s.output, tree_path("env")); /* of root, as in the file */
	assert_int_equal(s.n_ignore, 2);
	assert_string_equal(s.ignore[0], tree_path("e1"));
	assert_string_equal(s.ignore[1], "/e2");
	assert_true(s.seconds);
	assert_string_equal(s.from[FAH_SET_OUTPUT], "FIXINGAHOLE_OUTPUT");
	fah_settings_release(&s);

	flags.ignore = ignore;
	flags.n_ignore = 2;
	flags.duration = "relative";
	s = load(&flags);
	assert_string_equal(s.output, tree_path("env"));
	assert_string_equal(s.ignore[0], tree_path("sub/here")); /* where one stands */
	assert_string_equal(s.ignore[1], tree_path("there"));
	assert_false(s.seconds);
	assert_string_equal(s.from[FAH_SET_DURATION], "--duration");
	fah_settings_release(&s);

	flags.root = "../sub";
	flags.output = "flag";
	setenv("FIXINGAHOLE_DURATION", "absolute", 1);
	s = load(&flags);
	assert_string_equal(s.root, tree_path("sub"));
	assert_string_equal(s.output, tree_path("sub/flag"));
	assert_false(s.seconds);
	fah_settings_release(&s);

	setenv("FIXINGAHOLE_ROOT", "", 1); /* empty is not set */
	s = load(NULL);
	assert_string_equal(s.root, tree_root);
	fah_settings_release(&s);
}

static void symlinks_are_resolved(void **state)
{
	struct fah_settings s;

	(void)state;
	tree_folder("real/ig nöre");
	assert_int_equal(symlink("real", tree_path("link")), 0);
	tree_file("pyproject.toml",
		  "[tool.fixingahole]\nroot = 'link'\nignore = ['../link/ig nöre']\n");
	s = load(NULL);
	assert_string_equal(s.root, tree_path("real"));
	assert_string_equal(s.ignore[0], tree_path("real/ig nöre"));
	fah_settings_release(&s);
}

static void what_is_wrong_has_its_place(void **state)
{
	static const struct {
		const char *text, *place, *words[3];
	} cases[] = {
		{"[tool.fixingahole]\noutptu = 'x'",
		 ":2:",
		 {"outptu", "did you mean output?", "root, output, ignore and duration"}},
		{"[tool.fixingahole]\n\nzebra = 1", ":3:", {"zebra", "allowed", "duration"}},
		{"[tool.fixingahole]\nroot = 3",
		 ":2:",
		 {"root is an integer", "allowed", "folder"}},
		{"[tool.fixingahole]\nroot = ''", ":2:", {"root is empty", "allowed", ""}},
		{"[tool.fixingahole]\nroot = \"a\\u0000b\"", ":2:", {"NUL", "allowed", ""}},
		{"[tool.fixingahole]\nroot = 'absent'",
		 ":2:",
		 {"absent", "nothing of that name", "folder"}},
		{"[tool.fixingahole]\nroot = 'pyproject.toml'",
		 ":2:",
		 {"pyproject.toml", "no folder", ""}},
		{"[tool.fixingahole]\noutput = ['a']",
		 ":2:",
		 {"output is an array", "allowed", ""}},
		{"[tool.fixingahole]\nignore = [\n'a',\n1.5]",
		 ":4:",
		 {"ignore is a float", "allowed", "scratch"}},
		{"[tool.fixingahole]\nignore = ['a', '']", ":2:", {"ignore is empty", "", ""}},
		{"[tool.fixingahole]\nignore = ['.']", ":2:", {"leave nothing", "", ""}},
		{"[tool.fixingahole]\nignore = true", ":2:", {"a boolean", "", ""}},
		{"[tool.fixingahole]\nduration = 'abs'", ":2:", {"'abs'", "relative", "absolute"}},
		{"[tool.fixingahole]\nduration = 1", ":2:", {"an integer", "relative", "absolute"}},
		{"[tool]\nfixingahole = 3", ":2:", {"should be a table", "", ""}},
		{"[[tool.fixingahole]]", ":1:", {"an array", "should be a table", ""}},
		{"[tool.fixingahole]\nroot = .", ":2:", {"column 8", "quotes", ""}},
		{"[tool.fixingahole]\n[tool.fixingahole]", ":2:", {"already", "line 1", ""}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char place[4096 + 300];

		tree_file("pyproject.toml", cases[i].text);
		snprintf(place, sizeof(place), "%s%s", tree_path("pyproject.toml"), cases[i].place);
		refused(NULL, place, cases[i].words[0], cases[i].words[1], cases[i].words[2], NULL);
	}
}

static void flags_and_variables_too(void **state)
{
	static const char *const empty[] = {""}, *const up[] = {".."};

	(void)state;
	refused(&(struct fah_settings_flags){.duration = "fast"}, "--duration", "'fast'",
		"relative", "absolute", NULL);
	refused(&(struct fah_settings_flags){.root = "absent"}, "--root", "absent", NULL);
	refused(&(struct fah_settings_flags){.output = ""}, "--output-directory", "empty", NULL);
	refused(&(struct fah_settings_flags){.ignore = empty, .n_ignore = 1}, "--ignore", NULL);
	refused(&(struct fah_settings_flags){.ignore = up, .n_ignore = 1}, "--ignore",
		"leave nothing", NULL);
	setenv("FIXINGAHOLE_DURATION", "fast", 1);
	/* Also where a flag has the last word. */
	refused(&(struct fah_settings_flags){.duration = "absolute"}, "FIXINGAHOLE_DURATION", NULL);
	unsetenv("FIXINGAHOLE_DURATION");
	setenv("FIXINGAHOLE_ROOT", "absent", 1);
	refused(NULL, "FIXINGAHOLE_ROOT", "absent", NULL);
	unsetenv("FIXINGAHOLE_ROOT");
	/* A root that is not in force need not exist. */
	tree_file("pyproject.toml", "[tool.fixingahole]\nroot = 'absent'");
	setenv("FIXINGAHOLE_ROOT", ".", 1);
	fah_settings_release(&(struct fah_settings[]){load(NULL)}[0]);
}

static void in_words(void **state)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;
	struct fah_settings s;
	char wanted[5 * sizeof(tree_root)];

	(void)state;
	tree_file("pyproject.toml", "[tool.fixingahole]\nignore = ['a\033b']\n");
	setenv("FIXINGAHOLE_DURATION", "absolute", 1);
	refused(NULL, ":2:", "control character", NULL);
	tree_file("pyproject.toml", "[tool.fixingahole]\nignore = [\"a\\u001bb\"]\n");
	s = load(NULL);
	fah_settings_words(&s, &text);
	snprintf(wanted, sizeof(wanted),
		 "  root      %s  (default)\n  output    %s/performance  (default)\n"
		 "  ignore    %s/a\\x1bb, .git, .venv, the output folder  (%s/pyproject.toml:2)\n"
		 "  duration  absolute  (FIXINGAHOLE_DURATION)\n",
		 tree_root, tree_root, tree_root, tree_root);
	assert_string_equal(fah_strbuf_str(&text), wanted);
	fah_settings_release(&s);
}

#define ONE(f) cmocka_unit_test_setup_teardown(f, setup, tree_teardown)

static void of_another_user(void **state)
{
	const uid_t nobody = 65534;
	struct fah_settings s;

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can give files away */
	tree_file("shared/pyproject.toml", "[tool.fixingahole]\nduration = 'absolute'\n");
	tree_folder("shared/mine");
	assert_int_equal(chdir(tree_path("shared/mine")), 0);
	s = load(NULL);
	assert_true(s.seconds);
	fah_settings_release(&s);
	assert_int_equal(chown(tree_path("shared/pyproject.toml"), nobody, nobody), 0);
	s = load(NULL);
	assert_false(s.seconds);
	fah_settings_release(&s);
	/* where all is the other's, as for root in a user's project */
	assert_int_equal(chown(tree_path("shared/mine"), nobody, nobody), 0);
	s = load(NULL);
	assert_true(s.seconds);
	fah_settings_release(&s);
	/* a link of the other's to a file of ours */
	assert_int_equal(chown(tree_path("shared/mine"), 0, 0), 0);
	tree_file("other/pyproject.toml", "[tool.fixingahole]\nduration = 'absolute'\n");
	assert_int_equal(unlink(tree_path("shared/pyproject.toml")), 0);
	assert_int_equal(symlink("../other/pyproject.toml", tree_path("shared/pyproject.toml")), 0);
	s = load(NULL);
	assert_true(s.seconds);
	fah_settings_release(&s);
	assert_int_equal(lchown(tree_path("shared/pyproject.toml"), nobody, nobody), 0);
	s = load(NULL);
	assert_false(s.seconds);
	fah_settings_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ONE(defaults),
		ONE(the_file),
		ONE(the_nearest_file_that_has_the_table),
		ONE(each_key_by_itself),
		ONE(symlinks_are_resolved),
		ONE(what_is_wrong_has_its_place),
		ONE(flags_and_variables_too),
		ONE(in_words),
		cmocka_unit_test_setup_teardown(of_another_user, setup, tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
