/*
 * closing.c - sentences about a run. Every report says: clock, rate asked and reached, samples,
 * drops, what the scope left out, the interval; and an empty result explains itself.
 */
#include "report/closing.h"

#include "base/number.h"
#include "capture/words.h"
#include "core/segment.h"
#include "report/health.h"
#include "report/heap.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define FEW_SAMPLES 30
#define WORTH_SAYING 0.0005 /* of the run: what rounds to 0.1 % */

static void say(struct fah_text *t, struct fah_strbuf *sb)
{
	t->failed |= sb->failed;
	fah_text_wrap(t, fah_strbuf_str(sb));
	fah_strbuf_release(sb);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

bool fah_closing_refused(struct fah_text *t, const struct fah_profile *p)
{
	bool any = false;
	size_t n;
	const struct fah_process *processes = fah_profile_processes(p, &n);

	for (size_t i = 0; i < n; i++) {
		struct fah_strbuf sb = FAH_STRBUF_INIT;
		uint32_t v = processes[i].python_version;
		bool stopped = processes[i].status == FAH_AGENT_STOPPED;

		if (processes[i].status != FAH_AGENT_REFUSED && !stopped)
			continue;
		fah_strbuf_adds(&sb, stopped ? "Profiled in part: " : "Not profiled: ");
		if (v)
			fah_strbuf_addf(&sb, "Python %u.%u.%u, ", v >> 24, v >> 16 & 255,
					v >> 8 & 255);
		fah_strbuf_addf(&sb, "process %u", processes[i].pid);
		if (*processes[i].cmdline) {
			fah_strbuf_adds(&sb, " (");
			fah_text_clean(&sb, processes[i].cmdline);
			fah_strbuf_adds(&sb, ")");
		}
		fah_strbuf_adds(&sb, ": ");
		fah_text_clean(&sb, *processes[i].reason ? processes[i].reason : "no reason given");
		fah_strbuf_adds(&sb,
				stopped ? ". It was recorded up to there and ran on, undisturbed."
					: ". It ran on, undisturbed.");
		say(t, &sb);
		any = true;
	}
	return any;
}

static bool all_refused(const struct fah_profile *p)
{
	size_t n, refused = 0;
	const struct fah_process *processes = fah_profile_processes(p, &n);

	for (size_t i = 0; i < n; i++)
		refused += processes[i].status == FAH_AGENT_REFUSED;
	return n && refused == n;
}

/* It waited more than it computed: what there is to see was recorded, and neither a longer run nor
 * a higher rate would show much else. */
static bool mostly_waited(const struct fah_totals *totals)
{
	return totals->waited_s > 0 && totals->waited_s >= totals->cpu_s;
}

static void say_mostly_waited(struct fah_text *t, const struct fah_totals *totals)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_strbuf_addf(&sb,
			"The program waited %s of %s, which is recorded. There is no sample of the "
			"rest: it used %s of CPU.",
			fah_num_seconds_short(totals->waited_s).s,
			fah_num_seconds_short(totals->wall_s).s,
			fah_num_seconds_short(totals->cpu_s).s);
	if (totals->drops)
		fah_strbuf_addf(&sb, " %s dropped.", fah_num_count(totals->drops).s);
	say(t, &sb);
}

