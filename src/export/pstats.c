/*
 * pstats.c - see pstats.h.
 *
 * The marshal of {(file, line, name): (primitive, calls, self, total, {function: (calls, primitive,
 * self, total)})}. A text or a function that was written once is written as a reference after that
 * (marshal's versions 3 and 4, Python 3.4 on), so a file is about as long as cProfile's own.
 * Functions that are only named as callers are no keys, as in the file they came from.
 */
#include "export/pstats.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"
#include "base/utf8.h"
#include "core/err.h"

#include <stdlib.h>

#define FLAG_REF 0x80
#define SHORT_TEXT 256
#define DIGIT_BITS 15
#define DIGIT_MASK 0x7fff

struct writer {
	struct fah_out *out;
	const struct fah_exact *e;
	uint32_t refs;		 /* how many there are */
	uint32_t *functions;	 /* by function: number of its reference + 1 */
	struct fah_strmap texts; /* number of the reference + 1 */
	int err;
};

static void put_u32(struct writer *w, uint32_t v)
{
	char bytes[4];

	for (int i = 0; i < 4; i++)
		bytes[i] = (char)(v >> 8 * i);
	fah_out_add(w->out, bytes, sizeof(bytes));
}

static void put_ref(struct writer *w, uint32_t number)
{
	fah_out_addc(w->out, 'r');
	put_u32(w, number);
}

static void put_integer(struct writer *w, bool negative, uint64_t v)
{
	uint32_t digits = 0;

	if (v <= INT32_MAX) {
		fah_out_addc(w->out, 'i');
		put_u32(w, negative ? -(uint32_t)v : (uint32_t)v);
		return;
	}
	for (uint64_t rest = v; rest; rest >>= DIGIT_BITS)
		digits++;
	fah_out_addc(w->out, 'l');
	put_u32(w, negative ? -digits : digits);
	for (; v; v >>= DIGIT_BITS) {
		fah_out_addc(w->out, (char)(v & 0xff));
		fah_out_addc(w->out, (char)((v & DIGIT_MASK) >> 8));
	}
}

static void put_seconds(struct writer *w, double s)
{
	uint64_t bits;

	memcpy(&bits, &s, sizeof(bits));
	fah_out_addc(w->out, 'g');
	put_u32(w, (uint32_t)bits);
	put_u32(w, (uint32_t)(bits >> 32));
}

/* A lone surrogate as Python may have it in a text, in three bytes. U+DC80 to U+DCFF are not among
 * them: they stand for a byte each, which names here have themselves. */
static bool is_surrogate(const unsigned char *p, size_t len)
{
	return len >= 3 && p[0] == 0xed && p[1] >= 0xa0 && p[1] <= 0xb1 && (p[2] & 0xc0) == 0x80;
}

/* UTF-8 with what is none as surrogates, as Python itself reads names of files. */
static void to_python(struct fah_strbuf *sb, const char *s, size_t len)
{
	while (len) {
		size_t n;
		unsigned char c = (unsigned char)*s;

		if (fah_utf8_decode(s, len, &n) >= 0) {
			fah_strbuf_add(sb, s, n);
		} else if (is_surrogate((const unsigned char *)s, len)) {
			n = 3;
			fah_strbuf_add(sb, s, n);
		} else {
			fah_strbuf_addc(sb, (char)0xed);
			fah_strbuf_addc(sb, (char)(0xb0 | c >> 6));
			fah_strbuf_addc(sb, (char)(0x80 | (c & 0x3f)));
		}
		s += n;
		len -= n;
	}
}

static bool is_ascii(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] >= 0x80)
			return false;
	return true;
}

