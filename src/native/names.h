/*
 * names.h - what the addresses of one module are called. Tool side, one thread.
 *
 * Everything is read when it is first asked for, and each address is worked out once. Names come
 * from debug information, with inlined functions and lines, from symbol tables, both also from the
 * module's debug file, and from its stubs; C++ and Rust are made readable. An address that nothing
 * names is its module and where in it its function begins.
 */
#ifndef FAH_NATIVE_NAMES_H
#define FAH_NATIVE_NAMES_H

#include "base/strbuf.h"
#include "native/elf_file.h"
#include "native/symbols.h"

struct fah_names; /* opaque */

struct fah_name_frame {
	const char *function; /* never empty */
	const char *file;     /* the function's source; NULL: not known */
	uint32_t line;	      /* of it; 0: not known */
	uint32_t id;	      /* the caller's own, 0 to begin with */
};

/*
 * elf (NULL: the file cannot be read) is borrowed until fah_names_free, path copied: the module's,
 * in root, a folder ("": ours) that is looked into when the first name is asked for. NULL: no
 * memory. The caller owns it.
 */
struct fah_names *fah_names_new(struct fah_elf *elf, const char *root, const char *path);
void fah_names_free(struct fah_names *names); /* NULL is fine */
FAH_DEFINE_FREEP(struct fah_names *, fah_names_free)

/* The symbol as the file has it, by the offset from the module's base; NULL: none. */
const char *fah_names_symbol(struct fah_names *names, uint64_t offset);
/* Whether a symbol of exactly this name is there. */
bool fah_names_has(struct fah_names *names, const char *symbol);

/* Where that symbol's function is, by offsets; false: there is none of this name. */
bool fah_names_range(struct fah_names *names, const char *symbol, uint64_t *ret_start,
		     uint64_t *ret_end);
/* Where the function that holds this offset begins, be it a symbol's, a stub or without a name. */
uint64_t fah_names_start(struct fah_names *names, uint64_t offset);

/*
 * The frames that stand at this offset, outermost first: the function, and what the compiler has
 * put into it in place of calls. At least one; NULL: no memory. They live as long as names; ids may
 * be set.
 */
struct fah_name_frame *fah_names_find(struct fah_names *names, uint64_t offset, uint32_t *ret_n);
/* The same, if it was asked for before and takes no time; NULL: not so. */
struct fah_name_frame *fah_names_found(struct fah_names *names, uint64_t offset, uint32_t *ret_n);

/*
 * What was found is kept in that folder (made where it is missing; copied), a file a module under
 * the name that its table has too (table_file.h), and not worked out again in later runs. To be
 * said before the first question. A folder that cannot be used is no error, a file of it that is
 * damaged is replaced.
 */
void fah_names_keep_in(struct fah_names *names, const char *dir);
/* Writes what is new of it; whether there was something. */
bool fah_names_save(struct fah_names *names);
/* Removes from such a folder what was used longest ago, so that it stays small. */
void fah_names_trim(const char *dir);

/* Takes these symbols, which are empty from here on, for what its file would have. */
void fah_names_give(struct fah_names *names, struct fah_symbols *symbols);

/* Debug information of code of no file, whose base is at this address of its process. The list is
 * copied, what it has must live as long as names. */
struct fah_made_debug;
void fah_names_give_debug(struct fah_names *names, uint64_t base,
			  struct fah_made_debug *const *debugs, size_t n);

/* For code of no file: what an address is called, by somebody else's word. The name is copied. */
void fah_names_define(struct fah_names *names, uint64_t offset, const char *function);
bool fah_names_is_defined(const struct fah_names *names, uint64_t offset);

/* What this build can read, for people: "inlined frames and lines by libdw, …". */
void fah_names_abilities(struct fah_strbuf *out);

#endif
