/* stats.c - see stats.h. Values are kept by run and function, and made into rows at the end. */
#include "model/stats.h"

#include "model/internal.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "core/err.h"

#include <math.h>
#include <sys/wait.h>

#define UNSTABLE_OF_MEAN 0.1
#define UNSTABLE_OF_SAMPLING 2 /* chance makes this in less than 5 % of cases, for any n */
#define NORMAL_95 1.96	       /* half width of a 95 % interval, in deviations */

struct value {
	uint32_t run, function;
	double seconds, share, sd; /* sd: of seconds, by the samples */
};

struct function {
	struct fah_stats_function row;
	uint32_t program;
	size_t last;		       /* its newest value: index + 1 */
	double m2, share_m2, variance; /* sums while rows are made */
};

struct fah_stats {
	struct fah_arena arena;
	struct fah_strmap programs_by, functions_by;
	struct fah_stats_program *programs;
	struct fah_stats_run *runs;
	double *absent_sd; /* by run: sampling_sd of what has no sample */
	struct function *functions;
	struct fah_stats_function *rows; /* programs' point into it */
	struct value *values;
	size_t n_programs, n_runs, n_functions, n_values;
	size_t cap_programs, cap_runs, cap_absent, cap_functions, cap_values;
};

int fah_stats_new(struct fah_stats **ret)
{
	struct fah_stats *s = calloc(1, sizeof(*s));

	if (!s)
		return FAH_ERR_NOMEM;
	*ret = s;
	return 0;
}

void fah_stats_free(struct fah_stats *s)
{
	if (!s)
		return;
	fah_strmap_release(&s->programs_by);
	fah_strmap_release(&s->functions_by);
	fah_arena_release(&s->arena);
	free(s->programs);
	free(s->runs);
	free(s->absent_sd);
	free(s->functions);
	free(s->rows);
	free(s->values);
	free(s);
}

static const char *below(const char *path, const char *root)
{
	size_t n = root ? strlen(root) : 0;

	return n && fah_path_below(path, root) && path[n] == '/' ? path + n + 1 : path;
}

/*
 * "script.py --size 10": the command line without the interpreter; the script by its path below
 * root, whatever the folder was that it was started from.
 */
static char *program_name(struct fah_arena *arena, const struct fah_profile *p, const char *root)
{
	const char *script = fah_profile_meta(p, "script"), *file = fah_profile_meta(p, "file");
	const char *line = p->n_processes ? p->processes[0].cmdline : "";
	const char *space = strchr(line, ' ');
	char *name;
	size_t n = file ? strlen(file) : 0;

	if (space)
		line = space + 1;
	if (!*line)
		line = script && *script		? script
		       : fah_profile_meta(p, "command") ? fah_profile_meta(p, "command")
							: "?";
	if (!script || !*script || !n || strncmp(line, file, n) != 0 || (line[n] && line[n] != ' '))
		return fah_arena_strdup(arena, below(line, root));
	script = below(script, root);
	name = fah_arena_alloc(arena, strlen(script) + strlen(line + n) + 1);
	if (name) {
		strcpy(name, script);
		strcat(name, line + n);
	}
	return name;
}

static int find_program(struct fah_stats *s, const struct fah_profile *p, const char *root,
			uint32_t *ret)
{
	uint32_t version = p->n_processes ? p->processes[0].python_version : 0, *slot;
	char *name = program_name(&s->arena, p, root), key[16];
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	bool is_new;

	if (!name)
		return FAH_ERR_NOMEM;
	snprintf(key, sizeof(key), "%x ", version);
	fah_strbuf_adds(&sb, key);
	fah_strbuf_adds(&sb, name);
	slot = sb.failed ? NULL
			 : fah_strmap_put(&s->programs_by, fah_strbuf_str(&sb), sb.len, &is_new,
					  NULL);
	fah_strbuf_release(&sb);
	if (!slot || !fah_room(&s->programs, s->n_programs, &s->cap_programs, sizeof(*s->programs)))
		return FAH_ERR_NOMEM;
	if (is_new) {
		*slot = (uint32_t)s->n_programs;
		s->programs[s->n_programs++] =
			(struct fah_stats_program){.name = name, .python_version = version};
	}
	*ret = *slot;
	return 0;
}

