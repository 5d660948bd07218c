/*
 * load.c - the records of a capture become a profile's definitions; samples are only lined up by
 * thread here and read in timeline.c, straight from the reader's bytes.
 *
 * Records are whole by their checksum but still untrusted: every id is checked before it is used
 * as an index. A definition that makes no sense keeps its id (later ones count on) and points to
 * entry 0; a record that refers to nothing is left out and counted.
 */
#include "model/load.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "model/timeline.h"

#define NO_LIST \
	{ \
		FAH_NO_BLOCK, FAH_NO_BLOCK \
	}

static int add_string(struct fah_loader *l, struct fah_str s)
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

static int add_function(struct fah_loader *l, const struct fah_rec_function *f)
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
	p->functions[n] = (struct fah_function){.first_line = f->first_line, .kind = f->kind};
	p->n_functions++;
	return 0;
}

static int add_nodes(struct fah_loader *l, const struct fah_record *rec)
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

static int add_process(struct fah_loader *l, const struct fah_rec_process *r)
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

static int add_thread(struct fah_loader *l, const struct fah_rec_thread *r)
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
	l->chains[p->n_threads] = (struct fah_chain){NO_LIST, NO_LIST, NO_LIST, NO_LIST};
	p->n_threads++;
	return 0;
}

/* An item that will be number n becomes the list's last; next is that of the one so far. */
static void append(struct fah_list *list, uint32_t *next, size_t n)
{
	if (list->first == FAH_NO_BLOCK)
		list->first = (uint32_t)n;
	else
		*next = (uint32_t)n;
	list->last = (uint32_t)n;
}

/* The next of a list's last item, in an array of items that have one; or of any where it is empty.
 */
#define LAST_NEXT(list, items) (&(items)[(list).first == FAH_NO_BLOCK ? 0 : (list).last].next)

static int add_samples(struct fah_loader *l, const struct fah_record *rec)
{
	struct fah_samples_block open;
	struct fah_list *list;

	if (fah_samples_open(rec, &open) < 0 || open.thread - 1 >= l->p->n_threads ||
	    l->n_blocks >= FAH_NO_BLOCK)
		return FAH_ERR_DAMAGED;
	if (!fah_room(&l->blocks, l->n_blocks, &l->cap_blocks, sizeof(*l->blocks)))
		return FAH_ERR_NOMEM;
	list = &l->chains[open.thread - 1].blocks;
	l->blocks[l->n_blocks] = (struct fah_block){open, FAH_NO_BLOCK};
	append(list, LAST_NEXT(*list, l->blocks), l->n_blocks++);
	return 0;
}

static int add_drops(struct fah_loader *l, const struct fah_rec_drops *r)
{
	struct fah_totals *totals = &l->p->totals;
	struct fah_list *list;

	if (r->thread - 1 >= l->p->n_threads || l->n_drops >= FAH_NO_BLOCK)
		return FAH_ERR_DAMAGED;
	totals->drops_by[r->reason < FAH_DROPS_MAX ? r->reason : 0] += r->count;
	if (!fah_room(&l->drops, l->n_drops, &l->cap_drops, sizeof(*l->drops)))
		return FAH_ERR_NOMEM;
	list = &l->chains[r->thread - 1].drops;
	l->drops[l->n_drops] = (struct fah_dropped){r->time_ns, r->cpu_ns, FAH_NO_BLOCK};
	append(list, LAST_NEXT(*list, l->drops), l->n_drops++);
	return 0;
}

static int add_waits(struct fah_loader *l, const struct fah_record *rec)
{
	struct fah_waits_block open;
	struct fah_list *list;

	if (fah_waits_open(rec, &open) < 0 || open.thread - 1 >= l->p->n_threads ||
	    l->n_waits >= FAH_NO_BLOCK)
		return FAH_ERR_DAMAGED;
	if (!fah_room(&l->waits, l->n_waits, &l->cap_waits, sizeof(*l->waits)))
		return FAH_ERR_NOMEM;
	list = &l->chains[open.thread - 1].waits;
	l->waits[l->n_waits] = (struct fah_wait_block){open, FAH_NO_BLOCK};
	append(list, LAST_NEXT(*list, l->waits), l->n_waits++);
	l->p->totals.has_waits = true;
	return 0;
}

