/* test_cli_run_scope.c - from a capture's META to what is reported. */
#include "../model/build.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cli/run_scope.h"

/* Pairs of META up to NULL; what comes out, as "dirs | ignored | always". */
static void gives(const char *wanted, ...)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;
	struct fah_run_scope s;
	struct fah_profile *p;
	struct build b;
	const char *key;
	va_list ap;

	build_begin(&b);
	va_start(ap, wanted);
	while ((key = va_arg(ap, const char *)))
		fah_writer_meta(b.w, key, va_arg(ap, const char *));
	va_end(ap);
	p = build_load(&b, 10, 10);
	assert_int_equal(fah_run_scope_init(&s, p), 0);
	fah_strbuf_adds(&text, s.scope.everything ? "* " : "");
	for (size_t i = 0; i < s.scope.n_dirs; i++)
		fah_strbuf_addf(&text, "%s ", s.scope.dirs[i]);
	fah_strbuf_adds(&text, "|");
	for (size_t i = 0; i < s.scope.n_ignore; i++)
		fah_strbuf_addf(&text, " %s", s.scope.ignore[i]);
	fah_strbuf_addf(&text, " | %s", s.scope.always ? s.scope.always : "");
	assert_string_equal(fah_strbuf_str(&text), wanted);
	fah_run_scope_release(&s);
	fah_profile_free(p);
}

static void what_meta_says(void **state)
{
	(void)state;
	/* it does not say whose project it is */
	gives("* | | ", NULL);
	gives("/r | /r/.venv /r/.git | ", "root", "/r", NULL);
	gives("/r /s | /i /r/x y /r/.venv /r/.git /r/o /r/o | /s/a.py", "root", "/r", "script",
	      "/s/a.py", "output", "/r/o", "ignore", "/i\n/r/x y\n", NULL);
	gives("<string> | | ", "code", "pass", NULL);
	gives("/ | | /a.py", "script", "/a.py", NULL);
	/* Results that lie beside the code must not take it away. */
	gives("/r | /r/.venv /r/.git | ", "root", "/r", "output", "/r", NULL);
	gives("/r | /r/.venv /r/.git | ", "root", "/r", "output", "/", NULL);
	/* Imported modules lie in .venv. */
	gives("* | /i | /s/a.py", "root", "/r", "script", "/s/a.py", "output", "/r/o", "ignore",
	      "/i\n", "detailed", "yes", NULL);
	gives("/r | /r/.venv /r/.git /v | ", "root", "/r", "venv", "/v", NULL);
}

static void what_is_counted(void **state)
{
	static const char *const links = "/link\n/real\n/x.py\n/real/repo/sub/x.py\n";
	const char *meta[] = {
		"root",	  "/real/repo",
		"script", "/real/repo/sub/x.py",
		"output", "/real/repo/o",
		"links",  links,
		"file",	  "/link/repo/a/../sub/x.py",
		"ignore", "/real/old\n/else\n",
		NULL,
	};
	char *text = fah_run_scope_lines(meta);

	(void)state;
	assert_string_equal(text, "=/link/repo/a/../sub/x.py\n"
				  "=/real/repo/sub/x.py\n=/link/repo/sub/x.py\n=/x.py\n"
				  "+/real/repo\n+/link/repo\n+/x.py\n"
				  "+/real/repo/sub\n+/link/repo/sub\n+/x.py\n"
				  "-/real/old\n-/link/old\n-/else\n"
				  "-/real/repo/.venv\n-/link/repo/.venv\n"
				  "-/real/repo/.git\n-/link/repo/.git\n"
				  "-/real/repo/o\n-/link/repo/o\n"
				  "-/real/repo/o\n-/link/repo/o\n");
	free(text);
	/* A link to what a folder holds is a name of that folder, too. */
	text = fah_run_scope_lines((const char *[]){
		"root", "/real/repo", "links", "/link\n/real/repo/sub\nbroken\n/a\n/half", NULL});
	assert_string_equal(text, "+/real/repo\n+/link\n-/real/repo/.venv\n-/real/repo/.git\n");
	free(text);
	text = fah_run_scope_lines((const char *[]){"root", "/r", "detailed", "yes", "links",
						    "/l\n/r\n", "ignore", "/r/a\n", NULL});
	assert_string_equal(text, "+/\n-/r/a\n-/l/a\n");
	free(text);
}

static void there_and_back(void **state)
{
	static const char *const ignore[] = {"/a b", "/c"};
	struct fah_settings s = {.ignore = ignore, .n_ignore = 2};
	char *text = fah_run_scope_ignore(&s);

	(void)state;
	assert_string_equal(text, "/a b\n/c\n");
	free(text);
	s.n_ignore = 0;
	text = fah_run_scope_ignore(&s);
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_meta_says),
		cmocka_unit_test(what_is_counted),
		cmocka_unit_test(there_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
