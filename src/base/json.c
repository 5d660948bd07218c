/*
 * json.c - write JSON to a stream. Memory: none.
 */
#include "base/json.h"

#include "base/utf8.h"
#include "core/err.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void fah_json_init(struct fah_json *j, FILE *out)
{
	*j = (struct fah_json){.out = out, .first = true};
}

static void newline(struct fah_json *j)
{
	fprintf(j->out, "\n%*s", j->depth * 2, "");
}

static void before_value(struct fah_json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (!j->first)
		fputc(',', j->out);
	if (j->depth)
		newline(j);
	j->first = false;
}

static void begin(struct fah_json *j, char c)
{
	before_value(j);
	fputc(c, j->out);
	j->depth++;
	j->first = true;
}

static void end(struct fah_json *j, char c)
{
	j->depth--;
	if (!j->first)
		newline(j);
	fputc(c, j->out);
	j->first = false;
}

void fah_json_begin_object(struct fah_json *j)
{
	begin(j, '{');
}

void fah_json_end_object(struct fah_json *j)
{
	end(j, '}');
}

void fah_json_begin_array(struct fah_json *j)
{
	begin(j, '[');
}

void fah_json_end_array(struct fah_json *j)
{
	end(j, ']');
}

static void put_string(FILE *out, const char *s, size_t len)
{
	size_t i, n;

	fputc('"', out);
	for (i = 0; i < len; i += n) {
		int32_t c = fah_utf8_decode(s + i, len - i, &n);

		if (c < 0)
			fputs("\xef\xbf\xbd", out);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", (char)c);
		else if (c == '\n')
			fputs("\\n", out);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", (unsigned)c);
		else
			fwrite(s + i, 1, n, out);
	}
	fputc('"', out);
}

void fah_json_key(struct fah_json *j, const char *key)
{
	before_value(j);
	put_string(j->out, key, strlen(key));
	fputs(": ", j->out);
	j->after_key = true;
}

void fah_json_string(struct fah_json *j, const char *s, size_t len)
{
	before_value(j);
	put_string(j->out, s, len);
}

void fah_json_str(struct fah_json *j, const char *s)
{
	if (s)
		fah_json_string(j, s, strlen(s));
	else
		fah_json_null(j);
}

void fah_json_u64(struct fah_json *j, uint64_t v)
{
	before_value(j);
	fprintf(j->out, "%" PRIu64, v);
}

void fah_json_i64(struct fah_json *j, int64_t v)
{
	before_value(j);
	fprintf(j->out, "%" PRId64, v);
}

/* The fewest digits that read back as the same number. */
void fah_json_double(struct fah_json *j, double v)
{
	char buf[40];
	const char *s;
	int digits;

	if (!isfinite(v)) {
		fah_json_null(j);
		return;
	}
	before_value(j);
	for (digits = 15; digits <= 17; digits++) {
		snprintf(buf, sizeof(buf), "%.*g", digits, v);
		if (strtod(buf, NULL) == v) /* both follow the locale, so they agree */
			break;
	}
	for (s = buf; *s; s++) {
		if (strchr("0123456789+-eE", *s)) {
			fputc(*s, j->out);
			continue;
		}
		fputc('.', j->out); /* whatever the locale's point is, maybe of several bytes */
		while (s[1] && !strchr("0123456789+-eE", s[1]))
			s++;
	}
}

void fah_json_bool(struct fah_json *j, bool v)
{
	before_value(j);
	fputs(v ? "true" : "false", j->out);
}

void fah_json_null(struct fah_json *j)
{
	before_value(j);
	fputs("null", j->out);
}

void fah_json_put_str(struct fah_json *j, const char *key, const char *s)
{
	fah_json_key(j, key);
	fah_json_str(j, s);
}

void fah_json_put_u64(struct fah_json *j, const char *key, uint64_t v)
{
	fah_json_key(j, key);
	fah_json_u64(j, v);
}

void fah_json_put_double(struct fah_json *j, const char *key, double v)
{
	fah_json_key(j, key);
	fah_json_double(j, v);
}

void fah_json_put_bool(struct fah_json *j, const char *key, bool v)
{
	fah_json_key(j, key);
	fah_json_bool(j, v);
}

int fah_json_finish(struct fah_json *j)
{
	fputc('\n', j->out);
	return fflush(j->out) || ferror(j->out) ? FAH_ERR_SYS : 0;
}
