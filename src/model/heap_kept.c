/* heap_kept.c - see heap_kept.h. Scopes are compared by what they say: callers' may be gone. */
#include "model/heap_kept.h"

#include "base/cleanup.h"
#include "base/strbuf.h"

struct fah_heap_kept {
	struct fah_heap_kept *next;
	const char *key;
	size_t len;
	const struct fah_heap *heap;
};

static void add_list(struct fah_strbuf *sb, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fah_strbuf_add(sb, list[i], strlen(list[i]) + 1);
	fah_strbuf_addc(sb, '\0'); /* no path is empty */
}

static void add_key(struct fah_strbuf *sb, const struct fah_scope *scope)
{
	fah_strbuf_addc(sb, scope->everything ? '*' : '.');
	add_list(sb, scope->dirs, scope->n_dirs);
	add_list(sb, scope->ignore, scope->n_ignore);
	if (scope->always)
		fah_strbuf_adds(sb, scope->always);
}

const struct fah_heap *fah_heap_kept_get(const struct fah_profile *p, const struct fah_scope *scope)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf key = FAH_STRBUF_INIT;

	add_key(&key, scope);
	if (key.failed)
		return NULL;
	for (const struct fah_heap_kept *k = p->heaps; k; k = k->next)
		if (k->len == key.len && !memcmp(k->key, key.p, key.len))
			return k->heap;
	return NULL;
}

void fah_heap_kept_put(struct fah_profile *p, const struct fah_scope *scope,
		       const struct fah_heap *heap)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf key = FAH_STRBUF_INIT;
	struct fah_heap_kept *k = fah_arena_alloc(&p->arena, sizeof(*k));

	add_key(&key, scope);
	if (!k || key.failed)
		return;
	*k = (struct fah_heap_kept){p->heaps, fah_arena_strndup(&p->arena, key.p, key.len), key.len,
				    heap};
	if (k->key)
		p->heaps = k;
}
