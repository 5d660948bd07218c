/*
 * measure_load.c - how long a capture takes to become a profile, in CPU time; for bench/model.
 *
 *   measure_load PATH [ROUNDS]     one line a round: samples, seconds to open, to load, to charge
 */
#include "model/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct fah_scope everything = {.everything = true};

	if (argc < 2)
		return 2;
	for (int rounds = argc > 2 ? atoi(argv[2]) : 1; rounds > 0; rounds--) {
		const struct fah_charges *charges;
		struct fah_profile *p;
		struct fah_reader *r;
		double begun = cpu_seconds(), opened, loaded, charged;

		if (fah_reader_new(argv[1], &r) < 0)
			return 1;
		opened = cpu_seconds();
		if (fah_profile_load(r, &p) < 0)
			return 1;
		loaded = cpu_seconds();
		if (fah_profile_charge(p, &everything, &charges) < 0)
			return 1;
		charged = cpu_seconds();
		printf("%" PRIu64 " %.4f %.4f %.4f\n", fah_profile_totals(p)->samples,
		       opened - begun, loaded - opened, charged - loaded);
		fah_profile_free(p);
		fah_reader_free(r);
	}
	return 0;
}
