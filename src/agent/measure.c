/* measure.c - see measure.h. */
#include "agent/measure.h"

#include "agent/event_clock.h"

int64_t fah_measure_run(fah_object *run)
{
	int64_t begun = fah_event_ticks();

	fah_py_drop(fah_py.call_args(run, NULL));
	return fah_event_ticks() - begun;
}

int64_t fah_measure_middle(int64_t *values, int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k && values[k - 1] > values[k]; k--) {
			int64_t larger = values[k - 1];

			values[k - 1] = values[k];
			values[k] = larger;
		}
	return values[n / 2];
}
