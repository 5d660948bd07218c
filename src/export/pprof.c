/*
 * pprof.c - the profile.proto of pprof, compressed: one sample a stack and thread, with the number
 * of samples and the CPU of the thread in nanoseconds; with idle also all of its time, waiting
 * included; of memory the number of recorded blocks and the bytes that they stand for.
 *
 * A message is built in memory, the file is streamed: repeated fields may come in any order, so the
 * tables that samples refer to stand behind them. Frames have no addresses, and their names are
 * known: no tool has to look for symbols.
 */
#include "base/cleanup.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "core/err.h"
#include "core/varint.h"
#include "export/export.h"
#include "export/gzip.h"

#include <inttypes.h>
#include <stdlib.h>

/* Field numbers, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
};
enum { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3 };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_FUNCTIONS = 7, MAPPING_FILES, MAPPING_LINES };
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
/* No system_name: where it is the same as the name, pprof takes "<module>" for a template. */
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILE = 4, FUNCTION_START = 5 };

struct pprof {
	struct fah_stacks *stacks;
	struct fah_gzip *gz;
	struct fah_strbuf message, inner, clean;
	struct fah_strmap strings; /* text -> index */
	const char **texts;
	size_t n_texts, cap_texts;
	struct fah_map functions, mappings; /* of strings' indices -> id */
	double rest_ns;
	bool failed;
};

static void put(struct fah_strbuf *sb, uint64_t v)
{
	uint8_t bytes[FAH_VARINT_MAX];

	fah_strbuf_add(sb, bytes, (size_t)(fah_put_varint(bytes, v) - bytes));
}

static void put_field(struct fah_strbuf *sb, unsigned field, uint64_t v)
{
	if (!v) /* the default */
		return;
	put(sb, field << 3);
	put(sb, v);
}

static void put_bytes(struct fah_strbuf *sb, unsigned field, const void *data, size_t len)
{
	put(sb, field << 3 | 2);
	put(sb, len);
	fah_strbuf_add(sb, data, len);
}

/* What stands in message is a field of the profile. */
static void end_message(struct pprof *w, unsigned field)
{
	uint8_t head[2 * FAH_VARINT_MAX], *p = fah_put_varint(head, field << 3 | 2);

	p = fah_put_varint(p, w->message.len);
	fah_gzip_add(w->gz, head, (size_t)(p - head));
	fah_gzip_add(w->gz, fah_strbuf_str(&w->message), w->message.len);
	w->failed |= w->message.failed;
	fah_strbuf_truncate(&w->message, 0);
}

static void put_number(struct pprof *w, unsigned field, uint64_t v)
{
	put_field(&w->inner, field, v);
	fah_gzip_add(w->gz, fah_strbuf_str(&w->inner), w->inner.len);
	fah_strbuf_truncate(&w->inner, 0);
}

/* Strings of a protocol buffer are UTF-8: bytes that are none become U+FFFD. */
static const char *clean(struct pprof *w, const char *s)
{
	size_t left = strlen(s), n;

	fah_strbuf_truncate(&w->clean, 0);
	for (; left; s += n, left -= n) {
		if (fah_utf8_decode(s, left, &n) >= 0)
			fah_strbuf_add(&w->clean, s, n);
		else
			fah_strbuf_adds(&w->clean, "\xef\xbf\xbd");
	}
	w->failed |= w->clean.failed;
	return fah_strbuf_str(&w->clean);
}

static uint32_t string(struct pprof *w, const char *s)
{
	const char *text = clean(w, s), *key;
	bool is_new;
	uint32_t *slot = fah_strmap_put(&w->strings, text, strlen(text), &is_new, &key);

	if (slot && !is_new)
		return *slot;
	if (slot && w->n_texts == w->cap_texts) {
		size_t cap = w->cap_texts ? w->cap_texts * 2 : 256;
		const char **grown = reallocarray(w->texts, cap, sizeof(*grown));

		if (!grown)
			slot = NULL;
		else
			w->texts = grown, w->cap_texts = cap;
	}
	if (!slot) {
		w->failed = true;
		return 0;
	}
	w->texts[w->n_texts] = key;
	return *slot = (uint32_t)w->n_texts++;
}

static void write_type(struct pprof *w, unsigned field, const char *type, const char *unit)
{
	put_field(&w->message, TYPE_TYPE, string(w, type));
	put_field(&w->message, TYPE_UNIT, string(w, unit));
	end_message(w, field);
}

