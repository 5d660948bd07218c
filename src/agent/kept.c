/* kept.c - see kept.h. The file is open only while it grows, where the program cannot meet it. */
#include "agent/kept.h"

#include "agent/agent.h"
#include "agent/apart.h"
#include "agent/event_clock.h"
#include "core/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

/* What grow is asked, and answers. */
static struct {
	char path[FAH_PATH_MAX + 80];
	uint64_t of; /* the start of the process's first segment: a fork's child has another */
	uint64_t end, size;
	struct fah_kept_head *made;
} file;
static uint8_t stack[FAH_APART_STACK] __attribute__((aligned(16)));

static void grow(void *unused)
{
	long p = -ENOSPC, fd = FAH_SYS4(SYS_openat, AT_FDCWD, file.path,
					O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	(void)unused;
	file.made = NULL;
	if (fd < 0)
		return;
	if (FAH_SYS4(SYS_fallocate, fd, 0, file.end, file.size) == 0)
		p = FAH_SYS6(SYS_mmap, 0, file.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			     file.end);
	FAH_SYS1(SYS_close, fd);
	if (p > 0 || p <= -4096)
		file.made = (struct fah_kept_head *)p;
}

void *fah_kept_room(enum fah_kept kind, size_t size)
{
	struct fah_segment_head *head;

	if (!fah_segment_head() && fah_segment_start() < 0)
		return NULL;
	head = fah_segment_head();
	if (file.of != head->start_mono_ns) {
		file.of = head->start_mono_ns;
		file.end = 0;
		fah_segment_path(file.path, head->pid, head->start_mono_ns, 0, ".kept");
	}
	file.size =
		(sizeof(*file.made) + size + FAH_KEPT_PAGE - 1) & ~(uint64_t)(FAH_KEPT_PAGE - 1);
	if (!fah_segment_may_have(file.end + file.size))
		return NULL;
	fah_apart(grow, NULL, stack, sizeof(stack));
	if (!file.made)
		return NULL;
	file.end += file.size;
	*file.made = (struct fah_kept_head){
		.size = file.size,
		.address = (uint64_t)(uintptr_t)(file.made + 1),
		.ns_a_tick = fah_event_ns_a_tick(),
		.kind = kind,
	};
	atomic_thread_fence(memory_order_release);
	file.made->magic = FAH_KEPT_MAGIC;
	return file.made + 1;
}
