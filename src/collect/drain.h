/*
 * drain.h - from segments to the capture: finds the segments of a session, takes what agents wrote,
 * and gives the room back. Never waits for a target. One thread at a time (fah_drain_share).
 */
#ifndef FAH_COLLECT_DRAIN_H
#define FAH_COLLECT_DRAIN_H

#include "capture/writer.h"
#include "collect/stack.h"
#include "collect/turns.h"

#include <stdbool.h>
#include <stdint.h>

struct fah_drain; /* opaque */

struct fah_drain_stats {
	uint64_t samples, drops, processes,
		unresolved; /* unresolved: samples whose code was never described */
	struct fah_stack_stats stacks;
	uint64_t cpu_ns;     /* of all samples, and of those that were dropped */
	uint64_t unrecorded; /* of those: forks that could make no segment */
	bool no_descriptors; /* a segment was not read for want of descriptors */
	char refused[256];   /* reason of the first process that was refused; "" if none */
};

/*
 * start_mono_ns: the run's start, to which all times in the capture relate. w is borrowed. The
 * caller owns *ret.
 */
int fah_drain_new(const char *session_dir, struct fah_writer *w, uint64_t start_mono_ns,
		  struct fah_drain **ret);

/* The processes live: keep them told of the code that they have mapped. 0 or FAH_ERR_NOMEM. */
int fah_drain_watch(struct fah_drain *d);

/* Others work on d's processes and its writer too, in turns: whoever calls has one, and what takes
 * long gives it up meanwhile. Borrowed; NULL: nobody else does any more. */
void fah_drain_share(struct fah_drain *d, struct fah_turns *turns);

/* Look for new processes; cheap, to be called often. True: fah_drain_look has something to do. */
bool fah_drain_notice(struct fah_drain *d);
/* Tell agents of code that their processes have mapped; lets others have their turns. */
void fah_drain_look(struct fah_drain *d);

/* Take everything that is there, flush the writer, then give the chunks back; lets others have
 * their turns. */
void fah_drain_cycle(struct fah_drain *d);

/* All that were ever found, borrowed; they live as long as d. */
struct fah_collected;
struct fah_collected *fah_drain_processes(struct fah_drain *d);

/*
 * For who has more to say of a thread or a process before its end is written. A thread's word:
 * start_ns, end_ns: monotonic; cpu_ns: all of its life, before_ns of it before start_ns.
 */
struct fah_thread_word {
	uint32_t thread; /* the capture's */
	uint64_t start_ns, end_ns, cpu_ns, before_ns;
};
struct fah_drain_ends {
	void *arg;
	void (*thread)(void *arg, struct fah_collected *p, const struct fah_thread_word *word);
	void (*process)(void *arg, struct fah_collected *p);
};
void fah_drain_tell_ends(struct fah_drain *d, const struct fah_drain_ends *ends);

/* Where log records go; borrowed as long as d lives. */
struct fah_logs;
void fah_drain_log_to(struct fah_drain *d, struct fah_logs *logs);

/* Recovery: w has this thread already, of a process that may be met again. */
void fah_drain_knows_thread(struct fah_drain *d, uint32_t process, uint32_t tid, uint64_t start_ns,
			    uint32_t id);

/* CPU that recording took of all processes so far: in handlers, and in counting calls. */
struct fah_drain_cost {
	uint64_t handler_ns, told_ns;
};
struct fah_drain_cost fah_drain_cost(const struct fah_drain *d);
/* Tell the agents what share of the threads' CPU, in millionths, handlers may use. */
void fah_drain_allow(struct fah_drain *d, uint32_t budget_ppm);

/* The folder has another name now (fah_session_end). */
int fah_drain_moved(struct fah_drain *d, const char *session_dir);

/* Tell the agents to record no more. */
void fah_drain_close(struct fah_drain *d);

/*
 * The last cycle: agents are told to record no more, process ends are written. The segments' files
 * stay, for whoever knows that the capture is safe.
 */
void fah_drain_finish(struct fah_drain *d);

const struct fah_drain_stats *fah_drain_stats(const struct fah_drain *d);
void fah_drain_free(struct fah_drain *d); /* NULL is fine */

#endif
