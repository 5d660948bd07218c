/* lines_result.c - see lines_result.h. */
#include "cli/lines_result.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "cli/invoke.h"
#include "cli/open.h"
#include "cli/shown.h"
#include "core/err.h"
#include "core/segment.h"
#include "export/lprof.h"
#include "import/lprof.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NANOSECOND 1e-9

int fah_lines_of(struct fah_linehits *ret, const char *command, const struct fah_profile *p,
		 struct fah_linehits_state *ret_state)
{
	int err;

	fah_linehits_init(ret, NANOSECOND);
	err = fah_linehits_load(p, ret, ret_state);
	return err < 0 ? fah_fail_err(err, "%s", command) : 0;
}

static int open_capture(struct fah_linehits *ret, const char *command, const char *path)
{
	_cleanup_(fah_opened_release) struct fah_opened opened = {0};
	struct fah_linehits_state state;
	int status = fah_open_capture_time(&opened, command, path);

	if (!status)
		status = fah_lines_of(ret, command, opened.profile, &state);
	if (status || ret->n_functions)
		return status;
	return fah_fail("%s: %s has no lines that were told one by one; fixingahole lines records "
			"them",
			command, path);
}

int fah_lines_open(struct fah_linehits *ret, const char *command, const char *path)
{
	_cleanup_(fah_freep) char *data = NULL;
	size_t len = 0;
	int err = fah_file_read(path, FAH_LPROF_MAX, &data, &len);

	fah_linehits_init(ret, NANOSECOND);
	if (err == FAH_ERR_SYS && errno != EISDIR)
		return fah_fail_err(err, "%s: %s", command, path);
	if (err == 0 && len && (uint8_t)data[0] == 0x80) { /* a pickle */
		err = fah_import_lprof(data, len, ret);
		return err == FAH_ERR_FORMAT
			       ? fah_fail("%s: %s is no file of line_profiler's", command, path)
		       : err < 0 ? fah_fail_err(err, "%s: %s", command, path)
				 : 0;
	}
	return open_capture(ret, command, path);
}

int fah_lines_parse_unit(const char *command, const char *text, double *ret)
{
	char *end;
	double unit = strtod(text, &end);

	if (end == text || *end || !(unit > 0) || unit > 1e9)
		return fah_fail("%s: --unit %s: seconds are needed, like 1e-6", command, text);
	*ret = unit;
	return 0;
}

int fah_lines_save(const struct fah_linehits *h, const char *path)
{
	_cleanup_(fah_outfile_abort) struct fah_outfile of = {0};
	int err = fah_outfile_open(&of, path);

	if (err == 0)
		err = fah_export_lprof(of.f, h);
	if (err == 0)
		err = fah_outfile_commit(&of);
	return err < 0 ? fah_fail_err(err, "cannot write %s", path) : 0;
}

int fah_lines_print(const struct fah_linehits *h, const char *command,
		    const struct fah_linehits_options *how)
{
	struct fah_report_options o = {0};
	int err;

	fah_shown_on_stdout(&o);
	err = fah_report_linehits(stdout, h, how, &o);
	return err < 0 ? fah_fail_err(err, "%s", command) : 0;
}

/* Which of its processes says why it was not recorded; NULL: none. */
static const struct fah_process *refusal(const struct fah_profile *p)
{
	size_t n;
	const struct fah_process *all = fah_profile_processes(p, &n);

	for (size_t i = 0; i < n; i++)
		if (all[i].reason[0])
			return &all[i];
	return NULL;
}

static void say_refused(const struct fah_process *process)
{
	uint32_t v = process->python_version;
	char python[32] = "";

	if (v)
		snprintf(python, sizeof(python), " by Python %u.%u.%u", v >> 24, v >> 16 & 255,
			 v >> 8 & 255);
	fah_fail("lines: no lines were told%s: %s", python, process->reason);
}

void fah_lines_say_none(const struct fah_linehits_state *state, const struct fah_profile *p,
			bool asked)
{
	const struct fah_process *refused = refusal(p);

	if (state->why[0] && !state->told)
		fah_fail("lines: no lines were told: %s", state->why);
	else if (!state->told && refused)
		say_refused(refused);
	else if (!state->told)
		fah_fail("lines: no Python program was recorded: " FAH_PYTHONS " is needed");
	else if (state->why[0])
		fah_fail("lines: of what was chosen no line was told, and not all were: %s",
			 state->why);
	else if (asked)
		fah_fail("lines: no function of that name or place ran: -f takes names as they "
			 "stand "
			 "in the code (load, Parser.feed, te*), --in a file, folder or module");
	else
		fah_fail("lines: no function was chosen: mark some with @profile, or say which: "
			 "fixingahole lines -f NAME ..., or --in FILE");
}

void fah_lines_say_result(const struct fah_linehits_state *state, const char *path, bool printed)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf name = FAH_STRBUF_INIT;
	_cleanup_(fah_strbuf_release) struct fah_strbuf quoted = FAH_STRBUF_INIT;
	_cleanup_(fah_strbuf_release) struct fah_strbuf typed = FAH_STRBUF_INIT;

	fah_strbuf_add_printable(&name, path, strlen(path));
	fah_invoke_quote(&quoted, path);
	fah_strbuf_add_printable(&typed, fah_strbuf_str(&quoted), quoted.len);
	if (state->lost_functions + state->lost_frames + state->lost_lines)
		fprintf(stderr,
			"There was no room for all: %s functions, %s calls and %s lines are "
			"missing.\n",
			fah_num_count(state->lost_functions).s, fah_num_count(state->lost_frames).s,
			fah_num_count(state->lost_lines).s);
	if (state->why[0])
		fprintf(stderr, "Not all lines were told: %s.\n", state->why);
	fprintf(stderr, "Wrote profile results to %s\n", fah_strbuf_str(&name));
	if (!printed)
		fprintf(stderr, "Inspect results with:\nfixingahole annotate %s\n",
			fah_strbuf_str(&typed));
}
