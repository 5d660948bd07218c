/*
 * layout.h - where one CPython build keeps what we read: offsets, sizes and a few facts.
 *
 * Filled by fah_py_layout_init from the generated table (3.8-3.12) or from what the interpreter
 * says of itself (3.13+), then read only. The caller may add the addresses of types it knows (dlsym
 * or a symbol table); where they are 0 the walk knows a type by its name, once.
 */
#ifndef FAH_CPYTHON_LAYOUT_H
#define FAH_CPYTHON_LAYOUT_H

#include "cpython/cpython.h"

/* How the newest frame is found, and what a frame is. */
enum fah_py_frames {
	FAH_PY_FRAMES_OBJECT = 1, /* 3.8-3.10: tstate->frame, a heap object for each call */
	FAH_PY_FRAMES_CFRAME = 2, /* 3.11, 3.12: tstate->cframe->current_frame */
	FAH_PY_FRAMES_DIRECT = 3, /* 3.13+: tstate->current_frame */
};

#define FAH_PY_OWNER_GENERATOR 1u	 /* in f_owner; 0: the thread's own stack of frames */
#define FAH_PY_CODE_NO_EVENTS 0x2000000u /* in co_flags: the interpreter's own, never shown */

struct fah_py_layout {
	uint32_t version_hex;
	uint32_t lines_kind;  /* enum fah_py_lines */
	uint32_t frames_kind; /* enum fah_py_frames */
	uint64_t runtime;     /* address of _PyRuntime, as given to fah_py_layout_init */

	/* Optional, filled by the caller after fah_py_layout_init: &PyCode_Type and so on; 0:
	 * unknown. */
	uint64_t code_type;
	uint64_t frame_type; /* 3.8-3.10 only */
	uint64_t gen_type, coro_type, asyncgen_type;

	/* _PyRuntime */
	uint32_t runtime_interpreters_head, runtime_interpreters_main;
	uint32_t runtime_gil;	     /* 3.8-3.11: struct _gil_runtime_state */
	uint32_t runtime_collecting; /* 3.8: gc.collecting; later per interpreter */

	/* PyInterpreterState */
	uint32_t interp_next, interp_threads_head;
	uint32_t interp_gil;	     /* 3.12+: pointer to struct _gil_runtime_state */
	uint32_t interp_collecting;  /* 3.9+: gc.collecting */
	uint32_t interp_audit_hooks; /* a list, or NULL; no version says itself where; 0: unknown */

	/* struct _gil_runtime_state */
	uint32_t gil_holder, gil_locked;

	/* PyThreadState */
	uint32_t ts_next, ts_interp, ts_thread_id;
	uint32_t ts_frame;	/* frame (3.8-3.10), cframe (3.11, 3.12), current_frame (3.13+) */
	uint32_t ts_cframe;	/* 3.10-3.12: the newest C frame */
	uint32_t ts_status;	/* 3.13+: _status, its bits */
	uint32_t ts_chunk;	/* datastack_chunk; datastack_top and datastack_limit follow it */
	uint32_t ts_base_frame; /* 3.15+: the sentinel that ends the chain; 0 before */
	uint32_t ts_executor;	/* 3.14+: what the JIT made that runs now; 0 before */
	uint32_t ts_exc_info,
		ts_exc_state; /* 3.11+: the innermost exception state, the thread's own */

	/* _PyCFrame */
	uint32_t cframe_current, cframe_previous;

	/* _PyExecutorObject, 3.14+: the machine code that the JIT made, and its bytes */
	uint32_t executor_code, executor_size;

	/* _PyStackChunk */
	uint32_t chunk_previous, chunk_size, chunk_top, chunk_data;

	/* PyFrameObject (3.8-3.10) or _PyInterpreterFrame */
	uint32_t f_previous, f_code;
	uint32_t f_instr;    /* f_lasti, prev_instr or instr_ptr */
	uint32_t f_stack;    /* stacktop (int) or, from 3.14, stackpointer */
	uint32_t f_owner;    /* 3.11+ */
	uint32_t f_is_entry; /* 3.11 only */
	uint32_t f_localsplus;
	uint32_t frame_slots; /* FRAME_SPECIALS_SIZE: words before localsplus */
	uint32_t gen_iframe;  /* offset of the frame in a generator object */
	uint32_t gen_exc; /* and of its exception state, whose second word is the next outer one */
	uint32_t gen_state, gen_executing; /* of its state, a byte, and that of one that runs */
	uint32_t owner_shim;	/* 3.12+: owners from this value on are no Python frames */
	uint32_t lasti_scale;	/* bytes of one unit of f_lasti: 3.8, 3.9: 1; 3.10: 2 */
	uint32_t code_tag_mask; /* bits of f_executable that are no address: 3.14+ */

	/* PyCodeObject */
	uint32_t co_filename, co_name, co_qualname, co_linetable, co_firstlineno, co_flags;
	uint32_t co_code;      /* bytes object (3.8-3.10) or co_code_adaptive itself */
	uint32_t co_framesize; /* 3.12+; 0: nlocalsplus + stacksize + frame_slots */
	uint32_t co_nlocalsplus, co_stacksize; /* 3.11+ */
	uint32_t co_firsttraceable;	       /* 3.11+ */
	uint32_t co_size;		       /* sizeof(PyCodeObject) */

	/* PyObject and what else is read of it */
	uint32_t ob_type, ob_size;
	uint32_t tp_name;
	uint32_t bytes_data;
	uint32_t str_length, str_state;
	uint32_t str_ascii_size,
		str_compact_size; /* where the characters of compact strings stand */
	uint32_t str_data_any;	  /* PyUnicodeObject.data of non-compact strings */
	uint32_t str_kind_shift, str_compact_shift, str_ascii_shift; /* bits of str_state */

	uint8_t call_ops[32]; /* bit n: opcode n is a call */
};

/* The generated table, offsets.c; one entry a minor version. Opcode 0 ends calls. */
struct fah_py_known {
	uint32_t minor;
	struct fah_py_layout layout;
	uint8_t calls[64];
};

extern const struct fah_py_known fah_py_known[];
extern const int fah_py_known_count;

/* 3.13+: lays what the runtime says of itself over ret. 0 or FAH_ERR_UNKNOWN_PYTHON. */
int fah_py_debug_offsets_apply(struct fah_py_layout *ret, const struct fah_mem *mem,
			       uint64_t runtime_addr);

#endif
