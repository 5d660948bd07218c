/* values.c - what options mean, where several commands have them or tests ask: see cli.h. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX 1e8 /* three years */

bool fah_parse_seconds(const char *text, double *ret)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "s") != 0))
		return false;
	if (!(seconds > 0 && seconds <= SECONDS_MAX)) /* also NaN */
		return false;
	*ret = seconds;
	return true;
}
