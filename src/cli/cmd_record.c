/*
 * cmd_record.c - record a command, with py-spy record's place and letters.
 *
 * The command runs as itself: its streams, its signals and its status are its own, and nothing of
 * ours is on stdout. All is always recorded (children, native frames, idle threads); the letters
 * that say otherwise elsewhere set what an export shows.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/heap_options.h"
#include "cli/invoke.h"
#include "cli/progress.h"
#include "cli/record_output.h"
#include "cli/subject.h"
#include "collect/run.h"
#include "core/err.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_BYTES 128
#define PATH_BYTES 4096

enum {
	OPT_OUTPUT = 1,
	OPT_FORMAT,
	OPT_RATE,
	OPT_CLOCK,
	OPT_DURATION,
	OPT_KILL,
	OPT_KEEP,
	OPT_BUDGET,
	OPT_QUIET,
	OPT_PID,
	OPT_MEMORY,
	OPT_PRECISION,
	OPT_EXACT,
};

static const struct fah_option options[] = {
	{OPT_OUTPUT, "output", "o", "FILE", "the result (default: ./<name>-<pid>.fah)"},
	{OPT_FORMAT, "format", "f", "FORMAT",
	 "the result is an export; also where FILE ends as one of its files"},
	{OPT_RATE, "rate", "r", "HZ",
	 "samples per second of CPU time: 100, 250, 1khz, 10khz (default: 250)"},
	FAH_CLOCK_OPTION(OPT_CLOCK),
	{OPT_DURATION, "duration", "d", "SECONDS",
	 "end the recording after that; the program goes on"},
	{OPT_KILL, "kill", NULL, NULL, "when the recording ends before the program, end that too"},
	{OPT_KEEP, "keep", NULL, NULL, "keep the capture beside an export"},
	{OPT_BUDGET, "budget", NULL, "PERCENT",
	 "what it may cost, in percent of a core (default: see help clock)"},
	FAH_MEMORY_OPTION(OPT_MEMORY, NULL),
	FAH_PRECISION_OPTION(OPT_PRECISION, NULL),
	FAH_EXACT_OPTION(OPT_EXACT),
	{OPT_QUIET, "quiet", "q", NULL, "nothing of ours on stderr but errors"},
	FAH_VIEW_OPTIONS,
	{OPT_PID, "pid", "p", "PID", "attach to a running process: not yet"},
	{0},
};

struct job {
	struct fah_record_output output;
	double rate, duration, budget;
	struct fah_heap_options heap;
	uint32_t clock; /* enum fah_clock; 0: by the rate */
	bool kill, quiet;
	char *const *argv; /* the command */
	char program[PATH_BYTES];
	char *words; /* as it was typed */
};

/*
 * The first interrupt ends the recording, or is the program's where that is over; the second one is
 * for us. The program has both from the terminal itself.
 */
static volatile sig_atomic_t interrupts;

static void on_interrupt(int sig)
{
	if (++interrupts < 2)
		return;
	signal(sig, SIG_DFL);
	raise(sig); /* comes when the handler returns */
}

/* Whoever started us with SIGINT ignored wants it ignored. */
static void watch_interrupts(void)
{
	struct sigaction now, ours = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};

	if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		sigaction(SIGINT, &ours, NULL);
}

static bool parse_duration(const char *text, double *ret)
{
	if (!strcmp(text, "unlimited")) {
		*ret = 0;
		return true;
	}
	return fah_parse_seconds(text, ret);
}

