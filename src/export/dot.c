/*
 * dot.c - see dot.h. Names come from outside: Graphviz sees none of them but as the text of a label
 * or a tooltip, and what means something there (quotes, backslashes, entities, newlines, bytes that
 * are no UTF-8) is escaped. Nodes are called by number.
 */
#include "export/dot.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/number.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "core/err.h"
#include "export/out.h"

#include <errno.h>
#include <math.h>

#define NAME_COLUMNS 60 /* of a label's lines: wider boxes make the picture unreadable */
#define PLACE_COLUMNS 40

struct colour {
	int red, green, blue;
};

static int channel(double low, double high, double hue)
{
	double part;

	hue -= floor(hue);
	if (hue < 1.0 / 6)
		part = low + (high - low) * hue * 6;
	else if (hue < 0.5)
		part = high;
	else if (hue < 2.0 / 3)
		part = low + (high - low) * (2.0 / 3 - hue) * 6;
	else
		part = low;
	return (int)lround(part * 255);
}

/* Blue for 0, over green and yellow, to red for 1, and brighter on the way. */
static struct colour temperature(double share)
{
	double hue = (1 - share) * 2 / 3, saturation = 0.8 + 0.2 * share;
	double lightness = 0.25 + 0.25 * share;
	double high = lightness * (1 + saturation), low = 2 * lightness - high;

	return (struct colour){channel(low, high, hue + 1.0 / 3), channel(low, high, hue),
			       channel(low, high, hue - 1.0 / 3)};
}

/* What is written over it: white, but black over what is bright. */
static const char *ink(struct colour c)
{
	return 0.299 * c.red + 0.587 * c.green + 0.114 * c.blue > 115 ? "black" : "white";
}

/* As people read it: one line, valid UTF-8; a backslash of the name's own stays one. */
static void add_clean(struct fah_strbuf *to, const char *s)
{
	for (;;) {
		size_t n = strcspn(s, "\\");

		fah_strbuf_add_printable(to, s, n);
		if (!s[n])
			return;
		fah_strbuf_addc(to, '\\');
		s += n + 1;
	}
}

/* Inside of quotes, where Graphviz reads entities and escapes; those of a tooltip twice. */
static void put_text(struct fah_out *out, const char *s, size_t len, bool tip)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '&')
			fah_out_adds(out, "&amp;");
		else if (s[i] == '\\')
			fah_out_adds(out, tip ? "\\\\\\\\" : "\\\\");
		else if (s[i] == '"')
			fah_out_adds(out, "\\\"");
		else
			fah_out_addc(out, s[i]);
	}
}

/* Of native code the file is that of its library, which has no lines. */
static bool is_library(const struct fah_exact_function *f)
{
	return !f->line && f->file[0] == '/' && !fah_path_ends(f->file, ".py");
}

/* Where a function is, as its label has it: "" where there is nothing to say. */
static void add_place(struct fah_strbuf *to, const struct fah_exact_function *f,
		      const struct fah_dot_look *look, bool whole)
{
	const char *file = f->file;

	if (!*file || !strcmp(file, "~")) /* C code, in pstats */
		return;
	if (!whole)
		file = look->strip || is_library(f) ? fah_basename(file)
						    : fah_path_short(file, look->folder);
	add_clean(to, file);
	if (f->line)
		fah_strbuf_addf(to, ":%lld", (long long)f->line);
}

static void put_cut(struct fah_out *out, const struct fah_strbuf *sb, size_t columns, bool tail,
		    bool tip)
{
	struct fah_strbuf cut = FAH_STRBUF_INIT;

	(tail ? fah_utf8_cut_tail : fah_utf8_cut)(&cut, fah_strbuf_str(sb), sb->len, columns,
						  false);
	put_text(out, fah_strbuf_str(&cut), cut.len, tip);
	fah_strbuf_release(&cut);
}

static void put_share(struct fah_out *out, double share)
{
	fah_out_addf(out, "%.2f%%", 100 * share);
}

static void put_calls(struct fah_out *out, const char *indent, uint64_t calls)
{
	if (calls)
		fah_out_addf(out, "\\n%s%s×", indent, fah_num_count(calls).s);
}

