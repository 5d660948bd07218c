/*
 * fuzz_report_inspect.c - any bytes as a capture through the model into the words of `inspect`,
 * with their checksums put right.
 */
#include "base/strbuf.h"
#include "report/inspect.h"
#include "capture_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static int fd = -1;
	static char path[64];
	uint8_t *repaired = fuzz_repair(data, len);
	char *text = NULL;
	size_t n = 0, i;
	FILE *out;

	if (fd < 0) {
		fd = memfd_create("capture", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) < 0 || pwrite(fd, repaired, len, 0) != (ssize_t)len)
		abort();
	out = open_memstream(&text, &n);
	fah_report_inspect(out, path, &(struct fah_inspect_options){true, true});
	fclose(out);
	/* Whatever a capture holds, no terminal is commanded by it. */
	for (i = 0; i < n; i++)
		if ((unsigned char)text[i] < 0x20 && text[i] != '\n')
			abort();
	free(text);
	free(repaired);
	return 0;
}