static int take_option(struct job *job, int option, const char *value)
{
	if (fah_view_option(&job->output.view, option, value))
		return 0;
	switch (option) {
	case OPT_OUTPUT:
		job->output.file = value;
		return 0;
	case OPT_FORMAT:
		job->output.format_name = value;
		return 0;
	case OPT_MEMORY:
		job->heap.memory = true;
		return 0;
	case OPT_EXACT:
		return fah_heap_take_exact(&job->heap, "record", value);
	case OPT_PRECISION:
		return fah_heap_take_precision(&job->heap, "record", value);
	case OPT_KEEP:
		job->output.keep = true;
		return 0;
	case OPT_RATE:
		if (!fah_parse_rate(value, &job->rate))
			return fah_fail("record: --rate %s is no rate; 250 or 1khz are", value);
		if (job->rate > FAH_RATE_MAX)
			return fah_fail("record: --rate: at most %g Hz", FAH_RATE_MAX);
		return 0;
	case OPT_CLOCK:
		job->clock = fah_parse_clock(value);
		if (!job->clock)
			return fah_fail("record: --clock %s: there are timer and perf", value);
		return 0;
	case OPT_DURATION:
		if (!parse_duration(value, &job->duration))
			return fah_fail("record: --duration %s is no time; 10 or 0.5 are, in "
					"seconds",
					value);
		return 0;
	case OPT_BUDGET:
		if (!fah_parse_percent(value, &job->budget))
			return fah_fail("record: --budget %s is no percentage; 1, 0.5 or 2%% are "
					"(at least 0.01, at most 100)",
					value);
		return 0;
	case OPT_KILL:
		job->kill = true;
		return 0;
	case OPT_QUIET:
		job->quiet = true;
		return 0;
	case OPT_PID:
		return fah_fail("record: attaching to a running process (-p %s) comes with a later "
				"version; for now: fixingahole record -- COMMAND",
				value);
	default:
		return 0;
	}
}

/* 0, an exit status, or -1: help was printed. */
static int parse(struct job *job, const struct fah_command *cmd, int argc, char **argv)
{
	struct fah_args a;
	int arg, status;

	fah_args_init(&a, cmd, argc, argv);
	while ((arg = fah_args_next(&a)) > 0) {
		status = take_option(job, arg, a.value);
		if (status)
			return status;
	}
	if (arg == FAH_ARG_HELP)
		return -1;
	if (arg == FAH_ARG_ERROR)
		return FAH_STATUS_USAGE;
	if (arg == FAH_ARG_OPERAND)
		a.at--;
	if (a.at >= argc)
		return fah_fail("record: which command? fixingahole record [OPTIONS] -- COMMAND "
				"[ARGUMENTS]");
	job->argv = argv + a.at; /* it ends as main's does */
	return 0;
}

static int run(const struct job *job, struct fah_progress *progress, struct fah_run_result *result)
{
	char cwd[PATH_BYTES], script[PATH_MAX] = "";
	const char *file;
	/* clang-format off */
	const char *meta[] = {
		"command", job->words,
		"cwd", cwd,
		"root", cwd,
		"script", script,
		"kill", job->kill ? "asked" : NULL,
		NULL,
	};
	/* clang-format on */
	struct fah_run_options opt = {
		.argv = job->argv,
		.program = job->program,
		.capture_path = job->output.capture,
		.add_pid = job->output.add_pid,
		.rate = job->rate,
		.clock = job->clock,
		.heap = job->heap.memory,
		.heap_interval = fah_heap_interval(&job->heap, "record"),
		.budget = job->budget,
		.duration = job->duration,
		.test_hz = fah_invoke_test_rate(),
		.stop = &interrupts,
		.progress = fah_progress_show,
		.progress_ctx = progress,
		.meta = meta,
	};
	int err;

	if (!getcwd(cwd, sizeof(cwd)))
		cwd[0] = 0;
	fah_subject(job->argv, &file);
	if (file && !realpath(file, script))
		script[0] = 0;
	fah_outlive(SIGPIPE);
	err = fah_run(&opt, result);
	fah_progress_erase(progress);
	if (err < 0)
		return fah_fail_err(err, "cannot record to %s", result->capture);
	if (result->start_errno) {
		errno = result->start_errno;
		fah_fail_err(FAH_ERR_SYS, "cannot start %s", job->program);
		return FAH_STATUS_NOT_STARTED;
	}
	return 0;
}

/*
 * The result is written when the recording ends, whatever the program does then (an export to
 * stdout waits for it: that is where it writes). Into a file or a pipe nothing of ours goes as long
 * as the program may write there.
 */
