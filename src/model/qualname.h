/*
 * qualname.h - qualified names of the code objects in a Python source, as the compiler makes them.
 *
 * For interpreters before 3.11, whose code objects do not know theirs. Reads text, never runs it;
 * text that is no valid Python gives names that may be wrong, never a crash.
 */
#ifndef FAH_MODEL_QUALNAME_H
#define FAH_MODEL_QUALNAME_H

#include <stddef.h>
#include <stdint.h>

struct fah_qualnames; /* opaque */

/* source: UTF-8, with any line ends. The caller frees *ret. FAH_ERR_NOMEM. */
int fah_qualnames_new(const char *source, size_t len, struct fah_qualnames **ret);

/*
 * The qualified name of the code object called name whose first line (that of its first decorator)
 * is first_line; NULL: the source has no such one there. Borrowed until free. Comprehensions and
 * lambdas that stand inside f-strings have the scope around them.
 */
const char *fah_qualnames_find(struct fah_qualnames *q, const char *name, uint32_t first_line);
/* The last line of the function or class that begins there; 0: there is none. */
uint32_t fah_qualnames_last_line(const struct fah_qualnames *q, uint32_t first_line);
void fah_qualnames_free(struct fah_qualnames *q); /* NULL is fine */

/* All of them, for tests: the i-th, NULL after the last. */
const char *fah_qualnames_at(struct fah_qualnames *q, size_t i, const char **ret_name,
			     uint32_t *ret_first_line);

#endif
