/* loops.c - see loops.h. */
#include "cpython/loops.h"

#define HEAD 16u      /* PyObject: count and type */
#define WORDS 5u      /* of an iterator, behind its head, at most */
#define SLOTS_MAX 64u /* of a stack that are looked at */
#define LOCALS_MAX 65536u
#define INSIDE_MAX 3 /* iterators in iterators, generators in generators */
#define TAGS 3u	     /* bits of a place on the stack that are no address, 3.14+ */
#define NUMBER_TAG 3u
#define HASHED_TUPLES 0x030e0000 /* from there on a tuple's hash stands before its items */
#define TAGGED_STACK 0x030e0000
#define INDEXED_LOOPS 0x030f0000 /* lists and tuples are gone through by an index on the stack */

struct finding {
	const struct fah_mem *mem;
	const struct fah_py_layout *l;
	const struct fah_py_iterators *types;
	struct fah_py_loop *ret;
	uint32_t n, max;
};

static bool load(const struct finding *f, uint64_t at, void *to, size_t len)
{
	return fah_load(f->mem, at, to, len) == 0;
}

/* The object at a place on the stack; 0: there is none. */
static uint64_t object_of(const struct finding *f, uint64_t word)
{
	if (f->l->version_hex >= TAGGED_STACK) {
		if ((word & TAGS) > 1) /* a number, or something of the interpreter's own */
			return 0;
		word &= ~(uint64_t)TAGS;
	}
	return word & 7 ? 0 : word;
}

static bool through_sequence(const struct finding *f, uint64_t what, uint64_t sequence,
			     uint64_t index, struct fah_py_loop *ret)
{
	int64_t size;

	if (!sequence || !load(f, sequence + HEAD, &size, sizeof(size)) || size < 0)
		return false;
	*ret = (struct fah_py_loop){what, (int64_t)index, size};
	return true;
}

/* A range's: start, step, turns left. */
static bool through_range(uint64_t it, const uint64_t *words, struct fah_py_loop *ret)
{
	int64_t start = (int64_t)words[0], step = (int64_t)words[1], left = (int64_t)words[2];

	if (left < 0 || left > INT64_MAX / 2)
		return false;
	*ret = (struct fah_py_loop){it, -left, step > 0 && start >= 0 ? start / step + left : 0};
	return true;
}

/* A dict's: dict, how many it had, place, result, turns left. */
static bool through_dict(uint64_t it, const uint64_t *words, struct fah_py_loop *ret)
{
	int64_t used = (int64_t)words[1], left = (int64_t)words[4];

	if (left < 0 || left > INT64_MAX / 2)
		return false;
	*ret = (struct fah_py_loop){it, -left, used > 0 ? used : 0};
	return true;
}

static bool iterator(const struct finding *f, uint64_t it, int inside, struct fah_py_loop *ret);

/* The first of the iterators in a tuple. */
static bool first_of(const struct finding *f, uint64_t tuple, int inside, struct fah_py_loop *ret)
{
	uint64_t at = tuple + HEAD + (f->l->version_hex < HASHED_TUPLES ? 8 : 16), first;
	int64_t size;

	return tuple && load(f, tuple + HEAD, &size, sizeof(size)) && size > 0 &&
	       load(f, at, &first, sizeof(first)) && iterator(f, first, inside, ret);
}

/* inside: how many may yet be in this one. */
static bool iterator(const struct finding *f, uint64_t it, int inside, struct fah_py_loop *ret)
{
	const struct fah_py_iterators *t = f->types;
	uint64_t type, w[WORDS] = {0};

	if (!it || !inside || !load(f, it + f->l->ob_type, &type, sizeof(type)) || !type)
		return false;
	if (type == t->range_iterator)
		return load(f, it + HEAD, w, 3 * sizeof(*w)) && through_range(it, w, ret);
	if (type == t->dict_keys || type == t->dict_values || type == t->dict_items)
		return load(f, it + HEAD, w, 5 * sizeof(*w)) && through_dict(it, w, ret);
	if (type == t->list_iterator || type == t->tuple_iterator)
		return load(f, it + HEAD, w, 2 * sizeof(*w)) &&
		       through_sequence(f, it, w[1], w[0], ret);
	if (type == t->enumerate) /* index, iterator */
		return load(f, it + HEAD, w, 2 * sizeof(*w)) && iterator(f, w[1], inside - 1, ret);
	if (type == t->map) /* tuple of iterators */
		return load(f, it + HEAD, w, sizeof(*w)) && first_of(f, w[0], inside - 1, ret);
	if (type == t->zip) /* how many, tuple of iterators */
		return load(f, it + HEAD, w, 2 * sizeof(*w)) && first_of(f, w[1], inside - 1, ret);
	return false;
}

