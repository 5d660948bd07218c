/*
 * err.c - the one table of failures in words, with what to do about each.
 */
#include "base/err.h"

#include <errno.h>
#include <string.h>

struct words {
	const char *text, *advice;
};

#define FIRST \
	FAH_ERR_SPECIAL /* the lowest number; the static_assert below holds it to the list \
			 */

static const struct words table[] = {
	[-FAH_ERR_NOMEM] = {"out of memory", ""},
	[-FAH_ERR_SYS] = {"the system refused", ""},
	[-FAH_ERR_FORMAT] = {"not a Fixing-A-Hole capture, or its head is damaged",
			     "captures end in .fah"},
	[-FAH_ERR_VERSION] = {"a capture of a newer version of Fixing-A-Hole",
			      "read it with that version or a later one"},
	[-FAH_ERR_DAMAGED] = {"a record is cut or damaged",
			      "`fixingahole inspect` says how much of it can be read"},
	[-FAH_ERR_RANGE] = {"a number that is not possible", ""},
	[-FAH_ERR_FAULT] = {"memory of the program could not be read", ""},
	[-FAH_ERR_UNKNOWN_PYTHON] = {"a Python whose insides this version does not know",
				     "CPython 3.8 to 3.15 can be profiled"},
	[-FAH_ERR_MISMATCH] = {"this Python's stacks are not as expected, so nothing was recorded",
			       "please report it with the output of `python3 -VV`"},
	[-FAH_ERR_EXISTS] = {"a folder or a symbolic link is in the way",
			     "remove it or name another output"},
	[-FAH_ERR_USAGE] = {"wrong arguments", "see --help"},
	[-FAH_ERR_DOUBT] = {"a stack that could not be proved", ""},
	[-FAH_ERR_SPECIAL] = {"a device, a pipe or a socket cannot hold a result",
			      "name a file; where the result is text, -o - is stdout"},
};

_Static_assert(sizeof(table) / sizeof(table[0]) == 1 - FIRST, "a failure without words");

static const struct {
	int number;
	const char *advice;
} system_advice[] = {
	{ENOSPC, "free some space, or write elsewhere with -o"},
	{EDQUOT, "free some space, or write elsewhere with -o"},
	{EROFS, "write elsewhere with -o"},
	{EMFILE, "raise the limit with `ulimit -n`"},
	{ENFILE, "the machine has too many open files"},
};

static const struct words *find(int err)
{
	static const struct words unknown = {"unknown error", ""};

	return err < 0 && err >= FIRST ? &table[-err] : &unknown;
}

const char *fah_err_text(int err)
{
	return find(err)->text;
}

const char *fah_err_advice(int err)
{
	return find(err)->advice;
}

static const char *advice_for(int err, int sys_errno)
{
	size_t i;

	for (i = 0; err == FAH_ERR_SYS && i < sizeof(system_advice) / sizeof(*system_advice); i++)
		if (system_advice[i].number == sys_errno)
			return system_advice[i].advice;
	return fah_err_advice(err);
}

void fah_err_describe(struct fah_strbuf *out, int err, int sys_errno)
{
	const char *advice = advice_for(err, sys_errno);

	if (err == FAH_ERR_SYS && sys_errno)
		fah_strbuf_adds(out, strerror(sys_errno));
	else
		fah_strbuf_adds(out, fah_err_text(err));
	if (*advice)
		fah_strbuf_addf(out, "; %s", advice);
}
