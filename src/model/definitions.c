/*
 * definitions.c - what is made of a capture's records when all of them are read: files, functions
 * that are the same, and the totals that no sample is needed for.
 */
#include "model/load.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "core/err.h"
#include "model/cells.h"
#include "model/links.h"

/* A rate by fewer is off by a third and more by chance alone: one sample right after the start of a
 * thread was "10416.7 Hz". */
#define RATE_SAMPLES 10

static const char *string_at(const struct fah_profile *p, uint32_t id)
{
	return id < p->n_strings ? p->strings[id] : p->strings[0];
}

/* A program's relative paths are below the folder it was started in. Those of debug information are
 * below one of another machine, which it does not always name: they stay as they are. What the
 * settings say is of what symlinks lead to. */
static const char *comparable(struct fah_profile *p, const char *path, bool python)
{
	const char *cwd = fah_profile_meta(p, "cwd");

	if (!python)
		return fah_path_normal(&p->arena, path);
	path = fah_path_absolute(&p->arena, cwd ? cwd : "/", path);
	return path ? fah_links_real(&p->arena, fah_profile_meta(p, "links"), path) : NULL;
}

static int find_file(struct fah_loader *l, struct fah_strmap *by_path, const char *path,
		     bool python, uint32_t *ret_id)
{
	struct fah_profile *p = l->p;
	const char *abspath;
	uint32_t *slot;
	bool is_new;

	abspath = path[0] == '<' ? path : comparable(p, path, python);
	if (!abspath)
		return FAH_ERR_NOMEM;
	slot = fah_strmap_put(by_path, abspath, strlen(abspath), &is_new, NULL);
	if (!slot)
		return FAH_ERR_NOMEM;
	if (is_new) {
		if (!fah_room(&p->files, p->n_files, &l->cap_files, sizeof(*p->files)))
			return FAH_ERR_NOMEM;
		p->files[p->n_files] = (struct fah_file){path, abspath};
		*slot = (uint32_t)p->n_files++;
	}
	*ret_id = *slot;
	return 0;
}

/*
 * Files, names and canonical ids. Two processes may know one file by a relative and an absolute
 * name (before 3.9 a script has the one it was started by): they are one function to a reader.
 */
int fah_loader_functions(struct fah_loader *l)
{
	_cleanup_(fah_strmap_release) struct fah_strmap by_path = FAH_STRMAP_INIT;
	_cleanup_(fah_map_release) struct fah_map same = FAH_MAP_INIT;
	_cleanup_(fah_freep) bool *plain = NULL;
	_cleanup_(fah_freep) uint32_t *file_of_string = NULL;
	struct fah_profile *p = l->p;

	p->canonical = calloc(p->n_functions, sizeof(*p->canonical));
	plain = calloc(p->n_functions, sizeof(*plain));
	/* file id + 1; of a native function, of one of Python's */
	file_of_string = calloc(p->n_strings, 2 * sizeof(*file_of_string));
	if (!p->canonical || !plain || !file_of_string)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < p->n_functions; i++) {
		struct fah_function *f = &p->functions[i];
		uint32_t file = l->function_file[i], name = l->function_name[i];
		uint32_t qualname = l->function_qualname[i], *slot, *known;
		bool is_new;

		f->file = file ? string_at(p, file) : "<unknown>";
		f->name = string_at(p, qualname ? qualname : name);
		f->plain = *string_at(p, name) ? string_at(p, name) : "?";
		plain[i] = !qualname && fah_is_python(p, i); /* a library has no source to read */
		if (!*f->name)
			f->name = "?";
		known = &file_of_string[2 * (size_t)file + fah_is_python(p, i)];
		if (!*known) {
			int err = find_file(l, &by_path, f->file, fah_is_python(p, i), &f->file_id);

			if (err < 0)
				return err;
			*known = f->file_id + 1;
		}
		f->file_id = *known - 1;
		/* IPython compiles each statement of a cell for itself */
		if (!strcmp(f->name, "<module>") && fah_cell_number(f->file, NULL))
			f->first_line = 1;
		slot = fah_map_put(&same,
				   fah_key_u32x4(f->file_id, name, qualname,
						 fah_is_python(p, i) ? f->first_line : ~f->kind),
				   &is_new);
		if (!slot)
			return FAH_ERR_NOMEM;
		if (is_new)
			*slot = i;
		p->canonical[i] = *slot;
	}
	if (fah_names_resolve(p, plain) < 0)
		return FAH_ERR_NOMEM;
	return fah_cells_apply(p);
}

void fah_loader_totals(struct fah_loader *l, const struct fah_reader_state *state)
{
	struct fah_totals *t = &l->p->totals;
	const struct fah_process *first = l->p->n_processes ? l->p->processes : NULL;
	const char *rate = fah_profile_meta(l->p, "rate_asked");
	double cpu_s = 0;

	t->complete = l->has_end;
	t->lost_bytes = state->lost_bytes + (l->has_end ? l->end.lost_bytes : 0);
	t->lost_records = l->has_end ? l->end.lost_records : 0;
	t->wait_status = (int)l->end.wait_status;
	t->max_rss_bytes = l->end.max_rss_bytes;
	for (size_t i = 0; i < l->p->n_processes; i++)
		if (l->p->processes[i].max_rss_bytes > t->max_rss_bytes)
			t->max_rss_bytes = l->p->processes[i].max_rss_bytes;
	t->program_rss_bytes =
		first && first->max_rss_bytes ? first->max_rss_bytes : t->max_rss_bytes;
	t->program_s = first && first->end_ns > first->start_ns
			       ? (double)(first->end_ns - first->start_ns) / 1e9
			       : t->wall_s;
	if (t->program_s > t->wall_s)
		t->program_s = t->wall_s;

	for (size_t i = 0; i < l->p->n_threads; i++) {
		const struct fah_thread *thread = &l->p->threads[i];
		uint64_t seen = thread->sampled_cpu_ns + thread->dropped_cpu_ns;

		cpu_s += (double)(thread->cpu_ns > seen ? thread->cpu_ns : seen) / 1e9;
	}
	t->cpu_s = (double)l->end.user_ns / 1e9 + (double)l->end.system_ns / 1e9;
	if (t->cpu_s < cpu_s)
		t->cpu_s = cpu_s;
	cpu_s += t->absent_cpu_s;
	t->unseen_cpu_s = t->cpu_s > cpu_s ? t->cpu_s - cpu_s : 0;

	/* The agents' own counters know of drops that found no room for a record. */
	for (int i = 0; i < FAH_DROPS_MAX; i++) {
		if (l->agent_drops[i] > t->drops_by[i])
			t->drops_by[i] = l->agent_drops[i];
		t->drops += t->drops_by[i];
	}
	if (l->agent_recovered > t->recovered)
		t->recovered = l->agent_recovered;
	if (l->agent_samples > t->samples)
		t->samples_lost = l->agent_samples - t->samples;

	t->rate_asked = rate ? strtod(rate, NULL) : 0;
	if (!(t->rate_asked > 0 && t->rate_asked < 1e9))
		t->rate_asked = first && first->period_ns ? 1e9 / (double)first->period_ns : 0;
	if (cpu_s > 0 && t->samples + t->drops >= RATE_SAMPLES)
		t->rate_reached = (double)(t->samples + t->drops) / cpu_s;
}
