/*
 * text.c - lines of text for a terminal or a file.
 */
#include "report/text.h"

#include "base/file.h"
#include "base/number.h"
#include "base/utf8.h"
#include "core/err.h"
#include "model/cells.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct fah_glyphs unicode = {
	.vertical = "│",
	.top = "╷",
	.bottom = "╵",
	.rule = "━",
	.cross = "┿",
	.over = "–",
	.branch = "├─ ",
	.last = "└─ ",
	.pass = "│  ",
	.plus_minus = "±",
	.heights = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
};

static const struct fah_glyphs ascii = {
	.vertical = "|",
	.top = "|",
	.bottom = "|",
	.rule = "-",
	.cross = "+",
	.over = "-",
	.branch = "+- ",
	.last = "`- ",
	.pass = "|  ",
	.plus_minus = "+-",
	.heights = {" ", "_", ".", ":", "-", "=", "+", "*", "#"},
};

void fah_text_init(struct fah_text *t, FILE *out, const struct fah_report_options *o)
{
	*t = (struct fah_text){
		.out = out,
		.o = o,
		.g = o->utf8 ? &unicode : &ascii,
		.width = o->width > 0 ? o->width : FAH_REPORT_WIDTH,
	};
}

int fah_text_finish(struct fah_text *t)
{
	bool failed = t->failed || t->line.failed;

	fah_strbuf_release(&t->line);
	if (failed)
		return FAH_ERR_NOMEM;
	return fflush(t->out) != 0 || ferror(t->out) ? FAH_ERR_SYS : 0;
}

void fah_text_end(struct fah_text *t)
{
	struct fah_strbuf plain = FAH_STRBUF_INIT, *line = &t->line;

	while (t->line.len && t->line.p[t->line.len - 1] == ' ')
		fah_strbuf_truncate(&t->line, t->line.len - 1);
	if (!t->o->utf8 && t->line.len) {
		fah_utf8_to_ascii(&plain, t->line.p, t->line.len);
		line = &plain;
	}
	fah_strbuf_addc(line, '\n');
	t->failed |= line->failed || t->line.failed;
	fwrite(fah_strbuf_str(line), 1, line->len, t->out);
	fah_strbuf_truncate(&t->line, 0);
	fah_strbuf_release(&plain);
}

void fah_text_put(struct fah_text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fah_strbuf_addv(&t->line, fmt, ap);
	va_end(ap);
	fah_text_end(t);
}

void fah_text_repeat(struct fah_text *t, const char *glyph, int n)
{
	while (n-- > 0)
		fah_strbuf_adds(&t->line, glyph);
}

int fah_text_column(const struct fah_text *t)
{
	return (int)fah_utf8_width(fah_strbuf_str(&t->line), t->line.len);
}

void fah_text_paint(struct fah_text *t, enum fah_colour colour, const char *text)
{
	static const char *const codes[] = {
		[FAH_PLAIN] = "",
		[FAH_BOLD] = "\033[1m",
		[FAH_HOT] = "\033[31m",
		[FAH_WARM] = "\033[33m",
		[FAH_BOX_OTHER] = "\033[30;47m",
		[FAH_BOX_PYTHON] = "\033[30;43m",
		[FAH_BOX_NATIVE] = "\033[30;46m",
		[FAH_BOX_SYSTEM] = "\033[97;41m",
		[FAH_BOX_WAITING] = "\033[97;44m",
	};
	bool painted = t->o->colour && colour != FAH_PLAIN;

	fah_strbuf_adds(&t->line, painted ? codes[colour] : "");
	fah_strbuf_adds(&t->line, text);
	fah_strbuf_adds(&t->line, painted ? "\033[0m" : "");
}

enum fah_colour fah_text_heat(double share)
{
	return share >= 0.2 ? FAH_HOT : share >= 0.05 ? FAH_WARM : FAH_PLAIN;
}

void fah_text_wrap(struct fah_text *t, const char *paragraph)
{
	const char *p = paragraph;
	size_t used = 0;

	while (*p) {
		size_t bytes = strcspn(p, " "), columns = fah_utf8_width(p, bytes);

		if (used > 2 && used + 1 + columns > (size_t)t->width) {
			fah_text_end(t);
			fah_strbuf_adds(&t->line, "  ");
			used = 2;
		} else if (used) {
			fah_strbuf_addc(&t->line, ' ');
			used++;
		}
		fah_strbuf_add(&t->line, p, bytes);
		used += columns;
		p += bytes;
		p += strspn(p, " ");
	}
	fah_text_end(t);
}

void fah_text_clean(struct fah_strbuf *sb, const char *s)
{
	fah_strbuf_add_printable(sb, s, strlen(s));
}

void fah_text_file(struct fah_strbuf *sb, const char *path)
{
	size_t len;
	uint32_t cell = fah_cell_number(path, &len);

	fah_strbuf_add_printable(sb, path, cell ? len : strlen(path));
	if (cell)
		fah_strbuf_addf(sb, ", cell %u", cell);
}

void fah_text_place(struct fah_strbuf *sb, const char *path, uint32_t line)
{
	uint32_t cell = fah_cell_number(path, NULL);

	if (cell) {
		fah_strbuf_addf(sb, "cell %u, line %u", cell, line);
		return;
	}
	fah_text_clean(sb, fah_basename(path));
	fah_strbuf_addf(sb, ":%u", line);
}

struct fah_share fah_share_text(double share, int decimals)
{
	unsigned scale = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
	struct fah_share r;
	unsigned long v;

	if (!(share > 0)) /* also NaN */
		share = 0;
	if (share > 1e6)
		share = 1e6;
	v = (unsigned long)(share * 100 * scale + 0.5);
	if (decimals)
		snprintf(r.s, sizeof(r.s), "%lu.%0*lu%%", v / scale, decimals, v % scale);
	else
		snprintf(r.s, sizeof(r.s), "%lu%%", v);
	return r;
}

struct fah_share fah_cost_text(const struct fah_report_options *o, double share, double wall_s,
			       int decimals)
{
	struct fah_share r;

	if (!o->seconds)
		return fah_share_text(share, decimals);
	snprintf(r.s, sizeof(r.s), "%.20s",
		 fah_num_seconds_short(share > 0 ? share * wall_s : 0).s);
	return r;
}

const char *fah_report_path(const struct fah_report_options *o, const char *abspath)
{
	size_t n = o->root ? strlen(o->root) : 0;

	while (n && o->root[n - 1] == '/')
		n--;
	if (o->root && o->root[0] == '/' && !strncmp(abspath, o->root, n) && abspath[n] == '/' &&
	    abspath[n + 1])
		return abspath + n + 1;
	return abspath;
}
