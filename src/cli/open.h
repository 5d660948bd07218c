/* open.h - a capture that an argument names: a .fah, a .partial, or the run folder of `profile`. */
#ifndef FAH_CLI_OPEN_H
#define FAH_CLI_OPEN_H

#include "model/profile.h"

/*
 * The capture that an argument means, with what a killed profiler left behind added to it. NULL: no
 * memory; the caller frees it. It need not be there.
 */
char *fah_find_capture(const char *argument);
/* The line for a capture that cannot be read (err, with errno); the exit status. */
int fah_fail_capture(int err, const char *command, const char *argument, const char *path);

struct fah_opened {
	char *path; /* of the capture itself */
	struct fah_reader *reader;
	struct fah_profile *profile; /* with moments */
};

/*
 * What a killed profiler left behind is added first. 0, or an exit status after printing one line
 * that begins with the command's name. The caller releases *ret either way.
 */
int fah_open_capture(struct fah_opened *ret, const char *command, const char *argument);
/* The same without blocks of memory, for views of time. */
int fah_open_capture_time(struct fah_opened *ret, const char *command, const char *argument);
void fah_opened_release(struct fah_opened *o); /* also for _cleanup_, on a zeroed struct */

#endif
