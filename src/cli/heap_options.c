/* heap_options.c - see heap_options.h. */
#include "cli/heap_options.h"

#include "core/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_DEFAULT 524288u
#define INTERVAL_OF_0 10000000.0
#define PRECISION_MAX 10

int fah_heap_take_precision(struct fah_heap_options *o, const char *command, const char *value)
{
	char *end;
	long n = strtol(value, &end, 10);

	if (end == value || *end || n < -PRECISION_MAX || n > PRECISION_MAX)
		return fah_fail(
			"%s: --precision %s: a whole number from -10 (one block in about 10 "
			"GB is recorded) to 10 (10 kB) is needed",
			command, value);
	o->precise = true;
	o->precision = (int)n;
	return 0;
}

int fah_heap_take_exact(struct fah_heap_options *o, const char *command, const char *value)
{
	if (value && strcmp(value, "all") && strcmp(value, "malloc"))
		return fah_fail("%s: --exact=%s: there are all (every block, the default) and "
				"malloc (not Python's small objects)",
				command, value);
	o->exact = true;
	o->without_small = value && !strcmp(value, "malloc");
	return 0;
}

uint64_t fah_heap_interval(const struct fah_heap_options *o, const char *command)
{
	double interval = INTERVAL_OF_0;

	if (!o->memory) {
		if (o->precise || o->exact)
			fprintf(stderr,
				"fixingahole: %s: --%s says how finely memory is recorded; without "
				"--memory it does nothing\n",
				command, o->precise ? "precision" : "exact");
		return 0;
	}
	if (o->exact && o->precise)
		fprintf(stderr,
			"fixingahole: %s: --exact records every block; beside it --precision does "
			"nothing\n",
			command);
	if (o->exact)
		return o->without_small ? FAH_HEAP_EVERY_MALLOC : FAH_HEAP_EVERY;
	if (!o->precise)
		return INTERVAL_DEFAULT;
	for (int i = 0; i < abs(o->precision); i++)
		interval *= o->precision > 0 ? 0.5 : 2;
	return (uint64_t)interval;
}
