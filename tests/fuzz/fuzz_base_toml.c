/*
 * fuzz_base_toml.c - any bytes as TOML: an error has a place inside the text and harmless words; of
 * a document every value can be reached, keys are unique, texts end in a NUL.
 */
#include "base/toml.h"
#include "core/err.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void look(const struct fah_toml *v, uint32_t lines)
{
	size_t n = 0;

	check(v->at.line >= 1 && v->at.line <= lines && v->at.column >= 1);
	if (v->type == FAH_TOML_STRING)
		check(v->string.s && !v->string.s[v->string.len]);
	if (v->type != FAH_TOML_ARRAY && v->type != FAH_TOML_TABLE)
		return;
	for (const struct fah_toml *i = v->items.first; i; i = i->next, n++) {
		check(!i->key == (v->type == FAH_TOML_ARRAY));
		if (i->key) {
			check(!i->key[i->key_len]);
			if (strlen(i->key) == i->key_len)
				check(fah_toml_get(v, i->key) == i);
		}
		check(i->next || v->items.last == i);
		look(i, lines);
	}
	check(n == v->items.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fah_toml_doc doc = {0};
	struct fah_toml_error error;
	uint32_t lines = 1;
	int err = fah_toml_parse(&doc, (const char *)data, len, &error);

	for (size_t i = 0; i < len; i++)
		lines += data[i] == '\n';
	check(err == 0 || err == FAH_ERR_FORMAT);
	if (err == 0) {
		look(&doc.root, lines);
	} else {
		check(error.at.line >= 1 && error.at.line <= lines && error.text[0]);
		for (const char *s = error.text; *s; s++)
			check((unsigned char)*s >= ' ' && *s != 0x7f);
	}
	fah_toml_release(&doc);
	return 0;
}
