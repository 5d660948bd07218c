/* python.c - see python.h. */
#include "cli/python.h"

#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool on_path(const char *name, char *buf, size_t cap)
{
	const char *path = getenv("PATH"), *end;

	for (path = path ? path : "/usr/local/bin:/usr/bin:/bin";; path = end + 1) {
		end = path + strcspn(path, ":");
		if (snprintf(buf, cap, "%.*s%s%s", (int)(end - path), path, end > path ? "/" : "",
			     name) < (int)cap &&
		    is_program(buf))
			return true;
		if (!*end)
			return false;
	}
}

int fah_python_choose(const char *asked, char *buf, size_t cap)
{
	const char *venv = getenv("VIRTUAL_ENV");
	struct stat st;

	if (asked) {
		if (!strchr(asked, '/')) {
			if (on_path(asked, buf, cap))
				return 0;
			fah_fail("there is no '%s' on PATH; --python takes a name there or a path",
				 asked);
			return FAH_STATUS_NOT_STARTED;
		}
		if (is_program(asked) && (size_t)snprintf(buf, cap, "%s", asked) < cap)
			return 0;
		if (stat(asked, &st) < 0)
			fah_fail(
				"%s: no such file; --python takes the path of a Python interpreter",
				asked);
		else
			fah_fail("%s is not an executable program; --python takes the path of a "
				 "Python "
				 "interpreter",
				 asked);
		return FAH_STATUS_NOT_STARTED;
	}
	if (venv && *venv) {
		if ((size_t)snprintf(buf, cap, "%s/bin/python", venv) < cap && is_program(buf))
			return 0;
		fah_fail("the active virtual environment %s has no bin/python; use --python or "
			 "deactivate it",
			 venv);
		return FAH_STATUS_NOT_STARTED;
	}
	if (on_path("python3", buf, cap))
		return 0;
	fah_fail("there is no python3 on PATH; say which Python with --python");
	return FAH_STATUS_NOT_STARTED;
}
