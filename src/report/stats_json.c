/* stats_json.c - function_stats.json, for programs; doc/stats.md says what each key is. */
#include "report/stats.h"

#include "base/json.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* "2026-11-15T22:40:00Z"; null where it is not known. */
static void put_date(struct fah_json *j, const char *key, uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[32];
	struct tm tm;

	fah_json_key(j, key);
	if (!ns || !gmtime_r(&seconds, &tm)) {
		fah_json_null(j);
		return;
	}
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	fah_json_str(j, text);
}

static void put_text(struct fah_json *j, const char *key, const char *text)
{
	fah_json_key(j, key);
	fah_json_str(j, text && *text ? text : NULL);
}

static void put_stat(struct fah_json *j, const char *key, const struct fah_stat *s)
{
	fah_json_key(j, key);
	fah_json_begin_object(j);
	fah_json_put_double(j, "mean", s->mean);
	fah_json_put_double(j, "sd", s->sd);
	fah_json_put_double(j, "min", s->min);
	fah_json_put_double(j, "max", s->max);
	fah_json_end_object(j);
}

/* Files stand one a line. */
static void put_files(struct fah_json *j, const char *lines)
{
	fah_json_begin_array(j);
	while (*lines) {
		size_t n = strcspn(lines, "\n");

		fah_json_string(j, lines, n);
		lines += n + (lines[n] == '\n');
	}
	fah_json_end_array(j);
}

static void put_git(struct fah_json *j, const struct fah_stats_run *run)
{
	fah_json_key(j, "git");
	if (!run || !*run->git_commit) {
		fah_json_null(j);
		return;
	}
	fah_json_begin_object(j);
	put_text(j, "commit", run->git_commit);
	put_text(j, "branch", run->git_branch);
	fah_json_key(j, "dirty_files");
	put_files(j, run->git_dirty);
	fah_json_end_object(j);
}

static void put_run(struct fah_json *j, const struct fah_stats_run *run)
{
	static const char *const left[] = {[FAH_STATS_CUT] = "no end",
					   [FAH_STATS_EMPTY] = "no sample",
					   [FAH_STATS_FAILED] = "failed"};
	int status = run->wait_status;

	fah_json_begin_object(j);
	put_text(j, "capture", run->path);
	put_date(j, "utc_date", run->start_ns);
	fah_json_put_double(j, "wall_s", run->wall_s);
	fah_json_key(j, "status");
	fah_json_i64(j, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	put_text(j, "git_commit", run->git_commit);
	put_text(j, "left_out", run->left == FAH_STATS_USED ? NULL : left[run->left]);
	fah_json_end_object(j);
}

static void put_function(struct fah_json *j, const struct fah_stats_function *f)
{
	fah_json_begin_object(j);
	put_text(j, "file", f->file);
	put_text(j, "name", f->name);
	fah_json_put_u64(j, "line", f->line);
	fah_json_put_u64(j, "n", f->n);
	put_stat(j, "seconds", &f->seconds);
	put_stat(j, "share", &f->share);
	fah_json_put_double(j, "sampling_sd", f->sampling_sd);
	fah_json_put_bool(j, "unstable", f->unstable);
	fah_json_end_object(j);
}

static void put_program(struct fah_json *j, const struct fah_stats *s, uint32_t id,
			const struct fah_stats_program *program)
{
	const struct fah_stats_run *last = NULL;
	uint32_t v = program->python_version;
	char python[32] = "";
	size_t n;
	const struct fah_stats_run *runs = fah_stats_runs(s, &n);

	for (size_t i = 0; i < n; i++)
		if (runs[i].program == id && runs[i].left == FAH_STATS_USED)
			last = &runs[i];
	if (v)
		snprintf(python, sizeof(python), "%u.%u.%u", v >> 24, v >> 16 & 255, v >> 8 & 255);
	fah_json_begin_object(j);
	put_text(j, "program", program->name);
	put_text(j, "python", python);
	put_git(j, last);
	fah_json_put_u64(j, "n", program->n);
	put_stat(j, "wall_s", &program->wall_s);
	fah_json_key(j, "runs");
	fah_json_begin_array(j);
	for (size_t i = 0; i < n; i++)
		if (runs[i].program == id)
			put_run(j, &runs[i]);
	fah_json_end_array(j);
	fah_json_key(j, "functions");
	fah_json_begin_array(j);
	for (size_t i = 0; i < program->n_functions; i++)
		put_function(j, &program->functions[i]);
	fah_json_end_array(j);
	fah_json_end_object(j);
}

int fah_report_stats_json(FILE *out, const struct fah_stats *s, uint64_t made_ns)
{
	struct fah_json j;
	size_t n;
	const struct fah_stats_program *programs = fah_stats_programs(s, &n);

	fah_json_init(&j, out);
	fah_json_begin_object(&j);
	put_text(&j, "tool", "fixingahole " FAH_VERSION);
	put_date(&j, "utc_date", made_ns);
	fah_json_key(&j, "programs");
	fah_json_begin_array(&j);
	for (size_t i = 0; i < n; i++)
		put_program(&j, s, (uint32_t)i, &programs[i]);
	fah_json_end_array(&j);
	fah_json_end_object(&j);
	return fah_json_finish(&j);
}
