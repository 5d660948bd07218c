/*
 * memory.h - another process's memory, read while it runs: by the kernel's copy, never by stopping
 * or attaching. What is read is untrusted, and may be torn where the owner writes meanwhile.
 */
#ifndef FAH_TARGET_MEMORY_H
#define FAH_TARGET_MEMORY_H

#include "core/load.h"

/* Reads process pid; a batch is one system call. Where the kernel refuses, every load fails. */
struct fah_mem fah_target_mem(uint32_t pid);

#endif
