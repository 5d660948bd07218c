/*
 * fuzz_base_json.c - any bytes as JSON: a tree whose counts are right, or a place inside the text.
 */
#include "base/json_read.h"
#include "core/err.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static size_t sum; /* of all bytes of all strings: each must be readable */

static void add(struct fah_json_text text)
{
	for (size_t i = 0; i < text.len; i++)
		sum += (unsigned char)text.p[i];
}

static void walk(const struct fah_json_value *v, int depth)
{
	size_t n = 0;

	check(depth <= FAH_JSON_DEPTH);
	add(v->key);
	if (v->type == FAH_JSON_STRING)
		add(v->string);
	for (const struct fah_json_value *m = v->first; m; m = m->next, n++)
		walk(m, depth + 1);
	check(n == v->n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fah_arena arena = FAH_ARENA_INIT;
	const struct fah_json_value *v;
	struct fah_json_error error;
	int err = fah_json_read(&arena, (const char *)data, len, &v, &error);

	if (err == 0) {
		walk(v, 0);
		fah_json_get(v, "cells");
	} else {
		check(err == FAH_ERR_FORMAT && error.what && error.line >= 1 && error.column >= 1);
		check(error.line + error.column <= len + 2);
	}
	fah_arena_release(&arena);
	return 0;
}