/* A list or tuple, and the index that stands above it. */
static bool indexed(const struct finding *f, uint64_t object, uint64_t above,
		    struct fah_py_loop *ret)
{
	uint64_t type;

	return (above & TAGS) == NUMBER_TAG && object &&
	       load(f, object + f->l->ob_type, &type, sizeof(type)) && type &&
	       (type == f->types->list || type == f->types->tuple) &&
	       through_sequence(f, object, object, above >> 2, ret);
}

/* A frame's stack: its places, above its variables; how many. */
static uint32_t stack_of(const struct finding *f, uint64_t frame, uint64_t *ret_base)
{
	const struct fah_py_layout *l = f->l;
	uint64_t base = frame + l->f_localsplus, top, code;
	uint32_t locals, room;
	int32_t index;

	if (!load(f, frame + l->f_code, &code, sizeof(code)))
		return 0;
	code &= ~(uint64_t)l->code_tag_mask;
	if (!load(f, code + l->co_nlocalsplus, &locals, sizeof(locals)) ||
	    !load(f, code + l->co_stacksize, &room, sizeof(room)) || locals > LOCALS_MAX ||
	    room > LOCALS_MAX)
		return 0;
	if (l->version_hex >= TAGGED_STACK) {
		if (!load(f, frame + l->f_stack, &top, sizeof(top)))
			return 0;
	} else {
		/* while C code runs for it, it does not say: beyond the top is what was there */
		if (!load(f, frame + l->f_stack, &index, sizeof(index)))
			return 0;
		top = base + 8 * (index < 0 ? (uint64_t)locals + room : (uint64_t)index);
	}
	base += 8 * (uint64_t)locals;
	if (top < base || top > base + 8 * (uint64_t)room)
		return 0;
	*ret_base = base;
	return (top - base) / 8 < SLOTS_MAX ? (uint32_t)((top - base) / 8) : SLOTS_MAX;
}

/* The frame of a generator; 0: it is none. */
static uint64_t generator_of(const struct finding *f, uint64_t object)
{
	uint64_t type;

	if (!object || !f->l->gen_type || !load(f, object + f->l->ob_type, &type, sizeof(type)) ||
	    type != f->l->gen_type)
		return 0;
	return object + f->l->gen_iframe;
}

static void find(struct finding *f, uint64_t frame, int inside)
{
	uint64_t base, words[SLOTS_MAX + 1], object, generator;
	uint32_t n = inside ? stack_of(f, frame, &base) : 0;

	if (!n || !load(f, base, words, n * sizeof(*words)))
		return;
	words[n] = 0;
	for (uint32_t i = 0; i < n && f->n < f->max; i++) {
		object = object_of(f, words[i]);
		if ((f->l->version_hex >= INDEXED_LOOPS &&
		     indexed(f, object, words[i + 1], &f->ret[f->n])) ||
		    iterator(f, object, INSIDE_MAX, &f->ret[f->n]))
			f->n++;
		else if ((generator = generator_of(f, object)))
			find(f, generator, inside - 1);
	}
}

uint32_t fah_py_loops(const struct fah_mem *mem, const struct fah_py_layout *l,
		      const struct fah_py_iterators *types, uint64_t frame, struct fah_py_loop *ret,
		      uint32_t max)
{
	struct finding f = {mem, l, types, ret, 0, max};

	find(&f, frame, INSIDE_MAX);
	return f.n;
}
