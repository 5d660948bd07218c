/*
 * json.h - write JSON to a stream, indented by two spaces. The writer keeps the commas; the caller
 * keeps begin and end in pairs and gives a key before each value of an object. Numbers print the
 * same in every locale; NaN and infinities become null. Strings that are no UTF-8 get U+FFFD for
 * each bad byte.
 */
#ifndef FAH_BASE_JSON_H
#define FAH_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fah_json {
	FILE *out; /* borrowed */
	int depth;
	bool first, after_key;
};

void fah_json_init(struct fah_json *j, FILE *out);
void fah_json_begin_object(struct fah_json *j);
void fah_json_end_object(struct fah_json *j);
void fah_json_begin_array(struct fah_json *j);
void fah_json_end_array(struct fah_json *j);
void fah_json_key(struct fah_json *j, const char *key);
void fah_json_string(struct fah_json *j, const char *s, size_t len);
void fah_json_str(struct fah_json *j, const char *s); /* NULL: null */
void fah_json_u64(struct fah_json *j, uint64_t v);
void fah_json_i64(struct fah_json *j, int64_t v);
void fah_json_double(struct fah_json *j, double v);
void fah_json_bool(struct fah_json *j, bool v);
void fah_json_null(struct fah_json *j);
/* A key and its value. */
void fah_json_put_str(struct fah_json *j, const char *key, const char *s); /* NULL: null */
void fah_json_put_u64(struct fah_json *j, const char *key, uint64_t v);
void fah_json_put_double(struct fah_json *j, const char *key, double v);
void fah_json_put_bool(struct fah_json *j, const char *key, bool v);
/* A newline after the outermost value. 0, or FAH_ERR_SYS where the stream failed. */
int fah_json_finish(struct fah_json *j);

#endif
