/*
 * python_quiet.h - objects of ours are made and freed, and the program's garbage collections come
 * when they would have come. Never in a handler; with the GIL.
 */
#ifndef FAH_AGENT_PYTHON_QUIET_H
#define FAH_AGENT_PYTHON_QUIET_H

#include <stdbool.h>

/* False: it cannot be done here (other threads are there, which make objects too, or this
 * interpreter counts in a way that is not known); all is as it was. True: the collector is off
 * until fah_quiet_end, which puts back how many objects it has counted and how many of each kind
 * lie ready to be used again. */
bool fah_quiet_begin(void);
void fah_quiet_end(void);

#endif
