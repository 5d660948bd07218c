/* fuzz_import_pstats.c - any bytes as a stats file: functions that hang together, or an error. */
#include "core/err.h"
#include "import/pstats.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fah_exact e, twice;

	fah_exact_init(&e);
	fah_exact_init(&twice);
	if (fah_pstats_parse(data, size, &e) == 0) {
		for (size_t i = 0; i < e.n_edges; i++)
			if (e.edges[i].caller >= e.n_functions ||
			    e.edges[i].callee >= e.n_functions)
				abort();
		if (e.n_edges > size || e.n_functions > size)
			abort(); /* no more than the file can hold */
		if (fah_exact_add(&twice, &e) < 0 || fah_exact_add(&twice, &e) < 0 ||
		    twice.n_functions != e.n_functions || twice.n_edges != e.n_edges)
			abort();
	}
	fah_exact_done(&twice);
	fah_exact_done(&e);
	return 0;
}
