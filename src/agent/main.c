/*
 * main.c - the agent comes up with the program, and goes down with it.
 *
 * The constructor runs in every dynamic program that inherits the preload; in all that are not
 * Python it only keeps the way open for children that are. Never prints, never fails.
 */
#include "agent/count.h"
#include "agent/event_writer.h"
#include "agent/exact.h"
#include "agent/heap.h"
#include "agent/lines.h"
#include "core/sys.h"
#include "core/time.h"

#include <string.h>
#include <sys/resource.h>

struct fah_agent fah_agent;

/* pthread_atfork without libc_nonshared.a; weak, since musl has no such function. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *dso) __attribute__((weak));

void fah_own_pid(void)
{
	uint32_t pid = (uint32_t)FAH_SYS0(SYS_getpid);

	atomic_store(&fah_agent.pid, pid);
	fah_mem_self_pid(pid); /* every handler compares first: a stale one is never used */
}

/* The child goes on in a segment of its own, made when its first sample comes. */
static void on_fork_child(void)
{
	fah_exec_forked();
	if (fah_sandbox_is_on())
		return; /* no system call of ours any more */
	fah_own_pid();
	if (!atomic_load(&fah_agent.active))
		return;
	fah_segment_forked();
	fah_codes_forget();
	fah_native_forked();
	fah_event_writer_forked();
	fah_count_forked();
	fah_exact_forked();
	fah_lines_forked();
	fah_heap_forked();
	atomic_store(&fah_agent.forked, 1);
	fah_thread_forked();
}

__attribute__((constructor)) static void on_load(void)
{
	fah_env_take();
	fah_real_setup();
	fah_heap_setup();
	if (!fah_agent.preload[0])
		return;
	fah_own_pid();
	if (__register_atfork)
		__register_atfork(NULL, NULL, on_fork_child, NULL);
	if (!fah_python_present()) {
		fah_python_refuse_old();
		return;
	}
	fah_heap_load();
	fah_thread_setup();
	fah_python_watch();
}

/*
 * An orderly end: what only the kernel knows of this process alone. Other threads may run on for a
 * moment; whatever they used up to here is recorded, and nothing after it.
 */
void fah_record_end(void)
{
	struct fah_segment_head *head;
	struct rusage ru;

	fah_lines_end(); /* of a fork's child this may be the first record */
	head = fah_segment_head();
	if (!head || !atomic_load(&fah_agent.active) ||
	    atomic_load(&fah_agent.pid) != (uint32_t)FAH_SYS0(SYS_getpid))
		return;
	fah_count_end();
	fah_exact_end();
	fah_heap_end();
	if (fah_quiet()) {
		fah_heap_end_all();
		fah_thread_end_all();
	}
	memset(&ru, 0, sizeof(ru));
	FAH_SYS2(SYS_getrusage, RUSAGE_SELF, &ru);
	head->end_mono_ns = fah_now_mono();
	head->user_ns = fah_timeval_ns(ru.ru_utime);
	head->system_ns = fah_timeval_ns(ru.ru_stime);
	head->max_rss_kb = (uint64_t)ru.ru_maxrss;
	atomic_store(&head->status, FAH_AGENT_ENDED);
}

__attribute__((destructor)) static void on_unload(void)
{
	fah_record_end();
}

/* os._exit(), with which every worker of multiprocessing ends: past all destructors. */
FAH_AGENT_EXPORT __attribute__((noreturn)) void _exit(int status)
{
	fah_record_end();
	for (;;)
		FAH_SYS1(SYS_exit_group, status);
}

FAH_AGENT_EXPORT __attribute__((noreturn)) void _Exit(int status)
{
	_exit(status);
}
