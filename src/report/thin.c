/* thin.c - see thin.h. An empty report that does not say why is taken for a broken one. */
#include "report/thin.h"

#include "base/number.h"
#include "model/gains.h"

#define FEW_SAMPLES 30
#define WORTH_SAYING 0.005 /* of the run: what rounds to 1 % */

bool fah_thin_short(struct fah_text *t, const struct fah_profile *p)
{
	const struct fah_totals *totals = fah_profile_totals(p);
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	/* waiting is measured, not sampled: a run that does little else is known well */
	if (!totals->samples || totals->samples >= FEW_SAMPLES ||
	    totals->waited_s >= totals->wall_s / 2)
		return false;
	fah_strbuf_addf(
		&sb,
		"This is thin: the run took %s and used %s of CPU, which made %s sample%s. Let "
		"it run longer, or take more samples a second (--rate).",
		fah_num_duration(totals->wall_s).s, fah_num_duration(totals->cpu_s).s,
		fah_num_count(totals->samples).s, totals->samples == 1 ? "" : "s");
	t->failed |= sb.failed;
	fah_text_wrap(t, fah_strbuf_str(&sb));
	fah_strbuf_release(&sb);
	return true;
}

void fah_thin_scope(struct fah_text *t, const struct fah_profile *p,
		    const struct fah_charges *charges, bool all_listed)
{
	double wall_s = fah_profile_totals(p)->wall_s;
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	const char *between = " Of the time, ";
	struct fah_parts parts;

	fah_profile_parts(p, charges, &parts);
	const struct {
		double seconds;
		const char *words;
	} said[] = {{parts.outside, "was in code outside the folders reported"},
		    {parts.no_python, "in no Python code (the interpreter's start and end, threads "
				      "and children without Python)"},
		    {parts.unknown, "waiting or without a core, in no known line"},
		    {parts.no_core, "without a core, as the kernel counts it"},
		    {parts.unsampled, "in threads without a sample"}};

	fah_strbuf_adds(&sb,
			"Nothing of the folders reported has a share of the run worth listing.");
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
		if (!(wall_s > 0) || said[i].seconds < WORTH_SAYING * wall_s)
			continue;
		fah_strbuf_addf(&sb, "%s%s (%s) %s", between,
				fah_share_text(said[i].seconds / wall_s, 0).s,
				fah_num_seconds_short(said[i].seconds).s, said[i].words);
		between = ", ";
	}
	if (between[0] == ',')
		fah_strbuf_addc(&sb, '.');
	if (all_listed)
		fah_strbuf_adds(&sb, " Listed here is all code, as --detailed does.");
	t->failed |= sb.failed;
	fah_text_wrap(t, fah_strbuf_str(&sb));
	fah_strbuf_release(&sb);
}
