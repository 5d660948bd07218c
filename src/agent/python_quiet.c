/*
 * python_quiet.c - see python_quiet.h.
 *
 * A collection comes when more objects were made than freed since the last one, by a threshold. Two
 * things of ours move it: the count, and the free lists, from which an object is taken without
 * being counted. The count stands in the head of the list of young objects, to which the newest one
 * points: no table of offsets, and it is believed only after it has moved by one with an
 * object made and one freed. The free lists are emptied before, by taking from each until the count
 * moves, and filled again after, with what was taken: as many as there were.
 */
#include "agent/python_quiet.h"

#include "agent/agent.h"
#include "agent/pyapi.h"

#define GC_HEAD 16    /* bytes in front of an object */
#define GC_FLAGS 3ul  /* in its pointers */
#define TUPLES 20     /* longest tuple with a free list, or longer */
#define KEPT 256      /* most that a free list of another kind has */
#define FRAME_REFS 24 /* in a frame of 3.8 to 3.10: five objects, one behind the other */
#define FRAME_REFS_END 64

/* struct gc_generation, the same since 3.8 */
struct generation {
	uintptr_t next, prev;
	int threshold, count;
};

static struct {
	fah_object *(*set_new)(fah_object *);
	fah_object *(*slice_new)(fah_object *, fah_object *, fah_object *);
	fah_object *(*method_new)(fah_object *, fah_object *);
	fah_object *(*iter)(fah_object *);
	fah_object *(*code_new)(const char *, const char *, int);
	fah_object *(*frame_new)(void *, fah_object *, fah_object *, fah_object *);
	void (*gc_del)(void *);
	void *(*first_thread)(void *);
	void *(*next_thread)(void *);
	int (*gc_disable)(void), (*gc_enable)(void); /* since 3.10 */
} api;

static struct generation *young; /* the main interpreter's */
static int count_before, threshold_before, enabled_before;
static bool is_quiet;

/* Objects that others are made of; whether they came from a free list. */
static fah_object *a_list, *a_dict, *a_code, *no_items;
static bool list_was_free, dict_was_free;

static void *global(const char *name)
{
	return fah_global(name);
}

static bool load(void)
{
	static enum { ASK, YES, NO } known;

	if (known != ASK)
		return known == YES;
	*(void **)&api.set_new = global("PySet_New");
	*(void **)&api.slice_new = global("PySlice_New");
	*(void **)&api.method_new = global("PyMethod_New");
	*(void **)&api.iter = global("PyObject_GetIter");
	*(void **)&api.code_new = global("PyCode_NewEmpty");
	*(void **)&api.frame_new = global("PyFrame_New");
	*(void **)&api.gc_del = global("PyObject_GC_Del");
	*(void **)&api.first_thread = global("PyInterpreterState_ThreadHead");
	*(void **)&api.next_thread = global("PyThreadState_Next");
	*(void **)&api.gc_disable = global("PyGC_Disable");
	*(void **)&api.gc_enable = global("PyGC_Enable");
	known = api.set_new && api.slice_new && api.method_new && api.iter && api.code_new &&
				api.frame_new && api.gc_del && api.first_thread && api.next_thread
			? YES
			: NO;
	return known == YES;
}

static bool is_alone(void)
{
	void *first = api.first_thread(fah_py.interpreter());

	return first && !api.next_thread(first);
}

static struct generation *head_of(const fah_object *o)
{
	return (struct generation *)(*(const uintptr_t *)((uintptr_t)o - GC_HEAD) & ~GC_FLAGS);
}

/* The newest object of all leads to the head of its list. */
static struct generation *find_young(void)
{
	fah_object *newest = fah_py.tuple_new(1);
	struct generation *g = newest ? head_of(newest) : NULL, copy;

	if (g && (fah_load(&fah_mem_self, (uint64_t)(uintptr_t)g, &copy, sizeof(copy)) < 0 ||
		  (copy.prev & ~GC_FLAGS) != (uintptr_t)newest - GC_HEAD))
		g = NULL;
	fah_py_drop(newest);
	return g;
}

