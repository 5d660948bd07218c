/* process.c - see process.h. What lies in a segment is untrusted: the target could write there. */
#include "collect/process.h"

#include "base/file.h"
#include "collect/alive.h"
#include "collect/runtime_code.h"
#include "core/err.h"
#include "native/unwind.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKS_AT_ONCE 8u
#define LOOK_REST_MAX 128u /* ticks: 2.5 seconds */

struct fah_segment_head *fah_segment_map_head(const struct fah_segment_map *m)
{
	return (struct fah_segment_head *)(void *)m->base;
}

struct fah_chunk *fah_segment_map_chunk(const struct fah_segment_map *m, uint32_t i)
{
	return (struct fah_chunk *)(void *)(m->base + FAH_SEGMENT_HEAD +
					    (size_t)i * FAH_CHUNK_SIZE);
}

bool fah_collected_has(const struct fah_collected *list, const char *path)
{
	for (; list; list = list->next)
		for (uint32_t i = 0; i < list->n_segments; i++)
			if (!strcmp(fah_basename(list->segments[i].path), fah_basename(path)))
				return true;
	return false;
}

static int map_segment(const char *path, struct fah_segment_map *ret)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct fah_segment_head *head;
	struct stat st;
	void *base;

	if (fd < 0)
		return FAH_ERR_SYS;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < (off_t)FAH_SEGMENT_SIZE) {
		close(fd);
		return FAH_ERR_FORMAT;
	}
	base = mmap(NULL, FAH_SEGMENT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (base == MAP_FAILED)
		return FAH_ERR_SYS;
	head = base;
	if (head->magic != FAH_SEGMENT_MAGIC || head->version != FAH_SEGMENT_VERSION) {
		munmap(base, FAH_SEGMENT_SIZE);
		return FAH_ERR_FORMAT; /* the agent is just making it: the next look finds it */
	}
	atomic_thread_fence(memory_order_acquire);
	ret->base = base;
	ret->path = strdup(path);
	ret->ctx = calloc(FAH_CHUNKS, sizeof(*ret->ctx));
	if (!ret->path || !ret->ctx) {
		free(ret->path);
		free(ret->ctx);
		munmap(base, FAH_SEGMENT_SIZE);
		return FAH_ERR_NOMEM;
	}
	for (uint32_t i = 0; i < FAH_CHUNKS; i++)
		ret->ctx[i].skip = atomic_load(&fah_segment_map_chunk(ret, i)->drained);
	return 0;
}

static void unmap_segment(struct fah_segment_map *m)
{
	munmap(m->base, FAH_SEGMENT_SIZE);
	free(m->path);
	for (uint32_t i = 0; i < FAH_CHUNKS; i++)
		free(m->ctx[i].nodes);
	free(m->ctx);
}

/* A segment's path with another suffix; NULL: no memory. */
static char *beside(const char *segment, const char *suffix)
{
	size_t n = strlen(segment) - (strlen(segment) > 4 ? 4 : 0);
	char *path = malloc(n + strlen(suffix) + 1);

	if (path) {
		memcpy(path, segment, n);
		strcpy(path + n, suffix);
	}
	return path;
}

static struct fah_collected *new_process(struct fah_collected **list,
					 const struct fah_segment_map *first)
{
	const struct fah_segment_head *head = fah_segment_map_head(first);
	struct fah_collected *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pid = head->pid;
	p->pid_namespace = head->pid_namespace;
	p->start_mono_ns = head->start_mono_ns;
	p->journal_path = beside(first->path, ".codes");
	p->kept_path = beside(first->path, ".kept");
	fah_codes_init(&p->codes, head->lines_kind, p->journal_path);
	/* parents before their children, whatever order the folder lists them in */
	while (*list && ((*list)->id || (*list)->start_mono_ns <= p->start_mono_ns))
		list = &(*list)->next;
	p->next = *list;
	*list = p;
	return p;
}

/* The same pid in another namespace is another process. */
static bool is_same_process(const struct fah_collected *p, uint32_t pid, uint32_t pid_namespace)
{
	return p->pid == pid && p->pid_namespace == pid_namespace;
}

/* The newest process of that pid that began before the segment was made. */
static struct fah_collected *owner(struct fah_collected *list, const struct fah_segment_head *head)
{
	struct fah_collected *found = NULL;

	for (; list; list = list->next)
		if (is_same_process(list, head->pid, head->pid_namespace) &&
		    list->start_mono_ns <= head->start_mono_ns)
			found = list;
	return found;
}

