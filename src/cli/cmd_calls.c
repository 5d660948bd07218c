/*
 * cmd_calls.c - every call, exactly: what cProfile is for, with its options and its files.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "cli/calls_output.h"
#include "cli/cli.h"
#include "cli/exact_run.h"
#include "cli/graph_out.h"
#include "cli/invoke.h"
#include "core/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_OUTPUT = 1,
	OPT_SORT,
	OPT_SAVE,
	OPT_VIS,
	OPT_PRETTY,
	OPT_RAW,
	OPT_SUBPROCESSES,
	OPT_PER_PROCESS,
};

static const struct fah_option options[] = {
	{OPT_OUTPUT, "output", "o", "FILE",
	 "write the result and print no report: Python's stats format, or a capture (.fah)"},
	{OPT_SORT, "sort", "s", "KEY", "order of the report, as pstats has it (cumulative)"},
	{OPT_SAVE, "save", NULL, NULL, "keep the result in .profile_data/, as both"},
	{OPT_VIS, "vis", NULL, NULL, "draw the calls (with Graphviz) and open the picture"},
	{OPT_PRETTY, "pretty", NULL, NULL,
	 "print a tree of calls in place of the report, marked where paths are not known"},
	FAH_EXACT_OPTIONS,
	{OPT_SUBPROCESSES, "subprocesses", NULL, NULL, "calls of children count too"},
	{OPT_PER_PROCESS, "per-process", NULL, NULL,
	 "the same, with a report, or files named by PID, for each process"},
	{OPT_RAW, "raw", NULL, NULL, "leave in what it costs to be told of a call"},
	{0},
};

struct job {
	struct fah_exact_job run;
	struct fah_calls_output output;
	const char *file; /* -o */
	const char *copy; /* of the capture, for --save where -o has it; NULL: none */
};

static int take_option(void *ctx, int option, const char *value)
{
	struct job *job = ctx;

	switch (option) {
	case OPT_OUTPUT:
		job->file = value;
		return 0;
	case OPT_SORT:
		if (!fah_pstats_order_add(&job->output.order, value))
			return fah_fail("calls: --sort %s: there are cumulative, tottime, ncalls, "
					"name, filename, line and the others of pstats",
					value);
		return 0;
	case OPT_SAVE:
		job->output.save = true;
		return 0;
	case OPT_VIS:
		job->output.picture = true;
		return 0;
	case OPT_PRETTY:
		job->output.pretty = true;
		return 0;
	case OPT_RAW:
		job->run.exact |= FAH_EXACT_RAW;
		return 0;
	case OPT_PER_PROCESS:
		job->output.per_process = true;
		job->run.exact |= FAH_EXACT_CHILDREN;
		return 0;
	default:
		job->run.exact |= FAH_EXACT_CHILDREN;
		return 0;
	}
}

/* Paths of what is kept. */
struct paths {
	char kept[FAH_CALLS_PATH_MAX], capture[FAH_CALLS_PATH_MAX + 8],
		picture[FAH_CALLS_PATH_MAX + 8];
};

/* Where it all goes; checked before anything runs. */
static int settle(struct job *job, struct paths *p)
{
	int err, status = 0;

	job->output.script = job->run.file     ? job->run.file
			     : job->run.module ? job->run.module
					       : "the code";
	if (!job->output.order.n)
		fah_pstats_order_add(&job->output.order, "cumulative");
	if (job->file)
		status = fah_output_apart("calls: --output", job->file, job->run.file);
	if (status)
		return status;
	job->output.quiet = !!job->file;
	if (job->file && fah_path_ends(job->file, ".fah")) {
		job->run.capture = job->file;
	} else if (job->file) {
		err = fah_file_check_output(job->file);
		if (err < 0)
			return fah_fail_err(err, "calls: --output %s", job->file);
		job->output.file = job->file;
	}
	if (!job->output.save && !job->output.picture)
		return 0;
	status = fah_calls_keep(job->run.code ? "code" : job->output.script, p->kept,
				sizeof(p->kept));
	if (status)
		return status;
	job->output.kept = p->kept;
	snprintf(p->capture, sizeof(p->capture), "%s.fah", p->kept);
	snprintf(p->picture, sizeof(p->picture), "%s.svg", p->kept);
	if (job->output.save && job->run.capture)
		job->copy = p->capture;
	else if (job->output.save)
		job->run.capture = p->capture;
	return job->output.picture ? fah_graph_check_output(p->picture) : 0;
}

static void copy_capture(const char *from, const char *to)
{
	_cleanup_(fah_freep) char *data = NULL;
	size_t len;
	int err = fah_file_read_regular(from, SIZE_MAX / 2, &data, &len);

	if (err == 0)
		err = fah_file_replace(to, data, len);
	if (err < 0)
		fah_fail_err(err, "cannot write %s", to);
}

static int cmd_calls(const struct fah_command *cmd, int argc, char **argv)
{
	struct job job = {.run = {.name = "calls", .exact = FAH_EXACT_CALLS}};
	_cleanup_(fah_exact_run_release) struct fah_exact_run run = {0};
	_cleanup_(fah_freep) char *words = NULL;
	struct paths paths;
	int status = fah_exact_parse(&job.run, cmd, argc, argv, take_option, &job);

	if (status)
		return status < 0 ? FAH_STATUS_OK : status;
	status = settle(&job, &paths);
	if (status)
		return status;
	job.run.words = words = fah_invoke_words(cmd, argc, argv);
	status = fah_exact_run(&job.run, &run);
	if (status)
		return status;
	if (job.copy)
		copy_capture(run.result.capture, job.copy);
	if (run.profile)
		fah_calls_show(&job.output, run.profile);
	return fah_invoke_status(run.result.wait_status);
}

static const char *const examples[] = {
	"fixingahole calls script.py",
	"run it, print every function with its calls and times",
	"fixingahole calls -o output_file -m package.module",
	"write what python -m pstats, snakeviz and gprof2dot read",
	"fixingahole calls -s tottime --subprocesses script.py --jobs 4",
	"children too; the script's own arguments stand behind it",
	"fixingahole cpu --save --vis script.py",
	"keep the result, draw who called whom",
	"fixingahole cpu --save --vis --pretty script.py",
	"the same, and the tree of calls",
	NULL,
};

const struct fah_command fah_cmd_calls = {
	.name = "calls",
	.alias = "cpu",
	.usage = "[OPTIONS] FILE|-m MODULE|-c CODE [ARGUMENTS]",
	.summary = "every call, exactly: how often, how long, by whom (cProfile)",
	.description =
		"Runs a script as itself and counts and times each call of Python functions, "
		"methods, generators, coroutines and functions of C, in all threads. The options, "
		"the report and the file are those of python -m cProfile; what stands behind the "
		"script is the script's own.\n\n"
		"What it costs to be told of a call is measured when the program starts and taken "
		"off all times (--raw leaves it in), so a function that is called millions of "
		"times has about the share that it has without being watched. A generator or "
		"coroutine that is resumed counts as called, and the time in which it rests is "
		"not its own.\n\n"
		"Children are left alone; with --subprocesses their calls are in the one result. "
		"The exit status is the script's.",
	.options = options,
	.examples = examples,
	.run = cmd_calls,
};
