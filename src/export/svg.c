/*
 * svg.c - an interactive flame graph in one file: shapes and texts that any viewer draws, and a
 * script of our own (flame.js) for zoom, search and the keyboard. Nothing is loaded from anywhere.
 *
 * Names come from outside: they are made printable first, then escaped for XML, and stand in texts
 * only, never in the script. Each tone has a colour and a pattern, so that no eye is left out.
 */
#include "base/cleanup.h"
#include "base/number.h"
#include "base/utf8.h"
#include "core/err.h"
#include "export/export.h"
#include "model/calltree.h"

#include "generated/flame_js.h"

#include <stdlib.h>

#define WIDTH 1200
#define ROW 16	      /* height of a box with its gap */
#define TOP 58	      /* what stands above the boxes */
#define BOTTOM 44     /* and below */
#define LEAST 0.1     /* narrower boxes are left out, in pixels */
#define ROWS_MAX 1000 /* deeper ones too */
#define COLUMN 6.63   /* of the font, in pixels; the script measures */
#define PADDING 3
#define SHADES 4 /* of Python boxes, so that neighbours differ */

struct drawing {
	struct fah_out *out;
	const struct fah_profile *p;
	const struct fah_calltree *t;
	double scale; /* pixels of a second */
	size_t drawn, narrow, deep;
	uint32_t rows;
	bool failed;
};

/* Text that is printable already, for an element's content. */
static void add_text(struct fah_out *out, const char *s, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		int32_t c = fah_utf8_decode(s + i, len - i, &n);

		if (c == '<')
			fah_out_adds(out, "&lt;");
		else if (c == '>')
			fah_out_adds(out, "&gt;");
		else if (c == '&')
			fah_out_adds(out, "&amp;");
		else if (c < 0 || c == 0xfffe || c == 0xffff) /* not allowed in XML */
			fah_out_adds(out, "\xef\xbf\xbd");
		else
			fah_out_add(out, s + i, n);
	}
}

static void add_raw(struct drawing *d, const char *s)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_strbuf_add_printable(&sb, s, strlen(s));
	d->failed |= sb.failed;
	add_text(d->out, fah_strbuf_str(&sb), sb.len);
	fah_strbuf_release(&sb);
}

static double total(const struct fah_call *c)
{
	return fah_times_sum(&c->total);
}

static double percent(const struct drawing *d, double seconds)
{
	return 100 * fah_calltree_share(d->t, seconds);
}

/* "name (place)", printable. */
static void label(const struct drawing *d, const struct fah_call *c, struct fah_strbuf *sb)
{
	struct fah_strbuf place = FAH_STRBUF_INIT;
	const char *name = fah_call_name(d->t, c);

	fah_strbuf_add_printable(sb, name, strlen(name));
	fah_call_place(&place, d->t, c);
	if (place.len) {
		fah_strbuf_adds(sb, " (");
		fah_strbuf_add_printable(sb, fah_strbuf_str(&place), place.len);
		fah_strbuf_adds(sb, ")");
	}
	sb->failed |= place.failed;
	fah_strbuf_release(&place);
}

static void add_amount(struct drawing *d, double amount)
{
	if (d->t->memory)
		fah_out_adds(d->out, fah_num_bytes(fah_heap_bytes(amount)).s);
	else
		fah_out_addf(d->out, "%.6f s", amount);
}

/* What the tooltip and the line below the boxes say. The first line is what is searched. */
static void add_title(struct drawing *d, const struct fah_call *c, const struct fah_strbuf *name)
{
	static const char *const words[] = {"Python", "native", "system", "waiting"};
	const double parts[] = {c->total.python, c->total.native, c->total.system,
				c->total.waiting};
	const char *between = "; ";

	fah_out_adds(d->out, "<title>");
	add_text(d->out, fah_strbuf_str(name), name->len);
	fah_out_addf(d->out, "\n%.2f%% \xc2\xb1%.2f, ", percent(d, total(c)), 100 * c->interval);
	add_amount(d, total(c));
	if (fah_times_sum(&c->self) > 0 && c->child) {
		fah_out_addf(d->out, "; own %.2f%%, ", percent(d, fah_times_sum(&c->self)));
		add_amount(d, fah_times_sum(&c->self));
	}
	if (c->samples)
		fah_out_addf(d->out, "; %s %s", fah_num_count(c->samples).s,
			     d->t->memory ? "blocks recorded" : "samples");
	for (size_t k = 0; k < 4; k++) {
		if (!(parts[k] > 0) || parts[k] == total(c))
			continue;
		fah_out_addf(d->out, "%s%s %.2f%%", between, words[k], percent(d, parts[k]));
		between = ", ";
	}
	fah_out_adds(d->out, "</title>");
}

