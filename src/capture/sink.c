/*
 * sink.c - the file below the writer, and what it does when the disk is full.
 *
 * A write that does not fit is cut back to the last whole record. Samples and drops that do not
 * fit are lost and counted. Definitions are kept, in order, and come first when there is space
 * again: ids count in file order, so a lost definition would give every later id to the wrong one.
 */
#include "capture/sink.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/crc32.h"
#include "capture/reader.h"
#include "core/err.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define OUT_FULL (64u << 10)
#define RESERVE_STEP (256u << 10)

static uint8_t *put_u32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	p[3] = (uint8_t)(v >> 24);
	return p + 4;
}

static uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void note(struct fah_sink *s, int number)
{
	if (!s->loss.error)
		s->loss.error = number;
}

/*
 * Open the partial file, alone. 1: opened; 0: it changed under us, try again. The lock tells a
 * file that a dead run left from one that a living run writes.
 */
static int try_open(const char *partial, int *ret_fd)
{
	_cleanup_(fah_closep) int fd = -1;
	struct stat st, now;

	fd = open(partial, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	if (fd < 0)
		return errno == ELOOP || errno == EISDIR || errno == ENXIO ? FAH_ERR_EXISTS
									   : FAH_ERR_SYS;
	if (fstat(fd, &st) < 0)
		return FAH_ERR_SYS;
	if (!S_ISREG(st.st_mode))
		return FAH_ERR_EXISTS;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		errno = EBUSY;
		return FAH_ERR_SYS;
	}
	/* Between open and lock its writer may have finished: then this is a named capture now. */
	if (lstat(partial, &now) < 0 || now.st_dev != st.st_dev || now.st_ino != st.st_ino)
		return 0;
	if (st.st_nlink > 1) /* the same file has another name, which must keep its bytes */
		return unlink(partial) < 0 ? FAH_ERR_SYS : 0;
	if (ftruncate(fd, 0) < 0)
		return FAH_ERR_SYS;
	*ret_fd = fd;
	fd = -1;
	return 1;
}

static bool allocate(struct fah_sink *s, uint64_t end)
{
	while (fallocate(s->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)end) < 0)
		if (errno != EINTR)
			return false;
	s->reserved = end;
	return true;
}

/* Ask the file system for room up to `end`. false: there is none. */
static bool promise(struct fah_sink *s, uint64_t end)
{
	struct rlimit limit;

	/* Going over it raises SIGXFSZ, which kills: never try. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && end > limit.rlim_cur) {
		errno = EFBIG;
		return false;
	}
	if (s->no_reserve || end <= s->reserved)
		return true;
	/* In steps, because each asking takes up to a ms; near the end of the disk, exactly. */
	if (allocate(s, end + RESERVE_STEP) || allocate(s, end))
		return true;
	if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
		return false;
	s->no_reserve = true; /* not supported here: the writes themselves will tell */
	return true;
}

/* The count of bytes that were written, whole or not. */
static size_t write_at(struct fah_sink *s, const void *data, size_t len)
{
	size_t n = 0;

	while (n < len) {
		ssize_t wrote =
			pwrite(s->fd, (const char *)data + n, len - n, (off_t)(s->size + n));

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0) {
			note(s, wrote < 0 ? errno : ENOSPC);
			break;
		}
		n += (size_t)wrote;
	}
	return n;
}

static int write_head(struct fah_sink *s)
{
	uint8_t head[FAH_CAPTURE_HEAD] = FAH_CAPTURE_MAGIC;

	put_u32(put_u32(head + 8, FAH_CAPTURE_VERSION), 0);
	if (!promise(s, FAH_CAPTURE_HEAD + FAH_SINK_RESERVE))
		return FAH_ERR_SYS;
	if (write_at(s, head, sizeof(head)) < sizeof(head)) {
		errno = s->loss.error;
		return FAH_ERR_SYS;
	}
	s->size = sizeof(head);
	return 0;
}

int fah_sink_open(struct fah_sink *s, const char *path)
{
	int tries, err, number;

	*s = (struct fah_sink){.fd = -1};
	err = fah_file_check_output(path);
	if (err < 0)
		return err;
	s->path = strdup(path);
	if (!s->path || asprintf(&s->partial, "%s.partial", path) < 0) {
		s->partial = NULL;
		fah_sink_release(s);
		return FAH_ERR_NOMEM;
	}
	err = fah_file_check_output(s->partial);
	errno = err ? errno : EBUSY; /* of ten tries that all met another writer's end */
	for (tries = 0; tries < 10 && err == 0; tries++)
		err = try_open(s->partial, &s->fd);
	err = err > 0 ? write_head(s) : err < 0 ? err : FAH_ERR_SYS;
	if (err < 0) {
		number = errno;
		if (s->fd >= 0)
			unlink(s->partial);
		fah_sink_release(s);
		errno = number;
	}
	return err;
}

