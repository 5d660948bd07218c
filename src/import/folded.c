/* folded.c - see callgraph.h. */
#include "import/callgraph.h"

#include "base/cleanup.h"
#include "base/room.h"
#include "core/err.h"
#include "model/exact_stacks.h"

#include <string.h>

#define WEIGHT_MAX 64 /* letters */
#define HEAD_LINES 32 /* that may be comments, before it is no such file */

struct reading {
	struct fah_exact *into;
	struct fah_exact_stacks stacks;
	uint32_t *stack;
	size_t n, cap;
};

/* "12", "12.5", "1e3": not negative, and nothing behind. */
static bool parse_weight(const char *s, size_t len, double *ret)
{
	char copy[WEIGHT_MAX + 1], *end;

	if (!len || len > WEIGHT_MAX || !(*s >= '0' && *s <= '9'))
		return false;
	memcpy(copy, s, len);
	copy[len] = '\0';
	*ret = strtod(copy, &end);
	return end == copy + len && *ret < 1e18; /* also of NaN */
}

/* The stack's length and its weight; false: it is no such line. */
static bool split(const char *line, size_t len, size_t *ret_stack, double *ret_weight)
{
	size_t at = len;

	while (at && line[at - 1] != ' ' && line[at - 1] != '\t')
		at--;
	if (!at || !parse_weight(line + at, len - at, ret_weight))
		return false;
	while (at && (line[at - 1] == ' ' || line[at - 1] == '\t'))
		at--;
	*ret_stack = at;
	return at > 0;
}

/* "name (file)", "name (file:12)": the name's length; the whole where it is neither. */
static size_t find_file(const char *s, size_t len, const char **ret_file, size_t *ret_len)
{
	size_t open = len, end = len - 1, digits;

	*ret_file = "";
	*ret_len = 0;
	if (len < 4 || s[len - 1] != ')')
		return len;
	while (open && s[open - 1] != '(')
		open--;
	if (open < 3 || s[open - 2] != ' ')
		return len;
	for (digits = end; digits > open && s[digits - 1] >= '0' && s[digits - 1] <= '9';)
		digits--;
	if (digits < end && digits > open + 1 && s[digits - 1] == ':')
		end = digits - 1;
	else if (!memchr(s + open, '.', end - open) && !memchr(s + open, '/', end - open))
		return len; /* "waiting (socket)", "f (int)" */
	*ret_file = s + open;
	*ret_len = end - open;
	return open - 2;
}

static int add_frame(struct reading *r, const char *s, size_t len)
{
	const char *file;
	size_t file_len, name_len;

	if (!len) /* "a;;b" */
		return 0;
	if (!fah_room(&r->stack, r->n, &r->cap, sizeof(*r->stack)))
		return FAH_ERR_NOMEM;
	name_len = find_file(s, len, &file, &file_len);
	return fah_exact_function(r->into, file, file_len, 0, s, name_len, &r->stack[r->n++]);
}

static int add_stack(struct reading *r, const char *s, size_t len, double weight)
{
	const char *end = s + len;

	r->n = 0;
	for (;;) {
		const char *semicolon = memchr(s, ';', (size_t)(end - s));
		int err = add_frame(r, s, (size_t)((semicolon ? semicolon : end) - s));

		if (err < 0)
			return err;
		if (!semicolon)
			break;
		s = semicolon + 1;
	}
	return r->n ? fah_exact_stacks_add(&r->stacks, r->stack, r->n, weight) : 0;
}

/* The line at *at, without its end, and *at behind it. */
static size_t next_line(const char *text, size_t len, size_t *at)
{
	const char *end = memchr(text + *at, '\n', len - *at);
	size_t n = end ? (size_t)(end - (text + *at)) : len - *at, from = *at;

	*at += n + (end != NULL);
	while (n && (text[from + n - 1] == '\r' || text[from + n - 1] == ' '))
		n--;
	return n;
}

bool fah_import_is_folded(const char *text, size_t len)
{
	size_t at = 0, stack;
	double weight;

	for (int i = 0; i < HEAD_LINES && at < len; i++) {
		const char *line = text + at;
		size_t n = next_line(text, len, &at);

		if (n && *line != '#')
			return split(line, n, &stack, &weight) && !memchr(line, '\0', n);
	}
	return false;
}

int fah_import_folded(const char *text, size_t len, struct fah_exact *into,
		      struct fah_import_error *ret_error)
{
	struct reading r = {.into = into};
	size_t at = 0, number = 0, stack;
	double weight;
	int err = 0;

	fah_exact_stacks_init(&r.stacks, into);
	while (at < len && err == 0) {
		const char *line = text + at;
		size_t n = next_line(text, len, &at);

		number++;
		if (!n || *line == '#')
			continue;
		if (!split(line, n, &stack, &weight)) {
			*ret_error = (struct fah_import_error){number,
							       "no stack with a number behind it"};
			err = FAH_ERR_FORMAT;
		} else if (weight > 0) {
			err = add_stack(&r, line, stack, weight);
		}
	}
	fah_exact_stacks_done(&r.stacks);
	free(r.stack);
	return err;
}
