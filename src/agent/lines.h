/*
 * lines.h - hits and time of each line of chosen functions (`lines`): the files of it.
 *
 * The interpreter tells of lines, starts and ends by calling us, with the GIL: so one thread at a
 * time changes anything here. Handlers read counts meanwhile, to write them into their chunks.
 *
 * Time is counted by a clock that stands still while we work: each event adds what it costs to its
 * thread's `spent`, and every reading is the processor's clock less that. So a line's time, with
 * all that it called, is without our probes, however deep they were.
 */
#ifndef FAH_AGENT_LINES_H
#define FAH_AGENT_LINES_H

#include "agent/agent.h"
#include "agent/event_clock.h"
#include "agent/kept.h"
#include "agent/pyapi.h"

#define FAH_LINED_MAX 8192u    /* code objects */
#define FAH_LINES_DEPTH 65536u /* frames of chosen code on one thread's stack */

/* A code object that was chosen; kept alive. */
struct fah_lined {
	uint64_t code;
	uint32_t id;		  /* the segment's; 0: not told yet */
	int32_t base;		  /* lines[0] is of this line */
	_Atomic uint32_t n_lines; /* room in lines[] */
	struct fah_line *lines;	  /* behind their struct fah_lines_kept */
	bool marked;		  /* by profile() */
	_Atomic bool changed;	  /* since it was written */
};

enum fah_lines_call {
	FAH_LINES_NO_CALL = 0,
	FAH_LINES_CALL_C,      /* ends with its own event */
	FAH_LINES_CALL_PYTHON, /* ends with the frame's next event, or its callee's end */
	FAH_LINES_CALL_CHOSEN, /* nobody told of a call, but a chosen function runs: ends with it */
};

/* A frame of chosen code that runs. */
struct fah_lines_frame {
	struct fah_lined *of;
	uint64_t frame;	    /* address of the interpreter's own */
	int64_t since;	    /* its line's time is counted up to here */
	int64_t call_since; /* likewise of `called`, while there is a call */
	uint64_t callee;    /* before 3.12: the frame whose end is that call's */
	uint32_t line;	    /* index + 1 into of->lines; 0: none yet */
	uint32_t outer;	    /* the next outer frame of the same code: index + 1 */
	uint8_t call;	    /* enum fah_lines_call */
	bool ends_call;	    /* its end is the end of the call in the frame below */
};

/* One for each thread that ran chosen code; reused, never freed. */
struct fah_lines_thread {
	_Atomic bool used;
	uint32_t depth;
	uint32_t lost;			/* frames beyond FAH_LINES_DEPTH */
	int64_t spent;			/* ticks that events took so far */
	int64_t due;			/* ticks: a look at the machine's speed */
	uint32_t active[FAH_LINED_MAX]; /* by code: its newest frame, index + 1 */
	struct fah_lines_frame frames[FAH_LINES_DEPTH];
};

/* What an event of each kind costs, in ticks. */
struct fah_lines_cost {
	int64_t line, start, end, call, python_call, c_return;
	int64_t other; /* a line of code that is not chosen: before 3.12 */
};

struct fah_lining {
	_Atomic bool on;
	bool called;		    /* calls are told too */
	bool traced;		    /* by a trace function: before 3.12 */
	_Atomic bool replaced;	    /* the program has set its own one */
	struct fah_lines_cost cost; /* as the machine runs now */
	/* for the report: what had no room */
	_Atomic uint64_t lost_codes, lost_frames, lost_lines;
};
extern struct fah_lining fah_lining;

/* lines.c, with the GIL: stacks and clocks. */
struct fah_lines_thread *fah_lines_mine(void); /* NULL: no memory */
void fah_lines_enter(struct fah_lines_thread *t, struct fah_lined *of, uint64_t frame, int64_t now);
void fah_lines_leave(struct fah_lines_thread *t, int64_t now); /* the top one */
/* The entry of that frame, which is the top one then; NULL: there is none. */
struct fah_lines_frame *fah_lines_find(struct fah_lines_thread *t, uint64_t frame, uint64_t code,
				       int64_t now);
