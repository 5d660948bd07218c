/*
 * probe.c - a library that a test's Python loads with ctypes: the walk from inside.
 *
 * Called directly it walks the caller's own thread. With probe_start it also walks in a signal
 * handler, at a rate that no one would use on real programs, and keeps every distinct stack
 * it accepted, for the test to judge. Plain C without Python headers, and without symbols that an
 * old glibc lacks; all addresses come from the test.
 */
#include "core/err.h"
#include "core/sys.h"
#include "cpython/walk.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#define API __attribute__((visibility("default")))
#define STACKS 4096
#define DEPTH 48
#define PCS 256

/* Faults of the probe's own, beside enum fah_py_test_skip: what a wrong walk would give. */
enum {
	FAULT_STALE = 1 << 16,	 /* the innermost frame is the one of the sample before */
	FAULT_MISSING = 1 << 17, /* the innermost but one is left out */
};

struct stack {
	uint64_t hash;
	uint32_t n, whole, recovered, leaf_call, count;
	struct fah_py_frame frames[DEPTH]; /* innermost first; runs of one function are folded */
};

struct stats {
	uint64_t samples, accepted, recovered, empty, not_stored, doubts[FAH_PY_DOUBT_COUNT];
	uint64_t ns, max_ns, frames;
	uint64_t jit; /* of accepted: the thread was in what the JIT has made */
};

static uint8_t rooms[2][FAH_LOAD_ROOM];
static struct fah_mem mem, handler_mem; /* this process, with room for batches */
static struct fah_py_layout layout;
static uint64_t runtime;
static struct fah_py_walk *direct, *sampled;
static struct stack *stacks;
static struct stats stats;
static uint32_t n_stacks;
static uint64_t sampled_tstate;
static int timer_id = -1;
static uint64_t period;
static volatile sig_atomic_t busy, stepping;
static uint64_t last_doubt_pc;
static uint32_t faults;
static struct fah_py_frame stale;
static struct {
	uint64_t pc, count;
} doubt_pcs[PCS];

API int probe_init(uint32_t version_hex, uint64_t runtime_addr, const uint64_t *types)
{
	int err;

	mem = handler_mem = fah_mem_self;
	mem.ctx = (uintptr_t)rooms[0];
	handler_mem.ctx = (uintptr_t)rooms[1];
	fah_mem_self_pid((uint32_t)FAH_SYS0(SYS_getpid));
	err = fah_py_layout_init(&layout, &mem, version_hex, runtime_addr);

	if (err < 0)
		return err;
	runtime = runtime_addr;
	layout.code_type = types[0];
	layout.frame_type = types[1];
	layout.gen_type = types[2];
	layout.coro_type = types[3];
	layout.asyncgen_type = types[4];
	direct = calloc(1, sizeof(*direct));
	sampled = calloc(1, sizeof(*sampled));
	stacks = calloc(STACKS, sizeof(*stacks));
	return direct && sampled && stacks ? 0 : FAH_ERR_NOMEM;
}

API uint32_t probe_lines_kind(void)
{
	return layout.lines_kind;
}

API int64_t probe_tstate(uint64_t pthread_id)
{
	uint64_t tstate;
	int err = fah_py_find_thread(&mem, &layout, runtime, pthread_id, &tstate);

	return err < 0 ? err : (int64_t)tstate;
}

/* From now on every walk has these faults: FAULT_STALE, FAULT_MISSING. */
API void probe_fault(uint32_t wanted)
{
	faults = wanted;
}

static void spoil(struct fah_py_walk *w)
{
	struct fah_py_frame innermost;

	if (w->n_frames < 4)
		return;
	if (faults & FAULT_STALE) {
		innermost = w->frames[0];
		if (stale.code)
			w->frames[0] = stale;
		stale = innermost;
	}
	if (faults & FAULT_MISSING) {
		w->n_frames--;
		memmove(&w->frames[1], &w->frames[2], (w->n_frames - 1) * sizeof(w->frames[0]));
	}
}

