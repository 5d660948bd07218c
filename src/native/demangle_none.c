/* demangle_none.c - see demangle.h: in builds without libiberty names stay as they are. */
#include "native/demangle.h"

bool fah_demangle(const char *name, struct fah_strbuf *out)
{
	(void)name;
	(void)out;
	return false;
}

const char *fah_demangle_library(void)
{
	return NULL;
}
