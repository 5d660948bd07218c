/*
 * memory_text.h - what the kernel's files say of memory, as pure functions over their bytes: of a
 * process, of the machine, of a control group. The bytes are untrusted (containers put files of
 * their own there): what makes no sense is not known. Texts need no NUL behind them.
 */
#ifndef FAH_TARGET_MEMORY_TEXT_H
#define FAH_TARGET_MEMORY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAH_BYTES_UNKNOWN UINT64_MAX
#define FAH_BYTES_NO_LIMIT \
	(UINT64_C(1) << 62) /* and more: version 1 of groups has such numbers \
			     */

/* The number behind key, at the start of a line and followed by ':' or a space ("VmRSS:   12 kB",
 * "oom_kill 3"), in bytes where "kB" follows. FAH_BYTES_UNKNOWN: no such line. */
uint64_t fah_text_keyed(const char *text, size_t len, const char *key);

/* A file that is one number, or "max". FAH_BYTES_NO_LIMIT and no more, or FAH_BYTES_UNKNOWN. */
uint64_t fah_text_limit(const char *text, size_t len);

/* /proc/PID/statm: the resident set in bytes; FAH_BYTES_UNKNOWN also of a process that has no
 * memory any more. */
uint64_t fah_text_resident(const char *text, size_t len, uint64_t page_bytes);

#define FAH_GROUP_PATH 4096

/* Where a process's control group for memory is seen. */
struct fah_group_place {
	char dir[FAH_GROUP_PATH];
	size_t top; /* bytes of dir that are the mount point: groups above it are not seen */
	bool v1;
};

/* From /proc/PID/cgroup and our /proc/self/mountinfo. False: there is none to be seen. */
bool fah_text_group(const char *cgroup, size_t cgroup_len, const char *mounts, size_t mounts_len,
		    struct fah_group_place *ret);

#endif
