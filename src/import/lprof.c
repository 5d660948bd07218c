/*
 * lprof.c - see lprof.h. A pickle of LineStats, whose class stands in line_profiler._line_profiler,
 * from 5.1 on in line_profiler.line_profiler, before 3.0 in _line_profiler: {"timings": {(file,
 * line, name): [(line, hits, time), ...]}, "unit": seconds}, and of ours "called" (export/lprof.h).
 */
#include "import/lprof.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "import/pickle.h"

#include <math.h>
#include <string.h>

static bool is_text(const struct fah_pickle *v, const char *text)
{
	return v->len == strlen(text) && !memcmp(v->text, text, v->len);
}

static bool is_line_stats(const struct fah_pickle *v)
{
	static const char module[] = "line_profiler";

	return v->kind == FAH_PICKLE_OBJECT && v->of && v->state && is_text(v->of, "LineStats") &&
	       memmem(v->of->module, v->of->module_len, module, sizeof(module) - 1);
}

static bool is_tuple(const struct fah_pickle *v, size_t n)
{
	return (v->kind == FAH_PICKLE_TUPLE || v->kind == FAH_PICKLE_LIST) && v->n == n;
}

static bool is_line(const struct fah_pickle *v)
{
	return v->kind == FAH_PICKLE_INT && v->number >= 0 && v->number <= INT32_MAX;
}

/* The index of the function whom a key names. */
static int function_of(struct fah_linehits *h, const struct fah_pickle *key, uint32_t *ret)
{
	const struct fah_pickle *file, *line, *name;

	if (!is_tuple(key, 3))
		return FAH_ERR_FORMAT;
	file = key->items[0];
	line = key->items[1];
	name = key->items[2];
	if (file->kind != FAH_PICKLE_TEXT || name->kind != FAH_PICKLE_TEXT || !is_line(line))
		return FAH_ERR_FORMAT;
	return fah_linehits_function(h, file->text, file->len, (uint32_t)line->number, name->text,
				     name->len, ret);
}

static double time_of(const struct fah_pickle *v)
{
	double time = fah_pickle_number(v);

	return isfinite(time) && time > 0 ? time : 0;
}

/* (line, hits, time), or of "called" (line, time). */
static int add_line(struct fah_linehits *h, uint32_t function, const struct fah_pickle *v,
		    bool called)
{
	struct fah_linehit hit = {0};

	if (!is_tuple(v, called ? 2 : 3) || !is_line(v->items[0]))
		return FAH_ERR_FORMAT;
	hit.line = (uint32_t)v->items[0]->number;
	if (called) {
		hit.called = time_of(v->items[1]);
	} else {
		if (v->items[1]->kind != FAH_PICKLE_INT || v->items[1]->number < 0)
			return FAH_ERR_FORMAT;
		hit.hits = (uint64_t)v->items[1]->number;
		hit.time = time_of(v->items[2]);
	}
	return fah_linehits_add(h, function, &hit);
}

static int add_all(struct fah_linehits *h, const struct fah_pickle *timings, bool called)
{
	int err = timings->kind == FAH_PICKLE_DICT ? 0 : FAH_ERR_FORMAT;

	for (size_t i = 0; err == 0 && i + 1 < timings->n; i += 2) {
		const struct fah_pickle *lines = timings->items[i + 1];
		uint32_t function;

		err = function_of(h, timings->items[i], &function);
		if (err == 0 && lines->kind != FAH_PICKLE_LIST && lines->kind != FAH_PICKLE_TUPLE)
			err = FAH_ERR_FORMAT;
		for (size_t k = 0; err == 0 && k < lines->n; k++)
			err = add_line(h, function, lines->items[k], called);
	}
	return err;
}

int fah_import_lprof(const void *data, size_t len, struct fah_linehits *h)
{
	_cleanup_(fah_arena_release) struct fah_arena arena = FAH_ARENA_INIT;
	const struct fah_pickle *v, *timings, *called;
	double unit;
	int err = fah_pickle_read(&arena, data, len, &v);

	fah_linehits_init(h, 1);
	if (err < 0)
		return err;
	timings = is_line_stats(v) ? fah_pickle_get(v->state, "timings") : NULL;
	unit = timings ? fah_pickle_number(fah_pickle_get(v->state, "unit")) : 0;
	if (!timings || !isfinite(unit) || !(unit > 0))
		return FAH_ERR_FORMAT;
	h->unit = unit;
	called = fah_pickle_get(v->state, "called");
	h->has_called = called != NULL;
	err = add_all(h, timings, false);
	if (err == 0 && called)
		err = add_all(h, called, true);
	if (err == 0)
		fah_linehits_sort(h);
	return err;
}
