/*
 * callee.h - which functions of the interpreter only pass a call on, which run Python for it, and
 * which are C functions that Python code has called. By their names, and by where the interpreter
 * keeps their addresses.
 */
#ifndef FAH_CPYTHON_CALLEE_H
#define FAH_CPYTHON_CALLEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fah_py_role {
	FAH_PY_ROLE_UNKNOWN, /* it has no name */
	FAH_PY_ROLE_OTHER,   /* a name that says nothing: a helper, or the work of a C function */
	FAH_PY_ROLE_PASSES,  /* calls what it is given, be that Python or C */
	FAH_PY_ROLE_PYTHON,  /* begins or ends a call of Python code, makes or frees objects */
	FAH_PY_ROLE_FREES,   /* likewise: frees an object */
	FAH_PY_ROLE_C,	     /* what Python code has called */
};

/* symbol may have what compilers and stubs put behind a name (".part.0", "@plt"); NULL: none. */
enum fah_py_role fah_py_role_of(const char *symbol);

/* A call through the word at this distance from a type is no call of the program's: the object is
 * made, freed or looked at by the garbage collector. */
bool fah_py_slot_is_own(int32_t distance);
bool fah_py_slot_frees(int32_t distance);

/* Functions whose addresses tell those of others: data at symbol + distance. */
struct fah_py_known_slot {
	const char *symbol;
	uint32_t distance;
	enum fah_py_role role;
};
extern const struct fah_py_known_slot fah_py_known_slots[];
extern const size_t fah_py_n_known_slots;

/* The function that puts the address of bound methods' own call into each. */
#define FAH_PY_MAKES_METHODS "PyMethod_New"
/* What calls a function of Python, and what it goes on to. */
#define FAH_PY_CALLS_PYTHON "_PyFunction_Vectorcall"

/*
 * Tables that the interpreter's data has, as four words, addresses among them told apart by the
 * caller. A PyMethodDef: the name, the C function, flags, a text or nothing. A slot that classes
 * written in Python have: the name, an offset, the function that calls Python, its wrapper.
 */
#define FAH_PY_TABLE_WORDS 4
bool fah_py_is_method_flags(uint64_t word);
bool fah_py_is_slot_offset(uint64_t word);

#endif