static bool put_node(struct fah_out *out, const struct fah_callgraph *g, uint32_t i,
		     const struct fah_dot_look *look)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf name = FAH_STRBUF_INIT;
	_cleanup_(fah_strbuf_release) struct fah_strbuf place = FAH_STRBUF_INIT;
	_cleanup_(fah_strbuf_release) struct fah_strbuf whole = FAH_STRBUF_INIT;
	const struct fah_callgraph_node *n = &g->nodes[i];
	const struct fah_exact_function *f = &g->exact->functions[n->function];
	struct colour c = temperature(look->by_self ? n->self : n->total);

	add_clean(&name, *f->name ? f->name : "???");
	add_place(&place, f, look, false);
	add_place(&whole, f, look, true);
	fah_out_addf(out, "\tn%u [label=\"", i);
	put_cut(out, &name, NAME_COLUMNS, false, false);
	if (place.len) {
		fah_out_adds(out, "\\n");
		put_cut(out, &place, PLACE_COLUMNS, true, false);
	}
	fah_out_adds(out, "\\n");
	put_share(out, n->total);
	fah_out_adds(out, "\\n(");
	put_share(out, n->self);
	fah_out_addc(out, ')');
	put_calls(out, "", n->calls);
	fah_out_adds(out, "\", tooltip=\"");
	put_text(out, fah_strbuf_str(&name), name.len, true);
	if (whole.len) {
		fah_out_adds(out, "\\n");
		put_text(out, fah_strbuf_str(&whole), whole.len, true);
	}
	fah_out_addf(out,
		     "\", fillcolor=\"#%02x%02x%02x\", color=\"#%02x%02x%02x\", fontcolor=%s];\n",
		     c.red, c.green, c.blue, c.red, c.green, c.blue, ink(c));
	return !name.failed && !place.failed && !whole.failed;
}

static void put_name(struct fah_out *out, const struct fah_callgraph *g, uint32_t node)
{
	struct fah_strbuf name = FAH_STRBUF_INIT;

	add_clean(&name, g->exact->functions[g->nodes[node].function].name);
	put_cut(out, &name, NAME_COLUMNS, false, true);
	fah_strbuf_release(&name);
}

static void put_edge(struct fah_out *out, const struct fah_callgraph *g,
		     const struct fah_callgraph_edge *e)
{
	struct colour c = temperature(e->share);
	double width = fmax(0.5, 4 * e->share);

	/* The spaces keep thick lines off the text. */
	fah_out_addf(out, "\tn%u -> n%u [label=\"  ", e->caller, e->callee);
	put_share(out, e->share);
	put_calls(out, "  ", e->calls);
	for (int i = 0; i < 2; i++) {
		static const char *const of[] = {"tooltip", "labeltooltip"};

		fah_out_addf(out, "\", %s=\"", of[i]);
		put_name(out, g, e->caller);
		fah_out_adds(out, " → ");
		put_name(out, g, e->callee);
	}
	fah_out_addf(out, "\", color=\"#%02x%02x%02x\", penwidth=\"%.2f\", arrowsize=\"%.2f\"];\n",
		     c.red, c.green, c.blue, width, 0.5 * sqrt(width));
}

static void put_head(struct fah_out *out, const struct fah_dot_look *look)
{
	fah_out_adds(out,
		     "digraph {\n"
		     "\tgraph [charset=\"UTF-8\", fontname=\"Helvetica,Arial,sans-serif\", "
		     "fontsize=10, nodesep=0.125, ranksep=0.25, tooltip=\" \"];\n"
		     "\tnode [fontname=\"Helvetica,Arial,sans-serif\", fontsize=10, shape=box, "
		     "style=filled, width=0, height=0];\n"
		     "\tedge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=10];\n");
	if (look->title) {
		struct fah_strbuf sb = FAH_STRBUF_INIT;

		add_clean(&sb, look->title);
		fah_out_adds(out, "\tlabel=\"");
		put_text(out, fah_strbuf_str(&sb), sb.len, false);
		fah_out_adds(out, "\";\n");
		fah_strbuf_release(&sb);
	}
}

int fah_dot_write(FILE *f, const struct fah_callgraph *g, const struct fah_dot_look *look)
{
	struct fah_out *out = malloc(sizeof(*out));
	bool ok = true;
	int err;

	if (!out)
		return FAH_ERR_NOMEM;
	fah_out_init(out, f);
	put_head(out, look);
	for (uint32_t i = 0; i < g->n_nodes && ok; i++)
		ok = put_node(out, g, i, look);
	for (size_t i = 0; i < g->n_edges; i++)
		put_edge(out, g, &g->edges[i]);
	fah_out_adds(out, "}\n");
	err = ok ? fah_out_finish(out) : FAH_ERR_NOMEM;
	free(out);
	return err;
}
