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

static int cmd_inspect(const struct fah_command *cmd, int argc, char **argv)
{
	const char *path = NULL;
	struct fah_inspect_options o = {0};
	struct fah_args a;
	int arg, err;

	fah_args_init(&a, cmd, argc, argv);
	while ((arg = fah_args_next(&a)) != FAH_ARG_END) {
		switch (arg) {
		case OPT_RECORDS:
			o.records = true;
			break;
		case OPT_HEALTH:
			o.health = true;
			break;
		case FAH_ARG_OPERAND:
			if (path)
				return fah_fail("inspect: one capture at a time, not also %s",
						a.value);
			path = a.value;
			break;
		case FAH_ARG_HELP:
			return FAH_STATUS_OK;
		case FAH_ARG_DASHES:
			break;
		default:
			return FAH_STATUS_USAGE;
		}
	}
	if (!path)
		return fah_fail("inspect: which capture? fixingahole inspect CAPTURE");
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
