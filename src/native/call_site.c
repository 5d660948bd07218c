/* call_site.c - see call_site.h. */
#include "native/call_site.h"

#include "native/insn.h"

#include <string.h>

#define CALL 2 /* the reg field of ff */
#define JUMP 4

/* The `len` bytes before `end` are one call through a register or memory. */
static bool is_indirect(const uint8_t *end, size_t len, struct fah_insn *in)
{
	return fah_insn_decode(end - len, len, in) && in->len == len && in->map == 1 &&
	       in->op == 0xff && in->has_modrm && (in->reg & 7) == CALL;
}

void fah_call_site_read(const uint8_t *before, uint64_t at,
			bool (*is_function)(void *arg, uint64_t target), void *arg,
			struct fah_call_site *ret)
{
	const uint8_t *end = before + FAH_CALL_SITE_LEN;
	struct fah_insn in;
	int32_t far;

	*ret = (struct fah_call_site){.kind = FAH_CALL_UNKNOWN};
	memcpy(&far, end - 4, sizeof(far));
	if (end[-5] == 0xe8 && is_function(arg, at + (uint64_t)(int64_t)far)) {
		ret->kind = FAH_CALL_NAMED;
		ret->target = at + (uint64_t)(int64_t)far;
		return;
	}
	for (size_t len = 2; len <= FAH_CALL_SITE_LEN; len++) {
		if (!is_indirect(end, len, &in))
			continue;
		/* the shortest: a longer one would need a prefix that compilers don't write, but
		 * for those of r8 and up */
		ret->kind = FAH_CALL_POINTER;
		/* from a place on the stack it is any address that was put aside; r12 looks alike
		 */
		if (in.mod != 3 && !in.has_index &&
		    ((in.rm & 7) != 4 || (len < FAH_CALL_SITE_LEN && end[-(int)len - 1] == 0x41))) {
			ret->kind = FAH_CALL_MEMBER;
			ret->distance = in.disp;
		}
		return;
	}
}

static bool is_jump(const struct fah_insn *in)
{
	return (in->map == 1 && in->op == 0xe9) || (in->map == 2 && (in->op & 0xf0) == 0x80);
}

static bool takes_address(const struct fah_insn *in)
{
	return in->map == 1 && ((in->op == 0x8d && in->mod == 0 && (in->rm & 7) == 5) ||
				in->op == 0xc7 || (in->op & 0xf8) == 0xb8);
}

/* in: the instruction that ends at `end`, which is address `next`; false: it leads nowhere. */
static bool read_lead(const struct fah_insn *in, const uint8_t *end, uint64_t next,
		      struct fah_code_lead *ret)
{
	int32_t last = 0;

	if (in->map == 1 && in->op == 0xff && in->has_modrm && (in->reg & 7) == JUMP) {
		ret->kind = in->mod == 3 || in->has_index ? FAH_LEAD_POINTER : FAH_LEAD_MEMBER;
		ret->distance = in->disp;
		return true;
	}
	if (in->len < 5 || (!is_jump(in) && !takes_address(in)))
		return false;
	memcpy(&last, end - sizeof(last), sizeof(last));
	ret->kind = is_jump(in) ? FAH_LEAD_JUMP : FAH_LEAD_ADDRESS;
	ret->target = (uint64_t)(int64_t)last;
	if (is_jump(in) || in->op == 0x8d)
		ret->target += next;
	return true;
}

void fah_code_leads(const uint8_t *code, size_t len, uint64_t at,
		    void (*found)(void *arg, const struct fah_code_lead *lead), void *arg)
{
	struct fah_insn in;
	size_t n = 0;

	while (n < len && fah_insn_decode(code + n, len - n, &in) && in.len) {
		struct fah_code_lead lead = {0};

		n += in.len;
		if (!read_lead(&in, code + n, at + n, &lead))
			continue;
		if (lead.kind != FAH_LEAD_JUMP || lead.target - at >= len)
			found(arg, &lead);
	}
}
