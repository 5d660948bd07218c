/*
 * cmd_lines.c - run a script and say how often each line of chosen functions ran, and how long:
 * kernprof -l and its letters.
 *
 * The script runs as itself, unmodified and in place; everything behind its name is its own. The
 * exit status is the program's.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/room.h"
#include "base/strbuf.h"
#include "base/path.h"
#include "cli/cli.h"
#include "cli/exact_run.h"
#include "cli/invoke.h"
#include "cli/lines_result.h"
#include "core/err.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_CHOSEN 256
#define PATH_BYTES 4096
#define SCOPE_MAX 32000 /* bytes: what agents have room for */

enum {
	OPT_LINES = 1,
	OPT_VIEW,
	OPT_OUTPUT,
	OPT_UNIT,
	OPT_SKIP_ZERO,
	OPT_FUNCTION,
	OPT_IN,
	OPT_NO_CALLED,
	OPT_BUILTIN,
	OPT_QUIET,
};

static const struct fah_option options[] = {
	{OPT_LINES, "line-by-line", "l", NULL,
	 "as kernprof's, which needs it; there is no other way"},
	{OPT_VIEW, "view", "v", NULL, "print the lines when the program has ended"},
	{OPT_OUTPUT, "outfile", "o", "FILE",
	 "the result (default: <script>.py.lprof here); FILE.fah: a capture"},
	{OPT_UNIT, "unit", "u", "SECONDS",
	 "the unit of times printed: 1, 1e-3, 1e-9 (default: 1e-6)"},
	{OPT_SKIP_ZERO, "skip-zero", "z", NULL, "print no functions that did not run"},
	{OPT_FUNCTION, "function", "f", "NAME",
	 "choose functions of that name, C.method or te*; repeatable"},
	{OPT_IN, "in", NULL, "PLACE", "choose functions in a file, folder or module; repeatable"},
	FAH_EXACT_OPTIONS,
	{OPT_NO_CALLED, "no-called", NULL, NULL,
	 "don't tell what lines call: cheaper where they call a lot"},
	{OPT_BUILTIN, "builtin", "b", NULL, "as kernprof's: profile() is a builtin, always"},
	{OPT_QUIET, "quiet", "q", NULL, "nothing of ours on stderr but errors"},
	{0},
};

struct job {
	struct fah_exact_job run;
	const char *output;
	const char *functions[MAX_CHOSEN], *places[MAX_CHOSEN];
	size_t n_functions, n_places;
	bool view, skip_zero, no_called, quiet;
	double unit;
	char result[PATH_BYTES];
};

static int take_option(void *ctx, int option, const char *value)
{
	struct job *job = ctx;

	switch (option) {
	case OPT_VIEW:
		job->view = true;
		return 0;
	case OPT_OUTPUT:
		job->output = value;
		return 0;
	case OPT_UNIT:
		return fah_lines_parse_unit("lines", value, &job->unit);
	case OPT_SKIP_ZERO:
		job->skip_zero = true;
		return 0;
	case OPT_FUNCTION:
		if (job->n_functions == MAX_CHOSEN || strchr(value, '\n') || !*value)
			return fah_fail("lines: --function: a name is needed, at most %d times",
					MAX_CHOSEN);
		job->functions[job->n_functions++] = value;
		return 0;
	case OPT_IN:
		if (job->n_places == MAX_CHOSEN || strchr(value, '\n') || !*value)
			return fah_fail("lines: --in: a file or module is needed, at most %d times",
					MAX_CHOSEN);
		job->places[job->n_places++] = value;
		return 0;
	case OPT_NO_CALLED:
		job->no_called = true;
		return 0;
	case OPT_QUIET:
		job->quiet = true;
		return 0;
	default: /* -l, -b */
		return 0;
	}
}

/* The option that takes the next argument for its value; 0: none. */
static int takes_value(const char *text)
{
	bool is_long = !strncmp(text, "--", 2);

	for (const struct fah_option *o = options; o->id; o++) {
		const char *name = is_long ? o->name : o->short_name;

		if (o->arg && name && text[0] == '-' && !strcmp(text + (is_long ? 2 : 1), name))
			return o->id;
	}
	return 0;
}

/* -lv, as kernprof's users type it, is -l -v: an argument for each letter. NULL: no memory; the
 * caller frees it. */
