/*
 * term.c - what the terminal can show.
 */
#include "base/term.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *env(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static int width_of_columns(void)
{
	const char *s = env("COLUMNS");
	char *end;
	long n;

	if (!s)
		return 0;
	errno = 0;
	n = strtol(s, &end, 10);
	if (*end || n <= 0)
		return 0;
	return n > FAH_TERM_WIDTH_MAX ? FAH_TERM_WIDTH_MAX : (int)n;
}

int fah_term_width(int fd)
{
	struct winsize ws;
	int n = width_of_columns(), err = errno;

	if (!n)
		n = ioctl(fd, TIOCGWINSZ, &ws) == 0 ? ws.ws_col : 0;
	errno = err;
	if (!n)
		n = FAH_TERM_WIDTH_DEFAULT;
	if (n < FAH_TERM_WIDTH_MIN)
		return FAH_TERM_WIDTH_MIN;
	return n > FAH_TERM_WIDTH_MAX ? FAH_TERM_WIDTH_MAX : n;
}

bool fah_term_color(int fd)
{
	const char *force = env("FORCE_COLOR");

	if (env("NO_COLOR"))
		return false;
	if (force)
		return strcmp(force, "0") != 0;
	return fah_term_rewrites(fd);
}

bool fah_term_rewrites(int fd)
{
	const char *term = env("TERM");

	return term && strcmp(term, "dumb") != 0 && isatty(fd);
}

bool fah_term_is_ours(int fd)
{
	return tcgetpgrp(fd) == getpgrp();
}

bool fah_term_utf8(void)
{
	const char *locale = env("LC_ALL");

	if (!locale)
		locale = env("LC_CTYPE");
	if (!locale)
		locale = env("LANG");
	return locale && (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}