void fah_closing_empty(struct fah_text *t, const struct fah_profile *p)
{
	const struct fah_totals *totals = fah_profile_totals(p);
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	const char *silence = fah_profile_meta(p, "silence");
	double expected = totals->cpu_s * totals->rate_asked;
	size_t n;

	if (t->o->so_far && !all_refused(p)) {
		fah_text_wrap(t, "There is no sample yet.");
		return;
	}
	if (mostly_waited(totals)) {
		say_mostly_waited(t, totals);
		return;
	}
	fah_profile_processes(p, &n);
	fah_strbuf_adds(&sb, "There is no sample to show. ");
	if (all_refused(p)) {
		fah_strbuf_adds(&sb,
				"The interpreter was not one that can be profiled (see above).");
		say(t, &sb);
		return;
	}
	fah_strbuf_addf(&sb, "The run took %s and used %s of CPU",
			fah_num_seconds(totals->wall_s).s, fah_num_seconds(totals->cpu_s).s);
	if (totals->rate_asked > 0)
		fah_strbuf_addf(&sb, "; at %s that makes about %s sample%s",
				fah_num_hz(totals->rate_asked).s,
				fah_num_count((uint64_t)(expected + 0.5)).s,
				plural((uint64_t)(expected + 0.5)));
	fah_strbuf_adds(&sb, ".");
	if (totals->waited_s > 0)
		fah_strbuf_addf(&sb, " It waited %s, which is recorded.",
				fah_num_seconds(totals->waited_s).s);
	if (totals->drops)
		fah_strbuf_addf(&sb, " %s sample%s dropped.", fah_num_count(totals->drops).s,
				totals->drops == 1 ? " was" : "s were");
	else if (!n && silence) {
		fah_strbuf_adds(&sb, " No process could be recorded: ");
		fah_text_clean(&sb, silence);
		fah_strbuf_addc(&sb, '.');
	} else if (!n)
		fah_strbuf_addf(&sb,
				" No Python interpreter announced itself: the %s ended before "
				"Python was ready, or it is not Python (" FAH_PYTHONS
				" is needed).",
				fah_profile_meta(p, "stopped_by") ? "recording" : "program");
	say(t, &sb);
	if (expected >= FEW_SAMPLES || !n)
		return;
	fah_text_wrap(
		t, "What helps: let it run longer (more input, or the work in a loop), or ask "
		   "for more samples a second with --rate (up to the kernel's tick). For code this "
		   "short exact tools say more: python -m timeit for a statement, "
		   "fixingahole calls for every call.");
}

static void say_samples(struct fah_text *t, const struct fah_totals *totals)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	uint64_t all = totals->samples + totals->drops;
	const char *between = "; ";

	fah_strbuf_addf(&sb, "Samples: %s", fah_num_count(totals->samples).s);
	if (totals->recovered)
		fah_strbuf_addf(&sb, " (%s of them recovered from a half-made frame)",
				fah_num_count(totals->recovered).s);
	fah_strbuf_addf(&sb, "; dropped %s", fah_num_count(totals->drops).s);
	if (totals->drops) {
		fah_strbuf_addf(&sb, " (%s",
				fah_share_text((double)totals->drops / (double)all, 2).s);
		for (uint32_t i = 0; i < FAH_DROPS_MAX; i++) {
			if (!totals->drops_by[i])
				continue;
			fah_strbuf_addf(&sb, "%s%s: %s", between, fah_drop_words(i),
					fah_num_count(totals->drops_by[i]).s);
			between = ", ";
		}
		fah_strbuf_adds(&sb,
				"); their time is shared out over the samples of the same thread");
	}
	fah_strbuf_adds(&sb, ".");
	say(t, &sb);
}

/* "2.0": a percentage without its sign. */
static struct fah_share points(double percent)
{
	struct fah_share text = fah_share_text(percent / 100, 1);

	text.s[strcspn(text.s, "%")] = '\0';
	return text;
}

static void say_interval(struct fah_text *t, const struct fah_totals *totals,
			 const struct fah_charges *charges)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (totals->samples < FEW_SAMPLES)
		fah_strbuf_addf(&sb, "Only %s sample%s: shares are rough. ",
				fah_num_count(totals->samples).s, plural(totals->samples));
	fah_strbuf_addf(&sb, "Interval (95%%): shares are known to %s%s points or better",
			t->g->plus_minus, points(totals->interval_points).s);
	if (charges->n_functions)
		fah_strbuf_addf(&sb, "; the largest, %s, to %s%s",
				fah_share_text(charges->functions[0].share, 1).s, t->g->plus_minus,
				points(100 * charges->functions[0].interval).s);
	fah_strbuf_adds(&sb, ".");
	say(t, &sb);
}

static void say_part(struct fah_text *t, const struct fah_totals *totals, const char *what,
		     double seconds)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!(totals->wall_s > 0) || seconds < WORTH_SAYING * totals->wall_s)
		return;
	fah_strbuf_addf(&sb, "%s: %s (%s).", what, fah_share_text(seconds / totals->wall_s, 1).s,
			fah_num_seconds_short(seconds).s);
	say(t, &sb);
}

