/*
 * gecko.c - the Firefox Profiler's processed profile, version 60: any later profiler.firefox.com
 * reads it. Tables of columns; threads have their samples, with the milliseconds that each stands
 * for as its weight, and markers for the states (running, waiting and for what).
 *
 * Columns are written one after the other, so a thread's samples and markers are kept until then.
 * Of more than SAMPLES_MAX, those of one stack are merged (merge.h), so memory and file stay
 * bounded and the page opens it.
 */
#include "base/cleanup.h"
#include "base/map.h"
#include "capture/words.h"
#include "core/err.h"
#include "export/export.h"
#include "export/functions.h"
#include "export/merge.h"

#include <stdlib.h>

#define SAMPLES_MAX 1000000 /* of a file */
#define MARKERS_MAX 200000

/* Index into meta.categories; a grey one must be there. */
enum category { OTHER, PYTHON, NATIVE, WAITING };

static const char categories[] =
	"[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Python\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Native\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Waiting\",\"color\":\"purple\",\"subcategories\":[\"Other\"]}]";

static const char schema[] =
	"[{\"name\":\"state\",\"tooltipLabel\":\"{marker.data.state}\",\"tableLabel\":"
	"\"{marker.data.state}\",\"chartLabel\":\"{marker.data.state}\",\"display\":[\"marker-"
	"chart\","
	"\"marker-table\",\"timeline-overview\"],\"fields\":[{\"key\":\"state\",\"label\":"
	"\"State\","
	"\"format\":\"string\"}]}]";

struct gecko {
	struct fah_out *out;
	struct fah_stacks *stacks;
	const struct fah_frame *frames;
	const struct fah_path *paths;
	size_t n_frames, n_paths;
	struct fah_functions functions;
	uint32_t *source;	 /* by function: its file among sources */
	struct fah_strmap files; /* name -> source + 1 */
	const char **file_names;
	size_t n; /* written of the list at hand */
	struct fah_merge *merge, *states;
	struct fah_span *kept; /* samples or markers of the thread at hand */
	size_t n_kept, room;
	uint64_t last_ns; /* of the sample before */
	fah_span_fn *fn;  /* where samples go */
	void *context;
	bool failed;
};

enum column { STACK, TIME, WEIGHT, CPU, NAME, START, END, DATA, CATEGORY, PHASE };

static void next(struct gecko *g)
{
	if (g->n++)
		fah_out_addc(g->out, ',');
}

/* A column of n times the same. */
static void add_same(struct gecko *g, const char *key, size_t n, const char *value)
{
	fah_out_addf(g->out, ",\"%s\":[", key);
	for (size_t i = 0; i < n; i++)
		fah_out_addf(g->out, "%s%s", i ? "," : "", value);
	fah_out_addc(g->out, ']');
}

#define ADD_COLUMN(g, key, n, fmt, value) \
	do { \
		fah_out_adds((g)->out, ",\"" key "\":["); \
		for (size_t i = 0; i < (n); i++) \
			fah_out_addf((g)->out, i ? "," fmt : fmt, value); \
		fah_out_addc((g)->out, ']'); \
	} while (0)

static enum category category_of(const struct fah_frame *f)
{
	switch (f->kind) {
	case FAH_FRAME_PYTHON:
		return PYTHON;
	case FAH_FRAME_NATIVE:
	case FAH_FRAME_RUNTIME:
		return NATIVE;
	case FAH_FRAME_WAIT:
		return WAITING;
	default:
		return OTHER;
	}
}

static void add_stack_table(struct gecko *g)
{
	/* Path 0 is the empty one, so stacks are the paths from 1 on. */
	fah_out_addf(g->out, "\"stackTable\":{\"length\":%zu", g->n_paths - 1);
	ADD_COLUMN(g, "frame", g->n_paths - 1, "%u", g->paths[i + 1].frame);
	fah_out_adds(g->out, ",\"prefix\":[");
	for (size_t i = 1; i < g->n_paths; i++) {
		fah_out_adds(g->out, i > 1 ? "," : "");
		if (g->paths[i].parent)
			fah_out_u64(g->out, g->paths[i].parent - 1);
		else
			fah_out_adds(g->out, "null");
	}
	fah_out_adds(g->out, "]}");
}

