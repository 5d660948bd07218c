/* callgrind_names.c - see callgrind_names.h. */
#include "import/callgrind_names.h"

#include "base/room.h"
#include "core/err.h"
#include "import/callgrind_words.h"

/* f'2 is f, in its second depth of recursion. */
static size_t without_depth(const char *s, size_t len)
{
	size_t at = len;

	while (at && s[at - 1] >= '0' && s[at - 1] <= '9')
		at--;
	return at > 1 && at < len && s[at - 1] == '\'' ? at - 1 : len;
}

static struct fah_cg_text known(struct fah_cg_text file, struct fah_cg_text object)
{
	static const struct fah_cg_text none = {"", 0};

	if (file.s && file.len && !(file.len == 3 && !memcmp(file.s, "???", 3)))
		return file;
	return object.s && object.len && !(object.len == 3 && !memcmp(object.s, "???", 3)) ? object
											   : none;
}

static int make_function(struct fah_cg_names *n, struct fah_cg_text name, struct fah_cg_text file,
			 struct fah_cg_text object, struct fah_cg_who *ret)
{
	struct fah_cg_text where = known(file, object);
	size_t len = without_depth(name.s, name.len);
	int err = fah_exact_function(n->into, where.s, where.len, 0, name.s, len, &ret->function);

	ret->deep = len < name.len;
	for (; err == 0 && n->n_firsts < n->into->n_functions; n->n_firsts++) {
		if (!fah_room(&n->firsts, n->n_firsts, &n->cap_firsts, sizeof(*n->firsts)))
			return FAH_ERR_NOMEM;
		n->firsts[n->n_firsts] = (struct fah_cg_first){0};
	}
	if (err == 0)
		n->firsts[ret->function].recurs |= ret->deep;
	return err;
}

/* "(7) name", "(7)" or "name": *ret_slot is where the number's meaning is kept, NULL without one.
 */
static int parse_name(struct fah_cg_names *n, enum fah_cg_kind kind, const char *s, const char *end,
		      struct fah_cg_text *ret, uint32_t **ret_slot)
{
	uint64_t number;
	const char *p;

	*ret_slot = NULL;
	fah_word_skip(&s, end);
	p = s < end ? s + 1 : s;
	if (s < end && *s == '(' && fah_word_number(&p, end, &number) && p < end && *p == ')') {
		*ret_slot = fah_map_put(&n->by_number, (struct fah_key){number, kind}, NULL);
		if (!*ret_slot)
			return FAH_ERR_NOMEM;
		s = p + 1;
		fah_word_skip(&s, end);
	}
	*ret = (struct fah_cg_text){s, (size_t)(end - s)};
	return 0;
}

int fah_cg_text(struct fah_cg_names *n, enum fah_cg_kind kind, const char *s, const char *end,
		struct fah_cg_text *to)
{
	struct fah_cg_text name;
	uint32_t *slot;
	int err = parse_name(n, kind, s, end, &name, &slot);

	if (err < 0)
		return err;
	if (slot && !name.len) {
		if (!*slot)
			return FAH_ERR_FORMAT;
		*to = n->texts[*slot - 1];
		return 0;
	}
	if (slot) {
		if (!fah_room(&n->texts, n->n_texts, &n->cap_texts, sizeof(*n->texts)))
			return FAH_ERR_NOMEM;
		n->texts[n->n_texts++] = name;
		*slot = (uint32_t)n->n_texts;
	}
	*to = name;
	return 0;
}

int fah_cg_function(struct fah_cg_names *n, const char *s, const char *end, struct fah_cg_text file,
		    struct fah_cg_text object, struct fah_cg_who *to)
{
	struct fah_cg_text name;
	uint32_t *slot;
	int err = parse_name(n, FAH_CG_FUNCTIONS, s, end, &name, &slot);

	if (err < 0)
		return err;
	if (slot && !name.len) {
		if (!*slot)
			return FAH_ERR_FORMAT;
		*to = (struct fah_cg_who){(*slot - 1) / 2, (*slot - 1) % 2};
		return 0;
	}
	err = make_function(n, name, file, object, to);
	if (err == 0 && to->function > FAH_CG_NOBODY / 4)
		err = FAH_ERR_NOMEM;
	if (err == 0 && slot)
		*slot = 2 * to->function + to->deep + 1;
	return err;
}

void fah_cg_names_done(struct fah_cg_names *n)
{
	fah_map_release(&n->by_number);
	free(n->texts);
	free(n->firsts);
}
