/*
 * eh_return.h - functions that go on elsewhere in the stack, as libgcc's _Unwind_RaiseException: at
 * their end they write the registers of the frame to go on in, its return address among them, over
 * their own, so from there on nothing tells who had called them. Their .eh_frame does not say so.
 * Tool side, pure functions over untrusted bytes.
 */
#ifndef FAH_NATIVE_EH_RETURN_H
#define FAH_NATIVE_EH_RETURN_H

#include "native/table.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Compilers give such a function a CFA that is counted from rcx, which no other has, for the
 * instruction that takes it for sp.
 */
bool fah_eh_return_is(const struct fah_rule *rule);

/*
 * code: from the function's start to that instruction. How many bytes of it can be relied on: up to
 * the last call but one, which writes (the last is for debuggers to stop at). 0: it cannot be told.
 */
size_t fah_eh_return_sure(const uint8_t *code, size_t len);

#endif
