/*
 * marshal.c - see marshal.h.
 *
 * A value is a type byte and what belongs to it. The type's high bit says that the value may be
 * referred to later, by its number among those that have the bit: a container gets its number
 * before what is in it. A reference to a container that is not complete yet would make a cycle,
 * which no profile has, and is refused.
 */
#include "import/marshal.h"

#include "base/room.h"
#include "core/err.h"
#include "import/marshal_bytes.h"

#include <stdbool.h>
#include <string.h>

#define FLAG_REF 0x80
#define DIGIT_BITS 15
#define FLOAT_TEXT_MAX 256

struct values {
	const struct fah_marshal **p; /* from malloc */
	size_t n, cap;
};

struct marshal {
	struct fah_arena *arena;
	struct fah_marshal_bytes in;
	struct values refs;  /* NULL: not complete */
	struct values stack; /* what is in the containers that are not complete */
	int depth;
};

static bool push(struct marshal *m, struct values *to, const struct fah_marshal *v)
{
	if (!fah_room(&to->p, to->n, &to->cap, sizeof(*to->p))) {
		m->in.err = FAH_ERR_NOMEM;
		return false;
	}
	to->p[to->n++] = v;
	return true;
}

static int read_text(struct marshal *m, struct fah_marshal *v, size_t len,
		     enum fah_marshal_type type)
{
	const unsigned char *p = fah_marshal_take(&m->in, len);

	if (!p)
		return m->in.err;
	v->type = type;
	v->text.p = (const char *)p;
	v->text.len = len;
	return 0;
}

/* Digits of 15 bits each, the lowest first; the sign is that of their number. */
static int read_long(struct marshal *m, struct fah_marshal *v)
{
	const unsigned char *p;
	uint64_t low = 0;
	double about = 0, weight = 1;
	bool fits = true;
	int32_t n;
	size_t count;

	if (!fah_marshal_take_i32(&m->in, &n))
		return m->in.err;
	count = n < 0 ? (size_t) - (int64_t)n : (size_t)n;
	p = fah_marshal_take(&m->in, 2 * count);
	if (!p)
		return m->in.err;
	for (size_t i = 0; i < count; i++) {
		uint32_t digit = (uint32_t)p[2 * i] | (uint32_t)p[2 * i + 1] << 8;

		if (digit >> DIGIT_BITS)
			return fah_marshal_fail(&m->in, FAH_ERR_FORMAT);
		about += digit * weight;
		weight *= 1 << DIGIT_BITS;
		if (i < 5)
			low |= (uint64_t)digit << DIGIT_BITS * i;
		fits &= i < 4 || (i == 4 ? digit < 8 : !digit); /* 63 bits */
	}
	v->type = fits ? FAH_MARSHAL_INTEGER : FAH_MARSHAL_HUGE;
	if (fits)
		v->integer = n < 0 ? -(int64_t)low : (int64_t)low;
	else
		v->number = n < 0 ? -about : about;
	return 0;
}

static int read_float_text(struct marshal *m, struct fah_marshal *v)
{
	char text[FLOAT_TEXT_MAX], *end;
	const unsigned char *p;
	uint32_t len;

	if (!fah_marshal_take_u8(&m->in, &len))
		return m->in.err;
	p = fah_marshal_take(&m->in, len);
	if (!p)
		return m->in.err;
	memcpy(text, p, len);
	text[len] = '\0';
	v->type = FAH_MARSHAL_NUMBER;
	v->number = strtod(text, &end);
	return end == text || *end ? fah_marshal_fail(&m->in, FAH_ERR_FORMAT) : 0;
}

static int read_float(struct marshal *m, struct fah_marshal *v)
{
	uint64_t bits;

	if (!fah_marshal_take_u64(&m->in, &bits))
		return m->in.err;
	v->type = FAH_MARSHAL_NUMBER;
	memcpy(&v->number, &bits, sizeof(bits));
	return 0;
}

static const struct fah_marshal *read_value(struct marshal *m);

