/* settings_file.h - [tool.fixingahole] of a pyproject.toml; for settings.c and its test. */
#ifndef FAH_CLI_SETTINGS_FILE_H
#define FAH_CLI_SETTINGS_FILE_H

#include "cli/settings.h"

/* A key as somebody wrote it: its texts (one, but for ignore), what they are relative to (NULL:
 * root), and where that stands. No texts and no from: nobody did. */
struct fah_setting_text {
	const char *const *texts;
	size_t n;
	const char *base, *from;
};

/*
 * The table of the nearest pyproject.toml that has one: folder by folder upwards from cwd, up to
 * one with .git in it, else to the top. A file counts that is the user's, root's or of whom cwd is.
 * Keys that it has go to keys[]. Returns as
 * fah_settings_load.
 */
int fah_settings_file(struct fah_arena *arena, const char *cwd,
		      struct fah_setting_text keys[FAH_SET_COUNT], struct fah_strbuf *why);

#endif