void fah_lines_call_begin(struct fah_lines_frame *f, enum fah_lines_call call, int64_t now);
void fah_lines_call_end(struct fah_lines_frame *f, int64_t now);
/* The frame's line up to here ends. */
void fah_lines_close(struct fah_lines_frame *f, int64_t now);
/* A line begins: it has one hit more, and the frame's clock is its. */
void fah_lines_hit(struct fah_lines_frame *f, int32_t line, int64_t now);
/* The same without a hit: a generator goes on in the middle of one. */
void fah_lines_go_on(struct fah_lines_frame *f, int32_t line, int64_t now);
void fah_lines_thread_end(void);			  /* by the thread itself */
struct fah_lines_thread *fah_lines_thread_at(uint32_t i); /* NULL beyond the last */
void fah_lines_threads_forked(void);
struct fah_lines_thread *fah_lines_mine_or_none(void); /* NULL: it ran no chosen code */

/* lines_table.c: code objects that were chosen. */
int fah_lined_setup(void);
struct fah_lined *fah_lined_find(uint64_t code); /* NULL: it is none */
/* Chosen from now on, and kept alive; NULL: there is no room. *ret_new: it was not before. */
struct fah_lined *fah_lined_add(fah_object *code, bool *ret_new);
struct fah_lined *fah_lined_at(uint32_t i); /* NULL beyond the last */
uint32_t fah_lined_index(const struct fah_lined *l);
/* Room for that line: its index + 1, or 0. */
uint32_t fah_lined_room(struct fah_lined *l, int32_t line);
void fah_lined_told(struct fah_lined *l); /* its id or mark is new */
void fah_lined_keep(void);		  /* what is counted from now on is the program's */
/* In a fork's child: it begins anew, in room of its own, and nothing was told. */
void fah_lined_forked(void);
void fah_lined_clear(void); /* nothing is chosen any more */

/* lines_scope.c: what the tool has left in the session's folder. */
bool fah_lines_scope_read(void); /* false: `lines` is not what runs */
bool fah_lines_scope_any(void);	 /* functions are chosen by name or file */
bool fah_lines_scope_called(void);
bool fah_lines_scope_spells(const char *name); /* as one that is no function's: "<module>" */
/* name: qualified where that is known. Texts end with NUL. */
bool fah_lines_scope_has(const char *file, const char *name, bool qualified);

/* lines_marks.c: the builtin profile(). */
bool fah_lines_marks_install(void);
void fah_lines_mark(fah_object *o); /* all functions in it are chosen */

/* lines_monitor.c: CPython 3.12 and later. False: it cannot be had; *ret_why says so. */
bool fah_lines_monitor_start(const char **ret_why);
bool fah_lines_monitor_listen(fah_object *code, bool wanted);

/* lines_trace.c: CPython before 3.12. False: likewise. */
bool fah_lines_trace_start(const char **ret_why);
void fah_lines_trace_set(bool wanted);	 /* in this thread */
void fah_lines_new_thread(void);	 /* one was made; without the GIL */
void fah_lines_event(const char *event); /* an audit event */

/* lines_measure.c: what events cost; with the GIL, before the program runs. */
bool fah_lines_measure(void);
/* And while it does: that goes with the machine's speed. */
void fah_lines_pace(struct fah_lines_thread *t);
/* When it is due, at an event at that time. */
static inline void fah_lines_look(struct fah_lines_thread *t, int64_t ticks)
{
	if (__builtin_expect(ticks > t->due, 0))
		fah_lines_pace(t);
}

/* lines_start.c */
void fah_lines_start(void); /* with the GIL; nothing where it is not wanted */
/* A code object; marked: by profile(). False: there is no room. */
bool fah_lines_choose(fah_object *code, bool marked);
/* Its code object is in the segment, which a fork's child has to do again. With the GIL. */
void fah_lines_tell(struct fah_lined *l);
/* By its name or file. *ret_marks: it is line_profiler's own profile(), whose first argument behind
 * self is marked. */
bool fah_lines_is_wanted(fah_object *code, bool *ret_marks);
/* Tells us of its events from now on, or no more. */
bool fah_lines_listen(fah_object *code, bool wanted);
bool fah_lines_watches(void); /* audit events are wanted */

/* lines_write.c */
void fah_lines_tick(struct fah_thread_state *t); /* in a handler */
void fah_lines_end(void);			 /* all that is not written; not in a handler */
void fah_lines_forked(void);
void fah_lines_note(const char *why); /* there will be no lines, and why */

#endif
