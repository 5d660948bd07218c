/* exact_open.c - see exact_open.h. */
#include "cli/exact_open.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/path.h"
#include "capture/format.h"
#include "capture/reader.h"
#include "cli/cli.h"
#include "cli/open.h"
#include "core/err.h"
#include "import/pstats.h"
#include "model/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD 16

enum kind { KIND_NONE, KIND_STATS, KIND_CAPTURE, KIND_LPROF };

/* The first bytes of a regular file; 0 of anything else. */
static size_t read_head(const char *path, unsigned char *head)
{
	_cleanup_(fah_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	n = read(fd, head, HEAD);
	return n > 0 ? (size_t)n : 0;
}

static enum kind kind_of(const char *path)
{
	unsigned char head[HEAD];
	size_t n = read_head(path, head), magic = strlen(FAH_CAPTURE_MAGIC);

	if (n >= magic && !memcmp(head, FAH_CAPTURE_MAGIC, magic))
		return KIND_CAPTURE;
	if (fah_pstats_is_likely(head, n))
		return KIND_STATS;
	/* line_profiler's files are pickles, of protocol 2 to 5 */
	if (n >= 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5)
		return KIND_LPROF;
	return KIND_NONE;
}

/* Is it a folder, or the name of a capture whose run was killed? */
static bool is_folder_or_partial(const char *path)
{
	_cleanup_(fah_freep) char *partial = NULL;
	struct stat st;

	if (stat(path, &st) == 0)
		return S_ISDIR(st.st_mode);
	return asprintf(&partial, "%s.partial", path) >= 0 && stat(partial, &st) == 0;
}

FAH_DEFINE_FREEP(struct fah_reader *, fah_reader_free)
FAH_DEFINE_FREEP(struct fah_profile *, fah_profile_free)

/* The calls of all processes that a capture holds. What cannot be read, summarize says best. */
static int exact_from_capture(const char *argument, struct fah_exact *e)
{
	_cleanup_(fah_freep) char *path = fah_find_capture(argument);
	_cleanup_(fah_reader_freep) struct fah_reader *reader = NULL;
	_cleanup_(fah_profile_freep) struct fah_profile *profile = NULL;

	if (!path)
		return FAH_ERR_NOMEM;
	if (fah_reader_new(path, &reader) < 0 || fah_profile_load(reader, &profile) < 0 ||
	    !fah_exact_has(profile, FAH_EXACT_ALL))
		return FAH_EXACT_NONE;
	return fah_exact_of(profile, FAH_EXACT_ALL, e);
}

int fah_exact_open(const char *path, struct fah_exact *e)
{
	enum kind kind = kind_of(path);

	if (kind == KIND_CAPTURE || is_folder_or_partial(path))
		return exact_from_capture(path, e);
	if (kind == KIND_LPROF)
		return FAH_ERR_FORMAT;
	if (kind == KIND_NONE && fah_path_ends(path, ".json"))
		return FAH_EXACT_NONE;
	return fah_pstats_read(path, e);
}

const char *fah_exact_why(int err, const char *path)
{
	int saved = errno;

	if (kind_of(path) == KIND_LPROF)
		return "these are lines, of line_profiler's; fixingahole annotate reads those";
	switch (err) {
	case FAH_EXACT_NONE:
		return "there are no calls in it that were told one by one; fixingahole summarize "
		       "reads it";
	case FAH_ERR_FORMAT:
		return "neither a stats file of Python's (of cProfile, or pstats) nor a capture";
	case FAH_ERR_DAMAGED:
		return kind_of(path) == KIND_STATS
			       ? "a stats file of Python's that is cut"
			       : "neither a stats file of Python's (of cProfile, or pstats) nor a "
				 "capture";
	case FAH_ERR_RANGE:
		return "no stats file of Python's: it has a number that is not possible";
	case FAH_ERR_SYS:
		return strerror(saved);
	default:
		return fah_err_text(err);
	}
}

int fah_exact_fail(int err, const char *command, const char *path)
{
	return fah_fail("%s: %s: %s", command, path, fah_exact_why(err, path));
}