static void put_label(struct pprof *w, uint32_t key, uint32_t text, uint64_t number)
{
	fah_strbuf_truncate(&w->inner, 0);
	put_field(&w->inner, LABEL_KEY, key);
	put_field(&w->inner, LABEL_STR, text);
	put_field(&w->inner, LABEL_NUM, number);
	put_bytes(&w->message, SAMPLE_LABEL, fah_strbuf_str(&w->inner), w->inner.len);
	w->failed |= w->inner.failed;
	fah_strbuf_truncate(&w->inner, 0);
}

struct labels { /* strings */
	uint32_t thread, tid, pid, name;
};

static void write_sample(struct pprof *w, uint32_t path, const struct fah_path_sum *sum,
			 const struct labels *l, const struct fah_thread *thread, uint32_t pid)
{
	size_t n;
	const struct fah_path *paths = fah_stacks_paths(w->stacks, &n);
	const struct fah_frame *frames = fah_stacks_frames(w->stacks, &n);
	const struct fah_view *view = fah_stacks_view(w->stacks);
	double ns = sum->seconds * fah_view_scale(view, 1e9) + w->rest_ns;
	uint64_t whole = ns >= 0.5 ? (uint64_t)(ns + 0.5) : 0;
	bool waits = frames[paths[path].frame].kind == FAH_FRAME_WAIT;

	w->rest_ns = ns - (double)whole;
	fah_strbuf_truncate(&w->inner, 0);
	for (uint32_t i = path; i; i = paths[i].parent)
		put(&w->inner, paths[i].frame + 1);
	put_bytes(&w->message, SAMPLE_LOCATION, fah_strbuf_str(&w->inner), w->inner.len);
	fah_strbuf_truncate(&w->inner, 0);
	put(&w->inner, sum->samples);
	put(&w->inner, waits ? 0 : whole);
	if (view->idle && !view->memory)
		put(&w->inner, whole);
	put_bytes(&w->message, SAMPLE_VALUE, fah_strbuf_str(&w->inner), w->inner.len);
	if (l->name)
		put_label(w, l->thread, l->name, 0);
	put_label(w, l->tid, 0, thread->tid);
	put_label(w, l->pid, 0, pid);
	end_message(w, PROFILE_SAMPLE);
}

static int write_samples(struct pprof *w)
{
	const struct fah_profile *p = fah_stacks_profile(w->stacks);
	const struct fah_process *processes;
	const struct fah_thread *threads;
	struct labels l = {string(w, "thread"), string(w, "tid"), string(w, "pid"), 0};
	size_t n, n_processes;

	threads = fah_profile_threads(p, &n);
	processes = fah_profile_processes(p, &n_processes);
	for (uint32_t t = 0; t < n; t++) {
		const struct fah_path_sum *sums;
		size_t n_paths;
		int err = fah_stacks_sum(w->stacks, t, FAH_OWN_TIME, &sums, &n_paths);

		if (err < 0)
			return err;
		l.name = string(w, threads[t].name);
		for (uint32_t i = 1; i < n_paths; i++)
			if (sums[i].samples || sums[i].seconds > 0)
				write_sample(w, i, &sums[i], &l, &threads[t],
					     processes[threads[t].process].pid);
	}
	return 0;
}

/* The id of what these strings are the key of, from 1; is_new: it is to be written. */
static uint32_t id_of(struct pprof *w, struct fah_map *map, uint32_t a, uint32_t b, uint32_t c,
		      bool *is_new)
{
	uint32_t *slot = fah_map_put(map, fah_key_u32x4(a, b, c, 0), is_new);

	if (!slot) {
		w->failed = true;
		*is_new = false;
		return 0;
	}
	if (*is_new)
		*slot = (uint32_t)map->n;
	return *slot;
}

/* A module, or for Python's own functions the interpreter. */
static uint32_t mapping(struct pprof *w, const char *path)
{
	uint32_t file = string(w, path), id;
	bool is_new;

	id = id_of(w, &w->mappings, file, 0, 0, &is_new);
	if (is_new) {
		put_field(&w->message, MAPPING_ID, id);
		put_field(&w->message, MAPPING_FILE, file);
		for (unsigned has = MAPPING_FUNCTIONS; has <= MAPPING_LINES; has++)
			put_field(&w->message, has, 1);
		end_message(w, PROFILE_MAPPING);
	}
	return id;
}

