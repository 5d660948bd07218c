/* eh_return.c - see eh_return.h. */
#include "native/eh_return.h"

#include "native/insn.h"

#define RCX 2 /* as DWARF numbers registers */

bool fah_eh_return_is(const struct fah_rule *rule)
{
	return rule->cfa == FAH_CFA_REG && rule->reg == RCX;
}

static bool is_call(const struct fah_insn *in)
{
	return in->map == 1 && !in->vex &&
	       (in->op == 0xe8 || (in->op == 0xff && in->has_modrm && (in->reg & 7) == 2));
}

size_t fah_eh_return_sure(const uint8_t *code, size_t len)
{
	size_t at = 0, last = 0, before_last = 0;
	struct fah_insn in;

	for (; at < len; at += in.len) {
		if (!fah_insn_decode(code + at, len - at, &in) || !in.len)
			return 0;
		if (is_call(&in)) {
			before_last = last;
			last = at;
		}
	}
	return at == len ? before_last : 0;
}
