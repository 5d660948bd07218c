/* when.c - see when.h. */
#include "agent/when.h"

static uint32_t kept(const struct fah_when *w)
{
	return w->n < FAH_WHEN_POINTS ? w->n : FAH_WHEN_POINTS;
}

/* i 0: the newest. */
static const struct fah_when_point *point(const struct fah_when *w, uint32_t i)
{
	return &w->points[(w->n - 1 - i) % FAH_WHEN_POINTS];
}

void fah_when_begin(struct fah_when *w, uint64_t mono_ns, uint64_t cpu_ns)
{
	w->n = 1;
	w->points[0] = (struct fah_when_point){mono_ns, cpu_ns, true};
}

void fah_when_add(struct fah_when *w, uint64_t mono_ns, uint64_t cpu_ns, bool blocked)
{
	w->points[w->n++ % FAH_WHEN_POINTS] = (struct fah_when_point){mono_ns, cpu_ns, blocked};
	if (w->n == 2 * FAH_WHEN_POINTS) /* it is never less than what is kept */
		w->n = FAH_WHEN_POINTS;
}

static uint64_t between(const struct fah_when_point *from, const struct fah_when_point *to,
			uint64_t cpu_ns)
{
	uint64_t time = to->mono_ns > from->mono_ns ? to->mono_ns - from->mono_ns : 0;
	uint64_t used = to->cpu_ns - from->cpu_ns, left = to->cpu_ns - cpu_ns;

	/* to the end: that is when it was, whatever the clocks say of before */
	if (!to->blocked && time > used)
		left = (uint64_t)((double)left * ((double)time / (double)used));
	return to->mono_ns - (left < time ? left : time);
}

uint64_t fah_when_used(const struct fah_when *w, uint64_t cpu_ns)
{
	uint32_t i, n = kept(w);

	if (cpu_ns >= point(w, 0)->cpu_ns)
		return point(w, 0)->mono_ns;
	for (i = 1; i < n; i++)
		if (cpu_ns > point(w, i)->cpu_ns)
			return between(point(w, i), point(w, i - 1), cpu_ns);
	return point(w, n - 1)->mono_ns;
}

bool fah_when_ran_on(const struct fah_when *w, uint64_t from_cpu_ns, uint64_t to_cpu_ns)
{
	uint32_t i, n = kept(w);

	for (i = 1; i < n && point(w, i - 1)->cpu_ns > from_cpu_ns; i++)
		if (point(w, i - 1)->blocked && point(w, i)->cpu_ns < to_cpu_ns)
			return false;
	return i < n || point(w, n - 1)->cpu_ns <= from_cpu_ns;
}
