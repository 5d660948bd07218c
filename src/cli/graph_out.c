/*
 * graph_out.c - see graph_out.h. No shell has a part in it: Graphviz reads the text from a file in
 * memory and writes to the output's own descriptor; what it has to say goes to our stderr.
 */
#include "cli/graph_out.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/invoke.h"
#include "core/err.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct ending {
	const char *end;
	const char *kind; /* as dot is asked for it; NULL: its input */
} endings[] = {{".dot", NULL}, {".gv", NULL}, {".svg", "-Tsvg"}, {".png", "-Tpng"}, {0}};

static bool is_stdout(const char *path)
{
	return !path || !strcmp(path, "-");
}

static const struct ending *ending_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	for (const struct ending *e = endings; e->end && dot && dot > path; e++)
		if (!strcasecmp(dot, e->end) && dot[-1] != '/')
			return e;
	return NULL;
}

int fah_graph_check_output(const char *path)
{
	char program[PATH_MAX];
	const struct ending *e;

	if (is_stdout(path))
		return 0;
	e = ending_of(path);
	if (!e)
		return fah_fail("graph: -o %s: the name ends in none of .dot, .svg, .png; for "
				"others: fixingahole graph ... | dot -Tpdf -o x.pdf",
				path);
	if (e->kind && !fah_invoke_on_path("dot", program, sizeof(program)))
		return fah_fail("graph: -o %s: pictures are made by Graphviz, which is not here: "
				"apt install graphviz; or write the text with -o x.dot",
				path);
	return 0;
}

/* Its exit status as of waitpid; -1: it could not be started. */
static int run_dot(const char *kind, int in, int out)
{
	char program[PATH_MAX];
	int status = -1;
	pid_t pid;

	if (!fah_invoke_on_path("dot", program, sizeof(program)))
		return -1;
	pid = fork();
	if (pid == 0) {
		char *argv[] = {program, (char *)(uintptr_t)kind, NULL};

		if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
			execv(program, argv);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static int draw(const char *path, const char *kind, const struct fah_callgraph *g,
		const struct fah_dot_look *look)
{
	_cleanup_(fah_outfile_abort) struct fah_outfile of = {0};
	_cleanup_(fah_fclosep) FILE *text = NULL;
	int fd = memfd_create("graph.dot", MFD_CLOEXEC), err, status;

	text = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!text) {
		if (fd >= 0)
			close(fd);
		return fah_fail_err(FAH_ERR_SYS, "graph");
	}
	err = fah_dot_write(text, g, look);
	if (err == 0 && lseek(fd, 0, SEEK_SET) < 0)
		err = FAH_ERR_SYS;
	if (err < 0)
		return fah_fail_err(err, "graph");
	err = fah_outfile_open(&of, path);
	if (err < 0)
		return fah_fail_err(err, "graph: %s", path);
	status = run_dot(kind, fd, fileno(of.f));
	if (status != 0)
		return fah_fail("graph: %s: Graphviz's dot failed (%s %d); the text it got is what "
				"-o x.dot writes",
				path, WIFSIGNALED(status) ? "signal" : "status",
				WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	err = fah_outfile_commit(&of);
	return err < 0 ? fah_fail_err(err, "graph: %s", path) : FAH_STATUS_OK;
}

static int write_text(const char *path, const struct fah_callgraph *g,
		      const struct fah_dot_look *look)
{
	_cleanup_(fah_outfile_abort) struct fah_outfile of = {0};
	int err = fah_outfile_open(&of, path);

	if (err == 0)
		err = fah_dot_write(of.f, g, look);
	if (err == 0)
		err = fah_outfile_commit(&of);
	return err < 0 ? fah_fail_err(err, "graph: %s", path) : FAH_STATUS_OK;
}

int fah_graph_write(const char *path, const struct fah_callgraph *g,
		    const struct fah_dot_look *look)
{
	const struct ending *e;
	int err;

	if (is_stdout(path)) {
		err = fah_dot_write(stdout, g, look);
		return err < 0 ? fah_fail_err(err, "graph: stdout") : FAH_STATUS_OK;
	}
	e = ending_of(path);
	return e && e->kind ? draw(path, e->kind, g, look) : write_text(path, g, look);
}