static void add_frame_table(struct gecko *g)
{
	fah_out_addf(g->out, ",\"frameTable\":{\"length\":%zu", g->n_frames);
	ADD_COLUMN(g, "func", g->n_frames, "%u", g->functions.of_frame[i]);
	ADD_COLUMN(g, "category", g->n_frames, "%u", category_of(&g->frames[i]));
	fah_out_adds(g->out, ",\"line\":[");
	for (size_t i = 0; i < g->n_frames; i++) {
		fah_out_adds(g->out, i ? "," : "");
		if (g->frames[i].line)
			fah_out_u64(g->out, g->frames[i].line);
		else
			fah_out_adds(g->out, "null");
	}
	fah_out_addc(g->out, ']');
	add_same(g, "subcategory", g->n_frames, "0");
	add_same(g, "column", g->n_frames, "null");
	add_same(g, "address", g->n_frames, "-1");
	add_same(g, "nativeSymbol", g->n_frames, "null");
	add_same(g, "inlineDepth", g->n_frames, "0");
	add_same(g, "innerWindowID", g->n_frames, "null");
	fah_out_addc(g->out, '}');
}

static void add_func_table(struct gecko *g)
{
	size_t n = g->functions.n;

	fah_out_addf(g->out, ",\"funcTable\":{\"length\":%zu", n);
	ADD_COLUMN(g, "name", n, "%zu", i); /* strings begin with the functions' names */
	add_same(g, "isJS", n, "false");
	add_same(g, "relevantForJS", n, "false");
	add_same(g, "resource", n, "-1");
	fah_out_adds(g->out, ",\"source\":[");
	for (size_t i = 0; i < n; i++) {
		fah_out_adds(g->out, i ? "," : "");
		if (*g->functions.all[i]->file)
			fah_out_u64(g->out, g->source[i]);
		else
			fah_out_adds(g->out, "null");
	}
	fah_out_adds(g->out, "],\"lineNumber\":[");
	for (size_t i = 0; i < n; i++) {
		fah_out_adds(g->out, i ? "," : "");
		if (g->functions.all[i]->first_line)
			fah_out_u64(g->out, g->functions.all[i]->first_line);
		else
			fah_out_adds(g->out, "null");
	}
	fah_out_addc(g->out, ']');
	add_same(g, "columnNumber", n, "null");
	fah_out_addc(g->out, '}');
}

/* Names of functions, files, then of states: running, and each reason to wait. */
static void add_strings(struct gecko *g)
{
	char name[64];

	fah_out_adds(g->out, ",\"stringArray\":[");
	g->n = 0;
	for (size_t i = 0; i < g->functions.n; i++) {
		next(g);
		fah_out_json(g->out, g->functions.all[i]->name);
	}
	for (size_t i = 0; i < g->files.n; i++) {
		next(g);
		fah_out_json(g->out, g->file_names[i]);
	}
	for (uint32_t i = 0; i <= FAH_WAIT_COUNT; i++) {
		next(g);
		snprintf(name, sizeof(name), "waiting (%s)", i ? fah_wait_words(i - 1) : "");
		fah_out_json(g->out, i ? name : "running");
	}
	fah_out_addc(g->out, ']');
}

static void add_shared(struct gecko *g)
{
	fah_out_adds(g->out, "\"shared\":{");
	add_stack_table(g);
	add_frame_table(g);
	add_func_table(g);
	fah_out_adds(g->out, ",\"nativeSymbols\":{\"length\":0,\"address\":[],\"functionSize\":[],"
			     "\"libIndex\":[],\"name\":[]},\"resourceTable\":{\"length\":0,"
			     "\"lib\":[],\"name\":[],\"host\":[],\"type\":[]}");
	fah_out_addf(g->out, ",\"sources\":{\"length\":%zu", g->files.n);
	add_same(g, "uuid", g->files.n, "null");
	ADD_COLUMN(g, "filename", g->files.n, "%zu", g->functions.n + i);
	fah_out_addc(g->out, '}');
	add_strings(g);
	fah_out_addc(g->out, '}');
}

/* A sample stands for what was before it. */
static void pass_sample(void *context, const struct fah_sight *sight)
{
	const struct fah_moment *m = sight->moment;
	struct gecko *g = context;
	struct fah_span span = {
		.begin_ns = m->time_ns > m->length_ns ? m->time_ns - m->length_ns : 0,
		.end_ns = m->time_ns,
		.path = sight->path,
		.is_wait = m->is_wait,
		.cpu_ns = m->is_wait ? 0 : m->length_ns,
		.seconds = m->seconds,
	};

	if (span.begin_ns < g->last_ns)
		span.begin_ns = g->last_ns < span.end_ns ? g->last_ns : span.end_ns;
	g->last_ns = span.end_ns;
	g->fn(g->context, &span);
}

static int visit_samples(void *gecko, uint32_t thread, fah_span_fn *fn, void *context)
{
	struct gecko *g = gecko;

	g->last_ns = 0;
	g->fn = fn;
	g->context = context;
	return fah_stacks_visit(g->stacks, thread, FAH_OWN_TIME, pass_sample, g);
}

