/* fuzz_import_scalene.c - any bytes as a JSON profile: a capture that loads, or an error. */
#include "base/cleanup.h"
#include "core/err.h"
#include "import/import.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[] = "/dev/shm/fah-fuzz-XXXXXX";
	static int made = -1;
	_cleanup_(fah_arena_release) struct fah_arena arena = FAH_ARENA_INIT;
	const struct fah_json_value *json;
	struct fah_json_error where;
	struct fah_write_loss loss;
	struct fah_reader *reader;
	struct fah_record rec;
	struct fah_run_end end = {0};
	struct fah_writer *w;

	if (made < 0)
		made = close(mkstemp(path));
	if (fah_json_read(&arena, (const char *)data, size, &json, &where) < 0 ||
	    !fah_import_is_scalene(json) || fah_writer_new(path, &w) < 0)
		return 0;
	if (fah_import_scalene(json, w, &end) == 0 && fah_writer_finish(w, &end, &loss) == 0 &&
	    fah_reader_new(path, &reader) == 0) {
		struct fah_reader_state state;

		while (fah_reader_next(reader, &rec) > 0)
			;
		fah_reader_state(reader, &state);
		if (!state.complete || state.lost_bytes)
			abort();
		fah_reader_free(reader);
	}
	fah_writer_free(w);
	return 0;
}