static void say_unsampled(struct fah_text *t, const struct fah_totals *totals)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!totals->unsampled_threads || totals->unsampled_s < WORTH_SAYING * totals->wall_s)
		return;
	fah_strbuf_addf(
		&sb,
		"Unsampled: %u thread%s used %s (%s) without one sample: too short, with all "
		"signals blocked, or without a timer (ulimit -i).",
		totals->unsampled_threads, plural(totals->unsampled_threads),
		fah_share_text(totals->unsampled_s / totals->wall_s, 1).s,
		fah_num_seconds_short(totals->unsampled_s).s);
	say(t, &sb);
}

void fah_closing_caveat(struct fah_text *t, const struct fah_profile *p)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_report_caveat(&sb, "", p);
	if (sb.len || sb.failed)
		say(t, &sb);
}

/* Another tool's file: what it says is shown, what it does not say is not made up. */
static void say_imported(struct fah_text *t, const struct fah_profile *p,
			 const struct fah_charges *charges)
{
	const struct fah_totals *totals = fah_profile_totals(p);
	uint64_t samples = fah_profile_count(p, "imported_samples");
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_strbuf_adds(&sb, "Imported from a profile of ");
	fah_text_clean(&sb, fah_profile_meta(p, "imported"));
	fah_strbuf_adds(&sb, ", whose percentages these are; waiting is in them, as system time.");
	if (samples)
		fah_strbuf_addf(&sb, " It took %s sample%s.", fah_num_count(samples).s,
				plural(samples));
	else
		fah_strbuf_adds(&sb,
				" It does not say how many samples it took: the interval is that "
				"of one each 10 ms, its default.");
	say(t, &sb);
	say_interval(t, totals, charges);
	say_part(t, totals, "Code outside the folders reported", fah_times_sum(&charges->outside));
	fah_closing_end(t, p);
}

/* Frames keep the instruction that they were at when last one could fail. */
static void say_jit(struct fah_text *t, const struct fah_profile *p)
{
	size_t n;
	const struct fah_process *processes = fah_profile_processes(p, &n);
	const struct fah_totals *totals = fah_profile_totals(p);
	double share = totals->samples ? (double)totals->in_jit / (double)totals->samples : 0;
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	bool uncounted = false;

	for (size_t i = 0; i < n; i++)
		uncounted |= processes[i].python_version >> 16 == 0x030e;
	if (share < WORTH_SAYING)
		return;
	fah_strbuf_addf(
		&sb,
		"Code made by CPython's JIT: %s of the samples; functions are as sure there as "
		"elsewhere, but a line may have time of the lines that follow it.",
		fah_share_text(share, 1).s);
	if (uncounted)
		fah_strbuf_adds(&sb, " Calls are not counted: with 3.14's JIT that can make a "
				     "program stand still.");
	say(t, &sb);
}