static void add_class(struct drawing *d, const struct fah_call *c)
{
	static const char letters[FAH_TONE_COUNT] = {'o', 'p', 'n', 's', 'w'};
	enum fah_call_tone tone = fah_call_tone(d->t, c);
	const char *name = fah_call_name(d->t, c);
	unsigned hash = 5381;

	fah_out_addc(d->out, letters[tone]);
	if (tone != FAH_TONE_PYTHON)
		return;
	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	fah_out_u64(d->out, hash % SHADES);
}

/* What a box of so many columns says: the first that fits of its label, its name, and the last part
 * of what Python calls a.b.c; or the start of the last. As the script does after a zoom. */
static void add_label(struct drawing *d, const struct fah_call *c, const struct fah_strbuf *whole,
		      size_t columns)
{
	struct fah_strbuf name = FAH_STRBUF_INIT, cut = FAH_STRBUF_INIT;
	const char *text = fah_strbuf_str(whole), *dot;

	if (fah_utf8_width(text, whole->len) > columns) {
		const char *raw = fah_call_name(d->t, c);

		fah_strbuf_add_printable(&name, raw, strlen(raw));
		text = fah_strbuf_str(&name);
		dot = strrchr(text, '.');
		if (dot && dot[1] && fah_call_tone(d->t, c) == FAH_TONE_PYTHON &&
		    fah_utf8_width(text, name.len) > columns)
			text = dot + 1;
	}
	fah_utf8_cut(&cut, text, strlen(text), columns, false);
	add_text(d->out, fah_strbuf_str(&cut), cut.len);
	d->failed |= name.failed || cut.failed;
	fah_strbuf_release(&name);
	fah_strbuf_release(&cut);
}

static void add_box(struct drawing *d, const struct fah_call *c, double begin)
{
	double x = begin * d->scale, w = total(c) * d->scale;
	struct fah_strbuf name = FAH_STRBUF_INIT;
	unsigned y = TOP + c->depth * ROW;

	label(d, c, &name);
	fah_out_adds(d->out, "<g>");
	add_title(d, c, &name);
	fah_out_adds(d->out, "<rect class=\"");
	add_class(d, c);
	fah_out_addf(d->out, "\" x=\"%.4f\" y=\"%u\" width=\"%.4f\" height=\"%d\"/>", x, y, w,
		     ROW - 1);
	if (w > 3 * COLUMN + 2 * PADDING) {
		fah_out_addf(d->out, "<text x=\"%.2f\" y=\"%.0f\">", x + PADDING, y + 11.0);
		add_label(d, c, &name, (size_t)((w - 2 * PADDING) / COLUMN));
		fah_out_adds(d->out, "</text>");
	}
	fah_out_adds(d->out, "</g>\n");
	d->failed |= name.failed;
	fah_strbuf_release(&name);
}

static bool is_drawn(const struct drawing *d, const struct fah_call *c)
{
	return total(c) * d->scale >= LEAST && c->depth < ROWS_MAX;
}

/* What will be drawn: the height has to be known first. */
static void measure(struct drawing *d)
{
	double whole = total(&d->t->calls[0]);

	d->scale = whole > 0 ? WIDTH / whole : 0;
	for (size_t i = 0; i < d->t->n; i++) {
		const struct fah_call *c = &d->t->calls[i];

		if (is_drawn(d, c)) {
			d->drawn++;
			d->rows = c->depth + 1 > d->rows ? c->depth + 1 : d->rows;
		} else if (total(c) > 0) {
			d->deep += c->depth >= ROWS_MAX;
			d->narrow += c->depth < ROWS_MAX;
		}
	}
}

