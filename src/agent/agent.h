/*
 * agent.h - what the files of the agent share. The agent lives inside the profiled program.
 *
 * The rules, which hold for every file here (ARCHITECTURE.md has the reasons and the tests):
 * never the program's malloc, no stdio, no lock that a handler could meet, no exit, no Python call
 * in a handler, no fd kept, TLS initial-exec, nothing that a child would refuse to load. When it
 * cannot record, it drops and counts.
 */
#ifndef FAH_AGENT_AGENT_H
#define FAH_AGENT_AGENT_H

#include "agent/when.h"
#include "core/ahead.h"
#include "core/err.h"
#include "core/pages.h"
#include "core/segment.h"
#include "core/varint.h"
#include "cpython/cpython.h"
#include "cpython/layout.h"
#include "cpython/walk.h"
#include "native/unwind.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <ucontext.h>

#define FAH_PATH_MAX 4096
#define FAH_AGENT_EXPORT __attribute__((visibility("default")))

/* Set once, before the first sample; read by handlers. */
struct fah_agent {
	char preload[FAH_PATH_MAX]; /* the agent's own file; empty: not started by us, do nothing */
	char session[FAH_PATH_MAX]; /* folder of the segments */
	char config[FAH_PATH_MAX + 128]; /* our variable's value, for children */
	uint32_t clock;			 /* enum fah_clock */
	uint32_t budget_ppm;		 /* as in struct fah_segment_head, to begin with */
	uint64_t period_ns;
	uint32_t log_level; /* records from there on go to logs.log; 0: none */
	uint32_t plots;	    /* enum fah_plots: whose show() is to return at once */
	uint64_t tick_ns;   /* the kernel's, to which timers are bound; 0: not known */

	uint64_t runtime; /* address of _PyRuntime */
	uint32_t python_version;
	uint32_t tid_offset, first_tid; /* as in struct fah_segment_head */
	uint64_t first_cpu_ns, first_ready_ns;
	struct fah_py_layout layout;
	_Atomic bool active;  /* samples are taken */
	_Atomic uint32_t pid; /* of the process that started or forked: handlers compare */
	_Atomic uint32_t forked;
};
extern struct fah_agent fah_agent;

/* main.c: note whose process this is, at the start and after a fork. */
void fah_own_pid(void);
void fah_record_end(void); /* once; later calls do nothing */

/* env.c: our variables out of the program's environment, and back in for children. */
void fah_env_take(void);
/* How the two variables begin; exec.c joins them to a child's environment. */
#define FAH_ENV_CONFIG "FIXINGAHOLE_AGENT="
#define FAH_ENV_PRELOAD "LD_PRELOAD="

/* session_file.c: a file in the session's folder, by its name there, into text, with a NUL behind
 * it and cut where it is longer. Its length; -1: there is none. */
long fah_session_file(const char *name, char *text, size_t cap);

/* exec.c */
void fah_exec_forked(void);	/* in a fork's child */
void fah_exec_thread_end(void); /* by the thread itself */

/* program.c: may this program (path as the kernel would open it) be started with the agent? */
bool fah_program_takes_preload(int dirfd, const char *path, int flags);

/* real.c: the functions that ours stand in front of; NULL where libc has none. */
void *fah_real(const char *name);
void fah_real_setup(void);
/* The same for a function of any library: what code at address caller would get without us. */
void *fah_real_for(const char *name, uintptr_t caller);
void *
fah_global(const char *name); /* anything of the program, such as the C API; NULL: not there */
/* Where the code of such a function stands, to its end; false: not known. */
bool fah_symbol_range(const char *name, uint64_t *ret_start, uint64_t *ret_end);

/* python.c: start recording; called once, with the GIL, when the interpreter is ready. */
bool fah_python_present(void);
void fah_python_watch(void);
/* Where there is no Python that could be watched: tells of one that is too old. */
void fah_python_refuse_old(void);
void fah_python_unwatch(void); /* no audit event of interest comes any more */
/* As before: events come again. From any thread, without the GIL, not in a handler. */
void fah_python_watch_again(void);
bool fah_python_can_watch_again(void);
/* Whether somebody else has an audit hook, which sees what we do: 1 or 0; -1: it cannot be told.
 * With the GIL, in the main interpreter. */
