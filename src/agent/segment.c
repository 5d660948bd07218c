/*
 * segment.c - segments and chunks, the agent's side. Runs in signal handlers of any thread.
 *
 * A segment is made by raw system calls only and its file closed as soon as it is mapped, where the
 * program's descriptors are not touched (apart.c). Its
 * blocks are allocated before they are mapped: writing to a hole on a full disk would be a SIGBUS
 * in the program.
 */
#include "agent/agent.h"
#include "agent/apart.h"
#include "core/sys.h"
#include "core/varint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

struct segment {
	struct fah_segment_head head;
	uint8_t pad[FAH_SEGMENT_HEAD - sizeof(struct fah_segment_head)];
	struct fah_chunk chunks[FAH_CHUNKS];
};

static struct segment *_Atomic segments[FAH_SEGMENTS_MAX];
static _Atomic uint32_t n_segments;
static _Atomic uint32_t next_order = 1;
static _Atomic uint64_t retry_ns; /* no new segment before this */
#define RETRY_NS 1000000000u
#define PATIENCE_NS 50000000u /* fah_quiet() waits for twice as long */
#define PAUSE_NS 50000u
static _Atomic bool in_vain; /* somebody waited and there was no room, and there was none since */
static _Atomic bool over;    /* there is no folder for the first segment */
static _Atomic bool growing; /* one thread makes a segment; others wait for it, handlers drop */
/* Of the nearest process above that has a segment: its head's page, kept for a word that we have
 * none. NULL: not a fork, or said already. */
static struct fah_segment_head *_Atomic above;

void fah_segment_path(char *p, uint32_t pid, uint64_t mono, uint32_t n, const char *suffix)
{
	size_t len = strlen(fah_agent.session);

	memcpy(p, fah_agent.session, len);
	p += len;
	*p++ = '/';
	p = fah_put_decimal(p, pid);
	*p++ = '-';
	p = fah_put_decimal(p, mono);
	*p++ = '-';
	p = fah_put_decimal(p, n);
	memcpy(p, suffix, strlen(suffix) + 1);
}

