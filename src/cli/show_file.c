/* show_file.c - see show_file.h. */
#include "cli/show_file.h"

#include "cli/cli.h"
#include "cli/invoke.h"
#include "core/err.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* The program to show it with, into buf; false: there is none, or nothing to show it on. */
static bool find_viewer(char *buf, size_t cap)
{
	const char *browser = getenv("BROWSER");

	if (browser && *browser)
		return strchr(browser, '/') ? snprintf(buf, cap, "%s", browser) < (int)cap &&
						      fah_invoke_is_program(buf)
					    : fah_invoke_on_path(browser, buf, cap);
	return (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) &&
	       fah_invoke_on_path("xdg-open", buf, cap);
}

int fah_show_file(const char *path)
{
	char viewer[PATH_MAX], full[PATH_MAX];
	char *argv[] = {viewer, full, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int err;

	if (!realpath(path, full))
		return fah_fail_err(FAH_ERR_SYS, "%s", path);
	if (!find_viewer(viewer, sizeof(viewer))) {
		fprintf(stderr, "fixingahole: nothing here shows pictures; it is in %s\n", path);
		return 0;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(&pid, viewer, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (err) {
		errno = err;
		return fah_fail_err(FAH_ERR_SYS, "cannot start %s", viewer);
	}
	return 0;
}