/* What lies on the stack from first on becomes the container's. */
static int close_items(struct marshal *m, struct fah_marshal *v, enum fah_marshal_type type,
		       size_t first)
{
	size_t n = m->stack.n - first;

	v->type = type;
	v->items.n = n;
	v->items.p = fah_arena_array(m->arena, n, sizeof(*v->items.p));
	if (!v->items.p)
		return fah_marshal_fail(&m->in, FAH_ERR_NOMEM);
	if (n)
		memcpy(v->items.p, m->stack.p + first, n * sizeof(*v->items.p));
	m->stack.n = first;
	return 0;
}

static int read_items(struct marshal *m, struct fah_marshal *v, size_t n)
{
	size_t first = m->stack.n;

	for (size_t i = 0; i < n; i++) {
		const struct fah_marshal *item = read_value(m);

		if (!item || !push(m, &m->stack, item))
			return m->in.err;
	}
	return close_items(m, v, FAH_MARSHAL_ITEMS, first);
}

static int read_dict(struct marshal *m, struct fah_marshal *v)
{
	size_t first = m->stack.n;

	for (;;) {
		const struct fah_marshal *key, *value;

		if (m->in.p < m->in.end && *m->in.p == '0') { /* the end */
			m->in.p++;
			return close_items(m, v, FAH_MARSHAL_DICT, first);
		}
		key = read_value(m);
		value = key ? read_value(m) : NULL;
		if (!value || !push(m, &m->stack, key) || !push(m, &m->stack, value))
			return m->in.err;
	}
}

/*
 * Of a code object: numbers, then values, among which is first the bytecode. 3.8 to 3.10 have six
 * numbers and six values before file and name, 3.11 and later five and five, and the qualified name
 * behind.
 */
static int read_code(struct marshal *m, struct fah_marshal *v)
{
	bool old;
	int before, behind;

	if (!fah_marshal_take(&m->in, 20))
		return m->in.err;
	if (m->in.end - m->in.p < 5)
		return fah_marshal_fail(&m->in, FAH_ERR_DAMAGED);
	old = (m->in.p[0] & ~FLAG_REF) != 's' && m->in.p[0] != 'r';
	before = old ? 6 : 5;
	behind = old ? 1 : 2;
	if (old && !fah_marshal_take(&m->in, 4))
		return m->in.err;
	for (int i = 0; i < before; i++)
		if (!read_value(m))
			return m->in.err;
	v->code.file = read_value(m);
	v->code.name = v->code.file ? read_value(m) : NULL;
	if (!v->code.name || (!old && !read_value(m)) ||
	    !fah_marshal_take_i32(&m->in, &v->code.line))
		return m->in.err;
	for (int i = 0; i < behind; i++)
		if (!read_value(m))
			return m->in.err;
	v->type = FAH_MARSHAL_CODE;
	return v->code.file->type == FAH_MARSHAL_TEXT && v->code.name->type == FAH_MARSHAL_TEXT
		       ? 0
		       : fah_marshal_fail(&m->in, FAH_ERR_FORMAT);
}

/* Constants of code that nobody asks for. */
static int skip_values(struct marshal *m, struct fah_marshal *v, int values, size_t bytes)
{
	if (!fah_marshal_take(&m->in, bytes))
		return m->in.err;
	for (int i = 0; i < values; i++)
		if (!read_value(m))
			return m->in.err;
	v->type = FAH_MARSHAL_NOTHING;
	return 0;
}

