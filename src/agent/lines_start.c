/*
 * lines_start.c - begins to tell lines, where the tool asked for it; and what is chosen. With the
 * GIL; once, before the program runs.
 */
#include "agent/lines.h"

#include "agent/event_writer.h"
#include "core/sys.h"

#include <string.h>

#define OPTIMIZED 1u /* co_flags: neither a module's code nor a class's */

/* Now: at the end of the process its names may be gone. */
void fah_lines_tell(struct fah_lined *l)
{
	struct fah_thread_state *t = l->id ? NULL : fah_event_writer();

	if (t) {
		l->id = fah_event_code_id(t, l->code, fah_lined_index(l));
		fah_event_writer_end();
	}
	fah_lined_told(l);
}

bool fah_lines_choose(fah_object *code, bool marked)
{
	bool is_new;
	struct fah_lined *l = fah_lined_add(code, &is_new);

	if (!l)
		return false;
	l->marked |= marked;
	fah_lines_tell(l);
	return !is_new || fah_lines_listen(code, true);
}

bool fah_lines_listen(fah_object *code, bool wanted)
{
	if (!fah_lining.traced)
		return fah_lines_monitor_listen(code, wanted);
	fah_lines_trace_set(wanted);
	return true;
}

bool fah_lines_watches(void)
{
	return fah_lining.traced && atomic_load(&fah_lining.on);
}

/* What line_profiler would take for a function: comprehensions are of the line that has them. */
static bool is_function(const char *name, uint32_t flags)
{
	if (!(flags & OPTIMIZED) || !strcmp(name, "__annotate__"))
		return false;
	return name[0] != '<' || !strcmp(name, "<lambda>");
}

/* As the command line or an entry of sys.path had it, before 3.9: below the folder where the
 * program began. */
static const char *absolute(const char *file)
{
	static char path[2 * FAH_PATH_MAX];
	static size_t len;
	size_t n;

	if (file[0] == '/' || file[0] == '<')
		return file;
	if (!len) {
		long got = FAH_SYS2(SYS_getcwd, path, FAH_PATH_MAX - 1);

		len = got > 0 ? (size_t)got - 1 : 0; /* with its NUL */
		path[len++] = '/';
	}
	file += !strncmp(file, "./", 2) ? 2 : 0;
	n = strlen(file);
	memcpy(path + len, file, n < FAH_PATH_MAX ? n + 1 : 0);
	return n < FAH_PATH_MAX ? path : file;
}

static bool ends_with(const char *text, size_t n, const char *end)
{
	size_t m = strlen(end);

	return n >= m && !memcmp(text + n - m, end, m);
}

bool fah_lines_is_wanted(fah_object *code, bool *ret_marks)
{
	struct fah_thread_state *t = fah_event_reader();
	struct fah_py_described d;
	char *file, *name, *qualname;

	*ret_marks = false;
	if (fah_py_describe(&t->mem, &fah_agent.layout, (uint64_t)(uintptr_t)code, (char *)t->text,
			    &d) < 0 ||
	    d.n_file + d.n_name + d.n_qualname + 3 > sizeof(t->text))
		return false;
	/* they stand behind one another: ends between them */
	file = (char *)t->text;
	qualname = file + d.n_file + d.n_name + 2;
	memmove(qualname, file + d.n_file + d.n_name, d.n_qualname);
	qualname[d.n_qualname] = 0;
	name = file + d.n_file + 1;
	memmove(name, file + d.n_file, d.n_name);
	name[d.n_name] = 0;
	file[d.n_file] = 0;
	*ret_marks = !strcmp(qualname, "GlobalProfiler.__call__") &&
		     ends_with(file, d.n_file, "/line_profiler/explicit_profiler.py");
	return fah_lines_scope_any() &&
	       (is_function(name, d.flags) || fah_lines_scope_spells(name)) &&
	       fah_lines_scope_has(absolute(file), d.n_qualname ? qualname : name,
				   d.n_qualname > 0);
}

void fah_lines_start(void)
{
	const char *why = NULL;

	if (!fah_lines_scope_read())
		return;
	if (!fah_pyapi_load() || !fah_event_writer_setup() || fah_lined_setup() < 0) {
		fah_lines_note("no memory for the agent's tables");
		return;
	}
	fah_event_clock_start();
	fah_lining.called = fah_lines_scope_called();
	fah_lining.traced = fah_agent.python_version < 0x030c0000;
	if (fah_lining.traced ? !fah_lines_trace_start(&why) : !fah_lines_monitor_start(&why)) {
		fah_lines_note(why);
		return;
	}
	fah_lined_keep();
	atomic_store(&fah_lining.on, true);
	fah_lines_marks_install();
}
