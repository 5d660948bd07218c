/*
 * python_check.c - before the first sample: does our walk say what the interpreter says?
 *
 * A small program is run with a C function at its end, through a lambda, `map` and a generator, so
 * that a boundary between eval loops and a generator's frame are on the stack. There the walk is
 * compared, frame by frame, with the interpreter's own frame objects: code object, names and line.
 * Any difference means that this build is not what we take it for. Runs once, with the GIL; not in
 * a handler.
 */
#include "agent/agent.h"
#include "agent/pyapi.h"

#include <string.h>

#define MAX_TABLE 4096
#define MAX_TEXT 64 /* longer than those of the program */

static const char program[] = "def generate(probe, items):\n"
			      "    yield from map(\n"
			      "        lambda item:\n"
			      "            probe(),\n"
			      "        items)\n"
			      "def outer(probe):\n"
			      "    for item in generate(probe, (1,)):\n"
			      "        return item\n";
#define EXPECTED_FRAMES 3
#define NAMES_ELSEWHERE "the interpreter's names are not where we look for them"
#define OTHER_TEXT "g\u00e9n\u00e9rer"

static const char *failure; /* set by the probe; NULL: all agreed */

/* The line of frame f by the line table of its code, or -1. */
static long our_line(const struct fah_py_frame *f)
{
	const struct fah_py_layout *layout = &fah_agent.layout;
	struct fah_py_position pos;
	struct fah_py_code code;
	uint8_t table[MAX_TABLE];
	uint64_t data;
	size_t len;

	if (fah_py_code_read(&fah_mem_self, layout, f->code, &code) < 0 ||
	    fah_py_bytes_span(&fah_mem_self, layout, code.linetable, sizeof(table), &data, &len) <
		    0 ||
	    fah_load(&fah_mem_self, data, table, len) < 0 ||
	    fah_py_position((enum fah_py_lines)layout->lines_kind, table, len, code.firstlineno,
			    f->instr, &pos) < 0)
		return -1;
	return pos.line;
}

/* Whether the str that we find at addr is text, which ends here. */
static bool is_text(fah_object *text, uint64_t addr)
{
	char ours[MAX_TEXT];
	ptrdiff_t len = 0;
	const char *theirs = text ? fah_py.str_as(text, &len) : NULL;
	int n = theirs ? fah_py_read_str(&fah_mem_self, &fah_agent.layout, addr, ours, MAX_TEXT)
		       : -1;
	bool same = n >= 0 && n < MAX_TEXT && n == len && !memcmp(ours, theirs, (size_t)n);

	fah_py_drop(text);
	return same;
}

static bool same_text(fah_object *code, const char *attribute, uint64_t addr)
{
	return is_text(fah_py.get_attr(code, attribute), addr);
}

/* The characters of a str that is not ASCII stand elsewhere in it. None of the program's own: for a
 * name of that kind the compiler imports unicodedata. */
static bool reads_other_text(void)
{
	fah_object *text = fah_py.str_from(OTHER_TEXT, sizeof(OTHER_TEXT) - 1);

	return is_text(text, (uint64_t)(uintptr_t)text);
}

static bool same_names(fah_object *code)
{
	const struct fah_py_layout *layout = &fah_agent.layout;
	struct fah_py_code ours;

	return fah_py_code_read(&fah_mem_self, layout, (uint64_t)(uintptr_t)code, &ours) == 0 &&
	       same_text(code, "co_name", ours.name) &&
	       same_text(code, "co_filename", ours.filename) &&
	       (layout->co_qualname == 0 || same_text(code, "co_qualname", ours.qualname));
}

static const char *compare_frame(fah_object *frame, const struct fah_py_frame *ours)
{
	fah_object *code = fah_py.get_attr(frame, "f_code"),
		   *line = fah_py.get_attr(frame, "f_lineno");
	const char *why = NULL;

	if (!code || !line)
		why = "the interpreter's frames could not be read";
	else if ((uint64_t)(uintptr_t)code != ours->code)
		why = "the interpreter's stack is not where we look for it";
	else if (!same_names(code))
		why = NAMES_ELSEWHERE;
	else if (fah_py.long_as(line) != our_line(ours))
		why = "the interpreter's line numbers differ from ours";
	if (code)
		fah_py.decref(code);
	if (line)
		fah_py.decref(line);
	return why;
}

static const char *compare_stack(const struct fah_py_walk *walk)
{
	const char *why = NULL;
	fah_object *frame = fah_py.frame(), *back; /* borrowed */
	uint32_t i;

	if (!frame)
		return "the interpreter shows no frame";
	if (!walk->leaf_call)
		return "the interpreter's instructions are not those we know";
	if (!reads_other_text())
		return NAMES_ELSEWHERE;
	fah_py.incref(frame);
	for (i = 0; frame && frame != fah_py.none && !why; i++) {
		why = i < walk->n_frames ? compare_frame(frame, &walk->frames[i])
					 : "the interpreter's stack is deeper than ours";
		back = fah_py.get_attr(frame, "f_back");
		fah_py.decref(frame);
		frame = back;
	}
	if (frame)
		fah_py.decref(frame);
	if (!why && (i != walk->n_frames || i < EXPECTED_FRAMES))
		why = "the interpreter's stack ends before ours";
	return why;
}

static fah_object *probe(fah_object *self, fah_object *args)
{
	struct fah_thread_state *t = fah_thread_current();
	uint64_t tstate = 0;

	(void)self;
	(void)args;
	failure = NULL;
	if (!t)
		failure = "no memory for the agent";
	else if (fah_py_find_thread(&fah_mem_self, &fah_agent.layout, fah_agent.runtime,
				    t->pthread_id, &tstate) < 0)
		failure = "the interpreter's thread state could not be found";
	else if (fah_py_walk_thread(&t->walk, &fah_mem_self, &fah_agent.layout, tstate) < 0)
		failure = "the interpreter's stack could not be walked";
	else
		failure = compare_stack(&t->walk);
	fah_py.incref(fah_py.none);
	return fah_py.none;
}

int fah_python_self_check(const char **ret_reason)
{
	static struct fah_method_def def = {"probe", (void (*)(void))probe, FAH_METH_NOARGS, NULL};
	fah_object *globals = NULL, *function = NULL, *result = NULL, *outer = NULL;

	failure = "the interpreter could not run the self-check";
	if (!fah_pyapi_load())
		goto out;
	globals = fah_py_run(program, "<fixingahole self-check>");
	function = fah_py.new_function(&def, NULL, NULL);
	if (globals)
		outer = fah_py.dict_get_text(globals, "outer");
	if (function && outer)
		result = fah_py.call_args(outer, function, NULL);
	if (!result)
		fah_py.err_clear();
	else
		fah_py.decref(result);
	if (function)
		fah_py.decref(function);
	fah_py_drop_globals(globals);
out:
	*ret_reason = failure;
	return failure ? FAH_ERR_MISMATCH : 0;
}
