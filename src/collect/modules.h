/*
 * modules.h - the code that recorded processes have mapped: tables for their agents to unwind with,
 * names for the addresses that come back.
 *
 * What a process has mapped at one time is a *map*, numbered from 1 through the whole run; two
 * processes with the same modules at the same places (a fork's child) share one. A map never
 * changes, so an address that was recorded with its number can be named at any time. One thread;
 * while it reads files, others may have their turns at what the collector knows
 * (fah_modules_share).
 */
#ifndef FAH_COLLECT_MODULES_H
#define FAH_COLLECT_MODULES_H

#include "collect/callees.h"
#include "collect/turns.h"

#include <stdbool.h>
#include <stdint.h>

struct fah_module;
struct fah_modules; /* opaque: all files and maps of a run */

/* session_dir is copied. NULL: no memory. The caller owns it. */
struct fah_modules *fah_modules_new(const char *session_dir);
void fah_modules_free(struct fah_modules *m); /* NULL is fine */

/* From here on whoever asks has a turn, which is given up while files are read. Borrowed; NULL: no
 * more. */
void fah_modules_share(struct fah_modules *m, struct fah_turns *turns);

/*
 * The number of what process pid has mapped now; 0: it cannot be read, or there is no room for the
 * tables. A map that is new is written to the session's folder first. frames: where its agent lists
 * the .eh_frame that are registered (struct fah_registered); 0: it does not.
 */
uint32_t fah_modules_look(struct fah_modules *m, uint32_t pid, uint64_t frames);
/* No agent will open that map from here on: its file goes. Names are still found. */
void fah_modules_forget(struct fah_modules *m, uint32_t map);

enum fah_module_kind {
	FAH_MODULE_UNKNOWN, /* no module has code there, or none that can be read */
	FAH_MODULE_OTHER,
	FAH_MODULE_INTERPRETER, /* it has the evaluation loop */
	FAH_MODULE_RUNTIME,	/* libc, the loader, the vdso */
	FAH_MODULE_AGENT,	/* ours */
};

/* What stands for the file of code that has none: no path begins like that. */
#define FAH_PATH_UNKNOWN "<unknown>"
#define FAH_PATH_MADE "<made at run time>"

struct fah_native_place {
	enum fah_module_kind kind;
	bool eval;	  /* in the evaluation loop itself */
	bool jit;	  /* in code that CPython's own JIT has made */
	bool named;	  /* made at run time, and the process has given it a name */
	const char *path; /* of the module, or what stands for it. Borrowed, lives as long as m */
	struct fah_names *names;   /* to ask what it is called (names.h); lives as long as m */
	uint64_t offset;	   /* from the module's base, as names wants it */
	struct fah_module *module; /* NULL: none. Lives as long as m */
};

/* Whose code the address is in that map. */
void fah_modules_place(struct fah_modules *m, uint32_t map, uint64_t pc,
		       struct fah_native_place *ret);
/* The frames that stand there, see fah_names_find. */
struct fah_name_frame *fah_modules_frames(struct fah_modules *m,
					  const struct fah_native_place *place, uint32_t *ret_n);
/* What a frame of the interpreter's does for the Python code whose loop it is called from. 0: it is
 * not to be told, or not both are in one interpreter. */
enum fah_callee_step fah_modules_step(struct fah_modules *m, const struct fah_native_place *caller,
				      const struct fah_native_place *callee);

#endif
