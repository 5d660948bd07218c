/*
 * jsonl.c - all that a view shows, one JSON object a line, for scripts: doc/export.md says which
 * there are. Frames and stacks stand before the first line that names them, so a reader needs one
 * pass and an export cut anywhere is readable up to there.
 */
#include "capture/words.h"
#include "export/export.h"

#define VERSION 1

struct writer {
	struct fah_out *out;
	struct fah_stacks *stacks;
	size_t frames, stacks_done; /* written so far */
};

static const char *const kinds[] = {
	[FAH_FRAME_PYTHON] = "python",	 [FAH_FRAME_NATIVE] = "native",
	[FAH_FRAME_RUNTIME] = "runtime", [FAH_FRAME_PROCESS] = "process",
	[FAH_FRAME_THREAD] = "thread",	 [FAH_FRAME_WAIT] = "wait",
	[FAH_FRAME_EMPTY] = "empty",
};

static void put_text(struct fah_out *out, const char *key, const char *value)
{
	fah_out_addf(out, ",\"%s\":", key);
	fah_out_json(out, value);
}

static void put_number(struct fah_out *out, const char *key, uint64_t value)
{
	fah_out_addf(out, ",\"%s\":", key);
	fah_out_u64(out, value);
}

static void put_seconds(struct fah_out *out, const char *key, double s)
{
	fah_out_addf(out, ",\"%s\":", key);
	fah_out_seconds(out, s);
}

static void put_bool(struct fah_out *out, const char *key, bool value)
{
	fah_out_addf(out, ",\"%s\":%s", key, value ? "true" : "false");
}

static void write_meta(struct writer *w)
{
	const struct fah_profile *p = fah_stacks_profile(w->stacks);
	const struct fah_view *view = fah_stacks_view(w->stacks);
	const struct fah_totals *t = fah_profile_totals(p);

	fah_out_addf(w->out, "{\"type\":\"meta\",\"version\":%d", VERSION);
	put_text(w->out, "exporter", "fixingahole " FAH_VERSION);
	put_text(w->out, "command", fah_profile_meta(p, "command"));
	put_text(w->out, "start_real_ns", fah_profile_meta(p, "start_real_ns"));
	put_seconds(w->out, "wall_s", t->wall_s);
	put_seconds(w->out, "cpu_s", t->cpu_s);
	put_seconds(w->out, "on_cpu_s", t->on_cpu_s);
	put_seconds(w->out, "waited_s", t->waited_s);
	put_seconds(w->out, "unsampled_s", t->unsampled_s);
	put_number(w->out, "samples", t->samples);
	put_number(w->out, "dropped", t->drops);
	put_bool(w->out, "complete", t->complete);
	put_bool(w->out, "native", view->native);
	put_bool(w->out, "threads", view->threads);
	put_bool(w->out, "processes", view->processes);
	put_bool(w->out, "gil", view->gil);
	put_bool(w->out, "idle", view->idle);
	put_bool(w->out, "lines", view->lines);
	put_text(w->out, "only", view->only);
	fah_out_adds(w->out, "}\n");
}

static void write_tasks(struct writer *w)
{
	const struct fah_profile *p = fah_stacks_profile(w->stacks);
	const struct fah_process *processes;
	const struct fah_thread *threads;
	size_t n;

	processes = fah_profile_processes(p, &n);
	for (size_t i = 0; i < n; i++) {
		const struct fah_process *q = &processes[i];

		fah_out_addf(w->out, "{\"type\":\"process\",\"id\":%zu,\"pid\":%u,\"ppid\":%u", i,
			     q->pid, q->ppid);
		put_text(w->out, "command", q->cmdline);
		fah_out_addf(w->out, ",\"python\":\"%u.%u.%u\"", q->python_version >> 24,
			     q->python_version >> 16 & 255, q->python_version >> 8 & 255);
		put_seconds(w->out, "start_s", (double)q->start_ns * 1e-9);
		put_seconds(w->out, "end_s", (double)q->end_ns * 1e-9);
		put_seconds(w->out, "cpu_s", q->cpu_s);
		fah_out_adds(w->out, "}\n");
	}
	threads = fah_profile_threads(p, &n);
	for (size_t i = 0; i < n; i++) {
		const struct fah_thread *t = &threads[i];

		fah_out_addf(w->out, "{\"type\":\"thread\",\"id\":%zu,\"process\":%u,\"tid\":%u", i,
			     t->process, t->tid);
		put_text(w->out, "name", t->name);
		put_seconds(w->out, "start_s", (double)t->start_ns * 1e-9);
		put_seconds(w->out, "end_s", (double)t->end_ns * 1e-9);
		put_seconds(w->out, "wall_s", t->states.wall_s);
		put_seconds(w->out, "cpu_s", t->states.cpu_s);
		put_seconds(w->out, "ready_s", t->states.ready_s);
		put_seconds(w->out, "waited_s", t->states.waited_s);
		put_number(w->out, "samples", t->samples);
		fah_out_adds(w->out, "}\n");
	}
}

