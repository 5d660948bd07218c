/*
 * log_text.h - what a log record says, without a line of the program's code being run for it. With
 * the GIL; never in a handler. No function leaves an exception set.
 */
#ifndef FAH_AGENT_LOG_TEXT_H
#define FAH_AGENT_LOG_TEXT_H

#include "agent/pyapi.h"

/* Learn how types say that their text is made by Python code; once. */
void fah_log_text_setup(void);

/* A str, new: the object as str() gives it, or <its type> where that would run code of the
 * program's. NULL: no memory. */
fah_object *fah_log_str(fah_object *o);
/* msg % args as logging does it; what cannot be formatted stands behind the message. */
fah_object *fah_log_message(fah_object *msg, fah_object *args);

/* Borrowed, from a dict, where it is exactly a str or tuple; else NULL. d may be NULL. */
fah_object *fah_log_get(fah_object *d, const char *key, fah_object *type);

#endif
