/*
 * run_scope.h - which code a report of a profiled run blames: what the settings said when it was
 * recorded, from the capture's META.
 */
#ifndef FAH_CLI_RUN_SCOPE_H
#define FAH_CLI_RUN_SCOPE_H

#include "base/arena.h"
#include "cli/settings.h"
#include "model/profile.h"

struct fah_run_scope {
	struct fah_scope scope;
	struct fah_arena arena;
};

/* META "ignore": the folders, a line each; the caller frees it. NULL: no memory. */
char *fah_run_scope_ignore(const struct fah_settings *s);

/*
 * Code below the root or the script's folder, without what was installed, .git, the output folder
 * and what was to be ignored; with META "detailed" all code, without the latter only. The script
 * itself is never left out. 0 or FAH_ERR_NOMEM; the caller releases *s either way. Borrows from the
 * profile.
 */
int fah_run_scope_init(struct fah_run_scope *s, const struct fah_profile *p);
/* The same of any META: its value by key, or NULL. */
typedef const char *fah_meta_fn(const void *of, const char *key);
int fah_run_scope_from(struct fah_run_scope *s, fah_meta_fn *meta, const void *of);
/* The same of pairs, NULL at the end, as collect/run.h wants it: whose calls are counted. The
 * caller frees it. NULL: no memory. */
char *fah_run_scope_lines(const char *const *meta);
void fah_run_scope_release(struct fah_run_scope *s); /* also for _cleanup_, on a zeroed struct */

#endif
