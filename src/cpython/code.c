/*
 * code.c - code objects: what is worth keeping of one. Read once for each code object that a
 * stack shows, not on the hot path.
 */
#include "core/err.h"
#include "cpython/layout.h"

#include <string.h>

int fah_py_code_read(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t code,
		     struct fah_py_code *ret)
{
	struct fah_py_code read = {0};
	uint64_t type;
	struct fah_piece pieces[] = {
		{&type, code + layout->ob_type, 8},
		{&read.filename, code + layout->co_filename, 8},
		{&read.name, code + layout->co_name, 8},
		{&read.linetable, code + layout->co_linetable, 8},
		{&read.firstlineno, code + layout->co_firstlineno, 4},
		{&read.flags, code + layout->co_flags, 4},
		{&read.qualname, code + layout->co_qualname, 8},
	};
	int n = layout->co_qualname != 0 ? 7 : 6;

	if (mem->read(mem, pieces, n) != n)
		return FAH_ERR_FAULT;
	if (layout->code_type != 0 && type != layout->code_type)
		return FAH_ERR_DOUBT;
	*ret = read;
	return 0;
}
