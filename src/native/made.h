/*
 * made.h - code that a process has made at run time: how to unwind it and what it is called, by the
 * ELF images that its compilers hand to debuggers (the GDB JIT interface) and by the .eh_frame that
 * they register. Tool side; every byte is the process's word and is taken for no more than that.
 *
 * First all there is is put in, then parts are cut out of it, one for each stretch of executable
 * memory: so no rule and no name ever holds for code that a file has.
 */
#ifndef FAH_NATIVE_MADE_H
#define FAH_NATIVE_MADE_H

#include "base/arena.h"
#include "core/load.h"
#include "native/ehframe.h"
#include "native/made_debug.h"
#include "native/symbols.h"
#include "native/table_file.h"

#define FAH_MADE_FRAMES_MAX (16u << 20) /* bytes of one .eh_frame */
#define FAH_MADE_ALL_FRAMES_MAX (64u << 20)
#define FAH_MADE_CODE_MAX (16u << 20) /* bytes of a part whose code is looked at */

struct fah_made {
	struct fah_ehframe eh; /* addresses of the process */
	struct fah_symbol *symbols;
	size_t n_symbols;
	struct fah_arena arena;		/* bytes and names */
	uint64_t frames_len;		/* of all .eh_frame; what would be too much is left out */
	struct fah_made_debugs *store;	/* borrowed; NULL: debug information is not wanted */
	struct fah_made_debug **debugs; /* that of the images; the store's */
	size_t n_debugs;
};

void fah_made_release(struct fah_made *made);

/*
 * What an image of len bytes says; it is not needed afterwards. Its .eh_frame is taken from where
 * it has been loaded to, by mem, since that in the image need not be relocated; NULL: from the
 * image. One that makes no sense adds nothing. FAH_ERR_NOMEM.
 */
int fah_made_add_image(struct fah_made *made, const void *bytes, size_t len,
		       const struct fah_mem *mem);
/* What .eh_frame at this address of the process says, up to its end mark. FAH_ERR_NOMEM. */
int fah_made_add_frames(struct fah_made *made, uint64_t addr, const struct fah_mem *mem);
/* Before the first cut. */
void fah_made_sort(struct fah_made *made);

struct fah_made_part {
	uint64_t start, end; /* from the first code that is known to the last; the table's base */
	struct fah_table_bytes table;
	struct fah_symbols symbols;
	uint64_t *starts; /* of functions by .eh_frame, for those without a symbol; rising */
	size_t n_starts;
	struct fah_made_debug **debugs; /* of images that have code in it; the store's */
	size_t n_debugs;
};

/*
 * What is known of [start, end). Functions that have a symbol but no .eh_frame are read (code.h),
 * by mem; NULL: they are not. False: nothing, or no memory. The caller owns what is in *ret
 * (fah_made_part_release). Two parts of one start with the same table have the same symbols and
 * debug information.
 */
bool fah_made_cut(const struct fah_made *made, uint64_t start, uint64_t end,
		  const struct fah_mem *mem, struct fah_made_part *ret);
void fah_made_part_release(struct fah_made_part *part);

#endif