static void write_frame(struct writer *w, size_t id, const struct fah_frame *f)
{
	fah_out_addf(w->out, "{\"type\":\"frame\",\"id\":%zu", id);
	put_text(w->out, "name", f->name);
	put_text(w->out, "kind", kinds[f->kind]);
	if (*f->file)
		put_text(w->out, "file", f->file);
	if (f->line)
		put_number(w->out, "line", f->line);
	if (f->first_line)
		put_number(w->out, "first_line", f->first_line);
	fah_out_adds(w->out, "}\n");
}

/* What was seen for the first time. */
static void write_new(struct writer *w, uint32_t path)
{
	const struct fah_frame *frames;
	const struct fah_path *paths;
	size_t n;

	if (path < w->stacks_done)
		return;
	frames = fah_stacks_frames(w->stacks, &n);
	for (; w->frames < n; w->frames++)
		write_frame(w, w->frames, &frames[w->frames]);
	paths = fah_stacks_paths(w->stacks, &n);
	for (; w->stacks_done < n; w->stacks_done++)
		fah_out_addf(w->out, "{\"type\":\"stack\",\"id\":%zu,\"parent\":%u,\"frame\":%u}\n",
			     w->stacks_done, paths[w->stacks_done].parent,
			     paths[w->stacks_done].frame);
}

static void write_moment(void *context, const struct fah_sight *sight)
{
	static const char *const types[] = {"{\"type\":\"sample\",\"thread\":",
					    "{\"type\":\"wait\",\"thread\":"};
	const struct fah_moment *m = sight->moment;
	struct writer *w = context;
	struct fah_out *out = w->out;

	write_new(w, sight->path);
	fah_out_adds(out, types[m->is_wait]);
	fah_out_u64(out, sight->thread);
	fah_out_adds(out, ",\"time_s\":");
	fah_out_seconds(out, (double)m->time_ns * 1e-9);
	fah_out_adds(out, ",\"stack\":");
	fah_out_u64(out, sight->path);
	fah_out_adds(out, ",\"own_s\":");
	fah_out_seconds(out, m->own_s);
	fah_out_adds(out, ",\"run_s\":");
	fah_out_seconds(out, m->run_s);
	if (!m->is_wait && m->system > 0) {
		fah_out_adds(out, ",\"system_s\":");
		fah_out_seconds(out, m->system);
	}
	fah_out_adds(out, m->is_wait ? ",\"reason\":\"" : ",\"in\":\"");
	fah_out_adds(out, m->is_wait ? fah_wait_words(m->reason) : fah_where_words(m->flags));
	fah_out_adds(out, "\"}\n");
}

static int write_jsonl(struct fah_out *out, struct fah_stacks *stacks)
{
	struct writer w = {.out = out, .stacks = stacks, .stacks_done = 1};
	size_t n;
	int err = 0;

	write_meta(&w);
	write_tasks(&w);
	fah_profile_threads(fah_stacks_profile(stacks), &n);
	for (uint32_t i = 0; err == 0 && i < n; i++)
		err = fah_stacks_visit(stacks, i, FAH_OWN_TIME, write_moment, &w);
	return err;
}

const struct fah_export fah_export_jsonl = {
	.name = "jsonl",
	.extensions = {".jsonl", ".ndjson"},
	.summary = "every sample and wait with its stack, one JSON object a line, for scripts",
	.write = write_jsonl,
};
