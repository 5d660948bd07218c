/*
 * module.h - one file that some process runs code of, or one piece of code that some process has
 * made at run time: its table for unwinding and its names. Each is opened once a run. One thread;
 * only modules.c and code_map.c use it.
 */
#ifndef FAH_COLLECT_MODULE_H
#define FAH_COLLECT_MODULE_H

#include "collect/modules.h"
#include "native/made.h"
#include "native/names.h"
#include "native/table_build.h"

struct fah_module {
	struct fah_module *next;
	char *path;
	uint64_t dev, ino; /* 0, 0: the vdso */
	uint64_t start;	   /* of code made at run time; 0: a file's */
	uint64_t *starts;  /* of its functions */
	size_t n_starts;
	bool has_list; /* of the GDB JIT interface, in a variable at */
	uint64_t list; /* as an address of the file */
	bool is_list_known;
	enum fah_module_kind kind;
	struct fah_elf *elf; /* NULL: it cannot be read */
	struct fah_names *names;
	struct fah_callees *callees; /* of an interpreter; NULL: not asked for yet */
	bool is_known;		     /* whether it is the interpreter */
	struct fah_table_bytes table;
};

/* All of a run. */
struct fah_module_store {
	char *cache, *names_cache; /* folders; NULL: there is none */
	struct fah_module *list;
	struct fah_root *roots;
	struct fah_made_debugs debugs; /* of code made at run time; names of its modules have it */
};

void fah_module_store_init(struct fah_module_store *s);
/* Names that were found are kept for the next run. */
void fah_module_store_release(struct fah_module_store *s);

/*
 * The file that process pid has at this path; dev and ino 0: the vdso. One that cannot be read is
 * one without elf, so that it is not tried again each time. Lives as long as s. NULL: no memory.
 */
struct fah_module *fah_module_of_file(struct fah_module_store *s, uint32_t pid, const char *path,
				      uint64_t dev, uint64_t ino);
/* The module that stands for this part, whose table and starts it takes: the same one as long as
 * nothing about it changes. NULL: no memory. */
struct fah_module *fah_module_of_part(struct fah_module_store *s, struct fah_made_part *part);

/* Sets kind to FAH_MODULE_INTERPRETER if it is one; reads symbols the first time. */
#define FAH_JIT \
	"py::jit:" /* 3.15: how the names begin that CPython gives to what its JIT makes \
		    */
#define FAH_JIT_ENTRY "_PyJIT_Entry"	    /* 3.15: by which the loop goes over to it */
#define FAH_EVAL "_PyEval_EvalFrameDefault" /* also the head of its compiler-made parts' names */
void fah_module_see_interpreter(struct fah_module *mod);

/* Where the list of a compiler stands that is in this module, as an address of its file; false:
 * there is none. */
bool fah_module_list(struct fah_module *mod, uint64_t *ret);

#endif
