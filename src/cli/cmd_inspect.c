/* cmd_inspect.c - what is in a capture, in words; --records prints it all. */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/open.h"
#include "core/err.h"
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
	_cleanup_(fah_freep) char *path = NULL;
	const char *argument;
	int err = fah_args_capture(cmd, argc, argv, "CAPTURE", take_option, &o, &argument);

	if (err >= 0)
		return err;
	path = fah_find_capture(argument);
	err = path ? fah_report_inspect(stdout, path, &o) : FAH_ERR_NOMEM;
	return err < 0 ? fah_fail_capture(err, "inspect", argument, path ? path : argument)
		       : FAH_STATUS_OK;
}

static const char *const examples[] = {
	"fixingahole inspect performance/script/20260126_145848",
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
		"asked for and reached, what was dropped and why, and what is missing. CAPTURE is "
		"a .fah file, a .partial file that a killed run left, or a run folder of "
		"fixingahole profile.\n\n"
		"A capture whose run was killed is opened as far as it goes; what the profiled "
		"program had recorded but the profiler had not yet taken is added to it first.",
	.options = options,
	.examples = examples,
	.run = cmd_inspect,
};
