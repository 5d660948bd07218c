/* unpack_none.c - see debug_file.h: builds without liblzma leave .gnu_debugdata alone. */
#include "core/err.h"
#include "native/debug_file.h"

int fah_unpack(const uint8_t *packed, size_t len, uint8_t **ret, size_t *ret_len)
{
	(void)packed;
	(void)len;
	(void)ret;
	(void)ret_len;
	return FAH_ERR_FORMAT;
}

const char *fah_unpack_library(void)
{
	return NULL;
}
