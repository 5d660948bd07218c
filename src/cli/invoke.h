/*
 * invoke.h - what commands that start a program share: finding it, the words it was asked for with,
 * and how its end becomes our status.
 */
#ifndef FAH_CLI_INVOKE_H
#define FAH_CLI_INVOKE_H

#include "base/strbuf.h"
#include "cli/cli.h"

#include <stdbool.h>
#include <stddef.h>

bool fah_invoke_is_program(const char *path);
/* The first program of that name in PATH, into buf; false: none. */
bool fah_invoke_on_path(const char *name, char *buf, size_t cap);
/* The same for what a user typed: with a '/' it is a path. 0, or an exit status after printing why
 * not. */
int fah_invoke_find(const char *typed, char *buf, size_t cap);

/* A word as it would be typed: with quotes where a shell needs them. */
void fah_invoke_quote(struct fah_strbuf *sb, const char *word);
/* "fixingahole NAME ..." (or fixit), with quotes where a shell needs them; the caller frees it.
 * NULL: no memory. */
char *fah_invoke_words(const struct fah_command *cmd, int argc, char **argv);
/* As shells show it: 128 + n on a signal. */
int fah_invoke_status(int wait_status);
/* FIXINGAHOLE_TEST_HZ, for tests; 0: not set. */
double fah_invoke_test_rate(void);

#endif