void fah_closing_words(struct fah_text *t, const struct fah_profile *p,
		       const struct fah_charges *charges)
{
	const struct fah_totals *totals = fah_profile_totals(p);
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	double waiting = totals->idle_s - totals->waited_s - totals->unseen_cpu_s;

	if (fah_profile_meta(p, "imported")) {
		say_imported(t, p, charges);
		return;
	}
	fah_strbuf_adds(&sb, "Clock: ");
	fah_report_clock(&sb, p);
	if (totals->rate_asked > 0)
		fah_strbuf_addf(&sb, "; rate asked %s", fah_num_hz(totals->rate_asked).s);
	if (totals->rate_asked > 0 && totals->rate_reached > 0)
		fah_strbuf_addf(&sb, ", reached %s", fah_num_hz(totals->rate_reached).s);
	fah_report_lowered(&sb, "; rate ", totals);
	fah_strbuf_adds(&sb, ".");
	say(t, &sb);
	fah_closing_caveat(t, p);
	say_samples(t, totals);
	if (totals->samples)
		say_interval(t, totals, charges);
	/* What the samples cannot see used CPU and so did not wait; it is told apart below. */
	say_part(t, totals,
		 totals->lost_records
			 ? "Waiting, without a core, or in records that are missing (below)"
			 : "Waiting or without a core, in no known line",
		 waiting > 0 ? waiting : 0);
	say_part(t, totals, "Code outside the folders reported, with no caller inside",
		 fah_times_sum(&charges->outside));
	say_part(t, totals,
		 fah_profile_meta(p, "runner")
			 ? "Outside any cell: the start of Python and IPython, the end"
			 : "Outside any Python frame",
		 fah_times_sum(&charges->no_python));
	say_unsampled(t, totals);
	if (totals->absent_cpu_s >= WORTH_SAYING * totals->cpu_s) {
		fah_strbuf_addf(
			&sb,
			"Short threads that ended before their first sample: %s of CPU, shared "
			"out over the samples of threads as short.",
			fah_num_seconds_short(totals->absent_cpu_s).s);
		say(t, &sb);
	}
	if (totals->unseen_cpu_s >= WORTH_SAYING * totals->cpu_s &&
	    totals->unseen_cpu_s >= 0.0005) {
		fah_strbuf_addf(
			&sb,
			"CPU that no clock watched: %s of %s (the interpreter's start and end, "
			"threads and children without Python).",
			fah_num_seconds_short(totals->unseen_cpu_s).s,
			fah_num_seconds_short(totals->cpu_s).s);
		say(t, &sb);
	}
	if (totals->truncated) {
		fah_strbuf_addf(&sb,
				"%s stack%s too deep to be kept whole: outer frames are missing.",
				fah_num_count(totals->truncated).s,
				totals->truncated == 1 ? " was" : "s were");
		say(t, &sb);
	}
	say_jit(t, p);
	fah_closing_end(t, p);
}

static const char *signal_name(int sig)
{
	static const struct {
		int sig;
		const char *name;
	} names[] = {{SIGHUP, " (SIGHUP)"},   {SIGINT, " (SIGINT)"},   {SIGQUIT, " (SIGQUIT)"},
		     {SIGILL, " (SIGILL)"},   {SIGABRT, " (SIGABRT)"}, {SIGBUS, " (SIGBUS)"},
		     {SIGFPE, " (SIGFPE)"},   {SIGKILL, " (SIGKILL)"}, {SIGSEGV, " (SIGSEGV)"},
		     {SIGPIPE, " (SIGPIPE)"}, {SIGALRM, " (SIGALRM)"}, {SIGTERM, " (SIGTERM)"},
		     {SIGXCPU, " (SIGXCPU)"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].sig == sig)
			return names[i].name;
	return "";
}

/* Daemons and the like: what they did after the run is not missing by mistake. */
static void say_outlived(struct fah_text *t, const struct fah_profile *p)
{
	uint64_t n = fah_profile_count(p, "outlived");
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!n)
		return;
	fah_strbuf_addf(&sb,
			"%s process%s of the program went on after its end: what %s did from then "
			"on is not in this profile.",
			fah_num_count(n).s, n == 1 ? "" : "es", n == 1 ? "it" : "they");
	say(t, &sb);
}

static void say_unrecorded(struct fah_text *t, const struct fah_profile *p)
{
	uint64_t n = fah_profile_count(p, "unrecorded");
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!n)
		return;
	fah_strbuf_addf(&sb,
			"%s forked process%s not in this profile: with rights given up, or another "
			"root, %s could not reach the recording.",
			fah_num_count(n).s, n == 1 ? " is" : "es are", n == 1 ? "it" : "they");
	say(t, &sb);
}

