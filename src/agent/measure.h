/* measure.h - small programs of ours are timed, to know what it costs to be told of events. */
#ifndef FAH_AGENT_MEASURE_H
#define FAH_AGENT_MEASURE_H

#include "agent/pyapi.h"

/* Calls a function of Python's without arguments: the ticks that it took (event_clock.h). */
int64_t fah_measure_run(fah_object *run);
/* The middle one, of few, which are sorted: what disturbs a run is longer than it, or comes once.
 */
int64_t fah_measure_middle(int64_t *values, int n);

#endif
