/* export.h - what commands that export share: what to show, where from, where to. */
#ifndef FAH_CLI_EXPORT_H
#define FAH_CLI_EXPORT_H

#include "cli/cli.h"
#include "cli/open.h"
#include "export/export.h"

/* For a command's table of options, and their ids. */
enum {
	FAH_OPT_NATIVE = 100,
	FAH_OPT_THREADS,
	FAH_OPT_GIL,
	FAH_OPT_IDLE,
	FAH_OPT_FUNCTION,
	FAH_OPT_ONLY,
	FAH_OPT_BUSY,
	FAH_OPT_LINES,
	FAH_OPT_SUBPROCESSES,
	FAH_OPT_MEMORY,
};
/* clang-format off */
#define FAH_VIEW_FRAMES \
	{FAH_OPT_NATIVE, "native", "n", NULL, "show native frames, between Python's"}, \
	{FAH_OPT_THREADS, "threads", "t", NULL, \
	 "stacks begin with their thread, which then has its own time"}, \
	{FAH_OPT_SUBPROCESSES, "subprocesses", "s", NULL, \
	 "stacks begin with their process; children are shown without it too"}, \
	{FAH_OPT_GIL, "gil", "g", NULL, "only where the thread held the interpreter's lock"}, \
	{FAH_OPT_ONLY, "only", NULL, "FUNC", \
	 "only what runs below this function: name, Class.name, file.py:name"}
#define FAH_VIEW_OPTIONS \
	FAH_VIEW_FRAMES, \
	{FAH_OPT_IDLE, "idle", "i", NULL, "also where threads waited, and what for"}, \
	{FAH_OPT_FUNCTION, "function", "F", NULL, "frames by function, not by line (of one function: --only)"}
/* Of views for people, which show all of the run's time, by function, unless they are asked not to:
 * they begin with FAH_TREE_INIT. */
#define FAH_TREE_OPTIONS \
	FAH_VIEW_FRAMES, \
	{FAH_OPT_BUSY, "busy", "b", NULL, "without the time in which threads waited"}, \
	{FAH_OPT_LINES, "lines", "l", NULL, "calls are told apart by line, not only by function"}
/* Of commands that read a capture: see fah_view_memory. */
#define FAH_MEMORY_WHICH "[=peak|live|temporary|total]"
#define FAH_MEMORY_VIEW \
	{FAH_OPT_MEMORY, "memory", "m", FAH_MEMORY_WHICH, \
	 "bytes, not time: at the peak (default), live at exit, ..."}
/* clang-format on */

/* How a view begins, before options: frames by line. */
#define FAH_VIEW_INIT \
	{ \
		.lines = true \
	}
#define FAH_TREE_INIT \
	{ \
		.idle = true \
	}
/* One of the above, with args->value: false where it is none of them. */
bool fah_view_option(struct fah_view *view, int option, const char *value);

/* --memory[=WHICH]; value may be NULL. 0, or an exit status after printing one line. */
int fah_view_memory(struct fah_view *view, const char *command, const char *value);
/* As fah_open_capture, with what the view wants to see. A view of memory of a capture that has none
 * is an error. */
int fah_open_view(struct fah_opened *ret, const char *command, const char *argument,
		  const struct fah_view *view);

/* The line for FAH_ERR_USAGE of fah_stacks_new: view->only is the name of nothing. */
int fah_fail_only(const struct fah_view *view);

/*
 * The format that -f names or else that out's name ends with; NULL after printing one line that
 * lists them. Either may be NULL. command stands in the message.
 */
const struct fah_export *fah_export_choose(const char *command, const char *format,
					   const char *out);

/*
 * Write the profile to out: NULL or "-": stdout; else a regular file, replaced when all is written.
 * What is missing of the capture is said in words; with view->only, that part's samples, share and
 * interval as well. 0, or an exit status after printing one line.
 */
int fah_export_to(const struct fah_opened *s, const struct fah_export *format,
		  const struct fah_view *view, const char *out, FILE *words);

#endif
