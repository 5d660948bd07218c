/* cmd_export.c - a capture in the format of another tool. */
#include "base/cleanup.h"
#include "cli/export.h"

enum { OPT_FORMAT = 1, OPT_OUTPUT };

static const struct fah_option options[] = {
	{OPT_FORMAT, "format", "f", "FORMAT",
	 "the format; without it, the one that FILE's name ends with"},
	{OPT_OUTPUT, "output", "o", "FILE", "where to, instead of stdout; - is stdout"},
	FAH_VIEW_OPTIONS,
	FAH_MEMORY_VIEW,
	{0},
};

struct wanted {
	const char *name, *out;
	struct fah_view view;
};

static int take_option(void *ctx, int option, const char *value)
{
	struct wanted *w = ctx;

	if (option == OPT_FORMAT)
		w->name = value;
	else if (option == OPT_OUTPUT)
		w->out = value;
	else if (option == FAH_OPT_MEMORY)
		return fah_view_memory(&w->view, "export", value);
	else
		fah_view_option(&w->view, option, value);
	return 0;
}

static int cmd_export(const struct fah_command *cmd, int argc, char **argv)
{
	_cleanup_(fah_opened_release) struct fah_opened opened = {0};
	struct wanted w = {.view = FAH_VIEW_INIT};
	const struct fah_export *format;
	const char *path;
	int status = fah_args_capture(cmd, argc, argv, "CAPTURE -f FORMAT", take_option, &w, &path);

	if (status >= 0)
		return status;
	format = fah_export_choose("export", w.name, w.out);
	if (!format)
		return FAH_STATUS_USAGE;
	if (w.view.memory && !format->memory)
		return fah_fail("export: %s can't hold memory; folded, speedscope, pprof and svg "
				"can",
				format->name);
	status = fah_open_view(&opened, "export", path, &w.view);
	return status ? status : fah_export_to(&opened, format, &w.view, w.out, stderr);
}

static const char *const examples[] = {
	"fixingahole export x.fah -n -o x.speedscope.json",
	"for speedscope, with native frames",
	"fixingahole export x.fah -f pprof -o x.pb.gz && go tool pprof -top x.pb.gz",
	"for pprof",
	"fixingahole export performance/script/20260126_145848 -f folded | flamegraph.pl >x.svg",
	"a flame graph by somebody else's tool",
	"fixingahole export x.fah --memory -f speedscope -o x.speedscope.json",
	"who holds the memory at its peak, in bytes",
	NULL,
};

const struct fah_command fah_cmd_export = {
	.name = "export",
	.usage = "CAPTURE -f FORMAT [-o FILE] [OPTIONS]",
	.summary = "write a capture in the format of another tool",
	.description =
		"Writes what a capture holds in the format of another tool. CAPTURE is a .fah "
		"file, the .partial of a run that was killed, or the folder of a run.\n\n"
		"FILE is replaced when all is written, never a folder, a link or a device. Native "
		"frames, threads and waiting are in every capture; the options say what is shown "
		"of them. What is missing of a damaged capture is said on stderr, and the rest "
		"exported.",
	.options = options,
	.formats = true,
	.examples = examples,
	.run = cmd_export,
};
