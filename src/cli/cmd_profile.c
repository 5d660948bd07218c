/*
 * cmd_profile.c - the main job: run a script, record it, say where the time went.
 *
 * The script runs as itself, unmodified and in place. Its stdout is its own; the summary follows
 * when it has ended. The exit status is the program's.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "capture/reader.h"
#include "cli/cli.h"
#include "cli/git.h"
#include "cli/heap_options.h"
#include "cli/invoke.h"
#include "cli/links.h"
#include "cli/live.h"
#include "cli/logs.h"
#include "cli/notebook.h"
#include "cli/profile_report.h"
#include "cli/progress.h"
#include "cli/python.h"
#include "cli/run_scope.h"
#include "cli/runfolder.h"
#include "cli/script.h"
#include "cli/series.h"
#include "cli/settings.h"
#include "collect/run.h"
#include "core/err.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OPT_QUIET = 1,
	OPT_OUTPUT,
	OPT_RATE,
	OPT_PYTHON,
	OPT_MODULE,
	OPT_CODE,
	OPT_BUDGET,
	OPT_CLOCK,
	OPT_CPU,
	OPT_MEMORY,
	OPT_PRECISION,
	OPT_EXACT,
	OPT_TRACE,
	OPT_NO_TRACE,
	OPT_ROOT,
	OPT_IGNORE,
	OPT_DETAILED,
	OPT_DURATION,
	OPT_OUTPUT_FILE,
	OPT_REPEAT,
	OPT_LIVE,
	OPT_LOG_LEVEL,
	OPT_NO_PLOTS,
};

static const struct fah_option options[] = {
	{OPT_QUIET, "quiet", "q", NULL, "print nothing of ours; the files are written as always"},
	{OPT_OUTPUT, "output-directory", "o", "DIR",
	 "folder for the results (default: performance, below the root)"},
	{OPT_OUTPUT_FILE, "output-file", NULL, "FILE",
	 "summary and lines into this file as well (-: print both); of a series, its table"},
	{OPT_ROOT, "root", NULL, "DIR",
	 "folder whose code is reported, and searched for FILE (default: this one)"},
	{OPT_IGNORE, "ignore", "i", "DIR",
	 "not searched nor reported, in place of the settings' own; repeatable"},
	{OPT_DETAILED, "detailed", "d", NULL,
	 "report imported modules too, not only code below the root"},
	{OPT_DURATION, "duration", NULL, "relative|absolute",
	 "percent of the run (relative, the default) or seconds"},
	{OPT_RATE, "rate", NULL, "HZ",
	 "samples per second of CPU time: 100, 250, 1khz (default: 250)"},
	FAH_CLOCK_OPTION(OPT_CLOCK),
	{OPT_BUDGET, "budget", NULL, "PERCENT",
	 "what it may cost, in percent of a core (default: see help clock)"},
	{OPT_CPU, "cpu", "c", NULL, "time, not memory (default)"},
	FAH_MEMORY_OPTION(OPT_MEMORY, "m"),
	FAH_PRECISION_OPTION(OPT_PRECISION, "p"),
	FAH_EXACT_OPTION(OPT_EXACT),
	{OPT_TRACE, "trace", "t", NULL,
	 "say where the dearest functions are called from, and how often (default)"},
	{OPT_NO_TRACE, "no-trace", "nt", NULL, "don't"},
	{OPT_REPEAT, "repeat", "r", "N",
	 "run the program N times, and say how much each function differs from run to run"},
	{OPT_LIVE, "live", NULL, "SECONDS",
	 "the summary so far, that often: in its file, and on a terminal on stderr"},
	{OPT_PYTHON, "python", NULL, "PYTHON",
	 "interpreter (default: the active virtualenv's, else python3)"},
	{OPT_MODULE, "module", NULL, "MODULE",
	 "run a module, as python -m does, in place of a file"},
	{OPT_CODE, "code", NULL, "CODE",
	 "run a piece of code, as python -c does, in place of a file"},
	FAH_LOG_LEVEL_OPTION(OPT_LOG_LEVEL),
	FAH_NO_PLOTS_OPTION(OPT_NO_PLOTS),
	{0},
};

#define REPEAT_MAX 9999u
#define MAX_COPY ((size_t)64 << 20)
#define MAX_IGNORE 256

struct job {
	const char *python_asked, *module, *code, *file;
	const char *output_file; /* NULL: only those of the run folder */
	struct fah_settings_flags flags;
	const char *ignore[MAX_IGNORE];
	struct fah_settings settings;
	bool quiet, detailed, no_trace;
	double rate, budget;
	double live;	/* seconds between summaries; 0: one at the end */
	uint32_t clock; /* enum fah_clock; 0: by the rate */
	uint32_t log_level, plots;
	struct fah_heap_options heap;
	uint64_t heap_interval;
	int n_rest;
	char **rest; /* the program's own arguments */
	char python[FAH_RUN_PATH_MAX], script[FAH_RUN_PATH_MAX];
	char name[256];		      /* of the run folder */
	char *command;		      /* as it was typed */
	struct fah_notebook notebook; /* empty where FILE is none */
	uint32_t repeat;	      /* runs */
	struct fah_git git;	      /* of a series */
};

