/*
 * pyapi.h - the C API as far as the agent needs it, by name. Never in a handler; with the GIL.
 *
 * All of it is exported by every CPython from 3.8 to 3.15; where one name is missing there is none
 * of it. Ownership is CPython's: "new" is the caller's to drop.
 */
#ifndef FAH_AGENT_PYAPI_H
#define FAH_AGENT_PYAPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fah_object fah_object;

struct fah_type_slot { /* PyType_Slot, stable ABI */
	int slot;
	void *function;
};

struct fah_type_spec { /* PyType_Spec, stable ABI */
	const char *name;
	int size, item_size;
	unsigned flags;
	struct fah_type_slot *slots;
};

struct fah_method_def { /* PyMethodDef, stable ABI */
	const char *name;
	void (*function)(void);
	int flags;
	const char *doc;
};
#define FAH_METH_NOARGS 4
#define FAH_METH_FASTCALL 128

struct fah_pyapi {
	void (*incref)(fah_object *);
	void (*decref)(fah_object *);
	fah_object *(*err_occurred)(void);
	void (*err_clear)(void);
	void (*err_fetch)(fah_object **, fah_object **, fah_object **); /* new; may be NULL */
	void (*err_restore)(fah_object *, fah_object *, fah_object *);	/* takes them */
	void (*err_normalize)(fah_object **, fah_object **, fah_object **);
	int (*err_matches)(fah_object *type);
	void (*set_interrupt)(void);
	void (*exc_info)(fah_object **, fah_object **, fah_object **); /* new; may be NULL */
	long (*long_as)(fah_object *);
	fah_object *(*long_from)(long);					 /* new */
	fah_object *(*str_from)(const char *, ptrdiff_t);		 /* new */
	const char *(*str_as)(fah_object *, ptrdiff_t *);		 /* borrowed from the str */
	fah_object *(*encode)(fah_object *, const char *, const char *); /* new: bytes */
	int (*compare)(fah_object *, fah_object *);			 /* of two str */
	fah_object *(*format)(fah_object *, fah_object *);		 /* new: str % args */
	char *(*bytes_as)(fah_object *);				 /* borrowed */
	ptrdiff_t (*bytes_size)(fah_object *);
	fah_object *(*str)(fah_object *);			 /* new */
	fah_object *(*repr)(fah_object *);			 /* new */
	fah_object *(*tuple_new)(ptrdiff_t);			 /* new */
	int (*tuple_set)(fah_object *, ptrdiff_t, fah_object *); /* takes the item */
	fah_object *(*tuple_get)(fah_object *, ptrdiff_t);	 /* borrowed */
	ptrdiff_t (*tuple_size)(fah_object *);
	fah_object *(*list_new)(ptrdiff_t);		  /* new */
	fah_object *(*list_get)(fah_object *, ptrdiff_t); /* borrowed */
	ptrdiff_t (*list_size)(fah_object *);
	fah_object *(*dict_new)(void);				  /* new */
	fah_object *(*dict_get)(fah_object *, fah_object *);	  /* borrowed, no error */
	fah_object *(*dict_get_text)(fah_object *, const char *); /* borrowed, no error */
	int (*dict_set)(fah_object *, fah_object *, fah_object *);
	int (*dict_set_text)(fah_object *, const char *, fah_object *);
	int (*dict_next)(fah_object *, ptrdiff_t *, fah_object **, fah_object **); /* borrowed */
	ptrdiff_t (*dict_size)(fah_object *);
	void (*dict_clear)(fah_object *);
	fah_object *(*get_attr)(fah_object *, const char *); /* new */
	fah_object *(*dict_of)(fah_object *, void *);	     /* new: the instance's */
	int (*is_true)(fah_object *);
	int (*is_subtype)(fah_object *, fah_object *);
	int (*is_number)(fah_object *);
	int (*is_sequence)(fah_object *);
	fah_object *(*type_from)(struct fah_type_spec *);	   /* new */
	fah_object *(*call)(fah_object *, fah_object *);	   /* new */
	fah_object *(*call_args)(fah_object *, fah_object *, ...); /* new; NULL ends them */
	fah_object *(*new_function)(struct fah_method_def *, fah_object *, fah_object *); /* new */
	void (*untrack)(void *);
	fah_object *(*compile)(const char *, const char *, int);		 /* new */
	fah_object *(*compile_as)(const char *, fah_object *, int, void *, int); /* new */
	fah_object *(*eval)(fah_object *, fah_object *, fah_object *);		 /* new */
	fah_object *(*builtins)(void);						 /* borrowed */
	fah_object *(*frame)(void);	      /* borrowed; NULL: none */
	fah_object *(*sys_get)(const char *); /* borrowed; NULL: none, or all is being torn down */
	fah_object *(*module_dict)(fah_object *); /* borrowed */
	void *(*main_interpreter)(void);
	fah_object *none, *no; /* None, False */
	fah_object *t_str, *t_int, *t_float, *t_bool, *t_bytes, *t_complex, *t_tuple, *t_list,
		*t_dict, *t_object, *t_module, *t_type, *t_code, *t_function; /* t_function: C's */
	fah_object **e_base, **e_exception, **e_interrupt; /* BaseException ... */
	/* Not all versions have these; NULL: none. */
	fah_object *(*frame_code)(fah_object *); /* new; without an audit event */
	void *(*interpreter)(void);
	void *(*thread)(void);
	void (*enter_tracing)(void *);
	void (*leave_tracing)(void *);
};
extern struct fah_pyapi fah_py;

bool fah_pyapi_load(void); /* once; later calls say the same */

#define FAH_PY_FILE_INPUT 257 /* Py_file_input */

/* Whether enter_tracing and leave_tracing are there: since 3.11. */
static inline bool fah_py_can_hide(void)
{
	return fah_py.thread && fah_py.enter_tracing && fah_py.leave_tracing;
}

/* Up to 3.9 a RecursionError, once raised, lets the thread go on beyond its limit until it has come
 * back some way, and ends the process further up. One of ours is not to do that to the program:
 * what before() returned goes to after(). */
unsigned char *fah_py_overflow_before(void);
void fah_py_overflow_after(unsigned char *flag);

/* A small program of ours: its globals after it ran, or NULL. For fah_py_drop_globals. */
fah_object *fah_py_run(const char *program, const char *name);
/* Leaves nothing that the program's next gc.collect() could count; NULL is fine. */
void fah_py_drop_globals(fah_object *globals);

/* NULL is fine. */
void fah_py_drop(fah_object *o);
/* As it stands in sys.modules, where it is a module; borrowed; NULL: none. */
fah_object *fah_py_module(const char *name);
/* A name in such a module; borrowed; NULL: none. */
fah_object *fah_py_global(const char *module, const char *name);

/* The object's type, and words of type objects, which have stood at the same place since 3.8. */
static inline fah_object *fah_py_type(const fah_object *o)
{
	return ((fah_object *const *)(const void *)o)[1];
}
#define FAH_TYPE_NAME 24
#define FAH_TYPE_REPR 88
#define FAH_TYPE_STR 136
#define FAH_TYPE_FLAGS 168
#define FAH_TYPE_HEAP (1ul << 9)
/* An int from 0 to 2^30 - 1, since 3.12: its first digit. */
static inline uint32_t fah_py_small_int(const fah_object *o)
{
	return *(const uint32_t *)(const void *)((const char *)o + 24);
}
#define FAH_EXCEPTION_ARGS 24 /* in a BaseException */
static inline void *fah_py_word(const fah_object *o, size_t offset)
{
	return *(void *const *)(const void *)((const char *)o + offset);
}

#endif
