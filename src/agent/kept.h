/* kept.h - room for tables that outlive the process: core/kept.h. */
#ifndef FAH_AGENT_KEPT_H
#define FAH_AGENT_KEPT_H

#include "core/kept.h"

#include <stddef.h>

/* With the GIL. Zeroed; NULL: there is no such room (a full disk, a limit), and memory of the
 * process has to do. A fork's child shares what its parent has: it must not write there. */
void *fah_kept_room(enum fah_kept kind, size_t size);

#endif
