/*
 * stack.h - the stack of a sample: its Python frames and its native ones, as one path of nodes.
 *
 * The agent hands over both as differences to the chunk's last sample; one of these stands beside
 * each chunk.
 *
 *   native, root first   main  Py_RunMain … EVAL        list_sort … EVAL            numpy_add
 * memcpy Python, root first                      [a  b  c]                   [key] the path main
 * Py_RunMain … a  b  c     list_sort …     key         numpy_add  memcpy
 *
 * One native frame of the evaluation loop runs an *entry* frame of Python and those that it called
 * without leaving the loop. Where the two don't match in number, only what lies inside the
 * innermost loop is joined, which needs no counting; where not even that was reached, the Python
 * frames stand alone, unless the walk ended in code made at run time: that lies inside the
 * innermost loop too. All are counted.
 */
#ifndef FAH_COLLECT_STACK_H
#define FAH_COLLECT_STACK_H

#include "capture/writer.h"
#include "collect/codes.h"
#include "collect/modules.h"
#include "collect/runtime_code.h"
#include "core/segment.h"
#include "core/varint.h"
#include "cpython/cpython.h"

struct fah_stack_ctx {
	uint32_t n_frames, n_pcs;
	struct fah_stack_frame {
		uint32_t function, line;
		bool known, entry;
	} frames[FAH_PY_MAX_FRAMES];  /* root first */
	uint64_t pcs[FAH_NATIVE_MAX]; /* root first; address << 1 | evaluation loop */
};

struct fah_stack_stats {
	uint64_t joined;   /* whole */
	uint64_t partly;   /* what lies inside the innermost evaluation loop */
	uint64_t unjoined; /* no evaluation loop was reached */
	uint64_t without;  /* the agent had no map of the code yet */
};

/*
 * Decode the rest of a SAMPLE record behind its flags; *flags gets FAH_IN_NATIVE where code that is
 * neither the interpreter's nor the C library's runs for the innermost frame. *ret_node: 0 for an
 * empty stack. False: code that was never described, or a damaged record: *ctx stays usable.
 * modules and runtime may be NULL.
 */
bool fah_stack_take(struct fah_stack_ctx *ctx, struct fah_codes *codes, struct fah_modules *modules,
		    struct fah_runtime_code *runtime, struct fah_writer *w, struct fah_cursor *cur,
		    uint32_t *flags, struct fah_stack_stats *stats, uint32_t *ret_node);

#endif
