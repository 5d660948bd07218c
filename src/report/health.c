/*
 * health.c - see health.h. Numbers are the model's; here they are only put into words.
 */
#include "report/health.h"

#include "base/number.h"
#include "capture/words.h"
#include "core/segment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL "%-11s"
#define INSIDE "  %-9s"

void fah_report_clock(struct fah_strbuf *out, const struct fah_profile *p)
{
	size_t n;
	const struct fah_process *processes = fah_profile_processes(p, &n);

	fah_strbuf_adds(out, n ? fah_clock_words(processes[0].clock) : "unknown");
	if (fah_profile_count(p, "perf_dear"))
		fah_strbuf_adds(out, ", as all of threads while they gave their core away very "
				     "often");
}

void fah_report_caveat(struct fah_strbuf *out, const char *before, const struct fah_profile *p)
{
	const char *why = fah_profile_meta(p, "perf_refused");
	size_t n;
	const struct fah_process *processes = fah_profile_processes(p, &n);

	if (why) {
		fah_strbuf_addf(out, "%sNo clock faster than the kernel's tick: ", before);
		fah_strbuf_add_printable(out, why, strlen(why));
		fah_strbuf_adds(out, ". The rate is what the tick gives.");
	} else if (n && processes[0].clock == FAH_CLOCK_PERF) {
		fah_strbuf_addf(out,
				"%sWith perf's clock a sample may come when a thread is about to "
				"block, and interrupt that call once (EINTR); Python itself calls "
				"it again.",
				before);
	}
}

void fah_report_lowered(struct fah_strbuf *out, const char *before, const struct fah_totals *t)
{
	if (!(t->rate_lowered > 0))
		return;
	fah_strbuf_addf(out, "%slowered to %s ", before, fah_num_hz(t->rate_lowered).s);
	if (!(t->budget_percent > 0)) {
		fah_strbuf_adds(out, "so that samples take an eighth of the program's CPU at most");
		return;
	}
	fah_strbuf_addf(out, "to stay within the budget of %s of a core",
			fah_num_percent(t->budget_percent / 100).s);
	if (t->budget_by_default)
		fah_strbuf_adds(out, " (a --rate that is given stays)");
}

static void say_cost(struct fah_strbuf *out, const struct fah_totals *t)
{
	double wall = t->wall_s > 0 ? t->wall_s : 1;

	fah_strbuf_addf(out, LABEL "%s of a core: %s in the program's handlers", "Cost",
			fah_num_percent(t->cost_share).s, fah_num_percent(t->handler_s / wall).s);
	if (t->told_s > 0)
		fah_strbuf_addf(out, ", %s in counting calls", fah_num_percent(t->told_s / wall).s);
	if (t->collector_cpu_s > 0)
		fah_strbuf_addf(out, ", %s in the profiler (%s)",
				fah_num_percent(t->collector_cpu_s / wall).s,
				fah_num_seconds(t->collector_cpu_s).s);
	else
		fah_strbuf_adds(out, "; what the profiler itself used is not known");
	fah_strbuf_addc(out, '\n');
	if (!(t->budget_percent > 0))
		return;
	fah_strbuf_addf(out, LABEL "%s of a core%s", "Budget",
			fah_num_percent(t->budget_percent / 100).s,
			t->budget_by_default ? ", by default, after the first seconds" : "");
	if (t->rate_lowered > 0)
		fah_strbuf_addf(out, "; rate lowered to %s to stay within it",
				fah_num_hz(t->rate_lowered).s);
	fah_strbuf_addc(out, '\n');
}

/* META has counts as decimal numbers with spaces between: up to n of them; how many there were. */
static size_t take_counts(const char *text, uint64_t *to, size_t n)
{
	size_t i = 0;
	char *end;

	for (; text && i < n; i++, text = end) {
		to[i] = strtoull(text, &end, 10);
		if (end == text)
			break;
	}
	return i;
}

static void say_joined(struct fah_strbuf *out, const struct fah_profile *p)
{
	uint64_t n[4];

	if (take_counts(fah_profile_meta(p, "native_stacks"), n, 4) < 4)
		return;
	fah_strbuf_addf(out,
			LABEL "%s joined whole with the Python frames, %s in part, %s not, %s "
			      "absent\n",
			"Native", fah_num_count(n[0]).s, fah_num_count(n[1]).s,
			fah_num_count(n[2]).s, fah_num_count(n[3]).s);
}

