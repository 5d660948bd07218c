/*
 * inspect.c - what is in a capture, in words; on request every record.
 *
 * All numbers come from the model, so that they are those of the other views; what is missing comes
 * also from the reader. Text from the capture is made safe for a terminal.
 */
#include "report/inspect.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "capture/text.h"
#include "capture/words.h"
#include "core/err.h"
#include "core/segment.h"
#include "model/profile.h"
#include "report/health.h"
#include "report/loops.h"
#include "report/threads.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define LABEL "%-11s"
#define SHOWN_S 0.0005 /* less is 0.000 */

FAH_DEFINE_FREEP(struct fah_reader *, fah_reader_free)
FAH_DEFINE_FREEP(struct fah_profile *, fah_profile_free)

static void add_text(struct fah_strbuf *out, const char *s)
{
	fah_strbuf_add_printable(out, s, strlen(s));
}

/* "1 sample", "2,345 samples" */
static void add_count(struct fah_strbuf *out, uint64_t n, const char *what)
{
	fah_strbuf_addf(out, "%s %s%s", fah_num_count(n).s, what, n == 1 ? "" : "s");
}

static void say_file(struct fah_strbuf *out, const struct fah_reader *r,
		     const struct fah_reader_state *state)
{
	fah_strbuf_addf(out, LABEL, "Capture");
	add_text(out, fah_basename(fah_reader_path(r)));
	fah_strbuf_addf(out, ", %s", fah_num_bytes(state->good_bytes + state->lost_bytes).s);
	if (fah_reader_version(r))
		fah_strbuf_addf(out, ", format version %u", fah_reader_version(r));
	fah_strbuf_addc(out, '\n');
}

static void say_meta(struct fah_strbuf *out, const struct fah_profile *p, const char *key,
		     const char *label)
{
	const char *value = fah_profile_meta(p, key);

	if (!value)
		return;
	fah_strbuf_addf(out, LABEL, label);
	add_text(out, value);
	fah_strbuf_addc(out, '\n');
}

static void say_command(struct fah_strbuf *out, const struct fah_profile *p)
{
	const struct fah_process *processes;
	size_t n;

	processes = fah_profile_processes(p, &n);
	if (fah_profile_meta(p, "command")) {
		say_meta(out, p, "command", "Command");
	} else if (n) {
		fah_strbuf_addf(out, LABEL, "Command");
		add_text(out, processes[0].cmdline);
		fah_strbuf_addc(out, '\n');
	}
	say_meta(out, p, "cwd", "Folder");
	say_meta(out, p, "tool", "Made by");
}

static void say_start(struct fah_strbuf *out, const struct fah_profile *p)
{
	time_t t = (time_t)(fah_profile_count(p, "start_real_ns") / 1000000000u);
	struct tm tm;

	if (fah_profile_meta(p, "start_real_ns") && gmtime_r(&t, &tm))
		fah_strbuf_addf(out, LABEL "%04d-%02d-%02d %02d:%02d:%02d UTC\n", "Started",
				tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
				tm.tm_sec);
}

static void say_end(struct fah_strbuf *out, const struct fah_profile *p)
{
	const struct fah_totals *t = fah_profile_totals(p);
	const char *stopped_by = fah_profile_meta(p, "stopped_by");

	fah_strbuf_addf(out, LABEL, "Ended");
	if (!t->complete)
		fah_strbuf_addf(out, "not recorded; the last record is %s after the start\n",
				fah_num_seconds(t->wall_s).s);
	else if (stopped_by)
		fah_strbuf_addf(out, "by %s, after %s; the program %s\n",
				fah_stopped_words(stopped_by), fah_num_seconds(t->wall_s).s,
				fah_stopped_then(fah_profile_meta(p, "kill")));
	else if (WIFSIGNALED(t->wait_status))
		fah_strbuf_addf(out, "by signal %d (%s), after %s\n", WTERMSIG(t->wait_status),
				strsignal(WTERMSIG(t->wait_status)), fah_num_seconds(t->wall_s).s);
	else
		fah_strbuf_addf(out, "with status %d, after %s\n", WEXITSTATUS(t->wait_status),
				fah_num_seconds(t->wall_s).s);
	fah_strbuf_addf(out, LABEL "%s; max RSS %s\n", "CPU", fah_num_seconds(t->cpu_s).s,
			t->max_rss_bytes ? fah_num_bytes(t->max_rss_bytes).s : "unknown");
}

