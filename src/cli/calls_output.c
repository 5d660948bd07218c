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

/* Is there no file yet that begins so? */
static bool is_free(const char *start)
{
	static const char *const endings[] = {".fah", ".prof", ".svg"};
	char path[FAH_CALLS_PATH_MAX + 8];
	struct stat st;

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", start, endings[i]);
		if (lstat(path, &st) == 0)
			return false;
	}
	return true;
}

int fah_calls_keep(const char *script, char *buf, size_t cap)
{
	const char *name = fah_basename(script);
	size_t n = strlen(name);
	time_t now = time(NULL);
	char stamp[32];
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
		if (is_free(buf))
			return 0;
	}
	return fah_fail("calls: %s.* is there already, and all like it", buf);
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

static int draw(const char *path, const struct fah_exact *e)
{
	_cleanup_(fah_callgraph_done) struct fah_callgraph graph = {0};
	struct fah_callgraph_wanted wanted = {.node_share = PICTURE_NODES,
					      .edge_share = PICTURE_EDGES};
	struct fah_dot_look look = {.strip = true};
	int err = fah_callgraph_init(&graph, e, &wanted);

	if (err < 0)
		return fah_fail_err(err, "calls: --vis");
	return fah_graph_write(path, &graph, &look);
}

/* first: a picture is opened; of any more there are only told the names, for there may be hundreds.
 */
static int show_picture(const char *path, const struct fah_exact *e, bool first)
{
	int status = draw(path, e);

	if (status || first)
		return status ? status : fah_show_file(path);
	fprintf(stderr, "fixingahole: drawn in %s\n", path);
	return 0;
}

/* A process among several; pid 0: there is only one, or all are one. */
struct part {
	uint32_t pid;
	bool first;
	const char *title;
};

/* The name of a part's file: <start>[.PID]<ending>. */
static const char *name_file(const char *start, uint32_t pid, const char *ending, char *buf,
			     size_t cap)
{
	if (pid)
		snprintf(buf, cap, "%s.%u%s", start, pid, ending);
	else
		snprintf(buf, cap, "%s%s", start, ending);
	return buf;
}

/* All that is wanted of a part; what fails keeps nothing else back. */
static int show(const struct fah_calls_output *o, const struct fah_exact *e,
		const struct part *part)
{
	char path[4352];
	bool failed = false;

	if (o->save) {
		name_file(o->kept, part->pid, ".prof", path, sizeof(path));
		if (write_file(path, e))
			failed = true;
		else
			fprintf(stderr, "fixingahole: kept in %s\n", path);
	}
	if (o->file && write_file(name_file(o->file, part->pid, "", path, sizeof(path)), e))
		failed = true;
	if (o->picture &&
	    show_picture(name_file(o->kept, part->pid, ".svg", path, sizeof(path)), e, part->first))
		failed = true;
	if ((!o->quiet || o->pretty) && print(o, e, part->title))
		failed = true;
	return failed ? FAH_STATUS_USAGE : 0;
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

static int show_one(const struct fah_calls_output *o, const struct fah_profile *p, uint32_t process,
		    bool first)
{
	_cleanup_(fah_exact_done) struct fah_exact e;
	size_t n;
	const struct fah_process *processes = fah_profile_processes(p, &n);
	char title[256] = "";
	struct part part = {.first = first};
	int err;

	fah_exact_init(&e);
	err = fah_exact_of(p, process, &e);
	if (err < 0)
		return fah_fail_err(err, "calls");
	if (process != FAH_EXACT_ALL) {
		part.pid = processes[process].pid;
		part.title = title;
		snprintf(title, sizeof(title), "process %u: %s", part.pid,
			 processes[process].cmdline);
	}
	return show(o, &e, &part);
}

int fah_calls_show(const struct fah_calls_output *o, const struct fah_profile *p)
{
	size_t n, shown = 0;
	int status = 0, one;

	fah_profile_processes(p, &n);
	say_notes(p);
	if (!fah_exact_has(p, FAH_EXACT_ALL))
		return fah_fail(
			"calls: no call of %s was told%s", o->script,
			n ? "" : ": no Python of it could be watched (" FAH_PYTHONS " is needed)");
	if (o->quiet && !o->pretty && !o->file && !o->save && !o->picture)
		return 0; /* the capture is all */
	if (!o->per_process)
		return show_one(o, p, FAH_EXACT_ALL, true);
	for (uint32_t i = 0; i < n; i++) {
		if (!fah_exact_has(p, i))
			continue;
		one = show_one(o, p, i, shown++ == 0);
		status = status ? status : one;
	}
	return status;
}
