/* subject.h - what a recorded command is called, by its words. */
#ifndef FAH_CLI_SUBJECT_H
#define FAH_CLI_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>

/* Of "python -u dir/script.py x": "dir/script.py"; of a module or a command, its name. Borrowed
 * from argv; never NULL. *ret_script: it is a Python file, or NULL. */
const char *fah_subject(char *const *argv, const char **ret_script);

/* A file's name made of it: no folders, no ".py", none of the letters that need quotes. */
void fah_subject_name(char *const *argv, char *buf, size_t cap);

#endif
