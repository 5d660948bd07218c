/* script.h - the script that a user means: a path, or a name that is unique below root. */
#ifndef FAH_CLI_SCRIPT_H
#define FAH_CLI_SCRIPT_H

#include "cli/settings.h"

#include <stdbool.h>

/*
 * The script's path for Python, into buf: as it was typed where that is a path, else where it was
 * found. 0, or an exit status after saying why not: no such file, several, a folder, empty, no
 * text.
 */
int fah_script_choose(const char *typed, const struct fah_settings *s, char *buf, size_t cap);

/*
 * The file that python -m MODULE runs, into buf, where it is found as the interpreter finds it
 * first: from the current folder, then from those of PYTHONPATH. false: it is none of these.
 */
bool fah_script_of_module(const char *module, char *buf, size_t cap);

#endif