/* The length of the whole record at p. */
static size_t whole(const uint8_t *p)
{
	return FAH_RECORD_HEAD + (size_t)get_u32(p);
}

static void lose(struct fah_sink *s, const uint8_t *p)
{
	struct fah_record rec = {.type = (enum fah_record_type)p[FAH_RECORD_HEAD - 1],
				 .payload = p + FAH_RECORD_HEAD,
				 .len = get_u32(p),
				 .version = FAH_CAPTURE_VERSION};
	struct fah_samples_block block;

	s->loss.bytes += whole(p);
	if (rec.type == FAH_REC_SAMPLES && fah_samples_open(&rec, &block) == 0)
		s->loss.records += block.left;
	else
		s->loss.records++;
}

/* Drop the first n bytes of the buffer, which are whole records. */
static void forget(struct fah_sink *s, size_t n)
{
	if (!n)
		return;
	memmove(s->out.p, s->out.p + n, s->out.len - n);
	fah_strbuf_truncate(&s->out, s->out.len - n);
}

/* What waits and may be lost is lost; the rest moves together. */
static void shed(struct fah_sink *s, bool all)
{
	uint8_t *p = (uint8_t *)s->out.p;
	size_t from = 0, to = 0, n;

	for (; from < s->out.len; from += n) {
		uint8_t type = p[from + FAH_RECORD_HEAD - 1];

		n = whole(p + from);
		if (all || type == FAH_REC_SAMPLES || type == FAH_REC_DROPS ||
		    type == FAH_REC_WAITS || type == FAH_REC_STATES) {
			lose(s, p + from);
			continue;
		}
		memmove(p + to, p + from, n);
		to += n;
	}
	fah_strbuf_truncate(&s->out, to);
}

static void flush(struct fah_sink *s, uint64_t reserve)
{
	const uint8_t *p = (const uint8_t *)s->out.p;
	size_t fits = 0, wrote;

	if (!s->out.len)
		return;
	/* All, or as many records as there is room for. */
	if (promise(s, s->size + s->out.len + reserve)) {
		fits = s->out.len;
	} else {
		note(s, errno);
		while (fits < s->out.len && promise(s, s->size + fits + whole(p + fits) + reserve))
			fits += whole(p + fits);
	}
	wrote = write_at(s, p, fits);
	if (wrote < fits) {
		size_t n = 0;

		while (n + whole(p + n) <= wrote)
			n += whole(p + n);
		wrote = n;
		if (ftruncate(s->fd, (off_t)(s->size + wrote)) < 0)
			note(s, errno);
	}
	s->size += wrote;
	forget(s, wrote);
}

void fah_sink_flush(struct fah_sink *s)
{
	if (s->given_up) {
		shed(s, true);
		return;
	}
	flush(s, FAH_SINK_RESERVE);
	shed(s, false);
	if (s->out.len > FAH_SINK_OWED_MAX) {
		s->given_up = true;
		shed(s, true);
	}
}

void fah_sink_flush_last(struct fah_sink *s, uint64_t keep)
{
	/* Samples must not take the room that the end of the run needs. */
	if (!s->given_up)
		flush(s, FAH_SINK_RESERVE);
	shed(s, s->given_up);
	if (s->out.len)
		flush(s, keep);
	shed(s, true);
}

void fah_sink_record(struct fah_sink *s, enum fah_record_type type, const void *payload, size_t len)
{
	uint8_t head[FAH_RECORD_HEAD];
	size_t before = s->out.len;

	if (len > FAH_RECORD_MAX || !fah_strbuf_reserve(&s->out, FAH_RECORD_HEAD + len)) {
		/* Without memory for definitions nothing that follows can be right. */
		s->given_up = true;
		s->out.failed = false;
		s->loss.records++;
		s->loss.bytes += FAH_RECORD_HEAD + len;
		note(s, ENOMEM);
		return;
	}
	head[FAH_RECORD_HEAD - 1] = (uint8_t)type;
	put_u32(put_u32(head, (uint32_t)len),
		fah_crc32(fah_crc32(0, &head[FAH_RECORD_HEAD - 1], 1), payload, len));
	fah_strbuf_add(&s->out, head, sizeof(head));
	fah_strbuf_add(&s->out, payload, len);
	/* What waits for space does not make every record a flush. */
	if (s->out.len / OUT_FULL != before / OUT_FULL)
		fah_sink_flush(s);
}

int fah_sink_commit(struct fah_sink *s)
{
	int err;

	/* Give back what was promised beyond the end; the length is right already. */
	if (ftruncate(s->fd, (off_t)s->size) < 0)
		return FAH_ERR_SYS;
	err = fah_file_check_output(s->path);
	if (err < 0)
		return err;
	return rename(s->partial, s->path) < 0 ? FAH_ERR_SYS : 0;
}

void fah_sink_release(struct fah_sink *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->path);
	free(s->partial);
	fah_strbuf_release(&s->out);
	*s = (struct fah_sink){.fd = -1};
}