static void job_release(struct job *job)
{
	fah_settings_release(&job->settings);
	fah_notebook_release(&job->notebook);
}

static int take_option(struct job *job, int option, const char *value)
{
	switch (option) {
	case OPT_QUIET:
		job->quiet = true;
		return 0;
	case OPT_OUTPUT:
		job->flags.output = value;
		return 0;
	case OPT_OUTPUT_FILE:
		job->output_file = value;
		return 0;
	case OPT_ROOT:
		job->flags.root = value;
		return 0;
	case OPT_IGNORE:
		if (job->flags.n_ignore == MAX_IGNORE)
			return fah_fail("profile: --ignore: at most %d times", MAX_IGNORE);
		job->ignore[job->flags.n_ignore++] = value;
		return 0;
	case OPT_DETAILED:
		job->detailed = true;
		return 0;
	case OPT_DURATION:
		job->flags.duration = value;
		return 0;
	case OPT_CPU:
	case OPT_MEMORY:
		job->heap.memory = option == OPT_MEMORY;
		return 0;
	case OPT_EXACT:
		return fah_heap_take_exact(&job->heap, "profile", value);
	case OPT_PRECISION:
		return fah_heap_take_precision(&job->heap, "profile", value);
	case OPT_TRACE:
	case OPT_NO_TRACE:
		job->no_trace = option == OPT_NO_TRACE;
		return 0;
	case OPT_RATE:
		if (!fah_parse_rate(value, &job->rate))
			return fah_fail("profile: --rate %s is no rate; 250 or 1khz are", value);
		return 0;
	case OPT_CLOCK:
		job->clock = fah_parse_clock(value);
		if (!job->clock)
			return fah_fail("profile: --clock %s: there are timer and perf", value);
		return 0;
	case OPT_BUDGET:
		if (!fah_parse_percent(value, &job->budget))
			return fah_fail("profile: --budget %s is no percentage; 1, 0.5 or 2%% are "
					"(at least 0.01, at most 100)",
					value);
		return 0;
	case OPT_REPEAT:
		if (!fah_parse_count(value, &job->repeat) || job->repeat > REPEAT_MAX)
			return fah_fail(
				"profile: --repeat %s: a number of runs is needed, like 5 (at "
				"most %u)",
				value, REPEAT_MAX);
		return 0;
	case OPT_LIVE:
		if (!fah_parse_seconds(value, &job->live) || job->live < FAH_LIVE_LEAST)
			return fah_fail("profile: --live %s: seconds between summaries are needed, "
					"like 5 (at least %g)",
					value, FAH_LIVE_LEAST);
		return 0;
	case OPT_PYTHON:
		job->python_asked = value;
		return 0;
	case OPT_LOG_LEVEL:
		return fah_logs_parse_level(value, &job->log_level);
	case OPT_NO_PLOTS:
		return fah_plots_parse(value, &job->plots);
	case OPT_MODULE:
		job->module = value;
		return 0;
	default:
		job->code = value;
		return 0;
	}
}

/*
 * Our options are ours before and after FILE; the first argument that is none of ours, or what
 * stands behind "--", begins the program's. 0, an exit status, or -1: help was printed.
 */
