/*
 * fuzz_export_formats.c - any bytes as a capture through every format, with a view that its first
 * byte chooses; checksums are put right. What is JSON or text has no control characters.
 */
#include "capture_input.h"
#include "export/export.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void write_format(const struct fah_export *format, struct fah_profile *p,
			 const struct fah_view *view)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	fah_export_write(format, p, view, out, NULL);
	fclose(out);
	for (size_t i = 0; i < n && !format->binary; i++)
		if ((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t')
			abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t choice = len ? data[0] : 0, *repaired = fuzz_repair(data, len);
	struct fah_view view = {
		.native = choice & 1,
		.threads = choice & 2,
		.gil = choice & 4,
		.idle = choice & 8,
		.lines = choice & 16,
		.only = choice & 32 ? "f" : NULL,
		.memory = choice >> 6,
	};
	struct fah_profile *p = NULL;
	struct fah_reader *r = NULL;

	if (fah_reader_new_mem(repaired, len, &r) == 0 && fah_profile_load_moments(r, &p) == 0)
		for (const struct fah_export *const *e = fah_exports; *e; e++)
			if (!view.memory || (*e)->memory)
				write_format(*e, p, &view);
	fah_profile_free(p);
	fah_reader_free(r);
	free(repaired);
	return 0;
}
