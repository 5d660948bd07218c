/* loops.c - see loops.h. */
#include "report/loops.h"

#include "base/number.h"

#include <string.h>

void fah_report_loop(struct fah_strbuf *out, const struct fah_loop *loop, const char *plus_minus)
{
	fah_strbuf_adds(out, "Loop ");
	fah_strbuf_add_printable(out, loop->label, strlen(loop->label));
	fah_strbuf_addf(out, ": %s iteration%s", fah_num_count(loop->count).s,
			loop->count == 1 ? "" : "s");
	if (loop->has_first)
		fah_strbuf_addf(out, "; the first %s (CPU %s)", fah_num_duration(loop->first_s).s,
				fah_num_duration(loop->first_cpu_s).s);
	if (loop->rest)
		fah_strbuf_addf(out, "%s%s",
				!loop->has_first ? "; "
				: loop->rest > 1 ? ", the others "
						 : ", the other ",
				fah_num_duration(loop->mean_s).s);
	if (loop->rest > 1)
		fah_strbuf_addf(out, " %s %s each", plus_minus, fah_num_duration(loop->sd_s).s);
	if (loop->rest)
		fah_strbuf_addf(out, " (CPU %s)", fah_num_duration(loop->mean_cpu_s).s);
	if (loop->missing)
		fah_strbuf_addf(out, "; %s not recorded", fah_num_count(loop->missing).s);
	fah_strbuf_addc(out, '.');
}
