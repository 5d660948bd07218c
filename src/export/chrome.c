/*
 * chrome.c - the Trace Event format, for Perfetto's ui and chrome://tracing: by process and thread,
 * what was on the stack from when to when, as begin and end events that nest; beside each thread a
 * track of its states (running, waiting and for what).
 *
 * Times are microseconds since the run's start. A stack that stays from sample to sample is one
 * event; nobody saw what happened between. No viewer opens more than some million events: where
 * there would be more, stacks are merged (merge.h).
 */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "capture/words.h"
#include "core/err.h"
#include "export/export.h"
#include "export/merge.h"

#include <stdlib.h>

#define SLICES_MAX 1000000 /* of a file; each is two events of 100 bytes or so */
#define STATES_MAX 200000

struct tracing {
	struct fah_out *out;
	const struct fah_stacks *stacks;
	uint32_t *open, *wanted; /* paths from the root inwards */
	size_t n_open, cap;
	uint64_t end_ns; /* of the last span */
	uint32_t pid, tid, thread;
	const struct fah_thread *about; /* thread's own */
	bool first, failed, in_track;
	struct fah_merge *merge, *states;
};

/* The start of an event, up to its time. */
static void begin_event(struct tracing *t, const char *phase, uint64_t ns)
{
	fah_out_adds(t->out, t->first ? "\n" : ",\n");
	t->first = false;
	fah_out_addf(t->out, "{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%llu.%03u", phase, t->pid,
		     t->tid, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

static void add_name(struct tracing *t, const char *name)
{
	fah_out_adds(t->out, ",\"name\":");
	fah_out_json(t->out, name);
}

/* The begin or the end of a path's innermost frame. The format lets the end be nameless, but some
 * readers pair both by name. */
static void add_frame(struct tracing *t, const char *phase, uint32_t path, uint64_t ns)
{
	static const char *const words[] = {
		[FAH_FRAME_PYTHON] = "python",	 [FAH_FRAME_NATIVE] = "native",
		[FAH_FRAME_RUNTIME] = "runtime", [FAH_FRAME_PROCESS] = "process",
		[FAH_FRAME_THREAD] = "thread",	 [FAH_FRAME_WAIT] = "waiting",
		[FAH_FRAME_EMPTY] = "no python",
	};
	size_t n;
	const struct fah_path *paths = fah_stacks_paths(t->stacks, &n);
	const struct fah_frame *f = &fah_stacks_frames(t->stacks, &n)[paths[path].frame];

	begin_event(t, phase, ns);
	fah_out_addf(t->out, ",\"cat\":\"%s\"", words[f->kind]);
	add_name(t, f->label);
	fah_out_addc(t->out, '}');
}

static void close_down_to(struct tracing *t, size_t depth, uint64_t ns)
{
	while (t->n_open > depth)
		add_frame(t, "E", t->open[--t->n_open], ns);
}

/* The paths from the first frame that is no thread or process inwards; their number. */
static size_t unroll(struct tracing *t, uint32_t path)
{
	size_t n, depth = 0;
	const struct fah_path *paths = fah_stacks_paths(t->stacks, &n);
	const struct fah_frame *frames = fah_stacks_frames(t->stacks, &n);

	for (uint32_t i = path; i; i = paths[i].parent)
		depth += frames[paths[i].frame].kind != FAH_FRAME_PROCESS &&
			 frames[paths[i].frame].kind != FAH_FRAME_THREAD;
	if (depth > t->cap) {
		uint32_t *open = reallocarray(t->open, depth * 2, sizeof(*open));
		uint32_t *wanted;

		if (open)
			t->open = open;
		wanted = reallocarray(t->wanted, depth * 2, sizeof(*wanted));
		if (wanted)
			t->wanted = wanted;
		if (!open || !wanted) {
			t->failed = true;
			return 0;
		}
		t->cap = depth * 2;
	}
	n = depth;
	for (uint32_t i = path; n; i = paths[i].parent)
		t->wanted[--n] = i;
	return depth;
}

static void add_span(void *context, const struct fah_span *span)
{
	struct tracing *t = context;
	size_t depth = unroll(t, span->path), same = 0;

	if (t->failed)
		return;
	if (span->begin_ns > t->end_ns)
		close_down_to(t, 0, t->end_ns);
	while (same < depth && same < t->n_open && t->open[same] == t->wanted[same])
		same++;
	close_down_to(t, same, span->begin_ns);
	for (size_t i = same; i < depth; i++) {
		t->open[t->n_open++] = t->wanted[i];
		add_frame(t, "B", t->wanted[i], span->begin_ns);
	}
	t->end_ns = span->end_ns;
}

/* Events of a track of its own have an id; the outermost gives it its name. */
static void add_track(struct tracing *t, const char *phase, uint64_t ns)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_strbuf_addf(&sb, "states of %s", *t->about->name ? t->about->name : "the thread");
	begin_event(t, phase, ns);
	fah_out_addf(t->out, ",\"cat\":\"state\",\"id\":\"0x%x\"", t->thread + 1);
	add_name(t, fah_strbuf_str(&sb));
	fah_out_addc(t->out, '}');
	t->failed |= sb.failed;
	fah_strbuf_release(&sb);
}

/* Around all that stands in it: a first sample stands for CPU from before the thread was seen. */
static void begin_track(struct tracing *t, uint64_t ns)
{
	if (!t->in_track) /* one without states is left out */
		add_track(t, "b", ns < t->about->start_ns ? ns : t->about->start_ns);
	t->in_track = true;
}

static void add_state(void *context, const struct fah_span *span)
{
	struct tracing *t = context;
	char name[64] = "running";

	if (span->is_wait)
		snprintf(name, sizeof(name), "waiting (%s)", fah_wait_words(span->reason));
	begin_track(t, span->begin_ns);
	for (int end = 0; end < 2; end++) {
		begin_event(t, end ? "e" : "b", end ? span->end_ns : span->begin_ns);
		fah_out_addf(t->out, ",\"cat\":\"state\",\"id\":\"0x%x\"", t->thread + 1);
		add_name(t, name);
		fah_out_addc(t->out, '}');
	}
	t->end_ns = span->end_ns;
}

/* Perfetto calls an event with an empty name damaged. */
static void add_about(struct tracing *t, const char *what, const char *text)
{
	if (!*text)
		return;
	fah_out_adds(t->out, t->first ? "\n" : ",\n");
	t->first = false;
	fah_out_addf(t->out,
		     "{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"%s\",\"args\":{\"name\":",
		     t->pid, t->tid, what);
	fah_out_json(t->out, text);
	fah_out_adds(t->out, "}}");
}

static int add_thread(struct tracing *t, struct fah_stacks *stacks, const struct fah_thread *thread)
{
	int err;

	add_about(t, "thread_name", thread->name);
	t->end_ns = t->n_open = 0;
	fah_merge_begin(t->merge, add_span, t);
	err = fah_spans_stacks(stacks, t->thread, fah_merge_add, t->merge);
	fah_merge_end(t->merge);
	close_down_to(t, 0, t->end_ns);
	if (err < 0)
		return err;
	/* Known only afterwards; events need not stand in the order of time. */
	t->end_ns = thread->end_ns;
	t->about = thread;
	t->in_track = false;
	fah_merge_begin(t->states, add_state, t);
	err = fah_spans_states(stacks, t->thread, fah_merge_add, t->states);
	fah_merge_end(t->states);
	if (t->in_track)
		add_track(t, "e", t->end_ns > thread->end_ns ? t->end_ns : thread->end_ns);
	return err;
}

static void add_head(struct tracing *t)
{
	const struct fah_profile *p = fah_stacks_profile(t->stacks);
	const struct fah_totals *totals = fah_profile_totals(p);

	fah_out_adds(t->out, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"creator\":"
			     "\"fixingahole " FAH_VERSION "\",\"command\":");
	fah_out_json(t->out, fah_profile_meta(p, "command"));
	fah_out_addf(t->out, ",\"samples\":%llu,\"drops\":%llu,\"complete\":%s},\"traceEvents\":[",
		     (unsigned long long)totals->samples, (unsigned long long)totals->drops,
		     totals->complete ? "true" : "false");
	t->first = true;
}

static int visit_stacks(void *stacks, uint32_t thread, fah_span_fn *fn, void *context)
{
	return fah_spans_stacks(stacks, thread, fn, context);
}

static int choose_windows(struct tracing *t, struct fah_stacks *stacks)
{
	t->merge = fah_merge_new(stacks, FAH_MERGE_FRAMES, SLICES_MAX);
	t->states = fah_merge_new(stacks, FAH_MERGE_STATES, STATES_MAX);
	if (!t->merge || !t->states)
		return FAH_ERR_NOMEM;
	return fah_merge_windows(t->merge, t->states, visit_stacks, stacks, "chrome", t->out);
}

static void release(struct tracing *t)
{
	free(t->open);
	free(t->wanted);
	fah_merge_free(t->merge);
	fah_merge_free(t->states);
}

static int write_chrome(struct fah_out *out, struct fah_stacks *stacks)
{
	_cleanup_(release) struct tracing t = {.out = out, .stacks = stacks};
	struct fah_profile *p = fah_stacks_profile(stacks);
	size_t n_threads, n_processes;
	const struct fah_thread *threads = fah_profile_threads(p, &n_threads);
	const struct fah_process *processes = fah_profile_processes(p, &n_processes);
	int err = choose_windows(&t, stacks);

	if (err < 0)
		return err;
	add_head(&t);
	for (size_t i = 0; i < n_processes; i++) {
		t.pid = t.tid = processes[i].pid;
		add_about(&t, "process_name", processes[i].cmdline);
	}
	for (uint32_t i = 0; err == 0 && i < n_threads; i++) {
		t.thread = i;
		t.pid = processes[threads[i].process].pid;
		t.tid = threads[i].tid;
		err = add_thread(&t, stacks, &threads[i]);
	}
	fah_out_adds(out, "\n]}\n");
	return t.failed ? FAH_ERR_NOMEM : err;
}

const struct fah_export fah_export_chrome = {
	.name = "chrome",
	.aliases = {"chrometrace", "perfetto"},
	.extensions = {".trace.json", ".chrome.json"},
	.summary = "a timeline by thread, for ui.perfetto.dev and chrome://tracing",
	.write = write_chrome,
};