static int add_states(struct fah_loader *l, const struct fah_rec_states *r)
{
	struct fah_list *list;

	if (r->thread - 1 >= l->p->n_threads || l->n_states >= FAH_NO_BLOCK)
		return FAH_ERR_DAMAGED;
	if (!fah_room(&l->states, l->n_states, &l->cap_states, sizeof(*l->states)))
		return FAH_ERR_NOMEM;
	list = &l->chains[r->thread - 1].states;
	l->states[l->n_states] =
		(struct fah_state_point){r->time_ns, r->cpu_ns, r->ready_ns, FAH_NO_BLOCK};
	append(list, LAST_NEXT(*list, l->states), l->n_states++);
	return 0;
}

static int end_thread(struct fah_loader *l, const struct fah_rec_thread_end *r)
{
	struct fah_thread *thread;

	if (r->thread - 1 >= l->p->n_threads)
		return FAH_ERR_DAMAGED;
	thread = &l->p->threads[r->thread - 1];
	thread->end_ns = r->time_ns;
	thread->cpu_ns = r->cpu_ns;
	thread->before_ns = r->before_ns < r->cpu_ns ? r->before_ns : r->cpu_ns;
	if (r->start_ns <= r->time_ns)
		thread->start_ns = r->start_ns;
	return 0;
}

static int end_process(struct fah_loader *l, const struct fah_rec_process_end *r)
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
	process->samples = r->samples;
	l->agent_samples += r->samples;
	l->agent_recovered += r->recovered;
	for (uint32_t i = 0; i < r->n_drops && i < FAH_DROPS_MAX; i++) {
		process->drops_by[i] = r->drops[i];
		l->agent_drops[i] += r->drops[i];
	}
	return 0;
}

static int add_meta(struct fah_loader *l, const struct fah_record *rec)
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

static int add_record(struct fah_loader *l, const struct fah_record *rec)
{
	union {
		struct fah_str string;
		struct fah_rec_function function;
		struct fah_rec_process process;
		struct fah_rec_thread thread;
		struct fah_rec_drops drops;
		struct fah_rec_thread_end thread_end;
		struct fah_rec_process_end process_end;
		struct fah_rec_states states;
		struct fah_rec_health health;
		struct fah_rec_iterations iterations;
		struct fah_rec_calls calls;
		struct fah_rec_counting counting;
		struct fah_rec_timed timed;
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
		return add_waits(l, rec);
	case FAH_REC_STATES:
		err = fah_decode_states(rec, &u.states);
		return err < 0 ? err : add_states(l, &u.states);
	case FAH_REC_HEALTH:
		err = fah_decode_health(rec, &u.health);
		return err < 0 ? err : fah_loader_health(l, &u.health);
	case FAH_REC_ITERATIONS:
		err = fah_decode_iterations(rec, &u.iterations);
		return err < 0 ? err : fah_loader_iterations(l, &u.iterations);
	case FAH_REC_CALLS:
		err = fah_decode_calls(rec, &u.calls);
		if (err < 0)
			return err;
		if (!fah_room(&l->calls, l->n_calls, &l->cap_calls, sizeof(*l->calls)))
			return FAH_ERR_NOMEM;
		l->calls[l->n_calls++] = u.calls;
		return 0;
	case FAH_REC_TIMED:
		err = fah_decode_timed(rec, &u.timed);
		if (err < 0)
			return err;
		if (!fah_room(&l->p->timed, l->p->n_timed, &l->cap_timed, sizeof(*l->p->timed)))
			return FAH_ERR_NOMEM;
		l->p->timed[l->p->n_timed++] = u.timed;
		return 0;
	case FAH_REC_COUNTING:
		err = fah_decode_counting(rec, &u.counting);
		if (err < 0)
			return err;
		if (!fah_room(&l->counting, l->n_counting, &l->cap_counting, sizeof(*l->counting)))
			return FAH_ERR_NOMEM;
		l->counting[l->n_counting++] = u.counting;
		return 0;
	case FAH_REC_LINES:
	case FAH_REC_LINES_STATE:
		return fah_told_lines_add(l->p, rec);
	case FAH_REC_ALLOC:
	case FAH_REC_FREE:
	case FAH_REC_HEAP:
	case FAH_REC_COPY:
	case FAH_REC_BLOCKS:
		return l->without_heap ? 0 : fah_heap_records_add(l->p, rec);
	case FAH_REC_MEMORY:
		return fah_memory_records_add(l->p, rec);
	}
	return 0;
}

