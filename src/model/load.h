/*
 * load.h - what is known while a capture is read; for load.c and definitions.c.
 */
#ifndef FAH_MODEL_LOAD_H
#define FAH_MODEL_LOAD_H

#include "base/map.h"
#include "model/internal.h"

struct fah_loader {
	struct fah_profile *p;
	bool without_heap; /* blocks of memory are passed over */
	uint32_t *function_file, *function_name, *function_qualname; /* string ids, by function */
	size_t cap_strings, cap_functions, cap_files, cap_nodes, cap_processes, cap_threads,
		cap_meta, cap_ff, cap_fn, cap_fq, cap_chains, cap_blocks, cap_drops, cap_waits,
		cap_states, cap_loops;
	struct fah_chain *chains;
	struct fah_block *blocks;
	size_t n_blocks;
	struct fah_dropped *drops;
	size_t n_drops;
	struct fah_wait_block *waits;
	size_t n_waits;
	struct fah_state_point *states;
	size_t n_states;
	uint64_t agent_samples, agent_recovered, agent_drops[FAH_DROPS_MAX];
	struct fah_rec_calls *calls;
	size_t n_calls, cap_calls, cap_call_counts;
	struct fah_rec_counting *counting;
	size_t n_counting, cap_counting, cap_timed;
	struct fah_map loop_ids; /* by process and number: index + 1 */
	struct fah_rec_end end;
	bool has_end;
};

/* definitions.c: after the last record. 0 or FAH_ERR_NOMEM. */
int fah_loader_functions(struct fah_loader *l);
/* health.c: a HEALTH record; and, after fah_loader_totals, the costs of the run. */
int fah_loader_health(struct fah_loader *l, const struct fah_rec_health *r);
void fah_loader_costs(struct fah_loader *l);
/* loops.c: an ITERATIONS record; and after the last of them. */
int fah_loader_iterations(struct fah_loader *l, const struct fah_rec_iterations *r);
void fah_loader_loops(struct fah_loader *l);
/* counts.c: after the last record. 0 or FAH_ERR_NOMEM. */
int fah_loader_counts(struct fah_loader *l);
/* After the timeline has run. */
void fah_loader_totals(struct fah_loader *l, const struct fah_reader_state *state);

#endif
