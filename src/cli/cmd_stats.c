/*
 * cmd_stats.c - what pstats prints, of Python's stats files and of captures whose calls were told
 * one by one. Of a folder, or of a capture of samples, what summarize prints.
 */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/exact_open.h"
#include "cli/stats_files.h"
#include "core/err.h"
#include "export/pstats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct fah_command fah_cmd_stats, fah_cmd_summarize;

#define LIMITS_MAX 32

enum {
	OPT_FILE = 1,
	OPT_SORT,
	OPT_LIMIT,
	OPT_CALLERS,
	OPT_CALLEES,
	OPT_REVERSE,
	OPT_STRIP,
	OPT_INTERACTIVE,
	OPT_OUTPUT,
	OPT_SUMMARIZE, /* this and all behind it are summarize's */
	OPT_SUMMARIZE_FLAG,
};

static const struct fah_option options[] = {
	{OPT_FILE, "file", NULL, "FILE", "a file, as if named without --file"},
	{OPT_SORT, "sortby", "s", "KEY",
	 "sort by it, and by the next where equal (cumulative; see above)"},
	{OPT_LIMIT, "limit", "l", "LIMIT",
	 "a number of lines, a fraction from 0 to 1, or a regular expression"},
	{OPT_CALLERS, "callers", NULL, NULL, "then who called each function"},
	{OPT_CALLEES, "callees", NULL, NULL, "then what each function called"},
	{OPT_REVERSE, "reverse", "r", NULL, "turn the order round"},
	{OPT_STRIP, "strip-dirs", NULL, NULL, "files without their folders"},
	{OPT_INTERACTIVE, "interactive", "i", NULL,
	 "a shell with the commands of python -m pstats"},
	{OPT_OUTPUT, "output", "o", "FILE",
	 "write the sum as a stats file of Python's; print nothing"},
	{OPT_SUMMARIZE, "number", "n", "N", "of samples: how many functions the list has (10)"},
	{OPT_SUMMARIZE, "threshold", "t", "PERCENT",
	 "of samples: leave out functions with less than this of the run (0.05)"},
	{OPT_SUMMARIZE_FLAG, "detailed", "d", NULL,
	 "of samples: all code, not only the project's own"},
	{OPT_SUMMARIZE_FLAG, "json", NULL, NULL, "of samples: all numbers, as JSON"},
	{0},
};

struct wanted {
	char **paths; /* room for all arguments */
	size_t n_paths;
	struct fah_pstats_order order;
	struct fah_pstats_limit limits[LIMITS_MAX];
	size_t n_limits;
	bool callers, callees, reverse, strip, interactive;
	const char *output;
	const char *own, *summarize; /* the first option that is only of calls, only of samples */
};

static int take_key(struct wanted *w, const char *text)
{
	_cleanup_(fah_freep) char *copy = strdup(text);
	char *rest = copy, *word;

	while (copy && (word = strsep(&rest, ",")))
		if (!fah_pstats_order_add(&w->order, word))
			return fah_fail("stats: --sortby %s: no key, or not enough letters of one; "
					"calls, cumulative, filename, line, module, name, ncalls, "
					"nfl, pcalls, stdname, time and tottime are",
					word);
	return copy ? 0 : fah_fail_err(FAH_ERR_NOMEM, "stats");
}

static int take_limit(struct wanted *w, const char *text)
{
	if (w->n_limits == LIMITS_MAX)
		return fah_fail("stats: --limit %s: that is one too many", text);
	if (fah_pstats_limit_parse(text, &w->limits[w->n_limits++]) < 0)
		return fah_fail("stats: --limit %s: a fraction is from 0 to 1", text);
	return 0;
}

static int take_option(struct wanted *w, int option, const char *value, const char *typed)
{
	if (option >= OPT_SUMMARIZE)
		w->summarize = typed;
	else if (option != OPT_FILE)
		w->own = typed;
	switch (option) {
	case OPT_FILE:
		w->paths[w->n_paths++] = (char *)value;
		return 0;
	case OPT_SORT:
		return take_key(w, value);
	case OPT_LIMIT:
		return take_limit(w, value);
	case OPT_CALLERS:
		w->callers = true;
		return 0;
	case OPT_CALLEES:
		w->callees = true;
		return 0;
	case OPT_REVERSE:
		w->reverse = true;
		return 0;
	case OPT_STRIP:
		w->strip = true;
		return 0;
	case OPT_INTERACTIVE:
		w->interactive = true;
		return 0;
	case OPT_OUTPUT:
		w->output = value;
		return 0;
	}
	return 0;
}

/* -1, or the status to exit with. */
static int take_all(struct wanted *w, const struct fah_command *cmd, int argc, char **argv)
{
	struct fah_args a;
	int arg, status;

	fah_args_init(&a, cmd, argc, argv);
	for (;;) {
		const char *typed = a.at < argc ? argv[a.at] : "";

		arg = fah_args_next(&a);
		switch (arg) {
		case FAH_ARG_END:
			return -1;
		case FAH_ARG_OPERAND:
			w->paths[w->n_paths++] = (char *)a.value;
			break;
		case FAH_ARG_HELP:
			return FAH_STATUS_OK;
		case FAH_ARG_DASHES:
			break;
		case FAH_ARG_ERROR:
			return FAH_STATUS_USAGE;
		default:
			status = take_option(w, arg, a.value, typed);
			if (status)
				return status;
		}
	}
}

