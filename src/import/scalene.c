/*
 * scalene.c - a JSON profile of scalene's as a capture.
 *
 * Its lines have percentages of the run, in Python, native code and the system; waiting is in the
 * last. Each becomes samples: as many in all as the file lists, or, before it did, one each 10 ms,
 * which is the interval that scalene has unless told otherwise. So shares come out as they are in
 * the file, and their intervals as wide as its samples make them. A line's function is the one that
 * begins where the line says; functions' own percentages are not used, since they are not the sum
 * of their lines in every version.
 */
#include "import/import.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "core/err.h"
#include "core/segment.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_NS 10000000.0 /* scalene's default */
#define ELAPSED_MAX 1e9	       /* seconds; more is no run */
#define SAMPLES_MAX 1e6

struct importer {
	struct fah_writer *w;
	uint32_t thread;
	double at_ns, elapsed_ns, interval_ns;
	uint64_t samples;
};

/* 0 where it is no number, or none that can be. */
static double number_of(const struct fah_json_value *object, const char *key)
{
	const struct fah_json_value *v = fah_json_get(object, key);

	return v && v->type == FAH_JSON_NUMBER && isfinite(v->number) && v->number > 0 ? v->number
										       : 0;
}

static uint32_t line_of(const struct fah_json_value *object, const char *key)
{
	double n = number_of(object, key);

	return n < 1e9 ? (uint32_t)n : 0;
}

static struct fah_json_text text_of(const struct fah_json_value *object, const char *key)
{
	const struct fah_json_value *v = fah_json_get(object, key);

	return v && v->type == FAH_JSON_STRING ? v->string : (struct fah_json_text){"", 0};
}

bool fah_import_is_scalene(const struct fah_json_value *json)
{
	const struct fah_json_value *files = fah_json_get(json, "files");

	return files && files->type == FAH_JSON_OBJECT && fah_json_get(json, "elapsed_time_sec") &&
	       fah_json_get(json, "max_footprint_mb");
}

static void add_samples(struct importer *in, double percent, uint32_t flags, uint32_t node)
{
	double left = percent / 100 * in->elapsed_ns;

	/* of a file that claims more than there was, no more than there was */
	if (left > in->elapsed_ns - in->at_ns)
		left = in->elapsed_ns - in->at_ns;
	while (left >= 1000) {
		double ns = left < 1.5 * in->interval_ns ? left : in->interval_ns;

		in->at_ns += ns;
		left -= ns;
		in->samples++;
		fah_writer_sample(in->w, in->thread, (uint64_t)in->at_ns, (uint64_t)ns, flags,
				  node);
	}
}

/* The function that begins at a line; NULL: none, so the line is the module's own. */
static const struct fah_json_value *function_at(const struct fah_json_value *file, uint32_t line)
{
	const struct fah_json_value *functions = fah_json_get(file, "functions"), *f;

	for (f = functions && functions->type == FAH_JSON_ARRAY ? functions->first : NULL; f;
	     f = f->next)
		if (line && line_of(f, "lineno") == line)
			return f;
	return NULL;
}

/* Lines of one loop have one list in common: it counts once. */
static size_t samples_of(const struct fah_json_value *file)
{
	const struct fah_json_value *lines = fah_json_get(file, "lines"), *line;
	double last = 0;
	size_t n = 0;

	for (line = lines && lines->type == FAH_JSON_ARRAY ? lines->first : NULL; line;
	     line = line->next) {
		const struct fah_json_value *list = fah_json_get(line, "cpu_samples_list");

		if (!list || list->type != FAH_JSON_ARRAY || !list->first ||
		    list->first->number == last)
			continue;
		last = list->first->number;
		n += list->n;
	}
	return n;
}

static int add_line(struct importer *in, const struct fah_json_value *file, uint32_t path,
		    const struct fah_json_value *line)
{
	uint32_t first = line_of(line, "start_function_line"), name, function, node;
	double python = number_of(line, "n_cpu_percent_python");
	double native = number_of(line, "n_cpu_percent_c"),
	       in_system = number_of(line, "n_sys_percent");
	const struct fah_json_value *f;
	struct fah_json_text text = {"<module>", 8};

	if (!(python + native + in_system > 0))
		return 0; /* all lines of a file are listed */
	f = function_at(file, first);
	if (f)
		text = text_of(f, "line");
	else
		first = 1;
	name = fah_writer_string(in->w, text.p, text.len);
	function = fah_writer_function(in->w, path, name, name, first);
	node = fah_writer_node(in->w, 0, function, line_of(line, "lineno"));
	if (!node)
		return FAH_ERR_NOMEM;
	add_samples(in, python, FAH_IN_PYTHON, node);
	add_samples(in, native, FAH_IN_NATIVE, node);
	add_samples(in, in_system, FAH_IN_SYSTEM, node);
	return 0;
}

