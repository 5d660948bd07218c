/*
 * exact_run.c - see exact_run.h.
 *
 * A sample now and then is taken too: not for its own sake, but so that what the capture says of
 * threads and processes is as in any other.
 */
#include "cli/exact_run.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "capture/reader.h"
#include "cli/invoke.h"
#include "cli/open.h"
#include "cli/python.h"
#include "core/err.h"
#include "core/segment.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINES_HZ 5.0
#define CALLS_HZ 250.0 /* what instructions take longer is known by samples: agent/exact_slow.c */

int fah_exact_parse(struct fah_exact_job *job, const struct fah_command *cmd, int argc, char **argv,
		    int (*take)(void *ctx, int option, const char *value), void *ctx)
{
	struct fah_args a;
	int arg = 0, status;

	fah_args_init(&a, cmd, argc, argv);
	while (!job->file && !job->module && !job->code) {
		arg = fah_args_next(&a);
		if (arg == FAH_ARG_HELP)
			return -1;
		if (arg == FAH_ARG_ERROR)
			return FAH_STATUS_USAGE;
		if (arg == FAH_ARG_DASHES && a.at < argc)
			job->file = argv[a.at++];
		else if (arg == FAH_ARG_OPERAND)
			job->file = a.value;
		else if (arg == FAH_EXACT_OPT_MODULE)
			job->module = a.value;
		else if (arg == FAH_EXACT_OPT_CODE)
			job->code = a.value;
		else if (arg == FAH_EXACT_OPT_PYTHON)
			job->python = a.value;
		else if (arg <= 0)
			return fah_fail("%s: which script? fixingahole %s [OPTIONS] FILE (or -m "
					"MODULE, -c CODE)",
					cmd->name, cmd->name);
		else if ((status = take(ctx, arg, a.value)))
			return status;
	}
	job->n_rest = argc - a.at;
	job->rest = argv + a.at;
	return 0;
}

static int check_file(const struct fah_exact_job *job)
{
	struct stat st;

	if (!job->file)
		return 0;
	if (stat(job->file, &st) < 0)
		return fah_fail("%s: %s: %s", job->name, job->file, strerror(errno));
	/* a folder with a __main__.py is a program, and Python says of others what they lack */
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return fah_fail("%s: %s is no file", job->name, job->file);
	return 0;
}

static char **program_argv(const struct fah_exact_job *job, const char *python)
{
	char **argv = calloc((size_t)job->n_rest + 4, sizeof(*argv));
	int n = 0;

	if (!argv)
		return NULL;
	argv[n++] = (char *)(uintptr_t)python;
	if (job->module || job->code)
		argv[n++] = (char *)(uintptr_t)(job->module ? "-m" : "-c");
	argv[n++] = (char *)(uintptr_t)(job->module ? job->module
					: job->code ? job->code
						    : job->file);
	for (int i = 0; i < job->n_rest; i++)
		argv[n++] = job->rest[i];
	return argv;
}

/* A folder of our own for the capture, which goes again. */
static int temporary(char *dir, size_t cap)
{
	const char *base = getenv("TMPDIR");

	if (snprintf(dir, cap, "%s/fixingahole-calls-XXXXXX", base && *base ? base : "/tmp") >=
		    (int)cap ||
	    !mkdtemp(dir))
		return fah_fail_err(FAH_ERR_SYS, "cannot make a folder in %s",
				    base && *base ? base : "/tmp");
	return 0;
}

static void load(const struct fah_exact_job *job, struct fah_exact_run *ret)
{
	struct fah_reader *reader = NULL;
	int err = fah_reader_new(ret->result.capture, &reader);

	if (err == 0)
		err = fah_profile_load(reader, &ret->profile);
	if (err < 0)
		fah_fail_capture(err, job->name, ret->result.capture, ret->result.capture);
	fah_reader_free(reader);
}

int fah_exact_run(const struct fah_exact_job *job, struct fah_exact_run *ret)
{
	char python[PATH_MAX], cwd[PATH_MAX], script[PATH_MAX] = "", dir[PATH_MAX] = "",
					      path[PATH_MAX + 32];
	_cleanup_(fah_freep) char **argv = NULL;
	/* clang-format off */
	const char *meta[] = {
		"command", job->words,
		"cwd", cwd,
		"root", cwd,
		"script", script,
		NULL,
	};
	/* clang-format on */
	struct fah_run_options opt = {
		.rate = job->lines ? LINES_HZ : CALLS_HZ,
		.clock = FAH_CLOCK_THREAD_CPU,
		.exact = job->exact,
		.lines = job->lines,
		.meta = meta,
		.capture_path = job->capture,
	};
	int status = check_file(job), err;

	if (!status)
		status = fah_python_choose(job->python, python, sizeof(python));
	if (!status && !job->capture) {
		status = temporary(dir, sizeof(dir));
		snprintf(path, sizeof(path), "%s/calls.fah", dir);
		opt.capture_path = path;
	}
	if (status)
		return status;
	opt.argv = argv = program_argv(job, python);
	if (!argv)
		return fah_fail_err(FAH_ERR_NOMEM, "%s", job->name);
	if (!getcwd(cwd, sizeof(cwd)))
		cwd[0] = 0;
	if (job->file && !realpath(job->file, script))
		script[0] = 0;
	fah_outlive(SIGPIPE);
	err = fah_run(&opt, &ret->result);
	if (err < 0) {
		status = fah_fail_err(err, "cannot record to %s", opt.capture_path);
	} else if (ret->result.start_errno) {
		errno = ret->result.start_errno;
		fah_fail_err(FAH_ERR_SYS, "cannot start %s", python);
		status = FAH_STATUS_NOT_STARTED;
	} else {
		load(job, ret);
	}
	if (dir[0]) {
		unlink(path);
		rmdir(dir);
	}
	return status;
}

void fah_exact_run_release(struct fah_exact_run *r)
{
	fah_profile_free(r->profile);
	r->profile = NULL;
}
