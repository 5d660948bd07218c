/* pstats_order.c - the keys that functions are sorted by, and the sorting. */
#include "base/cleanup.h"
#include "core/err.h"
#include "report/pstats_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* In pstats' order, which decides what an abbreviation means. */
const struct fah_pstats_word fah_pstats_words[] = {
	{"calls", FAH_PSTATS_CALLS, "call count"},
	{"ncalls", FAH_PSTATS_CALLS, "call count"},
	{"cumtime", FAH_PSTATS_CUMULATIVE, "cumulative time"},
	{"cumulative", FAH_PSTATS_CUMULATIVE, "cumulative time"},
	{"filename", FAH_PSTATS_FILE, "file name"},
	{"line", FAH_PSTATS_LINE, "line number"},
	{"module", FAH_PSTATS_FILE, "file name"},
	{"name", FAH_PSTATS_NAME, "function name"},
	{"nfl", FAH_PSTATS_NFL, "name/file/line"},
	{"pcalls", FAH_PSTATS_PRIMITIVE, "primitive call count"},
	{"stdname", FAH_PSTATS_STDNAME, "standard name"},
	{"time", FAH_PSTATS_TIME, "internal time"},
	{"tottime", FAH_PSTATS_TIME, "internal time"},
	{NULL, 0, NULL},
};

/* What else is understood, whole only: pstats' numbers of old, and its words for samples. */
static const struct fah_pstats_word others[] = {
	{"-1", FAH_PSTATS_STDNAME, ""},
	{"0", FAH_PSTATS_CALLS, ""},
	{"1", FAH_PSTATS_TIME, ""},
	{"2", FAH_PSTATS_CUMULATIVE, ""},
	{"samples", FAH_PSTATS_SAMPLES, ""},
	{"nsamples", FAH_PSTATS_SAMPLES, ""},
	{"psamples", FAH_PSTATS_PRIMITIVE, ""},
};

static size_t common(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

/* pstats strikes out, for each word, the longest beginning that it shares with those before it; all
 * other beginnings mean the first word that has them. */
static bool is_struck(const char *word, size_t len)
{
	for (const struct fah_pstats_word *w = fah_pstats_words; w->word; w++) {
		size_t longest = 0;

		for (const struct fah_pstats_word *v = fah_pstats_words; v < w; v++)
			if (common(v->word, w->word) > longest)
				longest = common(v->word, w->word);
		if (longest == len && !strncasecmp(w->word, word, len))
			return true;
	}
	return false;
}

static const struct fah_pstats_word *find(const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcasecmp(others[i].word, word))
			return &others[i];
	if (!len || is_struck(word, len))
		return NULL;
	for (const struct fah_pstats_word *w = fah_pstats_words; w->word; w++)
		if (!strncasecmp(w->word, word, len))
			return w;
	return NULL;
}

bool fah_pstats_order_add(struct fah_pstats_order *o, const char *word)
{
	const struct fah_pstats_word *w = find(word);

	if (!w || o->n == FAH_PSTATS_KEYS_MAX)
		return false;
	o->keys[o->n++] = w->key;
	return true;
}

void fah_pstats_order_text(struct fah_strbuf *sb, const struct fah_pstats_order *o)
{
	for (size_t i = 0; i < o->n; i++) {
		const struct fah_pstats_word *w = fah_pstats_words;

		while (w->word && w->key != o->keys[i])
			w++;
		if (i)
			fah_strbuf_adds(sb, ", ");
		fah_strbuf_adds(sb, w->word ? w->text : "sample count");
	}
}

static int less_first(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int more_first(double a, double b)
{
	return a > b ? -1 : a < b;
}

static int more_calls_first(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

struct sorting {
	const struct fah_pstats_list *l;
	const struct fah_pstats_order *order;
};

static int compare_key(const struct fah_pstats_list *l, enum fah_pstats_key key, uint32_t i,
		       uint32_t j)
{
	const struct fah_exact_function *a = &l->e->functions[i], *b = &l->e->functions[j];
	int r;

	switch (key) {
	case FAH_PSTATS_CALLS:
	case FAH_PSTATS_SAMPLES:
		return more_calls_first(a->times.calls, b->times.calls);
	case FAH_PSTATS_PRIMITIVE:
		return more_calls_first(a->times.primitive, b->times.primitive);
	case FAH_PSTATS_CUMULATIVE:
		return more_first(a->times.total_s, b->times.total_s);
	case FAH_PSTATS_TIME:
		return more_first(a->times.self_s, b->times.self_s);
	case FAH_PSTATS_FILE:
		return strcmp(a->file, b->file);
	case FAH_PSTATS_LINE:
		return less_first(a->line, b->line);
	case FAH_PSTATS_NAME:
		return strcmp(a->name, b->name);
	case FAH_PSTATS_STDNAME:
		return strcmp(l->names[i], l->names[j]);
	case FAH_PSTATS_NFL:
		r = strcmp(a->name, b->name);
		r = r ? r : strcmp(a->file, b->file);
		return r ? r : less_first(a->line, b->line);
	}
	return 0;
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct sorting *s = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int r = 0;

	for (size_t k = 0; k < s->order->n && !r; k++)
		r = compare_key(s->l, s->order->keys[k], i, j);
	return r ? r : less_first(i, j);
}

/* As pstats calls a function: code of C by its name alone. */
static char *name_of(struct fah_arena *arena, const struct fah_exact_function *f)
{
	size_t n = strlen(f->name), size = strlen(f->file) + n + 32;
	char *text = fah_arena_alloc(arena, size);

	if (!text)
		return NULL;
	if (strcmp(f->file, "~") != 0 || f->line)
		snprintf(text, size, "%s:%" PRId64 "(%s)", f->file, f->line, f->name);
	else if (n && f->name[0] == '<' && f->name[n - 1] == '>')
		snprintf(text, size, "{%.*s}", n > 1 ? (int)(n - 2) : 0, f->name + 1);
	else
		snprintf(text, size, "%s", f->name);
	return text;
}

static void sort(struct fah_pstats_list *l, const struct fah_pstats_order *order)
{
	struct sorting s = {l, order};

	qsort_r(l->functions, l->n, sizeof(*l->functions), compare, &s);
	for (size_t i = 0; order->reverse && i < l->n / 2; i++) {
		uint32_t other = l->functions[l->n - 1 - i];

		l->functions[l->n - 1 - i] = l->functions[i];
		l->functions[i] = other;
	}
}

int fah_pstats_list_init(struct fah_pstats_list *l, const struct fah_exact *e,
			 const struct fah_pstats_order *order)
{
	*l = (struct fah_pstats_list){.e = e, .arena = FAH_ARENA_INIT};
	l->names = fah_arena_array(&l->arena, e->n_functions, sizeof(*l->names));
	l->functions = fah_arena_array(&l->arena, e->n_functions, sizeof(*l->functions));
	if (!l->names || !l->functions)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < e->n_functions; i++) {
		l->names[i] = name_of(&l->arena, &e->functions[i]);
		if (!l->names[i])
			return FAH_ERR_NOMEM;
		if (!e->functions[i].only_caller)
			l->functions[l->n++] = i;
	}
	if (order && order->n && l->n)
		sort(l, order);
	return 0;
}

void fah_pstats_list_release(struct fah_pstats_list *l)
{
	fah_arena_release(&l->arena);
}