static int finish_threads(struct fah_loader *l)
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

static int load(struct fah_loader *l, struct fah_reader *reader)
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
	if (finish_threads(l) < 0 || fah_loader_functions(l) < 0 ||
	    fah_memory_records_settle(l->p) < 0)
		return FAH_ERR_NOMEM;
	in.blocks = l->blocks;
	in.drops = l->drops;
	in.waits = l->waits;
	in.states = l->states;
	in.chains = l->chains;
	in.wall_ns = l->has_end ? l->end.wall_ns : 0;
	if (l->p->kept) {
		l->p->kept->in = in;
		l->p->kept->scales = calloc(l->p->n_threads + 1, sizeof(struct fah_scales));
		if (!l->p->kept->scales)
			return FAH_ERR_NOMEM;
	}
	err = fah_timeline_run(l->p, l->p->kept ? &l->p->kept->in : &in);
	if (err == 0)
		err = fah_loader_counts(l);
	if (err < 0)
		return err;
	fah_loader_totals(l, &state);
	fah_loader_costs(l);
	fah_loader_loops(l);
	return 0;
}

/* The lists of records stay with the profile. */
static void keep(struct fah_loader *l)
{
	struct fah_kept *kept = l->p->kept;

	kept->chains = TAKE_PTR(l->chains);
	kept->blocks = TAKE_PTR(l->blocks);
	kept->drops = TAKE_PTR(l->drops);
	kept->waits = TAKE_PTR(l->waits);
	kept->states = TAKE_PTR(l->states);
}

static int load_profile(struct fah_reader *reader, bool moments, bool heap,
			struct fah_profile **ret)
{
	struct fah_loader l = {.p = calloc(1, sizeof(*l.p)), .without_heap = !heap};
	int err = l.p ? 0 : FAH_ERR_NOMEM;

	if (err == 0 && moments) {
		l.p->kept = calloc(1, sizeof(*l.p->kept));
		err = l.p->kept ? 0 : FAH_ERR_NOMEM;
	}
	if (err == 0)
		err = load(&l, reader);
	if (err == 0 && moments)
		keep(&l);

	free(l.function_file);
	free(l.function_name);
	free(l.function_qualname);
	free(l.chains);
	free(l.blocks);
	free(l.drops);
	free(l.waits);
	free(l.states);
	free(l.calls);
	free(l.counting);
	fah_map_release(&l.loop_ids);
	if (err < 0) {
		fah_profile_free(l.p);
		return err;
	}
	*ret = l.p;
	return 0;
}

int fah_profile_load(struct fah_reader *reader, struct fah_profile **ret)
{
	return load_profile(reader, false, true, ret);
}

int fah_profile_load_moments(struct fah_reader *reader, struct fah_profile **ret)
{
	return load_profile(reader, true, true, ret);
}

int fah_profile_load_time(struct fah_reader *reader, struct fah_profile **ret)
{
	return load_profile(reader, true, false, ret);
}
