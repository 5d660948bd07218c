/*
 * pace.h - how fast the machine runs the interpreter's code now: for what was measured at the start
 * and is to hold for the run. With the GIL.
 */
#ifndef FAH_AGENT_PACE_H
#define FAH_AGENT_PACE_H

#include <stddef.h>
#include <stdint.h>

#define FAH_PACE_LOOKS_A_SECOND 200 /* of 4 us each */

void fah_pace_start(void); /* from now on: */
/* How long the machine takes for what took 1 at the start: by a look of its own; 1: not known. */
double fah_pace(void);
/* The same between two looks, the first of which was *last; and *last is the second. */
double fah_pace_since(double *last);
/* The same with the looks before it. */
double fah_pace_of_late(void);

static inline int64_t fah_paced(int64_t ticks, double by)
{
	return (int64_t)((double)ticks * by + 0.5);
}
/* All of a struct that is made of such ticks alone. */
void fah_paced_all(void *to, const void *from, size_t size, double by);

#endif
