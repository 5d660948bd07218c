/*
 * linehits_load.c - the lines of a capture. A record has all counts so far of a code object's
 * lines, so the last one counts; then code objects of one function, and processes, are added up.
 */
#include "core/err.h"
#include "model/internal.h"
#include "model/linehits.h"

#include <stdio.h>

/* A line of one code object; of one without any, once, so that its function is known. */
struct told {
	uint32_t function;
	bool marked;
	struct fah_rec_line last; /* line 0: of none */
};

struct fah_told_lines {
	struct told *told;
	size_t n, cap;
	struct fah_map ids; /* by process, code, line: index */
	struct fah_linehits_state state;
};

void fah_told_lines_free(struct fah_told_lines *t)
{
	if (!t)
		return;
	free(t->told);
	fah_map_release(&t->ids);
	free(t);
}

static int add_line(struct fah_told_lines *t, const struct fah_rec_lines *of,
		    const struct fah_rec_line *line)
{
	bool is_new;
	uint32_t *id;

	if (!fah_room(&t->told, t->n, &t->cap, sizeof(*t->told)))
		return FAH_ERR_NOMEM;
	id = fah_map_put(&t->ids, fah_key_u32x4(of->process, of->code, line->line, 0), &is_new);
	if (!id)
		return FAH_ERR_NOMEM;
	if (is_new)
		*id = (uint32_t)t->n++;
	t->told[*id] = (struct told){of->function, of->marked != 0, *line};
	return 0;
}

static int add_lines(struct fah_told_lines *t, const struct fah_record *rec)
{
	struct fah_rec_lines lines;
	struct fah_rec_line line = {0};
	int err = fah_decode_lines(rec, &lines), more = 0;

	if (err == 0)
		err = add_line(t, &lines, &line);
	while (err == 0 && (more = fah_lines_next(&lines, &line)) > 0)
		err = line.line ? add_line(t, &lines, &line) : 0;
	return err < 0 ? err : more;
}

static int add_state(struct fah_linehits_state *state, const struct fah_record *rec)
{
	struct fah_rec_lines_state s;
	int err = fah_decode_lines_state(rec, &s);

	if (err < 0)
		return err;
	state->lost_functions += s.lost_functions;
	state->lost_frames += s.lost_frames;
	state->lost_lines += s.lost_lines;
	if (s.why.len)
		snprintf(state->why, sizeof(state->why), "%.*s", (int)s.why.len, s.why.p);
	else
		state->told = true;
	return 0;
}

int fah_told_lines_add(struct fah_profile *p, const struct fah_record *rec)
{
	if (!p->told)
		p->told = calloc(1, sizeof(*p->told));
	if (!p->told)
		return FAH_ERR_NOMEM;
	return rec->type == FAH_REC_LINES ? add_lines(p->told, rec)
					  : add_state(&p->told->state, rec);
}

int fah_linehits_load(const struct fah_profile *p, struct fah_linehits *h,
		      struct fah_linehits_state *ret)
{
	const struct fah_told_lines *t = p->told;
	int err = 0;

	*ret = t ? t->state : (struct fah_linehits_state){0};
	for (size_t i = 0; t && err == 0 && i < t->n; i++) {
		const struct fah_function *f = fah_profile_function(p, t->told[i].function);
		const struct fah_rec_line *line = &t->told[i].last;
		uint32_t id;

		err = fah_linehits_function(h, f->file, strlen(f->file), f->first_line, f->name,
					    strlen(f->name), &id);
		if (err < 0)
			return err;
		h->functions[id].marked |= t->told[i].marked;
		if (line->line)
			err = fah_linehits_add(h, id,
					       &(struct fah_linehit){line->line, line->hits,
								     (double)line->ns,
								     (double)line->called_ns});
	}
	return err;
}
