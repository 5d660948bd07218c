/* answers.c - see answers.h. */
#include "native/answers.h"

#include <stdlib.h>
#include <string.h>

void fah_answers_release(struct fah_answers *a)
{
	fah_arena_release(&a->arena);
	fah_strmap_release(&a->texts);
	fah_map_release(&a->known);
	fah_strmap_release(&a->symbols);
	free(a->list);
	*a = (struct fah_answers){0};
}

const char *fah_answers_text(struct fah_answers *a, const char *text)
{
	const char *kept = NULL;

	return fah_strmap_put(&a->texts, text, strlen(text), NULL, &kept) ? kept : NULL;
}

struct fah_answer *fah_answers_get(const struct fah_answers *a, struct fah_key key)
{
	const uint32_t *index = fah_map_get(&a->known, key);

	return index && *index ? &a->list[*index - 1] : NULL;
}

bool fah_answers_put(struct fah_answers *a, struct fah_key key, const struct fah_answer *answer)
{
	uint32_t *index = fah_map_put(&a->known, key, NULL);

	if (!index)
		return false;
	*index = (uint32_t)(answer - a->list) + 1;
	a->changed = true;
	return true;
}

struct fah_answer *fah_answers_add(struct fah_answers *a, struct fah_key key,
				   const struct fah_answer *answer)
{
	if ((a->n & (a->n - 1)) == 0) {
		struct fah_answer *more = reallocarray(a->list, a->n ? a->n * 2 : 1, sizeof(*more));

		if (!more)
			return NULL;
		a->list = more;
	}
	a->list[a->n] = *answer;
	return fah_answers_put(a, key, &a->list[a->n]) ? &a->list[a->n++] : NULL;
}