int fah_python_is_audited(void);

/* python_check.c: 0 where our walk and the interpreter agree on a known stack; GIL held. */
int fah_python_self_check(const char **ret_reason);

/* python_end.c: lets recording end before the interpreter is freed; GIL held. */
void fah_python_end_early(void);

/* outside.c: what a reader outside must know; in the thread that starts recording. */
void fah_outside_prepare(void);

/* modules.c: to whom an address of code belongs. */
enum fah_code_owner { FAH_CODE_OTHER, FAH_CODE_INTERPRETER, FAH_CODE_RUNTIME };
void fah_modules_scan(uint64_t interpreter_address);
enum fah_code_owner fah_modules_owner(uint64_t pc);

/* sandbox.c: this process put itself under a seccomp filter: no system call of ours any more. */
bool fah_sandbox_is_on(void);

/* signal.c: the handler under the program's own SIGURG handler, if it has one. */
#define FAH_SIGNAL SIGURG
int fah_signal_install(void);
void fah_signal_remove(void);		/* the kernel gets the program's own action */
bool fah_signal_ignore_for_child(void); /* before exec or spawn; what to tell fah_signal_back */
void fah_signal_back(bool ignored);	/* after a spawn, or an exec that failed */

#define FAH_HANDLER_STACK 16384u

/* thread.c: one per thread, from an arena of ours, reused; never freed. */
struct fah_thread_state {
	_Atomic bool used;
	_Atomic bool busy; /* its chunk is being written, outside of the handler */
	bool patient;	   /* likewise, and room for a record is waited for */
	uint32_t tid;
	uint64_t pthread_id, tstate;
	uint64_t start_mono_ns, last_cpu_ns;
	uint64_t last_blocked;	 /* voluntary context switches at its last record */
	uint64_t last_faults;	 /* of pages, up to its last record */
	uint64_t last_system_ns; /* the kernel's part of its CPU, up to its last record */
	int64_t owed_system_ns;	 /* of that, what no sample has got yet; below 0: has too much */
	uint64_t ticks_ns, user_ticks_ns; /* what the kernel's ticks gave it, at the timer's last */
	uint64_t time_ns;		  /* of its last sample */
	uint64_t real_cpu_ns;		  /* its CPU when that was taken */
	struct fah_when when;		  /* what it had used when, at its last samples */
	struct fah_chunk *chunk;	  /* owned, or NULL */
	uint64_t chunk_time_ns;		  /* time of the chunk's last record, 0: none yet */
	uint32_t n_last;		  /* the chunk's last sample, root first */
	struct fah_id_frame {
		uint32_t code, instr;
	} last[FAH_PY_MAX_FRAMES], now[FAH_PY_MAX_FRAMES];
	struct fah_mem mem;	/* loads of this thread, each for itself */
	struct fah_ahead ahead; /* those of walks */
	struct fah_py_walk walk;
	uint32_t map; /* of the last sample's native stack; 0: it has none */
	uint32_t n_pcs, n_last_pcs;
	uint64_t pcs[FAH_NATIVE_MAX], sps[FAH_NATIVE_MAX]; /* innermost first */
	bool loop[FAH_NATIVE_MAX];	   /* it is an evaluation loop, by its place on the stack */
	uint64_t last_pcs[FAH_NATIVE_MAX]; /* the chunk's last, root first */
	uint64_t own_lo, own_hi;	   /* own_stack.c */
	uint32_t own_refused;
	uint32_t rules_of; /* the map whose rules are these */
	struct fah_unwind_cache rules;
	struct fah_stack_window {
		struct fah_mem mem;
		uint64_t addr;
		uint32_t len;
		uint8_t bytes[8192];
	} window;
	uint8_t text[8192]; /* scratch for names */
	ucontext_t here;    /* where it is, outside of handlers: the program's stack may be short */
	/* handlers run here: the program's stack, or its alternate one, may be nearly used up */
	uint8_t stack[FAH_HANDLER_STACK] __attribute__((aligned(16)));
};
void fah_thread_begin(void);			   /* in the new thread: give it a timer */
void fah_thread_begin_first(void);		   /* the thread that starts recording */
void fah_thread_adopt_all(void);		   /* threads older than the start */
struct fah_thread_state *fah_thread_current(void); /* this thread's; NULL: no memory */
void fah_thread_forked(void);			   /* in a fork's child */
void fah_thread_setup(void);
void fah_thread_end_all(void); /* the records of their ends; nobody else writes any more */
/* Not in a handler: this thread's state, to write records by until fah_thread_write_end, patiently.
 * NULL: it cannot be done now. */
