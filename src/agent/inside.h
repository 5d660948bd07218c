/*
 * inside.h - runs a text of ours (src/agent/inside) in the program, in a namespace of its own. With
 * the GIL; never in a handler.
 */
#ifndef FAH_AGENT_INSIDE_H
#define FAH_AGENT_INSIDE_H

#include "agent/pyapi.h"

/*
 * The text makes other code for functions of that module; code: the module's, about to be run, or
 * NULL: it was. What goes wrong is noted, and the module is as it was. 0; or -1 with an exception
 * set that is the program's: its signal handlers, and what other threads send this one, come at any
 * line of Python code.
 */
int fah_inside_run(bool plots, const char *name, fah_object *module, fah_object *code);

#endif
