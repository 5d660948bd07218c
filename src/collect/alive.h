/*
 * alive.h - whether a process of the run still lives, as the kernel shows it.
 */
#ifndef FAH_COLLECT_ALIVE_H
#define FAH_COLLECT_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Gone, or all of its threads are: a first thread that ended before the others is no end. */
bool fah_alive_is_gone(uint32_t pid);

/*
 * The pid by which we know the process that is `pid` in the pid namespace with that inode (0: not
 * known, taken for ours). 0: there is none to be seen.
 */
uint32_t fah_alive_outer_pid(uint32_t pid_namespace, uint32_t pid);

#endif
