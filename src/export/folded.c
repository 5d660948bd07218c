/*
 * folded.c - one line a stack, "outermost;...;innermost weight", as flamegraph.pl and its kin read
 * it. Weights are whole microseconds of the run's time, with threads of the thread's own; of memory
 * bytes.
 *
 * A ';' would end a frame and a newline the stack, so in names they are written as \x3b and \n, and
 * a backslash as two; a reader splits the weight off at the last space, so spaces may stay.
 */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "core/err.h"
#include "export/export.h"

#include <stdlib.h>

static void add_label(struct fah_strbuf *sb, const char *label)
{
	for (;;) {
		size_t n = strcspn(label, ";");

		fah_strbuf_add_printable(sb, label, n);
		if (!label[n])
			return;
		fah_strbuf_adds(sb, "\\x3b");
		label += n + 1;
	}
}

struct folder {
	const struct fah_frame *frames;
	const struct fah_path *paths;
	struct fah_strbuf *labels; /* by frame, made when needed */
	uint32_t *up;		   /* the frames of a path, innermost first */
};

static bool write_path(struct fah_out *out, struct folder *f, uint32_t path)
{
	size_t n = 0;

	for (; path; path = f->paths[path].parent)
		f->up[n++] = f->paths[path].frame;
	while (n--) {
		struct fah_strbuf *label = &f->labels[f->up[n]];

		if (!label->len)
			add_label(label, f->frames[f->up[n]].label);
		if (label->failed)
			return false;
		fah_out_add(out, fah_strbuf_str(label), label->len);
		if (n)
			fah_out_addc(out, ';');
	}
	return true;
}

/* Rounded so that what is lost on one stack is made up for on the next: sums stay right. */
static uint64_t whole_number(double weight, double *rest)
{
	double exact = weight + *rest;
	uint64_t whole = exact >= 0.5 ? (uint64_t)(exact + 0.5) : 0;

	*rest = exact - (double)whole;
	return whole;
}

static int write_folded(struct fah_out *out, struct fah_stacks *stacks)
{
	_cleanup_(fah_freep) uint32_t *up = NULL;
	const struct fah_path_sum *sums;
	struct folder f = {0};
	size_t n_paths, n_frames;
	double rest = 0, scale = fah_view_scale(fah_stacks_view(stacks), 1e6);
	int err = fah_stacks_sum(stacks, FAH_ALL_THREADS, fah_view_measure(fah_stacks_view(stacks)),
				 &sums, &n_paths);

	if (err < 0)
		return err;
	f.paths = fah_stacks_paths(stacks, &n_paths);
	f.frames = fah_stacks_frames(stacks, &n_frames);
	f.up = up = calloc(n_paths, sizeof(*up));
	f.labels = calloc(n_frames + 1, sizeof(*f.labels));
	if (!up || !f.labels)
		err = FAH_ERR_NOMEM;
	for (uint32_t i = 1; err == 0 && i < n_paths; i++) {
		uint64_t weight = whole_number(sums[i].seconds * scale, &rest);

		if (!weight)
			continue;
		if (!write_path(out, &f, i))
			err = FAH_ERR_NOMEM;
		fah_out_addc(out, ' ');
		fah_out_u64(out, weight);
		fah_out_addc(out, '\n');
	}
	for (size_t i = 0; f.labels && i < n_frames; i++)
		fah_strbuf_release(&f.labels[i]);
	free(f.labels);
	return err;
}

const struct fah_export fah_export_folded = {
	.name = "folded",
	.aliases = {"raw", "collapsed"},
	.extensions = {".folded", ".collapsed"},
	.summary = "one line a stack with its microseconds, for flamegraph.pl and inferno",
	.memory = true,
	.write = write_folded,
};
