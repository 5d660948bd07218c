/*
 * exact_measure.c - what it costs to be told of a call, and to whose time it adds. Once, with the
 * GIL, before the program runs.
 *
 * Small loops with events and without, in turns: the difference is what a call costs more. What of
 * it stands in the time of the called function itself is what our own clocks say of one that does
 * nothing; the rest is its caller's.
 */
#include "agent/exact.h"

#define TRIES 5 /* odd */
#define CALLS 600

/* What is told of is methods for the most part: a function's name is not (exact_sites.c). */
static const char program[] = "def probe(x):\n"
			      "    pass\n"
			      "class Probe:\n"
			      "    def method(self, x):\n"
			      "        pass\n"
			      "def nothing():\n"
			      "    for i in range(600):\n"
			      "        i\n"
			      "def call():\n"
			      "    p = Probe()\n"
			      "    for i in range(600):\n"
			      "        p.method(i)\n"
			      "def quiet():\n"
			      "    for i in range(600):\n"
			      "        probe(i)\n"
			      "def from_c():\n"
			      "    list(map(probe, range(600)))\n"
			      "def generator():\n"
			      "    for i in range(600):\n"
			      "        yield i\n"
			      "def resume():\n"
			      "    for i in generator():\n"
			      "        i\n"
			      "def c_call():\n"
			      "    for i in range(600):\n"
			      "        builtin(i)\n"
			      "def type_call():\n"
			      "    for i in range(600):\n"
			      "        int(i)\n";

static fah_object *nothing(fah_object *self, fah_object *arg)
{
	(void)self;
	(void)arg;
	fah_py.incref(fah_py.none);
	return fah_py.none;
}

static int64_t time_of(fah_object *run)
{
	int64_t begun = fah_exact_ticks();

	fah_py_drop(fah_py.call_args(run, NULL));
	return fah_exact_ticks() - begun;
}

static int64_t middle(int64_t *values, int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k && values[k - 1] > values[k]; k--) {
			int64_t larger = values[k - 1];

			values[k - 1] = values[k];
			values[k] = larger;
		}
	return values[n / 2];
}

/* The time that the calls in the table took themselves; their number in *ret_calls. */
static int64_t self_of(const struct fah_exact_thread *t, bool c, uint64_t *ret_calls)
{
	uint64_t most = 0;
	int64_t self = 0;

	for (const struct fah_exact_block *b = t->blocks; b; b = b->next)
		for (uint32_t i = 0; i < b->n; i++)
			if (b->calls[i].calls > most && !b->calls[i].version == c) {
				most = b->calls[i].calls;
				self = b->calls[i].self;
			}
	*ret_calls = most;
	return self;
}

struct timed {
	int64_t added, plain; /* ticks of a turn: by being told, and without */
	int64_t inside;	      /* of the call itself, as it was told; with being told */
	uint64_t calls;	      /* of the last run */
};

/* One loop, with events and without, in turns. c: the call is one of C's. False: refused. */
static bool measure_loop(fah_object *globals, const char *name, bool c, struct timed *ret)
{
	fah_object *run = fah_py.dict_get_text(globals, name);
	int64_t added[TRIES], inside[TRIES], plain[TRIES];
	struct fah_exact_thread *t = fah_exact_mine;

	if (!run || !t)
		return false;
	for (int i = 0; i < TRIES; i++) {
		if (!fah_exact_listen(true))
			return false;
		time_of(run); /* instructions are made anew */
		fah_exact_clear(t);
		added[i] = time_of(run);
		inside[i] = self_of(t, c, &ret->calls);
		if (!fah_exact_listen(false))
			return false;
		time_of(run);
		time_of(run);
		plain[i] = time_of(run);
		added[i] -= plain[i];
	}
	ret->added = middle(added, TRIES) / CALLS;
	ret->plain = middle(plain, TRIES) / CALLS;
	ret->inside = middle(inside, TRIES) / CALLS;
	return true;
}

/* without: what a turn takes that calls nothing. False: it is not told as it should be. */
static bool measure(fah_object *globals, const char *name, bool c, int64_t without,
		    struct fah_exact_cost *ret)
{
	struct timed t;
	int64_t own, bare;

	if (!measure_loop(globals, name, c, &t) || t.calls < CALLS)
		return false;
	/* of what a call takes without being told, a third is the called function's */
	bare = (t.plain - without) / 3;
	own = t.inside - (bare > 0 ? bare : 0);
	if (own < 0)
		own = 0;
	ret->to_callee = own < t.added ? own : t.added > 0 ? t.added : 0;
	ret->to_caller = t.added > ret->to_callee ? t.added - ret->to_callee : 0;
	return true;
}

/* The costs as they are from now on. */
static void settle(struct fah_exact_cost call, struct fah_exact_cost quiet,
		   struct fah_exact_cost from_c, struct fah_exact_cost resume,
		   struct fah_exact_cost c_call)
{
	struct fah_exact_cost *starts[] = {&call, &quiet, &from_c, &resume};

	/* where it ends nobody knows how it began */
	for (int i = 1; i < 4; i++) {
		starts[i]->to_caller += starts[i]->to_callee - call.to_callee;
		if (starts[i]->to_caller < 0)
			starts[i]->to_caller = 0;
	}
	fah_exacting.call = call;
	fah_exacting.quiet = quiet;
	fah_exacting.from_c = from_c;
	fah_exacting.resume = resume;
	fah_exacting.c_call = c_call;
}

bool fah_exact_measure(void)
{
	static struct fah_method_def def = {"nothing", (void (*)(void))nothing, 8 /* METH_O */,
					    NULL};
	fah_object *globals = fah_py_run(program, "<fixingahole>");
	fah_object *function = fah_py.new_function(&def, NULL, NULL), *run = NULL;
	struct fah_exact_cost call, quiet, from_c, resume, c_call;
	struct timed type_call = {0};
	int64_t without = INT64_MAX;
	bool good = globals && function;

	fah_exacting.measuring = true;
	if (good)
		good = fah_py.dict_set_text(globals, "builtin", function) == 0 &&
		       (run = fah_py.dict_get_text(globals, "nothing")) && fah_exact_thread_new();
	for (int i = 0; good && i < TRIES; i++) {
		int64_t took = time_of(run) / CALLS;

		without = took < without ? took : without;
	}
	good = good && measure(globals, "call", false, without, &call) &&
	       measure(globals, "quiet", false, without, &quiet) &&
	       measure(globals, "from_c", false, without, &from_c) &&
	       measure(globals, "resume", false, without, &resume) &&
	       measure(globals, "c_call", true, without, &c_call) &&
	       measure_loop(globals, "type_call", true, &type_call);
	if (good && !fah_exacting.raw) {
		settle(call, quiet, from_c, resume, c_call);
		/* told twice: when it begins and when it ends */
		fah_exacting.unknown = type_call.added > 0 ? type_call.added / 2 : 0;
	}
	fah_exacting.measuring = false;
	fah_py.err_clear();
	fah_py_drop(function);
	fah_py_drop_globals(globals);
	fah_exact_mine = NULL;
	fah_exact_start_anew(); /* what was measured is none of the program's */
	return good;
}
