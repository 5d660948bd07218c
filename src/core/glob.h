/* glob.h - names by pattern, * and ? as in file names. Agent and tool; no allocation. */
#ifndef FAH_CORE_GLOB_H
#define FAH_CORE_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* p up to its end, against all of s. One star is tried at a time: no recursion. */
static inline bool fah_glob(const char *p, const char *end, const char *s)
{
	const char *star = NULL, *from = NULL;

	while (*s) {
		if (p < end && *p == '*') {
			star = ++p;
			from = s;
		} else if (p < end && (*p == '?' || *p == *s)) {
			p++;
			s++;
		} else if (star) {
			p = star;
			s = ++from;
		} else {
			return false;
		}
	}
	while (p < end && *p == '*')
		p++;
	return p == end;
}

/* The same for a qualified name, as a whole or from one of its dots on: C.f is also what
 * outer.<locals>.C.f is called. */
static inline bool fah_glob_name(const char *p, const char *end, const char *name)
{
	for (; name; name = strchr(name, '.')) {
		name += *name == '.';
		if (fah_glob(p, end, name))
			return true;
	}
	return false;
}

#endif