static void keep(void *context, const struct fah_span *span)
{
	struct gecko *g = context;

	if (g->n_kept == g->room) {
		size_t room = g->room ? g->room * 2 : 1024;
		struct fah_span *grown = reallocarray(g->kept, room, sizeof(*grown));

		if (!grown) {
			g->failed = true;
			return;
		}
		g->kept = grown;
		g->room = room;
	}
	g->kept[g->n_kept++] = *span;
}

static void add_cell(struct gecko *g, enum column column, const struct fah_span *span)
{
	uint32_t state = span->is_wait ? span->reason + 1 : 0;

	next(g);
	switch (column) {
	case STACK:
		fah_out_u64(g->out, span->path - 1);
		break;
	case WEIGHT:
		fah_out_seconds(g->out, span->seconds * 1e3);
		break;
	case CPU:
		fah_out_u64(g->out, span->cpu_ns / 1000);
		break;
	case NAME:
		fah_out_u64(g->out, g->functions.n + g->files.n + state);
		break;
	case START:
		fah_out_seconds(g->out, (double)span->begin_ns * 1e-6);
		break;
	case TIME:
	case END:
		fah_out_seconds(g->out, (double)span->end_ns * 1e-6);
		break;
	case DATA:
		fah_out_adds(g->out, "{\"type\":\"state\",\"state\":\"");
		if (state)
			fah_out_addf(g->out, "waiting (%s)\"}", fah_wait_words(span->reason));
		else
			fah_out_adds(g->out, "running\"}");
		break;
	case CATEGORY:
		fah_out_u64(g->out, state ? WAITING : PYTHON);
		break;
	case PHASE: /* an interval */
		fah_out_u64(g->out, 1);
	}
}

struct column_key {
	enum column column;
	const char *key;
};

/* What was kept, as "length" and the columns; the table ends with it. */
static void add_columns(struct gecko *g, const struct column_key *columns, size_t n)
{
	fah_out_addf(g->out, "\"length\":%zu", g->n_kept);
	for (size_t k = 0; k < n; k++) {
		fah_out_addf(g->out, ",\"%s\":[", columns[k].key);
		g->n = 0;
		for (size_t i = 0; i < g->n_kept; i++)
			add_cell(g, columns[k].column, &g->kept[i]);
		fah_out_addc(g->out, ']');
	}
	fah_out_addc(g->out, '}');
}

static int add_samples(struct gecko *g, uint32_t thread)
{
	static const struct column_key columns[] = {
		{STACK, "stack"}, {TIME, "time"}, {WEIGHT, "weight"}, {CPU, "threadCPUDelta"}};
	int err;

	g->n_kept = 0;
	fah_merge_begin(g->merge, keep, g);
	err = visit_samples(g, thread, fah_merge_add, g->merge);
	fah_merge_end(g->merge);
	fah_out_adds(g->out, ",\"samples\":{\"weightType\":\"tracing-ms\",");
	add_columns(g, columns, sizeof(columns) / sizeof(*columns));
	return g->failed ? FAH_ERR_NOMEM : err;
}

static int add_markers(struct gecko *g, uint32_t thread)
{
	static const struct column_key columns[] = {{NAME, "name"},	    {START, "startTime"},
						    {END, "endTime"},	    {DATA, "data"},
						    {CATEGORY, "category"}, {PHASE, "phase"}};
	int err;

	g->n_kept = 0;
	fah_merge_begin(g->states, keep, g);
	err = fah_spans_states(g->stacks, thread, fah_merge_add, g->states);
	fah_merge_end(g->states);
	fah_out_adds(g->out, ",\"markers\":{");
	add_columns(g, columns, sizeof(columns) / sizeof(*columns));
	return g->failed ? FAH_ERR_NOMEM : err;
}

static void add_ms(struct gecko *g, const char *key, uint64_t ns)
{
	fah_out_addf(g->out, ",\"%s\":", key);
	fah_out_seconds(g->out, (double)ns * 1e-6);
}

static int add_thread(struct gecko *g, uint32_t i, const struct fah_thread *t,
		      const struct fah_process *process)
{
	int err;

	fah_out_adds(g->out, "{\"name\":");
	fah_out_json(g->out, *t->name ? t->name : "thread");
	fah_out_addf(g->out,
		     ",\"isMainThread\":%s,\"pid\":\"%u\",\"tid\":%u,\"processType\":\"default\","
		     "\"pausedRanges\":[],\"showMarkersInTimeline\":true,\"processName\":",
		     t->tid == process->pid ? "true" : "false", process->pid, t->tid);
	fah_out_json(g->out, process->cmdline);
	add_ms(g, "processStartupTime", process->start_ns);
	add_ms(g, "processShutdownTime", process->end_ns);
	add_ms(g, "registerTime", t->start_ns);
	add_ms(g, "unregisterTime", t->end_ns);
	err = add_samples(g, i);
	if (err == 0)
		err = add_markers(g, i);
	fah_out_addc(g->out, '}');
	return err;
}

