/*
 * thread.c - every thread gets a timer on its own CPU clock, and a state for its samples.
 *
 * pthread_create is passed on with a start routine of ours that sets the timer up inside the new
 * thread; a thread-specific destructor takes it down, however the thread ends. States come from our
 * own maps and are reused.
 */
#include "agent/agent.h"
#include "core/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define MAX_STATES 16384
#define MAX_STARTS 256
#define NO_TIMER (-1)

/* Old versions of the symbols and weak, as in real.c. */
extern int pthread_key_create(pthread_key_t *, void (*)(void *)) __attribute__((weak));
extern int pthread_setspecific(pthread_key_t, const void *) __attribute__((weak));
__asm__(".symver pthread_key_create, pthread_key_create@GLIBC_2.2.5");
__asm__(".symver pthread_setspecific, pthread_setspecific@GLIBC_2.2.5");

#define AGENT_TLS _Thread_local __attribute__((tls_model("initial-exec")))

static AGENT_TLS struct fah_thread_state *state;
static AGENT_TLS int timer = NO_TIMER;
static AGENT_TLS bool begun;
static AGENT_TLS uint64_t begun_mono_ns;

static struct fah_thread_state *_Atomic states[MAX_STATES];
static _Atomic uint32_t n_states;
static pthread_key_t end_key;
static bool has_end_key;

/* What the kernel's timer_create takes; libc's struct hides the thread field in older headers. */
struct kernel_sigevent {
	union sigval value;
	int signo, notify, tid;
	int pad[11];
};

/* The CPU clock of a thread of this process, by its tid: the kernel's encoding. */
static clockid_t thread_clock(uint32_t tid)
{
	return (clockid_t)((~tid << 3) | 6u);
}

static void set_timer(int id, uint64_t first_ns)
{
	uint64_t period = fah_agent.period_ns;
	struct itimerspec spec = {
		.it_interval = {(time_t)(period / 1000000000u), (long)(period % 1000000000u)},
		.it_value = {(time_t)(first_ns / 1000000000u), (long)(first_ns % 1000000000u)},
	};

	FAH_SYS4(SYS_timer_settime, id, 0, &spec, NULL);
}

/* A periodic timer that signals thread tid; the first interval is random, or threads that live
 * shorter than a period would be missed or hit in step. NO_TIMER where the kernel refuses. */
static int make_timer(uint32_t tid)
{
	struct kernel_sigevent ev = {
		.signo = FAH_SIGNAL, .notify = 4 /* SIGEV_THREAD_ID */, .tid = (int)tid};
	clockid_t clock = fah_agent.clock == FAH_CLOCK_TEST ? CLOCK_MONOTONIC : thread_clock(tid);
	int id = NO_TIMER;

	ev.value.sival_ptr = &fah_agent;
	if (FAH_SYS3(SYS_timer_create, clock, &ev, &id) < 0)
		return NO_TIMER;
	set_timer(id, 1 + fah_random() % fah_agent.period_ns);
	return id;
}

void fah_timer_rest(uint64_t ns)
{
	if (timer != NO_TIMER)
		set_timer(timer, ns);
}

void fah_timer_stop(void)
{
	if (timer != NO_TIMER)
		FAH_SYS1(SYS_timer_delete, timer);
	timer = NO_TIMER;
}

static void on_thread_end(void *unused)
{
	struct fah_thread_state *t = state;

	(void)unused;
	fah_timer_stop(); /* no sample from here on */
	/* also a thread that was too short for a sample says how much CPU it used */
	if (!t && atomic_load(&fah_agent.active))
		t = fah_thread_current();
	state = NULL;
	if (!t)
		return;
	if (atomic_load(&fah_agent.pid) == (uint32_t)FAH_SYS0(SYS_getpid)) {
		fah_sample_thread_end(t);
		fah_chunk_release(t);
	}
	atomic_store(&t->used, false);
}

void fah_thread_setup(void)
{
	/* early, so that the key is a low one: those need no memory from malloc */
	if (pthread_key_create && pthread_setspecific)
		has_end_key = pthread_key_create(&end_key, on_thread_end) == 0;
}

void fah_thread_begin(void)
{
	if (begun)
		return;
	begun = true;
	begun_mono_ns = fah_now_mono();
	if (has_end_key)
		pthread_setspecific(end_key, &fah_agent);
	timer = make_timer((uint32_t)FAH_SYS0(SYS_gettid));
}

void fah_thread_begin_first(void)
{
	struct fah_thread_state *t = fah_thread_current();

	if (t) {
		t->start_mono_ns = fah_now_mono();
		t->last_cpu_ns =
			fah_now_thread_cpu(); /* so far it was the interpreter's own start */
	}
	fah_thread_begin();
}

/* Threads that were there before recording began: timers from outside, states at their first
 * sample. */
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
			const char *name = buf + at + 19; /* struct linux_dirent64.d_name */

			memcpy(&len, buf + at + 16, 2);
			for (; *name >= '0' && *name <= '9'; name++)
				tid = tid * 10 + (uint32_t)(*name - '0');
			if (tid && tid != self)
				make_timer(tid);
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

struct fah_thread_state *fah_thread_current(void)
{
	struct fah_thread_state *t = state;

	if (t)
		return t;
	t = claim_state();
	if (!t)
		return NULL;
	t->tid = (uint32_t)FAH_SYS0(SYS_gettid);
	t->pthread_id = (uint64_t)pthread_self();
	t->tstate = 0;
	atomic_store(&t->busy, false);
	t->start_mono_ns = begun ? begun_mono_ns : fah_now_mono();
	t->last_cpu_ns = 0;
	t->last_blocked = 0;
	t->chunk = NULL;
	t->chunk_time_ns = 0;
	t->n_last = 0;
	t->mem = fah_mem_self;
	t->mem.ctx = (uint64_t)(uintptr_t)t->room;
	state = t;
	return t;
}

/* What pthread_create was asked to run, on its way into the new thread. */
struct start {
	_Atomic bool used;
	void *(*routine)(void *);
	void *arg;
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
		state->last_blocked = 0;
		state->n_last = 0;
		state->chunk_time_ns = 0;
		state->start_mono_ns = fah_now_mono();
	}
	for (int i = 0; i < MAX_STARTS; i++) /* those threads will never start here */
		atomic_store(&starts[i].used, false);
	timer = NO_TIMER;
	begun = false;
	fah_thread_begin();
}

static void *run_thread(void *p)
{
	struct start *s = p;
	void *(*routine)(void *) = s->routine;
	void *arg = s->arg;

	atomic_store(&s->used, false);
	if (atomic_load(&fah_agent.active))
		fah_thread_begin();
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
	err = real(thread, attr, run_thread, s);
	if (err)
		atomic_store(&s->used, false);
	return err;
}
