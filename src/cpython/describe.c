/*
 * describe.c - a code object in words, for whoever cannot see its memory: the agent writes this for
 * the collector, and the collector for itself where it reads a process from outside.
 */
#include "core/err.h"
#include "core/varint.h"
#include "cpython/layout.h"

#include <string.h>

static uint32_t read_name(const struct fah_mem *mem, const struct fah_py_layout *layout,
			  uint64_t str, char *text, size_t cap)
{
	int n = str ? fah_py_read_str(mem, layout, str, text, cap) : 0;

	return n > 0 ? (uint32_t)n : 0;
}

int fah_py_describe(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t code,
		    char *text, struct fah_py_described *ret)
{
	struct fah_py_code info;
	int err = fah_py_code_read(mem, layout, code, &info);

	if (err < 0)
		return err;
	ret->n_file = read_name(mem, layout, info.filename, text, FAH_PY_MAX_FILE);
	text += ret->n_file;
	ret->n_name = read_name(mem, layout, info.name, text, FAH_PY_MAX_NAME);
	text += ret->n_name;
	ret->n_qualname = read_name(mem, layout, info.qualname, text, FAH_PY_MAX_NAME);
	ret->firstlineno = info.firstlineno;
	ret->flags = info.flags;
	ret->lines = 0;
	ret->n_lines = 0;
	if (fah_py_bytes_span(mem, layout, info.linetable, FAH_PY_MAX_TABLE, &ret->lines,
			      &ret->n_lines) < 0)
		ret->n_lines = 0;
	return 0;
}

static uint8_t *put_str(uint8_t *p, const char *s, size_t len)
{
	p = fah_put_varint(p, len);
	memcpy(p, s, len);
	return p + len;
}

uint8_t *fah_py_code_put(uint8_t *p, uint32_t id, const struct fah_py_described *d,
			 const char *text)
{
	p = fah_put_varint(p, id);
	p = fah_put_varint(p, fah_zigzag(d->firstlineno));
	p = fah_put_varint(p, d->flags);
	p = put_str(p, text, d->n_file);
	p = put_str(p, text + d->n_file, d->n_name);
	p = put_str(p, text + d->n_file + d->n_name, d->n_qualname);
	return fah_put_varint(p, d->n_lines);
}
