/*
 * settle.c - the CPU of all threads put into time, and from it what a second of CPU counts where.
 */
#include "model/timeline.h"

#include "base/cleanup.h"
#include "core/err.h"

/* Threads without Python get what the others leave of a bucket; how much that is. */
static double fill_native(struct fah_buckets *b, uint32_t i, double left)
{
	double cpu = b->cpu[i];

	b->scale[i] = cpu > left ? left / cpu : 1;
	return cpu > left ? left : cpu;
}

/* Put the loose CPU of one coarse bucket where the firm leaves room, and set all scales in it. */
static double fill(struct fah_timeline *t, uint32_t coarse)
{
	uint32_t from = coarse * t->ratio, to = from + t->ratio, i;
	double loose = t->coarse.cpu[coarse], room = 0, rest = 0, kept = 0, busy = 0;

	if (to > t->fine.n)
		to = t->fine.n;
	for (i = from; i < to; i++)
		if (t->fine.cpu[i] < 1)
			room += 1 - t->fine.cpu[i];
	if (loose > room)
		rest = (loose - room) / (double)(to - from);
	for (i = from; i < to; i++) {
		double firm = t->fine.cpu[i], here = firm < 1 ? 1 - firm : 0, cpu;

		here = loose > room ? here + rest : room > 0 ? here * (loose / room) : 0;
		cpu = firm + here;
		t->fine.scale[i] = cpu > 1 ? 1 / cpu : 1;
		kept += here * t->fine.scale[i];
		busy += cpu > 1 ? 1 : cpu;
		if (t->native.n)
			busy += fill_native(&t->native, i, cpu > 1 ? 0 : 1 - cpu);
	}
	t->coarse.scale[coarse] = loose > 0 ? kept / loose : 1;
	t->idle[coarse] = (double)(to - from) > busy ? (double)(to - from) - busy : 0;
	return busy;
}

bool fah_thread_is_native(const struct fah_timeline *t, uint32_t thread)
{
	uint32_t first = t->in->chains[thread].blocks.first;
	struct fah_samples_block block;
	struct fah_sample_item item;

	if (first == FAH_NO_BLOCK)
		return false;
	block = t->in->blocks[first].samples;
	return fah_samples_next(&block, &item) && item.flags & FAH_SAMPLE_NO_PYTHON;
}

/* PASS_FIRM and PASS_LOOSE. */
static int place_cpu(struct fah_timeline *t, double *room)
{
	_cleanup_(fah_freep) bool *again = calloc(t->p->n_threads + 1, sizeof(*again));
	_cleanup_(fah_freep) struct fah_stretch *loose = malloc(FAH_LOOSE_MAX * sizeof(*loose));

	if (!again || !loose)
		return FAH_ERR_NOMEM;
	t->loose = loose;
	for (uint32_t i = 0; i < t->p->n_threads; i++) {
		size_t before = t->n_loose;

		t->loose_full = false;
		t->in_native = t->native.n && fah_thread_is_native(t, i);
		fah_walk_firm(t, i);
		again[i] = t->loose_full;
		if (t->loose_full)
			t->n_loose = before;
	}
	t->in_native = false;
	fah_buckets_settle(&t->fine);
	if (t->native.n)
		fah_buckets_settle(&t->native);
	for (uint32_t i = 0; i < t->fine.n + 2; i++)
		room[i + 1] = room[i] + (t->fine.cpu[i] < 1 ? 1 - t->fine.cpu[i] : 0);
	t->room = room;
	fah_walk_kept(t);
	for (uint32_t i = 0; i < t->p->n_threads; i++)
		if (again[i])
			fah_walk_loose(t, i);
	fah_buckets_settle(&t->fine);
	fah_buckets_settle(&t->coarse);
	return 0;
}

int fah_settle(struct fah_timeline *t, double *room)
{
	double busy = 0;
	int err = place_cpu(t, room);

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < t->coarse.n; i++)
		busy += fill(t, i);
	fah_buckets_integrate(&t->fine);
	fah_buckets_integrate(&t->coarse);
	if (t->native.n)
		fah_buckets_integrate(&t->native);
	t->p->totals.on_cpu_s = busy * t->width_ns * 1e-9;
	return 0;
}
