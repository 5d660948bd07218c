/* pickle.c - see pickle.h. A stack machine, as pickle is one; each opcode makes one value at most.
 */
#include "import/pickle.h"

#include "base/room.h"
#include "core/err.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct machine {
	struct fah_arena *arena;
	const uint8_t *p, *end;
	struct fah_pickle **stack, **memo;
	size_t n, cap, n_memo, cap_memo;
	size_t *marks;
	size_t n_marks, cap_marks;
	int err;
};

static uint64_t little(struct machine *m, size_t bytes)
{
	uint64_t v = 0;

	if ((size_t)(m->end - m->p) < bytes) {
		m->err = FAH_ERR_FORMAT;
		return 0;
	}
	for (size_t i = 0; i < bytes; i++)
		v |= (uint64_t)m->p[i] << 8 * i;
	m->p += bytes;
	return v;
}

static const uint8_t *take(struct machine *m, uint64_t n)
{
	const uint8_t *p = m->p;

	if (n > (uint64_t)(m->end - m->p)) {
		m->err = FAH_ERR_FORMAT;
		return NULL;
	}
	m->p += n;
	return p;
}

static struct fah_pickle *push(struct machine *m, enum fah_pickle_kind kind)
{
	struct fah_pickle *v = m->err ? NULL : fah_arena_alloc(m->arena, sizeof(*v));

	if (!v || !fah_room(&m->stack, m->n, &m->cap, sizeof(*m->stack))) {
		m->err = m->err ? m->err : FAH_ERR_NOMEM;
		return NULL;
	}
	v->kind = kind;
	m->stack[m->n++] = v;
	return v;
}

/* What lies above the last mark stays under it. */
static struct fah_pickle *pop(struct machine *m)
{
	if (m->err || !m->n || (m->n_marks && m->marks[m->n_marks - 1] == m->n)) {
		m->err = m->err ? m->err : FAH_ERR_FORMAT;
		return NULL;
	}
	return m->stack[--m->n];
}

static struct fah_pickle *top(struct machine *m, enum fah_pickle_kind kind)
{
	struct fah_pickle *v = pop(m);

	if (v)
		m->n++;
	if (v && v->kind != kind)
		m->err = FAH_ERR_FORMAT;
	return m->err ? NULL : v;
}

static void mark(struct machine *m)
{
	if (!fah_room(&m->marks, m->n_marks, &m->cap_marks, sizeof(*m->marks))) {
		m->err = FAH_ERR_NOMEM;
		return;
	}
	m->marks[m->n_marks++] = m->n;
}

/* What stands above the last mark, which goes: how many, from *ret on. */
static size_t pop_mark(struct machine *m, struct fah_pickle ***ret)
{
	size_t from;

	*ret = NULL;
	if (!m->n_marks || m->err) {
		m->err = m->err ? m->err : FAH_ERR_FORMAT;
		return 0;
	}
	from = m->marks[--m->n_marks];
	if (from > m->n) {
		m->err = FAH_ERR_FORMAT;
		return 0;
	}
	if (from < m->n)
		*ret = m->stack + from;
	from = m->n - from;
	m->n -= from;
	return from;
}

static void add(struct machine *m, struct fah_pickle *to, struct fah_pickle *const *items, size_t n)
{
	struct fah_pickle **grown;
	size_t cap = to->cap ? to->cap : 4;

	if (!n)
		return;
	if (to->n + n > to->cap) {
		while (cap < to->n + n)
			cap *= 2;
		grown = fah_arena_array(m->arena, cap, sizeof(struct fah_pickle *));
		if (!grown) {
			m->err = FAH_ERR_NOMEM;
			return;
		}
		if (to->n)
			memcpy(grown, to->items, to->n * sizeof(struct fah_pickle *));
		to->items = grown;
		to->cap = cap;
	}
	memcpy(to->items + to->n, items, n * sizeof(struct fah_pickle *));
	to->n += n;
}

/* The last n of the stack, or (n negative) all above the mark, as a new value. */
static void collect(struct machine *m, enum fah_pickle_kind kind, int n)
{
	struct fah_pickle *kept[3], **items = kept, *made;
	size_t count = n < 0 ? pop_mark(m, &items) : (size_t)n;

	for (int i = n - 1; i >= 0; i--)
		kept[i] = pop(m);
	if (m->err || (kind == FAH_PICKLE_DICT && count % 2)) {
		m->err = m->err ? m->err : FAH_ERR_FORMAT;
		return;
	}
	/* a new value takes the place of the first of them: added before it is pushed */
	made = fah_arena_alloc(m->arena, sizeof(*made));
	if (!made) {
		m->err = FAH_ERR_NOMEM;
		return;
	}
	made->kind = kind;
	add(m, made, items, count);
	if (!fah_room(&m->stack, m->n, &m->cap, sizeof(*m->stack)))
		m->err = FAH_ERR_NOMEM;
	else
		m->stack[m->n++] = made;
}