static int find_function(struct fah_stats *s, uint32_t program, const char *file,
			 const struct fah_function *f, uint32_t *ret)
{
	struct fah_strbuf key = FAH_STRBUF_INIT;
	uint32_t *slot;
	bool is_new;

	fah_strbuf_add(&key, &program, sizeof(program));
	fah_strbuf_add(&key, file, strlen(file) + 1);
	fah_strbuf_adds(&key, f->name);
	slot = key.failed ? NULL
			  : fah_strmap_put(&s->functions_by, fah_strbuf_str(&key), key.len, &is_new,
					   NULL);
	fah_strbuf_release(&key);
	if (!slot ||
	    !fah_room(&s->functions, s->n_functions, &s->cap_functions, sizeof(*s->functions)))
		return FAH_ERR_NOMEM;
	if (is_new) {
		struct function *new = &s->functions[s->n_functions];

		*new = (struct function){.program = program};
		new->row.file = fah_arena_strdup(&s->arena, file);
		new->row.name = fah_arena_strdup(&s->arena, f->name);
		if (!new->row.file || !new->row.name)
			return FAH_ERR_NOMEM;
		*slot = (uint32_t)s->n_functions++;
	}
	s->functions[*slot].row.line = f->first_line;
	*ret = *slot;
	return 0;
}

static const char *keep_meta(struct fah_stats *s, const struct fah_profile *p, const char *key)
{
	const char *value = fah_profile_meta(p, key);

	return value ? fah_arena_strdup(&s->arena, value) : "";
}

static int add_run(struct fah_stats *s, const char *path, const struct fah_profile *p,
		   const char *root)
{
	const struct fah_totals *t = &p->totals;
	struct fah_stats_run run = {
		.path = fah_arena_strdup(&s->arena, path),
		.wall_s = t->wall_s,
		.wait_status = t->wait_status,
		.start_ns = fah_profile_count(p, "start_real_ns"),
		.git_commit = keep_meta(s, p, "git_commit"),
		.git_branch = keep_meta(s, p, "git_branch"),
		.git_dirty = keep_meta(s, p, "git_dirty"),
		.left = !t->complete			    ? FAH_STATS_CUT
			: !t->samples && !(t->waited_s > 0) ? FAH_STATS_EMPTY
							    : FAH_STATS_USED,
	};
	int err = find_program(s, p, root, &run.program);

	if (err < 0)
		return err;
	if (!run.path || !run.git_commit || !run.git_branch || !run.git_dirty ||
	    !fah_room(&s->runs, s->n_runs, &s->cap_runs, sizeof(*s->runs)) ||
	    !fah_room(&s->absent_sd, s->n_runs, &s->cap_absent, sizeof(*s->absent_sd)))
		return FAH_ERR_NOMEM;
	s->absent_sd[s->n_runs] =
		fah_share_interval(0, t->effective_samples) * t->on_cpu_s / NORMAL_95;
	s->runs[s->n_runs++] = run;
	return 0;
}

/* Of the run that has the values from `from` on; two functions of one name are one. */
static int add_value(struct fah_stats *s, size_t from, const struct value *v)
{
	struct function *f = &s->functions[v->function];
	struct value *same;

	if (f->last > from) {
		same = &s->values[f->last - 1];
		same->seconds += v->seconds;
		same->share += v->share;
		same->sd = hypot(same->sd, v->sd);
		return 0;
	}
	if (!fah_room(&s->values, s->n_values, &s->cap_values, sizeof(*s->values)))
		return FAH_ERR_NOMEM;
	s->values[s->n_values++] = *v;
	f->last = s->n_values;
	return 0;
}

int fah_stats_add(struct fah_stats *s, const char *path, const struct fah_profile *p,
		  const struct fah_charges *charges, const char *root)
{
	size_t from = s->n_values;
	int err = add_run(s, path, p, root);

	for (size_t i = 0; err == 0 && i < charges->n_functions; i++) {
		const struct fah_function_cost *cost = &charges->functions[i];
		const struct fah_function *f = &p->functions[cost->function];
		struct value v = {.run = (uint32_t)(s->n_runs - 1),
				  .seconds = fah_times_sum(&cost->times),
				  .share = cost->share,
				  /* of what only waited no sample decides */
				  .sd = p->totals.on_cpu_s > 0
						? cost->interval * charges->wall_s / NORMAL_95
						: 0};

		err = find_function(s, s->runs[v.run].program,
				    below(p->files[f->file_id].abspath, root), f, &v.function);
		if (err == 0)
			err = add_value(s, from, &v);
	}
	return err;
}

