/*
 * outside.c - what the collector must know to read this process from outside, when its threads are
 * blocked: where a thread's kernel id stands, and what the first thread had used before recording.
 */
#include "agent/agent.h"
#include "core/sys.h"

#include <fcntl.h>
#include <pthread.h>

#define TCB_SCAN \
	1024u /* of what pthread_self() points to: glibc has the id at 720, musl before \
	       */

/* The first word that is this thread's id. Whoever uses it compares with the threads that exist. */
static uint32_t find_tid(uint32_t tid)
{
	uint32_t words[TCB_SCAN / 4];

	if (fah_load(&fah_mem_self, (uint64_t)pthread_self(), words, sizeof(words)) < 0)
		return 0;
	for (uint32_t i = 1; i < TCB_SCAN / 4; i++)
		if (words[i] == tid)
			return i * 4;
	return 0;
}

static const char *number(const char *p, const char *end, uint64_t *ret)
{
	*ret = 0;
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		*ret = *ret * 10 + (uint64_t)(*p - '0');
	return p < end ? p + 1 : p;
}

void fah_outside_prepare(void)
{
	long fd = FAH_SYS4(SYS_openat, AT_FDCWD, "/proc/thread-self/schedstat",
			   O_RDONLY | O_CLOEXEC, 0);
	char text[80];
	const char *p = text;
	long n;

	fah_agent.first_tid = (uint32_t)FAH_SYS0(SYS_gettid);
	fah_agent.tid_offset = find_tid(fah_agent.first_tid);
	if (fd < 0)
		return;
	n = FAH_SYS3(SYS_read, fd, text, sizeof(text));
	FAH_SYS1(SYS_close, fd);
	if (n <= 0)
		return;
	p = number(p, text + n, &fah_agent.first_cpu_ns);
	number(p, text + n, &fah_agent.first_ready_ns);
	/* the kernel's figure is as old as its last tick */
	fah_agent.first_cpu_ns = fah_now_thread_cpu();
}
