/*
 * speedscope.c - speedscope's own file format: one "sampled" profile a thread, samples in time
 * order, weights in nanoseconds of the thread's own time. So its "time order" is the thread's life
 * without what is not shown, and its "left heavy" adds up to the thread's CPU.
 *
 * Of memory, blocks in the order of their births, weights in bytes.
 *
 * Samples that follow each other with the same stack are one with their weights added, which looks
 * the same in both. Each is written with all its frames, so 10 million would be a gigabyte that no
 * browser opens: where there are more than STACKS_MAX, those of one stack are added up within
 * windows of so many samples, the smallest that is enough. Left heavy stays exact, time order is
 * then true to a window.
 *
 * The text of a stack is made once, as long as there is room for it: it is long, and a thread has
 * few.
 */
#include "base/cleanup.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "core/err.h"
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>

#define TEXTS_MAX (64u << 20) /* bytes; stacks beyond that are written anew each time */
#define STACKS_MAX 1000000    /* of a file */
#define STACKS_MIN 1000	      /* of a thread */
#define WINDOWS 8	      /* sizes that are tried, each WINDOW_STEP times the one before */
#define WINDOW_FIRST 4
#define WINDOW_STEP 8

struct text {
	uint64_t at; /* into texts, + 1; 0: not made */
	uint32_t len;
};

struct part { /* of a window */
	uint32_t path;
	double seconds;
};

struct scope {
	struct fah_out *out;
	struct fah_stacks *stacks;
	struct fah_strbuf texts;
	struct text *by_path;
	size_t n_by_path;
	uint32_t *stamps;   /* by path: in which window it was seen last */
	uint32_t *places;   /* by path: where it stands in the window */
	size_t window;	    /* samples; 0: there are none, only what follows each other is one */
	struct part *parts; /* of the window at hand */
	size_t n_parts, in_window;
	uint32_t stamp;
	struct fah_strbuf scratch;
	uint32_t *up;
	size_t cap_up;
	uint32_t path;	   /* the stack at hand; 0: none yet */
	uint64_t ns;	   /* its weight */
	double rest;	   /* what rounding left */
	uint64_t *weights; /* of the stacks that were written of this profile */
	size_t runs, cap_weights;
	size_t largest; /* window of all threads */
	bool failed;
};

static bool room_for(struct scope *s, uint32_t path)
{
	size_t n = s->n_by_path ? s->n_by_path : 1024;
	struct text *grown;

	if (path < s->n_by_path)
		return true;
	while (n <= path)
		n *= 2;
	grown = reallocarray(s->by_path, n, sizeof(*grown));
	if (!grown)
		return false;
	memset(grown + s->n_by_path, 0, (n - s->n_by_path) * sizeof(*grown));
	s->by_path = grown;
	s->n_by_path = n;
	return true;
}

static void add_number(struct fah_strbuf *sb, uint32_t v)
{
	char text[12], *end = text + sizeof(text), *p = end;

	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	fah_strbuf_add(sb, p, (size_t)(end - p));
}

/* "[3,1,4]", root first. */
static void make_text(struct scope *s, struct fah_strbuf *sb, uint32_t path)
{
	const struct fah_path *paths;
	size_t n_paths, n = 0;

	paths = fah_stacks_paths(s->stacks, &n_paths);
	for (; path; path = paths[path].parent) {
		if (n == s->cap_up) {
			size_t cap = s->cap_up ? s->cap_up * 2 : 256;
			uint32_t *grown = reallocarray(s->up, cap, sizeof(*grown));

			if (!grown) {
				s->failed = true;
				return;
			}
			s->up = grown;
			s->cap_up = cap;
		}
		s->up[n++] = paths[path].frame;
	}
	fah_strbuf_addc(sb, '[');
	while (n--) {
		add_number(sb, s->up[n]);
		fah_strbuf_addc(sb, n ? ',' : ']');
	}
	s->failed |= sb->failed;
}

static void write_stack(struct scope *s, uint32_t path)
{
	struct text *t;

	if (!room_for(s, path)) {
		s->failed = true;
		return;
	}
	t = &s->by_path[path];
	if (!t->at && s->texts.len < TEXTS_MAX) {
		size_t from = s->texts.len;

		make_text(s, &s->texts, path);
		*t = (struct text){from + 1, (uint32_t)(s->texts.len - from)};
	}
	if (t->at) {
		fah_out_add(s->out, s->texts.p + t->at - 1, t->len);
		return;
	}
	fah_strbuf_truncate(&s->scratch, 0);
	make_text(s, &s->scratch, path);
	fah_out_add(s->out, fah_strbuf_str(&s->scratch), s->scratch.len);
}

/* The stack at hand is whole. */
static void end_run(struct scope *s)
{
	if (!s->path || s->failed)
		return;
	if (s->runs == s->cap_weights) {
		size_t cap = s->cap_weights ? s->cap_weights * 2 : 1024;
		uint64_t *grown = reallocarray(s->weights, cap, sizeof(*grown));

		if (!grown) {
			s->failed = true;
			return;
		}
		s->weights = grown;
		s->cap_weights = cap;
	}
	if (s->runs)
		fah_out_addc(s->out, ',');
	write_stack(s, s->path);
	s->weights[s->runs++] = s->ns;
}