static int parse(struct job *job, const struct fah_command *cmd, int argc, char **argv)
{
	bool chosen = false;
	struct fah_args a;
	int arg, status;

	fah_args_init(&a, cmd, argc, argv);
	for (;;) {
		arg = chosen ? fah_args_next_known(&a) : fah_args_next(&a);
		if (arg == FAH_ARG_HELP)
			return -1;
		if (arg == FAH_ARG_ERROR)
			return FAH_STATUS_USAGE;
		if (arg == FAH_ARG_OPERAND && !chosen) {
			job->file = a.value;
		} else if (arg == FAH_ARG_OPERAND) {
			a.at--;
			break;
		} else if (arg == FAH_ARG_DASHES && !chosen && a.at < argc) {
			job->file =
				argv[a.at++]; /* profile -- FILE: a name that starts with a dash */
			break;
		} else if (arg <= 0) {
			break;
		} else {
			status = take_option(job, arg, a.value);
			if (status)
				return status;
		}
		chosen = job->file || job->module || job->code;
	}
	job->n_rest = argc - a.at;
	job->rest = argv + a.at;
	if (!job->file && !job->module && !job->code)
		return fah_fail("profile: which script? fixingahole profile FILE (or --module M, "
				"--code C)");
	if (!!job->file + !!job->module + !!job->code > 1)
		return fah_fail("profile: one of FILE, --module and --code, not several");
	return 0;
}

/* The run folder's name: the script's without .py or .ipynb, a module's, or "code". */
static void choose_name(struct job *job)
{
	const char *name = job->file ? fah_basename(job->file) : job->module ? job->module : "code";
	size_t n = strlen(name);

	if (job->file && n > 3 && !strcmp(name + n - 3, ".py"))
		n -= 3;
	else if (job->file && fah_notebook_is(name))
		n -= strlen(".ipynb");
	snprintf(job->name, sizeof(job->name), "%.*s", (int)(n < 200 ? n : 200), name);
}

/* The code as it was run, for the record; a failure here is no reason not to run. */
static void keep_copy(const struct job *job, const struct fah_runfolder *folder)
{
	const char *file = job->module && job->script[0] ? job->script : job->file;
	char path[FAH_RUN_PATH_MAX + 64];
	_cleanup_(fah_freep) char *text = NULL;
	size_t len;

	if (job->code)
		fah_file_replace(fah_runfolder_file(folder, "code.py", path), job->code,
				 strlen(job->code));
	else if (file && fah_file_read(file, MAX_COPY, &text, &len) == 0)
		fah_file_replace(fah_runfolder_file(folder, fah_basename(file), path), text, len);
}

/* The settings in force, and with them the script. 0 or a status after printing. */
static int settle(struct job *job)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf why = FAH_STRBUF_INIT;
	int err, status;

	job->flags.ignore = job->ignore;
	err = fah_settings_load(&job->settings, &job->flags, &why);
	if (err == FAH_ERR_USAGE)
		return fah_fail("%s", fah_strbuf_str(&why));
	if (err < 0)
		return fah_fail_err(err, "profile");
	if (job->file) {
		status = fah_script_choose(job->file, &job->settings, job->script,
					   sizeof(job->script));
		if (status)
			return status;
		job->file = job->script;
	}
	if (job->module && !fah_script_of_module(job->module, job->script, sizeof(job->script)))
		job->script[0] = 0;
	if (!job->output_file || !strcmp(job->output_file, "-"))
		return 0;
	err = fah_file_check_output(job->output_file);
	if (err < 0)
		return fah_fail_err(err, "--output-file %s", job->output_file);
	return fah_output_apart("profile: --output-file", job->output_file,
				job->script[0] ? job->script : NULL);
}

static char **program_argv(const struct job *job)
{
	char **argv = calloc((size_t)job->n_rest + 5, sizeof(*argv));
	int n = 0;

	if (!argv)
		return NULL;
	argv[n++] = (char *)(uintptr_t)job->python;
	if (job->module || job->code) {
		argv[n++] = (char *)(uintptr_t)(job->module ? "-m" : "-c");
		argv[n++] = (char *)(uintptr_t)(job->module ? job->module : job->code);
	} else {
		if (job->notebook.runner[0])
			argv[n++] = (char *)(uintptr_t)job->notebook.runner;
		argv[n++] = (char *)(uintptr_t)job->file;
	}
	for (int i = 0; i < job->n_rest; i++)
		argv[n++] = job->rest[i];
	return argv;
}

