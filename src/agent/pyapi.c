/* pyapi.c - see pyapi.h. */
#include "agent/pyapi.h"

#include "agent/agent.h"

#include <string.h>

struct fah_pyapi fah_py;

static const struct {
	const char *name;
	size_t at;
} wanted[] = {
#define API(field, name) \
	{ \
		name, offsetof(struct fah_pyapi, field) \
	}
	API(incref, "Py_IncRef"),
	API(decref, "Py_DecRef"),
	API(err_occurred, "PyErr_Occurred"),
	API(err_clear, "PyErr_Clear"),
	API(err_fetch, "PyErr_Fetch"),
	API(err_restore, "PyErr_Restore"),
	API(err_normalize, "PyErr_NormalizeException"),
	API(err_matches, "PyErr_ExceptionMatches"),
	API(set_interrupt, "PyErr_SetInterrupt"),
	API(exc_info, "PyErr_GetExcInfo"),
	API(long_as, "PyLong_AsLong"),
	API(long_from, "PyLong_FromLong"),
	API(str_from, "PyUnicode_FromStringAndSize"),
	API(str_as, "PyUnicode_AsUTF8AndSize"),
	API(encode, "PyUnicode_AsEncodedString"),
	API(compare, "PyUnicode_Compare"),
	API(format, "PyUnicode_Format"),
	API(bytes_as, "PyBytes_AsString"),
	API(bytes_size, "PyBytes_Size"),
	API(str, "PyObject_Str"),
	API(repr, "PyObject_Repr"),
	API(tuple_new, "PyTuple_New"),
	API(tuple_set, "PyTuple_SetItem"),
	API(tuple_get, "PyTuple_GetItem"),
	API(tuple_size, "PyTuple_Size"),
	API(list_new, "PyList_New"),
	API(list_get, "PyList_GetItem"),
	API(list_size, "PyList_Size"),
	API(dict_new, "PyDict_New"),
	API(dict_get, "PyDict_GetItem"),
	API(dict_get_text, "PyDict_GetItemString"),
	API(dict_set, "PyDict_SetItem"),
	API(dict_set_text, "PyDict_SetItemString"),
	API(dict_next, "PyDict_Next"),
	API(dict_size, "PyDict_Size"),
	API(dict_clear, "PyDict_Clear"),
	API(get_attr, "PyObject_GetAttrString"),
	API(dict_of, "PyObject_GenericGetDict"),
	API(is_true, "PyObject_IsTrue"),
	API(is_subtype, "PyType_IsSubtype"),
	API(is_number, "PyNumber_Check"),
	API(is_sequence, "PySequence_Check"),
	API(type_from, "PyType_FromSpec"),
	API(call, "PyObject_CallObject"),
	API(call_args, "PyObject_CallFunctionObjArgs"),
	API(new_function, "PyCFunction_NewEx"),
	API(untrack, "PyObject_GC_UnTrack"),
	API(compile, "Py_CompileString"),
	API(compile_as, "Py_CompileStringObject"),
	API(eval, "PyEval_EvalCode"),
	API(builtins, "PyEval_GetBuiltins"),
	API(frame, "PyEval_GetFrame"),
	API(sys_get, "PySys_GetObject"),
	API(module_dict, "PyModule_GetDict"),
	API(main_interpreter, "PyInterpreterState_Main"),
	API(none, "_Py_NoneStruct"),
	API(no, "_Py_FalseStruct"),
	API(t_str, "PyUnicode_Type"),
	API(t_int, "PyLong_Type"),
	API(t_float, "PyFloat_Type"),
	API(t_bool, "PyBool_Type"),
	API(t_bytes, "PyBytes_Type"),
	API(t_complex, "PyComplex_Type"),
	API(t_tuple, "PyTuple_Type"),
	API(t_list, "PyList_Type"),
	API(t_dict, "PyDict_Type"),
	API(t_object, "PyBaseObject_Type"),
	API(t_module, "PyModule_Type"),
	API(t_type, "PyType_Type"),
	API(t_code, "PyCode_Type"),
	API(t_function, "PyCFunction_Type"),
	API(e_base, "PyExc_BaseException"),
	API(e_exception, "PyExc_Exception"),
	API(e_interrupt, "PyExc_KeyboardInterrupt"),
#undef API
};