static void add_run(struct scope *s, uint32_t path, double seconds)
{
	double ns = seconds * fah_view_scale(fah_stacks_view(s->stacks), 1e9) + s->rest;
	uint64_t whole = ns >= 0.5 ? (uint64_t)(ns + 0.5) : 0;

	s->rest = ns - (double)whole;
	if (path == s->path) {
		s->ns += whole;
		return;
	}
	end_run(s);
	s->path = path;
	s->ns = whole;
}

static void end_window(struct scope *s)
{
	for (size_t i = 0; i < s->n_parts; i++)
		add_run(s, s->parts[i].path, s->parts[i].seconds);
	s->n_parts = s->in_window = 0;
	s->stamp++;
}

static void see(void *context, const struct fah_sight *sight)
{
	struct scope *s = context;

	if (!s->window) {
		add_run(s, sight->path, sight->moment->seconds);
		return;
	}
	if (s->stamps[sight->path] != s->stamp) {
		s->stamps[sight->path] = s->stamp;
		s->places[sight->path] = (uint32_t)s->n_parts;
		s->parts[s->n_parts++] = (struct part){sight->path, 0};
	}
	s->parts[s->places[sight->path]].seconds += sight->moment->seconds;
	if (++s->in_window == s->window)
		end_window(s);
}

/* How many stacks there would be by window. */
struct counter {
	uint32_t *stamps; /* by path, by window */
	size_t paths;
	bool failed;
	uint64_t seen, runs[WINDOWS];
};

static void count(void *context, const struct fah_sight *sight)
{
	struct counter *c = context;
	uint64_t window = c->seen++ / WINDOW_FIRST;
	uint32_t *stamps;

	if (sight->path >= c->paths) {
		size_t n = (size_t)sight->path * 2 + 1024;

		stamps = reallocarray(c->stamps, n, WINDOWS * sizeof(*stamps));
		c->failed |= !stamps;
		if (c->failed)
			return;
		memset(stamps + c->paths * WINDOWS, 0, (n - c->paths) * WINDOWS * sizeof(*stamps));
		c->stamps = stamps;
		c->paths = n;
	}
	stamps = c->stamps + (size_t)sight->path * WINDOWS;
	for (int i = 0; i < WINDOWS; i++, window /= WINDOW_STEP) {
		c->runs[i] += stamps[i] != (uint32_t)window + 1;
		stamps[i] = (uint32_t)window + 1;
	}
}

/* The smallest window that leaves this thread its share of STACKS_MAX. */
static int choose_window(struct scope *s, uint32_t thread)
{
	const struct fah_profile *p = fah_stacks_profile(s->stacks);
	uint64_t all = fah_profile_totals(p)->samples, most = STACKS_MAX;
	bool memory = fah_stacks_view(s->stacks)->memory;
	struct counter c = {0};
	size_t n, i = 0;
	int err;

	s->window = 0;
	if (all <= STACKS_MAX && !memory)
		return 0;
	if (!memory)
		most = (uint64_t)((double)fah_profile_threads(p, &n)[thread].samples / (double)all *
				  STACKS_MAX);
	err = fah_stacks_visit(s->stacks, thread, FAH_OWN_TIME, count, &c);
	free(c.stamps);
	if (err < 0 || c.failed)
		return err < 0 ? err : FAH_ERR_NOMEM;
	if (memory && c.seen <= STACKS_MAX) /* one thread asks for nearly all of it */
		return 0;
	for (s->window = WINDOW_FIRST; i < WINDOWS - 1; i++, s->window *= WINDOW_STEP)
		if (c.runs[i] <= (most < STACKS_MIN ? STACKS_MIN : most))
			break;
	if (s->window > s->largest)
		s->largest = s->window;
	fah_stacks_paths(s->stacks, &n); /* all are known now */
	free(s->stamps);
	free(s->places);
	free(s->parts);
	s->stamps = calloc(n, sizeof(*s->stamps));
	s->places = calloc(n, sizeof(*s->places));
	s->parts = calloc(n, sizeof(*s->parts));
	return s->stamps && s->places && s->parts ? 0 : FAH_ERR_NOMEM;
}

static int write_stacks(struct scope *s, uint32_t thread)
{
	int err;

	s->path = 0;
	s->ns = s->runs = 0;
	s->rest = 0;
	s->stamp++;
	err = fah_stacks_visit(s->stacks, thread, FAH_OWN_TIME, see, s);
	end_window(s);
	end_run(s);
	return err < 0 ? err : s->failed ? FAH_ERR_NOMEM : 0;
}

