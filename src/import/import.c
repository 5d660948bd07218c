/*
 * import.c - see import.h. The capture is written to a file of its own that is gone before anybody
 * sees it: readers read whole files.
 */
#include "import/import.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "core/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 30)

FAH_DEFINE_FREEP(struct fah_writer *, fah_writer_free)

static int convert(const struct fah_json_value *json, const char *capture, struct fah_reader **ret)
{
	_cleanup_(fah_writer_freep) struct fah_writer *w = NULL;
	struct fah_write_loss loss;
	struct fah_run_end end = {0};
	int err = fah_writer_new(capture, &w);

	if (err == 0)
		err = fah_import_scalene(json, w, &end);
	if (err == 0)
		err = fah_writer_finish(w, &end, &loss);
	if (err == 0 && loss.error) {
		errno = loss.error;
		err = FAH_ERR_SYS;
	}
	return err < 0 ? err : fah_reader_new(capture, ret);
}

int fah_import_open(const char *path, struct fah_reader **ret)
{
	_cleanup_(fah_arena_release) struct fah_arena arena = FAH_ARENA_INIT;
	_cleanup_(fah_freep) char *text = NULL;
	const struct fah_json_value *json;
	struct fah_json_error where;
	const char *tmp = getenv("TMPDIR");
	char folder[4096], capture[4200], partial[4300];
	size_t len;
	int err = fah_file_read_regular(path, FILE_MAX, &text, &len), saved;

	if (err == 0)
		err = fah_json_read(&arena, text, len, &json, &where);
	if (err == 0 && !fah_import_is_scalene(json))
		err = FAH_ERR_FORMAT;
	if (err < 0)
		return err;
	if (snprintf(folder, sizeof(folder), "%s/fixingahole-XXXXXX", tmp && *tmp ? tmp : "/tmp") >=
	    (int)sizeof(folder))
		return FAH_ERR_RANGE;
	if (!mkdtemp(folder))
		return FAH_ERR_SYS;
	snprintf(capture, sizeof(capture), "%s/imported.fah", folder);
	snprintf(partial, sizeof(partial), "%s.partial", capture);
	err = convert(json, capture, ret);
	saved = errno;
	unlink(capture);
	unlink(partial);
	rmdir(folder);
	errno = saved;
	return err;
}