static void close_recording(struct job *job, struct fah_run_result *result)
{
	_cleanup_(fah_freep) char *text = NULL;
	size_t len = 0;
	FILE *words = open_memstream(&text, &len);
	bool at_once = isatty(STDERR_FILENO) && !job->output.to_stdout;

	if (!words) {
		fah_fail_err(FAH_ERR_NOMEM, "record");
		return fah_run_wait(result, job->kill);
	}
	if (job->output.to_stdout)
		fah_run_wait(result, job->kill);
	fah_record_output_finish(&job->output, result, words);
	fclose(words);
	if (at_once && !job->quiet && text)
		fputs(text, stderr);
	fah_run_wait(result, job->kill);
	if (!at_once && !job->quiet && text)
		fputs(text, stderr);
}

/* Neither the program nor its script is to be replaced by the result. */
static int check_apart(const struct job *job)
{
	const char *outputs[] = {job->output.export_path,
				 job->output.add_pid ? "" : job->output.capture};
	const char *script;
	int status = 0;

	fah_subject(job->argv, &script);
	for (size_t i = 0; i < 2 && !status; i++) {
		status = fah_output_apart("record: --output", outputs[i], job->program);
		if (!status)
			status = fah_output_apart("record: --output", outputs[i], script);
	}
	return status;
}

static int cmd_record(const struct fah_command *cmd, int argc, char **argv)
{
	struct job job = {.output.view = FAH_VIEW_INIT};
	_cleanup_(fah_freep) char *words = NULL;
	char name[NAME_MAX_BYTES];
	struct fah_progress progress;
	struct fah_run_result result;
	int status = parse(&job, cmd, argc, argv);

	if (status)
		return status < 0 ? FAH_STATUS_OK : status;
	fah_subject_name(job.argv, name, sizeof(name));
	status = fah_record_output_set(&job.output, name);
	if (!status)
		status = fah_invoke_find(job.argv[0], job.program, sizeof(job.program));
	if (!status)
		status = check_apart(&job);
	if (status)
		return status;
	job.words = words = fah_invoke_words(cmd, argc, argv);
	fah_progress_init(&progress, !job.quiet);
	watch_interrupts();
	status = run(&job, &progress, &result);
	if (status)
		return status;
	close_recording(&job, &result);
	return fah_invoke_status(result.wait_status);
}

static const char *const examples[] = {
	"fixingahole record -- python script.py",
	"record to script-<pid>.fah",
	"fixingahole record -o x.prof --native --format speedscope -- python script.py",
	"for https://www.speedscope.app",
	"fixingahole record -o run.fah -r 1khz -d 30 -- python server.py",
	"the first 30 seconds, a thousand samples a second",
	NULL,
};

const struct fah_command fah_cmd_record = {
	.name = "record",
	.usage = "[OPTIONS] -- COMMAND [ARGUMENTS]",
	.summary = "record a command and its children, for flame graphs and other views",
	.description =
		"Runs any command and samples all Python processes in it while they run: Python, "
		"native and system code, and what threads wait for. The options are those of "
		"py-spy record, but for one thing: children are always recorded and shown, also "
		"without -s, which tells processes apart.\n\n"
		"The result is a capture, for every view and export later; with --format, or a "
		"FILE whose name ends as a format's files do, an export, and the capture only with "
		"--keep. Native frames, waiting, threads and processes are always recorded: -n, "
		"-t, "
		"-s, -g, -i, -F and --only say what an export shows.\n\n"
		"The command keeps its input, output, signals and exit status; nothing of ours is "
		"printed to stdout. On a terminal a line on stderr says how it goes, while the "
		"program writes nothing.\n\n"
		"Ctrl-C ends the recording and writes it; the program gets it too, and ends or "
		"goes on. A second Ctrl-C ends fixingahole at once. With --duration the recording "
		"ends, and the program goes on (--kill: it is ended, by SIGTERM and, 5 seconds "
		"later, by SIGKILL).",
	.options = options,
	.formats = true,
	.examples = examples,
	.run = cmd_record,
};