int fah_collected_add(struct fah_collected **list, const char *path)
{
	struct fah_segment_map map, *grown;
	struct fah_collected *p;
	int err = map_segment(path, &map);

	if (err < 0)
		return err;
	p = fah_segment_map_head(&map)->n ? owner(*list, fah_segment_map_head(&map))
					  : new_process(list, &map);
	if (!p || p->done) {
		unmap_segment(&map);
		return FAH_ERR_FORMAT; /* its first segment comes later in the listing */
	}
	grown = realloc(p->segments, (p->n_segments + 1) * sizeof(*grown));
	if (!grown) {
		unmap_segment(&map);
		return FAH_ERR_NOMEM;
	}
	p->segments = grown;
	p->segments[p->n_segments++] = map;
	return 0;
}

uint32_t fah_collected_outer_pid(struct fah_collected *p)
{
	if (!p->outer_pid)
		p->outer_pid = fah_alive_outer_pid(p->pid_namespace, p->pid);
	return p->outer_pid;
}

bool fah_collected_is_replaced(const struct fah_collected *list, const struct fah_collected *p)
{
	for (; list; list = list->next)
		if (is_same_process(list, p->pid, p->pid_namespace) &&
		    list->start_mono_ns > p->start_mono_ns)
			return true;
	return false;
}

bool fah_collected_is_dead(const struct fah_collected *list, struct fah_collected *p)
{
	if (fah_collected_is_replaced(list, p))
		return true;
	if (fah_collected_outer_pid(p))
		return fah_alive_is_gone(p->outer_pid);
	/* in a namespace that we cannot look into */
	return p->n_segments &&
	       atomic_load(&fah_segment_map_head(&p->segments[0])->status) == FAH_AGENT_ENDED;
}

bool fah_collected_wants_look(struct fah_collected *p)
{
	const struct fah_segment_head *head;
	uint64_t unmapped, without_rule;
	uint32_t wait, registered;

	if (p->done || !p->n_segments)
		return false;
	head = fah_segment_map_head(&p->segments[0]);
	unmapped = atomic_load(&head->native_stops[FAH_UNWIND_NO_MODULE]);
	without_rule = atomic_load(&head->native_stops[FAH_UNWIND_NO_RULE]);
	registered = atomic_load(&head->registered);
	if (++p->rest > 2 * LOOK_REST_MAX)
		p->looks = 0; /* it has been quiet */
	if (unmapped == p->unmapped &&
	    atomic_load(&head->map) >> 32 == atomic_load(&head->unloads) &&
	    /* code may have been made among code that was made before */
	    (registered == p->registered || without_rule == p->without_rule))
		return false;
	/* a program's start loads many, so the first ones come at once */
	wait = p->looks < LOOKS_AT_ONCE ? 1 : 1u << (p->looks - LOOKS_AT_ONCE);
	if (p->rest < (wait < LOOK_REST_MAX ? wait : LOOK_REST_MAX))
		return false;
	if (wait < LOOK_REST_MAX)
		p->looks++;
	p->rest = 0;
	p->unmapped = unmapped;
	p->without_rule = without_rule;
	p->registered = registered;
	return true;
}

void fah_collected_close(struct fah_collected *p, bool remove_files)
{
	for (uint32_t i = 0; i < p->n_segments; i++) {
		if (remove_files)
			unlink(p->segments[i].path);
		unmap_segment(&p->segments[i]);
	}
	free(p->segments);
	p->segments = NULL;
	p->n_segments = 0;
	fah_codes_release(&p->codes);
	fah_runtime_code_free(p->runtime);
	fah_threads_release(&p->threads);
	if (p->journal_path && remove_files)
		unlink(p->journal_path);
	if (p->kept_path && remove_files)
		unlink(p->kept_path);
	free(p->journal_path);
	free(p->kept_path);
	p->journal_path = p->kept_path = NULL;
	p->done = true;
}

void fah_collected_free_all(struct fah_collected *list)
{
	while (list) {
		struct fah_collected *next = list->next;

		if (!list->done)
			fah_collected_close(list, false);
		free(list);
		list = next;
	}
}

struct fah_runtime_code *fah_collected_runtime(struct fah_collected *p)
{
	uint32_t outer = p->runtime ? 0 : fah_collected_outer_pid(p);

	if (outer) /* else it is asked for again */
		p->runtime = fah_runtime_code_new(p->pid, outer);
	return p->runtime;
}
