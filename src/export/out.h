/*
 * out.h - what an export writes through: a buffer in front of a stream. The first failure stays
 * (a full disk, a closed pipe), later additions do nothing: check once, at the end. Numbers look
 * the same in every locale.
 */
#ifndef FAH_EXPORT_OUT_H
#define FAH_EXPORT_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FAH_OUT_SIZE 65536

struct fah_out {
	FILE *f; /* borrowed */
	size_t len;
	uint64_t written; /* bytes handed on to f */
	int error;	  /* errno of the first failure; 0: none */
	char note[256];	  /* for people: what is not as it was recorded; usually empty */
	char buf[FAH_OUT_SIZE];
};

void fah_out_init(struct fah_out *out, FILE *f);
/* All to the stream, and flushed. 0, or FAH_ERR_SYS with errno set. */
int fah_out_finish(struct fah_out *out);
void fah_out_flush(struct fah_out *out); /* to the stream */

void fah_out_more(struct fah_out *out, const void *data, size_t len); /* where there is no room */
static inline void fah_out_add(struct fah_out *out, const void *data, size_t len)
{
	if (len > FAH_OUT_SIZE - out->len) {
		fah_out_more(out, data, len);
		return;
	}
	memcpy(out->buf + out->len, data, len);
	out->len += len;
}

static inline void fah_out_adds(struct fah_out *out, const char *s)
{
	fah_out_add(out, s, strlen(s));
}

static inline void fah_out_addc(struct fah_out *out, char c)
{
	if (out->len == FAH_OUT_SIZE)
		fah_out_flush(out);
	out->buf[out->len++] = c;
}

void fah_out_addf(struct fah_out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fah_out_u64(struct fah_out *out, uint64_t v);
/* Seconds as a decimal number with nine places, trailing zeros left out. Negative: 0. */
void fah_out_seconds(struct fah_out *out, double s);
/* More of the note; what has no room is cut. */
void fah_out_note(struct fah_out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A JSON string, with its quotes. Bytes that are no UTF-8 become U+FFFD. NULL: null. */
void fah_out_json(struct fah_out *out, const char *s);

#endif
