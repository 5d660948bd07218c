/*
 * python_end.c - the place in an interpreter's end at which recording ends.
 *
 * It takes time: whoever writes is waited for. There is one place where all threads can stand it,
 * when everything of the program's has run and the interpreter is being cleared, with the GIL held:
 * threads that want it wait, and end. Later they do not: the interpreter is freed, its GIL is open,
 * and a thread that comes back from C finds no interpreter behind it (10 of 200 programs with
 * running threads died of SIGSEGV on a busy machine when the wait was in a function of Py_AtExit);
 * then libraries free what is theirs (OpenSSL its locks: 4 of 60 died when it was in our own
 * destructor).
 */
#include "agent/agent.h"
#include "agent/hooks.h"
#include "agent/pyapi.h"

static void on_clear(fah_object *capsule)
{
	(void)capsule;
	fah_hooks_stop();
	fah_record_end();
}

/* Something of ours in the interpreter's own dict, which no Python code sees. */
static bool end_with_interpreter(void)
{
	static const char name[] = "fixingahole";
	fah_object *(*dict_of)(void *) =
		(fah_object * (*)(void *))(uintptr_t)fah_global("PyInterpreterState_GetDict");
	fah_object *(*new_capsule)(void *, const char *, void (*)(fah_object *)) =
		(fah_object * (*)(void *, const char *, void (*)(fah_object *)))(
			uintptr_t)fah_global("PyCapsule_New");
	fah_object *dict, *capsule;
	bool fresh, done;

	if (!dict_of || !new_capsule || !fah_pyapi_load())
		return false;
	dict = dict_of(fah_py.main_interpreter());
	if (!dict)
		return false;
	fresh = !fah_py.dict_size(dict);
	capsule = new_capsule(&fah_agent, name, on_clear);
	done = capsule && !fah_py.dict_set_text(dict, name, capsule);
	fah_py_drop(capsule);
	if (!done)
		fah_py.err_clear();
	if (fresh)
		fah_py.untrack(dict); /* as it was: gc.get_objects() has nothing of ours */
	return done;
}

void fah_python_end_early(void)
{
	int (*at_exit)(void (*)(void)) =
		(int (*)(void (*)(void)))(uintptr_t)fah_global("Py_AtExit");

	if (!end_with_interpreter() && at_exit)
		at_exit(fah_record_end);
}
