/*
 * thread.c - every thread gets a timer on its own CPU clock, and a state for its samples.
 *
 * pthread_create is passed on with a start routine of ours that sets the timer up inside the new
 * thread; a thread-specific destructor takes it down, however the thread ends. States come from our
 * own maps and are reused.
 */
#include "agent/exact.h"
#include "agent/heap.h"
#include "agent/lines.h"
#include "core/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define MAX_STATES 16384
#define MAX_STARTS 256

/* Old versions of the symbols and weak, as in real.c. */
extern int pthread_key_create(pthread_key_t *, void (*)(void *)) __attribute__((weak));
extern int pthread_setspecific(pthread_key_t, const void *) __attribute__((weak));
__asm__(".symver pthread_key_create, pthread_key_create@GLIBC_2.2.5");
__asm__(".symver pthread_setspecific, pthread_setspecific@GLIBC_2.2.5");

#define AGENT_TLS _Thread_local __attribute__((tls_model("initial-exec")))

static AGENT_TLS struct fah_thread_state *state;
static AGENT_TLS struct fah_timer *timer;
static AGENT_TLS bool begun;

static struct fah_thread_state *_Atomic states[MAX_STATES];
static _Atomic uint32_t n_states;
static pthread_key_t end_key;
static bool has_end_key;

static void on_thread_end(void *unused)
{
	struct fah_thread_state *t = state;
	struct fah_timer *ours = timer;

	(void)unused;
	fah_exec_thread_end();
	fah_exact_thread_end();
	fah_lines_thread_end();
	fah_heap_thread_end();
	if (!fah_writing_begin()) {
		/* whoever ends the process writes for us, and cannot ask the kernel any more */
		if (ours && !fah_sandbox_is_on())
			atomic_store(&ours->end_cpu_ns, fah_now_thread_cpu());
		return;
	}
	if (atomic_load(&fah_agent.pid) == (uint32_t)FAH_SYS0(SYS_getpid)) {
		/* also a thread that was too short for a sample says how much CPU it used */
		if (!t)
			t = fah_thread_current();
		if (ours)
			fah_timer_off(ours); /* no sample from here on */
		if (t) {
			fah_sample_thread_end(t, fah_now_thread_cpu());
			fah_chunk_release(t);
		}
		timer = NULL;
		if (ours)
			fah_timer_delete(ours);
	}
	state = NULL;
	if (t)
		atomic_store(&t->used, false);
	fah_writing_end();
}

void fah_thread_setup(void)
{
	/* early, so that the key is a low one: those need no memory from malloc */
	if (pthread_key_create && pthread_setspecific)
		has_end_key = pthread_key_create(&end_key, on_thread_end) == 0;
}

static bool blocks_signal(uint64_t mask)
{
	return mask >> (FAH_SIGNAL - 1) & 1;
}

static void begin(uint64_t start_mono_ns, uint64_t cpu_ns)
{
	uint64_t mask = 0;

	if (begun || !fah_writing_begin())
		return;
	begun = true;
	if (has_end_key)
		pthread_setspecific(end_key, &fah_agent);
	FAH_SYS4(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, 8);
	timer = fah_timer_new((uint32_t)FAH_SYS0(SYS_gettid), !blocks_signal(mask), start_mono_ns,
			      cpu_ns);
	fah_writing_end();
}

void fah_thread_begin(void)
{
	begin(fah_now_mono(), 0);
}

void fah_thread_begin_first(void)
{
	uint64_t cpu = fah_now_thread_cpu();

	begin(fah_now_mono(), cpu); /* so far it was the interpreter's own start */
	/* the check of the walk has made a state before there was a timer */
	if (state) {
		state->start_mono_ns = fah_now_mono();
		state->last_cpu_ns = cpu;
	}
}

/*
 * A thread that was there before recording began learns of its timer in its first signal, or when
 * it changes its mask. The key is a low one: setting it is a store into the thread's own memory,
 * which a handler may do.
 */
struct fah_timer *fah_thread_timer(void)
{
	if (!begun && atomic_load(&fah_agent.active)) {
		begun = true;
		timer = fah_timer_of((uint32_t)FAH_SYS0(SYS_gettid));
		if (timer && has_end_key)
			pthread_setspecific(end_key, &fah_agent);
	}
	return timer;
}

