/*
 * code.h - unwind rules of a function that has no unwind information, from its instructions. Tool
 * side.
 *
 * For assembly such as the kernels of OpenBLAS, where numpy spends most of its time. Every path
 * through the function is followed; a rule is given only if all of them agree at every instruction,
 * and at every return the stack is as it was and rbp is the caller's. Anything that is not
 * understood: no rules at all.
 */
#ifndef FAH_NATIVE_CODE_H
#define FAH_NATIVE_CODE_H

#include "native/cfi.h"

#define FAH_CODE_MAX (256u << 10) /* bytes of a function: longer ones are not read */

/* The rows of the function, whose code (len bytes) begins at `start`. FAH_ERR_DOUBT: it cannot be
 * proved; no row was given. FAH_ERR_NOMEM. */
int fah_code_rows(const uint8_t *code, size_t len, uint64_t start, fah_cfi_row row, void *ctx);

#endif