/* Sets have no free list. */
static bool counts(const struct generation *g)
{
	for (int i = 0; i < 3; i++) {
		int before = g->count;
		fah_object *set = api.set_new(NULL);
		bool counted = set && g->count == before + 1 && head_of(set) == g;

		fah_py_drop(set);
		if (!counted || g->count != before)
			return false;
	}
	return true;
}

static fah_object *make_list(void)
{
	return fah_py.list_new(0);
}

static fah_object *make_dict(void)
{
	return fah_py.dict_new();
}

static fah_object *make_slice(void)
{
	return api.slice_new(NULL, NULL, NULL);
}

static fah_object *make_method(void)
{
	return api.method_new(fah_py.none, fah_py.none);
}

static fah_object *make_function(void)
{
	static struct fah_method_def def = {"f", NULL, FAH_METH_NOARGS, NULL};

	return fah_py.new_function(&def, NULL, NULL);
}

static fah_object *make_list_iter(void)
{
	return api.iter(a_list);
}

static fah_object *make_tuple_iter(void)
{
	return api.iter(no_items);
}

static fah_object *make_frame(void)
{
	if (fah_agent.python_version >= 0x030b0000)
		return NULL; /* no free list, and another layout */
	return api.frame_new(fah_py.thread(), a_code, a_dict, NULL);
}

/* Every kind that had a free list in any version; where it has none the first one made is counted.
 * Not here: what our text never makes (contexts, asynchronous generators). */