struct fah_thread_state *fah_thread_write_begin(void);
void fah_thread_write_end(struct fah_thread_state *t);

/* What the kernel counted between two signals of the timer: whole ticks, or what one that measures
 * says. 0 of 0: it does not say, or there was none. */
struct fah_ticks {
	uint64_t all_ns, system_ns;
};

/* timers.c: the timer of a thread. Entries of a table; one whose tid is 0 is free. */
struct fah_timer {
	_Atomic uint32_t tid;
	_Atomic int id;	      /* the kernel's, plus 1; 0: the kernel gave none, or it is stopped */
	_Atomic bool off;     /* its thread blocks our signal */
	uint64_t left_ns;     /* of the interval, when it was put off */
	uint64_t interval_ns; /* as it was last set */
	uint64_t due_ns;      /* CPU from its last sample to its next; 0: not known */
	uint64_t event_ns;    /* two clocks: its thread's CPU at the last event; 0: none yet */
	uint64_t event_own_ns, tick_own_ns; /* what the handlers of the last of each took */
	double kernel_part;  /* two clocks: of the ticks of late, how many found it inside */
	uint32_t n_ticks;    /* that this is the mean of */
	bool at_ticks;	     /* two clocks: it comes at each tick, however rare samples are */
	uint64_t expires_ns; /* outer: its thread's CPU when the next signal is due; 0: not known */
	bool outer;	     /* the collector's event has taken over */
	bool barred;	     /* it is not to have one now: its thread blocks our signal at times */
	uint32_t left;	     /* so often it gave its event back */
	uint32_t shy_for;    /* barred: signals of the timer until it asks again */
	uint64_t start_mono_ns, cpu_ns; /* when its thread was asked for, or came to us */
	_Atomic uint64_t end_cpu_ns;	/* of a thread that ended while the process did */
};
/* cpu_ns: what the thread used before its start; on: it runs at once. NULL: the table is full. */
struct fah_timer *fah_timer_new(uint32_t tid, bool on, uint64_t start_mono_ns, uint64_t cpu_ns);
struct fah_timer *fah_timer_of(uint32_t tid);
struct fah_timer *fah_timer_at(uint32_t i); /* NULL beyond the end */
struct fah_timer *fah_thread_timer(void);   /* thread.c: this thread's, or NULL */
bool fah_timer_cpu(uint32_t tid, uint64_t *ret_ns);
/* A clock of a thread of this process, by the kernel's encoding; tid 0: of the calling one. */
enum fah_thread_clock {
	FAH_ALL_TICKS = 0,  /* what the kernel's ticks gave it */
	FAH_USER_TICKS = 1, /* of that, outside of the kernel */
	FAH_CPU_TIME = 2,   /* measured, not counted by ticks */
};
static inline clockid_t fah_thread_clock(uint32_t tid, enum fah_thread_clock which)
{
	return (clockid_t)((~tid << 3) | 4u | (uint32_t)which);
}
void fah_timer_delete(struct fah_timer *t);
void fah_timer_rest(struct fah_timer *t, uint64_t ns); /* the next sample is due in ns */
/* By its own thread, before it blocks our signal and after it let it in again. */
void fah_timer_off(struct fah_timer *t);
void fah_timer_on(struct fah_timer *t);
void fah_timer_forked(void); /* in a fork's child */
/* Two clocks at a time: the collector's event outside of the kernel, the timer inside. */
bool fah_timer_has_both(const struct fah_timer *t);
/* By its own thread, in the handler: whether a timer beside an event comes at each tick. */
void fah_timer_at_ticks(struct fah_timer *t, bool yes);
/* Where the collector says what event it gave; NULL: it gives none. */
struct fah_clock_slot *fah_timer_slot(const struct fah_timer *t);