void fah_closing_end(struct fah_text *t, const struct fah_profile *p)
{
	const struct fah_totals *totals = fah_profile_totals(p);
	const char *stopped_by = fah_profile_meta(p, "stopped_by");
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	int status = totals->wait_status;

	if (totals->complete && stopped_by) {
		fah_strbuf_addf(&sb, "The recording was ended by %s; the program %s.",
				fah_stopped_words(stopped_by),
				fah_stopped_then(fah_profile_meta(p, "kill")));
		say(t, &sb);
	} else if (totals->complete && WIFSIGNALED(status)) {
		fah_strbuf_addf(&sb, "The program was killed by signal %d%s.", WTERMSIG(status),
				signal_name(WTERMSIG(status)));
		say(t, &sb);
	} else if (totals->complete && WIFEXITED(status) && WEXITSTATUS(status)) {
		fah_strbuf_addf(&sb, "The program ended with status %d.", WEXITSTATUS(status));
		say(t, &sb);
	}
	say_outlived(t, p);
	say_unrecorded(t, p);
	if (t->o->so_far) /* what is missing behind the last record is still being written */
		return;
	if (!totals->complete) {
		fah_text_wrap(
			t,
			"The capture has no end: the recording was cut short. Times are those up "
			"to its last record.");
	}
	if (totals->lost_bytes && !totals->lost_records) {
		fah_strbuf_addf(&sb,
				"%s at the end of the capture are cut or damaged and left out.",
				fah_num_bytes(totals->lost_bytes).s);
		say(t, &sb);
	}
	if (totals->lost_records) {
		fah_strbuf_addf(&sb, "%s record%s (%s) could not be written for want of space.",
				fah_num_count(totals->lost_records).s, plural(totals->lost_records),
				fah_num_bytes(totals->lost_bytes).s);
		say(t, &sb);
	}
	if (totals->samples_lost) {
		fah_strbuf_addf(&sb, "%s sample%s taken but not in the capture.",
				fah_num_count(totals->samples_lost).s,
				totals->samples_lost == 1 ? " was" : "s were");
		say(t, &sb);
	}
	if (totals->bad_records) {
		fah_strbuf_addf(&sb, "%s record%s of the capture made no sense and %s left out.",
				fah_num_count(totals->bad_records).s, plural(totals->bad_records),
				totals->bad_records == 1 ? "was" : "were");
		say(t, &sb);
	}
}

void fah_closing_above(struct fah_text *t, const struct fah_profile *p)
{
	const char *command = t->o->command ? t->o->command : fah_profile_meta(p, "command");

	if (command) {
		fah_text_clean(&t->line, command);
		fah_text_end(t);
		fah_text_end(t);
	}
	if (fah_closing_refused(t, p))
		fah_text_end(t);
}

int fah_closing_below(struct fah_text *t, struct fah_profile *p, double seconds)
{
	const struct fah_totals *totals = fah_profile_totals(p);
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	const struct fah_charges *charges;
	struct fah_charges words;
	int err;

	if (!totals->samples && !(totals->waited_s > 0)) {
		fah_closing_empty(t, p);
		fah_closing_end(t, p);
		return 0;
	}
	if (!(seconds > 0)) {
		fah_strbuf_addf(&sb,
				"Nothing of this run is in the view that was asked for: it has %s "
				"sample%s, and waited %s.",
				fah_num_count(totals->samples).s, plural(totals->samples),
				fah_num_seconds(totals->waited_s).s);
		say(t, &sb);
	}
	err = fah_profile_charge(p, &fah_scope_everything, &charges);
	if (err < 0)
		return err;
	words = *charges;
	words.n_functions = 0; /* the largest is among what is shown, with its interval */
	fah_closing_words(t, p, &words);
	return 0;
}

int fah_closing_below_tree(struct fah_text *t, struct fah_profile *p,
			   const struct fah_calltree *tree)
{
	double whole = fah_times_sum(&tree->calls[0].total);
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	const struct fah_heap *heap;
	int err;

	if (!tree->memory)
		return fah_closing_below(t, p, whole);
	err = fah_profile_heap(p, &fah_scope_everything, &heap);
	if (err < 0)
		return err;
	fah_strbuf_addf(&sb, "Shown: %s %s, by %s block%s recorded.",
			fah_num_bytes(fah_heap_bytes(whole)).s, fah_heap_view_words(tree->memory),
			fah_num_count(tree->calls[0].samples).s, plural(tree->calls[0].samples));
	say(t, &sb);
	if (heap)
		fah_heap_words(t, p, heap);
	fah_closing_end(t, p);
	return 0;
}
