/* fuzz_import_lprof.c - any bytes as a file of line_profiler's: lines that can be added up, or an
 * error. */
#include "base/cleanup.h"
#include "core/err.h"
#include "import/lprof.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fah_linehits h, again;

	if (fah_import_lprof(data, size, &h) == 0) {
		fah_linehits_init(&again, h.unit);
		if (fah_linehits_merge(&again, &h) < 0 || again.n_functions != h.n_functions)
			abort();
		fah_linehits_sort(&again);
		for (size_t i = 0; i < h.n_functions; i++)
			if (again.functions[i].n_lines != h.functions[i].n_lines)
				abort();
		fah_linehits_done(&again);
	}
	fah_linehits_done(&h);
	return 0;
}
