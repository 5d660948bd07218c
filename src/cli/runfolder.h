/* runfolder.h - where a profiled run leaves its files: <output>/<name>/<UTC date_time>/. */
#ifndef FAH_CLI_RUNFOLDER_H
#define FAH_CLI_RUNFOLDER_H

#include <stddef.h>

#define FAH_RUN_PATH_MAX 4096

struct fah_runfolder {
	char path[FAH_RUN_PATH_MAX];
	char output[FAH_RUN_PATH_MAX]; /* absolute: the folder of all runs */
	size_t existed;		       /* bytes of it that were there before */
};

/*
 * Make the folder; two starts in one second get two folders. 0, or an exit status after printing
 * one line; then nothing is left behind.
 */
int fah_runfolder_make(struct fah_runfolder *r, const char *output, const char *name);
/* The path of a file in it, into buf of FAH_RUN_PATH_MAX + 64. */
const char *fah_runfolder_file(const struct fah_runfolder *r, const char *name, char *buf);
/* Take it away again with the files in it, and the folders above that were made for it and are
 * empty. */
void fah_runfolder_remove(struct fah_runfolder *r);

#endif
