/*
 * switch_cost.h - what perf's clock on a thread costs each time the thread gives its core away.
 *
 * The kernel stops the event's timer and starts it again with every switch. On bare hardware that
 * is a microsecond, in many virtual machines, where each setting of the timer leaves the machine,
 * a dozen: two threads that hand things over spent three times their CPU on it. So it is measured,
 * on two threads of ours that do nothing else.
 */
#ifndef FAH_COLLECT_SWITCH_COST_H
#define FAH_COLLECT_SWITCH_COST_H

#include <stdint.h>

#define FAH_SWITCH_COST_GUESS_NS 12000u

/* ns for each time that a thread is given a core. open_event: a disabled event on that thread of
 * ours, at this interval; -1: none. Takes some ms; where that was too little, as on a busy machine,
 * the guess. */
uint64_t fah_switch_cost_ns(int (*open_event)(void *arg, uint32_t tid, uint64_t interval_ns),
			    void *arg);

#endif
