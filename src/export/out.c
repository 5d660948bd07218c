/*
 * out.c - see out.h. One digit at a time is what makes 10 million numbers slow, so they are written
 * two digits at a time.
 */
#include "export/out.h"

#include "base/utf8.h"
#include "core/err.h"

#include <errno.h>
#include <stdarg.h>

void fah_out_init(struct fah_out *out, FILE *f)
{
	out->f = f;
	out->len = 0;
	out->written = 0;
	out->error = 0;
	out->note[0] = 0;
}

void fah_out_note(struct fah_out *out, const char *fmt, ...)
{
	size_t len = strlen(out->note);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out->note + len, sizeof(out->note) - len, fmt, ap);
	va_end(ap);
}

static void hand_on(struct fah_out *out, const void *data, size_t len)
{
	if (out->error || !len)
		return;
	if (fwrite(data, 1, len, out->f) != len)
		out->error = errno ? errno : EIO;
	out->written += len;
}

void fah_out_flush(struct fah_out *out)
{
	hand_on(out, out->buf, out->len);
	out->len = 0;
}

void fah_out_more(struct fah_out *out, const void *data, size_t len)
{
	fah_out_flush(out);
	if (len >= FAH_OUT_SIZE) {
		hand_on(out, data, len);
		return;
	}
	memcpy(out->buf, data, len);
	out->len = len;
}

int fah_out_finish(struct fah_out *out)
{
	fah_out_flush(out);
	if (!out->error && fflush(out->f) != 0)
		out->error = errno;
	if (!out->error)
		return 0;
	errno = out->error;
	return FAH_ERR_SYS;
}

void fah_out_addf(struct fah_out *out, const char *fmt, ...)
{
	char small[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(small)) {
		struct fah_strbuf sb = FAH_STRBUF_INIT;

		va_start(ap, fmt);
		fah_strbuf_addv(&sb, fmt, ap);
		va_end(ap);
		fah_out_add(out, fah_strbuf_str(&sb), sb.len);
		if (sb.failed && !out->error)
			out->error = ENOMEM;
		fah_strbuf_release(&sb);
	} else if (n > 0) {
		fah_out_add(out, small, (size_t)n);
	}
}

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
			    "25262728293031323334353637383940414243444546474849"
			    "50515253545556575859606162636465666768697071727374"
			    "75767778798081828384858687888990919293949596979899";

/* The digits of v before end; where they begin. */
static char *digits(char *end, uint64_t v)
{
	while (v >= 100) {
		end -= 2;
		memcpy(end, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, pairs + v * 2, 2);
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

void fah_out_u64(struct fah_out *out, uint64_t v)
{
	char text[24], *end = text + sizeof(text), *s = digits(end, v);

	fah_out_add(out, s, (size_t)(end - s));
}

void fah_out_seconds(struct fah_out *out, double s)
{
	char text[40], *end = text + sizeof(text), *begin;
	uint64_t ns = s > 0 && s < 9e9 ? (uint64_t)(s * 1e9 + 0.5) : 0, part = ns % 1000000000;

	if (!part) {
		fah_out_u64(out, ns / 1000000000);
		return;
	}
	begin = digits(end, part);
	while (begin > text + sizeof(text) - 9)
		*--begin = '0';
	*--begin = '.';
	begin = digits(begin, ns / 1000000000);
	while (end[-1] == '0')
		end--;
	fah_out_add(out, begin, (size_t)(end - begin));
}

/* Bytes that stand in a JSON string as they are. */
static size_t plain(const char *s)
{
	size_t n = 0;

	while ((unsigned char)s[n] >= 0x20 && (unsigned char)s[n] < 0x7f && s[n] != '"' &&
	       s[n] != '\\')
		n++;
	return n;
}

void fah_out_json(struct fah_out *out, const char *s)
{
	if (!s) {
		fah_out_adds(out, "null");
		return;
	}
	fah_out_addc(out, '"');
	for (size_t left = strlen(s); left;) {
		size_t n = plain(s);

		fah_out_add(out, s, n);
		s += n;
		left -= n;
		if (!left)
			break;
		if (*s == '"' || *s == '\\') {
			fah_out_addc(out, '\\');
			fah_out_addc(out, *s);
			n = 1;
		} else if ((unsigned char)*s < 0x20 || *s == 0x7f) {
			fah_out_addf(out, "\\u%04x", (unsigned char)*s);
			n = 1;
		} else if (fah_utf8_decode(s, left, &n) < 0) {
			fah_out_adds(out, "\xef\xbf\xbd");
			n = 1;
		} else {
			fah_out_add(out, s, n);
		}
		s += n;
		left -= n;
	}
	fah_out_addc(out, '"');
}
