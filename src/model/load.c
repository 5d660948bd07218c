/*
 * load.c - the records of a capture become a profile's definitions; samples are only lined up by
 * thread here and read in timeline.c, straight from the reader's bytes.
 *
 * Records are whole by their checksum but still untrusted: every id is checked before it is used
 * as an index. A definition that makes no sense keeps its id (later ones count on) and points to
 * entry 0; a record that refers to nothing is left out and counted.
 */
#include "model/internal.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "core/err.h"
#include "core/segment.h"

#include <string.h>

struct loader {
	struct fah_profile *p;
	uint32_t *function_file, *function_name, *function_qualname; /* string ids, by function */
	size_t cap_strings, cap_functions, cap_files, cap_nodes, cap_processes, cap_threads,
		cap_meta, cap_ff, cap_fn, cap_fq, cap_chains, cap_blocks, cap_drops;
	struct fah_chain *chains;
	struct fah_block *blocks;
	size_t n_blocks;
	struct fah_dropped *drops;
	size_t n_drops;
	uint64_t agent_samples, agent_recovered, agent_drops[FAH_DROPS_MAX];
	struct fah_rec_end end;
	bool has_end;
};

static const char *string_at(const struct fah_profile *p, uint32_t id)
{
	return id < p->n_strings ? p->strings[id] : p->strings[0];
}

static int add_string(struct loader *l, struct fah_str s)
{
	struct fah_profile *p = l->p;
	const char *copy;

	if (!fah_room(&p->strings, p->n_strings, &l->cap_strings, sizeof(*p->strings)))
		return FAH_ERR_NOMEM;
	copy = fah_arena_strndup(&p->arena, s.p, s.len);
	if (!copy)
		return FAH_ERR_NOMEM;
	p->strings[p->n_strings++] = copy;
	return 0;
}

static int add_function(struct loader *l, const struct fah_rec_function *f)
{
	struct fah_profile *p = l->p;
	size_t n = p->n_functions;

	if (!fah_room(&p->functions, n, &l->cap_functions, sizeof(*p->functions)) ||
	    !fah_room(&l->function_file, n, &l->cap_ff, sizeof(uint32_t)) ||
	    !fah_room(&l->function_name, n, &l->cap_fn, sizeof(uint32_t)) ||
	    !fah_room(&l->function_qualname, n, &l->cap_fq, sizeof(uint32_t)))
		return FAH_ERR_NOMEM;
	l->function_file[n] = f->file < p->n_strings ? f->file : 0;
	l->function_name[n] = f->name < p->n_strings ? f->name : 0;
	l->function_qualname[n] = f->qualname < p->n_strings ? f->qualname : 0;
	p->functions[n] = (struct fah_function){.first_line = f->first_line};
	p->n_functions++;
	return 0;
}

static int add_nodes(struct loader *l, const struct fah_record *rec)
{
	struct fah_profile *p = l->p;
	struct fah_nodes_block block;
	struct fah_node_item item;

	if (fah_nodes_open(rec, &block) < 0)
		return FAH_ERR_DAMAGED;
	while (fah_nodes_next(&block, &item)) {
		size_t id = p->n_nodes;

		if (id >= UINT32_MAX)
			return FAH_ERR_DAMAGED;
		if (!fah_room(&p->nodes, id, &l->cap_nodes, sizeof(*p->nodes)))
			return FAH_ERR_NOMEM;
		p->nodes[id] = (struct fah_node){
			.parent = item.distance && item.distance <= id
					  ? (uint32_t)id - item.distance
					  : 0,
			.function = item.function < p->n_functions ? item.function : 0,
			.line = item.line,
		};
		p->n_nodes++;
	}
	return block.c.bad ? FAH_ERR_DAMAGED : 0;
}

/* Arguments joined with spaces; the capture has them apart by NULs. */
static char *join_cmdline(struct fah_arena *arena, struct fah_str s)
{
	char *copy;

	while (s.len && !s.p[s.len - 1])
		s.len--;
	copy = fah_arena_strndup(arena, s.p, s.len);
	for (uint32_t i = 0; copy && i < s.len; i++)
		if (!copy[i])
			copy[i] = ' ';
	return copy;
}