static int read_type(struct marshal *m, struct fah_marshal *v, uint32_t type)
{
	size_t n;
	uint64_t bits;
	int32_t i32;
	uint32_t u8;

	switch (type) {
	case 'N': /* None */
	case '.': /* Ellipsis */
	case 'S': /* StopIteration */
		v->type = FAH_MARSHAL_NOTHING;
		return 0;
	case 'F':
	case 'T':
		v->type = FAH_MARSHAL_BOOL;
		v->integer = type == 'T';
		return 0;
	case 'i':
		if (!fah_marshal_take_i32(&m->in, &i32))
			return m->in.err;
		v->type = FAH_MARSHAL_INTEGER;
		v->integer = i32;
		return 0;
	case 'I': /* of 64 bits; no longer written, but read by all */
		if (!fah_marshal_take_u64(&m->in, &bits))
			return m->in.err;
		v->type = FAH_MARSHAL_INTEGER;
		v->integer = (int64_t)bits;
		return 0;
	case 'l':
		return read_long(m, v);
	case 'f':
		return read_float_text(m, v);
	case 'g':
		return read_float(m, v);
	case 'u': /* UTF-8 */
	case 't': /* interned */
	case 'a': /* ASCII */
	case 'A': /* interned */
		return fah_marshal_take_length(&m->in, &n) ? read_text(m, v, n, FAH_MARSHAL_TEXT)
							   : m->in.err;
	case 'z': /* ASCII, short */
	case 'Z': /* interned */
		return fah_marshal_take_u8(&m->in, &u8) ? read_text(m, v, u8, FAH_MARSHAL_TEXT)
							: m->in.err;
	case 's':
		return fah_marshal_take_length(&m->in, &n) ? read_text(m, v, n, FAH_MARSHAL_BYTES)
							   : m->in.err;
	case ')': /* a short tuple */
		return fah_marshal_take_u8(&m->in, &u8) ? read_items(m, v, u8) : m->in.err;
	case '(': /* tuple */
	case '[': /* list */
	case '<': /* set */
	case '>': /* frozenset */
		return fah_marshal_take_length(&m->in, &n) ? read_items(m, v, n) : m->in.err;
	case 'c':
		return read_code(m, v);
	case 'y': /* complex */
		return skip_values(m, v, 0, 16);
	case ':': /* slice, from 3.14 on */
		return skip_values(m, v, 3, 0);
	case '{':
	case '}': /* frozendict, of 3.15 */
		return read_dict(m, v);
	default:
		return fah_marshal_fail(&m->in, FAH_ERR_FORMAT);
	}
}

static const struct fah_marshal *read_ref(struct marshal *m)
{
	int32_t i;

	if (!fah_marshal_take_i32(&m->in, &i))
		return NULL;
	if (i < 0 || (size_t)i >= m->refs.n || !m->refs.p[i]) {
		m->in.err = FAH_ERR_FORMAT;
		return NULL;
	}
	return m->refs.p[i];
}

/* NULL: m->in.err says why. */
static const struct fah_marshal *read_value(struct marshal *m)
{
	struct fah_marshal *v;
	size_t number = m->refs.n;
	uint32_t type;
	int err;

	if (!fah_marshal_take_u8(&m->in, &type))
		return NULL;
	if (type == 'r')
		return read_ref(m);
	if (m->depth == FAH_MARSHAL_DEPTH_MAX) {
		m->in.err = FAH_ERR_RANGE;
		return NULL;
	}
	if (type & FLAG_REF && !push(m, &m->refs, NULL))
		return NULL;
	v = fah_arena_alloc(m->arena, sizeof(*v));
	if (!v) {
		m->in.err = FAH_ERR_NOMEM;
		return NULL;
	}
	m->depth++;
	err = read_type(m, v, type & ~(uint32_t)FLAG_REF);
	m->depth--;
	if (err < 0)
		return NULL;
	if (type & FLAG_REF)
		m->refs.p[number] = v;
	return v;
}

int fah_marshal_read(struct fah_arena *arena, const void *data, size_t len,
		     const struct fah_marshal **ret)
{
	struct marshal m = {.arena = arena, .in = {.p = data}};
	const struct fah_marshal *v;

	if (!len)
		return FAH_ERR_DAMAGED;
	m.in.end = m.in.p + len;
	v = read_value(&m);
	free(m.refs.p);
	free(m.stack.p);
	if (!v)
		return m.in.err;
	*ret = v;
	return 0;
}