static void say_clock(struct fah_strbuf *out, const struct fah_profile *p)
{
	const struct fah_totals *t = fah_profile_totals(p);
	size_t n;

	fah_profile_processes(p, &n);
	if (n) {
		fah_strbuf_addf(out, LABEL, "Clock");
		fah_report_clock(out, p);
		fah_report_caveat(out, ". ", p);
		fah_strbuf_addc(out, '\n');
	}
	fah_strbuf_addf(out, LABEL, "Rate");
	if (t->rate_asked > 0)
		fah_strbuf_addf(out, "%s asked, ", fah_num_hz(t->rate_asked).s);
	if (t->rate_reached > 0)
		fah_strbuf_addf(out, "%s reached", fah_num_hz(t->rate_reached).s);
	else
		fah_strbuf_adds(out, t->samples ? "too few samples to say what was reached"
						: "none reached: no sample was taken");
	fah_report_lowered(out, "; ", t);
	fah_strbuf_addc(out, '\n');
}

static void say_samples(struct fah_strbuf *out, const struct fah_profile *p)
{
	const struct fah_totals *t = fah_profile_totals(p);
	size_t n_threads;
	unsigned i;

	fah_profile_threads(p, &n_threads);
	fah_strbuf_addf(out, LABEL, "Samples");
	add_count(out, t->samples, "sample");
	fah_strbuf_adds(out, " of ");
	add_count(out, n_threads, "thread");
	if (t->recovered)
		fah_strbuf_addf(out, "; in %s the newest frame was half made and is left out",
				fah_num_count(t->recovered).s);
	if (t->truncated)
		fah_strbuf_addf(out, "; in %s outer frames are left out",
				fah_num_count(t->truncated).s);
	if (t->in_jit)
		fah_strbuf_addf(out, "; %s in code of CPython's JIT, where lines are rougher",
				fah_num_count(t->in_jit).s);
	fah_strbuf_addf(out, "\n" LABEL, "Dropped");
	add_count(out, t->drops, "sample");
	if (t->drops)
		fah_strbuf_addf(
			out, ", %s of all",
			fah_num_percent((double)t->drops / (double)(t->drops + t->samples)).s);
	fah_strbuf_addc(out, '\n');
	for (i = 0; i < FAH_DROPS_MAX; i++)
		if (t->drops_by[i])
			fah_strbuf_addf(out, "  %7s  %s\n", fah_num_count(t->drops_by[i]).s,
					fah_drop_words(i));
}

static void add_python(struct fah_strbuf *out, uint32_t hex)
{
	unsigned level = hex >> 4 & 15, serial = hex & 15;

	fah_strbuf_addf(out, "CPython %u.%u.%u", hex >> 24, hex >> 16 & 255, hex >> 8 & 255);
	if (level != 15)
		fah_strbuf_addf(out, "%s%u", level == 10 ? "a" : level == 11 ? "b" : "rc", serial);
}

static const char *end_words(const struct fah_process *process)
{
	/* A status of zero with a Python that was ready: no record says how it ended. */
	if (process->status == FAH_AGENT_STARTING && process->python_version)
		return "its end is not in the capture";
	return fah_status_words(process->status);
}

static void say_processes(struct fah_strbuf *out, const struct fah_profile *p)
{
	const struct fah_process *processes;
	size_t n, i;

	processes = fah_profile_processes(p, &n);
	fah_strbuf_addf(out, LABEL "%s\n", "Processes", fah_num_count(n).s);
	for (i = 0; i < n; i++) {
		const struct fah_process *process = &processes[i];

		fah_strbuf_addf(out, "  %7u  ", process->pid);
		if (process->python_version)
			add_python(out, process->python_version);
		else
			fah_strbuf_adds(out, "no Python yet");
		if (i)
			fah_strbuf_addf(out, ", %s by %u", process->forked ? "forked" : "started",
					process->ppid);
		fah_strbuf_addf(out, ", %s", end_words(process));
		if (*process->reason) {
			fah_strbuf_adds(out, " (");
			add_text(out, process->reason);
			fah_strbuf_addc(out, ')');
		}
		if (*process->cmdline) {
			fah_strbuf_adds(out, ": ");
			add_text(out, process->cmdline);
		}
		fah_strbuf_addc(out, '\n');
	}
}

static int say_threads(struct fah_strbuf *out, const struct fah_profile *p)
{
	size_t n;

	fah_profile_threads(p, &n);
	fah_strbuf_addf(out, LABEL "%s\n", "Threads", fah_num_count(n).s);
	return fah_report_threads(out, p);
}

/* The parts of the run: they add up to its wall time. */
static void say_time(struct fah_strbuf *out, const struct fah_totals *t)
{
	fah_strbuf_addf(out, LABEL "%s in which a thread ran", "Wall time",
			fah_num_seconds(t->ran_s).s);
	if (t->has_waits)
		fah_strbuf_addf(out, ", %s in which the main thread waited",
				fah_num_seconds(t->waited_s).s);
	if (t->ready_s >= SHOWN_S)
		fah_strbuf_addf(out, ", %s in which none ran for want of a core",
				fah_num_seconds(t->ready_s).s);
	if (t->ready_s - t->ready_idle_s >= SHOWN_S)
		fah_strbuf_addf(out, " (%s of it in known lines)",
				fah_num_seconds(t->ready_s - t->ready_idle_s).s);
	fah_strbuf_addf(out, ", %s of which nothing is known\n", fah_num_seconds(t->unknown_s).s);
}

