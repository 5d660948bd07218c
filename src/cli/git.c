/* git.c - see git.h. */
#include "cli/git.h"

#include "base/cleanup.h"
#include "cli/invoke.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX ((size_t)1 << 20) /* of a working copy that is all changed, enough to tell */

static void exec_git(const char *git, const char *folder, const char *const *words, int out)
{
	const char *argv[16] = {git, "-C", folder, "-c", "core.fsmonitor=false"};
	int n = 5, null = open("/dev/null", O_RDWR | O_CLOEXEC);

	while (n < 15 && *words)
		argv[n++] = *words++;
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	setenv("GIT_OPTIONAL_LOCKS", "0", 1); /* status writes to the index otherwise */
	execv(git, (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* What git prints, without its last newline; nothing where it failed. */
static bool ask(struct fah_strbuf *to, const char *git, const char *folder,
		const char *const *words)
{
	int fds[2], status = -1;
	ssize_t got;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		exec_git(git, folder, words, fds[1]);
	close(fds[1]);
	while (pid > 0) {
		char buf[4096];

		got = read(fds[0], buf, sizeof(buf));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		if (to->len + (size_t)got <= OUTPUT_MAX)
			fah_strbuf_add(to, buf, (size_t)got);
	}
	close(fds[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) || to->failed) {
		fah_strbuf_truncate(to, 0);
		return false;
	}
	if (to->len && to->p[to->len - 1] == '\n')
		fah_strbuf_truncate(to, to->len - 1);
	return true;
}

/* "XY NAME", each with a NUL behind it; names with a newline in them cannot stand one a line and
 * are left out. */
static void add_names(struct fah_strbuf *to, const struct fah_strbuf *from)
{
	for (size_t i = 0; i < from->len; i += strlen(from->p + i) + 1) {
		const char *name = from->p + i + 3;

		if (strlen(from->p + i) <= 3 || strchr(name, '\n'))
			continue;
		if (to->len)
			fah_strbuf_addc(to, '\n');
		fah_strbuf_adds(to, name);
	}
}

void fah_git_read(struct fah_git *g, const char *folder)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf names = FAH_STRBUF_INIT;
	char git[4096];

	*g = (struct fah_git){0};
	if (!fah_invoke_on_path("git", git, sizeof(git)) ||
	    !ask(&g->commit, git, folder, (const char *const[]){"rev-parse", "HEAD", NULL}))
		return;
	ask(&g->branch, git, folder,
	    (const char *const[]){"symbolic-ref", "--quiet", "--short", "HEAD", NULL});
	if (ask(&names, git, folder,
		(const char *const[]){"status", "--porcelain", "-z", "--no-renames",
				      "--untracked-files=normal", NULL}))
		add_names(&g->dirty, &names);
}

void fah_git_release(struct fah_git *g)
{
	fah_strbuf_release(&g->commit);
	fah_strbuf_release(&g->branch);
	fah_strbuf_release(&g->dirty);
}
