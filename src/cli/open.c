/* open.c - see open.h. */
#include "cli/open.h"

#include "capture/reader.h"
#include "cli/cli.h"
#include "collect/recover.h"
#include "core/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The capture in a run folder; else the argument, without ".partial", which the reader adds again
 * where the whole file is not there. */
static char *capture_path(const char *argument)
{
	static const char partial[] = ".partial";
	size_t len = strlen(argument), tail = sizeof(partial) - 1;
	struct stat st;
	char *path;

	if (stat(argument, &st) == 0 && S_ISDIR(st.st_mode))
		return asprintf(&path, "%s%sprofile.fah", argument,
				len && argument[len - 1] == '/' ? "" : "/") < 0
			       ? NULL
			       : path;
	path = strdup(argument);
	if (path && len > tail && !strcmp(path + len - tail, partial)) {
		path[len - tail] = '\0';
		if (stat(path, &st) == 0) /* somebody means this one, beside a whole one */
			path[len - tail] = '.';
	}
	return path;
}

char *fah_find_capture(const char *argument)
{
	char *path = capture_path(argument);

	if (path)
		fah_recover(path);
	return path;
}

int fah_fail_capture(int err, const char *command, const char *argument, const char *path)
{
	if (err == FAH_ERR_SYS && errno == ENOENT && strlen(path) > strlen(argument))
		return fah_fail("%s: %s: there is no profile.fah in this folder", command,
				argument);
	return fah_fail_err(err, "%s: %s", command, path);
}

static int open_by(int (*load)(struct fah_reader *, struct fah_profile **), struct fah_opened *ret,
		   const char *command, const char *argument)
{
	int err;

	*ret = (struct fah_opened){.path = fah_find_capture(argument)};
	if (!ret->path)
		return fah_fail_err(FAH_ERR_NOMEM, "%s", command);
	err = fah_reader_new(ret->path, &ret->reader);
	if (err == 0)
		err = load(ret->reader, &ret->profile);
	return err < 0 ? fah_fail_capture(err, command, argument, ret->path) : 0;
}

int fah_open_capture(struct fah_opened *ret, const char *command, const char *argument)
{
	return open_by(fah_profile_load_moments, ret, command, argument);
}

int fah_open_capture_time(struct fah_opened *ret, const char *command, const char *argument)
{
	return open_by(fah_profile_load_time, ret, command, argument);
}

void fah_opened_release(struct fah_opened *o)
{
	fah_profile_free(o->profile);
	fah_reader_free(o->reader);
	free(o->path);
	*o = (struct fah_opened){0};
}