static char **apart(int argc, char **argv, int *ret_argc)
{
	static const char letters[] = "lvzbq";
	static char *const words[] = {"-l", "-v", "-z", "-b", "-q"};
	int value = 0;	  /* of this option */
	bool ours = true; /* up to the script */
	char **made = NULL;
	size_t n = 0, cap = 0;

	for (int i = 0; i <= argc; i++) {
		const char *text = i < argc ? argv[i] : "";

		ours = ours && (value || (text[0] == '-' && strcmp(text, "--") != 0));
		if (!ours || value || !text[1] || !text[2] ||
		    strspn(text + 1, letters) != strlen(text + 1))
			text = NULL;
		ours = ours && value != FAH_EXACT_OPT_MODULE && value != FAH_EXACT_OPT_CODE;
		value = ours && !value && i < argc ? takes_value(argv[i]) : 0;
		do {
			if (!fah_room(&made, n, &cap, sizeof(*made))) {
				free(made);
				return NULL;
			}
			made[n++] = text ? words[strchr(letters, *++text) - letters] : argv[i];
		} while (text && text[1]);
	}
	*ret_argc = (int)n - 1;
	return made;
}

/* 0 or an exit status: where the result goes, as kernprof names it. */
static int choose_output(struct job *job)
{
	const char *name = job->run.file     ? fah_basename(job->run.file)
			   : job->run.module ? job->run.module
					     : "code";
	int n, err;

	n = job->output ? snprintf(job->result, sizeof(job->result), "%s", job->output)
			: snprintf(job->result, sizeof(job->result), "%s.lprof", name);
	if (n >= (int)sizeof(job->result))
		return fah_fail("lines: %s: too long a path", job->output ? job->output : name);
	err = fah_file_check_output(job->result);
	if (err < 0)
		return fah_fail_err(err, "lines: %s", job->result);
	err = fah_output_apart("lines: --outfile", job->result, job->run.file);
	if (err)
		return err;
	if (fah_path_ends(job->result, ".fah"))
		job->run.capture = job->result;
	return 0;
}

/* a.b.c: as a/b/c, which the agent looks for in the names of files. */
static void add_module(struct fah_strbuf *sb, const char *name)
{
	fah_strbuf_adds(sb, "module ");
	for (; *name; name++)
		fah_strbuf_addc(sb, *name == '.' ? '/' : *name);
	fah_strbuf_addc(sb, '\n');
}

/* A path that is there, or looks like one. 0 or an exit status. */
static int add_place(struct fah_strbuf *sb, const char *place)
{
	char real[PATH_MAX];
	struct stat st;

	if (stat(place, &st) == 0 && realpath(place, real)) {
		const char *kind = S_ISDIR(st.st_mode) ? "folder" : "file";

		fah_strbuf_addf(sb, "%s %s\n", kind, real);
		return 0;
	}
	if (strchr(place, '/') || fah_path_ends(place, ".py"))
		return fah_fail("lines: --in %s: no such file", place);
	add_module(sb, place);
	return 0;
}

/* What the agent is to know: agent/lines_scope.c. NULL after printing. */
static char *scope_of(const struct job *job)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;
	char *text;

	fah_strbuf_adds(&sb, job->no_called ? "lines\n" : "lines\ncalled\n");
	for (size_t i = 0; i < job->n_functions; i++)
		fah_strbuf_addf(&sb, "name %s\n", job->functions[i]);
	for (size_t i = 0; i < job->n_places; i++)
		if (add_place(&sb, job->places[i]))
			return NULL;
	if (sb.len > SCOPE_MAX) {
		fah_fail("lines: --function and --in: too many");
		return NULL;
	}
	text = fah_strbuf_take(&sb);
	if (!text)
		fah_fail_err(FAH_ERR_NOMEM, "lines");
	return text;
}

/* What the recording came to: the file, the words, and with -v the lines; or why there is none. The
 * exit status is the program's all the same. */
