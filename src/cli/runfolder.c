/* runfolder.c - see runfolder.h. */
#include "cli/runfolder.h"

#include "base/file.h"
#include "cli/cli.h"
#include "core/err.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_TRIES 1000

static void add_gitignore(const char *output)
{
	char path[FAH_RUN_PATH_MAX + 64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/.gitignore", output);
	f = fopen(path, "wxe"); /* never over the user's own */
	if (f) {
		fputs("*\n", f);
		fclose(f);
	}
}

static bool is_empty(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	bool empty = dir != NULL;

	while (empty && (e = readdir(dir)))
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	if (dir)
		closedir(dir);
	return empty;
}

/* How much of a path is there. */
static size_t existing(const char *path)
{
	char buf[FAH_RUN_PATH_MAX];
	char *slash;

	snprintf(buf, sizeof(buf), "%s", path);
	while (access(buf, F_OK) < 0 && (slash = strrchr(buf, '/')) && slash > buf)
		*slash = 0;
	return strlen(buf);
}

static int make_output(struct fah_runfolder *r, const char *output)
{
	char cwd[FAH_RUN_PATH_MAX];
	int n;

	if (output[0] == '/') {
		n = snprintf(r->output, sizeof(r->output), "%s", output);
	} else {
		if (!getcwd(cwd, sizeof(cwd)))
			return fah_fail_err(FAH_ERR_SYS, "the current folder");
		n = snprintf(r->output, sizeof(r->output), "%s/%s", cwd, output);
	}
	if (n >= (int)sizeof(r->output) - 256)
		return fah_fail("%s: too long a path", output);
	while (n > 1 && r->output[n - 1] == '/')
		r->output[--n] = 0;
	r->existed = existing(r->output);
	if (fah_mkdir_p(r->output, 0777) < 0)
		return fah_fail_err(FAH_ERR_SYS, "cannot make the folder %s for the results",
				    r->output);
	/* A folder with things in it is the user's: what git is to see of it is not ours to say. */
	if (is_empty(r->output))
		add_gitignore(r->output);
	return 0;
}

int fah_runfolder_make(struct fah_runfolder *r, const char *output, const char *name)
{
	char stamp[32], parent[FAH_RUN_PATH_MAX + 300];
	time_t now = time(NULL);
	struct tm tm;
	int status;

	memset(r, 0, sizeof(*r));
	status = make_output(r, output);
	if (status)
		return status;
	snprintf(parent, sizeof(parent), "%s/%.200s", r->output, name);
	if (mkdir(parent, 0777) < 0 && errno != EEXIST)
		return fah_fail_err(FAH_ERR_SYS, "cannot make the folder %s", parent);
	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d_%H%M%S", &tm);
	for (int i = 1; i < MAX_TRIES; i++) {
		char suffix[16] = "";

		if (i > 1)
			snprintf(suffix, sizeof(suffix), "_%d", i);
		if (snprintf(r->path, sizeof(r->path), "%s/%s%s", parent, stamp, suffix) >=
		    (int)sizeof(r->path))
			return fah_fail("%s: too long a path", parent);
		if (mkdir(r->path, 0777) == 0)
			return 0;
		/* Another start that failed may have taken the empty parent away. */
		if (errno == ENOENT && mkdir(parent, 0777) == 0)
			i--;
		else if (errno != EEXIST)
			break;
	}
	status = fah_fail_err(FAH_ERR_SYS, "cannot make the folder %s", r->path);
	r->path[0] = 0;
	rmdir(parent);
	return status;
}

const char *fah_runfolder_file(const struct fah_runfolder *r, const char *name, char *buf)
{
	snprintf(buf, FAH_RUN_PATH_MAX + 64, "%s/%s", r->path, name);
	return buf;
}

void fah_runfolder_remove(struct fah_runfolder *r)
{
	char path[FAH_RUN_PATH_MAX + 64];
	struct dirent *e;
	char *slash;
	DIR *dir;

	if (!r->path[0])
		return;
	dir = opendir(r->path);
	while (dir && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(r->path);
	slash = strrchr(r->path, '/');
	if (slash) {
		*slash = 0;
		rmdir(r->path); /* stays where other runs are in it */
	}
	if (r->existed < strlen(r->output)) {
		snprintf(path, sizeof(path), "%s/.gitignore", r->output);
		unlink(path);
		snprintf(path, sizeof(path), "%s", r->output);
		while (strlen(path) > r->existed && rmdir(path) == 0 &&
		       (slash = strrchr(path, '/')))
			*slash = 0;
	}
	r->path[0] = 0;
}