static int run(struct job *job, struct fah_runfolder *folder, struct fah_run_result *result)
{
	_cleanup_(fah_live_end) struct fah_live live = {0};
	struct fah_progress progress;
	char capture[FAH_RUN_PATH_MAX + 64], logs[FAH_RUN_PATH_MAX + 64],
		script[FAH_RUN_PATH_MAX] = "";
	_cleanup_(fah_freep) char **argv = program_argv(job);
	_cleanup_(fah_freep) char *ignore = fah_run_scope_ignore(&job->settings);
	_cleanup_(fah_freep) char *links =
		fah_links_find(&job->settings, job->file, getenv("PYTHONPATH"));
	_cleanup_(fah_freep) char *count = NULL;
	const char *venv = getenv("VIRTUAL_ENV");
	/* clang-format off */
	const char *meta[] = {
		"command", job->command,
		"cwd", job->settings.cwd,
		"root", job->settings.root,
		"output", folder->output,
		"ignore", ignore,
		"script", script,
		"links", links && *links ? links : NULL,
		"python", job->python,
		"detailed", job->detailed ? "yes" : NULL,
		"duration", job->settings.seconds ? "absolute" : NULL,
		"venv", venv ? venv : "",
		"trace", job->no_trace ? "no" : NULL,
		"git_commit", fah_strbuf_str(&job->git.commit),
		"git_branch", fah_strbuf_str(&job->git.branch),
		"git_dirty", fah_strbuf_str(&job->git.dirty),
		job->code ? "code" : job->file ? "file" : NULL, job->code ? job->code : job->file,
		NULL,
	};
	/* clang-format on */
	struct fah_run_options opt = {
		.argv = argv,
		.capture_path = fah_runfolder_file(folder, "profile.fah", capture),
		.rate = job->rate,
		.clock = job->clock,
		.budget = job->budget,
		.test_hz = fah_invoke_test_rate(),
		.log_level = job->log_level,
		.log_path = fah_runfolder_file(folder, FAH_LOGS_FILE, logs),
		.plots = job->plots,
		.heap = job->heap.memory,
		.heap_interval = job->heap_interval,
		.meta = fah_notebook_meta(&job->notebook, meta),
	};
	int err;

	if (!argv || !ignore || !links || !opt.meta)
		return fah_fail_err(FAH_ERR_NOMEM, "profile");
	if (job->file && !realpath(job->file, script))
		script[0] = 0;
	if (!job->no_trace)
		opt.count = count = fah_run_scope_lines(opt.meta);
	if (job->live > 0) {
		err = fah_live_begin(&live, folder, job->live, !job->quiet);
		if (err)
			return err;
		opt.progress = fah_live_tick;
		opt.progress_ctx = &live;
		opt.view_cpu_ns = &live.shared->cpu_ns;
	} else {
		fah_progress_init(&progress, !job->quiet);
		opt.progress = fah_progress_show;
		opt.progress_ctx = &progress;
	}
	fah_outlive(SIGPIPE);
	err = fah_run(&opt, result);
	if (err < 0)
		return fah_fail_err(err, "cannot record to %s", capture);
	if (result->start_errno) {
		errno = result->start_errno;
		fah_fail_err(FAH_ERR_SYS, "cannot start %s", job->python);
		return FAH_STATUS_NOT_STARTED;
	}
	return 0;
}

/* One run with all it leaves; the status to exit with. */
static int profile_once(struct job *job, struct fah_runfolder *folder,
			const struct fah_profile_shown *how)
{
	struct fah_run_result result;
	int status;

	keep_copy(job, folder);
	status = run(job, folder, &result);
	if (status) {
		fah_runfolder_remove(folder);
		return status;
	}
	fah_profile_report(folder, &result, how);
	return fah_invoke_status(result.wait_status);
}

/* Of a series: what it prints stands in its files, and in the table of all runs. */
static int one_of_many(void *job, struct fah_runfolder *folder)
{
	return profile_once(job, folder, &(struct fah_profile_shown){.quiet = true});
}

/* Of the repository that the script is in; where that is none, of the root's. */
static void read_git(struct job *job)
{
	_cleanup_(fah_freep) char *real = job->file ? realpath(job->file, NULL) : NULL;

	if (real) {
		*strrchr(real, '/') = 0;
		fah_git_read(&job->git, *real ? real : "/");
	}
	if (!job->git.commit.len) {
		fah_git_release(&job->git);
		fah_git_read(&job->git, job->settings.root);
	}
}