static void finish(const struct job *job, const struct fah_profile *p)
{
	_cleanup_(fah_linehits_done) struct fah_linehits h = {0};
	struct fah_linehits_state state;
	const struct fah_linehits_options how = {
		.unit = job->unit,
		.skip_zero = job->skip_zero,
		.cwd = fah_profile_meta(p, "cwd"),
		.code = job->run.code,
	};

	if (fah_lines_of(&h, "lines", p, &state))
		return;
	h.has_called = !job->no_called;
	fah_linehits_only(&h, job->functions, job->n_functions);
	fah_linehits_sort(&h);
	if (!h.n_functions) {
		fah_lines_say_none(&state, p, job->n_functions || job->n_places);
		return;
	}
	if (!job->run.capture && fah_lines_save(&h, job->result))
		return;
	if (!job->quiet)
		fah_lines_say_result(&state, job->result, job->view);
	if (job->view)
		fah_lines_print(&h, "lines", &how);
}

static int run(const struct fah_command *cmd, struct job *job, int argc, char **argv)
{
	_cleanup_(fah_exact_run_release) struct fah_exact_run done = {0};
	_cleanup_(fah_freep) char *words = NULL, *scope = NULL;
	int status = fah_exact_parse(&job->run, cmd, argc, argv, take_option, job);

	if (status)
		return status < 0 ? FAH_STATUS_OK : status;
	job->run.name = "lines";
	job->run.lines = scope = scope_of(job);
	if (!scope)
		return FAH_STATUS_USAGE;
	status = choose_output(job);
	if (status)
		return status;
	job->run.words = words = fah_invoke_words(cmd, argc, argv);
	status = fah_exact_run(&job->run, &done);
	if (status)
		return status;
	if (done.profile)
		finish(job, done.profile);
	return fah_invoke_status(done.result.wait_status);
}

static int cmd_lines(const struct fah_command *cmd, int argc, char **argv)
{
	_cleanup_(fah_freep) char **words = apart(argc, argv, &argc);
	struct job job = {0};

	return words ? run(cmd, &job, argc, words) : fah_fail_err(FAH_ERR_NOMEM, "lines");
}

static const char *const examples[] = {
	"fixingahole lines -l -v script.py",
	"functions marked with @profile: hits and time of each line, printed at the end",
	"fixingahole lines -v -f 'Parser.*' -f load script.py data.json",
	"functions by name, without touching code; data.json is the script's",
	"fixingahole lines --in mypackage.core -o core.lprof -m mypackage",
	"all functions of a module; python -m line_profiler core.lprof reads it too",
	NULL,
};

const struct fah_command fah_cmd_lines = {
	.name = "lines",
	.usage = "[OPTIONS] [-m MODULE | -c CODE | FILE] [ARGUMENTS]",
	.summary = "count and time each line of chosen functions, as kernprof -l does",
	.description =
		"Runs a script as itself and tells every line of the functions that were chosen: "
		"how often it ran, and how long, in all threads and in children. Functions are "
		"marked in the code with @profile, a builtin while this command runs, on "
		"functions, methods, properties and classes; or chosen from outside: by name (-f), "
		"by file, folder or module (--in), or both at once: that name in those files. "
		"Functions inside functions and lambdas have names too (-f 'outer.<locals>.*'); "
		"comprehensions belong to their line. -f '<module>' is the code of a file "
		"itself.\n\n"
		"Time is wall time from a line to the next one of the same call, with all that it "
		"called; while a generator or coroutine is suspended, none is counted. Where a "
		"function calls itself, time is counted once, for the lines of the innermost call. "
		"What telling costs is measured at the start and taken off.\n\n"
		"Called is the part of a line's time in functions that it called. It is exact for "
		"functions of C and for chosen functions; for other Python functions it ends with "
		"the line's next call, or with the line. Iterators, operators and properties are "
		"counted where they are chosen functions. Before CPython 3.12 all Python "
		"functions are counted exactly, and functions of C not at all.\n\n"
		"From 3.12 on code that is not chosen runs as fast as ever, and any debugger or "
		"coverage tool of the program works beside it. Before, all code is slower, and a "
		"trace function that the program sets is in force instead of ours, which is told "
		"at the end.\n\n"
		"The result is line_profiler's own file, <script>.py.lprof in this folder: "
		"fixingahole annotate FILE and python -m line_profiler FILE read it. Where FILE "
		"ends in .fah it is a capture. Everything behind the script's name is the "
		"script's.",
	.options = options,
	.examples = examples,
	.run = cmd_lines,
};
