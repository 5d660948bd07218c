/*
 * copy.c - records of another capture into a writer, which then goes on from their ids: how a
 * killed run's capture gets what the run had recorded but not yet written.
 */
#include "capture/reader.h"
#include "capture/writer_internal.h"

/* The first of equal definitions keeps its id, as if it had been made here. */
static void learn(uint32_t *value, uint32_t id)
{
	if (value && !*value)
		*value = id;
}

static void learn_nodes(struct fah_writer *w, const struct fah_record *rec)
{
	struct fah_nodes_block block;
	struct fah_node_item item;

	if (fah_nodes_open(rec, &block) < 0)
		return;
	while (fah_nodes_next(&block, &item)) {
		uint32_t parent = ++w->n_nodes - item.distance;
		struct fah_key key = fah_key_u32x4(parent, item.function, item.line, 0);

		if (item.distance && item.distance <= w->n_nodes)
			learn(fah_map_put(&w->nodes, key, NULL), w->n_nodes);
	}
}

/* A definition that can't be decoded still takes its id, as it does for a reader. */
void fah_writer_copy(struct fah_writer *w, const struct fah_record *rec)
{
	struct fah_rec_function f;
	struct fah_rec_process p;
	struct fah_rec_thread t;
	struct fah_str s;

	switch (rec->type) {
	case FAH_REC_END:
		return;
	case FAH_REC_STRING:
		w->n_strings++;
		if (fah_decode_string(rec, &s) == 0)
			learn(fah_strmap_put(&w->strings, s.p, s.len, NULL, NULL), w->n_strings);
		break;
	case FAH_REC_FUNCTION:
		w->n_functions++;
		if (fah_decode_function(rec, &f) == 0)
			learn(fah_map_put(&w->functions,
					  fah_function_key(f.file, f.name, f.qualname, f.first_line,
							   f.kind, f.module),
					  NULL),
			      w->n_functions);
		break;
	case FAH_REC_NODES:
		learn_nodes(w, rec);
		break;
	case FAH_REC_PROCESS:
		w->n_processes++;
		if (fah_decode_process(rec, &p) == 0)
			learn(fah_map_put(&w->processes, fah_process_key(p.pid, p.start_ns), NULL),
			      w->n_processes);
		break;
	case FAH_REC_THREAD:
		if (!fah_writer_thread_room(w)) {
			w->sink.given_up = true; /* every later id would be another one's */
			return;
		}
		w->n_threads++;
		if (fah_decode_thread(rec, &t) == 0)
			learn(fah_map_put(&w->thread_ids,
					  fah_thread_key(t.process, t.tid, t.start_ns), NULL),
			      w->n_threads);
		break;
	default:
		break;
	}
	fah_sink_record(&w->sink, rec->type, rec->payload, rec->len);
}