/* Whether plain loads give the same of the caller's own thread, which holds still. */
static bool same_here(const struct fah_py_walk *w, uint64_t tstate)
{
	static struct fah_py_walk *here;

	here = here ? here : calloc(1, sizeof(*here));
	if (!here || fah_py_walk_here(here, &layout, tstate) < 0 || here->n_frames != w->n_frames ||
	    here->truncated != w->truncated || here->n_loops != w->n_loops)
		return false;
	for (uint32_t i = 0; i < w->n_loops && i < FAH_PY_LOOPS; i++)
		if (here->loops[i] != w->loops[i])
			return false;
	for (uint32_t i = 0; i < w->n_frames; i++) {
		const struct fah_py_frame *a = &here->frames[i], *b = &w->frames[i];

		if (a->code != b->code || a->instr != b->instr || a->ident != b->ident ||
		    !a->entry != !b->entry)
			return false;
	}
	return true;
}

/* Walks thread pthread_id, 0: the caller's. The number of frames or enum fah_err;
 * FAH_ERR_MISMATCH also where plain loads give another stack. */
API int probe_walk(uint64_t pthread_id)
{
	uint64_t id = pthread_id ? pthread_id : (uint64_t)pthread_self(), tstate;
	int err = fah_py_find_thread(&mem, &layout, runtime, id, &tstate);

	if (err < 0)
		return err;
	if (!fah_py_thread_is(&mem, &layout, tstate, id))
		return FAH_ERR_MISMATCH;
	err = fah_py_walk_thread(direct, &mem, &layout, tstate);
	if (err == 0 && !pthread_id && !same_here(direct, tstate))
		err = FAH_ERR_MISMATCH;
	if (err == 0)
		spoil(direct);
	return err < 0 ? err : (int)direct->n_frames;
}

API uint32_t probe_doubt(void)
{
	return direct->doubt;
}

/* bit 0: truncated, bit 1: leaf_call, bit 2: recovered */
API uint32_t probe_marks(void)
{
	return direct->truncated | direct->leaf_call << 1 | direct->recovered << 2;
}

API const struct fah_py_frame *probe_frame(int i)
{
	return &direct->frames[i];
}

/* What fah_py_code_read and fah_py_read_str give: which 0 filename, 1 name, 2 qualname. */
API int probe_string(uint64_t code_addr, int which, char *buf, size_t cap)
{
	struct fah_py_code code;
	int err = fah_py_code_read(&mem, &layout, code_addr, &code);

	if (err < 0)
		return err;
	return fah_py_read_str(&mem, &layout,
			       which == 0   ? code.filename
			       : which == 1 ? code.name
					    : code.qualname,
			       buf, cap);
}

API int probe_str(uint64_t str, char *buf, size_t cap)
{
	return fah_py_read_str(&mem, &layout, str, buf, cap);
}

API int probe_code(uint64_t code_addr, int32_t *ret_firstlineno, uint32_t *ret_flags)
{
	struct fah_py_code code;
	int err = fah_py_code_read(&mem, &layout, code_addr, &code);

	if (err == 0) {
		*ret_firstlineno = code.firstlineno;
		*ret_flags = code.flags;
	}
	return err;
}

API int probe_line(uint64_t code_addr, uint32_t instr)
{
	static uint8_t table[1 << 20];
	struct fah_py_code code;
	struct fah_py_position position;
	uint64_t data;
	size_t len;
	int err = fah_py_code_read(&mem, &layout, code_addr, &code);

	if (err == 0)
		err = fah_py_bytes_span(&mem, &layout, code.linetable, sizeof(table), &data, &len);
	if (err == 0)
		err = fah_load(&mem, data, table, len);
	if (err == 0)
		err = fah_py_position(layout.lines_kind, table, len, code.firstlineno, instr,
				      &position);
	return err < 0 ? err : position.line;
}

