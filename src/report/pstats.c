/* pstats.c - see pstats.h: the head of a report and the list of functions. */
#include "report/pstats.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "report/pstats_list.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

char *fah_pstats_title(const char *path)
{
	char when[64], *text;
	struct stat st;

	if (stat(path, &st) < 0 || !ctime_r(&st.st_mtime, when))
		return strdup(path);
	when[strcspn(when, "\n")] = '\0';
	return asprintf(&text, "%s    %s", when, path) < 0 ? NULL : text;
}

/* Functions that the profiler itself called, in files of a profiler of old. */
static void add_top_level(struct fah_strbuf *sb, const struct fah_exact *e)
{
	for (size_t i = 0; i < e->n_edges; i++) {
		const struct fah_exact_function *by = &e->functions[e->edges[i].caller];

		if (strcmp(by->file, "jprofile") != 0 || by->line ||
		    strcmp(by->name, "profiler") != 0)
			continue;
		fah_strbuf_adds(sb, "         ");
		fah_pstats_add_name(sb, e->functions[e->edges[i].callee].name);
		fah_strbuf_addc(sb, '\n');
	}
}

static void add_head(struct fah_strbuf *sb, const struct fah_exact *e,
		     const struct fah_pstats_options *o)
{
	struct fah_exact_times whole = fah_exact_whole(e);

	for (size_t i = 0; i < o->n_titles; i++) {
		fah_pstats_add_name(sb, o->titles[i]);
		fah_strbuf_addc(sb, '\n');
	}
	if (o->n_titles)
		fah_strbuf_addc(sb, '\n');
	add_top_level(sb, e);
	fah_strbuf_addf(sb, "         %" PRIu64 " function calls ", whole.calls);
	if (whole.calls != whole.primitive)
		fah_strbuf_addf(sb, "(%" PRIu64 " primitive calls) ", whole.primitive);
	fah_strbuf_addf(sb, "in %.3f seconds\n\n", whole.total_s);
}

static void add_percall(struct fah_strbuf *sb, double s, uint64_t calls)
{
	if (calls)
		fah_strbuf_addf(sb, "%8.3f ", s / (double)calls);
	else
		fah_strbuf_adds(sb, "         ");
}

static void add_line(struct fah_strbuf *sb, const struct fah_exact_times *t, const char *name)
{
	char calls[64];

	if (t->calls == t->primitive)
		snprintf(calls, sizeof(calls), "%" PRIu64, t->calls);
	else
		snprintf(calls, sizeof(calls), "%" PRIu64 "/%" PRIu64, t->calls, t->primitive);
	fah_strbuf_addf(sb, "%9s %8.3f ", calls, t->self_s);
	add_percall(sb, t->self_s, t->calls);
	fah_strbuf_addf(sb, "%8.3f ", t->total_s);
	add_percall(sb, t->total_s, t->primitive);
	fah_pstats_add_name(sb, name);
	fah_strbuf_addc(sb, '\n');
}

static int print_functions(FILE *out, const struct fah_pstats_list *l)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_strbuf_adds(&sb, l->e->samples ? " nsamples  tottime persample cumtime persample"
					   : "   ncalls  tottime  percall  cumtime  percall");
	fah_strbuf_adds(&sb, " filename:lineno(function)\n");
	for (size_t i = 0; i < l->n; i++)
		add_line(&sb, &l->e->functions[l->functions[i]].times, l->names[l->functions[i]]);
	fah_strbuf_adds(&sb, "\n\n");
	if (sb.failed)
		return FAH_ERR_NOMEM;
	fwrite(sb.p, 1, sb.len, out);
	return 0;
}

static size_t width_of(const struct fah_pstats_list *l)
{
	size_t width = 0;

	for (size_t i = 0; i < l->n; i++) {
		size_t len = fah_pstats_len(l->names[l->functions[i]]);

		if (len > width)
			width = len;
	}
	return width + 2;
}

int fah_report_pstats(FILE *out, const struct fah_exact *e, const struct fah_pstats_options *o)
{
	_cleanup_(fah_pstats_list_release) struct fah_pstats_list l = {0};
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT,
							note = FAH_STRBUF_INIT;
	int err = fah_pstats_list_init(&l, e, o->order);

	for (size_t i = 0; err == 0 && i < o->n_limits; i++)
		err = fah_pstats_limit_apply(&o->limits[i], &l, &note);
	if (err < 0)
		return err;
	if (o->what == FAH_PSTATS_FUNCTIONS)
		add_head(&sb, e, o);
	if (l.n) {
		if (o->order && o->order->n) {
			fah_strbuf_adds(&sb, "   Ordered by: ");
			fah_pstats_order_text(&sb, o->order);
			fah_strbuf_addc(&sb, '\n');
		} else {
			fah_strbuf_adds(&sb, "   Random listing order was used\n");
		}
		fah_strbuf_add(&sb, fah_strbuf_str(&note), note.len);
		fah_strbuf_addc(&sb, '\n');
	}
	if (sb.failed || note.failed)
		return FAH_ERR_NOMEM;
	fwrite(fah_strbuf_str(&sb), 1, sb.len, out);
	if (l.n)
		err = o->what == FAH_PSTATS_FUNCTIONS
			      ? print_functions(out, &l)
			      : fah_pstats_calls(out, &l, o->what, width_of(&l));
	return err < 0 ? err : fflush(out) == EOF || ferror(out) ? FAH_ERR_SYS : 0;
}
