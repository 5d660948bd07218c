/*
 * cfi.h - runs the programs of call frame information (DWARF, as .eh_frame has them) and gives the
 * rules that hold from pc to pc. Tool side, pure functions over untrusted bytes.
 */
#ifndef FAH_NATIVE_CFI_H
#define FAH_NATIVE_CFI_H

#include "core/varint.h"
#include "native/table.h"

#include <stdbool.h>
#include <stdint.h>

/* The return address of a frame. */
enum fah_cfi_ra {
	FAH_RA_USUAL = 0, /* right below the CFA */
	FAH_RA_NONE = 1,  /* this is the outermost frame */
	FAH_RA_ODD = 2,	  /* anywhere else */
};

struct fah_cfi_state {
	struct fah_rule rule; /* rule.cfa NONE: a CFA that we have no rule for */
	enum fah_cfi_ra ra;
	bool signal_cfa; /* the CFA is as in a signal frame */
};

/* What the functions of one kind have in common. */
struct fah_cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding; /* DW_EH_PE_* of the FDEs' addresses */
	bool has_augmentation;	  /* FDEs have a length of augmentation data */
	bool signal;		  /* 'S' */
	struct fah_cfi_state initial;
};

/* Where rows go: pcs never fall, the last one of the same pc counts. False: stop. */
typedef bool (*fah_cfi_row)(void *ctx, uint64_t pc, const struct fah_rule *rule);

/* The CIE's own instructions, into cie->initial. FAH_ERR_DAMAGED. */
int fah_cfi_initial(struct fah_cie *cie, struct fah_cursor program);

/*
 * The rows of a function in [start, end). FAH_ERR_DAMAGED: the program is not possible; rows that
 * were given before are of no worth then.
 */
int fah_cfi_run(const struct fah_cie *cie, struct fah_cursor program, uint64_t start, uint64_t end,
		fah_cfi_row row, void *ctx);

/* A signed LEB128; of too long a one c->bad is set. */
int64_t fah_get_sleb(struct fah_cursor *c);

#endif
