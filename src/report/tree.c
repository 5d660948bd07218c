/*
 * tree.c - Functions by Module.
 *
 * Folders below root stand one below the other, as in the project; a path outside root is one line
 * up to where it branches. Functions have dotted leaders up to one common column.
 */
#include "report/tree.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/number.h"
#include "base/utf8.h"
#include "core/err.h"
#include "report/heap.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64	  /* of folders; the rest of a longer path is one name */
#define LEADERS_END 56	  /* column where percentages end, if names leave room */
#define LEADERS_MIN 4	  /* dots after the longest name */
#define PERCENT_COLUMNS 6 /* of "70.59%" */
#define INDENT 3
#define MEMORY_COLUMNS 9 /* of " (400 MB)" */

struct branch {
	char *name; /* clean */
	struct branch *children, *next;
	double share;
	size_t functions;
	bool leaf;   /* a function */
	double held; /* bytes; 0: not worth a word */
};

struct fah_tree {
	struct fah_arena arena;
	struct branch top;
	const struct fah_report_options *o; /* borrowed */
	double floor, wall_s;
	int cost; /* columns of a function's share or seconds */
	bool has_memory;
	struct fah_strmap by_path; /* path up to a folder or file -> index + 1 into branches[] */
	struct branch **branches;
	size_t n, cap;
};

static char *clean_name(struct fah_arena *arena, const char *s, size_t len)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	char *copy;

	fah_strbuf_add_printable(&sb, s, len);
	copy = sb.failed ? NULL : fah_arena_strdup(arena, fah_strbuf_str(&sb));
	fah_strbuf_release(&sb);
	return copy;
}

static struct branch *new_branch(struct fah_tree *tree, struct branch *parent, const char *name,
				 size_t len)
{
	struct branch *b = fah_arena_alloc(&tree->arena, sizeof(*b));

	if (!b)
		return NULL;
	b->name = clean_name(&tree->arena, name, len);
	if (!b->name)
		return NULL;
	b->next = parent->children;
	parent->children = b;
	return b;
}

/* The folder or file whose path is the first len bytes of path; its own name begins at from. */
static struct branch *add_child(struct fah_tree *tree, struct branch *parent, const char *path,
				size_t from, size_t len)
{
	uint32_t *slot = fah_strmap_put(&tree->by_path, path, len, NULL, NULL);
	struct branch *b;

	if (!slot)
		return NULL;
	if (*slot)
		return tree->branches[*slot - 1];
	b = new_branch(tree, parent, path + from, len - from);
	if (!b)
		return NULL;
	if (tree->n == tree->cap) {
		size_t cap = tree->cap ? tree->cap * 2 : 64;
		struct branch **grown = reallocarray(tree->branches, cap, sizeof(*grown));

		if (!grown)
			return NULL;
		tree->branches = grown;
		tree->cap = cap;
	}
	tree->branches[tree->n++] = b;
	*slot = (uint32_t)tree->n;
	return b;
}

static double held_by(const struct fah_heap_file *file, uint32_t function)
{
	for (size_t i = 0; file && i < file->n_functions; i++)
		if (file->functions[i].function == function)
			return file->functions[i].cost.peak_share >= FAH_HEAP_FLOOR
				       ? file->functions[i].cost.peak
				       : 0;
	return 0;
}

static int add_file(struct fah_tree *tree, const struct fah_profile *p,
		    const struct fah_file_cost *file, const struct fah_heap_file *heap,
		    const struct fah_report_options *o)
{
	const char *path = fah_report_path(o, file->abspath);
	struct branch *b = &tree->top, *leaf;
	size_t at = 0;
	double share = 0;

	for (size_t i = 0; i < file->n_functions; i++)
		share += file->functions[i].share;
	b->share += share;
	b->functions += file->n_functions;
	for (int depth = 0; path[at]; depth++) {
		size_t lead = path[at] == '/', len = strcspn(path + at + lead, "/");

		if (depth == DEPTH_MAX)
			len = strlen(path + at + lead);
		/* An absolute path keeps its '/', so that it is not taken for one below root. */
		b = add_child(tree, b, path, at + (depth ? lead : 0), at + lead + len);
		if (!b)
			return FAH_ERR_NOMEM;
		b->share += share;
		b->functions += file->n_functions;
		at += lead + len;
	}
	for (size_t i = 0; i < file->n_functions; i++) {
		const char *name = fah_profile_function(p, file->functions[i].function)->name;

		leaf = new_branch(tree, b, name, strlen(name));
		if (!leaf)
			return FAH_ERR_NOMEM;
		leaf->leaf = true;
		leaf->share = file->functions[i].share;
		leaf->held = held_by(heap, file->functions[i].function);
		tree->has_memory |= leaf->held > 0;
	}
	return 0;
}

