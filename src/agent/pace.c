/*
 * pace.c - see pace.h.
 *
 * Interpreters need more of a core's tables (of branches, of decoded instructions) than small loops
 * do. Where another thread shares the core, theirs and our code take 1.7 times as long, for tenths
 * of a second, while such loops run on as before; a core may also be clocked up and down. What was
 * measured at the start is then wrong by as much. So every few milliseconds the same piece of the
 * interpreter's own work is timed. It makes numbers and strings and drops them: nothing that the
 * garbage collector counts, nothing that runs code of the program's.
 */
#include "agent/pace.h"

#include "agent/event_clock.h"
#include "agent/pyapi.h"

#define TIMES 4
#define STRAY 8	     /* times what it was: an interrupt came between */
#define SLOWEST 4.0  /* times as long as at the start */
#define FASTEST 0.25 /* and so short */
#define KEPT 0.5     /* of what was known, when more is */
#define SHARED 0.9   /* of what the work takes longer */

static struct api {
	fah_object *(*from_long)(long), *(*from_double)(double);
	fah_object *(*add)(fah_object *, fah_object *), *(*multiply)(fah_object *, fah_object *);
	fah_object *(*divide)(fah_object *, fah_object *), *(*negative)(fah_object *);
	fah_object *(*subtract)(fah_object *, fah_object *), *(*format)(const char *, ...);
	fah_object *(*concat)(fah_object *, fah_object *);
	fah_object *(*substring)(fah_object *, long, long);
	int (*contains)(fah_object *, fah_object *);
	int (*compare)(fah_object *, fah_object *), (*is_true)(fah_object *);
	long (*hash)(fah_object *);
} api;
static bool known;
static double usual, now; /* ticks that the work takes: at the start, and of late */

static void setup(void)
{
	static const struct {
		const char *name;
		void **to;
	} functions[] = {
		{"PyLong_FromLong", (void **)&api.from_long},
		{"PyFloat_FromDouble", (void **)&api.from_double},
		{"PyNumber_Add", (void **)&api.add},
		{"PyNumber_Multiply", (void **)&api.multiply},
		{"PyNumber_FloorDivide", (void **)&api.divide},
		{"PyNumber_Negative", (void **)&api.negative},
		{"PyNumber_Subtract", (void **)&api.subtract},
		{"PyUnicode_FromFormat", (void **)&api.format},
		{"PyUnicode_Concat", (void **)&api.concat},
		{"PyUnicode_Substring", (void **)&api.substring},
		{"PyUnicode_Contains", (void **)&api.contains},
		{"PyUnicode_Compare", (void **)&api.compare},
		{"PyObject_IsTrue", (void **)&api.is_true},
		{"PyObject_Hash", (void **)&api.hash},
	};

	known = true;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		*functions[i].to = fah_global(functions[i].name);
		known &= *functions[i].to != NULL;
	}
}

static void drop_all(fah_object **made, int n)
{
	for (int i = 0; i < n; i++)
		fah_py_drop(made[i]);
}

/* Some of all kinds, but for what counts as recursion (str(), comparisons): where the program
 * stands at its limit, Python 3.8 and 3.9 take that for its own and give up. False: no memory. */
static bool work_once(long i)
{
	enum { A, B, SUM, PRODUCT, QUOTIENT, LESS, S, U, BOTH, PART, F, G, MINUS, N };
	fah_object *m[N] = {0};
	int n = 0;

#define MAKE(which, made) \
	do { \
		m[which] = made; \
		if (!m[n++]) { \
			drop_all(m, n - 1); \
			return false; \
		} \
	} while (0)
	MAKE(A, api.from_long(1000 + i));
	MAKE(B, api.from_long(70000 + 7 * i));
	MAKE(SUM, api.add(m[A], m[B]));
	MAKE(PRODUCT, api.multiply(m[A], m[B]));
	MAKE(QUOTIENT, api.divide(m[PRODUCT], m[B]));
	MAKE(LESS, api.subtract(m[QUOTIENT], m[A]));
	MAKE(S, api.format("%ld", 71000 + 8 * i));
	MAKE(U, api.format("%s%d", "number ", (int)i));
	MAKE(BOTH, api.concat(m[S], m[U]));
	MAKE(PART, api.substring(m[BOTH], 2, 9));
	MAKE(F, api.from_double((double)i + 0.5));
	MAKE(G, api.add(m[F], m[A]));
	MAKE(MINUS, api.negative(m[G]));
#undef MAKE
	api.is_true(m[LESS]);
	api.is_true(m[BOTH]);
	api.compare(m[S], m[U]);
	api.contains(m[BOTH], m[PART]);
	api.hash(m[BOTH]);
	api.hash(m[PRODUCT]);
	api.hash(m[MINUS]);
	drop_all(m, N);
	return true;
}

/* Twice: the first time finds the core's tables as the program left them. */
static double look(void)
{
	int64_t begun = 0;

	for (int k = 0; k < 2; k++) {
		begun = fah_event_ticks();
		for (long i = 0; i < TIMES; i++)
			if (!work_once(i)) {
				fah_py.err_clear();
				return 0;
			}
	}
	return (double)(fah_event_ticks() - begun);
}

void fah_pace_start(void)
{
	usual = now = 0;
	setup();
	for (int i = 0; known && i < 8; i++) {
		double took = look();

		usual = usual > 0 && usual < took ? usual : took;
	}
	now = usual;
}

/* Where the work takes 1.9 times as long, being told of an event takes 1.6 to 1.9 times. */
static double of_events(double by)
{
	by = by > SLOWEST ? SLOWEST : by < FASTEST ? FASTEST : by;
	return by > 1 ? 1 + SHARED * (by - 1) : 1 / (1 + SHARED * (1 / by - 1));
}

double fah_pace(void)
{
	double took = usual > 0 ? look() : 0;

	return took > 0 ? of_events(took / usual) : 1;
}

double fah_pace_since(double *last)
{
	double before = *last;

	*last = fah_pace();
	return (before + *last) / 2;
}

double fah_pace_of_late(void)
{
	double took = usual > 0 ? look() : 0;

	if (took > 0 && took < STRAY * usual)
		now = KEPT * now + (1 - KEPT) * took;
	return usual > 0 ? of_events(now / usual) : 1;
}

void fah_paced_all(void *to, const void *from, size_t size, double by)
{
	const int64_t *ticks = from;
	int64_t *paced = to;

	for (size_t i = 0; i < size / sizeof(*ticks); i++)
		paced[i] = fah_paced(ticks[i], by);
}
