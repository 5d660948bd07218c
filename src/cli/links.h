/* links.h - the symlinks by which Python is led to the user's code: see model/links.h. */
#ifndef FAH_CLI_LINKS_H
#define FAH_CLI_LINKS_H

#include "cli/settings.h"

/*
 * META "links" of a run: of the script as it is named for Python (NULL: there is none), and of the
 * folders of PYTHONPATH (NULL: likewise), where they lead to the root's code or the script's, and
 * are not below the root by their own names. Code has the names that these folders have, the
 * settings are of what they lead to. The caller frees it. NULL: no memory.
 */
char *fah_links_find(const struct fah_settings *s, const char *file, const char *pythonpath);

#endif