static void add_meta(struct gecko *g, const struct fah_profile *p)
{
	const struct fah_totals *totals = fah_profile_totals(p);
	const char *start = fah_profile_meta(p, "start_real_ns"),
		   *command = fah_profile_meta(p, "command");
	double rate = totals->rate_reached > 0 ? totals->rate_reached : totals->rate_asked;
	double start_ms = start ? strtod(start, NULL) * 1e-6 : 0;

	fah_out_adds(g->out, "{\"meta\":{\"preprocessedProfileVersion\":60,\"version\":24,"
			     "\"product\":");
	fah_out_json(g->out, command ? command : "Python");
	fah_out_adds(g->out, ",\"startTime\":");
	fah_out_addf(g->out, "%.3f", start_ms);
	fah_out_adds(g->out, ",\"interval\":");
	fah_out_seconds(g->out, rate > 0 ? 1e3 / rate : 1);
	fah_out_addf(g->out,
		     ",\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
		     "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
		     "\"importedFrom\":\"Fixing-A-Hole " FAH_VERSION "\",\"sampleUnits\":{\"time\":"
		     "\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"\xc2\xb5s\"},"
		     "\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]},"
		     "\"categories\":%s,\"markerSchema\":%s},\"libs\":[],\"pages\":[],",
		     categories, schema);
}

/* Stacks get their numbers when they are first seen, and stand before the threads. */
static int count_all(struct gecko *g)
{
	g->merge = fah_merge_new(g->stacks, FAH_MERGE_SPANS, SAMPLES_MAX);
	g->states = fah_merge_new(g->stacks, FAH_MERGE_STATES, MARKERS_MAX);
	if (!g->merge || !g->states)
		return FAH_ERR_NOMEM;
	return fah_merge_windows(g->merge, g->states, visit_samples, g, "gecko", g->out);
}

static int prepare(struct gecko *g)
{
	int err = count_all(g);

	g->frames = fah_stacks_frames(g->stacks, &g->n_frames);
	g->paths = fah_stacks_paths(g->stacks, &g->n_paths);
	if (err == 0)
		err = fah_functions_init(&g->functions, g->frames, g->n_frames);
	if (err < 0)
		return err;
	g->source = calloc(g->functions.n + 1, sizeof(*g->source));
	g->file_names = calloc(g->functions.n + 1, sizeof(*g->file_names));
	if (!g->source || !g->file_names)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < g->functions.n; i++) {
		const char *file = g->functions.all[i]->file;
		uint32_t *slot = fah_strmap_put(&g->files, file, strlen(file), NULL, NULL);

		if (!slot)
			return FAH_ERR_NOMEM;
		if (!*slot) {
			*slot = (uint32_t)g->files.n;
			g->file_names[*slot - 1] = file;
		}
		g->source[i] = *slot - 1;
	}
	return 0;
}

static void release(struct gecko *g)
{
	fah_functions_release(&g->functions);
	fah_strmap_release(&g->files);
	free(g->source);
	free(g->file_names);
	fah_merge_free(g->merge);
	fah_merge_free(g->states);
	free(g->kept);
}

static int write_gecko(struct fah_out *out, struct fah_stacks *stacks)
{
	_cleanup_(release) struct gecko g = {.out = out, .stacks = stacks};
	struct fah_profile *p = fah_stacks_profile(stacks);
	size_t n_threads, n_processes;
	const struct fah_thread *threads = fah_profile_threads(p, &n_threads);
	const struct fah_process *processes = fah_profile_processes(p, &n_processes);
	int err = prepare(&g);

	if (err < 0)
		return err;
	add_meta(&g, p);
	add_shared(&g);
	fah_out_adds(out, ",\"threads\":[");
	for (uint32_t i = 0; err == 0 && i < n_threads; i++) {
		fah_out_adds(out, i ? ",\n" : "\n");
		err = add_thread(&g, i, &threads[i], &processes[threads[i].process]);
	}
	fah_out_adds(out, "]}\n");
	return err;
}

const struct fah_export fah_export_gecko = {
	.name = "gecko",
	.aliases = {"firefox"},
	.extensions = {".gecko.json", ".profile.json"},
	.summary = "the Firefox Profiler (profiler.firefox.com), thread states as markers",
	.write = write_gecko,
};
