/*
 * event_cost.h - what a signal of perf's clock costs before and after the handler that it is for.
 *
 * No clock of the handler's sees that: the interrupt, a second one that sends the signal, the way
 * in and out. On bare hardware it is 2 or 3 us, in many virtual machines ten times as much, and
 * then it is most of what a sample costs. So it is measured, on ourselves: how much less is done
 * with events than without.
 */
#ifndef FAH_COLLECT_EVENT_COST_H
#define FAH_COLLECT_EVENT_COST_H

#include <stdint.h>

/* ns for each. fd: an event on this very thread that sends a signal which is ignored; it is
 * disabled before and after. Takes 8 ms of CPU. 0: not to be told from nothing. */
uint64_t fah_event_cost_ns(int fd);

#endif
