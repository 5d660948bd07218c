/*
 * crc32.h - CRC-32 as in Ethernet, gzip and zlib (polynomial 0x04c11db7, reflected).
 */
#ifndef FAH_BASE_CRC32_H
#define FAH_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Of the bytes so far (crc, 0 at the start) and these. */
uint32_t fah_crc32(uint32_t crc, const void *data, size_t len);

#endif