static uint32_t function(struct pprof *w, const struct fah_frame *f)
{
	uint32_t name = string(w, f->name), file = string(w, f->file), id;
	bool is_new;

	id = id_of(w, &w->functions, name, file, f->first_line, &is_new);
	if (is_new) {
		put_field(&w->message, FUNCTION_ID, id);
		put_field(&w->message, FUNCTION_NAME, name);
		put_field(&w->message, FUNCTION_FILE, file);
		put_field(&w->message, FUNCTION_START, f->first_line);
		end_message(w, PROFILE_FUNCTION);
	}
	return id;
}

static void write_frames(struct pprof *w)
{
	const char *python = fah_profile_meta(fah_stacks_profile(w->stacks), "python");
	size_t n;
	const struct fah_frame *frames = fah_stacks_frames(w->stacks, &n);
	uint32_t interpreter = mapping(w, python && *python ? python : "python");

	for (size_t i = 0; i < n; i++) {
		const struct fah_frame *f = &frames[i];
		uint32_t map = f->kind == FAH_FRAME_NATIVE ? mapping(w, f->file) : interpreter;
		uint32_t func = function(w, f);

		fah_strbuf_truncate(&w->inner, 0);
		put_field(&w->inner, LINE_FUNCTION, func);
		put_field(&w->inner, LINE_LINE, f->line);
		put_field(&w->message, LOCATION_ID, i + 1);
		put_field(&w->message, LOCATION_MAPPING, map);
		put_bytes(&w->message, LOCATION_LINE, fah_strbuf_str(&w->inner), w->inner.len);
		end_message(w, PROFILE_LOCATION);
	}
	fah_strbuf_truncate(&w->inner, 0);
}

static void write_facts(struct pprof *w)
{
	const struct fah_profile *p = fah_stacks_profile(w->stacks);
	const char *start = fah_profile_meta(p, "start_real_ns"),
		   *command = fah_profile_meta(p, "command");
	const struct fah_process *processes;
	const struct fah_view *view = fah_stacks_view(w->stacks);
	size_t n;

	processes = fah_profile_processes(p, &n);
	put_number(w, PROFILE_TIME, start ? strtoull(start, NULL, 10) : 0);
	put_number(w, PROFILE_DURATION, (uint64_t)(fah_profile_totals(p)->wall_s * 1e9));
	if (view->memory) {
		write_type(w, PROFILE_PERIOD_TYPE, "space", "bytes");
	} else {
		write_type(w, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
		put_number(w, PROFILE_PERIOD, n ? processes[0].period_ns : 0);
	}
	put_number(w, PROFILE_COMMENT, string(w, "made by fixingahole " FAH_VERSION));
	if (command)
		put_number(w, PROFILE_COMMENT, string(w, command));
	put_number(w, PROFILE_DEFAULT_TYPE,
		   string(w, view->memory ? "space"
			     : view->idle ? "wall"
					  : "cpu"));
}

static int write_all(struct pprof *w)
{
	const struct fah_view *view = fah_stacks_view(w->stacks);
	bool memory = view->memory;
	int err;

	string(w, ""); /* index 0 */
	write_type(w, PROFILE_SAMPLE_TYPE, memory ? "blocks" : "samples", "count");
	write_type(w, PROFILE_SAMPLE_TYPE, memory ? "space" : "cpu",
		   memory ? "bytes" : "nanoseconds");
	if (view->idle && !memory)
		write_type(w, PROFILE_SAMPLE_TYPE, "wall", "nanoseconds");
	err = write_samples(w);
	if (err < 0)
		return err;
	write_frames(w);
	write_facts(w);
	for (size_t i = 0; i < w->n_texts; i++) {
		fah_strbuf_adds(&w->message, w->texts[i]);
		end_message(w, PROFILE_STRING);
	}
	fah_gzip_end(w->gz);
	return w->failed ? FAH_ERR_NOMEM : 0;
}

static int write_pprof(struct fah_out *out, struct fah_stacks *stacks)
{
	struct pprof w = {.stacks = stacks};
	int err = fah_gzip_new(out, &w.gz);

	if (err == 0)
		err = write_all(&w);
	fah_gzip_free(w.gz);
	fah_strbuf_release(&w.message);
	fah_strbuf_release(&w.inner);
	fah_strbuf_release(&w.clean);
	fah_strmap_release(&w.strings);
	fah_map_release(&w.functions);
	fah_map_release(&w.mappings);
	free(w.texts);
	return err;
}

const struct fah_export fah_export_pprof = {
	.name = "pprof",
	.extensions = {".pb.gz", ".pprof"},
	.summary = "for go tool pprof, Pyroscope and others: stacks with samples and CPU",
	.binary = true,
	.memory = true,
	.write = write_pprof,
};
