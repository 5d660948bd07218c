/*
 * lines_start.c - begins to tell lines, where the tool asked for it; and what is chosen. With the
 * GIL; once, before the program runs.
 */
#include "agent/lines.h"

#include "agent/event_writer.h"

#include <string.h>

#define OPTIMIZED 1u /* co_flags: neither a module's code nor a class's */

bool fah_lines_choose(fah_object *code)
{
	bool is_new;
	struct fah_lined *l = fah_lined_add(code, &is_new);
	struct fah_thread_state *t;

	if (!l || !is_new)
		return l != NULL;
	/* now: at the end of the process its names may be gone */
	t = fah_event_writer();
	if (t) {
		l->id = fah_event_code_id(t, l->code, fah_lined_index(l));
		fah_writing_end();
	}
	return fah_lines_monitor_choose(code);
}

/* What line_profiler would take for a function: comprehensions are of the line that has them. */
static bool is_function(const char *name, uint32_t flags)
{
	if (!(flags & OPTIMIZED) || !strcmp(name, "__annotate__"))
		return false;
	return name[0] != '<' || !strcmp(name, "<lambda>");
}

bool fah_lines_is_wanted(fah_object *code)
{
	struct fah_thread_state *t = fah_event_reader();
	struct fah_py_described d;
	char *file, *name, *qualname;

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
	return (is_function(name, d.flags) || fah_lines_scope_spells(name)) &&
	       fah_lines_scope_has(file, d.n_qualname ? qualname : name, d.n_qualname > 0);
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
	fah_lines_clock_start();
	if (!fah_lines_monitor_start(&why)) {
		fah_lines_note(why);
		return;
	}
	atomic_store(&fah_lining.on, true);
	fah_lines_marks_install();
}
