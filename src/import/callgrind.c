/*
 * callgrind.c - see callgraph.h. The format: lines "fn=", "fl=" and the like say where costs belong
 * from there on, lines of numbers are costs, "calls=" makes the next one that of calls. A name may
 * be "(7) name" once and "(7)" from then on.
 */
#include "import/callgraph.h"

#include "core/err.h"
#include "import/callgrind_names.h"
#include "import/callgrind_words.h"
#include "model/exact_totals.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_MAX 4096 /* bytes in which it must show what it is */

struct reading {
	struct fah_exact *into;
	struct fah_cg_names names;
	struct fah_cg_text file, object; /* of the next function */
	struct fah_cg_text line_file;	 /* of the next cost: what is inlined has another */
	struct fah_cg_text called_file, called_object; /* of the next call; s NULL: the caller's */
	struct fah_cg_who function, called;
	uint64_t calls;
	bool is_call;			 /* the next line of costs is that of calls */
	size_t positions, line_position; /* how many, and which one is the line */
	int64_t line;			 /* of the last cost */
	size_t events;
	double summary, totals, whole; /* of this part; of those before */
	const char *wrong;
};

static int fail(struct reading *r, const char *what)
{
	r->wrong = what;
	return FAH_ERR_FORMAT;
}

static int named(struct reading *r, int err)
{
	return err == FAH_ERR_FORMAT ? fail(r, "a number that was given no name") : err;
}

static int set_name(struct reading *r, enum fah_cg_kind kind, const char *s, const char *end,
		    struct fah_cg_text *to)
{
	return named(r, fah_cg_text(&r->names, kind, s, end, to));
}

/* Numbers, or what they differ by from the last cost's: "+3", "-3", "*". Only the line is wanted.
 */
static bool parse_positions(const struct reading *r, const char **s, const char *end,
			    int64_t *ret_line)
{
	for (size_t i = 0; i < r->positions; i++) {
		uint64_t n = 0;
		char sign;

		fah_word_skip(s, end);
		sign = *s < end ? **s : '\0';
		*s += sign == '+' || sign == '-' || sign == '*';
		if (sign != '*' && !fah_word_number(s, end, &n))
			return false;
		if (i != r->line_position)
			continue;
		if (n > INT32_MAX)
			return false;
		*ret_line = sign == '*'	  ? r->line
			    : sign == '+' ? r->line + (int64_t)n
			    : sign == '-' ? r->line - (int64_t)n
					  : (int64_t)n;
	}
	return *ret_line >= INT32_MIN && *ret_line <= INT32_MAX;
}

/* "calls=12 0x400 30": the target's line is where the function begins. */
static int set_calls(struct reading *r, const char *s, const char *end)
{
	int64_t line = 0;

	if (r->function.function == FAH_CG_NOBODY || r->called.function == FAH_CG_NOBODY)
		return fail(r, "calls= of no function");
	fah_word_skip(&s, end);
	if (!fah_word_number(&s, end, &r->calls))
		return fail(r, "calls= without a number");
	if (parse_positions(r, &s, end, &line) && line > 0)
		r->into->functions[r->called.function].line = line;
	r->is_call = true;
	return 0;
}

static int read_place(struct reading *r, const char *s, const char *end)
{
	struct fah_cg_text target;
	const char *v;

	if (fah_word_begins(s, end, "fn=", &v))
		return named(r,
			     fah_cg_function(&r->names, v, end, r->file, r->object, &r->function));
	if (fah_word_begins(s, end, "cfn=", &v))
		return named(r, fah_cg_function(&r->names, v, end,
						r->called_file.s ? r->called_file : r->line_file,
						r->called_object.s ? r->called_object : r->object,
						&r->called));
	if (fah_word_begins(s, end, "calls=", &v))
		return set_calls(r, v, end);
	if (fah_word_begins(s, end, "fl=", &v)) {
		int err = set_name(r, FAH_CG_FILES, v, end, &r->file);

		r->line_file = r->file;
		return err;
	}
	if (fah_word_begins(s, end, "fi=", &v) || fah_word_begins(s, end, "fe=", &v))
		return set_name(r, FAH_CG_FILES, v, end, &r->line_file);
	if (fah_word_begins(s, end, "cfi=", &v) || fah_word_begins(s, end, "cfl=", &v))
		return set_name(r, FAH_CG_FILES, v, end, &r->called_file);
	if (fah_word_begins(s, end, "ob=", &v))
		return set_name(r, FAH_CG_OBJECTS, v, end, &r->object);
	if (fah_word_begins(s, end, "cob=", &v))
		return set_name(r, FAH_CG_OBJECTS, v, end, &r->called_object);
	if (fah_word_begins(s, end,
			    "jfi=", &v)) /* of a jump, which is not wanted; its number may be */
		return set_name(r, FAH_CG_FILES, v, end, &target);
	return 0; /* jumps, and what others may have added */
}

/* The first of the costs; those at the end that are 0 may be left out. */
static int parse_cost(struct reading *r, const char *s, const char *end, uint64_t *ret)
{
	int64_t line = 0;

	*ret = 0;
	if (!parse_positions(r, &s, end, &line))
		return fail(r, "a cost whose position is no number");
	r->line = line;
	fah_word_skip(&s, end);
	if (s < end && (!fah_word_number(&s, end, ret) || (s < end && !fah_word_is_space(*s))))
		return fail(r, "a cost that is no number");
	return 0;
}