static void put_text(struct writer *w, const char *s)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf python = FAH_STRBUF_INIT;
	size_t len = strlen(s);
	uint32_t *known = fah_strmap_put(&w->texts, s, len, NULL, NULL);

	if (!known) {
		w->err = FAH_ERR_NOMEM;
		return;
	}
	if (*known) {
		put_ref(w, *known - 1);
		return;
	}
	*known = ++w->refs;
	if (is_ascii(s, len) && len < SHORT_TEXT) {
		fah_out_addc(w->out, (char)('z' | FLAG_REF));
		fah_out_addc(w->out, (char)len);
		fah_out_add(w->out, s, len);
		return;
	}
	to_python(&python, s, len);
	if (python.failed) {
		w->err = FAH_ERR_NOMEM;
		return;
	}
	fah_out_addc(w->out, (char)('u' | FLAG_REF));
	put_u32(w, (uint32_t)python.len);
	fah_out_add(w->out, fah_strbuf_str(&python), python.len);
}

static void put_tuple(struct writer *w, int flag, uint32_t n)
{
	fah_out_addc(w->out, (char)(')' | flag));
	fah_out_addc(w->out, (char)n);
}

static void put_function(struct writer *w, uint32_t i)
{
	const struct fah_exact_function *f = &w->e->functions[i];

	if (w->functions[i]) {
		put_ref(w, w->functions[i] - 1);
		return;
	}
	w->functions[i] = ++w->refs;
	put_tuple(w, FLAG_REF, 3);
	put_text(w, f->file);
	put_integer(w, f->line < 0, f->line < 0 ? -(uint64_t)f->line : (uint64_t)f->line);
	put_text(w, f->name);
}

static void put_callers(struct writer *w, uint32_t function, uint32_t *edges)
{
	size_t n = fah_exact_callers(w->e, function, edges);

	fah_out_addc(w->out, '{');
	for (size_t i = 0; i < n; i++) {
		const struct fah_exact_edge *x = &w->e->edges[edges[i]];

		put_function(w, x->caller);
		if (!x->only_count)
			put_tuple(w, 0, 4);
		put_integer(w, false, x->times.calls);
		if (x->only_count)
			continue;
		put_integer(w, false, x->times.primitive);
		put_seconds(w, x->times.self_s);
		put_seconds(w, x->times.total_s);
	}
	fah_out_addc(w->out, '0');
}

static void put_all(struct writer *w, uint32_t *edges)
{
	fah_out_addc(w->out, '{');
	for (uint32_t i = 0; i < w->e->n_functions && w->err == 0; i++) {
		const struct fah_exact_function *f = &w->e->functions[i];

		if (f->only_caller)
			continue;
		put_function(w, i);
		put_tuple(w, 0, 5);
		put_integer(w, false, f->times.primitive);
		put_integer(w, false, f->times.calls);
		put_seconds(w, f->times.self_s);
		put_seconds(w, f->times.total_s);
		put_callers(w, i, edges);
	}
	if (w->e->samples) { /* as profiling.sampling of 3.15 says it */
		put_tuple(w, 0, 1);
		put_text(w, "__sampled__");
		fah_out_addc(w->out, 'T');
	}
	fah_out_addc(w->out, '0');
}

int fah_pstats_export(struct fah_out *out, const struct fah_exact *e)
{
	struct writer w = {.out = out, .e = e, .texts = FAH_STRMAP_INIT};
	uint32_t *edges = calloc(e->n_edges + 1, sizeof(*edges));

	w.functions = calloc(e->n_functions + 1, sizeof(*w.functions));
	if (edges && w.functions)
		put_all(&w, edges);
	else
		w.err = FAH_ERR_NOMEM;
	free(edges);
	free(w.functions);
	fah_strmap_release(&w.texts);
	return w.err;
}

int fah_pstats_write(const char *path, const struct fah_exact *e)
{
	_cleanup_(fah_outfile_abort) struct fah_outfile of = {0};
	_cleanup_(fah_freep) struct fah_out *out = malloc(sizeof(*out));
	int err = out ? fah_outfile_open(&of, path) : FAH_ERR_NOMEM;

	if (err < 0)
		return err;
	fah_out_init(out, of.f);
	err = fah_pstats_export(out, e);
	if (err == 0)
		err = fah_out_finish(out);
	return err < 0 ? err : fah_outfile_commit(&of);
}