static bool before(const struct branch *a, const struct branch *b)
{
	return a->share != b->share ? a->share > b->share : strcmp(a->name, b->name) < 0;
}

/* Merge sort of a list: a folder may hold thousands of files. */
static struct branch *sorted(struct branch *list)
{
	struct branch *slow = list, *fast, *other, *head = NULL, **tail = &head;

	if (!list || !list->next)
		return list;
	for (fast = list->next; fast && fast->next; fast = fast->next->next)
		slow = slow->next;
	other = sorted(slow->next);
	slow->next = NULL;
	list = sorted(list);
	while (list && other) {
		struct branch **from = before(other, list) ? &other : &list;

		*tail = *from;
		tail = &(*from)->next;
		*from = (*from)->next;
	}
	*tail = list ? list : other;
	return head;
}

static void arrange(struct branch *b)
{
	b->children = sorted(b->children);
	for (struct branch *c = b->children; c; c = c->next)
		arrange(c);
}

/* "/usr", "lib", "python3.11" become "/usr/lib/python3.11" while nothing else lies between. */
static int join_chain(struct fah_tree *tree, struct branch *b)
{
	while (b->children && !b->children->next && !b->children->leaf && b->children->children &&
	       !b->children->children->leaf) {
		size_t len = strlen(b->name), more = strlen(b->children->name);
		char *name = fah_arena_alloc(&tree->arena, len + more + 2);

		if (!name)
			return FAH_ERR_NOMEM;
		memcpy(name, b->name, len);
		name[len] = '/';
		memcpy(name + len + 1, b->children->name, more + 1);
		b->name = name;
		b->children = b->children->children;
	}
	return 0;
}

static struct fah_share cost_of(const struct fah_tree *tree, const struct branch *b)
{
	return fah_cost_text(tree->o, b->share, tree->wall_s, 2);
}

int fah_tree_new(const struct fah_profile *p, const struct fah_charges *charges,
		 const struct fah_heap *heap, const struct fah_report_options *o, double floor,
		 struct fah_tree **ret)
{
	struct fah_tree *tree = calloc(1, sizeof(*tree));
	int err = tree ? 0 : FAH_ERR_NOMEM;

	for (size_t i = 0; err == 0 && i < charges->n_files; i++)
		err = add_file(tree, p, &charges->files[i],
			       fah_heap_file_of(heap, charges->files[i].abspath), o);
	if (err == 0) {
		arrange(&tree->top);
		tree->floor = floor;
		tree->wall_s = charges->wall_s;
		tree->o = o;
		tree->cost =
			o->seconds ? (int)strlen(cost_of(tree, &tree->top).s) : PERCENT_COLUMNS;
		for (struct branch *b = tree->top.children; err == 0 && b; b = b->next)
			if (b->name[0] == '/')
				err = join_chain(tree, b);
	}
	if (err < 0) {
		fah_tree_free(tree);
		return err;
	}
	*ret = tree;
	return 0;
}

void fah_tree_free(struct fah_tree *tree)
{
	if (!tree)
		return;
	fah_arena_release(&tree->arena);
	fah_strmap_release(&tree->by_path);
	free(tree->branches);
	free(tree);
}

static int columns_of(const struct branch *b)
{
	return (int)fah_utf8_width(b->name, strlen(b->name));
}

static bool listed(const struct fah_tree *tree, const struct branch *b)
{
	return b->share >= tree->floor;
}

static struct branch *next_listed(const struct fah_tree *tree, struct branch *b)
{
	while (b && !listed(tree, b))
		b = b->next;
	return b;
}

/* Functions that stand below it: those with a row, or all where one row stands for them. */
static size_t shown(const struct fah_tree *tree, const struct branch *b)
{
	struct branch *c = next_listed(tree, b->children);
	size_t n = c || b->leaf ? 0 : b->functions;

	for (; c; c = next_listed(tree, c->next))
		n += c->leaf ? 1 : shown(tree, c);
	return n;
}

/* The column where percentages would end if every function had its dots; and heads' ends. */
static void measure(const struct fah_tree *tree, const struct branch *b, int depth, int *leaves,
		    int *heads)
{
	struct branch *c;

	for (c = next_listed(tree, b->children); c; c = next_listed(tree, c->next)) {
		int width = INDENT * (depth + 1) + columns_of(c);

		if (c->leaf) {
			width += LEADERS_MIN + tree->cost;
			*leaves = width > *leaves ? width : *leaves;
		} else {
			char count[64];

			width += snprintf(count, sizeof(count), " (%zu func, %s total)",
					  shown(tree, c), cost_of(tree, c).s);
			*heads = width > *heads ? width : *heads;
			measure(tree, c, depth + 1, leaves, heads);
		}
	}
}

