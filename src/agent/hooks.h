/*
 * hooks.h - what `profile` asks of the program beside its samples: logs.log and --no-plots. Runs
 * when the program imports one of the modules concerned; never in a handler; with the GIL.
 */
#ifndef FAH_AGENT_HOOKS_H
#define FAH_AGENT_HOOKS_H

#include "agent/pyapi.h"

/* Before the program's first line. recording: records can be written. True: every audit event is to
 * come to fah_hooks_event from now on; false: those that it asks for itself. */
bool fah_hooks_start(bool recording);
/* The interpreter is being cleared: nothing more is done. */
void fah_hooks_stop(void);
/* opened.c: a file was opened. Any thread, without the GIL; may be a signal handler. */
void fah_hooks_opened(const char *path);
/* Any audit event, also before the start. As an audit hook returns: 0; -1: an exception of the
 * program's is set. */
int fah_hooks_event(const char *event, void *args);

/* log_hook.c: the object that logging and warnings tell things; new. NULL: there is none. */
fah_object *fah_log_hook(void);
/* For the summary: a module is left as it was, for this reason. */
void fah_log_note(const char *module, const char *why);

#endif