static int print(struct fah_stats_files *s, const struct wanted *w)
{
	int err = w->strip ? fah_stats_files_strip(s) : 0;

	for (size_t i = 0; w->output && i < w->n_paths; i++)
		if (fah_output_apart("stats: --output", w->output, w->paths[i]))
			return FAH_STATUS_USAGE;
	if (err == 0 && w->output) {
		err = fah_pstats_write(w->output, &s->exact);
		return err < 0 ? fah_fail_err(err, "stats: %s", w->output) : FAH_STATUS_OK;
	}
	s->order = w->order;
	if (!s->order.n)
		fah_pstats_order_add(&s->order, "cumulative");
	s->order.reverse = w->reverse;
	if (err == 0)
		err = fah_stats_files_print(s, FAH_PSTATS_FUNCTIONS, w->limits, w->n_limits);
	if (err == 0 && w->callers)
		err = fah_stats_files_print(s, FAH_PSTATS_CALLERS, w->limits, w->n_limits);
	if (err == 0 && w->callees)
		err = fah_stats_files_print(s, FAH_PSTATS_CALLEES, w->limits, w->n_limits);
	return err < 0 ? fah_fail_err(err, "stats") : FAH_STATUS_OK;
}

/* It has samples, or is a folder. summarize has the same arguments, but no --file. */
static int summarize(const struct wanted *w, int argc, char **argv)
{
	_cleanup_(fah_freep) char **rest = calloc((size_t)argc + 1, sizeof(*rest));
	struct fah_command as_typed = fah_cmd_summarize;
	int n = 0;

	if (!rest)
		return fah_fail_err(FAH_ERR_NOMEM, "stats");
	if (w->own)
		return fah_fail("stats: %s: %s is for calls that were told one by one, and there "
				"are none in it",
				w->paths[0], w->own);
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "--file=", 7))
			rest[n++] = argv[i] + 7;
		else if (strcmp(argv[i], "--file") != 0)
			rest[n++] = argv[i];
	}
	as_typed.name = fah_cmd_stats.name;
	return as_typed.run(&as_typed, n, rest);
}

static int show(const struct wanted *w, int argc, char **argv)
{
	_cleanup_(fah_stats_files_release) struct fah_stats_files stats;

	fah_stats_files_init(&stats);
	if (w->interactive) {
		struct fah_pstats_order order = w->order;

		order.reverse = w->reverse;
		return fah_stats_shell(w->paths, w->n_paths, &order, w->strip);
	}
	if (!w->n_paths)
		return fah_fail("stats: which file? fixingahole stats FILE | CAPTURE | FOLDER");
	for (size_t i = 0; i < w->n_paths; i++) {
		int r = fah_stats_files_add(&stats, w->paths[i]);

		if (r == FAH_EXACT_NONE && w->n_paths == 1)
			return summarize(w, argc, argv);
		if (r)
			return fah_exact_fail(r, "stats", w->paths[i]);
	}
	if (w->summarize)
		return fah_fail("stats: %s: %s is for samples, and there are none in it",
				w->paths[0], w->summarize);
	if (!stats.exact.n_functions)
		return fah_fail("stats: %s: there are no calls in it", w->paths[0]);
	return print(&stats, w);
}

static int cmd_stats(const struct fah_command *cmd, int argc, char **argv)
{
	_cleanup_(fah_freep) char **paths = calloc((size_t)argc + 1, sizeof(*paths));
	struct wanted w = {.paths = paths};
	int status;

	if (!paths)
		return fah_fail_err(FAH_ERR_NOMEM, "stats");
	status = take_all(&w, cmd, argc, argv);
	return status >= 0 ? status : show(&w, argc, argv);
}

static const char *const examples[] = {
	"fixingahole stats out.pstats --sortby time --limit 10",
	"the ten functions with most time of their own, of what cProfile -o wrote",
	"fixingahole stats --file out.pstats --sortby TIME --limit 10 --callers",
	"and who called them",
	"fixingahole stats a.pstats b.pstats --limit json --limit 0.5",
	"two files added up: of what has json in name or place, the first half",
	"fixingahole stats a.pstats b.pstats -o both.pstats",
	"the two as one file, for pstats, snakeviz or gprof2dot",
	"fixingahole stats -i out.pstats",
	"look around in it: sort, stats, callers, callees, strip, ...",
	"fixingahole stats performance/script",
	"mean and deviation of each function over all runs of a script",
	NULL,
};

const struct fah_command fah_cmd_stats = {
	.name = "stats",
	.usage = "FILE... | CAPTURE | FOLDER [--sortby KEY] [--limit LIMIT] [OPTIONS]",
	.summary = "print calls as pstats does, of Python's stats files; of a folder, statistics",
	.description =
		"FILE is a stats file of Python's, as cProfile, profile or pstats.dump_stats write "
		"them, or a capture of fixingahole calls. The text is that of Python's pstats, to "
		"the byte: calls (all, and behind / "
		"those "
		"that are not recursive), time in the function itself, and with all that it "
		"called. "
		"Several files add up.\n\n"
		"KEY is calls (or ncalls), cumulative (cumtime), filename (module), line, name, "
		"nfl (name, file, line), pcalls, stdname or time (tottime), in any case; "
		"as few letters as no other key has are enough. With several keys, by commas or by "
		"several --sortby, the next one decides "
		"where one is equal.\n\n"
		"LIMIT is a number of lines, a fraction of them (with a point: 0.1), or a regular "
		"expression of "
		"Python's that is searched for in file:line(function). Several are applied one "
		"after the other.\n\n"
		"Of a folder, or a capture of samples, it prints what fixingahole summarize does, "
		"with the options of that.",
	.options = options,
	.examples = examples,
	.run = cmd_stats,
};
