/*
 * callgrind_names.h - who is meant in a file of callgrind's, where a name may be "(7) name" once
 * and
 * "(7)" from then on; for callgrind.c only.
 *
 * A function is who its number says, as in KCachegrind: where the callee's file is left out, it is
 * not always said which file that means.
 *
 * Valgrind calls a function f'2 while f runs already. What f itself took with all it called is
 * exact then, since none of it lies inside another; so is what calls took that lead from or to a
 * first level. Calls between deeper levels lie inside of such, mostly.
 */
#ifndef FAH_IMPORT_CALLGRIND_NAMES_H
#define FAH_IMPORT_CALLGRIND_NAMES_H

#include "base/map.h"
#include "model/exact.h"

#define FAH_CG_NOBODY UINT32_MAX

/* What numbers stand for. */
enum fah_cg_kind { FAH_CG_FILES, FAH_CG_OBJECTS, FAH_CG_FUNCTIONS };

struct fah_cg_text {
	const char *s; /* in the file's text; NULL: none */
	size_t len;
};

struct fah_cg_who {
	uint32_t function; /* or FAH_CG_NOBODY */
	bool deep;	   /* while it runs already */
};

struct fah_cg_first {
	double total; /* of its first level, with all it called */
	bool recurs;  /* it has others */
};

struct fah_cg_names {
	struct fah_exact *into;	  /* borrowed */
	struct fah_map by_number; /* kind, number -> text + 1, or (function, deep) + 1 */
	struct fah_cg_text *texts;
	size_t n_texts, cap_texts;
	struct fah_cg_first *firsts; /* by function */
	size_t n_firsts, cap_firsts;
};

/* What stands from s to end, a file or object, or a function, which is made where it is new; of
 * whom the file is not known ("???"), the object is taken. FAH_ERR_FORMAT: a number that was given
 * no name. FAH_ERR_NOMEM. */
int fah_cg_text(struct fah_cg_names *n, enum fah_cg_kind kind, const char *s, const char *end,
		struct fah_cg_text *to);
int fah_cg_function(struct fah_cg_names *n, const char *s, const char *end, struct fah_cg_text file,
		    struct fah_cg_text object, struct fah_cg_who *to);
void fah_cg_names_done(struct fah_cg_names *n);

#endif
