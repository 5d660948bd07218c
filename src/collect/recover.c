/* recover.c - see recover.h. */
#include "collect/recover.h"

#include "base/cleanup.h"
#include "capture/reader.h"
#include "capture/writer.h"
#include "collect/drain.h"
#include "collect/session.h"
#include "core/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

FAH_DEFINE_FREEP(struct fah_reader *, fah_reader_free)
FAH_DEFINE_FREEP(struct fah_writer *, fah_writer_free)
FAH_DEFINE_FREEP(struct fah_drain *, fah_drain_free)

struct leftover {
	struct fah_session session;
	uint64_t start_mono_ns;
};

static void take_meta(struct leftover *l, const struct fah_str *key, const struct fah_str *value)
{
	char text[FAH_SESSION_PATH_MAX];

	if (value->len >= sizeof(text))
		return;
	memcpy(text, value->p, value->len);
	text[value->len] = 0;
	if (key->len == 7 && !memcmp(key->p, "session", 7))
		strcpy(l->session.dir, text);
	else if (key->len == 13 && !memcmp(key->p, "start_mono_ns", 13))
		l->start_mono_ns = strtoull(text, NULL, 10);
}

/* Is there something to add? Reads all of the capture, so its state is known afterwards. */
static bool needs_recovery(struct fah_reader *r, struct leftover *l)
{
	struct fah_reader_state state;
	struct fah_record rec;
	struct fah_str key, value;

	while (fah_reader_next(r, &rec) > 0) {
		struct fah_cursor c = {rec.payload, rec.payload + rec.len, false};

		while (rec.type == FAH_REC_META && fah_decode_meta(&c, &key, &value) > 0)
			take_meta(l, &key, &value);
	}
	fah_reader_state(r, &state);
	/* records are copied as they are: of another version only what is written can be read */
	return state.partial && !state.complete && l->session.dir[0] &&
	       fah_reader_version(r) == FAH_CAPTURE_VERSION &&
	       fah_session_take_over(&l->session) == 0;
}

/* The capture's name where path is that of its partial file. */
static void whole_name(const char *path, char *buf, size_t cap)
{
	size_t n = strlen(path);

	if (n > 8 && !strcmp(path + n - 8, ".partial"))
		n -= 8;
	snprintf(buf, cap, "%.*s", (int)n, path);
}

int fah_recover(const char *given)
{
	_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
	_cleanup_(fah_writer_freep) struct fah_writer *w = NULL;
	_cleanup_(fah_drain_freep) struct fah_drain *d = NULL;
	char partial[FAH_SESSION_PATH_MAX], work[FAH_SESSION_PATH_MAX],
		work_partial[FAH_SESSION_PATH_MAX];
	struct leftover l = {.session.lock_fd = -1};
	char path[FAH_SESSION_PATH_MAX - 32];
	struct fah_rec_thread thread;
	struct fah_record rec;
	uint32_t threads = 0;
	int err;

	whole_name(given, path, sizeof(path));
	err = fah_reader_new(path, &r);
	if (err < 0)
		return err;
	if (!needs_recovery(r, &l))
		return 0;
	/* a second file, so that the first is whole whatever happens here */
	snprintf(partial, sizeof(partial), "%s.partial", path);
	snprintf(work, sizeof(work), "%s.recovered", path);
	snprintf(work_partial, sizeof(work_partial), "%s.recovered.partial", path);
	fah_session_end(&l.session);
	err = fah_writer_new(work, &w);
	if (err == 0)
		err = fah_drain_new(l.session.dir, w, l.start_mono_ns, &d);
	if (err < 0) {
		close(l.session.lock_fd);
		return err;
	}
	fah_reader_rewind(r);
	while (fah_reader_next(r, &rec) > 0) {
		fah_writer_copy(w, &rec);
		if (rec.type != FAH_REC_THREAD)
			continue;
		threads++; /* ids are given in this order */
		if (fah_decode_thread(&rec, &thread) == 0)
			fah_drain_knows_thread(d, thread.process, thread.tid, thread.start_ns,
					       threads);
	}
	fah_drain_finish(d);
	fah_writer_flush(w);
	if (fah_writer_lost(w) || rename(work_partial, partial) < 0) {
		unlink(work_partial); /* the leftovers stay, for a disk with room */
		close(l.session.lock_fd);
		return FAH_ERR_SYS;
	}
	fah_session_remove(&l.session);
	return 1;
}