/* Items above the mark, or the last n, into the list or dictionary below. */
static void extend(struct machine *m, enum fah_pickle_kind kind, int n)
{
	struct fah_pickle *kept[2], **items = kept, *to;
	size_t count = n < 0 ? pop_mark(m, &items) : (size_t)n;

	for (int i = n - 1; i >= 0; i--)
		kept[i] = pop(m);
	to = m->err ? NULL : top(m, kind);
	if (!to || (kind == FAH_PICKLE_DICT && count % 2))
		m->err = m->err ? m->err : FAH_ERR_FORMAT;
	else
		add(m, to, items, count);
}

static void text(struct machine *m, uint64_t len)
{
	const uint8_t *p = take(m, len);
	struct fah_pickle *v = push(m, FAH_PICKLE_TEXT);

	if (v) {
		v->text = (const char *)p;
		v->len = (size_t)len;
	}
}

static void number(struct machine *m, int64_t value)
{
	struct fah_pickle *v = push(m, FAH_PICKLE_INT);

	if (v) {
		v->number = value;
		v->real = (double)value;
	}
}

/* Two's complement of any length, the low byte first. */
static void long_number(struct machine *m, uint64_t len)
{
	const uint8_t *p = take(m, len);
	bool negative = p && len && p[len - 1] & 0x80;
	uint64_t low = negative ? UINT64_MAX : 0;
	double real = 0;
	struct fah_pickle *v;

	if (!p)
		return;
	/* bytes that only repeat the sign */
	while (len > 8 && p[len - 1] == (negative ? 0xff : 0) &&
	       !((p[len - 2] ^ p[len - 1]) & 0x80))
		len--;
	for (uint64_t i = len; i-- > 0;) {
		low = low << 8 | p[i];
		real = real * 256 + (negative ? (uint8_t)~p[i] : p[i]);
	}
	if (len <= 8) {
		number(m, (int64_t)low);
		return;
	}
	v = push(m, FAH_PICKLE_FLOAT);
	if (v)
		v->real = negative ? -real - 1 : real;
}

static void real_number(struct machine *m)
{
	uint64_t bits = __builtin_bswap64(little(m, 8));
	struct fah_pickle *v = push(m, FAH_PICKLE_FLOAT);

	if (v)
		memcpy(&v->real, &bits, sizeof(v->real));
}

static void class_of(struct machine *m, const char *module, size_t module_len, const char *name,
		     size_t len)
{
	struct fah_pickle *v = push(m, FAH_PICKLE_CLASS);

	if (!v)
		return;
	v->module = module;
	v->module_len = module_len;
	v->text = name;
	v->len = len;
}

/* Two lines: module and name. */
static void global(struct machine *m)
{
	const char *line[2];
	size_t len[2];

	for (int i = 0; i < 2; i++) {
		const uint8_t *end = memchr(m->p, '\n', (size_t)(m->end - m->p));

		if (!end) {
			m->err = FAH_ERR_FORMAT;
			return;
		}
		line[i] = (const char *)m->p;
		len[i] = (size_t)(end - m->p);
		m->p = end + 1;
	}
	class_of(m, line[0], len[0], line[1], len[1]);
}

static void stack_global(struct machine *m)
{
	const struct fah_pickle *name = pop(m), *module = pop(m);

	if (m->err || name->kind != FAH_PICKLE_TEXT || module->kind != FAH_PICKLE_TEXT) {
		m->err = m->err ? m->err : FAH_ERR_FORMAT;
		return;
	}
	class_of(m, module->text, module->len, name->text, name->len);
}

/* class.__new__(class, *arguments): only the class is kept. */
static void object(struct machine *m, int arguments)
{
	struct fah_pickle *class = NULL, *made;

	for (int i = 0; i < arguments; i++)
		pop(m);
	class = pop(m);
	if (class && class->kind != FAH_PICKLE_CLASS)
		m->err = FAH_ERR_FORMAT;
	made = push(m, FAH_PICKLE_OBJECT);
	if (made)
		made->of = class;
}

static void build(struct machine *m)
{
	struct fah_pickle *state = pop(m), *made = top(m, FAH_PICKLE_OBJECT);

	if (made)
		made->state = state;
}

static void put(struct machine *m, uint64_t at)
{
	struct fah_pickle *v = pop(m);

	if (m->err || at > (uint64_t)SIZE_MAX / 16 || at > m->n_memo + (1u << 20)) {
		m->err = m->err ? m->err : FAH_ERR_FORMAT;
		return;
	}
	m->n++;
	while (m->n_memo <= at) {
		if (!fah_room(&m->memo, m->n_memo, &m->cap_memo, sizeof(*m->memo))) {
			m->err = FAH_ERR_NOMEM;
			return;
		}
		m->memo[m->n_memo++] = NULL;
	}
	m->memo[at] = v;
}

static void get(struct machine *m, uint64_t at)
{
	if (m->err || at >= m->n_memo || !m->memo[at] ||
	    !fah_room(&m->stack, m->n, &m->cap, sizeof(*m->stack)))
		m->err = m->err ? m->err : FAH_ERR_FORMAT;
	else
		m->stack[m->n++] = m->memo[at];
}

