/*
 * runtime_code.c - see runtime_code.h. Anybody may write to /tmp: the file must be the process's
 * owner's, ours or root's.
 */
#include "collect/runtime_code.h"

#include "base/file.h"
#include "core/time.h"
#include "native/names.h"
#include "native/perf_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#define MAP_MAX (64u << 20)
#define LOOK_EVERY_NS 100000000u

struct fah_runtime_code {
	uint32_t pid, outer;
	struct fah_names *names;
	uint64_t looked_ns;
	off_t size; /* of the file when it was read */
	char *text;
	struct fah_perf_map map;
};

struct fah_runtime_code *fah_runtime_code_new(uint32_t pid, uint32_t outer)
{
	struct fah_runtime_code *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->pid = pid;
	code->outer = outer;
	code->names = fah_names_new(NULL, "", "");
	if (code->names)
		return code;
	free(code);
	return NULL;
}

void fah_runtime_code_free(struct fah_runtime_code *code)
{
	if (!code)
		return;
	fah_names_free(code->names);
	fah_perf_map_release(&code->map);
	free(code->text);
	free(code);
}

static bool is_trusted(uint32_t outer, const struct stat *st)
{
	struct stat owner;
	char path[32];

	if (st->st_uid == 0 || st->st_uid == geteuid())
		return true;
	snprintf(path, sizeof(path), "/proc/%" PRIu32, outer);
	return stat(path, &owner) == 0 && owner.st_uid == st->st_uid;
}

/* In the process's root as long as it is there, else in ours. */
static bool find_file(const struct fah_runtime_code *code, char *path, size_t room, struct stat *st)
{
	snprintf(path, room, "/proc/%" PRIu32 "/root/tmp/perf-%" PRIu32 ".map", code->outer,
		 code->pid);
	if (code->outer && stat(path, st) == 0)
		return is_trusted(code->outer, st);
	snprintf(path, room, "/tmp/perf-%" PRIu32 ".map", code->pid);
	return code->outer == code->pid && stat(path, st) == 0 && is_trusted(code->outer, st);
}

void fah_runtime_code_look(struct fah_runtime_code *code)
{
	struct fah_perf_map map;
	struct timespec now;
	struct stat st;
	char path[96], *text;
	uint64_t now_ns;
	size_t len;

	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = fah_timespec_ns(now);
	if (code->looked_ns && now_ns - code->looked_ns < LOOK_EVERY_NS)
		return;
	code->looked_ns = now_ns;
	if (!find_file(code, path, sizeof(path), &st) || st.st_size == code->size ||
	    fah_file_read_regular(path, MAP_MAX, &text, &len) < 0)
		return;
	if (fah_perf_map_parse(text, len, &map) < 0) {
		free(text);
		return;
	}
	fah_perf_map_release(&code->map);
	free(code->text);
	code->map = map;
	code->text = text;
	code->size = st.st_size;
}

struct fah_names *fah_runtime_code_names(struct fah_runtime_code *code, uint64_t pc)
{
	const struct fah_perf_entry *entry;

	if (fah_names_is_defined(code->names, pc))
		return code->names;
	entry = fah_perf_map_find(&code->map, pc);
	if (!entry) {
		fah_runtime_code_look(code);
		entry = fah_perf_map_find(&code->map, pc);
	}
	if (!entry)
		return NULL;
	fah_names_define(code->names, pc, entry->name);
	return code->names;
}
