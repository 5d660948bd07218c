/*
 * lprof.c - see lprof.h. Protocol 3, without a memo: every Python 3 reads it.
 *
 *   LineStats, whose __dict__ is
 *     {"timings": {(file, first line, name): [(line, hits, time), ...], ...},
 *      "unit": seconds,
 *      "called": {(file, first line, name): [(line, time), ...], ...}}
 *
 * Its class stands in line_profiler._line_profiler in all versions since 3.0.
 */
#include "export/lprof.h"

#include "core/err.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Opcodes of pickle. */
#define PROTO "\x80\x03"
#define GLOBAL "cline_profiler._line_profiler\nLineStats\n"
#define EMPTY_TUPLE ")"
#define NEWOBJ "\x81"
#define EMPTY_DICT "}"
#define EMPTY_LIST "]"
#define MARK "("
#define APPENDS "e"
#define SETITEMS "u"
#define TUPLE2 "\x86"
#define TUPLE3 "\x87"
#define BUILD "b"
#define STOP "."

static void put(FILE *out, const char *bytes)
{
	fwrite(bytes, 1, strlen(bytes), out);
}

static void put_little(FILE *out, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		fputc((int)(v >> 8 * i & 0xff), out);
}

static void put_int(FILE *out, uint64_t v)
{
	if (v < 256) {
		fputc('K', out); /* BININT1 */
		put_little(out, v, 1);
	} else if (v <= INT32_MAX) {
		fputc('J', out); /* BININT */
		put_little(out, v, 4);
	} else {
		fputc(0x8a, out); /* LONG1: signed, so a byte more */
		fputc(9, out);
		put_little(out, v, 8);
		fputc(0, out);
	}
}

static void put_str(FILE *out, const char *s)
{
	fputc('X', out); /* BINUNICODE */
	put_little(out, strlen(s), 4);
	put(out, s);
}

static void put_double(FILE *out, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	fputc('G', out); /* BINFLOAT, the high byte first */
	for (int i = 7; i >= 0; i--)
		fputc((int)(bits >> 8 * i & 0xff), out);
}

static void put_time(FILE *out, double time)
{
	put_int(out, time > 0 ? (uint64_t)llround(time) : 0);
}

static void put_function(FILE *out, const struct fah_linehits_function *f, bool called)
{
	put_str(out, f->file);
	put_int(out, f->first_line);
	put_str(out, f->name);
	put(out, TUPLE3 EMPTY_LIST MARK);
	for (size_t i = 0; i < f->n_lines; i++) {
		const struct fah_linehit *l = &f->lines[i];

		if (called ? !(l->called > 0) : !l->hits)
			continue;
		put_int(out, l->line);
		if (!called)
			put_int(out, l->hits);
		put_time(out, called ? l->called : l->time);
		put(out, called ? TUPLE2 : TUPLE3);
	}
	put(out, APPENDS);
}

static void put_functions(FILE *out, const struct fah_linehits *h, bool called)
{
	put(out, EMPTY_DICT MARK);
	for (size_t i = 0; i < h->n_functions; i++)
		put_function(out, &h->functions[i], called);
	put(out, SETITEMS);
}

int fah_export_lprof(FILE *out, const struct fah_linehits *h)
{
	put(out, PROTO GLOBAL EMPTY_TUPLE NEWOBJ EMPTY_DICT MARK);
	put_str(out, "timings");
	put_functions(out, h, false);
	put_str(out, "unit");
	put_double(out, h->unit);
	if (h->has_called) {
		put_str(out, "called");
		put_functions(out, h, true);
	}
	put(out, SETITEMS BUILD STOP);
	return ferror(out) ? FAH_ERR_SYS : 0;
}
