/* git.h - what is checked out in a folder, by asking git. Nothing is changed, not even its index.
 */
#ifndef FAH_CLI_GIT_H
#define FAH_CLI_GIT_H

#include "base/strbuf.h"

struct fah_git {
	struct fah_strbuf commit, branch; /* "" where there is none */
	struct fah_strbuf
		dirty; /* files that differ from the commit, or are not in it, one a line */
};

/* All are "" where there is no git, or no repository. */
void fah_git_read(struct fah_git *g, const char *folder);
void fah_git_release(struct fah_git *g);

#endif
