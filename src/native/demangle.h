/*
 * demangle.h - names of C++ and Rust as their languages write them. Tool side, untrusted bytes.
 */
#ifndef FAH_NATIVE_DEMANGLE_H
#define FAH_NATIVE_DEMANGLE_H

#include "base/strbuf.h"

#include <stdbool.h>

#define FAH_NAME_MAX 2000u /* bytes: a longer name is cut, with "…" behind it */

/*
 * Adds the readable form to out; without parameters, as the call does not say them either. False:
 * it is no mangled name, or cannot be read, or this build cannot; out is as it was.
 */
bool fah_demangle(const char *name, struct fah_strbuf *out);

/* The library that does it; NULL: this build has none. */
const char *fah_demangle_library(void);

#endif
