/*
 * codes.h - the code objects of one process, as its agent described them: to functions and lines.
 *
 * The descriptions are also kept in a journal beside the segments: chunks are reused, and whoever
 * opens the leftovers of a killed collector needs all of them.
 */
#ifndef FAH_COLLECT_CODES_H
#define FAH_COLLECT_CODES_H

#include "base/map.h"
#include "capture/writer.h"

#include <stddef.h>
#include <stdint.h>

struct fah_code;

struct fah_codes {
	struct fah_code *codes; /* by id */
	size_t n;
	struct fah_map lines; /* (id, instruction) -> line */
	uint32_t lines_kind;  /* enum fah_py_lines */
	int journal;	      /* fd, -1: none */
	size_t journal_len;   /* of its whole records */
};

/* journal_path may be NULL; what an earlier journal holds is loaded first. What is not a regular
 * file is left alone, and there is no journal then. */
void fah_codes_init(struct fah_codes *c, uint32_t lines_kind, const char *journal_path);
void fah_codes_release(struct fah_codes *c);

/* One CODE or CODE_LINES record of a segment; a damaged one is ignored. */
void fah_codes_record(struct fah_codes *c, uint32_t type, const uint8_t *payload, size_t len);

/*
 * Function (an id of w) and line of an instruction (its offset + 1; 0: not started).
 * False: the id was never described.
 */
bool fah_codes_resolve(struct fah_codes *c, struct fah_writer *w, uint32_t id,
		       uint32_t instr_plus_1, uint32_t *ret_function, uint32_t *ret_line);

#endif
