/*
 * capture_input.h - makes a fuzzer's bytes pass the checksums, which it can't guess, so that it
 * reaches the decoders behind them.
 */
#ifndef FAH_FUZZ_CAPTURE_INPUT_H
#define FAH_FUZZ_CAPTURE_INPUT_H

#include "base/crc32.h"
#include "capture/format.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * A copy with a right head, of version 1 or 2 as its own byte says and else the newest, and right
 * checksums, as far as the lengths lead. The caller frees it.
 */
static inline uint8_t *fuzz_repair(const uint8_t *data, size_t len)
{
	uint8_t head[FAH_CAPTURE_HEAD] = FAH_CAPTURE_MAGIC;
	uint8_t *copy = malloc(len ? len : 1);
	size_t at = FAH_CAPTURE_HEAD;
	uint32_t n, crc;

	if (!copy)
		abort();
	memcpy(copy, data, len);
	head[8] = len > 8 && data[8] > 0 && data[8] <= FAH_CAPTURE_VERSION ? data[8]
									   : FAH_CAPTURE_VERSION;
	memcpy(copy, head, len < sizeof(head) ? len : sizeof(head));
	while (at < len && len - at >= FAH_RECORD_HEAD) {
		memcpy(&n, copy + at, 4);
		if (n > len - at - FAH_RECORD_HEAD)
			break;
		crc = fah_crc32(0, copy + at + 8, (size_t)n + 1);
		memcpy(copy + at + 4, &crc, 4);
		at += FAH_RECORD_HEAD + n;
	}
	return copy;
}

#endif
