/*
 * waits.c - see waits.h. Numbers are the model's; here they are only rounded and put in order.
 */
#include "report/waits.h"

#include "capture/words.h"

#define FLOOR 0.01

static unsigned percent(double seconds, double wall_s)
{
	return seconds > 0 && wall_s > 0 ? (unsigned)(100 * seconds / wall_s + 0.5) : 0;
}

void fah_waits_add(struct fah_strbuf *out, const double by[FAH_WAIT_COUNT], double wall_s)
{
	bool told[FAH_WAIT_COUNT] = {false};
	const char *between = "";
	double all = 0;
	unsigned left;

	for (int i = 0; i < FAH_WAIT_COUNT; i++)
		all += by[i];
	left = percent(all, wall_s);
	while (left) {
		uint32_t most = FAH_WAIT_COUNT;
		unsigned here;

		for (uint32_t i = 0; i < FAH_WAIT_COUNT; i++)
			if (!told[i] && (most == FAH_WAIT_COUNT || by[i] > by[most]))
				most = i;
		if (most == FAH_WAIT_COUNT || by[most] < FLOOR * wall_s)
			break;
		told[most] = true;
		here = percent(by[most], wall_s);
		here = here < left ? here : left;
		left -= here;
		fah_strbuf_addf(out, "%s%s %u", between, fah_wait_words(most), here);
		between = ", ";
	}
	if (left)
		fah_strbuf_addf(out, "%sother %u", between, left);
}

bool fah_waits_summary(struct fah_strbuf *out, const struct fah_totals *t)
{
	bool waited = t->waited_s >= FLOOR * t->wall_s && t->wall_s > 0;
	bool no_core = t->ready_s >= FLOOR * t->wall_s && t->wall_s > 0;

	if (waited) {
		fah_strbuf_addf(out, "Waited %u%% (", percent(t->waited_s, t->wall_s));
		fah_waits_add(out, t->waited_by, t->wall_s);
		fah_strbuf_addc(out, ')');
	}
	if (no_core)
		fah_strbuf_addf(out, "%s %u%%", waited ? "; no core" : "No core",
				percent(t->ready_s, t->wall_s));
	/* the closing words have a smaller number, of what is in no line: this is the rest of it */
	if (no_core && t->ready_s - t->ready_idle_s >= FLOOR * t->wall_s)
		fah_strbuf_addf(out, " (%u in lines that wanted one)",
				percent(t->ready_s - t->ready_idle_s, t->wall_s));
	return waited || no_core;
}