/* The holder of the GIL as a pthread id: 0 free, 1 a state that is not in the lists. */
API int64_t probe_gil_holder(void)
{
	uint64_t holder, id;
	int err = fah_py_gil_holder(&mem, &layout, runtime, &holder);

	if (err < 0)
		return err;
	if (holder == 0)
		return 0;
	return fah_load(&mem, holder + layout.ts_thread_id, &id, 8) < 0 ? 1 : (int64_t)id;
}

API int probe_collecting(void)
{
	uint64_t tstate;
	bool collecting;
	int err = fah_py_find_thread(&mem, &layout, runtime, (uint64_t)pthread_self(), &tstate);

	if (err == 0)
		err = fah_py_gc_collecting(&mem, &layout, tstate, &collecting);
	return err < 0 ? err : collecting;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The best of n walks of the caller's stack, in nanoseconds; 0: one was given up. */
API uint64_t probe_time(int n)
{
	uint64_t tstate, start, took, best = UINT64_MAX;

	if (fah_py_find_thread(&mem, &layout, runtime, (uint64_t)pthread_self(), &tstate) < 0)
		return 0;
	for (int i = 0; i < n; i++) {
		start = now();
		if (fah_py_walk_thread(direct, &mem, &layout, tstate) < 0)
			return 0;
		took = now() - start;
		best = took < best ? took : best;
	}
	return best;
}

/* Keeps the stack if it is a new one. Runs of one function (recursion) count as one frame. */
static void keep(const struct fah_py_walk *w)
{
	struct fah_py_frame folded[DEPTH];
	uint64_t hash = 1469598103934665603u;
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_frames; i++) {
		const struct fah_py_frame *f = &w->frames[i];

		/* Recursion shows as a run, or as two functions that take turns. */
		if (n > 1 && folded[n - 1].code == f->code && folded[n - 1].instr == f->instr)
			continue;
		if (n > 3 && folded[n - 2].code == f->code && folded[n - 2].instr == f->instr &&
		    i + 1 < w->n_frames && folded[n - 1].code == w->frames[i + 1].code &&
		    folded[n - 1].instr == w->frames[i + 1].instr) {
			i++;
			continue;
		}
		if (n == DEPTH) {
			stats.not_stored++;
			return;
		}
		folded[n] = *f;
		if (n == 0)
			folded[0].instr = 0;
		hash = (hash ^ f->code) * 1099511628211u;
		hash = (hash ^ folded[n].instr) * 1099511628211u;
		n++;
	}
	hash ^= w->recovered | (uint64_t)w->truncated << 1;
	for (uint32_t i = 0, at = hash % STACKS; i < STACKS; i++, at = (at + 1) % STACKS) {
		struct stack *s = &stacks[at];

		if (s->count == 0) {
			s->hash = hash;
			s->n = n;
			s->whole = !w->truncated;
			s->recovered = w->recovered;
			memcpy(s->frames, folded, n * sizeof(folded[0]));
			n_stacks++;
		} else if (s->hash != hash) {
			continue;
		}
		s->count++;
		return;
	}
	stats.not_stored++;
}

static void doubt_pc_add(uint64_t pc)
{
	for (int i = 0; i < PCS; i++) {
		if (doubt_pcs[i].count == 0 || doubt_pcs[i].pc == pc) {
			doubt_pcs[i].pc = pc;
			doubt_pcs[i].count++;
			return;
		}
	}
}

/* pc: where the thread was. */
static void sample(uint64_t pc)
{
	uint64_t start = now(), took;

	stats.samples++;
	if (fah_py_walk_thread(sampled, &handler_mem, &layout, sampled_tstate) < 0) {
		stats.doubts[sampled->doubt < FAH_PY_DOUBT_COUNT ? sampled->doubt : 0]++;
		if (last_doubt_pc)
			doubt_pc_add(last_doubt_pc);
		return;
	}
	spoil(sampled);
	took = now() - start;
	stats.ns += took;
	if (took > stats.max_ns)
		stats.max_ns = took;
	stats.frames += sampled->n_frames;
	stats.accepted++;
	stats.recovered += sampled->recovered;
	stats.jit += fah_py_in_jit(sampled, pc);
	if (sampled->n_frames == 0)
		stats.empty++;
	else
		keep(sampled);
}