static int read_cost(struct reading *r, const char *s, const char *end)
{
	uint32_t edge;
	uint64_t cost;
	int err;

	if (r->function.function == FAH_CG_NOBODY)
		return fail(r, "costs before any function");
	err = parse_cost(r, s, end, &cost);
	if (err < 0)
		return err;
	if (!r->function.deep)
		r->names.firsts[r->function.function].total += (double)cost;
	if (!r->is_call) {
		r->into->functions[r->function.function].times.self_s += (double)cost;
		return 0;
	}
	err = fah_exact_edge(r->into, r->function.function, r->called.function, &edge);
	if (err < 0)
		return err;
	if (!r->function.deep || !r->called.deep)
		r->into->edges[edge].times.total_s += (double)cost;
	r->into->edges[edge].times.calls += r->calls;
	r->into->functions[r->called.function].times.calls += r->calls;
	r->is_call = false;
	r->called.function = FAH_CG_NOBODY;
	r->called_file = r->called_object = (struct fah_cg_text){0};
	return 0;
}

static void end_part(struct reading *r)
{
	r->whole += r->summary > r->totals ? r->summary : r->totals;
	r->summary = r->totals = 0;
}

static int read_total(struct reading *r, const char *s, const char *end, double *to)
{
	uint64_t n;

	fah_word_skip(&s, end);
	if (!fah_word_number(&s, end, &n))
		return fail(r, "a sum that is no number");
	*to = (double)n;
	return 0;
}

/* "key: value"; keys that are not known don't matter. */
static int read_head(struct reading *r, const char *s, const char *end)
{
	const char *v;

	if (fah_word_begins(s, end, "positions:", &v)) {
		r->positions = fah_word_count(v, end);
		r->line_position = fah_word_find_line(v, end);
		return r->positions && r->positions <= 3
			       ? 0
			       : fail(r, "other positions than instr, line and bb");
	}
	if (fah_word_begins(s, end, "events:", &v)) {
		end_part(r);
		r->events = fah_word_count(v, end);
		return r->events ? 0 : fail(r, "no events");
	}
	if (fah_word_begins(s, end, "creator:", &v)) {
		fah_word_skip(&v, end);
		if (fah_word_begins(v, end, "fixingahole", &v)) /* which counts samples */
			r->into->samples = true;
	}
	if (fah_word_begins(s, end, "summary:", &v))
		return read_total(r, v, end, &r->summary);
	if (fah_word_begins(s, end, "totals:", &v))
		return read_total(r, v, end, &r->totals);
	return 0;
}

static int read_line(struct reading *r, const char *s, const char *end)
{
	const char *p;

	fah_word_skip(&s, end);
	if (s == end || *s == '#')
		return 0;
	if ((*s >= '0' && *s <= '9') || *s == '+' || *s == '-' || *s == '*')
		return read_cost(r, s, end);
	for (p = s; p < end && *p >= 'a' && *p <= 'z'; p++)
		;
	if (p < end && *p == '=')
		return read_place(r, s, end);
	if (p < end && *p == ':')
		return read_head(r, s, end);
	return fail(r, "neither a cost nor a line that callgrind's format has");
}

bool fah_import_is_callgrind(const char *text, size_t len)
{
	const char *end = text + (len < HEAD_MAX ? len : HEAD_MAX), *s = text, *v, *stop;

	for (; s < end; s = stop + 1) {
		stop = memchr(s, '\n', (size_t)(end - s));
		if (!stop)
			stop = end;
		if (fah_word_begins(s, stop, "# callgrind format", &v) ||
		    fah_word_begins(s, stop, "events:", &v))
			return true;
	}
	return false;
}

static int add_up(struct reading *r)
{
	double *known_totals = calloc(r->into->n_functions + 1, sizeof(*known_totals));
	int err;

	if (!known_totals)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < r->into->n_functions; i++)
		known_totals[i] = i < r->names.n_firsts && r->names.firsts[i].recurs &&
						  r->names.firsts[i].total > 0
					  ? r->names.firsts[i].total
					  : -1;
	err = fah_exact_totals(r->into, known_totals);
	free(known_totals);
	return err;
}

int fah_import_callgrind(const char *text, size_t len, struct fah_exact *into, double *ret_whole,
			 struct fah_import_error *ret_error)
{
	struct reading r = {.into = into, .names = {.into = into, .by_number = FAH_MAP_INIT}};
	const char *s = text, *end = text + len, *stop, *trimmed;
	size_t number = 0;
	int err = 0;

	r.function.function = r.called.function = FAH_CG_NOBODY;
	r.positions = 1;
	for (; s < end && err == 0; s = stop + 1) {
		stop = memchr(s, '\n', (size_t)(end - s));
		if (!stop)
			stop = end;
		for (trimmed = stop;
		     trimmed > s && (trimmed[-1] == '\r' || fah_word_is_space(trimmed[-1]));)
			trimmed--;
		number++;
		err = read_line(&r, s, trimmed);
	}
	if (err == 0 && !r.events) {
		err = fail(&r, "no line \"events:\"");
		number = 0;
	}
	if (err == FAH_ERR_FORMAT)
		*ret_error = (struct fah_import_error){number, r.wrong};
	end_part(&r);
	if (err == 0)
		err = add_up(&r);
	if (err == 0)
		*ret_whole = r.whole;
	fah_cg_names_done(&r.names);
	return err;
}