static void drop_mark(struct machine *m)
{
	struct fah_pickle **items;

	pop_mark(m, &items);
}

/* False: it was the last, or unknown. */
static bool step(struct machine *m)
{
	uint8_t op = (uint8_t)little(m, 1);

	if (m->err)
		return false;
	switch (op) {
	case 0x80: /* PROTO */
		if (little(m, 1) > 5)
			m->err = FAH_ERR_FORMAT;
		break;
	case 0x95: /* FRAME */
		little(m, 8);
		break;
	case '(':
		mark(m);
		break;
	case '.': /* STOP */
		return false;
	case '0':
		pop(m);
		break;
	case '1':
		drop_mark(m);
		break;
	case 'N':
		push(m, FAH_PICKLE_NONE);
		break;
	case 0x88: /* NEWTRUE, NEWFALSE */
	case 0x89:
		number(m, op == 0x88);
		break;
	case 'J':
		number(m, (int32_t)(uint32_t)little(m, 4));
		break;
	case 'K':
		number(m, (int64_t)little(m, 1));
		break;
	case 'M':
		number(m, (int64_t)little(m, 2));
		break;
	case 0x8a: /* LONG1, LONG4 */
	case 0x8b:
		long_number(m, little(m, op == 0x8a ? 1 : 4));
		break;
	case 'G':
		real_number(m);
		break;
	case 0x8c: /* SHORT_BINUNICODE, SHORT_BINBYTES, SHORT_BINSTRING */
	case 'C':
	case 'U':
		text(m, little(m, 1));
		break;
	case 'X': /* BINUNICODE, BINBYTES, BINSTRING */
	case 'B':
	case 'T':
		text(m, little(m, 4));
		break;
	case 0x8d: /* BINUNICODE8, BINBYTES8 */
	case 0x8e:
		text(m, little(m, 8));
		break;
	case ')':
		collect(m, FAH_PICKLE_TUPLE, 0);
		break;
	case 0x85: /* TUPLE1, 2, 3 */
	case 0x86:
	case 0x87:
		collect(m, FAH_PICKLE_TUPLE, op - 0x84);
		break;
	case 't':
		collect(m, FAH_PICKLE_TUPLE, -1);
		break;
	case ']':
		collect(m, FAH_PICKLE_LIST, 0);
		break;
	case 'l':
		collect(m, FAH_PICKLE_LIST, -1);
		break;
	case '}':
		collect(m, FAH_PICKLE_DICT, 0);
		break;
	case 'd':
		collect(m, FAH_PICKLE_DICT, -1);
		break;
	case 'a':
		extend(m, FAH_PICKLE_LIST, 1);
		break;
	case 'e':
		extend(m, FAH_PICKLE_LIST, -1);
		break;
	case 's':
		extend(m, FAH_PICKLE_DICT, 2);
		break;
	case 'u':
		extend(m, FAH_PICKLE_DICT, -1);
		break;
	case 'c':
		global(m);
		break;
	case 0x93:
		stack_global(m);
		break;
	case 0x81: /* NEWOBJ, NEWOBJ_EX */
	case 0x92:
		object(m, op == 0x81 ? 1 : 2);
		break;
	case 'b':
		build(m);
		break;
	case 'q':
		put(m, little(m, 1));
		break;
	case 'r':
		put(m, little(m, 4));
		break;
	case 0x94: /* MEMOIZE */
		put(m, m->n_memo);
		break;
	case 'h':
		get(m, little(m, 1));
		break;
	case 'j':
		get(m, little(m, 4));
		break;
	default: /* REDUCE and all else that would run something */
		m->err = FAH_ERR_FORMAT;
	}
	return m->err == 0;
}

int fah_pickle_read(struct fah_arena *arena, const uint8_t *data, size_t len,
		    const struct fah_pickle **ret)
{
	struct machine m = {.arena = arena, .p = data, .end = data + len};

	if (len < 2 || data[0] != 0x80 || data[1] < 2)
		return FAH_ERR_FORMAT;
	while (step(&m))
		;
	if (!m.err && m.n != 1)
		m.err = FAH_ERR_FORMAT;
	if (!m.err)
		*ret = m.stack[0];
	free(m.stack);
	free(m.memo);
	free(m.marks);
	return m.err;
}

const struct fah_pickle *fah_pickle_get(const struct fah_pickle *dict, const char *key)
{
	const struct fah_pickle *found = NULL;

	if (!dict || dict->kind != FAH_PICKLE_DICT)
		return NULL;
	for (size_t i = 0; i + 1 < dict->n; i += 2) {
		const struct fah_pickle *k = dict->items[i];

		if (k->kind == FAH_PICKLE_TEXT && k->len == strlen(key) &&
		    !memcmp(k->text, key, k->len))
			found = dict->items[i + 1];
	}
	return found;
}

double fah_pickle_number(const struct fah_pickle *v)
{
	return v && (v->kind == FAH_PICKLE_INT || v->kind == FAH_PICKLE_FLOAT) ? v->real : 0;
}