static int add_process(struct loader *l, const struct fah_rec_process *r)
{
	struct fah_profile *p = l->p;
	struct fah_process *process;

	if (!fah_room(&p->processes, p->n_processes, &l->cap_processes, sizeof(*p->processes)))
		return FAH_ERR_NOMEM;
	process = &p->processes[p->n_processes];
	*process = (struct fah_process){
		.pid = r->pid,
		.ppid = r->ppid,
		.python_version = r->python_version,
		.clock = r->clock,
		.forked = r->forked,
		.period_ns = r->period_ns,
		.start_ns = r->start_ns,
		.cmdline = join_cmdline(&p->arena, r->cmdline),
		.reason = "",
	};
	if (!process->cmdline)
		return FAH_ERR_NOMEM;
	p->n_processes++;
	return 0;
}

static int add_thread(struct loader *l, const struct fah_rec_thread *r)
{
	struct fah_profile *p = l->p;
	struct fah_thread *thread;

	if (!fah_room(&p->threads, p->n_threads, &l->cap_threads, sizeof(*p->threads)) ||
	    !fah_room(&l->chains, p->n_threads, &l->cap_chains, sizeof(*l->chains)))
		return FAH_ERR_NOMEM;
	thread = &p->threads[p->n_threads];
	*thread = (struct fah_thread){
		.process = r->process - 1, /* checked in finish_threads */
		.tid = r->tid,
		.start_ns = r->start_ns,
		.name = fah_arena_strndup(&p->arena, r->name.p, r->name.len),
	};
	if (!thread->name)
		return FAH_ERR_NOMEM;
	l->chains[p->n_threads] =
		(struct fah_chain){FAH_NO_BLOCK, FAH_NO_BLOCK, FAH_NO_BLOCK, FAH_NO_BLOCK};
	p->n_threads++;
	return 0;
}

static int add_samples(struct loader *l, const struct fah_record *rec)
{
	struct fah_samples_block open;
	struct fah_chain *chain;

	if (fah_samples_open(rec, &open) < 0 || open.thread - 1 >= l->p->n_threads ||
	    l->n_blocks >= FAH_NO_BLOCK)
		return FAH_ERR_DAMAGED;
	if (!fah_room(&l->blocks, l->n_blocks, &l->cap_blocks, sizeof(*l->blocks)))
		return FAH_ERR_NOMEM;
	chain = &l->chains[open.thread - 1];
	l->blocks[l->n_blocks] = (struct fah_block){open, FAH_NO_BLOCK};
	if (chain->first_block == FAH_NO_BLOCK)
		chain->first_block = (uint32_t)l->n_blocks;
	else
		l->blocks[chain->last_block].next = (uint32_t)l->n_blocks;
	chain->last_block = (uint32_t)l->n_blocks++;
	return 0;
}

static int add_drops(struct loader *l, const struct fah_rec_drops *r)
{
	struct fah_totals *totals = &l->p->totals;
	struct fah_chain *chain;

	if (r->thread - 1 >= l->p->n_threads || l->n_drops >= FAH_NO_BLOCK)
		return FAH_ERR_DAMAGED;
	totals->drops_by[r->reason < FAH_DROPS_MAX ? r->reason : 0] += r->count;
	if (!fah_room(&l->drops, l->n_drops, &l->cap_drops, sizeof(*l->drops)))
		return FAH_ERR_NOMEM;
	chain = &l->chains[r->thread - 1];
	l->drops[l->n_drops] = (struct fah_dropped){r->time_ns, r->cpu_ns, FAH_NO_BLOCK};
	if (chain->first_drop == FAH_NO_BLOCK)
		chain->first_drop = (uint32_t)l->n_drops;
	else
		l->drops[chain->last_drop].next = (uint32_t)l->n_drops;
	chain->last_drop = (uint32_t)l->n_drops++;
	return 0;
}

static int end_thread(struct loader *l, const struct fah_rec_thread_end *r)
{
	if (r->thread - 1 >= l->p->n_threads)
		return FAH_ERR_DAMAGED;
	l->p->threads[r->thread - 1].end_ns = r->time_ns;
	l->p->threads[r->thread - 1].cpu_ns = r->cpu_ns;
	return 0;
}