static void read_cmdline(struct fah_segment_head *head)
{
	long fd = FAH_SYS4(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
	long n;

	if (fd < 0)
		return;
	n = FAH_SYS3(SYS_read, fd, head->cmdline, sizeof(head->cmdline));
	FAH_SYS1(SYS_close, fd);
	head->cmdline_len = n > 0 ? (uint32_t)n : 0;
}

/* The digits of "pid:[4026531836]". */
static uint32_t pid_namespace(void)
{
	char text[64];
	long n = FAH_SYS4(SYS_readlinkat, AT_FDCWD, "/proc/self/ns/pid", text, sizeof(text));
	uint32_t inode = 0;

	for (long i = 0; i < n; i++)
		if (text[i] >= '0' && text[i] <= '9')
			inode = inode * 10 + (uint32_t)(text[i] - '0');
	return inode;
}

static void fill_head(struct fah_segment_head *head, uint32_t pid, uint64_t mono, uint32_t n)
{
	head->version = FAH_SEGMENT_VERSION;
	head->n = n;
	head->pid = pid;
	head->ppid = (uint32_t)FAH_SYS0(SYS_getppid);
	head->forked = atomic_load(&fah_agent.forked);
	head->python_version = fah_agent.python_version;
	head->clock = fah_agent.clock;
	head->lines_kind = (uint32_t)fah_agent.layout.lines_kind;
	head->period_ns = fah_agent.period_ns;
	atomic_store(&head->budget_ppm, fah_agent.budget_ppm);
	head->start_mono_ns = mono;
	head->start_real_ns = fah_now_real();
	read_cmdline(head);
	head->pid_namespace = pid_namespace();
	head->runtime = fah_agent.runtime;
	head->tid_offset = fah_agent.tid_offset;
	head->first_tid = fah_agent.first_tid;
	head->first_cpu_ns = fah_agent.first_cpu_ns;
	head->first_ready_ns = fah_agent.first_ready_ns;
	atomic_store(&head->unloads, fah_native_unloads());
	head->frames = fah_frames_address();
	atomic_store(&head->status, FAH_AGENT_RUNNING);
	/* last: the collector takes a segment for whole when it sees the magic */
	atomic_thread_fence(memory_order_release);
	head->magic = FAH_SEGMENT_MAGIC;
}

/* What make_file is asked, and answers. One at a time: `growing` is held. */
static struct {
	char path[FAH_PATH_MAX + 80];
	uint32_t pid, n;
	uint64_t mono;
	struct segment *made;
	bool no_folder, refused;
} making;
/* not the handler's own: an alternate stack may be 8 kB */
static uint8_t making_stack[FAH_APART_STACK] __attribute__((aligned(16)));

static void make_file(void *unused)
{
	long fd, p = -ENOSPC;

	(void)unused;
	making.made = NULL;
	fd = FAH_SYS4(SYS_openat, AT_FDCWD, making.path,
		      O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	making.no_folder = fd == -ENOENT || fd == -ENOTDIR;
	making.refused = making.no_folder || fd == -EACCES || fd == -EPERM;
	if (fd < 0)
		return;
	if (FAH_SYS4(SYS_fallocate, fd, 0, 0, sizeof(struct segment)) == 0)
		p = FAH_SYS6(SYS_mmap, 0, sizeof(struct segment), PROT_READ | PROT_WRITE,
			     MAP_SHARED, fd, 0);
	FAH_SYS1(SYS_close, fd);
	if (p < 0 && p > -4096) {
		FAH_SYS3(SYS_unlinkat, AT_FDCWD, making.path, 0);
		return;
	}
	making.made = (struct segment *)p;
	fill_head(&making.made->head, making.pid, making.mono, making.n);
}

/* It gave up its rights, or changed its root: there is nowhere else to tell that. */
static void say_unrecorded(void)
{
	struct fah_segment_head *head = atomic_exchange(&above, NULL);

	if (!head)
		return;
	atomic_fetch_add(&head->unrecorded, 1);
	FAH_SYS2(SYS_munmap, head, FAH_SEGMENT_HEAD);
}

bool fah_segment_may_have(uint64_t bytes)
{
	uint64_t limit[2];

	return FAH_SYS4(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, limit) != 0 || limit[0] >= bytes;
}

static struct segment *make_segment(uint32_t n)
{
	if (!fah_segment_may_have(sizeof(struct segment)))
		return NULL;
	making.pid = (uint32_t)FAH_SYS0(SYS_getpid);
	making.n = n;
	making.mono = fah_now_mono();
	fah_segment_path(making.path, making.pid, making.mono, n, ".seg");
	making.refused = false;
	fah_apart(make_file, NULL, making_stack, sizeof(making_stack));
	if (!n && making.refused)
		say_unrecorded();
	/* the run is over, or this process cannot see its folder: nothing to record to, ever */
	if (!n && making.no_folder)
		atomic_store(&over, true);
	return making.made;
}

static bool grow(void)
{
	uint32_t n = atomic_load(&n_segments);
	struct segment *made = NULL;
	bool expected = false;

	/* a full disk, or a folder that is gone: not again for each sample */
	if (n >= FAH_SEGMENTS_MAX || fah_now_mono() < atomic_load(&retry_ns) ||
	    !atomic_compare_exchange_strong(&growing, &expected, true))
		return false;
	if (atomic_load(&n_segments) != n) { /* another thread just did */
		atomic_store(&growing, false);
		return true;
	}
	made = make_segment(n);
	if (made) {
		atomic_store(&segments[n], made);
		atomic_store(&n_segments, n + 1);
	} else {
		atomic_store(&retry_ns, fah_now_mono() + RETRY_NS);
	}
	atomic_store(&growing, false);
	return made != NULL;
}

int fah_segment_start(void)
{
	if (!grow())
		return FAH_ERR_SYS;
	fah_timers_ask();
	return 0;
}

void fah_segment_forked(void)
{
	atomic_store(&n_segments, 0);
	atomic_store(&growing, false);
	/* all of them: another thread may have been about to count one when the process forked */
	for (uint32_t i = 0; i < FAH_SEGMENTS_MAX; i++) {
		struct segment *s = atomic_exchange(&segments[i], NULL);
		struct fah_segment_head *old;

		if (s && i == 0) {
			old = atomic_exchange(&above, &s->head);
			if (old)
				FAH_SYS2(SYS_munmap, old, FAH_SEGMENT_HEAD);
			FAH_SYS2(SYS_munmap, (uint8_t *)s + FAH_SEGMENT_HEAD,
				 sizeof(*s) - FAH_SEGMENT_HEAD);
		} else if (s) {
			FAH_SYS2(SYS_munmap, s, sizeof(*s));
		}
	}
}

struct fah_segment_head *fah_segment_head(void)
{
	struct segment *s = atomic_load(&segments[0]);

	return s ? &s->head : NULL;
}

bool fah_segment_closed(void)
{
	struct fah_segment_head *head = fah_segment_head();

	return head ? atomic_load_explicit(&head->closed, memory_order_relaxed)
		    : atomic_load_explicit(&over, memory_order_relaxed);
}

static bool take(struct fah_chunk *c, uint32_t from)
{
	if (!atomic_compare_exchange_strong(&c->state, &from, FAH_CHUNK_OWNED))
		return false;
	atomic_store(&c->order, atomic_fetch_add(&next_order, 1));
	return true;
}

/* An idle chunk with room first, then a free one, then a new segment. */
static struct fah_chunk *find_chunk(void)
{
	for (int attempt = 0; attempt < 2; attempt++) {
		uint32_t n = atomic_load(&n_segments);

		for (uint32_t pass = 0; pass < 2; pass++) {
			uint32_t wanted = pass ? FAH_CHUNK_FREE : FAH_CHUNK_IDLE;

			for (uint32_t i = 0; i < n * FAH_CHUNKS; i++) {
				struct fah_chunk *c = &atomic_load(&segments[i / FAH_CHUNKS])
							       ->chunks[i % FAH_CHUNKS];

				if (atomic_load_explicit(&c->state, memory_order_relaxed) ==
					    wanted &&
				    take(c, wanted))
					return c;
			}
		}
		if (!grow())
			return NULL;
	}
	return NULL;
}

/* Outside of handlers. Another thread makes a segment, or the collector is late: both are over soon.
 * The first is so at each new megabyte while several threads write much, and whoever did not wait
 * would lose some 5,000 blocks of memory each time. */
static struct fah_chunk *wait_for_chunk(void)
{
	const struct timespec pause = {0, PAUSE_NS};
	uint64_t begin = fah_now_mono();
	struct fah_chunk *c;

	if (atomic_load(&in_vain))
		return NULL;
	do {
		FAH_SYS2(SYS_nanosleep, &pause, NULL);
		c = find_chunk();
	} while (!c && !fah_segment_closed() && fah_now_mono() - begin < PATIENCE_NS);
	if (!c)
		atomic_store(&in_vain, true);
	return c;
}

static struct fah_chunk *next_chunk(const struct fah_thread_state *t)
{
	struct fah_chunk *c = find_chunk();

	if (!c && t->patient)
		return wait_for_chunk();
	if (c && atomic_load_explicit(&in_vain, memory_order_relaxed))
		atomic_store(&in_vain, false);
	return c;
}

static void write_thread_record(struct fah_thread_state *t)
{
	uint8_t *p = t->chunk->data + atomic_load(&t->chunk->used) + 4;
	char name[16] = "";
	size_t len;

	/* at the process's end one thread writes for all that still live: those go unnamed */
	if (t->tid == (uint32_t)FAH_SYS0(SYS_gettid))
		FAH_SYS2(SYS_prctl, PR_GET_NAME, name);
	name[15] = 0;
	len = strlen(name);
	p = fah_put_varint(p, t->tid);
	p = fah_put_varint(p, t->start_mono_ns);
	p = fah_put_varint(p, len);
	memcpy(p, name, len);
	fah_record_commit(t, FAH_SEG_THREAD, p + len);
}

#define THREAD_RECORD_MAX 64u

uint8_t *fah_record_begin(struct fah_thread_state *t, size_t max)
{
	size_t need = max + 4;

	if (need + THREAD_RECORD_MAX > sizeof(t->chunk->data))
		return NULL;
	while (!t->chunk || sizeof(t->chunk->data) - atomic_load(&t->chunk->used) < need) {
		if (t->chunk)
			atomic_store_explicit(&t->chunk->state, FAH_CHUNK_FULL,
					      memory_order_release);
		t->chunk = next_chunk(t);
		if (!t->chunk)
			return NULL;
		if (sizeof(t->chunk->data) - atomic_load(&t->chunk->used) <
		    need + THREAD_RECORD_MAX) {
			/* an idle one without room for both records: its next owner is the
			 * collector */
			atomic_store_explicit(&t->chunk->state, FAH_CHUNK_FULL,
					      memory_order_release);
			t->chunk = NULL;
			continue;
		}
		t->n_last = t->n_last_pcs = 0;
		t->chunk_time_ns = 0;
		write_thread_record(t);
	}
	return t->chunk->data + atomic_load(&t->chunk->used) + 4;
}

void fah_record_commit(struct fah_thread_state *t, enum fah_seg_record type, uint8_t *end)
{
	uint32_t used = atomic_load_explicit(&t->chunk->used, memory_order_relaxed);
	uint32_t len = (uint32_t)(end - (t->chunk->data + used) - 4);
	uint32_t word = len << 8 | (uint32_t)type;

	memcpy(t->chunk->data + used, &word, 4);
	atomic_store_explicit(&t->chunk->used, used + 4 + len, memory_order_release);
}

void fah_chunk_release(struct fah_thread_state *t)
{
	if (t->chunk)
		atomic_store_explicit(&t->chunk->state, FAH_CHUNK_IDLE, memory_order_release);
	t->chunk = NULL;
}
