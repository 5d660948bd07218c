/*
 * fuzz_report_memory.c - any bytes as a capture through all that reports say of memory; checksums
 * are put right. Whatever it holds, no terminal is commanded by it.
 */
#include "capture_input.h"
#include "report/lines.h"
#include "report/summary.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void print(struct fah_profile *p,
		  int (*report)(FILE *, struct fah_profile *, const struct fah_report_options *))
{
	const struct fah_report_options o = {.width = 90, .utf8 = true};
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	report(out, p, &o);
	fclose(out);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < 0x20 && text[i] != '\n')
			abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *repaired = fuzz_repair(data, len);
	struct fah_profile *p = NULL;
	struct fah_reader *r = NULL;

	if (fah_reader_new_mem(repaired, len, &r) == 0 && fah_profile_load(r, &p) == 0) {
		print(p, fah_report_summary);
		print(p, fah_report_lines);
		print(p, fah_report_summary_json);
	}
	fah_profile_free(p);
	fah_reader_free(r);
	free(repaired);
	return 0;
}
