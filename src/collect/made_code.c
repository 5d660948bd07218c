/* made_code.c - see made_code.h. */
#include "collect/made_code.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "core/segment.h"
#include "native/made.h"

#include <string.h>

#define ENTRIES_MAX 65536u
#define IMAGE_MAX (64u << 20)
#define IMAGES_MAX (256u << 20) /* bytes of all of a list */
#define LIST_VERSION 1
#define TABLED_MAX 65536u /* sections by tables of them */

/* As GDB's documentation has them; 64-bit. */
struct descriptor {
	uint32_t version, action;
	uint64_t relevant, first;
};

struct entry {
	uint64_t next, prev, image, len;
};

/* 0 also for one that changes meanwhile. */
static int add_image(const struct fah_mem *mem, uint64_t at, const struct entry *entry,
		     struct fah_made *made)
{
	_cleanup_(fah_freep) uint8_t *bytes = malloc(entry->len);
	struct entry now;

	if (!bytes)
		return FAH_ERR_NOMEM;
	if (fah_load(mem, entry->image, bytes, entry->len) < 0 ||
	    fah_load(mem, at, &now, sizeof(now)) < 0 || now.image != entry->image ||
	    now.len != entry->len)
		return 0;
	return fah_made_add_image(made, bytes, entry->len, mem);
}

int fah_made_code_list(const struct fah_mem *mem, uint64_t descriptor, struct fah_made *made)
{
	struct descriptor head;
	struct entry entry;
	uint64_t at, all = 0;
	int err = 0;

	if (fah_load(mem, descriptor, &head, sizeof(head)) < 0 || head.version != LIST_VERSION)
		return 0;
	at = head.first;
	for (uint32_t i = 0; at && i < ENTRIES_MAX && err == 0; i++, at = entry.next) {
		if (fah_load(mem, at, &entry, sizeof(entry)) < 0)
			break;
		if (!entry.len || entry.len > IMAGE_MAX)
			continue;
		all += entry.len;
		if (all > IMAGES_MAX)
			break;
		err = add_image(mem, at, &entry, made);
	}
	return err;
}

/* A list of addresses with a 0 behind; *left: how many may still be looked at. */
static int add_table(const struct fah_mem *mem, uint64_t table, struct fah_made *made,
		     uint32_t *left)
{
	uint64_t at;
	int err = 0;

	for (; *left && err == 0 && fah_load(mem, table, &at, sizeof(at)) == 0 && at;
	     table += sizeof(at)) {
		err = fah_made_add_frames(made, at, mem);
		--*left;
	}
	return err;
}

int fah_made_code_frames(const struct fah_mem *mem, uint64_t frames, struct fah_made *made)
{
	_cleanup_(fah_freep) uint64_t *at = NULL;
	uint32_t n, left = TABLED_MAX;
	int err = 0;

	if (fah_load(mem, frames + offsetof(struct fah_registered, n), &n, sizeof(n)) < 0 || !n ||
	    n > FAH_FRAMES_MAX)
		return 0;
	at = calloc(n, sizeof(*at));
	if (!at)
		return FAH_ERR_NOMEM;
	if (fah_load(mem, frames + offsetof(struct fah_registered, at), at, n * sizeof(*at)) < 0)
		return 0;
	for (uint32_t i = 0; i < n && err == 0; i++) {
		uint64_t address = at[i] & FAH_FRAMES_ADDRESS;

		if (at[i] & FAH_FRAMES_TABLE)
			err = add_table(mem, address, made, &left);
		else if (address)
			err = fah_made_add_frames(made, address, mem);
	}
	return err;
}
