/*
 * memory_series.c - see memory_series.h.
 *
 * Looks are frequent and cheap, points that are written are not: their distance grows with the run,
 * so that a run of a day has some thousand. What a peak was is not lost in between: a look that
 * finds a new extreme is written, and the last look at a process when it is gone.
 */
#include "collect/memory_series.h"

#include "base/file.h"
#include "capture/reader.h"
#include "collect/process.h"
#include "core/err.h"
#include "core/time.h"
#include "target/memory_group.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define POINTS 256u	      /* written while the run becomes 2.7 times as long */
#define LOOK_MIN_NS 10000000u /* between looks, and */
#define LOOK_MAX_NS 100000000u
#define GROUP_NS 1000000000u /* between looks at what takes several files */
#define SHARE 2000u	     /* of a core that looks may take */
#define CREDIT_NS 2000000u   /* and what they may take besides: short runs have points too */
#define EXTREME 32u	     /* a new one: more than the last by such a part of it */
#define NEAR_LIMIT 8u	     /* the last such part of a limit */

static_assert(FAH_BYTES_UNKNOWN == FAH_MEMORY_UNKNOWN, "unknown is written as unknown");
static_assert(FAH_BYTES_NO_LIMIT == FAH_MEMORY_NO_LIMIT, "no limit as no limit");

struct followed {
	struct followed *next;
	struct fah_collected *p; /* borrowed from the drain */
	uint32_t pid;
	int statm_fd, status_fd;   /* -1: not readable */
	struct fah_rec_memory now; /* the last look */
	uint64_t most;		   /* of what was written */
	bool written;		   /* the last look was */
};

struct fah_memory_series {
	struct fah_drain *d;
	struct fah_writer *w;
	uint64_t start_ns, next_ns, write_ns, group_ns; /* the next look, point, and group's */
	uint64_t spent_ns, looks, page_bytes;
	uint32_t pid;
	struct followed *list;
	struct fah_group group;
	int meminfo_fd;
	struct fah_rec_memory now;
	uint64_t most_used, least_available; /* of what was written */
};

int fah_memory_series_new(struct fah_drain *d, struct fah_writer *w, uint64_t run_start_ns,
			  uint32_t pid, struct fah_memory_series **ret)
{
	struct fah_memory_series *s = calloc(1, sizeof(*s));

	if (!s)
		return FAH_ERR_NOMEM;
	s->d = d;
	s->w = w;
	s->start_ns = run_start_ns;
	s->pid = pid;
	s->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	s->meminfo_fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	s->least_available = UINT64_MAX;
	fah_group_init(&s->group);
	*ret = s;
	return 0;
}

static int open_file(uint32_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == EMFILE) {
		fah_files_more();
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	return fd;
}

static size_t read_text(int fd, char *text, size_t size)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, text, size, 0);

	return n > 0 ? (size_t)n : 0;
}

static void write_process(struct fah_memory_series *s, struct followed *f)
{
	fah_writer_memory(s->w, &f->now);
	f->written = true;
	if (f->now.resident > f->most)
		f->most = f->now.resident;
}

/* It is over, or goes on as another program: as it was when it was last seen. */
static void end_process(struct fah_memory_series *s, struct followed **at)
{
	struct followed *f = *at;

	if (!f->written)
		write_process(s, f);
	*at = f->next;
	if (f->statm_fd >= 0)
		close(f->statm_fd);
	if (f->status_fd >= 0)
		close(f->status_fd);
	free(f);
}

static void follow(struct fah_memory_series *s, struct fah_collected *p)
{
	uint32_t pid = fah_collected_outer_pid(p);
	struct followed *f = calloc(1, sizeof(*f));

	p->measured = true;
	if (!f || !pid) {
		free(f);
		return;
	}
	for (struct followed **at = &s->list; *at;)
		if ((*at)->pid == pid)
			end_process(s, at);
		else
			at = &(*at)->next;
	f->p = p;
	f->pid = pid;
	f->statm_fd = open_file(pid, "statm");
	f->status_fd = open_file(pid, "status");
	f->written = true; /* nothing is known that was not */
	f->next = s->list;
	s->list = f;
}

static uint64_t since_start(const struct fah_memory_series *s, uint64_t now_ns)
{
	return now_ns > s->start_ns ? now_ns - s->start_ns : 0;
}

static uint64_t resident_now(const struct fah_memory_series *s, const struct followed *f)
{
	char text[128];
	size_t n = read_text(f->statm_fd, text, sizeof(text));

	return fah_text_resident(text, n, s->page_bytes);
}

/* All that a point has: twice as dear, the kernel makes some sixty lines for it. */
static struct fah_rec_memory look_closer(const struct followed *f)
{
	char text[4096];
	size_t n = read_text(f->status_fd, text, sizeof(text));

	return (struct fah_rec_memory){
		.resident = fah_text_keyed(text, n, "VmRSS"),
		.swapped = fah_text_keyed(text, n, "VmSwap"),
		.high = fah_text_keyed(text, n, "VmHWM"),
	};
}