static int end_process(struct loader *l, const struct fah_rec_process_end *r)
{
	struct fah_process *process;

	if (r->process - 1 >= l->p->n_processes)
		return FAH_ERR_DAMAGED;
	process = &l->p->processes[r->process - 1];
	process->end_ns = r->time_ns;
	process->user_ns = r->user_ns;
	process->system_ns = r->system_ns;
	process->max_rss_bytes = r->max_rss_bytes;
	process->status = r->status;
	process->reason = fah_arena_strndup(&l->p->arena, r->reason.p, r->reason.len);
	if (!process->reason)
		return FAH_ERR_NOMEM;
	l->agent_samples += r->samples;
	l->agent_recovered += r->recovered;
	for (uint32_t i = 0; i < r->n_drops && i < FAH_DROPS_MAX; i++)
		l->agent_drops[i] += r->drops[i];
	return 0;
}

static int add_meta(struct loader *l, const struct fah_record *rec)
{
	struct fah_cursor c = {rec->payload, rec->payload + rec->len, false};
	struct fah_profile *p = l->p;
	struct fah_str key, value;
	int err;

	while ((err = fah_decode_meta(&c, &key, &value)) > 0) {
		struct fah_meta *m;

		if (!fah_room(&p->meta, p->n_meta, &l->cap_meta, sizeof(*p->meta)))
			return FAH_ERR_NOMEM;
		m = &p->meta[p->n_meta];
		m->key = fah_arena_strndup(&p->arena, key.p, key.len);
		m->value = fah_arena_strndup(&p->arena, value.p, value.len);
		if (!m->key || !m->value)
			return FAH_ERR_NOMEM;
		p->n_meta++;
	}
	return err;
}

static int add_record(struct loader *l, const struct fah_record *rec)
{
	union {
		struct fah_str string;
		struct fah_rec_function function;
		struct fah_rec_process process;
		struct fah_rec_thread thread;
		struct fah_rec_drops drops;
		struct fah_rec_thread_end thread_end;
		struct fah_rec_process_end process_end;
	} u;
	int err;

	memset(&u, 0, sizeof(u));
	switch (rec->type) {
	case FAH_REC_META:
		return add_meta(l, rec);
	case FAH_REC_STRING: /* definitions keep their id even where they cannot be read */
		err = fah_decode_string(rec, &u.string);
		if (err < 0)
			u.string = (struct fah_str){"", 0};
		return add_string(l, u.string) < 0 ? FAH_ERR_NOMEM : err;
	case FAH_REC_FUNCTION:
		err = fah_decode_function(rec, &u.function);
		if (err < 0)
			memset(&u, 0, sizeof(u));
		return add_function(l, &u.function) < 0 ? FAH_ERR_NOMEM : err;
	case FAH_REC_NODES:
		return add_nodes(l, rec);
	case FAH_REC_PROCESS:
		err = fah_decode_process(rec, &u.process);
		if (err < 0)
			u.process = (struct fah_rec_process){.cmdline = {"", 0}};
		return add_process(l, &u.process) < 0 ? FAH_ERR_NOMEM : err;
	case FAH_REC_THREAD:
		err = fah_decode_thread(rec, &u.thread);
		if (err < 0)
			u.thread = (struct fah_rec_thread){.name = {"", 0}};
		return add_thread(l, &u.thread) < 0 ? FAH_ERR_NOMEM : err;
	case FAH_REC_SAMPLES:
		return add_samples(l, rec);
	case FAH_REC_DROPS:
		err = fah_decode_drops(rec, &u.drops);
		return err < 0 ? err : add_drops(l, &u.drops);
	case FAH_REC_THREAD_END:
		err = fah_decode_thread_end(rec, &u.thread_end);
		return err < 0 ? err : end_thread(l, &u.thread_end);
	case FAH_REC_PROCESS_END:
		err = fah_decode_process_end(rec, &u.process_end);
		return err < 0 ? err : end_process(l, &u.process_end);
	case FAH_REC_END:
		err = fah_decode_end(rec, &l->end);
		l->has_end = err == 0;
		return err;
	case FAH_REC_WAITS:
	case FAH_REC_STATES:
		return 0;
	}
	return 0;
}

static int finish_threads(struct loader *l)
{
	struct fah_profile *p = l->p;
	struct fah_rec_process unknown = {.cmdline = {"", 0}};

	if (p->n_threads && !p->n_processes && add_process(l, &unknown) < 0)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < p->n_threads; i++)
		if (p->threads[i].process >= p->n_processes)
			p->threads[i].process = 0;
	return 0;
}

