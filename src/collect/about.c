/* about.c - see about.h. */
#include "collect/about.h"

#include "base/number.h"
#include "collect/budget.h"
#include "collect/memory_series.h"
#include "core/segment.h"
#include "core/time.h"

#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

void fah_about_run(struct fah_writer *w, const struct fah_session *s,
		   const struct fah_run_options *opt, const struct fah_clocks_leave *perf,
		   uint64_t start_mono, uint64_t start_real)
{
	double hz = fah_run_hz(opt);
	cpu_set_t cores;
	char text[64];

	fah_writer_meta(w, "tool", "fixingahole " FAH_VERSION);
	snprintf(text, sizeof(text), "%.9g", hz);
	fah_writer_meta(w, "rate_asked", text);
	fah_writer_meta(w, "clock",
			opt->clock == FAH_CLOCK_TEST   ? "test"
			: opt->clock == FAH_CLOCK_PERF ? "perf"
			: opt->clock == FAH_CLOCK_BOTH ? "both"
						       : "thread-cpu");
	if (perf->why[0])
		fah_writer_meta(w, "perf_refused", perf->why);
	if (fah_run_has_default_budget(opt))
		fah_writer_meta(w, "budget_by", "default");
	snprintf(text, sizeof(text), "%.9g",
		 fah_run_has_default_budget(opt) ? FAH_BUDGET_DEFAULT : opt->budget);
	if (opt->budget > 0 || fah_run_has_default_budget(opt))
		fah_writer_meta(w, "budget", text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)start_mono);
	fah_writer_meta(w, "start_mono_ns", text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)start_real);
	fah_writer_meta(w, "start_real_ns", text);
	snprintf(text, sizeof(text), "%d", (int)getpid());
	fah_writer_meta(w, "collector_pid", text);
	fah_writer_meta(w, "session", s->dir);
	if (sched_getaffinity(0, sizeof(cores), &cores) == 0) {
		snprintf(text, sizeof(text), "%d", CPU_COUNT(&cores));
		fah_writer_meta(w, "cores", text);
	}
	for (const char *const *m = opt->meta; m && m[0]; m += 2)
		if (m[1])
			fah_writer_meta(w, m[0], m[1]);
	fah_writer_flush(w);
}

void fah_about_costs(struct fah_writer *w, const struct fah_drain_stats *stats,
		     uint64_t view_cpu_ns)
{
	char text[96];

	snprintf(text, sizeof(text), "%llu %llu %llu %llu",
		 (unsigned long long)stats->stacks.joined, (unsigned long long)stats->stacks.partly,
		 (unsigned long long)stats->stacks.unjoined,
		 (unsigned long long)stats->stacks.without);
	fah_writer_meta(w, "native_stacks", text);
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)(fah_clock_ns(CLOCK_PROCESS_CPUTIME_ID) + view_cpu_ns));
	fah_writer_meta(w, "collector_cpu_ns", text);
}

void fah_about_looks(struct fah_writer *w, const struct fah_memory_looks *looks)
{
	char text[64];

	snprintf(text, sizeof(text), "%llu %llu", (unsigned long long)looks->looks,
		 (unsigned long long)looks->cpu_ns);
	fah_writer_meta(w, "memory_looks", text);
}

void fah_about_missing(struct fah_writer *w, const char *key, uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	if (n)
		fah_writer_meta(w, key, text);
}

void fah_about_silence(struct fah_writer *w, const struct fah_drain_stats *stats)
{
	struct rlimit files;
	char text[160];

	if (stats->processes)
		return;
	if (stats->no_descriptors) {
		fah_writer_meta(w, "silence", "the profiler may not open enough files (ulimit -n)");
	} else if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < FAH_SEGMENT_SIZE) {
		snprintf(text, sizeof(text),
			 "files may have %s here (ulimit -f), and a recording needs one of %s",
			 fah_num_bytes(files.rlim_cur).s, fah_num_bytes(FAH_SEGMENT_SIZE).s);
		fah_writer_meta(w, "silence", text);
	}
}

void fah_about_waits(struct fah_writer *w, const struct fah_waits_stats *s)
{
	const struct {
		const char *key;
		uint64_t value;
	} pairs[] = {
		{"waits_ticks", s->ticks},	 {"waits_readings", s->readings},
		{"waits_rejected", s->rejected}, {"waits_no_stack", s->no_stack},
		{"waits_refused", s->refused},	 {"waits_put_off", s->put_off},
		{"waits_cpu_ns", s->cpu_ns},	 {"waits_longest_ns", s->longest_ns},
	};
	char text[32];

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)pairs[i].value);
		fah_writer_meta(w, pairs[i].key, text);
	}
}

void fah_about_clocks(struct fah_writer *w, const struct fah_clocks_stats *s)
{
	char text[48];

	snprintf(text, sizeof(text), "%llu %llu", (unsigned long long)s->given,
		 (unsigned long long)s->refused);
	fah_writer_meta(w, "perf_threads", text);
	fah_about_missing(w, "perf_dear", s->dear);
}