static int add_file(struct importer *in, const struct fah_json_value *file)
{
	const struct fah_json_value *lines = fah_json_get(file, "lines"), *line;
	uint32_t path = fah_writer_string(in->w, file->key.p, file->key.len);
	int err = path ? 0 : FAH_ERR_NOMEM;

	for (line = lines && lines->type == FAH_JSON_ARRAY ? lines->first : NULL; err == 0 && line;
	     line = line->next)
		err = add_line(in, file, path, line);
	return err;
}

static void meta_text(struct fah_writer *w, const char *key, struct fah_json_text text)
{
	char *copy = strndup(text.p, text.len);

	if (copy && *copy)
		fah_writer_meta(w, key, copy);
	free(copy);
}

/* "work.py --size 10" */
static void add_arguments(struct fah_strbuf *sb, const struct fah_json_value *args)
{
	const struct fah_json_value *v;

	for (v = args && args->type == FAH_JSON_ARRAY ? args->first : NULL; v; v = v->next) {
		if (v->type != FAH_JSON_STRING)
			continue;
		fah_strbuf_addc(sb, ' ');
		fah_strbuf_add(sb, v->string.p, v->string.len);
	}
}

static void add_about(struct fah_writer *w, const struct fah_json_value *json)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf command = FAH_STRBUF_INIT;
	struct fah_json_text program = text_of(json, "program"),
			     root = text_of(json, "entrypoint_dir");
	double start = number_of(json, "start_time_absolute");
	char text[32];

	fah_writer_meta(w, "imported", "scalene");
	fah_writer_meta(w, "trace", "no"); /* lines have no callers here */
	fah_strbuf_adds(&command, "scalene");
	add_arguments(&command, fah_json_get(json, "args"));
	fah_writer_meta(w, "command", fah_strbuf_str(&command));
	meta_text(w, "script", program);
	if (!root.len && program.len) { /* before 1.5.40 it is not there */
		root = program;
		while (root.len && root.p[root.len - 1] != '/')
			root.len--;
		root.len -= root.len > 1;
	}
	meta_text(w, "root", root);
	meta_text(w, "cwd", root);
	if (start > 0 && start < ELAPSED_MAX * 10) {
		snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)(start * 1e9));
		fah_writer_meta(w, "start_real_ns", text);
	}
}

static uint32_t add_process(struct fah_writer *w, const struct fah_json_value *json,
			    double interval_ns)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf line = FAH_STRBUF_INIT;
	struct fah_process_def def = {.pid = 1, .period_ns = (uint64_t)interval_ns};

	fah_strbuf_adds(&line, "python");
	add_arguments(&line, fah_json_get(json, "args"));
	def.cmdline = fah_strbuf_str(&line);
	def.cmdline_len = line.len;
	return fah_writer_process(w, &def);
}

static double find_interval(struct fah_writer *w, const struct fah_json_value *json,
			    double elapsed_ns)
{
	const struct fah_json_value *file = fah_json_get(json, "files")->first;
	char text[32];
	size_t n = 0;

	for (; file; file = file->next)
		n += samples_of(file);
	if (!n || n > SAMPLES_MAX || elapsed_ns / (double)n < 1000)
		return fmax(INTERVAL_NS, elapsed_ns / SAMPLES_MAX);
	snprintf(text, sizeof(text), "%zu", n);
	fah_writer_meta(w, "imported_samples", text);
	return elapsed_ns / (double)n;
}

int fah_import_scalene(const struct fah_json_value *json, struct fah_writer *w,
		       struct fah_run_end *ret_end)
{
	const struct fah_json_value *file;
	struct importer in = {.w = w, .elapsed_ns = number_of(json, "elapsed_time_sec") * 1e9};
	struct fah_process_end end = {.status = FAH_AGENT_ENDED, .reason = ""};
	int err = 0;

	if (in.elapsed_ns > ELAPSED_MAX * 1e9)
		return FAH_ERR_FORMAT;
	add_about(w, json);
	in.interval_ns = find_interval(w, json, in.elapsed_ns);
	end.process = add_process(w, json, in.interval_ns);
	in.thread = fah_writer_thread(w, end.process, 1, 0, "MainThread", 10);
	if (!in.thread)
		return FAH_ERR_NOMEM;
	for (file = fah_json_get(json, "files")->first; err == 0 && file; file = file->next)
		err = add_file(&in, file);
	fah_writer_thread_end(w, in.thread, (uint64_t)in.elapsed_ns, (uint64_t)in.at_ns);
	end.time_ns = (uint64_t)in.elapsed_ns;
	end.samples = in.samples;
	fah_writer_process_end(w, &end);
	*ret_end = (struct fah_run_end){.wall_ns = (uint64_t)in.elapsed_ns,
					.user_ns = (uint64_t)in.at_ns};
	return err;
}
