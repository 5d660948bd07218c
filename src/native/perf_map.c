/* perf_map.c - see perf_map.h. */
#include "native/perf_map.h"

#include "core/err.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_BACK 16 /* entries that begin before and may reach over a place */

static bool hex_digit(char c, uint64_t *v)
{
	unsigned digit;

	if (c >= '0' && c <= '9')
		digit = (unsigned)(c - '0');
	else if ((c | 32) >= 'a' && (c | 32) <= 'f')
		digit = (unsigned)((c | 32) - 'a' + 10);
	else
		return false;
	*v = *v << 4 | digit;
	return true;
}

/* The number at *p, with or without 0x, and the space behind it. */
static bool take_hex(char **p, uint64_t *ret)
{
	char *at = *p;
	unsigned n = 0;

	if (at[0] == '0' && (at[1] | 32) == 'x')
		at += 2;
	for (*ret = 0; hex_digit(*at, ret); at++)
		if (++n > 16)
			return false;
	if (!n || *at != ' ')
		return false;
	*p = at + 1;
	return true;
}

static bool take_line(char *line, struct fah_perf_entry *ret)
{
	uint64_t len;

	if (!take_hex(&line, &ret->start) || !take_hex(&line, &len) || !len || !*line ||
	    __builtin_add_overflow(ret->start, len, &ret->end))
		return false;
	ret->name = line;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct fah_perf_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

int fah_perf_map_parse(char *text, size_t len, struct fah_perf_map *ret)
{
	struct fah_perf_entry *entries = NULL, one;
	size_t n = 0, room = 0, kept = 0;
	char *end = text + len, *next;
	uint32_t number = 0;

	*ret = (struct fah_perf_map){0};
	for (char *line = text; line < end; line = next + 1) {
		next = memchr(line, '\n', (size_t)(end - line));
		if (!next)
			break;
		*next = 0;
		one.line = number++;
		if (!take_line(line, &one))
			continue;
		if (n == room) {
			size_t more = room ? room * 2 : 256;
			struct fah_perf_entry *bigger =
				reallocarray(entries, more, sizeof(*bigger));

			if (!bigger) {
				free(entries);
				return FAH_ERR_NOMEM;
			}
			entries = bigger;
			room = more;
		}
		entries[n++] = one;
	}
	if (n)
		qsort(entries, n, sizeof(*entries), by_start);
	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || entries[i].start != entries[i + 1].start)
			entries[kept++] = entries[i];
	*ret = (struct fah_perf_map){entries, kept};
	return 0;
}

void fah_perf_map_release(struct fah_perf_map *map)
{
	free(map->entries);
	*map = (struct fah_perf_map){0};
}

const struct fah_perf_entry *fah_perf_map_find(const struct fah_perf_map *map, uint64_t pc)
{
	const struct fah_perf_entry *best = NULL;
	size_t lo = 0, hi = map->n;

	while (lo < hi) { /* the first that begins behind pc */
		size_t mid = lo + (hi - lo) / 2;

		if (map->entries[mid].start <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (int tries = 0; lo > 0 && tries < LOOK_BACK; lo--, tries++) {
		const struct fah_perf_entry *e = &map->entries[lo - 1];

		if (pc < e->end && (!best || e->line > best->line))
			best = e;
	}
	return best;
}
