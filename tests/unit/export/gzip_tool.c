/* gzip_tool.c - stdin to stdout through fah_gzip, in pieces of argv[1] bytes; for check_gzip.py. */
#include "export/gzip.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	size_t piece = argc > 1 ? (size_t)atol(argv[1]) : 1000, n;
	char *data = malloc(piece);
	struct fah_out *out = malloc(sizeof(*out));
	struct fah_gzip *g;

	if (!data || !out)
		return 1;
	fah_out_init(out, stdout);
	if (fah_gzip_new(out, &g) < 0)
		return 1;
	while ((n = fread(data, 1, piece, stdin)) > 0)
		fah_gzip_add(g, data, n);
	fah_gzip_end(g);
	fah_gzip_free(g);
	free(data);
	n = fah_out_finish(out) < 0;
	free(out);
	return (int)n;
}