/* Loops whose iterations the program marked, where there are any. */
static void say_loops(struct fah_strbuf *out, const struct fah_profile *p)
{
	size_t n;
	const struct fah_loop *loops = fah_profile_loops(p, &n);

	if (n)
		fah_strbuf_addf(out, LABEL "%s\n", "Loops", fah_num_count(n).s);
	for (size_t i = 0; i < n; i++) {
		fah_strbuf_adds(out, "  ");
		fah_report_loop(out, &loops[i], "+-");
		fah_strbuf_addc(out, '\n');
	}
}

/* One line each; "nothing" where there is none. */
static void say_missing(struct fah_strbuf *out, const struct fah_profile *p,
			const struct fah_reader_state *state)
{
	const struct fah_totals *t = fah_profile_totals(p);
	uint64_t unwritten = t->lost_bytes - state->lost_bytes;
	size_t nothing;

	fah_strbuf_adds(out, "Missing");
	nothing = out->len;
	if (!t->complete)
		fah_strbuf_adds(out, "\n  the end of the run: the profiler was stopped before it, "
				     "or the file is cut");
	else if (state->partial)
		fah_strbuf_adds(out, "\n  its name: the file is whole but was not renamed");
	if (state->lost_bytes)
		fah_strbuf_addf(out, "\n  the last %s, from byte %" PRIu64 " on: %s",
				fah_num_bytes(state->lost_bytes).s, state->good_bytes,
				state->cut ? "cut in the middle of a record" : "damaged");
	if (t->lost_records) {
		fah_strbuf_adds(out, "\n  ");
		add_count(out, t->lost_records, "record");
		fah_strbuf_addf(out, " (%s) for which the disk had no room",
				fah_num_bytes(unwritten).s);
	}
	if (t->samples_lost) {
		fah_strbuf_adds(out, "\n  ");
		add_count(out, t->samples_lost, "sample");
		fah_strbuf_adds(out, " that the program took but the capture does not have");
	}
	if (t->unsampled_threads) {
		fah_strbuf_adds(out, "\n  samples of ");
		add_count(out, t->unsampled_threads, "thread");
		fah_strbuf_adds(out, " that used CPU");
	}
	if (t->bad_records) {
		fah_strbuf_adds(out, "\n  ");
		add_count(out, t->bad_records, "record");
		fah_strbuf_adds(out, " with contents that are not possible");
	}
	if (out->len == nothing)
		fah_strbuf_adds(out, "    nothing");
	fah_strbuf_addc(out, '\n');
}

static int print_records(FILE *out, struct fah_reader *r)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;
	struct fah_text text = {0};
	struct fah_record rec;

	fputc('\n', out);
	fah_reader_rewind(r);
	while (fah_reader_next(r, &rec) > 0) {
		fah_strbuf_truncate(&sb, 0);
		fah_text_record(&text, &rec, &sb);
		fwrite(fah_strbuf_str(&sb), 1, sb.len, out);
	}
	return sb.failed ? FAH_ERR_NOMEM : 0;
}

int fah_report_inspect(FILE *out, const char *path, const struct fah_inspect_options *o)
{
	_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
	_cleanup_(fah_profile_freep) struct fah_profile *p = NULL;
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;
	struct fah_reader_state state;
	int err;

	err = fah_reader_new(path, &r);
	if (err < 0)
		return err;
	err = fah_profile_load(r, &p);
	if (err < 0)
		return err;
	fah_reader_state(r, &state);
	say_file(&sb, r, &state);
	say_command(&sb, p);
	say_start(&sb, p);
	say_end(&sb, p);
	say_time(&sb, fah_profile_totals(p));
	say_clock(&sb, p);
	say_samples(&sb, p);
	say_processes(&sb, p);
	err = say_threads(&sb, p);
	if (err < 0)
		return err;
	say_loops(&sb, p);
	say_missing(&sb, p, &state);
	if (o->health) {
		fah_strbuf_addc(&sb, '\n');
		fah_report_health(&sb, p);
	}
	if (sb.failed)
		return FAH_ERR_NOMEM;
	fwrite(sb.p, 1, sb.len, out);
	if (o->records) {
		err = print_records(out, r);
		if (err < 0)
			return err;
	}
	return fflush(out) || ferror(out) ? FAH_ERR_SYS : 0;
}