static void put(size_t at, void *value)
{
	*(void **)(void *)((char *)&fah_py + at) = value;
}

bool fah_pyapi_load(void)
{
	static enum { ASK, YES, NO } known;

	if (known != ASK)
		return known == YES;
	known = NO;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *found = fah_global(wanted[i].name);

		if (!found)
			return false;
		put(wanted[i].at, found);
	}
	put(offsetof(struct fah_pyapi, interpreter), fah_global("PyInterpreterState_Get"));
	if (!fah_py.interpreter) /* 3.8 */
		put(offsetof(struct fah_pyapi, interpreter), fah_global("_PyInterpreterState_Get"));
	put(offsetof(struct fah_pyapi, frame_code), fah_global("PyFrame_GetCode"));
	put(offsetof(struct fah_pyapi, thread), fah_global("PyThreadState_Get"));
	put(offsetof(struct fah_pyapi, enter_tracing), fah_global("PyThreadState_EnterTracing"));
	put(offsetof(struct fah_pyapi, leave_tracing), fah_global("PyThreadState_LeaveTracing"));
	/* objects of free-threaded builds are laid out in another way */
	if (fah_py.interpreter && fah_py_type(fah_py.t_int) == fah_py.t_type &&
	    !strcmp(fah_py_word(fah_py.t_int, FAH_TYPE_NAME), "int"))
		known = YES;
	return known == YES;
}

/* struct _ts of 3.8 and 3.9 */
#define THREAD_FRAME 24
#define THREAD_OVERFLOWED 36

unsigned char *fah_py_overflow_before(void)
{
	unsigned char *thread = NULL;

	if (fah_agent.python_version < 0x030a0000 && fah_py.thread)
		thread = fah_py.thread();
	if (!thread || *(fah_object **)(void *)(thread + THREAD_FRAME) != fah_py.frame())
		return NULL;
	return thread[THREAD_OVERFLOWED] ? NULL : thread + THREAD_OVERFLOWED;
}

void fah_py_overflow_after(unsigned char *flag)
{
	if (flag)
		*flag = 0;
}

void fah_py_drop(fah_object *o)
{
	if (o)
		fah_py.decref(o);
}

fah_object *fah_py_module(const char *name)
{
	fah_object *modules = fah_py.sys_get("modules"), *module = NULL;

	if (modules && fah_py_type(modules) == fah_py.t_dict)
		module = fah_py.dict_get_text(modules, name);
	return module && fah_py.is_subtype(fah_py_type(module), fah_py.t_module) ? module : NULL;
}

fah_object *fah_py_global(const char *module, const char *name)
{
	fah_object *found = fah_py_module(module);

	return found ? fah_py.dict_get_text(fah_py.module_dict(found), name) : NULL;
}

fah_object *fah_py_run(const char *program, const char *name)
{
	fah_object *code = fah_py.compile(program, name, FAH_PY_FILE_INPUT), *done = NULL;
	fah_object *globals = fah_py.dict_new();

	if (code && globals &&
	    fah_py.dict_set_text(globals, "__builtins__", fah_py.builtins()) == 0)
		done = fah_py.eval(code, globals, globals);
	fah_py_drop(code);
	if (done) {
		fah_py.decref(done);
		return globals;
	}
	fah_py.err_clear();
	fah_py_drop_globals(globals);
	return NULL;
}

void fah_py_drop_globals(fah_object *globals)
{
	if (!globals)
		return;
	fah_py.dict_clear(globals); /* its functions hold it */
	fah_py.decref(globals);
}