static void write_name(struct scope *s, uint32_t thread)
{
	const struct fah_profile *p = fah_stacks_profile(s->stacks);
	size_t n_threads, n_processes;
	const struct fah_thread *t = &fah_profile_threads(p, &n_threads)[thread];
	const struct fah_process *process = fah_profile_processes(p, &n_processes);

	fah_strbuf_truncate(&s->scratch, 0);
	if (n_processes > 1)
		fah_strbuf_addf(&s->scratch, "process %u, ", process[t->process].pid);
	fah_strbuf_addf(&s->scratch, "thread %u", t->tid);
	if (*t->name)
		fah_strbuf_addf(&s->scratch, " (%s)", t->name);
	s->failed |= s->scratch.failed;
	fah_out_json(s->out, fah_strbuf_str(&s->scratch));
}

static int write_thread(struct scope *s, uint32_t thread, bool first)
{
	uint64_t total = 0;
	int err;

	fah_out_adds(s->out, first ? "\n{\"type\":\"sampled\",\"name\":"
				   : ",\n{\"type\":\"sampled\",\"name\":");
	write_name(s, thread);
	fah_out_addf(s->out, ",\"unit\":\"%s\",\"startValue\":0,\n\"samples\":[",
		     fah_stacks_view(s->stacks)->memory ? "bytes" : "nanoseconds");
	err = choose_window(s, thread);
	if (err == 0)
		err = write_stacks(s, thread);
	if (err < 0)
		return err;
	fah_out_adds(s->out, "],\n\"weights\":[");
	for (size_t i = 0; i < s->runs; i++) {
		if (i)
			fah_out_addc(s->out, ',');
		fah_out_u64(s->out, s->weights[i]);
		total += s->weights[i];
	}
	fah_out_addf(s->out, "],\n\"endValue\":%" PRIu64 "}", total);
	return 0;
}

static void any(void *context, const struct fah_sight *sight)
{
	(void)sight;
	*(bool *)context = true;
}

/* The threads that the view shows something of; a profile without any would not open. */
static int write_profiles(struct scope *s)
{
	const struct fah_profile *p = fah_stacks_profile(s->stacks);
	const struct fah_view *view = fah_stacks_view(s->stacks);
	const struct fah_thread *threads;
	bool first = true;
	size_t n;

	threads = fah_profile_threads(p, &n);
	for (uint32_t i = 0; i < n; i++) {
		bool seen = threads[i].samples && !view->gil && !view->only && !view->memory;
		int err = 0;

		if (!seen && (threads[i].samples || view->idle || view->memory))
			err = fah_stacks_visit(s->stacks, i, FAH_OWN_TIME, any, &seen);
		if (err == 0 && seen) {
			err = write_thread(s, i, first);
			first = false;
		}
		if (err < 0)
			return err;
	}
	if (first)
		fah_out_adds(s->out,
			     "\n{\"type\":\"sampled\",\"name\":\"no samples\",\"unit\":"
			     "\"nanoseconds\",\"startValue\":0,\"endValue\":0,\"samples\":[],"
			     "\"weights\":[]}");
	return 0;
}

static void write_frames(struct scope *s)
{
	size_t n;
	const struct fah_frame *frames = fah_stacks_frames(s->stacks, &n);

	for (size_t i = 0; i < n; i++) {
		fah_out_adds(s->out, i ? ",\n{\"name\":" : "\n{\"name\":");
		fah_out_json(s->out, frames[i].name);
		if (*frames[i].file) {
			fah_out_adds(s->out, ",\"file\":");
			fah_out_json(s->out, frames[i].file);
		}
		if (frames[i].line)
			fah_out_addf(s->out, ",\"line\":%u", frames[i].line);
		fah_out_addc(s->out, '}');
	}
}

static int write_speedscope(struct fah_out *out, struct fah_stacks *stacks)
{
	const char *command = fah_profile_meta(fah_stacks_profile(stacks), "command");
	struct scope s = {.out = out, .stacks = stacks};
	int err;

	fah_out_adds(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			  "\"exporter\":\"fixingahole " FAH_VERSION "\",\n\"name\":");
	fah_out_json(out, command ? command : "fixingahole");
	fah_out_adds(out, ",\n\"activeProfileIndex\":0,\n\"profiles\":[");
	err = write_profiles(&s);
	fah_out_adds(out, "],\n\"shared\":{\"frames\":[");
	if (err == 0)
		write_frames(&s);
	fah_out_adds(out, "]}}\n");
	if (s.largest)
		fah_out_note(out,
			     "speedscope: more than %s samples, which it does not open: those of "
			     "one stack are added up within windows of up to %s samples; sums stay "
			     "exact. --only FUNC shows less, -f jsonl every sample",
			     fah_num_count(STACKS_MAX).s, fah_num_count(s.largest).s);
	fah_strbuf_release(&s.texts);
	fah_strbuf_release(&s.scratch);
	free(s.by_path);
	free(s.stamps);
	free(s.places);
	free(s.parts);
	free(s.weights);
	free(s.up);
	return err;
}

const struct fah_export fah_export_speedscope = {
	.name = "speedscope",
	.extensions = {".speedscope.json", ".speedscope"},
	.summary = "for https://speedscope.app: each thread in time order and left heavy",
	.memory = true,
	.write = write_speedscope,
};
