/* heap_leaks.h - which lines lose memory; for the files of this folder only. The test is described
 * at fah_profile_heap and in doc/memory.md. */
#ifndef FAH_MODEL_HEAP_LEAKS_H
#define FAH_MODEL_HEAP_LEAKS_H

#include "model/heap.h"
#include "model/internal.h"

#define FAH_HEAP_NO_LINE UINT32_MAX

/*
 * line_of: by node, the number of the line that its blocks are charged to, or FAH_HEAP_NO_LINE;
 * ret: by that number, zeroed. least: a line that lost less, in bytes, is not worth a word. The
 * records are in order. 0 or FAH_ERR_NOMEM.
 */
int fah_heap_leaks(const struct fah_profile *p, const uint32_t *line_of, double least,
		   struct fah_heap_leak *ret);

#endif
