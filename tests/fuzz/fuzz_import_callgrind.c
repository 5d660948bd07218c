/*
 * fuzz_import_callgrind.c - any bytes as a file of callgrind's: an error with a line of the text,
 * or a graph in which nothing has more than all there is, and which can be drawn.
 */
#include "draw_graph.h"
#include "import/callgraph.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct fah_import_error error = {0};
	size_t lines = 1;
	struct fah_exact e;
	double whole = 0, sum;
	int err;

	fah_exact_init(&e);
	fah_import_is_callgrind(text, size);
	err = fah_import_callgrind(text, size, &e, &whole, &error);
	check(err == 0 || err == FAH_ERR_FORMAT);
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	if (err < 0) {
		check(error.text && error.line <= lines);
	} else {
		sum = fah_exact_whole(&e).self_s;
		/* edges are the file's own word: of a circle they are not */
		check(sum >= 0 && whole >= 0);
		draw(&e, whole);
	}
	fah_exact_done(&e);
	return 0;
}
