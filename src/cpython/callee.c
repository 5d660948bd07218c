/* callee.c - see callee.h. Names are those of 3.8 to 3.15. */
#include "cpython/callee.h"

#include <string.h>

/* Offsets in PyTypeObject, the same since 3.8. */
#define TP_DEALLOC 48
#define TP_CALL 128
#define TP_TRAVERSE 184
#define TP_CLEAR 192
#define TP_INIT 296
#define TP_ALLOC 304
#define TP_NEW 312
#define TP_FREE 320
#define TP_DEL 376
#define TP_FINALIZE 392
#define TP_END 512

const struct fah_py_known_slot fah_py_known_slots[] = {
	{"PyType_Type", TP_CALL, FAH_PY_ROLE_PASSES},
	{"PyFunction_Type", TP_CALL, FAH_PY_ROLE_PASSES},
	{"PyMethod_Type", TP_CALL, FAH_PY_ROLE_PASSES},
	{"PyBaseObject_Type", TP_INIT, FAH_PY_ROLE_PYTHON},
	{"PyBaseObject_Type", TP_NEW, FAH_PY_ROLE_PYTHON},
	/* of what calls themselves make and free */
	{"PyTuple_Type", TP_DEALLOC, FAH_PY_ROLE_FREES},
	{"PyDict_Type", TP_DEALLOC, FAH_PY_ROLE_FREES},
	{"PyFrame_Type", TP_DEALLOC, FAH_PY_ROLE_FREES},
	{"PyMethod_Type", TP_DEALLOC, FAH_PY_ROLE_FREES},
	{"PyLong_Type", TP_DEALLOC, FAH_PY_ROLE_FREES},
	{"PyFloat_Type", TP_DEALLOC, FAH_PY_ROLE_FREES},
	{"PyUnicode_Type", TP_DEALLOC, FAH_PY_ROLE_FREES},
	{"PyList_Type", TP_DEALLOC, FAH_PY_ROLE_FREES},
};
const size_t fah_py_n_known_slots = sizeof(fah_py_known_slots) / sizeof(fah_py_known_slots[0]);

struct named {
	const char *name; /* a '*' at the end: whatever follows */
	enum fah_py_role role;
};

static const struct named names[] = {
	{"PyObject_Vectorcall*", FAH_PY_ROLE_PASSES},
	{"_PyObject_Vectorcall*", FAH_PY_ROLE_PASSES},
	{"_PyObject_MakeTpCall", FAH_PY_ROLE_PASSES},
	{"PyObject_Call*", FAH_PY_ROLE_PASSES},
	{"_PyObject_Call*", FAH_PY_ROLE_PASSES},
	{"_PyObject_FastCall*", FAH_PY_ROLE_PASSES},
	{"PyVectorcall_Call", FAH_PY_ROLE_PASSES},
	{"_PyVectorcall_Call", FAH_PY_ROLE_PASSES},
	{"_Py_VectorCall*", FAH_PY_ROLE_PASSES}, /* 3.15 */
	{"_Py_BuiltinCallFast*", FAH_PY_ROLE_PASSES},
	{"_PyCallMethodDescriptor*", FAH_PY_ROLE_PASSES},
	{"_Py_CallBuiltinClass*", FAH_PY_ROLE_PASSES},
	{"call_function", FAH_PY_ROLE_PASSES}, /* up to 3.10 */
	{"trace_call_function", FAH_PY_ROLE_PASSES},
	{"do_call_core", FAH_PY_ROLE_PASSES},
	{"type_call", FAH_PY_ROLE_PASSES},
	{"method_call", FAH_PY_ROLE_PASSES},
	{"method_vectorcall", FAH_PY_ROLE_PASSES},
	{"function_call", FAH_PY_ROLE_PASSES},
	{"slot_*", FAH_PY_ROLE_PASSES},
	{"vectorcall_*", FAH_PY_ROLE_PASSES},
	{"call_method", FAH_PY_ROLE_PASSES},
	{"call_unbound*", FAH_PY_ROLE_PASSES},

	{FAH_PY_CALLS_PYTHON, FAH_PY_ROLE_PYTHON},
	{"_PyFunction_FastCall*", FAH_PY_ROLE_PYTHON},
	{"function_code_fastcall", FAH_PY_ROLE_PYTHON},
	{"_PyEval_*", FAH_PY_ROLE_PYTHON},
	{"_Py_CheckFunctionResult", FAH_PY_ROLE_PYTHON}, /* the last thing that a call does */
	{"PyType_GenericAlloc", FAH_PY_ROLE_PYTHON},
	{"object_new", FAH_PY_ROLE_PYTHON},
	{"object_init", FAH_PY_ROLE_PYTHON},
	{"subtype_dealloc", FAH_PY_ROLE_FREES},
	{"frame_dealloc", FAH_PY_ROLE_FREES},
	{"_Py_Dealloc", FAH_PY_ROLE_FREES},

	/* specialised instructions call these for str(), tuple(), isinstance(), len(), append() */
	{"PyObject_Str", FAH_PY_ROLE_C},
	{"PySequence_Tuple", FAH_PY_ROLE_C},
	{"PyObject_IsInstance", FAH_PY_ROLE_C},
	{"PyObject_Size", FAH_PY_ROLE_C},
	{"PyList_Append", FAH_PY_ROLE_C},
	{"_PyList_AppendTakeRef*", FAH_PY_ROLE_C},
	/* profile-guided builds call some of these by name */
	{"cfunction_vectorcall_*", FAH_PY_ROLE_C},
	{"cfunction_call*", FAH_PY_ROLE_C},
	{"PyCFunction_Call", FAH_PY_ROLE_C},
	{"method_vectorcall_*", FAH_PY_ROLE_C}, /* of a type's C functions, as str.join */
};

/* Up to what was put behind it. */
static size_t plain_len(const char *symbol)
{
	return strcspn(symbol, ".@");
}

static bool is_named(const struct named *n, const char *symbol, size_t len)
{
	size_t known = strlen(n->name);

	if (n->name[known - 1] == '*')
		return len >= known - 1 && !memcmp(symbol, n->name, known - 1);
	return len == known && !memcmp(symbol, n->name, len);
}

enum fah_py_role fah_py_role_of(const char *symbol)
{
	size_t len = symbol ? plain_len(symbol) : 0;

	if (!len)
		return FAH_PY_ROLE_UNKNOWN;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_named(&names[i], symbol, len))
			return names[i].role;
	return FAH_PY_ROLE_OTHER;
}

bool fah_py_slot_is_own(int32_t distance)
{
	static const int32_t own[] = {TP_TRAVERSE, TP_CLEAR, TP_ALLOC,
				      TP_FREE,	   TP_DEL,   TP_FINALIZE};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (distance == own[i])
			return true;
	return fah_py_slot_frees(distance);
}

bool fah_py_slot_frees(int32_t distance)
{
	return distance == TP_DEALLOC;
}

/* METH_VARARGS and the like: ten bits, and one that says how it is called, or none for old ones. */
bool fah_py_is_method_flags(uint64_t word)
{
	return word > 0 && word < 0x400;
}

/* The offset is an int, what stands beside it is anything. */
bool fah_py_is_slot_offset(uint64_t word)
{
	uint32_t offset = (uint32_t)word;

	return offset >= TP_DEALLOC && offset < 2 * TP_END && offset % 8 == 0;
}
