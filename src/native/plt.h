/*
 * plt.h - names of the stubs through which a module calls others: "malloc@plt". Tool side.
 */
#ifndef FAH_NATIVE_PLT_H
#define FAH_NATIVE_PLT_H

#include "native/symbols.h"

/*
 * One symbol for each stub that can be understood; syms names those that a module has for functions
 * of its own. To be asked before syms: a symbol without a size may seem to reach over the stubs.
 * The caller owns *ret (fah_symbols_release). FAH_ERR_SYS, FAH_ERR_NOMEM.
 */
int fah_plt_read(struct fah_elf *elf, const struct fah_symbols *syms, struct fah_symbols *ret);

#endif
