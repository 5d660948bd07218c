/*
 * lines_scope.c - which functions' lines are wanted, as the tool has left it beside the segments: a
 * file of lines "called", "name GLOB", "file PATH", "folder PATH", "module PATH" (as a/b/c). Read
 * once; without the file nothing here is wanted.
 */
#include "agent/lines.h"
#include "core/glob.h"
#include "core/sys.h"

#include <fcntl.h>
#include <string.h>

static char text[32768];
static bool names, places, called;

static const char *after(const char *line, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(line, word, n) ? line + n : NULL;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end && end[1] ? end + 1 : NULL;
}

static size_t length(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? (size_t)(end - line) : strlen(line);
}

bool fah_lines_scope_read(void)
{
	if (fah_session_file("lines", text, sizeof(text)) < 0)
		return false;
	for (const char *line = text; line; line = next_line(line)) {
		names |= after(line, "name ") != NULL;
		places |= after(line, "file ") || after(line, "folder ") || after(line, "module ");
		called |= after(line, "called") != NULL;
	}
	return true;
}

bool fah_lines_scope_any(void)
{
	return names || places;
}

bool fah_lines_scope_called(void)
{
	return called;
}

/* Where only a part of the name is known, by the pattern's last part: the tool leaves out what is
 * too much. */
static bool has_name(const char *p, const char *end, const char *name, bool qualified)
{
	for (const char *s = p; !qualified && s < end; s++)
		if (*s == '.')
			p = s + 1;
	return fah_glob_name(p, end, name);
}

bool fah_lines_scope_spells(const char *name)
{
	for (const char *line = text; line && name[0] == '<'; line = next_line(line)) {
		const char *p = after(line, "name <");
		size_t len = length(p ? p : line);

		if (p && fah_glob(p - 1, p + len, name))
			return true;
	}
	return false;
}

static bool is_below(const char *file, const char *dir, size_t len)
{
	return !strncmp(file, dir, len) && file[len] == '/';
}

/* a/b/c: somewhere/a/b/c.py, and all of somewhere/a/b/c/ */
static bool is_module(const char *file, const char *module, size_t len)
{
	for (const char *s = file; s; s = strchr(s, '/')) {
		s += *s == '/';
		if (!strncmp(s, module, len) && (s[len] == '/' || !strcmp(s + len, ".py")))
			return true;
	}
	return false;
}

static bool has_place(const char *line, size_t len, const char *file)
{
	const char *end = line + len, *p;

	p = after(line, "file ");
	if (p)
		return strlen(file) == (size_t)(end - p) && !strncmp(file, p, (size_t)(end - p));
	p = after(line, "folder ");
	if (p)
		return is_below(file, p, (size_t)(end - p));
	p = after(line, "module ");
	return p && is_module(file, p, (size_t)(end - p));
}

bool fah_lines_scope_has(const char *file, const char *name, bool qualified)
{
	bool by_name = !names, by_place = !places;

	for (const char *line = text; line; line = next_line(line)) {
		const char *p = after(line, "name ");
		size_t len = length(line);

		by_name |= p && has_name(p, line + len, name, qualified);
		by_place |= has_place(line, len, file);
	}
	return by_name && by_place && (names || places);
}
