/*
 * fuzz_native_perf_map.c - any bytes as a perf map: entries are in order, have names, and every
 * look-up gives one that holds the place. The rest of the input as packed symbols: unpacking ends.
 */
#include "base/cleanup.h"
#include "native/debug_file.h"
#include "native/perf_map.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_(fah_freep) char *text = malloc(len + 1);
	_cleanup_(fah_freep) uint8_t *bytes = NULL;
	const struct fah_perf_entry *found;
	struct fah_perf_map map;
	size_t unpacked;

	if (!text)
		return 0;
	memcpy(text, data, len);
	text[len] = 0;
	check(fah_perf_map_parse(text, len, &map) == 0);
	for (size_t i = 0; i < map.n; i++) {
		const struct fah_perf_entry *e = &map.entries[i];

		check(e->start < e->end && e->name[0]);
		check(e->name > text && e->name + strlen(e->name) < text + len);
		check(!i || e->start > e[-1].start);
		found = fah_perf_map_find(&map, e->start);
		check(found && found->start <= e->start && e->start < found->end);
		found = fah_perf_map_find(&map, e->end);
		check(!found || (found->start <= e->end && e->end < found->end));
	}
	fah_perf_map_release(&map);
	if (fah_unpack(data, len, &bytes, &unpacked) == 0)
		check(unpacked <= FAH_UNPACK_MAX);
	return 0;
}
