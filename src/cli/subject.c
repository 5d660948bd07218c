/*
 * subject.c - see subject.h. A guess that only names a file: where it fails the command's own
 * name serves.
 */
#include "cli/subject.h"

#include "base/file.h"
#include "base/path.h"

#include <ctype.h>
#include <string.h>

/* python, python3, python3.12, pypy3 … */
static bool is_python(const char *path)
{
	const char *name = fah_basename(path);

	if (strncmp(name, "python", 6) && strncmp(name, "pypy", 4))
		return false;
	name += strcspn(name, "0123456789.-");
	return !*name || !name[strspn(name, "0123456789.tdm-")];
}

/* Of Python's own options those that take a further word; -c and -m end them. */
static char *const *skip_options(char *const *a)
{
	while (*a && (*a)[0] == '-' && (*a)[1] && strcmp(*a, "-c") && strcmp(*a, "-m")) {
		bool takes = !strcmp(*a, "-W") || !strcmp(*a, "-X") ||
			     !strcmp(*a, "--check-hash-based-pycs");

		a += takes && a[1] ? 2 : 1;
	}
	return a;
}

const char *fah_subject(char *const *argv, const char **ret_script)
{
	char *const *a = argv;

	*ret_script = NULL;
	if (!strcmp(fah_basename(*a), "env")) {
		for (a++; *a && ((*a)[0] == '-' || strchr(*a, '='));)
			a++;
		if (!*a)
			return argv[0];
	}
	if (!is_python(*a)) {
		if (fah_path_ends(*a, ".py"))
			*ret_script = *a;
		return *a;
	}
	argv = a;
	a = skip_options(a + 1);
	if (*a && !strcmp(*a, "-m") && a[1])
		return a[1];
	if (!*a || (*a)[0] == '-')
		return argv[0];
	*ret_script = *a;
	return *a;
}

void fah_subject_name(char *const *argv, char *buf, size_t cap)
{
	const char *script, *name = fah_basename(fah_subject(argv, &script));
	size_t n = strlen(name), at = 0;

	if (fah_path_ends(name, ".py"))
		n -= 3;
	for (size_t i = 0; i < n && at + 1 < cap; i++) {
		unsigned char c = (unsigned char)name[i];
		/* a file that begins with a dot is hidden, with a dash an option */
		bool plain = isalnum(c) || c >= 0x80 || strchr(i ? "._+-" : "_+", c);

		buf[at++] = name[i];
		if (!plain)
			buf[at - 1] = '_';
	}
	while (at && ((unsigned char)buf[at - 1] & 0xc0) == 0x80 && n > at)
		at--; /* cut inside a letter */
	buf[at] = 0;
	if (!at && cap > 4)
		strcpy(buf, "run");
}
