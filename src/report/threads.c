/*
 * threads.c - see threads.h.
 */
#include "report/threads.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "base/utf8.h"
#include "capture/words.h"
#include "core/err.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 20
#define NAME_MAX_COLUMNS 24
#define WORTH_SAYING 0.0005 /* seconds: what is not 0.000s */

static int by_cpu(const void *a, const void *b)
{
	const struct fah_thread *x = *(const struct fah_thread *const *)a;
	const struct fah_thread *y = *(const struct fah_thread *const *)b;

	if (x->states.cpu_s != y->states.cpu_s)
		return x->states.cpu_s > y->states.cpu_s ? -1 : 1;
	return x < y ? -1 : x > y; /* both point into one array */
}

/* "sleep 1.200s, lock 0.700s", largest first. */
static void add_reasons(struct fah_strbuf *out, const struct fah_states *s)
{
	bool told[FAH_WAIT_COUNT] = {false};
	const char *between = "  ";

	for (;;) {
		int most = -1;

		for (int i = 0; i < FAH_WAIT_COUNT; i++)
			if (!told[i] && s->waited_by[i] >= WORTH_SAYING &&
			    (most < 0 || s->waited_by[i] > s->waited_by[most]))
				most = i;
		if (most < 0)
			return;
		told[most] = true;
		fah_strbuf_addf(out, "%s%s %s", between, fah_wait_words((uint32_t)most),
				fah_num_seconds_short(s->waited_by[most]).s);
		between = ", ";
	}
}

static void add_name(struct fah_strbuf *out, const char *name, size_t columns)
{
	struct fah_strbuf clean = FAH_STRBUF_INIT, cut = FAH_STRBUF_INIT;

	fah_strbuf_add_printable(&clean, name, strlen(name));
	fah_utf8_cut(&cut, fah_strbuf_str(&clean), clean.len, columns, true);
	fah_utf8_pad_left(out, fah_strbuf_str(&cut), cut.len, columns);
	out->failed |= clean.failed || cut.failed;
	fah_strbuf_release(&clean);
	fah_strbuf_release(&cut);
}

static size_t name_columns(const struct fah_thread *const *rows, size_t n)
{
	size_t most = strlen("name");

	for (size_t i = 0; i < n; i++) {
		struct fah_strbuf clean = FAH_STRBUF_INIT;
		size_t columns;

		fah_strbuf_add_printable(&clean, rows[i]->name, strlen(rows[i]->name));
		columns = fah_utf8_width(fah_strbuf_str(&clean), clean.len);
		most = columns > most ? columns : most;
		fah_strbuf_release(&clean);
	}
	return most < NAME_MAX_COLUMNS ? most : NAME_MAX_COLUMNS;
}

int fah_report_threads(struct fah_strbuf *out, const struct fah_profile *p)
{
	size_t n, shown, columns;
	const struct fah_thread *threads = fah_profile_threads(p, &n);
	_cleanup_(fah_freep) const struct fah_thread **rows = calloc(n + 1, sizeof(*rows));

	if (!rows)
		return FAH_ERR_NOMEM;
	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++)
		rows[i] = &threads[i];
	qsort(rows, n, sizeof(*rows), by_cpu);
	shown = n < ROWS_MAX ? n : ROWS_MAX;
	columns = name_columns(rows, shown);
	fah_strbuf_adds(out, "       id  ");
	fah_utf8_pad_left(out, "name", 4, columns);
	fah_strbuf_addf(out, "%11s%11s%11s%11s  for\n", "wall", "CPU", "no core", "waited");
	for (size_t i = 0; i < shown; i++) {
		const struct fah_states *s = &rows[i]->states;

		fah_strbuf_addf(out, "  %7u  ", rows[i]->tid);
		add_name(out, rows[i]->name, columns);
		fah_strbuf_addf(out, "%11s%11s%11s%11s", fah_num_seconds_short(s->wall_s).s,
				fah_num_seconds_short(s->cpu_s).s,
				fah_num_seconds_short(s->ready_s).s,
				fah_num_seconds_short(s->waited_s).s);
		add_reasons(out, s);
		fah_strbuf_addc(out, '\n');
	}
	if (n > shown)
		fah_strbuf_addf(out, "  and %s more with less CPU\n", fah_num_count(n - shown).s);
	return out->failed ? FAH_ERR_NOMEM : 0;
}