/* Whether that thread blocks our signal, as the kernel shows it. */
static bool task_blocks_signal(long task_fd, const char *tid)
{
	static const char label[] = "\nSigBlk:\t";
	char path[32], buf[2048];
	uint64_t mask = 0;
	const char *s;
	size_t len = strlen(tid);
	long fd, n;

	if (len + sizeof("/status") > sizeof(path))
		return false;
	memcpy(path, tid, len);
	memcpy(path + len, "/status", sizeof("/status"));
	fd = FAH_SYS4(SYS_openat, task_fd, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	n = FAH_SYS3(SYS_read, fd, buf, sizeof(buf) - 1);
	FAH_SYS1(SYS_close, fd);
	buf[n > 0 ? n : 0] = 0;
	s = strstr(buf, label);
	for (s = s ? s + sizeof(label) - 1 : ""; *s && *s != '\n'; s++)
		mask = mask << 4 | (uint64_t)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
	return blocks_signal(mask);
}

/* Threads that were there before recording began get their timers from outside. */
void fah_thread_adopt_all(void)
{
	long fd = FAH_SYS4(SYS_openat, AT_FDCWD, "/proc/self/task",
			   O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	uint32_t self = (uint32_t)FAH_SYS0(SYS_gettid);
	char buf[4096];
	long n, at;

	if (fd < 0)
		return;
	while ((n = FAH_SYS3(SYS_getdents64, fd, buf, sizeof(buf))) > 0) {
		for (at = 0; at < n;) {
			uint16_t len;
			uint32_t tid = 0;
			uint64_t cpu = 0;
			const char *name = buf + at + 19; /* struct linux_dirent64.d_name */

			memcpy(&len, buf + at + 16, 2);
			for (const char *s = name; *s >= '0' && *s <= '9'; s++)
				tid = tid * 10 + (uint32_t)(*s - '0');
			/* one that was made just now may have its timer already */
			if (tid && tid != self && !fah_timer_of(tid) && fah_timer_cpu(tid, &cpu))
				fah_timer_new(tid, !task_blocks_signal(fd, name), fah_now_mono(),
					      cpu);
			at += len;
		}
	}
	FAH_SYS1(SYS_close, fd);
}

static struct fah_thread_state *claim_state(void)
{
	uint32_t i, n = atomic_load(&n_states);
	struct fah_thread_state *t;
	bool expected;

	for (i = 0; i < n; i++) {
		t = atomic_load(&states[i]);
		expected = false;
		if (t && atomic_compare_exchange_strong(&t->used, &expected, true))
			return t;
	}
	i = atomic_fetch_add(&n_states, 1);
	if (i >= MAX_STATES) {
		atomic_store(&n_states, MAX_STATES);
		return NULL;
	}
	t = fah_pages(sizeof(*t));
	if (t) {
		atomic_store(&t->used, true);
		atomic_store(&states[i], t);
	}
	return t;
}

/* What the kernel counts begins anew with each thread, a fork's child's too. */
static void forget_usage(struct fah_thread_state *t)
{
	t->last_blocked = t->last_faults = t->last_system_ns = 0;
	t->owed_system_ns = 0;
	t->ticks_ns = t->user_ticks_ns = 0;
	t->time_ns = t->real_cpu_ns = 0;
	fah_when_begin(&t->when, fah_now_mono(), 0);
}

/* A state for thread tid, whose timer is ours. */
static struct fah_thread_state *new_state(uint32_t tid, const struct fah_timer *ours)
{
	struct fah_thread_state *t = claim_state();

	if (!t)
		return NULL;
	t->tid = tid;
	t->pthread_id = 0;
	t->tstate = 0;
	atomic_store(&t->busy, false);
	t->patient = false;
	t->start_mono_ns = ours ? ours->start_mono_ns : fah_now_mono();
	t->last_cpu_ns = ours ? ours->cpu_ns : 0;
	forget_usage(t);
	fah_when_begin(&t->when, t->start_mono_ns, t->last_cpu_ns);
	t->chunk = NULL;
	t->chunk_time_ns = 0;
	t->n_last = t->n_last_pcs = 0;
	t->own_lo = t->own_hi = t->own_refused = 0;
	fah_ahead_init(&t->ahead);
	t->mem = t->ahead.under;
	return t;
}

struct fah_thread_state *fah_thread_current(void)
{
	if (state)
		return state;
	state = new_state((uint32_t)FAH_SYS0(SYS_gettid), fah_thread_timer());
	if (state)
		state->pthread_id = (uint64_t)pthread_self();
	return state;
}

struct fah_thread_state *fah_thread_write_begin(void)
{
	struct fah_thread_state *t;

	if (!fah_writing_begin())
		return NULL;
	t = atomic_load(&fah_agent.pid) == (uint32_t)FAH_SYS0(SYS_getpid) &&
			    (fah_segment_head() || fah_segment_start() == 0) &&
			    !fah_segment_closed()
		    ? fah_thread_current()
		    : NULL;
	if (t && !atomic_exchange(&t->busy, true)) {
		t->patient = true;
		return t;
	}
	fah_writing_end();
	return NULL;
}

void fah_thread_write_end(struct fah_thread_state *t)
{
	t->patient = false;
	atomic_store(&t->busy, false);
	fah_writing_end();
}

static struct fah_thread_state *state_of(uint32_t tid)
{
	uint32_t n = atomic_load(&n_states);

	for (uint32_t i = 0; i < n && i < MAX_STATES; i++) {
		struct fah_thread_state *t = atomic_load(&states[i]);

		if (t && atomic_load(&t->used) && t->tid == tid)
			return t;
	}
	return NULL;
}

void fah_thread_end_all(void)
{
	const struct fah_timer *ours;
	struct fah_thread_state *t;

	for (uint32_t i = 0; (ours = fah_timer_at(i)); i++) {
		uint32_t tid = atomic_load(&ours->tid);
		uint64_t cpu = 0;

		if (tid && !fah_timer_cpu(tid, &cpu))
			cpu = atomic_load(&ours->end_cpu_ns);
		if (!cpu)
			continue;
		t = state_of(tid);
		if (!t)
			t = new_state(tid, ours);
		if (t)
			fah_sample_thread_end(t, cpu);
	}
}

/* What pthread_create was asked to run, on its way into the new thread. */
struct start {
	_Atomic bool used;
	void *(*routine)(void *);
	void *arg;
	uint64_t asked_ns; /* its life begins here: from now on it wants a core */
};
static struct start starts[MAX_STARTS];

/* Only the forking thread lives on in the child, without its timer and with a new CPU clock. */
void fah_thread_forked(void)
{
	uint32_t n = atomic_load(&n_states);

	for (uint32_t i = 0; i < n && i < MAX_STATES; i++) {
		struct fah_thread_state *t = atomic_load(&states[i]);

		if (t && t != state)
			atomic_store(&t->used, false);
		if (t)
			t->chunk = NULL;
	}
	if (state) {
		state->tid = (uint32_t)FAH_SYS0(SYS_gettid);
		state->last_cpu_ns = 0;
		forget_usage(state);
		state->n_last = state->n_last_pcs = 0;
		state->chunk_time_ns = 0;
		state->start_mono_ns = fah_now_mono();
	}
	for (int i = 0; i < MAX_STARTS; i++) /* those threads will never start here */
		atomic_store(&starts[i].used, false);
	fah_timer_forked();
	timer = NULL;
	begun = false;
	fah_thread_begin();
}

static void *run_thread(void *p)
{
	struct start *s = p;
	void *(*routine)(void *) = s->routine;
	void *arg = s->arg;
	uint64_t asked_ns = s->asked_ns;

	atomic_store(&s->used, false);
	begin(asked_ns, 0);
	return routine(arg);
}

typedef int (*create_fn)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

FAH_AGENT_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
				    void *(*routine)(void *), void *arg)
{
	create_fn real = (create_fn)(uintptr_t)fah_real("pthread_create");
	struct start *s = NULL;
	bool expected;
	int err;

	if (!real)
		return ENOSYS;
	fah_lines_new_thread();
	if (!atomic_load(&fah_agent.active))
		return real(thread, attr, routine, arg);
	for (int i = 0; i < MAX_STARTS && !s; i++) {
		expected = false;
		if (atomic_compare_exchange_strong(&starts[i].used, &expected, true))
			s = &starts[i];
	}
	if (!s) /* 256 threads on their way at once: this one goes unsampled */
		return real(thread, attr, routine, arg);
	s->routine = routine;
	s->arg = arg;
	s->asked_ns = fah_now_mono();
	err = real(thread, attr, run_thread, s);
	if (err)
		atomic_store(&s->used, false);
	return err;
}
