/*
 * toml_tool.c - documents in, what the TOML reader makes of them out: for check_toml.py.
 *
 * On stdin, each document as its length, a newline and its bytes. On stdout for each of them JSON
 * and a NUL byte: {"doc": VALUE} or {"error": TEXT, "line": n, "column": n}. A VALUE is
 * {"type": ..., "value": ..., "line": n}; numbers are text, floats hexadecimal, so that nothing is
 * rounded.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/toml.h"
#include "core/err.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const types[] = {"string",	"integer",	  "float",	"bool",
				    "datetime", "datetime-local", "date-local", "time-local",
				    "array",	"table"};

static void put_value(struct fah_json *j, const struct fah_toml *v)
{
	const struct fah_toml_time *t = &v->time;
	char text[128];

	fah_json_begin_object(j);
	fah_json_key(j, "type");
	fah_json_str(j, types[v->type]);
	fah_json_key(j, "line");
	fah_json_u64(j, v->at.line);
	fah_json_key(j, "value");
	switch (v->type) {
	case FAH_TOML_STRING:
		fah_json_string(j, v->string.s, v->string.len);
		break;
	case FAH_TOML_INTEGER:
		fah_json_i64(j, v->integer);
		break;
	case FAH_TOML_FLOAT:
		snprintf(text, sizeof(text), "%a", v->number);
		fah_json_str(j, text);
		break;
	case FAH_TOML_BOOLEAN:
		fah_json_bool(j, v->boolean);
		break;
	case FAH_TOML_ARRAY:
		fah_json_begin_array(j);
		for (const struct fah_toml *i = v->items.first; i; i = i->next)
			put_value(j, i);
		fah_json_end_array(j);
		break;
	case FAH_TOML_TABLE: /* pairs: a key may hold NUL bytes */
		fah_json_begin_array(j);
		for (const struct fah_toml *i = v->items.first; i; i = i->next) {
			fah_json_begin_array(j);
			fah_json_string(j, i->key, i->key_len);
			put_value(j, i);
			fah_json_end_array(j);
		}
		fah_json_end_array(j);
		break;
	default:
		snprintf(text, sizeof(text), "%d %d %d %d %d %d %u %d", t->year, t->month, t->day,
			 t->hour, t->minute, t->second, t->nanoseconds, t->offset_minutes);
		fah_json_str(j, text);
	}
	fah_json_end_object(j);
}

static void put_document(const char *text, size_t len)
{
	struct fah_toml_doc doc = {0};
	struct fah_toml_error error;
	struct fah_json j;
	int err = fah_toml_parse(&doc, text, len, &error);

	fah_json_init(&j, stdout);
	fah_json_begin_object(&j);
	if (err == 0) {
		fah_json_key(&j, "doc");
		put_value(&j, &doc.root);
	} else {
		fah_json_key(&j, "error");
		fah_json_str(&j, err == FAH_ERR_FORMAT ? error.text : "failed");
		fah_json_key(&j, "line");
		fah_json_u64(&j, error.at.line);
		fah_json_key(&j, "column");
		fah_json_u64(&j, error.at.column);
	}
	fah_json_end_object(&j);
	fah_json_finish(&j);
	putchar(0);
	fah_toml_release(&doc);
}

int main(void)
{
	size_t len;

	while (scanf("%zu", &len) == 1) {
		_cleanup_(fah_freep) char *text = malloc(len + 1);

		if (!text || getchar() != '\n' || fread(text, 1, len, stdin) != len)
			return 1;
		put_document(text, len);
	}
	return 0;
}
