/*
 * layout.c - the layout for one interpreter: the generated table's, and from 3.13 on what the
 * runtime says of itself laid over it.
 */
#include "core/err.h"
#include "cpython/layout.h"
#include "cpython/walk.h"

#include <string.h>

static bool inside(uint32_t offset, uint32_t need, uint32_t size)
{
	return need <= size && offset <= size - need;
}

/* The walk reads heads of structures into buffers of its own: what it wants must lie inside. */
static bool fits(const struct fah_py_layout *l)
{
	const uint32_t code[] = {
		l->co_filename,	      l->co_name,      l->co_qualname,	  l->co_linetable,
		l->co_code,	      l->ob_type,      l->ob_size,	  l->co_firstlineno,
		l->co_flags,	      l->co_framesize, l->co_nlocalsplus, l->co_stacksize,
		l->co_firsttraceable,
	};
	const uint32_t frame[] = {l->f_previous, l->f_code, l->f_instr, l->f_stack, l->f_owner};
	const uint32_t chunk[] = {l->chunk_previous, l->chunk_size, l->chunk_top};
	uint32_t head = l->frames_kind == FAH_PY_FRAMES_OBJECT ? l->f_instr + 4 : l->f_localsplus;

	if (l->co_size > FAH_PY_CODE_BYTES || l->gen_iframe + head > FAH_PY_FAR_BYTES)
		return false;
	if (l->gen_iframe != 0 && l->gen_iframe < l->ob_type + 8)
		return false;
	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++)
		if (!inside(code[i], 8, l->co_size) && code[i] != l->co_code)
			return false;
	for (size_t i = 0; i < sizeof(frame) / sizeof(frame[0]); i++)
		if (!inside(frame[i], frame[i] == l->f_instr ? 4 : 1, head))
			return false;
	for (size_t i = 0; i < sizeof(chunk) / sizeof(chunk[0]); i++)
		if (l->frames_kind != FAH_PY_FRAMES_OBJECT && !inside(chunk[i], 8, l->chunk_data))
			return false;
	return true;
}

/* Old series changed their structures on the way: 3.9.2 has the list elsewhere than 3.9.18. Of
 * those only what the table was made of is known, and what came after. */
static bool knows_audit_hooks(uint32_t minor, uint32_t micro)
{
	return minor < 10 ? micro >= 18 : minor != 10 || micro >= 13;
}

int fah_py_layout_init(struct fah_py_layout *ret, const struct fah_mem *mem, uint32_t version_hex,
		       uint64_t runtime_addr)
{
	struct fah_py_layout layout;
	const struct fah_py_known *known = NULL;
	uint32_t minor = version_hex >> 16 & 0xff;
	uint32_t level = version_hex >> 4 & 0xf;
	int err;

	if (version_hex >> 24 != 3 || runtime_addr == 0)
		return FAH_ERR_UNKNOWN_PYTHON;
	/* Before the release candidates structures and opcodes still change. */
	if (level < 0xc)
		return FAH_ERR_UNKNOWN_PYTHON;
	for (int i = 0; i < fah_py_known_count; i++)
		if (fah_py_known[i].minor == minor)
			known = &fah_py_known[i];
	if (known == NULL)
		return FAH_ERR_UNKNOWN_PYTHON;

	layout = known->layout;
	layout.version_hex = version_hex;
	layout.runtime = runtime_addr;
	if (!knows_audit_hooks(minor, version_hex >> 8 & 0xff))
		layout.interp_audit_hooks = 0;
	for (size_t i = 0; i < sizeof(known->calls) && known->calls[i] != 0; i++)
		layout.call_ops[known->calls[i] >> 3] |= (uint8_t)(1u << (known->calls[i] & 7));
	if (minor >= 13) {
		err = fah_py_debug_offsets_apply(&layout, mem, runtime_addr);
		if (err < 0)
			return err;
	}
	if (!fits(&layout))
		return FAH_ERR_UNKNOWN_PYTHON;
	*ret = layout;
	return 0;
}