/* False: it is gone. */
static bool look_at(struct fah_memory_series *s, struct followed *f, uint64_t now_ns, bool due)
{
	struct fah_rec_memory seen = {.resident = FAH_BYTES_UNKNOWN,
				      .swapped = FAH_BYTES_UNKNOWN,
				      .high = FAH_BYTES_UNKNOWN};

	if (f->p->done)
		return false;
	if (!due)
		seen.resident = resident_now(s, f);
	if (due ||
	    (seen.resident != FAH_BYTES_UNKNOWN && seen.resident > f->most + f->most / EXTREME)) {
		seen = look_closer(f);
		due = true;
	}
	if (seen.resident == FAH_BYTES_UNKNOWN)
		return false;
	seen.process = f->p->id;
	seen.time_ns = since_start(s, now_ns);
	f->now = seen;
	f->written = false;
	if (due)
		write_process(s, f);
	return true;
}

static void look_at_processes(struct fah_memory_series *s, uint64_t now_ns, bool due)
{
	for (struct fah_collected *p = fah_drain_processes(s->d); p; p = p->next)
		if (!p->measured && p->id && !p->done && !p->seen_dead)
			follow(s, p);
	for (struct followed **at = &s->list; *at;)
		if (look_at(s, *at, now_ns, due))
			at = &(*at)->next;
		else
			end_process(s, at);
}

static void look_at_group(struct fah_memory_series *s)
{
	fah_group_find(&s->group, s->pid);
	fah_group_look(&s->group);
	s->now.used = fah_group_used(&s->group);
	s->now.cache = fah_group_cache(&s->group);
	s->now.limit = s->group.limit;
	s->now.kills = fah_group_kills(&s->group);
}

static bool is_near(uint64_t used, uint64_t limit)
{
	return used != FAH_BYTES_UNKNOWN && limit < FAH_BYTES_NO_LIMIT &&
	       used > limit - limit / NEAR_LIMIT;
}

static void write_machine(struct fah_memory_series *s)
{
	fah_writer_memory(s->w, &s->now);
	if (s->now.used != FAH_BYTES_UNKNOWN && s->now.used > s->most_used)
		s->most_used = s->now.used;
	if (s->now.available < s->least_available)
		s->least_available = s->now.available;
}

/* last: no matter when and whether. */
static void look_at_machine(struct fah_memory_series *s, uint64_t now_ns, bool due, bool last)
{
	char text[1024]; /* the first lines are enough */
	size_t n = read_text(s->meminfo_fd, text, sizeof(text));
	bool extreme;

	s->now.process = 0;
	s->now.time_ns = since_start(s, now_ns);
	s->now.resident = s->now.swapped = s->now.high = FAH_BYTES_UNKNOWN;
	s->now.total = fah_text_keyed(text, n, "MemTotal");
	s->now.available = fah_text_keyed(text, n, "MemAvailable");
	s->now.used = fah_group_used(&s->group);
	s->now.cache = FAH_BYTES_UNKNOWN;
	extreme = (s->now.used != FAH_BYTES_UNKNOWN &&
		   s->now.used > s->most_used + s->most_used / EXTREME) ||
		  s->now.available < s->least_available - s->least_available / EXTREME;
	if (last || now_ns >= s->group_ns || (extreme && is_near(s->now.used, s->group.limit))) {
		look_at_group(s);
		s->group_ns = now_ns + GROUP_NS;
	}
	if (due || extreme || last)
		write_machine(s);
}

void fah_memory_series_tick(struct fah_memory_series *s, uint64_t now_ns)
{
	uint64_t before, step = since_start(s, now_ns) / POINTS;
	bool due = now_ns >= s->write_ns;

	if (now_ns < s->next_ns)
		return;
	before = fah_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	look_at_processes(s, now_ns, due);
	look_at_machine(s, now_ns, due, false);
	if (due)
		s->write_ns = now_ns + step;
	s->next_ns = now_ns + (step < LOOK_MIN_NS   ? LOOK_MIN_NS
			       : step > LOOK_MAX_NS ? LOOK_MAX_NS
						    : step);
	s->looks++;
	s->spent_ns += fah_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
	if (s->spent_ns > CREDIT_NS && s->start_ns + (s->spent_ns - CREDIT_NS) * SHARE > s->next_ns)
		s->next_ns = s->start_ns + (s->spent_ns - CREDIT_NS) * SHARE;
}

void fah_memory_series_finish(struct fah_memory_series *s, uint64_t now_ns)
{
	look_at_processes(s, now_ns, true);
	while (s->list)
		end_process(s, &s->list);
	look_at_machine(s, now_ns, true, true);
}

struct fah_memory_looks fah_memory_series_looks(const struct fah_memory_series *s)
{
	return (struct fah_memory_looks){s->looks, s->spent_ns};
}

void fah_memory_series_free(struct fah_memory_series *s)
{
	if (!s)
		return;
	while (s->list) {
		s->list->written = true; /* w may be gone */
		end_process(s, &s->list);
	}
	fah_group_release(&s->group);
	if (s->meminfo_fd >= 0)
		close(s->meminfo_fd);
	free(s);
}
