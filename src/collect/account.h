/*
 * account.h - the time of one thread: what it waited, and at which places, as items of the capture.
 *
 * Pure arithmetic over the kernel's account at points in time. What was waited so far is known
 * exactly at each point; an item says that some of it belongs to a place. All items together are
 * never more than was waited, and at each point where the thread is blocked they are all of it.
 */
#ifndef FAH_COLLECT_ACCOUNT_H
#define FAH_COLLECT_ACCOUNT_H

#include "capture/writer.h"
#include "target/task.h"

#include <stdbool.h>
#include <stdint.h>

struct fah_place {
	uint32_t reason, node;
};

struct fah_account {
	struct fah_writer *w;
	uint32_t thread;	       /* the capture's */
	uint64_t run_start_ns;	       /* times in the capture are since then */
	uint64_t start_ns;	       /* of the thread, monotonic */
	struct fah_sched base;	       /* at start_ns */
	struct fah_sched last;	       /* the newest */
	uint64_t last_ns;	       /* and when */
	uint64_t item_ns, waited_ns;   /* end and sum of the items so far */
	uint64_t told_cpu, told_ready; /* in the last STATES; told_cpu UINT64_MAX: none yet */
	bool blocked;		       /* at last_ns, in place */
	bool was_blocked;	       /* at the point before, in place; it has run since */
	uint64_t since_ns;	       /* blocked: when that was found */
	struct fah_place place;
};

void fah_account_begin(struct fah_account *a, uint64_t start_ns, const struct fah_sched *base);

/* The kernel's account at now_ns. True: the thread is where it was, and nothing is left to find
 * out. False: fah_account_blocked, _running or _unknown must follow. */
bool fah_account_point(struct fah_account *a, const struct fah_sched *s, uint64_t now_ns);
/* Waited up to that point, and in no item yet. */
uint64_t fah_account_due(const struct fah_account *a);
/* At that point it was blocked in place. */
void fah_account_blocked(struct fah_account *a, struct fah_place place);
void fah_account_running(struct fah_account *a);
void fah_account_unknown(struct fah_account *a);

/* Known to be still blocked at now_ns, without a new reading. */
void fah_account_still(struct fah_account *a, uint64_t now_ns);

/*
 * The thread's own word: it began at start_ns and ended at end_ns, with so much CPU by its own
 * clock. What nobody saw of it after the last look it waited where it was blocked then; where it
 * ran, that is waiting and want of a core in the proportion of its time before. Written; nothing
 * follows.
 */
void fah_account_end(struct fah_account *a, uint64_t start_ns, uint64_t end_ns, uint64_t cpu_ns);

/* Write what is known; final: nothing follows. */
void fah_account_flush(struct fah_account *a, bool final);

#endif
