/*
 * monitoring.h - sys.monitoring (CPython 3.12 and later) as its users call it. With the GIL; no
 * exception is left behind.
 */
#ifndef FAH_AGENT_MONITORING_H
#define FAH_AGENT_MONITORING_H

#include "agent/pyapi.h"

#define FAH_PY_START 1 /* sys.monitoring.events; the others differ between versions */

/* sys.monitoring itself; borrowed. NULL: there is none. */
fah_object *fah_monitoring(void);
/* monitoring.NAME(a, b, last): b below 0 and last NULL are left out. True: it was not refused. */
bool fah_monitoring_call(const char *name, long a, long b, fah_object *last);
/* That of optimizers, of which there is none, or one that no tool has by convention: programs take
 * those. -1: all are taken. */
long fah_monitoring_take_tool(void);
/* Whether another tool is there beside that one: what it has switched off would come back to it
 * with ours. */
bool fah_monitoring_others(long tool);
/* 0: there is no event of that name. */
long fah_monitoring_event(const char *name);
/* From now on a C function gets those events, by the arguments of METH_FASTCALL. False: refused. */
typedef fah_object *fah_monitoring_fn(fah_object *self, fah_object *const *args, long n);
bool fah_monitoring_listen(long tool, long event, fah_monitoring_fn *callback);
/* The same without the interpreter's own function in between, which takes 4 ns, but with a type of
 * ours in the program; n may have the top bit set. */
bool fah_monitoring_listen_directly(long tool, long event, fah_monitoring_fn *callback);
/* Whether restart_events may stand still for good: CPython 3.14's JIT, where it is switched on,
 * frees what it has made while the lock is held that this takes (gh-141658). */
bool fah_monitoring_may_hang(void);
/* Gives the tool back; its callbacks end. */
void fah_monitoring_leave(long tool);

#endif