/* Blocked threads are read from outside; a reading counts where the thread stayed blocked. */
static void say_readings(struct fah_strbuf *out, const struct fah_profile *p)
{
	uint64_t readings, rejected = 0, longest;

	if (!take_counts(fah_profile_meta(p, "waits_readings"), &readings, 1))
		return;
	take_counts(fah_profile_meta(p, "waits_rejected"), &rejected, 1);
	fah_strbuf_addf(out, LABEL "%s readings of blocked threads, %s rejected", "Outside",
			fah_num_count(readings).s, fah_num_count(rejected).s);
	if (take_counts(fah_profile_meta(p, "waits_longest_ns"), &longest, 1))
		fah_strbuf_addf(out, "; looks at most %" PRIu64 " ms apart",
				(longest + 999999) / 1000000);
	fah_strbuf_addf(out, "\n");
}

/* "12.3 us" */
static struct fah_num micros(double ns)
{
	uint64_t tenths = ns > 0 && ns < 1e18 ? (uint64_t)(ns / 100 + 0.5) : 0;
	struct fah_num n;

	snprintf(n.s, sizeof(n.s), "%" PRIu64 ".%" PRIu64 " us", tenths / 10, tenths % 10);
	return n;
}

static void say_hist(struct fah_strbuf *out, const char *label, const struct fah_hist *h)
{
	fah_strbuf_addf(out, INSIDE "%s", label, fah_num_count(h->count).s);
	if (h->count)
		fah_strbuf_addf(out, ": half within %s, 90%% %s, 99%% %s, longest %s",
				micros(fah_hist_quantile(h, 0.5)).s,
				micros(fah_hist_quantile(h, 0.9)).s,
				micros(fah_hist_quantile(h, 0.99)).s, micros((double)h->max_ns).s);
}

static void say_drops(struct fah_strbuf *out, const struct fah_process *process)
{
	uint64_t drops = 0;

	for (uint32_t i = 0; i < FAH_DROPS_MAX; i++)
		drops += process->drops_by[i];
	fah_strbuf_addf(out, INSIDE "%s; dropped %s", "Samples", fah_num_count(process->samples).s,
			fah_num_count(drops).s);
	if (drops)
		fah_strbuf_addf(
			out, ", %s of all",
			fah_num_percent((double)drops / (double)(drops + process->samples)).s);
	fah_strbuf_addc(out, '\n');
	for (uint32_t i = 0; i < FAH_DROPS_MAX; i++)
		if (process->drops_by[i])
			fah_strbuf_addf(out, "    %7s  %s\n", fah_num_count(process->drops_by[i]).s,
					fah_drop_words(i));
}

static void say_stops(struct fah_strbuf *out, const struct fah_health *health)
{
	const char *between = "";

	fah_strbuf_addf(out, INSIDE, "Stacks");
	for (uint32_t i = 0; i < FAH_NATIVE_STOPS; i++) {
		if (!health->native_stops[i])
			continue;
		fah_strbuf_addf(out, "%s%s: %s", between, fah_native_stop_words(i),
				fah_num_count(health->native_stops[i]).s);
		between = ", ";
	}
	fah_strbuf_adds(out, *between ? "\n" : "no native ones\n");
}

static void say_process(struct fah_strbuf *out, const struct fah_process *process)
{
	const struct fah_health *health = process->health;
	double seconds;

	fah_strbuf_addf(out, LABEL "%u", "Process", process->pid);
	if (*process->cmdline) {
		fah_strbuf_adds(out, ": ");
		fah_strbuf_add_printable(out, process->cmdline, strlen(process->cmdline));
	}
	fah_strbuf_addc(out, '\n');
	if (!health) {
		fah_strbuf_adds(out, "  its health is not in the capture\n");
		return;
	}
	say_drops(out, process);
	seconds = (double)health->handlers.sum_ns / 1e9;
	say_hist(out, "Handlers", &health->handlers);
	fah_strbuf_addf(out, "; together %s", fah_num_seconds(seconds).s);
	if (process->cpu_s > 0)
		fah_strbuf_addf(out, ", %s of its CPU",
				fah_num_percent(seconds / process->cpu_s).s);
	fah_strbuf_addc(out, '\n');
	say_hist(out, "Late by", &health->gaps);
	fah_strbuf_addc(out, '\n');
	say_stops(out, health);
}

void fah_report_health(struct fah_strbuf *out, const struct fah_profile *p)
{
	size_t n;
	const struct fah_process *processes = fah_profile_processes(p, &n);

	say_cost(out, fah_profile_totals(p));
	say_joined(out, p);
	say_readings(out, p);
	for (size_t i = 0; i < n; i++)
		say_process(out, &processes[i]);
}
