/* calls_output.c - see calls_output.h. */
#include "cli/calls_output.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/term.h"
#include "cli/cli.h"
#include "cli/graph_out.h"
#include "cli/show_file.h"
#include "core/err.h"
#include "core/segment.h"
#include "export/pstats.h"
#include "report/exact_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TREE_FLOOR 0.005
#define PICTURE_NODES 0.005
#define PICTURE_EDGES 0.001
#define TRIES 100

int fah_calls_keep(const char *script, char *buf, size_t cap)
{
	const char *name = fah_basename(script);
	size_t n = strlen(name);
	time_t now = time(NULL);
	char stamp[32], path[FAH_CALLS_PATH_MAX + 8];
	struct stat st;
	struct tm tm;

	if (fah_path_ends(name, ".py"))
		n -= 3;
	if (n > 200)
		n = 200;
	if (mkdir(FAH_CALLS_FOLDER, 0777) < 0 && errno != EEXIST)
		return fah_fail_err(FAH_ERR_SYS, "cannot make the folder " FAH_CALLS_FOLDER);
	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d_%H%M%S", &tm);
	for (int i = 1; i < TRIES; i++) {
		snprintf(buf, cap, FAH_CALLS_FOLDER "/%.*s_%s", (int)n, name, stamp);
		if (i > 1)
			snprintf(buf + strlen(buf), cap - strlen(buf), "-%d", i);
		snprintf(path, sizeof(path), "%s.fah", buf);
		if (lstat(path, &st) < 0)
			return 0;
	}
	return fah_fail("calls: %s.fah is there already, and all like it", buf);
}

static int write_file(const char *path, const struct fah_exact *e)
{
	int err = fah_pstats_write(path, e);

	return err < 0 ? fah_fail_err(err, "cannot write %s", path) : 0;
}

static int print(const struct fah_calls_output *o, const struct fah_exact *e, const char *title)
{
	_cleanup_(fah_exact_done) struct fah_exact short_names;
	struct fah_pstats_options look = {
		.order = &o->order, .titles = &title, .n_titles = !!title};
	struct fah_exact_tree_look tree = {.utf8 = fah_term_utf8(), .floor = TREE_FLOOR};
	int err;

	fah_exact_init(&short_names);
	if (o->pretty) {
		if (title)
			printf("%s\n", title);
		err = fah_report_exact_tree(stdout, e, &tree);
	} else {
		err = fah_pstats_strip_dirs(e, &short_names);
		if (err == 0)
			err = fah_report_pstats(stdout, &short_names, &look);
	}
	if (err == 0 && fflush(stdout) == EOF)
		err = FAH_ERR_SYS;
	return err < 0 ? fah_fail_err(err, "calls") : 0;
}

/* The calls drawn, and shown in whatever shows pictures here. */
static int show_picture(const char *path, const struct fah_exact *e)
{
	_cleanup_(fah_callgraph_done) struct fah_callgraph graph = {0};
	struct fah_callgraph_wanted wanted = {.node_share = PICTURE_NODES,
					      .edge_share = PICTURE_EDGES};
	struct fah_dot_look look = {.strip = true};
	int err = fah_callgraph_init(&graph, e, &wanted);

	if (err < 0)
		return fah_fail_err(err, "calls: --vis");
	err = fah_graph_write(path, &graph, &look);
	return err ? err : fah_show_file(path);
}

/* pid: of the process among several, for its files' names; 0: there is only one. */
static int show(const struct fah_calls_output *o, const struct fah_exact *e, uint32_t pid,
		const char *title)
{
	char path[4352];
	int status = 0;

	if (o->saved) {
		if (pid)
			snprintf(path, sizeof(path), "%s.%u.prof", o->saved, pid);
		else
			snprintf(path, sizeof(path), "%s.prof", o->saved);
		status = write_file(path, e);
		if (!status)
			fprintf(stderr, "fixingahole: kept in %s\n", path);
	}
	if (o->picture && !pid)
		status = show_picture(o->picture, e);
	if (o->file) {
		if (pid)
			snprintf(path, sizeof(path), "%s.%u", o->file, pid);
		return status ? status : write_file(pid ? path : o->file, e);
	}
	return print(o, e, title) || status ? FAH_STATUS_USAGE : 0;
}

/* What the agents had to say. */
static void say_notes(const struct fah_profile *p)
{
	size_t n;
	const struct fah_process *processes = fah_profile_processes(p, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t v = processes[i].python_version;

		if (!*processes[i].reason)
			continue;
		fprintf(stderr, "fixingahole: process %u", processes[i].pid);
		if (v && processes[i].status == FAH_AGENT_REFUSED)
			fprintf(stderr, ", Python %u.%u.%u", v >> 24, v >> 16 & 255, v >> 8 & 255);
		fprintf(stderr, ": %s\n", processes[i].reason);
	}
}

static int show_one(const struct fah_calls_output *o, const struct fah_profile *p, uint32_t process)
{
	_cleanup_(fah_exact_done) struct fah_exact e;
	size_t n;
	const struct fah_process *processes = fah_profile_processes(p, &n);
	char title[256] = "";
	uint32_t pid = process == FAH_EXACT_ALL ? 0 : processes[process].pid;
	int err;

	fah_exact_init(&e);
	err = fah_exact_of(p, process, &e);
	if (err < 0)
		return fah_fail_err(err, "calls");
	if (pid)
		snprintf(title, sizeof(title), "process %u: %s", pid, processes[process].cmdline);
	return show(o, &e, pid, pid ? title : NULL);
}

int fah_calls_show(const struct fah_calls_output *o, const struct fah_profile *p)
{
	size_t n;
	int status = 0, one;

	fah_profile_processes(p, &n);
	say_notes(p);
	if (!fah_exact_has(p, FAH_EXACT_ALL))
		return fah_fail(
			"calls: no call of %s was told%s", o->script,
			n ? "" : ": no Python of it could be watched (" FAH_PYTHONS " is needed)");
	if (!o->per_process)
		return show_one(o, p, FAH_EXACT_ALL);
	for (uint32_t i = 0; i < n; i++) {
		one = fah_exact_has(p, i) ? show_one(o, p, i) : 0;
		status = status ? status : one;
	}
	return status;
}
