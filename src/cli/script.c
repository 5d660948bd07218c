/* script.c - see script.h. What is refused here is refused before anything is made or started. */
#include "cli/script.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/search.h"
#include "core/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD 8192      /* bytes in which a file shows that it is no text */
#define ZIP_TAIL 65557 /* of a zip file: its last record and the longest comment */
#define LISTED_MAX 20

/* Text from the file system, safe on a terminal. */
static void add_name(struct fah_strbuf *sb, const char *path)
{
	fah_strbuf_add_printable(sb, path, strlen(path));
}

/* Python runs zip files, also with a line for the shell in front: they are known by their end. */
static bool is_zip(int fd, off_t size)
{
	static const char mark[] = "PK\005\006";
	off_t from = size > ZIP_TAIL ? size - ZIP_TAIL : 0;
	_cleanup_(fah_freep) char *tail = malloc(ZIP_TAIL);
	ssize_t n = tail ? pread(fd, tail, ZIP_TAIL, from) : -1;

	return n > 0 && memmem(tail, (size_t)n, mark, sizeof(mark) - 1);
}

/* A NUL byte alone may be a slip in a script, which Python has its own words for; with three tenths
 * of the bytes no text it is none. */
static bool looks_binary(const char *head, size_t n)
{
	size_t no_text = 0, len;

	if (!memchr(head, 0, n))
		return false;
	for (size_t i = 0; i < n; i += len) {
		int32_t c = fah_utf8_decode(head + i, n - i, &len);

		no_text += c < 0 || (c < ' ' && !(c >= '\t' && c <= '\r')) || c == 0x7f;
	}
	return no_text * 10 >= n * 3;
}

static bool is_binary(const char *path, off_t size)
{
	_cleanup_(fah_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t len = strlen(path);
	char head[HEAD];
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);

	if (n <= 0 || !looks_binary(head, (size_t)n))
		return false;
	return !(len > 4 && !strcmp(path + len - 4, ".pyc")) && !is_zip(fd, size);
}

/* 0, or a status after printing: is there, and can be run by Python. */
static int check(const char *path)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf name = FAH_STRBUF_INIT;
	struct stat st;

	add_name(&name, path);
	if (stat(path, &st) < 0)
		return fah_fail_err(FAH_ERR_SYS, "%s", fah_strbuf_str(&name));
	if (S_ISDIR(st.st_mode))
		return fah_fail("%s is a folder; profile takes a script, or --module for a package",
				fah_strbuf_str(&name));
	if (!S_ISREG(st.st_mode))
		return fah_fail("%s is not a regular file", fah_strbuf_str(&name));
	if (access(path, R_OK) < 0)
		return fah_fail_err(FAH_ERR_SYS, "%s", fah_strbuf_str(&name));
	if (!st.st_size)
		return fah_fail("%s is empty: there is nothing to profile", fah_strbuf_str(&name));
	if (is_binary(path, st.st_size))
		return fah_fail(
			"%s is a binary file, not a Python script (record runs any program)",
			fah_strbuf_str(&name));
	return 0;
}

/* As it can be typed here. */
static const char *below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (strcmp(dir, "/") != 0 && fah_path_below(path, dir) && path[n])
		return path + n + 1;
	return path;
}

static int say_none(const char *typed, const struct fah_found *found, const struct fah_settings *s)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;

	add_name(&text, typed);
	fah_strbuf_adds(&text, ": no such file, nor one of that name below ");
	add_name(&text, s->root);
	if (found->gave_up)
		fah_strbuf_addf(&text, " among the first %d files", FAH_SEARCH_ENTRIES_MAX);
	for (size_t i = 0; i < found->n_nearest; i++) {
		fah_strbuf_adds(&text, i ? ", " : "; nearest: ");
		add_name(&text, below(found->nearest[i], s->cwd));
	}
	return fah_fail("%s", fah_strbuf_str(&text));
}

