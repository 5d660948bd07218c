/*
 * scratch.h - a folder of its own for each test: its setup and teardown.
 */
#ifndef FAH_TESTS_CAPTURE_SCRATCH_H
#define FAH_TESTS_CAPTURE_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch_dir[64];

static inline int scratch_enter(void **state)
{
	(void)state;
	strcpy(scratch_dir, "/tmp/fah-test-XXXXXX");
	return mkdtemp(scratch_dir) && chdir(scratch_dir) == 0 ? 0 : -1;
}

static inline int scratch_leave(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", scratch_dir);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

#endif
