/* python.h - which Python a script runs with. */
#ifndef FAH_CLI_PYTHON_H
#define FAH_CLI_PYTHON_H

#include <stddef.h>

/*
 * The interpreter to use: asked (--python, may be NULL), else the active virtual environment's,
 * else python3 on PATH. Its path into buf. 0, or an exit status after printing why not.
 */
int fah_python_choose(const char *asked, char *buf, size_t cap);

#endif