static int say_several(const char *typed, const struct fah_found *found,
		       const struct fah_settings *s)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;

	add_name(&text, typed);
	fah_strbuf_addf(&text, ": there are %zu files of that name below ", found->n);
	add_name(&text, s->root);
	fah_strbuf_adds(&text, "; say which:");
	for (size_t i = 0; i < found->n && i < LISTED_MAX; i++) {
		fah_strbuf_adds(&text, "\n  ");
		add_name(&text, below(found->paths[i], s->cwd));
	}
	if (found->n > LISTED_MAX)
		fah_strbuf_addf(&text, "\n  and %zu more", found->n - LISTED_MAX);
	return fah_fail("%s", fah_strbuf_str(&text));
}

/* Folders that are searched neither: those ignored, the output, the active virtual environment. */
static int search(const char *typed, const struct fah_settings *s, struct fah_found *found)
{
	const char *venv = getenv("VIRTUAL_ENV");
	_cleanup_(fah_freep) char *output = realpath(s->output, NULL);
	_cleanup_(fah_freep) char *real_venv = venv && *venv ? realpath(venv, NULL) : NULL;
	_cleanup_(fah_freep) const char **skip = calloc(s->n_ignore + 2, sizeof(*skip));
	struct fah_search where = {.root = s->root, .skip = skip};

	if (!skip)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < s->n_ignore; i++)
		skip[where.n_skip++] = s->ignore[i];
	if (output)
		skip[where.n_skip++] = output;
	if (real_venv)
		skip[where.n_skip++] = real_venv;
	return fah_search(&where, typed, found);
}

/* A path says so itself; so does one that leads somewhere. */
static bool is_path(const char *typed)
{
	return typed[0] == '/' || !strncmp(typed, "./", 2) || !strncmp(typed, "../", 3) ||
	       !strcmp(typed, ".") || !strcmp(typed, "..");
}

int fah_script_choose(const char *typed, const struct fah_settings *s, char *buf, size_t cap)
{
	_cleanup_(fah_found_release) struct fah_found found = {0};
	const char *path = typed;
	struct stat st;
	int err, status;

	if (!*typed)
		return fah_fail("profile: the script's name is empty");
	if (stat(typed, &st) < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		if (is_path(typed)) {
			_cleanup_(fah_strbuf_release) struct fah_strbuf name = FAH_STRBUF_INIT;

			add_name(&name, typed);
			return fah_fail("%s: no such file", fah_strbuf_str(&name));
		}
		err = search(typed, s, &found);
		if (err < 0)
			return fah_fail_err(err, "profile");
		if (found.n > 1)
			return say_several(typed, &found, s);
		if (!found.n)
			return say_none(typed, &found, s);
		path = below(found.paths[0], s->cwd);
	}
	status = check(path);
	if (status)
		return status;
	/* A name that begins with a dash would be an option to Python. */
	if ((size_t)snprintf(buf, cap, "%s%s", path[0] == '-' ? "./" : "", path) >= cap)
		return fah_fail("%s: too long a path", path);
	return 0;
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* In one folder: a package, else a file, else a folder without __init__.py. */
static bool find_module(const char *folder, size_t len, const char *module, char *buf, size_t cap)
{
	static const char *const ends[][2] = {
		{"/__init__.py", "/__main__.py"}, {".py", ".py"}, {"/__main__.py", "/__main__.py"}};
	_cleanup_(fah_freep) char *base = NULL, *mark = NULL;

	if (asprintf(&base, "%.*s%s%s", (int)len, folder, len ? "/" : "", module) < 0) {
		base = NULL;
		return false;
	}
	for (char *s = base + len; *s; s++)
		if (*s == '.')
			*s = '/';
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		free(mark);
		if (asprintf(&mark, "%s%s", base, ends[i][0]) < 0) {
			mark = NULL;
			return false;
		}
		if (is_file(mark))
			return snprintf(buf, cap, "%s%s", base, ends[i][1]) < (int)cap &&
			       is_file(buf);
	}
	return false;
}

bool fah_script_of_module(const char *module, char *buf, size_t cap)
{
	const char *safe = getenv("PYTHONSAFEPATH"), *path = getenv("PYTHONPATH"), *end;

	if (!*module || strchr(module, '/'))
		return false;
	if (!(safe && *safe) && find_module("", 0, module, buf, cap))
		return true;
	for (; path && *path; path = end + (*end == ':')) {
		end = path + strcspn(path, ":");
		if (find_module(path, (size_t)(end - path), module, buf, cap))
			return true;
	}
	return false;
}