/*
 * account.c: by its own thread, in the handler, at this much CPU, after a last record up to
 * from_ns: up to where the sample accounts for it. ticks_ns: of the timer's samples what the ticks
 * stand for (fah_timer_of_ticks), of two clocks what fah_timer_in_kernel said; 0: it is an event's,
 * or not known. What the handler takes is to be added to it. t may be NULL.
 */
uint64_t fah_timer_account(struct fah_timer *t, uint64_t from_ns, uint64_t cpu_ns,
			   uint64_t ticks_ns);
/* What ticks stand for, without the handler that came with the last one. t may be NULL. */
uint64_t fah_timer_of_ticks(struct fah_timer *t, uint64_t ticks_ns);
/* So long a handler took. t may be NULL. */
void fah_timer_handled(struct fah_timer *t, bool by_tick, uint64_t ns);
/* The collector's event came too early after the last: it is let go, and its CPU goes to the next.
 * t may be NULL. */
bool fah_timer_too_early(const struct fah_timer *t, uint64_t since_ns);
/* Two clocks, these ticks since the last call: whether a sample is to be taken that is the
 * kernel's, and what it stands for, on average. */
bool fah_timer_in_kernel(struct fah_timer *t, const struct fah_ticks *ticks, uint64_t *ret_ns);
/* Two clocks: a tick found the thread outside of the kernel. Where no event has come for long, the
 * collector is gone, and the timer is the only clock again. */
void fah_timer_beside(struct fah_timer *t, uint64_t cpu_ns);
/* By its own thread, in the handler: a signal of the timer; one that was barred may ask again, and
 * one whose event was taken away serves alone. */
void fah_timer_came(struct fah_timer *t);
/* Two clocks: the event is gone. */
void fah_timer_alone(struct fah_timer *t);
/* By its own thread, in the handler: the signal was the collector's event. False: one that is gone,
 * and this came late: what it stands for goes to the next sample. */
bool fah_timer_taken_over(struct fah_timer *t);
/* Before its thread blocks our signal: back to the timer, when the collector has ended the event.
 */
void fah_timer_leave_event(struct fah_timer *t);
void fah_timers_leave_events(void); /* all of them */
void fah_timers_ask(void); /* there is a segment to ask the collector in, for all of them */

/*
 * Whoever writes records does so between these two. False: recording is over, don't write.
 * fah_quiet ends recording, stops all timers and waits until nobody writes; false: somebody still
 * does, after a tenth of a second. fah_loud takes it back.
 */
bool fah_writing_begin(void);
void fah_writing_end(void);
bool fah_quiet(void);
void fah_loud(void);

/* codes.c: code objects get ids; the first use writes the definition to the thread's chunk. */
void fah_codes_forget(void); /* in a fork's child */
int fah_codes_setup(void);
/* The id, or 0 where it could not be defined (the sample is dropped with *ret_drop). */
uint32_t fah_codes_id(struct fah_thread_state *t, const struct fah_py_frame *frame,
		      enum fah_drop *ret_drop);
/* An id for something that is no code object, such as a function of C's. 0: no room. */
uint32_t fah_codes_other(struct fah_thread_state *t, const char *file, const char *name);

/* segment.c: room for records. */
int fah_segment_start(void);			 /* the process's first segment */
void fah_segment_forked(void);			 /* in a fork's child: forget the parent's */
struct fah_segment_head *fah_segment_head(void); /* segment 0's; NULL: none */
/* <session>/<pid>-<mono ns>-<n><suffix>; the time keeps a reused pid apart. To a buffer of
 * FAH_PATH_MAX + 80. */
void fah_segment_path(char *p, uint32_t pid, uint64_t mono, uint32_t n, const char *suffix);
/* A file may be so large: beyond the program's limit the kernel would send it a signal that kills.
 */
