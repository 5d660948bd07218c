/* graph_file.c - see graph_file.h. */
#include "cli/graph_file.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/number.h"
#include "base/path.h"
#include "capture/format.h"
#include "cli/cli.h"
#include "core/err.h"
#include "import/callgraph.h"
#include "import/pstats.h"
#include "model/exact_stacks.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX ((size_t)1 << 32)

static bool is_pstats(const char *text, size_t len)
{
	return fah_pstats_is_likely(text, len);
}

static int read_pstats(const char *text, size_t len, struct fah_graph_file *to,
		       struct fah_import_error *error)
{
	return fah_pstats_parse(text, len, &to->exact);
}

static int read_folded(const char *text, size_t len, struct fah_graph_file *to,
		       struct fah_import_error *error)
{
	return fah_import_folded(text, len, &to->exact, error);
}

static int read_callgrind(const char *text, size_t len, struct fah_graph_file *to,
			  struct fah_import_error *error)
{
	return fah_import_callgrind(text, len, &to->exact, &to->whole, error);
}

/* In the order in which they are tried: almost any text could be folded stacks. */
static const struct format {
	const char *name;
	const char *alias; /* as others call it; NULL: none */
	bool (*is_likely)(const char *text, size_t len);
	int (*read)(const char *text, size_t len, struct fah_graph_file *to,
		    struct fah_import_error *error);
} formats[] = {
	{"pstats", NULL, is_pstats, read_pstats},
	{"callgrind", NULL, fah_import_is_callgrind, read_callgrind},
	{"folded", "collapse", fah_import_is_folded, read_folded},
	{0},
};

static const struct format *find_format(const char *name)
{
	for (const struct format *f = formats; f->name; f++)
		if (!strcmp(f->name, name) || (f->alias && !strcmp(f->alias, name)))
			return f;
	return NULL;
}

static const struct format *guess_format(const char *text, size_t len)
{
	for (const struct format *f = formats; f->name; f++)
		if (f->is_likely(text, len))
			return f;
	return NULL;
}

/* A folder of a run, a name that only captures have, or a file that begins as one. */
static bool is_capture(const char *path)
{
	_cleanup_(fah_closep) int fd = -1;
	char head[sizeof(FAH_CAPTURE_MAGIC) - 1];
	struct stat st;

	if (fah_path_ends(path, ".fah") || fah_path_ends(path, ".partial"))
		return true;
	if (stat(path, &st) < 0)
		return false;
	if (S_ISDIR(st.st_mode))
		return true;
	if (!S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
	       !memcmp(head, FAH_CAPTURE_MAGIC, sizeof(head));
}

/* What `calls` recorded: times and numbers of calls as they were. */
static int draw_calls(struct fah_graph_file *ret)
{
	struct fah_exact_times whole;
	int err = fah_exact_of(ret->opened.profile, FAH_EXACT_ALL, &ret->exact);

	whole = fah_exact_whole(&ret->exact);
	if (err == 0 &&
	    asprintf(&ret->title, "%s calls in %s of %s", fah_num_count(whole.calls).s,
		     fah_num_seconds(whole.self_s).s, fah_basename(ret->opened.path)) < 0)
		ret->title = NULL;
	return err;
}

static int draw_samples(struct fah_graph_file *ret, const struct fah_view *view)
{
	const struct fah_totals *totals = fah_profile_totals(ret->opened.profile);
	int err = fah_stacks_new(ret->opened.profile, view, &ret->stacks);

	if (err == 0)
		err = fah_exact_of_view(&ret->exact, ret->stacks);
	ret->whole = totals->wall_s;
	if (err == 0 &&
	    asprintf(&ret->title, "%s of %s, %s samples: shares are within %.1f points (95%%)%s",
		     fah_num_seconds(totals->wall_s).s, fah_basename(ret->opened.path),
		     fah_num_count(totals->samples).s, totals->interval_points,
		     totals->complete ? "" : "; the recording was cut") < 0)
		ret->title = NULL;
	return err;
}

static int open_capture(struct fah_graph_file *ret, const char *argument,
			const struct fah_view *view)
{
	int err, status = fah_open_capture_time(&ret->opened, "graph", argument);

	if (status)
		return status;
	err = fah_exact_has(ret->opened.profile, FAH_EXACT_ALL) ? draw_calls(ret)
								: draw_samples(ret, view);
	ret->folder = fah_profile_meta(ret->opened.profile, "root");
	return err < 0 ? fah_fail_err(err, "graph: %s", ret->opened.path) : 0;
}

static int open_other(struct fah_graph_file *ret, const char *name, const char *argument)
{
	_cleanup_(fah_freep) char *text = NULL;
	struct fah_import_error error = {0};
	const struct format *format = name ? find_format(name) : NULL;
	size_t len;
	int err;

	if (name && !format)
		return fah_fail("graph: there is no format '%s'; there are pstats, callgrind and "
				"folded; captures need none",
				name);
	err = fah_file_read(strcmp(argument, "-") != 0 ? argument : "/dev/stdin", FILE_MAX, &text,
			    &len);
	if (err < 0)
		return fah_fail_err(err, "graph: %s", argument);
	if (!format)
		format = guess_format(text, len);
	if (!format)
		return fah_fail("graph: %s: neither a capture nor stats of Python's nor a file of "
				"callgrind's nor folded stacks; -f says which it is",
				argument);
	err = format->read(text, len, ret, &error);
	if (err == FAH_ERR_FORMAT && error.line)
		return fah_fail("graph: %s: line %zu: %s (read as %s)", argument, error.line,
				error.text, format->name);
	if (err == FAH_ERR_FORMAT && error.text)
		return fah_fail("graph: %s: %s (read as %s)", argument, error.text, format->name);
	if (err == FAH_ERR_FORMAT)
		return fah_fail("graph: %s: not a file of %s", argument, format->name);
	if (err == FAH_ERR_DAMAGED || err == FAH_ERR_RANGE)
		return fah_fail("graph: %s: the file is cut or damaged (read as %s)", argument,
				format->name);
	return err < 0 ? fah_fail_err(err, "graph: %s", argument) : 0;
}

int fah_graph_open(struct fah_graph_file *ret, const char *format, const char *argument,
		   const struct fah_view *view)
{
	int status;

	fah_exact_init(&ret->exact);
	if (getcwd(ret->cwd, sizeof(ret->cwd)))
		ret->folder = ret->cwd;
	status = !format && is_capture(argument) ? open_capture(ret, argument, view)
						 : open_other(ret, format, argument);
	if (!status && !ret->exact.n_functions)
		return fah_fail("graph: %s: there is no function in it", argument);
	return status;
}

void fah_graph_release(struct fah_graph_file *g)
{
	fah_exact_done(&g->exact);
	fah_stacks_free(g->stacks);
	fah_opened_release(&g->opened);
	free(g->title);
	*g = (struct fah_graph_file){0};
}
