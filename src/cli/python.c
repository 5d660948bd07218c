/* python.c - see python.h. */
#include "cli/python.h"

#include "cli/cli.h"
#include "cli/invoke.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int fah_python_choose(const char *asked, char *buf, size_t cap)
{
	const char *venv = getenv("VIRTUAL_ENV");
	struct stat st;

	if (asked) {
		if (!strchr(asked, '/')) {
			if (fah_invoke_on_path(asked, buf, cap))
				return 0;
			fah_fail("there is no '%s' on PATH; --python takes a name there or a path",
				 asked);
			return FAH_STATUS_NOT_STARTED;
		}
		if (fah_invoke_is_program(asked) && (size_t)snprintf(buf, cap, "%s", asked) < cap)
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
		if ((size_t)snprintf(buf, cap, "%s/bin/python", venv) < cap &&
		    fah_invoke_is_program(buf))
			return 0;
		fah_fail("the active virtual environment %s has no bin/python; use --python or "
			 "deactivate it",
			 venv);
		return FAH_STATUS_NOT_STARTED;
	}
	if (fah_invoke_on_path("python3", buf, cap))
		return 0;
	fah_fail("there is no python3 on PATH; say which Python with --python");
	return FAH_STATUS_NOT_STARTED;
}