static int leaders_end(const struct fah_tree *tree, int width, int *ret_heads)
{
	int leaves = LEADERS_END;

	*ret_heads = 0;
	measure(tree, &tree->top, 0, &leaves, ret_heads);
	width -= tree->has_memory ? MEMORY_COLUMNS : 0;
	return leaves > width ? width : leaves;
}

int fah_tree_width(const struct fah_tree *tree, int width)
{
	int heads, end = leaders_end(tree, width, &heads);

	end += tree->has_memory ? MEMORY_COLUMNS : 0;
	return heads > end ? (heads > width ? width : heads) : end;
}

static void print_leaf(const struct fah_tree *tree, const struct branch *b, struct fah_text *t,
		       int end)
{
	struct fah_share share = cost_of(tree, b);
	int room = end - fah_text_column(t) - (int)strlen(share.s);
	int columns = columns_of(b);

	if (columns + 1 > room) {
		columns = room > 2 ? room - 1 : 1;
		fah_utf8_cut(&t->line, b->name, strlen(b->name), (size_t)columns, !t->o->utf8);
	} else {
		fah_strbuf_adds(&t->line, b->name);
	}
	columns = end - fah_text_column(t) - (int)strlen(share.s);
	fah_text_repeat(t, ".", columns > 0 ? columns : 1);
	fah_text_paint(t, fah_text_heat(b->share), share.s);
	if (b->held > 0)
		fah_strbuf_addf(&t->line, " (%6s)", fah_num_bytes_short(fah_heap_bytes(b->held)).s);
	fah_text_end(t);
}

static void print_head(const struct fah_tree *tree, const struct branch *b, struct fah_text *t)
{
	struct fah_strbuf name = FAH_STRBUF_INIT;
	char count[64];
	int room, n = snprintf(count, sizeof(count), " (%zu func, %s total)", shown(tree, b),
			       cost_of(tree, b).s);

	room = t->width - fah_text_column(t) - n;
	if (room < 4)
		room = 4;
	fah_utf8_cut_tail(&name, b->name, strlen(b->name), (size_t)room, !t->o->utf8);
	fah_text_paint(t, FAH_BOLD, fah_strbuf_str(&name));
	t->failed |= name.failed;
	fah_strbuf_release(&name);
	fah_strbuf_adds(&t->line, count);
	fah_text_end(t);
}

/* Of functions that have too little for rows of their own, though together they have enough. */
static void print_small(const struct fah_tree *tree, struct fah_text *t)
{
	char text[64];
	int room = t->width - fah_text_column(t);
	int len = snprintf(text, sizeof(text), "each below %s", fah_share_text(tree->floor, 2).s);

	fah_utf8_cut(&t->line, text, (size_t)len, (size_t)(room > 4 ? room : 4), !t->o->utf8);
	fah_text_end(t);
}

static void print_below(const struct fah_tree *tree, const struct branch *b, struct fah_text *t,
			struct fah_strbuf *prefix, int end)
{
	struct branch *c = next_listed(tree, b->children), *after;

	if (!c && b != &tree->top) {
		fah_strbuf_adds(&t->line, fah_strbuf_str(prefix));
		fah_strbuf_adds(&t->line, t->g->last);
		print_small(tree, t);
	}
	for (; c; c = after) {
		size_t len = prefix->len;

		after = next_listed(tree, c->next);
		fah_strbuf_adds(&t->line, fah_strbuf_str(prefix));
		fah_strbuf_adds(&t->line, after ? t->g->branch : t->g->last);
		if (c->leaf) {
			print_leaf(tree, c, t, end);
			continue;
		}
		print_head(tree, c, t);
		fah_strbuf_adds(prefix, after ? t->g->pass : "   ");
		print_below(tree, c, t, prefix, end);
		fah_strbuf_truncate(prefix, len);
		if (after)
			fah_text_put(t, "%s%s", fah_strbuf_str(prefix), t->g->vertical);
	}
}

void fah_tree_print(const struct fah_tree *tree, struct fah_text *t)
{
	struct fah_strbuf prefix = FAH_STRBUF_INIT;
	int heads;

	print_below(tree, &tree->top, t, &prefix, leaders_end(tree, t->width, &heads));
	t->failed |= prefix.failed;
	fah_strbuf_release(&prefix);
}
