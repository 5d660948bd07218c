/*
 * unpack.c - see debug_file.h: by liblzma. A few bytes can stand for very many, so the result grows
 * as it comes, up to a limit.
 */
#include "core/err.h"
#include "native/debug_file.h"

#include <lzma.h>
#include <string.h>

#define MEMORY_MAX (128u << 20) /* what unpacking itself may take */

static int grow(uint8_t **bytes, size_t *room)
{
	size_t more = *room ? *room * 2 : 64u << 10;
	uint8_t *p;

	if (more > FAH_UNPACK_MAX)
		return FAH_ERR_RANGE;
	p = realloc(*bytes, more);
	if (!p)
		return FAH_ERR_NOMEM;
	*bytes = p;
	*room = more;
	return 0;
}

int fah_unpack(const uint8_t *packed, size_t len, uint8_t **ret, size_t *ret_len)
{
	_cleanup_(fah_freep) uint8_t *bytes = NULL;
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret got;
	size_t room = 0, done = 0;
	int err = 0;

	if (lzma_stream_decoder(&stream, MEMORY_MAX, 0) != LZMA_OK)
		return FAH_ERR_NOMEM;
	stream.next_in = packed;
	stream.avail_in = len;
	do {
		if (done == room && (err = grow(&bytes, &room)) < 0)
			break;
		stream.next_out = bytes + done;
		stream.avail_out = room - done;
		got = lzma_code(&stream, LZMA_FINISH);
		done = room - stream.avail_out;
	} while (got == LZMA_OK);
	lzma_end(&stream);
	if (err < 0)
		return err;
	if (got != LZMA_STREAM_END)
		return got == LZMA_MEM_ERROR ? FAH_ERR_NOMEM : FAH_ERR_DAMAGED;
	*ret = TAKE_PTR(bytes);
	*ret_len = done;
	return 0;
}

const char *fah_unpack_library(void)
{
	return "liblzma";
}
