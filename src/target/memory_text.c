/* memory_text.c - see memory_text.h. */
#include "target/memory_text.h"

#include <string.h>

/* A part of a text; no NUL behind it. */
struct part {
	const char *p;
	size_t len;
};

static bool is(struct part a, const char *b)
{
	return a.len == strlen(b) && memcmp(a.p, b, a.len) == 0;
}

/* What stands before the next `end`; *rest goes on behind it. False: nothing is left. */
static bool cut(struct part *rest, char end, struct part *ret)
{
	const char *at;

	if (!rest->len)
		return false;
	at = memchr(rest->p, end, rest->len);
	ret->p = rest->p;
	ret->len = at ? (size_t)(at - rest->p) : rest->len;
	rest->p += ret->len + (at != NULL);
	rest->len -= ret->len + (at != NULL);
	return true;
}

/* A decimal number, blanks before it; *rest goes on behind it. */
static uint64_t number(struct part *rest)
{
	uint64_t n = 0;
	bool any = false;

	while (rest->len && (*rest->p == ' ' || *rest->p == '\t')) {
		rest->p++;
		rest->len--;
	}
	for (; rest->len && *rest->p >= '0' && *rest->p <= '9'; rest->p++, rest->len--) {
		unsigned digit = (unsigned)(*rest->p - '0');

		if (n > (UINT64_MAX - 1 - digit) / 10)
			return FAH_BYTES_UNKNOWN;
		n = n * 10 + digit;
		any = true;
	}
	return any ? n : FAH_BYTES_UNKNOWN;
}

static bool ends_word(struct part rest)
{
	return !rest.len || *rest.p == ' ' || *rest.p == '\t' || *rest.p == '\n';
}

uint64_t fah_text_keyed(const char *text, size_t len, const char *key)
{
	struct part rest = {text, len}, line;
	size_t n = strlen(key);
	uint64_t value;

	while (cut(&rest, '\n', &line)) {
		if (line.len <= n || memcmp(line.p, key, n) != 0 ||
		    (line.p[n] != ':' && line.p[n] != ' '))
			continue;
		line.p += n + 1;
		line.len -= n + 1;
		value = number(&line);
		if (value == FAH_BYTES_UNKNOWN || !ends_word(line))
			return FAH_BYTES_UNKNOWN;
		if (!is(line, " kB"))
			return value;
		return value < FAH_BYTES_NO_LIMIT / 1024 ? value * 1024 : FAH_BYTES_UNKNOWN;
	}
	return FAH_BYTES_UNKNOWN;
}

uint64_t fah_text_limit(const char *text, size_t len)
{
	struct part rest = {text, len}, line = {0};
	uint64_t value;

	if (!cut(&rest, '\n', &line))
		return FAH_BYTES_UNKNOWN;
	if (is(line, "max"))
		return FAH_BYTES_NO_LIMIT;
	value = number(&line);
	if (value == FAH_BYTES_UNKNOWN || line.len)
		return FAH_BYTES_UNKNOWN;
	return value < FAH_BYTES_NO_LIMIT ? value : FAH_BYTES_NO_LIMIT;
}

uint64_t fah_text_resident(const char *text, size_t len, uint64_t page_bytes)
{
	struct part rest = {text, len};
	uint64_t size = number(&rest), pages = number(&rest);

	if (size == FAH_BYTES_UNKNOWN || !size || !ends_word(rest) ||
	    pages >= FAH_BYTES_NO_LIMIT / page_bytes)
		return FAH_BYTES_UNKNOWN;
	return pages * page_bytes;
}

static bool has_word(struct part list, const char *word)
{
	struct part one;

	while (cut(&list, ',', &one))
		if (is(one, word))
			return true;
	return false;
}

/* "4:memory:/path" or "0::/path": the path. */
static bool path_of(struct part text, bool v1, struct part *ret)
{
	struct part line, id, controllers;

	while (cut(&text, '\n', &line)) {
		if (!cut(&line, ':', &id) || !cut(&line, ':', &controllers))
			continue;
		if (v1 ? !has_word(controllers, "memory") : !is(id, "0") || controllers.len)
			continue;
		*ret = line;
		return line.len && *line.p == '/';
	}
	return false;
}

struct mount {
	struct part root, point;
};

/* "36 35 98:0 /root /point rw,… [optional …] - cgroup source rw,memory" */
static bool mount_of(struct part text, bool v1, struct mount *ret)
{
	struct part line, word, type = {0}, options = {0};

	while (cut(&text, '\n', &line)) {
		struct mount m = {0};

		for (int i = 0; i < 5 && cut(&line, ' ', &word); i++) {
			if (i == 3)
				m.root = word;
			if (i == 4)
				m.point = word;
		}
		while (cut(&line, ' ', &word) && !is(word, "-"))
			;
		if (!cut(&line, ' ', &type) || !cut(&line, ' ', &word) || !m.point.len)
			continue;
		options = line;
		if (!is(type, v1 ? "cgroup" : "cgroup2") || (v1 && !has_word(options, "memory")))
			continue;
		*ret = m;
		return true;
	}
	return false;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Blanks and the like in paths of mountinfo are "\040". */
static bool add_unescaped(struct fah_group_place *to, size_t *n, struct part from)
{
	for (size_t i = 0; i < from.len; i++) {
		char c = from.p[i];

		if (c == '\\' && from.len - i > 3 && is_octal(from.p[i + 1]) &&
		    is_octal(from.p[i + 2]) && is_octal(from.p[i + 3])) {
			c = (char)((from.p[i + 1] - '0') * 64 + (from.p[i + 2] - '0') * 8 +
				   (from.p[i + 3] - '0'));
			i += 3;
		}
		if (!c || *n + 1 >= sizeof(to->dir))
			return false;
		to->dir[(*n)++] = c;
	}
	to->dir[*n] = 0;
	return true;
}

/* As it was written: "/.." is a group outside of our namespace. */
static bool leaves(struct part path)
{
	struct part one;

	while (cut(&path, '/', &one))
		if (is(one, ".."))
			return true;
	return false;
}

/* A container sees its own group as the mount's root, and may have the path from above it. */
static struct part below(struct part path, struct part root)
{
	if (is(root, "/"))
		return path;
	if (path.len < root.len || memcmp(path.p, root.p, root.len) != 0 ||
	    (path.len > root.len && path.p[root.len] != '/'))
		return (struct part){path.p, 0};
	return (struct part){path.p + root.len, path.len - root.len};
}

bool fah_text_group(const char *cgroup, size_t cgroup_len, const char *mounts, size_t mounts_len,
		    struct fah_group_place *ret)
{
	const struct part groups = {cgroup, cgroup_len}, mountinfo = {mounts, mounts_len};

	/* version 1 first: where both are mounted, memory is in one of them, and listed there */
	for (int v1 = 1; v1 >= 0; v1--) {
		struct part path, rest;
		struct mount m;
		size_t n = 0;

		if (!path_of(groups, v1, &path) || !mount_of(mountinfo, v1, &m) || leaves(path))
			continue;
		rest = below(path, m.root);
		if (!add_unescaped(ret, &n, m.point))
			return false;
		ret->top = n;
		ret->v1 = v1;
		if (rest.len + n >= sizeof(ret->dir))
			return false;
		memcpy(ret->dir + n, rest.p, rest.len);
		n += rest.len;
		while (n > ret->top && ret->dir[n - 1] == '/')
			n--;
		ret->dir[n] = 0;
		return memchr(ret->dir, 0, n) == NULL;
	}
	return false;
}
