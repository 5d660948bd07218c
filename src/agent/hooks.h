/*
 * hooks.h - what `profile` asks of the program beside its samples: logs.log and --no-plots. Runs
 * when the program imports one of the modules concerned; never in a handler; with the GIL.
 */
#ifndef FAH_AGENT_HOOKS_H
#define FAH_AGENT_HOOKS_H

#include "agent/pyapi.h"

/* Before the program's first line. recording: records can be written. False: nothing to do, ever;
 * else every audit event goes to fah_hooks_event. */
bool fah_hooks_start(bool recording);
/* Any audit event, also before the start. As an audit hook returns: 0; -1: an exception of the
 * program's is set. */
int fah_hooks_event(const char *event, void *args);

/* log_hook.c: the object that logging and warnings tell things; new. NULL: there is none. */
fah_object *fah_log_hook(void);
/* For the summary: a module is left as it was, for this reason. */
void fah_log_note(const char *module, const char *why);

#endif