static struct kind {
	fah_object *(*make)(void);
	fah_object **refers; /* to this, so many times */
	int times;
	int n; /* were free */
	fah_object *kept[KEPT];
} kinds[] = {
	{make_frame, NULL, 0, 0, {NULL}},	   {make_list, NULL, 0, 0, {NULL}},
	{make_dict, NULL, 0, 0, {NULL}},	   {make_slice, &fah_py.none, 3, 0, {NULL}},
	{make_method, &fah_py.none, 2, 0, {NULL}}, {make_function, NULL, 0, 0, {NULL}},
	{make_list_iter, &a_list, 1, 0, {NULL}},   {make_tuple_iter, &no_items, 1, 0, {NULL}},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
static fah_object *tuples[TUPLES]; /* of each length: each has the next one inside */
static fah_object *a_frame;	   /* the one that its code keeps */

/* Not to a free list. Of its references the caller takes care. */
static void destroy(fah_object *o)
{
	fah_py.untrack(o);
	api.gc_del(o);
}

static void destroy_of(const struct kind *k, fah_object *o)
{
	fah_object *refs[(FRAME_REFS_END - FRAME_REFS) / 8];
	size_t n = 0;

	for (size_t at = FRAME_REFS; k->make == make_frame && at < FRAME_REFS_END; at += 8)
		refs[n++] = fah_py_word(o, at);
	destroy(o);
	while (n)
		fah_py_drop(refs[--n]);
	for (int i = 0; i < k->times; i++)
		fah_py.decref(*k->refers);
}

/* One more of what make() makes from a free list; NULL: there is none left. *ret_new: the one that
 * was made instead. */
static fah_object *take(fah_object *(*make)(void), fah_object **ret_new)
{
	int before = young->count;
	fah_object *o = make();

	*ret_new = NULL;
	if (!o)
		fah_py.err_clear();
	if (!o || young->count == before)
		return o;
	*ret_new = o;
	return NULL;
}

static void empty_kind(struct kind *k)
{
	fah_object *o, *other;

	for (k->n = 0; k->n < KEPT && (o = take(k->make, &other)); k->n++)
		k->kept[k->n] = o;
	if (k->n == KEPT)
		return;
	if (k->make == make_frame)
		a_frame = other;
	else if (other)
		destroy_of(k, other);
}

/* As it was: what came to it since goes, what was taken comes. */
static void refill_kind(struct kind *k)
{
	fah_object *o, *other;

	while ((o = take(k->make, &other)))
		destroy_of(k, o);
	if (other)
		destroy_of(k, other);
	if (k->make == make_frame) {
		fah_py_drop(a_frame);
		a_frame = NULL;
	}
	while (k->n)
		fah_py.decref(k->kept[--k->n]);
}

static ptrdiff_t length; /* of those that make_tuple makes */

static fah_object *make_tuple(void)
{
	return fah_py.tuple_new(length);
}

static void empty_tuples(void)
{
	fah_object *o, *other;

	for (length = 1; length <= TUPLES; length++) {
		fah_object **all = &tuples[length - 1];

		while ((o = take(make_tuple, &other))) {
			if (*all)
				fah_py.tuple_set(o, 0, *all);
			*all = o;
		}
		if (other)
			destroy(other);
	}
}

static void refill_tuples(void)
{
	fah_object *o, *other;

	for (length = 1; length <= TUPLES; length++) {
		fah_object **all = &tuples[length - 1];

		while ((o = take(make_tuple, &other)))
			destroy(o);
		if (other)
			destroy(other);
		while ((o = *all)) {
			*all = fah_py.tuple_get(o, 0);
			if (*all)
				fah_py.incref(*all);
			fah_py.decref(o);
		}
	}
}

static fah_object *make_part(fah_object *(*make)(void), bool *ret_was_free)
{
	fah_object *other, *o = take(make, &other);

	*ret_was_free = o != NULL;
	return o ? o : other;
}

static void drop_part(fah_object **part, bool was_free)
{
	if (*part && was_free)
		fah_py.decref(*part);
	else if (*part)
		destroy(*part);
	*part = NULL;
}

static void drop_parts(void)
{
	fah_py_drop(a_code);
	fah_py_drop(no_items);
	a_code = no_items = NULL;
	if (a_dict)
		fah_py.dict_clear(a_dict);
	drop_part(&a_dict, dict_was_free);
	drop_part(&a_list, list_was_free);
}

static bool make_parts(void)
{
	a_list = make_part(make_list, &list_was_free);
	a_dict = make_part(make_dict, &dict_was_free);
	a_code = api.code_new("", "", 0);
	no_items = fah_py.tuple_new(0);
	if (a_list && a_dict && a_code && no_items &&
	    fah_py.dict_set_text(a_dict, "__builtins__", fah_py.builtins()) == 0)
		return true;
	fah_py.err_clear();
	drop_parts();
	return false;
}

static void collector_off(void)
{
	if (api.gc_disable)
		enabled_before = api.gc_disable();
}

static void collector_on(void)
{
	if (api.gc_disable && enabled_before)
		api.gc_enable();
}

bool fah_quiet_begin(void)
{
	static enum { ASK, YES, NO } known;

	if (is_quiet || !load() || known == NO || !is_alone())
		return false;
	collector_off();
	if (known == ASK) {
		young = find_young();
		known = young && counts(young) ? YES : NO;
	}
	if (known == YES) {
		count_before = young->count;
		threshold_before = young->threshold;
		if (!api.gc_disable)
			young->threshold = 0; /* it is the other way to switch it off */
		if (make_parts()) {
			for (size_t i = 0; i < KINDS; i++)
				empty_kind(&kinds[i]);
			empty_tuples();
			is_quiet = true;
			return true;
		}
		young->threshold = threshold_before;
		young->count = count_before;
	}
	collector_on();
	return false;
}

void fah_quiet_end(void)
{
	fah_object *type, *value, *trace;

	fah_py.err_fetch(&type, &value, &trace); /* the program's, perhaps */
	refill_tuples();
	for (size_t i = 0; i < KINDS; i++)
		refill_kind(&kinds[i]);
	drop_parts();
	young->threshold = threshold_before;
	young->count = count_before;
	fah_py.err_restore(type, value, trace);
	is_quiet = false;
	collector_on();
}