static int add_boxes(struct drawing *d)
{
	const struct fah_calltree *t = d->t;
	_cleanup_(fah_freep) double *begins = calloc(t->n, sizeof(*begins));
	uint32_t i = 0;

	if (!begins)
		return FAH_ERR_NOMEM;
	fah_out_adds(d->out, "<g id=\"boxes\">\n");
	do {
		bool drawn = is_drawn(d, &t->calls[i]);
		double at = begins[i];

		if (drawn)
			add_box(d, &t->calls[i], at);
		for (uint32_t k = drawn ? t->calls[i].child : 0; k; k = t->calls[k].sibling) {
			begins[k] = at;
			at += total(&t->calls[k]);
		}
		i = fah_calltree_next(t, i, !drawn);
	} while (i);
	fah_out_adds(d->out, "</g>\n");
	return 0;
}

static const char style[] =
	"text{font-family:\"DejaVu Sans Mono\",Menlo,Consolas,monospace;font-size:11px;fill:#111}\n"
	"#boxes rect{stroke:#fff;stroke-width:.4}#boxes g{cursor:pointer}\n"
	"#boxes text{pointer-events:none}#title{font-size:14px;font-weight:bold}\n"
	"#found{text-anchor:end;fill:#a0007a}.button{display:none;cursor:pointer;fill:#0645ad;"
	"text-decoration:underline}\n"
	".live #search,.live.zoomed #reset{display:inline}\n"
	".o{fill:#d9d9d9}.p0{fill:#f7c948}.p1{fill:#f4b740}.p2{fill:#fad675}.p3{fill:#f0a93b}\n"
	".n{fill:url(#native)}.s{fill:url(#system)}.w{fill:url(#waiting)}\n"
	"#boxes g:hover rect,#boxes .now rect{stroke:#000;stroke-width:1.5}\n"
	".up{opacity:.55}.searched #boxes g{opacity:.4}.searched #boxes .hit{opacity:1}\n"
	"#boxes .hit rect{fill:#e86bd0;stroke:#5b0048;stroke-width:1}.wrong #found{fill:#b00020}\n"
	"svg:focus{outline:none}\n";

static const char patterns[] =
	"<defs>\n"
	"<pattern id=\"native\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
	"<rect width=\"8\" height=\"8\" fill=\"#8fc1e8\"/>"
	"<path d=\"M-2,2 l4,-4 M0,8 l8,-8 M6,10 l4,-4\" stroke=\"#6ba6d6\" stroke-width=\"1.2\"/>"
	"</pattern>\n"
	"<pattern id=\"system\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
	"<rect width=\"6\" height=\"6\" fill=\"#f2a08c\"/>"
	"<circle cx=\"1.5\" cy=\"1.5\" r=\"1.1\" fill=\"#cf5f45\"/>"
	"<circle cx=\"4.5\" cy=\"4.5\" r=\"1.1\" fill=\"#cf5f45\"/></pattern>\n"
	"<pattern id=\"waiting\" width=\"8\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
	"<rect width=\"8\" height=\"5\" fill=\"#c9c4e4\"/>"
	"<path d=\"M0,2.5 h8\" stroke=\"#a79fd0\" stroke-width=\"1\"/></pattern>\n"
	"</defs>\n";

static void add_legend(struct drawing *d)
{
	static const struct {
		const char *class, *word;
	} entries[] = {{"p0", "Python"}, {"n", "native"}, {"s", "system"}, {"w", "waiting"}};
	unsigned x = 10;

	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++, x += 86)
		fah_out_addf(d->out,
			     "<rect class=\"%s\" x=\"%u\" y=\"38\" width=\"14\" height=\"12\"/>"
			     "<text x=\"%u\" y=\"48\">%s</text>\n",
			     entries[i].class, x, x + 18, entries[i].word);
	fah_out_addf(d->out,
		     "<text id=\"search\" class=\"button\" role=\"button\" x=\"%u\" "
		     "y=\"48\">search (/)</text>"
		     "<text id=\"reset\" class=\"button\" role=\"button\" x=\"%u\" y=\"48\">reset "
		     "zoom (Esc)</text>\n",
		     x + 10, x + 100);
}

