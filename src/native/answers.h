/*
 * answers.h - what the addresses of one module were found to be called, and the file in which that
 * is kept between runs. Tool side, one thread.
 *
 * Only names.c uses it. A file is taken whole or not at all: what is damaged, of another version or
 * of another key is as if it were not there, and is replaced when there is something to keep.
 */
#ifndef FAH_NATIVE_ANSWERS_H
#define FAH_NATIVE_ANSWERS_H

#include "base/map.h"
#include "native/names.h"

struct fah_answer {
	struct fah_name_frame *frames; /* in the arena */
	uint32_t n;
	uint64_t start;	  /* of the function, where is_function */
	bool is_function; /* the same for all of it: no lines, nothing inlined */
	bool is_unnamed;  /* by the module's name, which a copy of the file may not share */
	bool is_defined;  /* by fah_names_define: not kept */
};

struct fah_answers {
	struct fah_arena arena;
	struct fah_strmap texts;   /* names and files, each once */
	struct fah_map known;	   /* {offset, 0} or {start of a function, 1} -> 1 + its index */
	struct fah_strmap symbols; /* asked by name -> 1: not there, 2: there */
	struct fah_answer *list;
	size_t n;
	bool changed; /* since it was read or written */
};

void fah_answers_release(struct fah_answers *a);

/* The copy of a text that lives as long as a; NULL: no memory. */
const char *fah_answers_text(struct fah_answers *a, const char *text);
/* NULL: not known. Until the next put or add. */
struct fah_answer *fah_answers_get(const struct fah_answers *a, struct fah_key key);
/* A new one (frames are in a's arena) under this key; NULL: no memory. Until the next add. */
struct fah_answer *fah_answers_add(struct fah_answers *a, struct fah_key key,
				   const struct fah_answer *answer);
/* One more key for an answer of a's; false: no memory. */
bool fah_answers_put(struct fah_answers *a, struct fah_key key, const struct fah_answer *answer);

/*
 * From a file that was saved with the same key into an empty *a. Unnamed ones have n 0 and no
 * frames. Anything but 0: nothing was read. FAH_ERR_SYS, FAH_ERR_FORMAT, FAH_ERR_DAMAGED,
 * FAH_ERR_NOMEM, FAH_ERR_RANGE.
 */
int fah_answers_load(struct fah_answers *a, const char *path, const char *key);
/* Replaces the file at once. FAH_ERR_RANGE: there are more than a file may have. */
int fah_answers_save(struct fah_answers *a, const char *path, const char *key);

/* Removes the files that were used longest ago until the folder has at most FAH_ANSWERS_FILES of
 * FAH_ANSWERS_BYTES together. */
#define FAH_ANSWERS_FILES 1024
#define FAH_ANSWERS_BYTES (64u << 20)
void fah_answers_trim(const char *dir, size_t max_files, uint64_t max_bytes);

#endif
