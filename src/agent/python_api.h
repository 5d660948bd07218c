/*
 * python_api.h - the C API by name, for the few places that run Python or call it: the self-check
 * and the counting of calls. With the GIL, never in a handler.
 */
#ifndef FAH_AGENT_PYTHON_API_H
#define FAH_AGENT_PYTHON_API_H

#include <stdbool.h>

typedef struct fah_object fah_object; /* PyObject */

struct fah_method_def { /* PyMethodDef, part of the stable ABI */
	const char *name;
	void (*function)(void);
	int flags;
	const char *doc;
};
#define FAH_METH_NOARGS 4
#define FAH_METH_FASTCALL 128
#define FAH_FILE_INPUT 257 /* Py_file_input */

/* All of these are exported by every CPython from 3.8 on. */
struct fah_python_api {
	fah_object *(*CompileString)(const char *, const char *, int);
	fah_object *(*EvalCode)(fah_object *, fah_object *, fah_object *);
	fah_object *(*GetBuiltins)(void);
	fah_object *(*DictNew)(void);
	int (*DictSet)(fah_object *, const char *, fah_object *);
	fah_object *(*DictGet)(fah_object *, const char *); /* borrowed */
	void (*DictClear)(fah_object *);
	fah_object *(*NewFunction)(struct fah_method_def *, fah_object *, fah_object *);
	fah_object *(*CallArgs)(fah_object *, fah_object *, ...);
	fah_object *(*GetFrame)(void); /* borrowed */
	fah_object *(*GetAttr)(fah_object *, const char *);
	fah_object *(*SysGet)(const char *); /* borrowed */
	fah_object *(*FromLong)(long);
	fah_object *(*FromText)(const char *);
	long (*AsLong)(fah_object *);
	void *(*ThreadState)(void);
	void (*Untrack)(void *);
	void (*ErrClear)(void);
	void (*IncRef)(fah_object *);
	void (*DecRef)(fah_object *);
	fah_object *none;
};
extern struct fah_python_api fah_py_api;

/* False: something is missing, and nothing may be called. */
bool fah_python_api_load(void);

/* A small program of ours: its globals after it ran, or NULL. For fah_python_api_drop. */
fah_object *fah_python_api_run(const char *program, const char *name);
/* Leaves nothing that the program's next gc.collect() could count; NULL is fine. */
void fah_python_api_drop(fah_object *globals);

#endif