static void add_run(struct drawing *d, const struct fah_view *view)
{
	const struct fah_totals *totals = fah_profile_totals(d->p);

	fah_out_addf(d->out, "%s, %s samples", fah_num_seconds(totals->wall_s).s,
		     fah_num_count(totals->samples).s);
	if (totals->drops)
		fah_out_addf(d->out, " (%s dropped)", fah_num_count(totals->drops).s);
	fah_out_addf(d->out, "; shares of %s, to %s%.1f points or better (95%%)",
		     view->threads ? "all threads' time" : "the run", "\xc2\xb1",
		     totals->interval_points);
}

static void add_head(struct drawing *d, const struct fah_view *view, unsigned height)
{
	const char *command = fah_profile_meta(d->p, "command");

	fah_out_addf(d->out,
		     "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		     "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		     "height=\"%u\" viewBox=\"0 0 %d %u\" role=\"img\" "
		     "aria-labelledby=\"title info\">\n"
		     "<style>\n%s</style>\n%s"
		     "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		     WIDTH, height, WIDTH, height, style, patterns);
	fah_out_adds(d->out, "<text id=\"title\" x=\"10\" y=\"20\">");
	add_raw(d, command ? command : "flame graph");
	fah_out_adds(d->out, "</text>\n<text x=\"10\" y=\"34\">");
	if (view->memory)
		fah_out_addf(d->out, "%s %s, by %s blocks recorded",
			     fah_num_bytes(fah_heap_bytes(d->t->whole_s)).s,
			     fah_heap_view_words(view->memory),
			     fah_num_count(d->t->calls[0].samples).s);
	else
		add_run(d, view);
	if (view->only) {
		fah_out_adds(d->out, "; only below ");
		add_raw(d, view->only);
	}
	fah_out_addf(d->out, "</text>\n<text id=\"found\" x=\"%d\" y=\"48\"></text>\n", WIDTH - 10);
	add_legend(d);
}

/* Left out, cut, empty: said in the picture itself. */
static void add_foot(struct drawing *d, unsigned height)
{
	const struct fah_totals *totals = fah_profile_totals(d->p);

	fah_out_addf(d->out, "<text id=\"info\" x=\"10\" y=\"%u\">%s boxes", height - 26,
		     fah_num_count(d->drawn).s);
	if (!(total(&d->t->calls[0]) > 0))
		fah_out_addf(d->out, "; nothing of this run is in this view");
	if (d->narrow)
		fah_out_addf(d->out, "; %s calls narrower than a tenth of a pixel are left out",
			     fah_num_count(d->narrow).s);
	if (d->deep)
		fah_out_addf(d->out, "; %s deeper than %d as well", fah_num_count(d->deep).s,
			     ROWS_MAX);
	fah_out_adds(d->out, "</text>\n");
	if (!totals->complete)
		fah_out_addf(d->out,
			     "<text x=\"10\" y=\"%u\">The capture has no end: the recording was "
			     "cut short. Times are those up to its last record.</text>\n",
			     height - 10);
}

FAH_DEFINE_FREEP(struct fah_calltree *, fah_calltree_free)

static int write_svg(struct fah_out *out, struct fah_stacks *stacks)
{
	_cleanup_(fah_calltree_freep) struct fah_calltree *tree = NULL;
	struct drawing d = {.out = out, .p = fah_stacks_profile(stacks)};
	unsigned height;
	int err = fah_calltree_new(stacks, true, &tree);

	if (err < 0)
		return err;
	d.t = tree;
	measure(&d);
	height = TOP + d.rows * ROW + BOTTOM;
	add_head(&d, fah_stacks_view(stacks), height);
	err = add_boxes(&d);
	add_foot(&d, height);
	fah_out_adds(out, "<script><![CDATA[\n");
	fah_out_adds(out, fah_flame_js);
	fah_out_adds(out, "]]></script>\n</svg>\n");
	return d.failed ? FAH_ERR_NOMEM : err;
}

const struct fah_export fah_export_svg = {
	.name = "svg",
	.aliases = {"flamegraph"},
	.extensions = {".svg"},
	.summary = "a flame graph for the browser: zoom, search, tooltips; one file",
	.memory = true,
	.write = write_svg,
};