static int find_file(struct loader *l, struct fah_strmap *by_path, const char *path,
		     uint32_t *ret_id)
{
	const char *cwd = fah_profile_meta(l->p, "cwd");
	struct fah_profile *p = l->p;
	const char *abspath;
	uint32_t *slot;
	bool is_new;

	abspath = path[0] == '<' ? path : fah_path_absolute(&p->arena, cwd ? cwd : "/", path);
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
static int finish_functions(struct loader *l)
{
	_cleanup_(fah_strmap_release) struct fah_strmap by_path = FAH_STRMAP_INIT;
	_cleanup_(fah_map_release) struct fah_map same = FAH_MAP_INIT;
	_cleanup_(fah_freep) bool *plain = NULL;
	_cleanup_(fah_freep) uint32_t *file_of_string = NULL;
	struct fah_profile *p = l->p;

	p->canonical = calloc(p->n_functions, sizeof(*p->canonical));
	plain = calloc(p->n_functions, sizeof(*plain));
	file_of_string = calloc(p->n_strings, sizeof(*file_of_string)); /* file id + 1 */
	if (!p->canonical || !plain || !file_of_string)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < p->n_functions; i++) {
		struct fah_function *f = &p->functions[i];
		uint32_t file = l->function_file[i], name = l->function_name[i];
		uint32_t qualname = l->function_qualname[i], *slot;
		bool is_new;

		f->file = file ? string_at(p, file) : "<unknown>";
		f->name = string_at(p, qualname ? qualname : name);
		plain[i] = !qualname;
		if (!*f->name)
			f->name = "?";
		if (!file_of_string[file]) {
			int err = find_file(l, &by_path, f->file, &f->file_id);

			if (err < 0)
				return err;
			file_of_string[file] = f->file_id + 1;
		}
		f->file_id = file_of_string[file] - 1;
		slot = fah_map_put(&same, fah_key_u32x4(f->file_id, name, qualname, f->first_line),
				   &is_new);
		if (!slot)
			return FAH_ERR_NOMEM;
		if (is_new)
			*slot = i;
		p->canonical[i] = *slot;
	}
	return fah_names_resolve(p, plain);
}

static void finish_totals(struct loader *l, const struct fah_reader_state *state)
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
	if (cpu_s > 0)
		t->rate_reached = (double)(t->samples + t->drops) / cpu_s;
}

static int load(struct loader *l, struct fah_reader *reader)
{
	struct fah_timeline_input in = {0};
	struct fah_reader_state state;
	struct fah_record rec;
	int err;

	/* Entry 0 of each table is "unknown", so that no later step has to test. */
	if (add_string(l, (struct fah_str){"", 0}) < 0 ||
	    add_function(l, &(struct fah_rec_function){0}) < 0 ||
	    !fah_room(&l->p->nodes, 0, &l->cap_nodes, sizeof(*l->p->nodes)))
		return FAH_ERR_NOMEM;
	l->p->nodes[0] = (struct fah_node){0, 0, 0};
	l->p->n_nodes = 1;

	while ((err = fah_reader_next(reader, &rec)) > 0) {
		err = add_record(l, &rec);
		if (err == FAH_ERR_NOMEM)
			return err;
		if (err < 0)
			l->p->totals.bad_records++;
	}
	fah_reader_state(reader, &state);
	if (finish_threads(l) < 0 || finish_functions(l) < 0)
		return FAH_ERR_NOMEM;
	in.blocks = l->blocks;
	in.drops = l->drops;
	in.chains = l->chains;
	in.wall_ns = l->has_end ? l->end.wall_ns : 0;
	err = fah_timeline_run(l->p, &in);
	if (err < 0)
		return err;
	finish_totals(l, &state);
	return 0;
}

int fah_profile_load(struct fah_reader *reader, struct fah_profile **ret)
{
	struct loader l = {.p = calloc(1, sizeof(*l.p))};
	int err = l.p ? load(&l, reader) : FAH_ERR_NOMEM;

	free(l.function_file);
	free(l.function_name);
	free(l.function_qualname);
	free(l.chains);
	free(l.blocks);
	free(l.drops);
	if (err < 0) {
		fah_profile_free(l.p);
		return err;
	}
	*ret = l.p;
	return 0;
}
