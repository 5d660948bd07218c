/*
 * session.h - the folder of one run's segments, and the agent's file as the target is to load it.
 */
#ifndef FAH_COLLECT_SESSION_H
#define FAH_COLLECT_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAH_AGENT_STEM "libfixingahole-agent" /* how the names of both our libraries begin */

#define FAH_SESSION_PATH_MAX 4096

struct fah_session {
	char dir[FAH_SESSION_PATH_MAX];
	int lock_fd; /* held as long as the run: tells a living session from a leftover; -1: none */
	char agent[FAH_SESSION_PATH_MAX]; /* path without characters that LD_PRELOAD splits at */
};

/* The path of a file that is installed with the agent, by its name there. FAH_ERR_SYS with errno;
 * ENOENT: it is not there, or its path is longer than cap. */
int fah_session_find(const char *name, char *ret, size_t cap);

/*
 * Make the folder (memory-backed where possible: a page that the kernel writes back to disk would
 * stall the target) and find the agent beside this program. The folder's path is absolute: the
 * program may go elsewhere. heap: the agent that stands in front of allocators. FAH_ERR_SYS with
 * errno; ENOENT: no agent.
 */
int fah_session_init(struct fah_session *s, bool heap);
/* A file of that name for agents: whose calls are counted (FAH_SESSION_COUNT, agent/count_scope.c),
 * whether all are told (FAH_SESSION_EXACT, agent/exact_start.c). FAH_ERR_SYS: it could not be
 * written, and is not there. */
int fah_session_tell(const struct fah_session *s, const char *name, const char *text);

/*
 * The run is over: the folder gets a name that no agent knows (s->dir changes), so that children
 * which start later put nothing into it, and find no place to record to. Where it cannot be renamed
 * all stays as it was. Comes before the last look at what is in it.
 */
void fah_session_end(struct fah_session *s);
/* Remove the folder with all that a session puts there; programs that still live keep their maps.
 */
void fah_session_remove(const struct fah_session *s);

/* s->dir is a leftover, perhaps under the name of one that had ended (then s->dir changes): get its
 * lock, so that nobody else takes it. FAH_ERR_SYS: it is none, is not this user's, or its collector
 * lives. */
int fah_session_take_over(struct fah_session *s);
/* The lock of the session's folder open as dir, held: a fd. FAH_ERR_SYS: somebody else holds it,
 * there is none (create: one is made then), or the folder is about to go. */
int fah_session_lock(int dir, bool create);

/*
 * Leftovers of killed runs in base that nobody asked for in a day: removed, where they are this
 * user's, their collector is gone and none of their programs lives. (expire.c)
 */
void fah_session_expire(const char *base);
#define FAH_SESSION_PREFIX "fixingahole-"
#define FAH_SESSION_LOCK "lock"
#define FAH_SESSION_COUNT "count"
#define FAH_SESSION_EXACT "exact"
#define FAH_SESSION_LINES "lines"  /* whose lines are told (agent/lines_scope.c) */
#define FAH_SESSION_HEAP "heap"	   /* which blocks of memory are recorded (agent/heap_sample.c) */
#define FAH_SESSION_ENDED ".ended" /* behind the folder's name when its run is over */

#endif