static void arm(void)
{
	struct itimerspec spec = {{0, 0}, {0, (long)period}};

	FAH_SYS4(SYS_timer_settime, timer_id, 0, &spec, 0);
}

static void handler(int sig, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)sig, (void)info;
	if (busy || sampled_tstate == 0)
		return;
	busy = 1;
	sample((uint64_t)interrupted->uc_mcontext.gregs[REG_RIP]);
	busy = 0;
	arm(); /* not a periodic timer: the program goes on however slow this was */
}

/* After each instruction, whatever it was: the trap flag is put into the flags that the thread
 * resumes with. */
static void step_handler(int sig, siginfo_t *info, void *context)
{
	ucontext_t *resumed = context;

	(void)sig, (void)info;
	if (!stepping) {
		resumed->uc_mcontext.gregs[REG_EFL] &= ~0x100ll;
		return;
	}
	resumed->uc_mcontext.gregs[REG_EFL] |= 0x100;
	last_doubt_pc = (uint64_t)resumed->uc_mcontext.gregs[REG_RIP];
	sample(last_doubt_pc);
}

static int begin(uint32_t skip)
{
	if (fah_py_find_thread(&mem, &layout, runtime, (uint64_t)pthread_self(), &sampled_tstate) <
	    0)
		return -1;
	memset(&stats, 0, sizeof(stats));
	memset(stacks, 0, STACKS * sizeof(*stacks));
	memset(doubt_pcs, 0, sizeof(doubt_pcs));
	n_stacks = 0;
	memset(&stale, 0, sizeof(stale));
	sampled->test_skip = skip;
	faults = skip;
	return 0;
}

/* Samples the calling thread period_ns after each sample from now on; skip: enum fah_py_test_skip,
 * and faults. */
API int probe_start(uint64_t period_ns, uint32_t skip)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigevent event;

	if (begin(skip) < 0 || sigaction(SIGPROF, &action, NULL) < 0)
		return -1;
	memset(&event, 0, sizeof(event));
	event.sigev_notify = 4; /* SIGEV_THREAD_ID */
	event.sigev_signo = SIGPROF;
	event._sigev_un._tid = (int)FAH_SYS0(SYS_gettid);
	if (FAH_SYS3(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer_id) < 0)
		return -2;
	period = period_ns;
	arm();
	return 0;
}

/* Samples the calling thread after every single instruction of it, until probe_step_stop. */
API int probe_step_start(uint32_t skip)
{
	struct sigaction action = {.sa_sigaction = step_handler, .sa_flags = SA_SIGINFO};

	if (begin(skip) < 0 || sigaction(SIGTRAP, &action, NULL) < 0)
		return -1;
	stepping = 1;
	raise(SIGTRAP);
	return 0;
}

API const struct stats *probe_step_stop(void)
{
	stepping = 0;
	raise(SIGTRAP);
	signal(SIGTRAP, SIG_DFL);
	sampled_tstate = 0;
	last_doubt_pc = 0;
	return &stats;
}

/* Where the program stood when a walk was given up: the i-th place and how often. */
API uint64_t probe_doubt_pc(uint32_t i, uint64_t *ret_count)
{
	if (i >= PCS)
		return 0;
	*ret_count = doubt_pcs[i].count;
	return doubt_pcs[i].pc;
}

/* What was counted so far; also while sampling. */
API const struct stats *probe_stats(void)
{
	return &stats;
}

API const struct stats *probe_stop(void)
{
	FAH_SYS1(SYS_timer_delete, timer_id);
	signal(SIGPROF, SIG_IGN);
	sampled_tstate = 0;
	return &stats;
}

/* The i-th place of the table of stacks; count is 0 where it is empty. */
API const struct stack *probe_stack(uint32_t i)
{
	return i < STACKS ? &stacks[i] : NULL;
}
