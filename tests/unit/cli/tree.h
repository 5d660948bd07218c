/* tree.h - a folder of files for a test, made of their names and gone afterwards. */
#ifndef FAH_TESTS_CLI_TREE_H
#define FAH_TESTS_CLI_TREE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char tree_root[4096];

static inline int tree_setup(void **state)
{
	char made[] = "/tmp/fah-test-XXXXXX";

	(void)state;
	return mkdtemp(made) && realpath(made, tree_root) && chdir(tree_root) == 0 ? 0 : -1;
}

static inline int tree_forget(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline int tree_teardown(void **state)
{
	(void)state;
	return chdir("/") == 0 ? nftw(tree_root, tree_forget, 16, FTW_DEPTH | FTW_PHYS) : -1;
}

/* "a/b" below the test's folder; one of four buffers. */
static inline const char *tree_path(const char *name)
{
	static char paths[4][4096 + 256];
	static int at;
	char *path = paths[at++ % 4];

	snprintf(path, sizeof(paths[0]), "%s%s%s", tree_root, *name ? "/" : "", name);
	return path;
}

static inline void tree_folder(const char *name)
{
	assert_int_equal(fah_mkdir_p(tree_path(name), 0777), 0);
}

static inline void tree_file(const char *name, const char *text)
{
	char folder[4096 + 256];

	snprintf(folder, sizeof(folder), "%s", tree_path(name));
	*strrchr(folder, '/') = 0;
	assert_int_equal(fah_mkdir_p(folder, 0777), 0);
	assert_int_equal(fah_file_replace(tree_path(name), text, strlen(text)), 0);
}

#endif
