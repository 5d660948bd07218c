/*
 * test_vary.c - loops that take about as long as the interval, or a part or a multiple of it, and
 * always the same: how far their samples' shares are from the truth, in deviations that their
 * number allows. An interval that stays, or is drawn by chance every 60 ms, fails here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/vary.h"

#include <math.h>

#define MS 1000000ull
#define PERIOD (4 * MS)
#define LENGTH (1000 * MS)
#define RUNS 4000
#define PARTS 5

static const double upto[PARTS] = {0.26, 0.49, 0.71, 0.84, 1};
static uint64_t random_state = 88172645463325252ull;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Uniform in [0, 1). */
static double chance(void)
{
	return (double)(next_random() >> 11) / 9007199254740992.0;
}

static int part_at(double phase)
{
	int i = 0;

	while (phase >= upto[i])
		i++;
	return i;
}

/* The largest |z| of any part, for a loop that takes loop_ns; adds to *ret_samples. */
static double worst(double loop_ns, uint64_t *ret_samples)
{
	double weight[PARTS] = {0}, all = 0, squares = 0, z = 0;
	double phase = chance(), last = 0;
	struct fah_vary v;
	uint64_t now = 0, set = 0, interval;

	fah_vary_init(&v, next_random());
	interval = fah_vary_next(&v, PERIOD);
	while (now + interval < LENGTH) {
		/* the collector looks every 10 to 30 ms */
		if (now - set >= fah_vary_after(PERIOD)) {
			set = now = now + (uint64_t)(chance() * (double)interval);
			interval = fah_vary_next(&v, PERIOD);
			continue;
		}
		now += interval;
		weight[part_at(fmod(phase + (double)now / loop_ns, 1))] += (double)now - last;
		squares += ((double)now - last) * ((double)now - last);
		all += (double)now - last;
		last = (double)now;
		(*ret_samples)++;
	}
	for (int i = 0; i < PARTS; i++) {
		double share = upto[i] - (i ? upto[i - 1] : 0);
		double deviation = sqrt(share * (1 - share) * squares) / all;

		z = fmax(z, fabs(weight[i] / all - share) / deviation);
	}
	return z;
}

static void no_loop_keeps_step(void **state)
{
	static const double loops[] = {1, 1, 1, 0.5, 2, 3, 0.25, 1.5};
	uint64_t samples = 0;
	double most = 0;
	int far = 0;

	for (int run = 0; run < RUNS; run++) {
		double loop = loops[run % 8] * (double)PERIOD * (0.97 + 0.06 * chance());
		double z = worst(loop, &samples);

		most = fmax(most, z);
		far += z > 4;
	}
	if (most > 5.5 || far > RUNS / 200)
		fail_msg("off by up to %.1f deviations, by more than 4 in %d of %d runs", most, far,
			 RUNS);
	/* and as many samples as were asked for */
	assert_true(fabs((double)samples / RUNS / ((double)LENGTH / PERIOD) - 1) < 0.04);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_loop_keeps_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
