/* series_stats.c - see series.h: captures below a folder. */
#include "cli/series.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/room.h"
#include "capture/reader.h"
#include "cli/cli.h"
#include "cli/shown.h"
#include "core/err.h"
#include "core/time.h"
#include "import/import.h"
#include "model/profile.h"
#include "report/stats.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define DEPTH_MAX 32

FAH_DEFINE_FREEP(struct fah_stats *, fah_stats_free)

struct paths {
	const char *command; /* for what is said of those that are left out */
	char **list;
	size_t n, cap;
};

static void paths_release(struct paths *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->list[i]);
	free(p->list);
}

/* A capture, also one without an end beside which there is no whole one; or another tool's file. */
static bool is_wanted(const char *path)
{
	_cleanup_(fah_freep) char *whole = NULL;
	struct stat st;

	if (fah_path_ends(path, ".fah"))
		return true;
	if (fah_path_ends(path, ".fah.partial")) {
		whole = strndup(path, strlen(path) - strlen(".partial"));
		return whole && stat(whole, &st) < 0;
	}
	return fah_path_ends(path, ".json") && strcmp(fah_basename(path), FAH_STATS_FILE) != 0;
}

static int add_path(struct paths *p, const char *path)
{
	if (!fah_room(&p->list, p->n, &p->cap, sizeof(*p->list)))
		return FAH_ERR_NOMEM;
	p->list[p->n] = strdup(path);
	return p->list[p->n++] ? 0 : FAH_ERR_NOMEM;
}

/* Links to folders are not followed: they may lead back. */
static int find(struct paths *p, const char *folder, int depth)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	int err = dir ? 0 : FAH_ERR_SYS;

	if (!dir && depth) /* one that may not be read is not the whole folder's end */
		fah_fail_err(err, "%s: left out: %s", p->command, folder);
	while (err == 0 && (e = readdir(dir))) {
		_cleanup_(fah_freep) char *path = NULL;
		struct stat st;

		if (e->d_name[0] == '.')
			continue;
		if (asprintf(&path, "%s/%s", folder, e->d_name) < 0) {
			path = NULL;
			err = FAH_ERR_NOMEM;
		} else if (lstat(path, &st) < 0) {
			if (errno != ENOENT)
				fah_fail_err(FAH_ERR_SYS, "%s: left out: %s", p->command, path);
		} else if (S_ISDIR(st.st_mode) && depth == DEPTH_MAX) {
			fah_fail("%s: left out: %s: more than %d folders deep", p->command, path,
				 DEPTH_MAX);
		} else if (S_ISDIR(st.st_mode)) {
			if (find(p, path, depth + 1) == FAH_ERR_NOMEM)
				err = FAH_ERR_NOMEM;
		} else if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && is_wanted(path)) {
			err = add_path(p, path);
		}
	}
	if (dir)
		closedir(dir);
	return err;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

FAH_DEFINE_FREEP(struct fah_reader *, fah_reader_free)
FAH_DEFINE_FREEP(struct fah_profile *, fah_profile_free)

/* name: the path below the folder, which stays true where that is moved. */
static int add_capture(struct fah_stats *stats, const char *path, const char *name, bool everything)
{
	_cleanup_(fah_reader_freep) struct fah_reader *reader = NULL;
	_cleanup_(fah_profile_freep) struct fah_profile *p = NULL;
	_cleanup_(fah_shown_release) struct fah_shown shown = {0};
	const struct fah_charges *charges;
	int err = fah_path_ends(path, ".json") ? fah_import_open(path, &reader)
					       : fah_reader_new(path, &reader);

	if (err == 0)
		err = fah_profile_load(reader, &p);
	if (err == 0)
		err = fah_shown_init(&shown, p, path);
	if (err < 0)
		return err;
	err = fah_profile_charge(p, everything ? &fah_scope_everything : shown.report.scope,
				 &charges);
	return err < 0 ? err : fah_stats_add(stats, name, p, charges, shown.report.root);
}

static int write_json(const char *folder, const struct fah_stats *stats, uint64_t now)
{
	_cleanup_(fah_outfile_abort) struct fah_outfile file = {0};
	_cleanup_(fah_freep) char *path = NULL;
	int err;

	if (asprintf(&path, "%s/" FAH_STATS_FILE, folder) < 0) {
		path = NULL;
		return FAH_ERR_NOMEM;
	}
	err = fah_outfile_open(&file, path);
	if (err == 0)
		err = fah_report_stats_json(file.f, stats, now);
	return err < 0 ? err : fah_outfile_commit(&file);
}

/* A file has neither colour nor a terminal's width. */
static int write_table(const char *path, const struct fah_stats *stats)
{
	_cleanup_(fah_outfile_abort) struct fah_outfile file = {0};
	int err = fah_outfile_open(&file, path);

	if (err == 0)
		err = fah_report_stats(file.f, stats, &(struct fah_report_options){.utf8 = true});
	return err < 0 ? err : fah_outfile_commit(&file);
}

static int show(const char *command, const char *folder, const struct fah_stats *stats,
		const struct fah_series_view *view)
{
	uint64_t now = fah_clock_ns(CLOCK_REALTIME);
	int err = write_json(folder, stats, now); /* first: whoever reads stdout may go */
	int status = err < 0 ? fah_fail_err(err, "%s: %s/" FAH_STATS_FILE, command, folder) : 0;

	if (!status && view->output_file) {
		err = write_table(view->output_file, stats);
		if (err < 0)
			status = fah_fail_err(err, "%s: --output-file %s", command,
					      view->output_file);
	}
	err = 0;
	if (view->json)
		err = fah_report_stats_json(stdout, stats, now);
	else if (view->report)
		err = fah_report_stats(stdout, stats, view->report);
	fflush(stdout);
	return err < 0 ? fah_fail_err(err, "%s", command) : status;
}

int fah_series_stats(const char *command, const char *folder, const struct fah_series_view *view)
{
	_cleanup_(fah_stats_freep) struct fah_stats *stats = NULL;
	_cleanup_(paths_release) struct paths paths = {.command = command};
	size_t n_used = 0;
	int err = find(&paths, folder, 0);

	if (err == 0)
		err = fah_stats_new(&stats);
	if (err < 0)
		return fah_fail_err(err, "%s: %s", command, folder);
	if (paths.n)
		qsort(paths.list, paths.n, sizeof(*paths.list), by_name);
	for (size_t i = 0; i < paths.n; i++) {
		err = add_capture(stats, paths.list[i], paths.list[i] + strlen(folder) + 1,
				  view->everything);
		n_used += err == 0;
		/* a .json may be anything */
		if (err < 0 && !(err == FAH_ERR_FORMAT && fah_path_ends(paths.list[i], ".json")))
			fah_fail_err(err, "%s: left out: %s", command, paths.list[i]);
	}
	if (!n_used)
		return fah_fail("%s: %s: there is no capture below this folder", command, folder);
	err = fah_stats_finish(stats);
	if (err < 0)
		return fah_fail_err(err, "%s", command);
	return show(command, folder, stats, view);
}
