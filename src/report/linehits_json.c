/* linehits_json.c - the same as linehits.c in full, for programs: seconds, not units. */
#include "base/json.h"
#include "report/linehits.h"

static void line(struct fah_json *j, const struct fah_linehits *h, const struct fah_linehit *l)
{
	fah_json_begin_object(j);
	fah_json_put_u64(j, "line", l->line);
	fah_json_put_u64(j, "hits", l->hits);
	fah_json_put_double(j, "time_s", l->time * h->unit);
	if (h->has_called)
		fah_json_put_double(j, "called_s", l->called * h->unit);
	fah_json_end_object(j);
}

int fah_report_linehits_json(FILE *out, const struct fah_linehits *h)
{
	struct fah_json j;

	fah_json_init(&j, out);
	fah_json_begin_object(&j);
	fah_json_key(&j, "functions");
	fah_json_begin_array(&j);
	for (size_t i = 0; i < h->n_functions; i++) {
		const struct fah_linehits_function *f = &h->functions[i];

		fah_json_begin_object(&j);
		fah_json_put_str(&j, "file", f->file);
		fah_json_put_str(&j, "function", f->name);
		fah_json_put_u64(&j, "first_line", f->first_line);
		fah_json_put_double(&j, "time_s", fah_linehits_total(h, f, NULL));
		fah_json_key(&j, "lines");
		fah_json_begin_array(&j);
		for (size_t k = 0; k < f->n_lines; k++)
			line(&j, h, &f->lines[k]);
		fah_json_end_array(&j);
		fah_json_end_object(&j);
	}
	fah_json_end_array(&j);
	fah_json_end_object(&j);
	return fah_json_finish(&j);
}
