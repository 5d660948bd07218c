/*
 * settings.h - what a user wants of every run: where the code is, where results go, which folders
 * don't count, and percent or seconds.
 *
 * Each key by itself: a flag, else the environment (FIXINGAHOLE_ROOT, ...), else [tool.fixingahole]
 * of the nearest pyproject.toml that has it, up to the repository's root, else the default. Reads
 * files; prints nothing.
 */
#ifndef FAH_CLI_SETTINGS_H
#define FAH_CLI_SETTINGS_H

#include "base/arena.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

enum fah_setting {
	FAH_SET_ROOT,
	FAH_SET_OUTPUT,
	FAH_SET_IGNORE,
	FAH_SET_DURATION,
	FAH_SET_COUNT,
};

/* What the command line says; NULL and 0: nothing. All borrowed. Relative to the current folder. */
struct fah_settings_flags {
	const char *root, *output, *duration;
	const char *const *ignore;
	size_t n_ignore;
};

struct fah_settings {
	struct fah_arena arena; /* owns the rest */
	const char *cwd;
	const char *root;	   /* absolute, resolved: a folder that exists */
	const char *output;	   /* absolute, normal; need not exist */
	const char *const *ignore; /* absolute; resolved where they exist */
	size_t n_ignore;
	bool seconds;			 /* duration is "absolute" */
	const char *from[FAH_SET_COUNT]; /* where each came from, in words: "FIXINGAHOLE_ROOT" */
};

/*
 * 0; FAH_ERR_USAGE: something is not as it may be, *why says what, where and what is allowed, in
 * one line; FAH_ERR_NOMEM. The caller releases *s and *why either way.
 */
int fah_settings_load(struct fah_settings *s, const struct fah_settings_flags *flags,
		      struct fah_strbuf *why);
void fah_settings_release(struct fah_settings *s); /* also for _cleanup_, on a zeroed struct */

/* A key's name in the table and on the command line. */
const char *fah_setting_name(enum fah_setting key);
/* The settings in force, a line each, for people. */
void fah_settings_words(const struct fah_settings *s, struct fah_strbuf *out);

#endif
