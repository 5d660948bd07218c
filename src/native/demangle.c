/*
 * demangle.c - see demangle.h: by libiberty, which knows C++ and both of Rust's ways.
 *
 * A few hundred bytes can stand for a name of gigabytes, so the text is taken piece by piece, and
 * when there is enough, we leave by a jump: the library keeps everything on the stack.
 */
#include "native/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

/* Each byte may be one more level of recursion. The library's own limit would leave out all names
 * of more than 1,024 bytes; 4,096 take less than 4 MB of stack at worst (tests/unit/native). */
#define MAX_MANGLED 4096u

struct taken {
	struct fah_strbuf *out;
	size_t limit; /* of out->len */
	jmp_buf enough;
};

static void take(const char *text, size_t len, void *opaque)
{
	struct taken *t = opaque;

	if (len > t->limit - t->out->len) {
		fah_strbuf_add(t->out, text, t->limit - t->out->len);
		longjmp(t->enough, 1);
	}
	fah_strbuf_add(t->out, text, len);
}

/* Behind the last whole character: Rust's names may have any. */
static void cut_to_character(struct fah_strbuf *out)
{
	size_t len = out->len;

	while (len && ((unsigned char)out->p[len - 1] & 0xc0) == 0x80)
		len--;
	if (len && ((unsigned char)out->p[len - 1] & 0xc0) == 0xc0)
		len--;
	if (len < out->len)
		fah_strbuf_truncate(out, len);
}

bool fah_demangle(const char *name, struct fah_strbuf *out)
{
	/* filled in through its address, so that the jump finds it as it is */
	struct taken taken = {.out = out, .limit = out->len + FAH_NAME_MAX};
	const size_t before = out->len;
	bool done;

	if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0 &&
	    strncmp(name, "_GLOBAL_", 8) != 0)
		return false;
	if (strnlen(name, MAX_MANGLED) == MAX_MANGLED)
		return false;
	if (setjmp(taken.enough)) {
		cut_to_character(out);
		fah_strbuf_adds(out, "…");
		return !out->failed;
	}
	/* Rust's old way is a kind of C++ name, told by the hash at its end */
	done = rust_demangle_callback(name, DMGL_NO_RECURSE_LIMIT, take, &taken);
	if (!done && out->len > before)
		fah_strbuf_truncate(out, before);
	if (!done)
		done = cplus_demangle_v3_callback(name, DMGL_ANSI | DMGL_NO_RECURSE_LIMIT, take,
						  &taken);
	if (!done && out->len > before)
		fah_strbuf_truncate(out, before);
	return done && out->len > before && !out->failed;
}

const char *fah_demangle_library(void)
{
	return "libiberty";
}
