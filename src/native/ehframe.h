/*
 * ehframe.h - the functions that an .eh_frame section describes. Tool side, pure functions over
 * untrusted bytes.
 */
#ifndef FAH_NATIVE_EHFRAME_H
#define FAH_NATIVE_EHFRAME_H

#include "native/cfi.h"

#include <stddef.h>
#include <stdint.h>

struct fah_fde {
	uint64_t start, end; /* addresses in the file */
	uint32_t cie;	     /* into struct fah_ehframe.cies */
	struct fah_cursor program;
};

struct fah_ehframe {
	struct fah_fde *fdes; /* by start, no two the same */
	size_t n_fdes;
	struct fah_cie *cies;
	size_t n_cies;
	size_t n_bad; /* entries that make no sense: left out */
};

/*
 * bytes (len of them, at address vaddr of the file) are borrowed for as long as *ret is used.
 * max_fdes bounds a section whose end is not known; SIZE_MAX otherwise. Reading ends at the first
 * entry that is cut; what was read until then is good. FAH_ERR_NOMEM.
 */
int fah_ehframe_read(struct fah_ehframe *ret, const uint8_t *bytes, size_t len, uint64_t vaddr,
		     size_t max_fdes);
void fah_ehframe_release(struct fah_ehframe *eh);

/* Puts what another section has behind; by start only after fah_ehframe_sort. FAH_ERR_NOMEM. */
int fah_ehframe_append(struct fah_ehframe *eh, const struct fah_ehframe *more);
void fah_ehframe_sort(struct fah_ehframe *eh);

/*
 * What .eh_frame_hdr says: where .eh_frame is and how many functions it has (SIZE_MAX: not said).
 * FAH_ERR_DAMAGED.
 */
int fah_ehframe_hdr(const uint8_t *bytes, size_t len, uint64_t vaddr, uint64_t *ret_eh_frame,
		    size_t *ret_fdes);

#endif
