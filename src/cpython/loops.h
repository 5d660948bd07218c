/*
 * loops.h - how far the loops of a frame have come, by the iterators on its stack. CPython 3.12 and
 * later; as everything here pure functions over bytes that are not trusted.
 */
#ifndef FAH_CPYTHON_LOOPS_H
#define FAH_CPYTHON_LOOPS_H

#include "cpython/layout.h"

/* Addresses of types; 0: not known. */
struct fah_py_iterators {
	uint64_t list, tuple;
	uint64_t range_iterator, list_iterator, tuple_iterator;
	uint64_t dict_keys, dict_values, dict_items; /* their iterators */
	uint64_t enumerate, map, zip;
};

struct fah_py_loop {
	uint64_t what;	/* the iterator, or what is gone through */
	int64_t at;	/* goes up by one at each turn, from anywhere */
	int64_t length; /* all its turns; 0: not known. Of a range: as if it began at 0 */
};

/* The loops in which a frame is that has called another one, outermost first, at most max: how
 * many. Loops of a generator stand for the one that goes through its values. An iterator that is
 * kept for something else is among them: its `at` stays. */
uint32_t fah_py_loops(const struct fah_mem *mem, const struct fah_py_layout *l,
		      const struct fah_py_iterators *types, uint64_t frame, struct fah_py_loop *ret,
		      uint32_t max);

#endif
