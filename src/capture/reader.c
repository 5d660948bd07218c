/*
 * reader.c - walk the records of a capture, up to the first that is cut or damaged.
 *
 * The whole file is read into memory, not mapped: a mapped file that somebody cuts is a SIGBUS.
 * There is no search for records after a damaged one: ids count in file order, so what follows a
 * lost definition would be read as something else.
 */
#include "capture/reader.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/crc32.h"
#include "core/err.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#define PARTIAL ".partial"

struct fah_reader {
	const uint8_t *data;
	size_t len, pos;
	size_t checked; /* records before this were checked by an earlier pass */
	uint32_t version;
	bool partial, complete, ended, cut;
	char *owned, *path; /* NULL over memory */
};

static uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* A cut head is fine as far as it goes; without a byte of it nothing says that this is a capture.
 */
static int read_head(struct fah_reader *r)
{
	size_t magic = sizeof(FAH_CAPTURE_MAGIC) - 1;

	if (!r->len || memcmp(r->data, FAH_CAPTURE_MAGIC, r->len < magic ? r->len : magic) != 0)
		return FAH_ERR_FORMAT;
	if (r->len < FAH_CAPTURE_HEAD)
		return 0;
	r->version = get_u32(r->data + magic);
	if (r->version == 0)
		return FAH_ERR_FORMAT;
	return r->version > FAH_CAPTURE_VERSION ? FAH_ERR_VERSION : 0;
}

int fah_reader_new_mem(const uint8_t *data, size_t len, struct fah_reader **ret)
{
	_cleanup_(fah_freep) struct fah_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return FAH_ERR_NOMEM;
	r->data = len ? data : (const uint8_t *)"";
	r->len = len;
	err = read_head(r);
	if (err < 0)
		return err;
	fah_reader_rewind(r);
	*ret = TAKE_PTR(r);
	return 0;
}

/* /dev/zero never ends, and a folder can't be read: regular files and pipes only. */
static int check_kind(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return FAH_ERR_SYS;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return FAH_ERR_SYS;
	}
	return S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) ? 0 : FAH_ERR_FORMAT;
}

static bool ends_in_partial(const char *path)
{
	size_t len = strlen(path), tail = sizeof(PARTIAL) - 1;

	return len > tail && strcmp(path + len - tail, PARTIAL) == 0;
}

int fah_reader_new(const char *path, struct fah_reader **ret)
{
	_cleanup_(fah_freep) char *data = NULL, *name = strdup(path);
	struct stat st;
	size_t len;
	int err;

	if (!name)
		return FAH_ERR_NOMEM;
	if (stat(name, &st) < 0 && errno == ENOENT) {
		char *partial;

		if (asprintf(&partial, "%s" PARTIAL, path) < 0)
			return FAH_ERR_NOMEM;
		if (stat(partial, &st) == 0) {
			free(name);
			name = partial;
		} else {
			free(partial);
		}
	}
	err = check_kind(name);
	if (err == 0)
		err = fah_file_read(name, SIZE_MAX / 4, &data, &len);
	if (err == 0)
		err = fah_reader_new_mem((const uint8_t *)data, len, ret);
	if (err < 0)
		return err;
	(*ret)->partial = ends_in_partial(name);
	(*ret)->owned = TAKE_PTR(data);
	(*ret)->path = TAKE_PTR(name);
	return 0;
}

void fah_reader_rewind(struct fah_reader *r)
{
	r->pos = r->len < FAH_CAPTURE_HEAD ? 0 : FAH_CAPTURE_HEAD;
	r->ended = r->cut = r->complete = false;
}

static int stop(struct fah_reader *r, bool cut)
{
	r->ended = true;
	r->cut = cut;
	return 0;
}

int fah_reader_next(struct fah_reader *r, struct fah_record *ret_rec)
{
	const uint8_t *p = r->data + r->pos;
	size_t left = r->len - r->pos;
	uint32_t len;

	if (r->ended || r->len < FAH_CAPTURE_HEAD || left < FAH_RECORD_HEAD)
		return stop(r, r->ended ? r->cut : left != 0);
	len = get_u32(p);
	if (len > FAH_RECORD_MAX)
		return stop(r, false);
	if (len > left - FAH_RECORD_HEAD)
		return stop(r, true);
	/* The type byte stands before the payload, so that one pass covers both. */
	if (r->pos >= r->checked) {
		if (fah_crc32(0, p + FAH_RECORD_HEAD - 1, (size_t)len + 1) != get_u32(p + 4))
			return stop(r, false);
		r->checked = r->pos + FAH_RECORD_HEAD + len;
	}
	ret_rec->type = (enum fah_record_type)p[FAH_RECORD_HEAD - 1];
	ret_rec->payload = p + FAH_RECORD_HEAD;
	ret_rec->len = len;
	ret_rec->offset = r->pos;
	ret_rec->version = r->version;
	r->pos += FAH_RECORD_HEAD + len;
	if (ret_rec->type == FAH_REC_END)
		r->complete = true;
	return 1;
}

void fah_reader_state(const struct fah_reader *r, struct fah_reader_state *ret)
{
	*ret = (struct fah_reader_state){
		.partial = r->partial,
		.complete = r->complete,
		.cut = r->cut,
		.good_bytes = r->pos,
		.lost_bytes = r->ended ? r->len - r->pos : 0,
	};
}

const char *fah_reader_path(const struct fah_reader *r)
{
	return r->path ? r->path : "";
}

uint32_t fah_reader_version(const struct fah_reader *r)
{
	return r->version;
}

void fah_reader_free(struct fah_reader *r)
{
	if (!r)
		return;
	free(r->owned);
	free(r->path);
	free(r);
}