static int cmd_profile(const struct fah_command *cmd, int argc, char **argv)
{
	_cleanup_(job_release) struct job job = {.log_level = FAH_LOG_LEVEL_DEFAULT};
	_cleanup_(fah_freep) char *command = NULL;
	struct fah_profile_shown how;
	struct fah_runfolder folder;
	int status = parse(&job, cmd, argc, argv);

	if (status)
		return status < 0 ? FAH_STATUS_OK : status;
	if (job.rate > FAH_RATE_MAX)
		return fah_fail("profile: --rate: at most %g Hz", FAH_RATE_MAX);
	status = settle(&job);
	if (!status && job.file && fah_notebook_is(job.file))
		status = fah_notebook_open(&job.notebook, job.file);
	if (!status)
		status = fah_python_choose(job.python_asked, job.python, sizeof(job.python));
	if (status)
		return status;
	job.heap_interval = fah_heap_interval(&job.heap, "profile");
	choose_name(&job);
	job.command = command = fah_invoke_words(cmd, argc, argv);
	status = fah_runfolder_make(&folder, job.settings.output, job.name);
	if (status)
		return status;
	how = (struct fah_profile_shown){.quiet = job.quiet, .output_file = job.output_file};
	if (job.repeat < 2)
		return profile_once(&job, &folder, &how);
	read_git(&job);
	status = fah_series_run(job.repeat, &folder, &how, one_of_many, &job);
	fah_git_release(&job.git);
	return status;
}

static const char *const examples[] = {
	"fixingahole profile script.py",
	"run script.py and say where its time goes",
	"fixingahole profile -o /tmp/results script.py --size 10",
	"results elsewhere; --size 10 is the script's own",
	"fixingahole profile --detailed --ignore tests script.py",
	"imported modules too, without those below tests",
	"fixingahole profile my_new_method.ipynb",
	"the code cells of a notebook, in order",
	"fixingahole profile --module json.tool data.json",
	"a module",
	"fixingahole profile --repeat 5 script.py",
	"five runs, and a table of mean and deviation: what changes from run to run is marked",
	"fixingahole profile --live 5 script.py",
	"the summary so far every five seconds, while the script runs",
	NULL,
};

const struct fah_command fah_cmd_profile = {
	.name = "profile",
	.usage = "FILE | --module M | --code C [OPTIONS] [ARGUMENTS]",
	.summary = "run a script and say where its time goes, by function and by line",
	.description = "Runs a Python script and samples it while it runs: its threads and its "
		       "child processes, in Python, "
		       "in native code and in the kernel. Nothing has to be installed in the "
		       "script's environment.\n\n"
		       "FILE is a path, or the name of a file that is the only one of that name "
		       "below the root (.git, .venv, the output folder and ignored ones are not "
		       "searched).\n\n"
		       "When the program has ended, a summary is printed, and the folder "
		       "performance/<script>/<UTC date_time>/ "
		       "holds a copy of the code, profile_summary.txt, profile_results.txt (the "
		       "cost of each line), "
		       "profile.fah (the recording, for fixingahole inspect) and, where there were "
		       "any, logs.log (warnings and log records; the "
		       "program's own logging goes on as it is).\n\n"
		       "With --repeat each run has a folder run_1, run_2 and so on in there, and "
		       "beside them function_stats.json has the mean, deviation and extremes of "
		       "each function; a run that fails ends the series.\n\n"
		       "On a terminal a line on stderr says how it goes, once the program has "
		       "written nothing for two seconds; not with --quiet or --live, nor while the "
		       "program waits for input or has the screen to itself.\n\n"
		       "With --live the summary so far is in profile_summary.txt while the "
		       "program runs, and on a terminal also on stderr, though not with --quiet, "
		       "nor while the program waits for input or has the screen to itself. "
		       "Nothing of the program's is erased: what it reads or writes meanwhile "
		       "makes the next summary stand below. Summaries take a tenth of a core at "
		       "most, so of long recordings they come less often. With --repeat each run "
		       "has its own.\n\n"
		       "A notebook (FILE.ipynb) runs cell by cell, in its own folder, by IPython "
		       "where the environment has it; results are by cell and line.\n\n"
		       "Options may stand before and after FILE; the first argument that is none "
		       "of these, or what follows "
		       "--, belongs to the script. The exit status is the script's own.\n\n"
		       "root, output, ignore and duration may also stand in [tool.fixingahole] "
		       "of the nearest pyproject.toml that has this table, up to the repository's "
		       "root, and in FIXINGAHOLE_ROOT, FIXINGAHOLE_OUTPUT, FIXINGAHOLE_IGNORE "
		       "(folders between ':') and FIXINGAHOLE_DURATION. For each of them an option "
		       "comes before the environment, and that before the file. There, folders "
		       "are relative to root (root itself to the file's folder); those of options "
		       "to where you stand. fixingahole --version shows what is in force.",
	.options = options,
	.examples = examples,
	.run = cmd_profile,
};
