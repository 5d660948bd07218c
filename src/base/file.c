/*
 * file.c - whole files, folders, and outputs that appear under their name only when they are whole.
 * Safe against a kill at any point; not against a power cut (nothing is fsync'ed).
 */
#include "base/file.h"

#include "core/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define LARGE_PAGE (2u << 20)

/* 50 MB are read in 50 ms instead of 80 where their memory does not come page by page. */
static void large_pages(char *p, size_t len)
{
	uintptr_t first = ((uintptr_t)p + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
	uintptr_t end = ((uintptr_t)p + len) & ~(uintptr_t)(LARGE_PAGE - 1);
	int number = errno;

	if (first < end)
		madvise((void *)first, end - first, MADV_HUGEPAGE); /* no is fine */
	errno = number;
}

static int read_fd(int fd, bool regular, size_t max, char **ret, size_t *ret_len)
{
	_cleanup_(fah_freep) char *buf = NULL;
	size_t len = 0, cap = 0;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return FAH_ERR_SYS;
	if (regular && !S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
		return FAH_ERR_SYS;
	}
	if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > max)
		return FAH_ERR_RANGE;
	/* The size is a hint: /proc says 0, and a log may grow while it is read. */
	cap = S_ISREG(st.st_mode) ? (size_t)st.st_size + 1 : 4096;
	for (;;) {
		char *bigger = realloc(buf, cap + 1);
		ssize_t n;

		if (!bigger)
			return FAH_ERR_NOMEM;
		if (bigger != buf)
			large_pages(bigger, cap);
		buf = bigger;
		n = read(fd, buf + len, cap - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return FAH_ERR_SYS;
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > max)
			return FAH_ERR_RANGE;
		if (len == cap)
			cap *= 2;
	}
	buf[len] = '\0';
	*ret_len = len;
	*ret = TAKE_PTR(buf);
	return 0;
}

int fah_file_read(const char *path, size_t max, char **ret, size_t *ret_len)
{
	_cleanup_(fah_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? FAH_ERR_SYS : read_fd(fd, false, max, ret, ret_len);
}

int fah_file_read_regular(const char *path, size_t max, char **ret, size_t *ret_len)
{
	/* Opening a pipe without a writer would wait, and a terminal could become ours. */
	_cleanup_(fah_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? FAH_ERR_SYS : read_fd(fd, true, max, ret, ret_len);
}

static int make_dir(const char *path, mode_t mode)
{
	struct stat st;
	int why;

	if (mkdir(path, mode) == 0)
		return 0;
	why = errno;
	if (errno != EEXIST && errno != EROFS && errno != EACCES && errno != EPERM)
		return FAH_ERR_SYS;
	/* A folder above may be there while we may not make one beside it: EROFS comes first. */
	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return 0;
		why = ENOTDIR;
	}
	errno = why;
	return FAH_ERR_SYS;
}

int fah_mkdir_p(const char *path, mode_t mode)
{
	_cleanup_(fah_freep) char *p = strdup(path);
	char *slash;

	if (!p)
		return FAH_ERR_NOMEM;
	for (slash = strchr(p + (*p == '/'), '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (slash[-1] != '\0' && make_dir(p, mode | S_IWUSR | S_IXUSR) < 0)
			return FAH_ERR_SYS;
		*slash = '/';
	}
	return make_dir(p, mode);
}

bool fah_file_same(const char *a, const char *b)
{
	struct stat one, other;

	return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}

/* /dev/stdout is a link, to whatever that is: none of its kind is there to be removed. */
static bool is_special(const char *path)
{
	struct stat st;

	if (!strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6))
		return true;
	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

int fah_file_check_output(const char *path)
{
	struct stat st;
	size_t len = strlen(path);

	if (len && path[len - 1] == '/')
		return FAH_ERR_EXISTS; /* a folder, whether it is there or not */
	if (lstat(path, &st) < 0) {
		char *parent, *slash;
		int err = 0;

		if (errno != ENOENT)
			return FAH_ERR_SYS;
		/* Nothing there: the folder must be, or the name can't be taken. */
		parent = strdup(path);
		if (!parent)
			return FAH_ERR_NOMEM;
		slash = strrchr(parent, '/');
		if (slash && slash != parent) {
			*slash = '\0';
			err = stat(parent, &st) < 0 ? FAH_ERR_SYS : 0;
		}
		free(parent);
		return *path ? err : FAH_ERR_SYS;
	}
	if (S_ISREG(st.st_mode))
		return 0;
	return !S_ISDIR(st.st_mode) && is_special(path) ? FAH_ERR_SPECIAL : FAH_ERR_EXISTS;
}

/* Opens a new hidden file beside path, with the umask's mode. */
static int open_temp(const char *path, char **ret_temp)
{
	const char *base = fah_basename(path);
	unsigned i;

	for (i = 0; i < 1000; i++) {
		_cleanup_(fah_freep) char *temp = NULL;
		int fd;

		if (asprintf(&temp, "%.*s.fixingahole-%d-%u.tmp", (int)(base - path), path,
			     (int)getpid(), i) < 0) {
			temp = NULL;
			return FAH_ERR_NOMEM;
		}
		fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0) {
			*ret_temp = TAKE_PTR(temp);
			return fd;
		}
		if (errno != EEXIST)
			return FAH_ERR_SYS;
	}
	return FAH_ERR_SYS;
}

int fah_outfile_open(struct fah_outfile *of, const char *path)
{
	struct fah_outfile new = {NULL, NULL, NULL};
	struct stat st;
	int err, fd;

	err = fah_file_check_output(path);
	if (err < 0)
		return err;
	fd = open_temp(path, &new.temp);
	if (fd < 0)
		return fd;
	if (stat(path, &st) == 0 && fchmod(fd, st.st_mode & 07777) < 0) {
		/* A file system without modes (vfat): nothing to keep. */
	}
	new.path = strdup(path);
	new.f = fdopen(fd, "w");
	if (!new.f)
		close(fd);
	if (!new.f || !new.path) {
		fah_outfile_abort(&new);
		return FAH_ERR_NOMEM;
	}
	*of = new;
	return 0;
}

int fah_outfile_commit(struct fah_outfile *of)
{
	bool failed = ferror(of->f) != 0;
	int err = 0, number = EIO;

	/* stdio keeps no errno of an earlier write; the disk that was full then still is. */
	if (failed && write(fileno(of->f), "\n", 1) < 0)
		number = errno;

	if (fflush(of->f) != 0 && !failed) {
		failed = true;
		number = errno;
	}
	if (fclose(of->f) != 0 && !failed) {
		failed = true;
		number = errno;
	}
	of->f = NULL;
	if (!failed)
		err = fah_file_check_output(of->path); /* a symlink may have come meanwhile */
	if (!failed && !err && rename(of->temp, of->path) < 0) {
		failed = true;
		number = errno;
	}
	if (!failed && !err) {
		free(of->temp);
		of->temp = NULL;
	}
	fah_outfile_abort(of);
	if (failed)
		errno = number;
	return failed ? FAH_ERR_SYS : err;
}

void fah_outfile_abort(struct fah_outfile *of)
{
	if (of->f)
		fclose(of->f);
	if (of->temp)
		unlink(of->temp);
	free(of->temp);
	free(of->path);
	*of = (struct fah_outfile){NULL, NULL, NULL};
}

int fah_file_replace(const char *path, const void *data, size_t len)
{
	struct fah_outfile of;
	int err = fah_outfile_open(&of, path);

	if (err < 0)
		return err;
	fwrite(data, 1, len, of.f);
	return fah_outfile_commit(&of);
}

const char *fah_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void fah_files_more(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}