/* A program that failed in some runs did other work in those. */
static void leave_out_failed(struct fah_stats *s)
{
	_cleanup_(fah_freep) bool *succeeded = calloc(s->n_programs + 1, sizeof(*succeeded));

	for (size_t i = 0; succeeded && i < s->n_runs; i++)
		if (s->runs[i].left == FAH_STATS_USED && !s->runs[i].wait_status)
			succeeded[s->runs[i].program] = true;
	for (size_t i = 0; succeeded && i < s->n_runs; i++)
		if (s->runs[i].left == FAH_STATS_USED && s->runs[i].wait_status &&
		    succeeded[s->runs[i].program])
			s->runs[i].left = FAH_STATS_FAILED;
}

static void take(struct fah_stat *stat, double *m2, size_t n, double x)
{
	double apart = x - stat->mean;

	stat->mean += apart / (double)n;
	*m2 += apart * (x - stat->mean);
	stat->min = n == 1 || x < stat->min ? x : stat->min;
	stat->max = n == 1 || x > stat->max ? x : stat->max;
	stat->sd = n > 1 ? sqrt(*m2 / (double)(n - 1)) : NAN;
}

static void make_walls(struct fah_stats *s)
{
	_cleanup_(fah_freep) double *m2 = calloc(s->n_programs + 1, sizeof(*m2));

	for (size_t i = 0; m2 && i < s->n_runs; i++) {
		struct fah_stats_program *program = &s->programs[s->runs[i].program];

		if (s->runs[i].left == FAH_STATS_USED)
			take(&program->wall_s, &m2[s->runs[i].program], ++program->n,
			     s->runs[i].wall_s);
	}
}

/* at: by function, where in values[] its next one is; values are by run. */
static void make_row(struct fah_stats *s, uint32_t function, const size_t *next, size_t first)
{
	struct function *f = &s->functions[function];
	size_t at = first, n = 0;

	for (uint32_t run = 0; run < s->n_runs; run++) {
		const struct value *v = NULL;

		if (at < s->n_values && s->values[at].run == run) {
			v = &s->values[at];
			at = next[at];
		}
		if (s->runs[run].left != FAH_STATS_USED || s->runs[run].program != f->program)
			continue;
		n++;
		f->row.n += v != NULL;
		take(&f->row.seconds, &f->m2, n, v ? v->seconds : 0);
		take(&f->row.share, &f->share_m2, n, v ? v->share : 0);
		f->variance += v ? v->sd * v->sd : s->absent_sd[run] * s->absent_sd[run];
	}
	f->row.sampling_sd = n ? sqrt(f->variance / (double)n) : 0;
	f->row.unstable = f->row.seconds.sd > UNSTABLE_OF_MEAN * f->row.seconds.mean &&
			  f->row.seconds.sd > UNSTABLE_OF_SAMPLING * f->row.sampling_sd;
}

static int by_program(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int order;

	if (x->program != y->program)
		return x->program < y->program ? -1 : 1;
	if (x->row.seconds.mean != y->row.seconds.mean)
		return x->row.seconds.mean > y->row.seconds.mean ? -1 : 1;
	order = strcmp(x->row.file, y->row.file);
	return order ? order : strcmp(x->row.name, y->row.name);
}

int fah_stats_finish(struct fah_stats *s)
{
	_cleanup_(fah_freep) size_t *next = calloc(s->n_values + 1, sizeof(*next));
	_cleanup_(fah_freep) size_t *first = calloc(s->n_functions + 1, sizeof(*first));

	s->rows = calloc(s->n_functions + 1, sizeof(*s->rows));
	if (!next || !first || !s->rows)
		return FAH_ERR_NOMEM;
	leave_out_failed(s);
	make_walls(s);
	for (size_t i = 0; i < s->n_functions; i++)
		first[i] = s->n_values;
	for (size_t i = s->n_values; i-- > 0;) {
		next[i] = first[s->values[i].function];
		first[s->values[i].function] = i;
	}
	for (uint32_t i = 0; i < s->n_functions; i++)
		make_row(s, i, next, first[i]);
	qsort(s->functions, s->n_functions, sizeof(*s->functions), by_program);
	for (size_t i = 0; i < s->n_functions; i++) {
		struct fah_stats_program *program = &s->programs[s->functions[i].program];

		s->rows[i] = s->functions[i].row;
		if (!program->n_functions)
			program->functions = &s->rows[i];
		/* what only runs that are left out have stands last */
		program->n_functions += s->rows[i].n > 0;
	}
	return 0;
}

const struct fah_stats_program *fah_stats_programs(const struct fah_stats *s, size_t *ret_n)
{
	*ret_n = s->n_programs;
	return s->programs;
}

const struct fah_stats_run *fah_stats_runs(const struct fah_stats *s, size_t *ret_n)
{
	*ret_n = s->n_runs;
	return s->runs;
}
