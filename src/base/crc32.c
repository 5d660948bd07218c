/*
 * crc32.c - CRC-32, eight bytes a step ("slicing by 8"): every record is checked when it is read,
 * so this must keep up with reading at more than 1 GB/s, and the table is made before main.
 */
#include "base/crc32.h"

#include <string.h>

#define POLYNOMIAL 0xedb88320u /* reflected */

/* table[k][b]: what byte b does to the checksum when k more bytes follow it in the step. */
static uint32_t table[8][256];

__attribute__((constructor)) static void make_table(void)
{
	uint32_t b, c;
	int k;

	for (b = 0; b < 256; b++) {
		c = b;
		for (k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ POLYNOMIAL : c >> 1;
		table[0][b] = c;
	}
	for (b = 0; b < 256; b++)
		for (k = 1; k < 8; k++)
			table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
}

uint32_t fah_crc32(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	crc = ~crc;
	for (; len >= 8; len -= 8, p += 8) {
		uint64_t v;
		uint32_t low, high;

		memcpy(&v, p, 8);
		low = (uint32_t)v ^ crc;
		high = (uint32_t)(v >> 32);
		crc = table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^
		      table[5][low >> 16 & 0xff] ^ table[4][low >> 24] ^ table[3][high & 0xff] ^
		      table[2][high >> 8 & 0xff] ^ table[1][high >> 16 & 0xff] ^
		      table[0][high >> 24];
	}
	for (; len; len--, p++)
		crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
	return ~crc;
}
