/* gzip.c - see gzip.h. */
#include "export/gzip.h"

#include "core/err.h"

#include <stdlib.h>

#if FAH_HAVE_ZLIB
#include <zlib.h>

#define LEVEL 3 /* twice the speed of the usual 6, a tenth more bytes */

struct fah_gzip {
	struct fah_out *out;
	z_stream z;
	unsigned char buf[65536];
};

int fah_gzip_new(struct fah_out *out, struct fah_gzip **ret)
{
	struct fah_gzip *g = calloc(1, sizeof(*g));

	if (!g)
		return FAH_ERR_NOMEM;
	g->out = out;
	/* 16: with gzip's head and tail; its time is 0, so the same capture gives the same bytes */
	if (deflateInit2(&g->z, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(g);
		return FAH_ERR_NOMEM;
	}
	*ret = g;
	return 0;
}

static void squeeze(struct fah_gzip *g, int flush)
{
	do {
		g->z.next_out = g->buf;
		g->z.avail_out = sizeof(g->buf);
		deflate(&g->z, flush); /* can't fail with a buffer and a good stream */
		fah_out_add(g->out, g->buf, sizeof(g->buf) - g->z.avail_out);
	} while (!g->z.avail_out);
}

void fah_gzip_add(struct fah_gzip *g, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len) {
		uInt n = len > 1u << 30 ? 1u << 30 : (uInt)len;

		g->z.next_in = (z_const Bytef *)p;
		g->z.avail_in = n;
		squeeze(g, Z_NO_FLUSH);
		p += n;
		len -= n;
	}
}

void fah_gzip_end(struct fah_gzip *g)
{
	g->z.next_in = NULL;
	g->z.avail_in = 0;
	squeeze(g, Z_FINISH);
}

void fah_gzip_free(struct fah_gzip *g)
{
	if (!g)
		return;
	deflateEnd(&g->z);
	free(g);
}

#else
#include "base/crc32.h"

#include <stdbool.h>

#define STORED_MAX 65535 /* of a stored block */

struct fah_gzip {
	struct fah_out *out;
	uint32_t crc, size; /* size modulo 2^32, as gzip has it */
	size_t len;
	unsigned char buf[STORED_MAX];
};

int fah_gzip_new(struct fah_out *out, struct fah_gzip **ret)
{
	static const unsigned char head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
	struct fah_gzip *g = calloc(1, sizeof(*g));

	if (!g)
		return FAH_ERR_NOMEM;
	g->out = out;
	fah_out_add(out, head, sizeof(head));
	*ret = g;
	return 0;
}

static void put_block(struct fah_gzip *g, bool last)
{
	unsigned n = (unsigned)g->len;
	unsigned char head[5] = {last, n & 255, n >> 8 & 255, ~n & 255, ~n >> 8 & 255};

	fah_out_add(g->out, head, sizeof(head));
	fah_out_add(g->out, g->buf, g->len);
	g->crc = fah_crc32(g->crc, g->buf, g->len);
	g->size += n;
	g->len = 0;
}

void fah_gzip_add(struct fah_gzip *g, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len) {
		size_t n = STORED_MAX - g->len < len ? STORED_MAX - g->len : len;

		memcpy(g->buf + g->len, p, n);
		g->len += n;
		p += n;
		len -= n;
		if (g->len == STORED_MAX)
			put_block(g, false);
	}
}

void fah_gzip_end(struct fah_gzip *g)
{
	unsigned char tail[8];

	put_block(g, true);
	for (int i = 0; i < 4; i++) {
		tail[i] = (unsigned char)(g->crc >> 8 * i);
		tail[4 + i] = (unsigned char)(g->size >> 8 * i);
	}
	fah_out_add(g->out, tail, sizeof(tail));
}

void fah_gzip_free(struct fah_gzip *g)
{
	free(g);
}
#endif
