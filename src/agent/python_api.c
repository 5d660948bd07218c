/* python_api.c - see python_api.h. */
#include "agent/python_api.h"

#include "agent/agent.h"

#include <string.h>

struct fah_python_api fah_py_api;

bool fah_python_api_load(void)
{
	struct fah_python_api *py = &fah_py_api;
	const struct {
		const char *name;
		void *slot;
	} wanted[] = {
		{"Py_CompileString", &py->CompileString},
		{"PyEval_EvalCode", &py->EvalCode},
		{"PyEval_GetBuiltins", &py->GetBuiltins},
		{"PyDict_New", &py->DictNew},
		{"PyDict_SetItemString", &py->DictSet},
		{"PyDict_GetItemString", &py->DictGet},
		{"PyDict_Clear", &py->DictClear},
		{"PyCFunction_NewEx", &py->NewFunction},
		{"PyObject_CallFunctionObjArgs", &py->CallArgs},
		{"PyEval_GetFrame", &py->GetFrame},
		{"PyObject_GetAttrString", &py->GetAttr},
		{"PySys_GetObject", &py->SysGet},
		{"PyLong_FromLong", &py->FromLong},
		{"PyUnicode_FromString", &py->FromText},
		{"PyLong_AsLong", &py->AsLong},
		{"PyThreadState_Get", &py->ThreadState},
		{"PyObject_GC_UnTrack", &py->Untrack},
		{"PyErr_Clear", &py->ErrClear},
		{"Py_IncRef", &py->IncRef},
		{"Py_DecRef", &py->DecRef},
		{"_Py_NoneStruct", &py->none},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *p = fah_global(wanted[i].name);

		if (!p)
			return false;
		memcpy(wanted[i].slot, &p, sizeof(p));
	}
	return true;
}

fah_object *fah_python_api_run(const char *program, const char *name)
{
	const struct fah_python_api *py = &fah_py_api;
	fah_object *code = py->CompileString(program, name, FAH_FILE_INPUT), *done = NULL;
	fah_object *globals = py->DictNew();

	if (code && globals && py->DictSet(globals, "__builtins__", py->GetBuiltins()) == 0)
		done = py->EvalCode(code, globals, globals);
	if (code)
		py->DecRef(code);
	if (done) {
		py->DecRef(done);
		return globals;
	}
	py->ErrClear();
	fah_python_api_drop(globals);
	return NULL;
}

void fah_python_api_drop(fah_object *globals)
{
	if (!globals)
		return;
	fah_py_api.DictClear(globals); /* its functions hold it */
	fah_py_api.DecRef(globals);
}