bool fah_segment_may_have(uint64_t bytes);
bool fah_segment_closed(void);
/*
 * Room for a record of at most max payload bytes in t's chunk (a new chunk, begun with a THREAD
 * record, where the old one is full). NULL: none; who is patient has waited up to 50 ms for it,
 * once until there is room again. Write there, then commit with the real end.
 */
uint8_t *fah_record_begin(struct fah_thread_state *t, size_t max);
void fah_record_commit(struct fah_thread_state *t, enum fah_seg_record type, uint8_t *end);
void fah_chunk_release(struct fah_thread_state *t); /* its thread ends */

/* usage.c: of the cpu_ns since the thread's last record. */
struct fah_usage {
	bool known;	    /* false: a sandbox forbids to ask */
	bool blocked;	    /* at least once; where it is not known, too */
	bool by_sum;	    /* what follows is of sums that the kernel smooths */
	uint64_t system_ns; /* the kernel's part */
};
void fah_usage_since(struct fah_thread_state *t, uint64_t cpu_ns, struct fah_usage *ret);
/* All of it was the kernel's, as is known of this very sample: others get the less of the sum. In
 * the long run no more than that sum. */
void fah_usage_all_system(struct fah_thread_state *t, uint64_t cpu_ns, struct fah_usage *use);
void fah_usage_tick(struct fah_thread_state *t,
		    struct fah_ticks *ret); /* at a signal of the timer */

/* native.c: the native stack of the interrupted code into t->pcs; t->map 0: no map of the code. */
void fah_native_walk(struct fah_thread_state *t, const void *ucontext);
void fah_native_forked(void);	   /* in a fork's child */
uint32_t fah_native_unloads(void); /* for the head of a new segment */
/* Around what may take code away; gone: it may have. */
void fah_native_unload_begin(void);
void fah_native_unload_end(bool gone);
bool fah_native_removals(uint64_t *ret); /* of libraries, so far; false: not known */
/* Which of t->pcs are evaluation loops: by what t->walk has found on the C stack. */
void fah_native_loops(struct fah_thread_state *t);

/* own_stack.c: whether [sp, *ret_hi) is the calling thread's own stack, to be read by plain loads
 * for as long as it lives. Signal-handler safe. */
bool fah_own_stack(struct fah_thread_state *t, uint64_t sp, uint64_t *ret_hi);
void fah_own_stack_setup(void);

/* frames.c: for the head of a new segment. */
uint64_t fah_frames_address(void);

/* cost.c: what samples cost, and how often they may be taken for it. */
uint64_t fah_cost_interval(void); /* ns of thread CPU between samples, as in force */
/* Before a sample is taken, cpu_ns after the last one; timer may be NULL, here and below. */
void fah_cost_gap(const struct fah_timer *timer, uint64_t cpu_ns);
void fah_cost_note(struct fah_timer *timer, uint64_t ns); /* after it: the handler took ns */
uint64_t fah_cost_of_event(void);     /* what the collector's event costs beside its handler */
void fah_cost_no_sample(uint64_t ns); /* the handler took ns, and there was nothing to take */

/* sample.c */
void fah_sample_take(void *ucontext, bool outer); /* outer: by the collector's event */
void fah_sample_thread_end(struct fah_thread_state *t, uint64_t cpu);

/* clock.c */
uint64_t fah_now_mono(void);
uint64_t fah_now_real(void);
uint64_t fah_now_thread_cpu(void);
uint64_t fah_now_process_cpu(void);
uint64_t fah_random(void);

/* The time of a record, which begins with it: now, and never before the chunk's last. */
static inline uint8_t *fah_record_put_time(struct fah_thread_state *t, uint8_t *p)
{
	uint64_t mono = fah_now_mono();

	if (mono < t->chunk_time_ns)
		mono = t->chunk_time_ns;
	p = fah_put_varint(p, mono - t->chunk_time_ns);
	t->chunk_time_ns = mono;
	return p;
}

/* v's digits from p on; where they end. Up to 20, no NUL. */
char *fah_put_decimal(char *p, uint64_t v);

#endif
