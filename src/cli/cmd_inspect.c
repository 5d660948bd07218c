/* cmd_inspect.c - what is in a capture, in words; --records prints it all. */
#include "base/err.h"
#include "cli/cli.h"
#include "collect/recover.h"
#include "report/inspect.h"

#include <stdio.h>

enum { OPT_RECORDS = 1, OPT_HEALTH };

static const struct fah_option options[] = {
	{OPT_HEALTH, "health", NULL, NULL,
	 "what recording cost the program and the profiler, and how well samples came"},
	{OPT_RECORDS, "records", NULL, NULL, "print every record, one a line"},
	{0},
};

static int take_option(void *ctx, int option, const char *value)
{
	struct fah_inspect_options *o = ctx;

	o->records |= option == OPT_RECORDS;
	o->health |= option == OPT_HEALTH;
	return 0;
}

static int cmd_inspect(const struct fah_command *cmd, int argc, char **argv)
{
	struct fah_inspect_options o = {0};
	const char *path;
	int err = fah_args_capture(cmd, argc, argv, "CAPTURE", take_option, &o, &path);

	if (err >= 0)
		return err;
	fah_recover(path);
	err = fah_report_inspect(stdout, path, &o);
	return err < 0 ? fah_fail_err(err, "%s", path) : FAH_STATUS_OK;
}

static const char *const examples[] = {
	"fixingahole inspect performance/script/20260126_145848/profile.fah",
	"what was recorded, at which rate, and what is missing",
	"fixingahole inspect --health profile.fah",
	"what recording cost: time in handlers, of the profiler, and how late samples came",
	NULL,
};

const struct fah_command fah_cmd_inspect = {
	.name = "inspect",
	.usage = "CAPTURE [--health] [--records]",
	.summary = "say what is in a capture, and what is missing",
	.description =
		"Says in words what a capture holds: the command, its processes, its threads with "
		"the time that each ran, had no core and waited, the clock, samples, the rate "
		"asked for and reached, what was dropped and why, and what is missing.\n\n"
		"A capture whose run was killed is opened as far as it goes; what the profiled "
		"program had recorded but the profiler had not yet taken is added to it first.",
	.options = options,
	.examples = examples,
	.run = cmd_inspect,
};
