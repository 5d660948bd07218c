/* machine.h - what this machine has to give. */
#ifndef FAH_BASE_MACHINE_H
#define FAH_BASE_MACHINE_H

#include <stdint.h>

/* Bytes of memory that this process may still take: what the kernel says it could give, and not
 * more than the process's own limit of addresses. UINT64_MAX: not known. */
uint64_t fah_machine_memory(void);

#endif
