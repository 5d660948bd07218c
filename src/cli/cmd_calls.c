/*
 * cmd_calls.c - every call, exactly: what cProfile is for, with its options and its files.
 */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/exact_run.h"
#include "cli/invoke.h"
#include "core/err.h"
#include "model/exact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_OUTPUT = 1, OPT_SORT, OPT_RAW, OPT_SUBPROCESSES, OPT_PER_PROCESS };

static const struct fah_option options[] = {
	{OPT_OUTPUT, "output", "o", "FILE",
	 "write the result: Python's stats format, or a capture where FILE ends in .fah"},
	{OPT_SORT, "sort", "s", "KEY", "order of the report, as pstats has it (cumulative)"},
	FAH_EXACT_OPTIONS,
	{OPT_SUBPROCESSES, "subprocesses", NULL, NULL, "calls of children count too"},
	{OPT_PER_PROCESS, "per-process", NULL, NULL,
	 "the same, with a report for each of the processes"},
	{OPT_RAW, "raw", NULL, NULL, "leave in what it costs to be told of a call"},
	{0},
};

struct job {
	struct fah_exact_job run;
	const char *output, *sort;
	bool per_process;
};

static int take_option(void *ctx, int option, const char *value)
{
	struct job *job = ctx;

	switch (option) {
	case OPT_OUTPUT:
		job->output = value;
		return 0;
	case OPT_SORT:
		job->sort = value;
		return 0;
	case OPT_RAW:
		job->run.exact |= FAH_EXACT_RAW;
		return 0;
	case OPT_PER_PROCESS:
		job->per_process = true;
		/* fallthrough */
	default:
		job->run.exact |= FAH_EXACT_CHILDREN;
		return 0;
	}
}

static int cmd_calls(const struct fah_command *cmd, int argc, char **argv)
{
	struct job job = {.run = {.name = "calls", .exact = FAH_EXACT_CALLS}};
	_cleanup_(fah_exact_run_release) struct fah_exact_run run = {0};
	_cleanup_(fah_exact_done) struct fah_exact e;
	_cleanup_(fah_freep) char *words = NULL;
	size_t n;
	int status;

	fah_exact_init(&e);
	status = fah_exact_parse(&job.run, cmd, argc, argv, take_option, &job);
	if (status)
		return status < 0 ? FAH_STATUS_OK : status;
	job.run.words = words = fah_invoke_words(cmd, argc, argv);
	n = job.output ? strlen(job.output) : 0;
	if (n > 4 && !strcmp(job.output + n - 4, ".fah"))
		job.run.capture = job.output;
	status = fah_exact_run(&job.run, &run);
	if (status)
		return status;
	if (run.profile && fah_exact_of(run.profile, FAH_EXACT_ALL, &e) == 0)
		for (size_t i = 0; i < e.n_functions; i++)
			printf("%10lu %10lu %9.6f %9.6f %s:%ld(%s)\n", e.functions[i].times.calls,
			       e.functions[i].times.primitive, e.functions[i].times.self_s,
			       e.functions[i].times.total_s, e.functions[i].file,
			       (long)e.functions[i].line, e.functions[i].name);
	return fah_invoke_status(run.result.wait_status);
}

const struct fah_command fah_cmd_calls = {
	.name = "calls",
	.alias = "cpu",
	.usage = "[OPTIONS] FILE|-m MODULE|-c CODE [ARGUMENTS]",
	.summary = "every call, exactly: how often, how long, by whom",
	.description = "Runs a script.",
	.options = options,
	.hidden = true, /* until it has its report */
	.run = cmd_calls,
};
