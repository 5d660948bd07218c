/*
 * linehits_load.c - the lines of a capture. A record has all counts so far of a code object's
 * lines, so the last one counts; then code objects of one function, and processes, are added up.
 */
#include "model/linehits.h"

#include "base/cleanup.h"
#include "base/room.h"
#include "capture/format.h"
#include "core/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of one code object. */
struct told {
	uint32_t function;
	struct fah_rec_line last;
};

struct load {
	struct told *told;
	size_t n, cap;
	struct fah_map ids; /* by process, code, line: index */
};

static void load_release(struct load *l)
{
	free(l->told);
	fah_map_release(&l->ids);
}

static int take_line(struct load *l, const struct fah_rec_lines *of,
		     const struct fah_rec_line *line)
{
	bool is_new;
	uint32_t *id;

	if (!fah_room(&l->told, l->n, &l->cap, sizeof(*l->told)))
		return FAH_ERR_NOMEM;
	id = fah_map_put(&l->ids, fah_key_u32x4(of->process, of->code, line->line, 0), &is_new);
	if (!id)
		return FAH_ERR_NOMEM;
	if (is_new)
		*id = (uint32_t)l->n++;
	l->told[*id] = (struct told){of->function, *line};
	return 0;
}

static int function_of(struct fah_linehits *h, const struct fah_profile *p, uint32_t function,
		       uint32_t *ret)
{
	const struct fah_function *f = fah_profile_function(p, function);

	return fah_linehits_function(h, f->file, strlen(f->file), f->first_line, f->name,
				     strlen(f->name), ret);
}

static int take_lines(struct load *l, const struct fah_profile *p, const struct fah_record *rec,
		      struct fah_linehits *h)
{
	struct fah_rec_lines lines;
	struct fah_rec_line line;
	int err = fah_decode_lines(rec, &lines);
	uint32_t id;

	if (err < 0)
		return 0;			      /* damaged: left out */
	err = function_of(h, p, lines.function, &id); /* also one that did not run */
	if (err == 0 && lines.marked)
		h->functions[id].marked = true;
	while (err == 0 && fah_lines_next(&lines, &line) > 0)
		err = take_line(l, &lines, &line);
	return err;
}

static void take_state(const struct fah_record *rec, struct fah_linehits_state *ret)
{
	struct fah_rec_lines_state s;

	if (fah_decode_lines_state(rec, &s) < 0)
		return;
	ret->lost_functions += s.lost_functions;
	ret->lost_frames += s.lost_frames;
	ret->lost_lines += s.lost_lines;
	if (s.why.len)
		snprintf(ret->why, sizeof(ret->why), "%.*s", (int)s.why.len, s.why.p);
	else
		ret->told = true;
}

int fah_linehits_load(struct fah_reader *reader, const struct fah_profile *p,
		      struct fah_linehits *h, struct fah_linehits_state *ret)
{
	_cleanup_(load_release) struct load l = {0};
	struct fah_record rec;
	int err = 0;

	*ret = (struct fah_linehits_state){0};
	while (err == 0 && fah_reader_next(reader, &rec) > 0) {
		if (rec.type == FAH_REC_LINES)
			err = take_lines(&l, p, &rec, h);
		else if (rec.type == FAH_REC_LINES_STATE)
			take_state(&rec, ret);
	}
	for (size_t i = 0; err == 0 && i < l.n; i++) {
		const struct fah_rec_line *line = &l.told[i].last;
		uint32_t id;

		err = function_of(h, p, l.told[i].function, &id);
		if (err == 0)
			err = fah_linehits_add(h, id,
					       &(struct fah_linehit){line->line, line->hits,
								     (double)line->ns,
								     (double)line->called_ns});
	}
	return err;
}
