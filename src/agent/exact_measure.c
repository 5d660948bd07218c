/*
 * exact_measure.c - what it costs to be told of a call, and to whose time it adds. Once, with the
 * GIL, before the program runs.
 *
 * Small loops with events and without, in turns: the difference is what a call costs more. What of
 * it stands in the time of the called function itself is what our own clocks say of one that does
 * nothing; the rest is its caller's. Before 3.12 some of the difference is every instruction's,
 * with calls or not: that is measured by itself, and not taken for the call's.
 */
#include "agent/exact.h"
#include "agent/measure.h"
#include "agent/pace.h"

#define TRIES 5 /* odd */
#define CALLS 600

static struct fah_exact_costs measured; /* as at the start */

/* What is told of is methods for the most part: a function's name is not (exact_sites.c). */
static const char program[] = "def probe(x):\n"
			      "    pass\n"
			      "class Probe:\n"
			      "    def method(self, x):\n"
			      "        pass\n"
			      "def work():\n"
			      "    p = Probe()\n"
			      "    x = 0\n"
			      "    two = [1, 2]\n"
			      "    for i in range(600):\n"
			      "        if i > 3 and x != i:\n"
			      "            x = i + 1\n"
			      "        p.x = two[1]\n"
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
			      "def len_call():\n"
			      "    for i in range(600):\n"
			      "        len('abc')\n"
			      "def isinstance_call():\n"
			      "    for i in range(600):\n"
			      "        isinstance(i, int)\n"
			      "def append_call():\n"
			      "    found = []\n"
			      "    for i in range(600):\n"
			      "        found.append(i)\n"
			      "def type_call():\n"
			      "    for i in range(600):\n"
			      "        int(i)\n"
			      "def str_of():\n"
			      "    for i in range(600):\n"
			      "        str(i)\n"
			      "def type_of():\n"
			      "    for i in range(600):\n"
			      "        type(i)\n";

static fah_object *nothing(fah_object *self, fah_object *arg)
{
	(void)self;
	(void)arg;
	fah_py.incref(fah_py.none);
	return fah_py.none;
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
		double pace = fah_pace(), by;

		if (!fah_exact_listen(true))
			return false;
		fah_measure_run(run); /* instructions are made anew */
		fah_exact_clear(t);
		added[i] = fah_measure_run(run);
		inside[i] = self_of(t, c, &ret->calls);
		by = 1 / fah_pace_since(&pace); /* as if the machine had run as at the start */
		if (!fah_exact_listen(false))
			return false;
		fah_measure_run(run);
		fah_measure_run(run);
		plain[i] = fah_measure_run(run);
		plain[i] = fah_paced(plain[i], 1 / fah_pace_since(&pace));
		inside[i] = fah_paced(inside[i], by);
		added[i] = fah_paced(added[i], by) - plain[i];
	}
	ret->added = fah_measure_middle(added, TRIES) / CALLS;
	ret->plain = fah_measure_middle(plain, TRIES) / CALLS;
	ret->inside = fah_measure_middle(inside, TRIES) / CALLS;
	return true;
}

/* A turn that calls nothing. */
struct idle {
	int64_t without;    /* ticks that it takes */
	double instruction; /* ticks that telling adds to each instruction, of whatever kind */
};

/* Instructions of a turn of work(), and of those that call: in the caller, and in what is called.
 */
#define WORK_LENGTH 20
#define LOOP_LENGTH 8
#define CALLED_LENGTH 3

/* Before 3.12. The part of a loop's time that telling adds. */
static bool measure_slow(fah_object *globals, struct idle *idle, double *ret_part)
{
	struct timed t;

	if (!measure_loop(globals, "work", false, &t))
		return false;
	if (t.added < 0)
		t.added = 0;
	idle->instruction = (double)t.added / WORK_LENGTH;
	*ret_part = t.plain > 0 ? (double)t.added / (double)(t.added + t.plain) : 0;
	return true;
}

/* False: it is not told as it should be. */
static bool measure(fah_object *globals, const char *name, bool c, const struct idle *idle,
		    struct fah_exact_cost *ret)
{
	struct timed t;
	int64_t own, bare;

	if (!measure_loop(globals, name, c, &t) || t.calls < CALLS)
		return false;
	if (!c)
		t.inside -= (int64_t)(CALLED_LENGTH * idle->instruction);
	t.added -= (int64_t)((c ? LOOP_LENGTH : LOOP_LENGTH + CALLED_LENGTH) * idle->instruction);
	/* of what a call takes without being told, a third is the called function's */
	bare = (t.plain - idle->without) / 3;
	own = t.inside - (bare > 0 ? bare : 0);
	if (own < 0)
		own = 0;
	ret->to_callee = own < t.added ? own : t.added > 0 ? t.added : 0;
	ret->to_caller = t.added > ret->to_callee ? t.added - ret->to_callee : 0;
	return true;
}

/* Where it ends nobody knows how it began: of what was measured for both, the caller has the rest.
 */
static void same_end(struct fah_exact_cost *cost, const struct fah_exact_cost *as)
{
	cost->to_caller += cost->to_callee - as->to_callee;
	cost->to_callee = as->to_callee;
	if (cost->to_caller < 0)
		cost->to_caller = 0;
}

static struct {
	uint64_t def;
	const struct fah_exact_cost *cost;
} special[3];

const struct fah_exact_cost *fah_exact_cost_of_c(uint64_t method_def)
{
	for (int i = 0; i < 3; i++)
		if (method_def && special[i].def == method_def)
			return special[i].cost;
	return &fah_exacting.costs.c_call;
}

/* The PyMethodDef of a function by its name among the builtins, or of a type's method. */
static uint64_t def_of(fah_object *of, const char *name, size_t at)
{
	fah_object *function = fah_py.get_attr(of, name);
	uint64_t def = function ? (uint64_t)(uintptr_t)fah_py_word(function, at) : 0;

	fah_py.err_clear();
	fah_py_drop(function);
	return def;
}

static void know_special(const struct fah_exact_costs *costs)
{
	fah_object *builtins = fah_py_module("builtins");

	special[0].def = builtins ? def_of(builtins, "len", 16) : 0;
	special[0].cost = &costs->len;
	special[1].def = builtins ? def_of(builtins, "isinstance", 16) : 0;
	special[1].cost = &costs->isinstance;
	special[2].def = def_of(fah_py.t_list, "append", 40);
	special[2].cost = &costs->append;
}

static int64_t half(const struct timed *t, const struct idle *idle)
{
	int64_t added = t->added - (int64_t)(LOOP_LENGTH * idle->instruction);

	return added > 0 ? added / 2 : 0; /* it is told of twice: where it begins and ends */
}

/* All of it, into costs that are not in force yet. */
static bool measure_all(fah_object *globals, const struct idle *idle, struct fah_exact_costs *to)
{
	struct timed unknown, str, type;

	if (!measure(globals, "call", false, idle, &to->call) ||
	    !measure(globals, "quiet", false, idle, &to->quiet) ||
	    !measure(globals, "from_c", false, idle, &to->from_c) ||
	    !measure(globals, "resume", false, idle, &to->resume) ||
	    !measure(globals, "c_call", true, idle, &to->c_call) ||
	    !measure(globals, "len_call", true, idle, &to->len) ||
	    !measure(globals, "isinstance_call", true, idle, &to->isinstance) ||
	    !measure(globals, "append_call", true, idle, &to->append) ||
	    !measure_loop(globals, "type_call", true, &unknown) ||
	    !measure_loop(globals, "str_of", true, &str) ||
	    !measure_loop(globals, "type_of", true, &type))
		return false;
	same_end(&to->quiet, &to->call);
	same_end(&to->from_c, &to->call);
	same_end(&to->resume, &to->call);
	to->unknown = half(&unknown, idle);
	to->str = half(&str, idle);
	to->type = half(&type, idle);
	return true;
}

bool fah_exact_measure(void)
{
	static struct fah_method_def def = {"nothing", (void (*)(void))nothing, 8 /* METH_O */,
					    NULL};
	fah_object *globals = fah_py_run(program, "<fixingahole>");
	fah_object *function = fah_py.new_function(&def, NULL, NULL), *run = NULL;
	struct fah_exact_costs costs = {0};
	struct idle idle = {INT64_MAX, 0};
	bool good = globals && function;
	double slower = 0;

	fah_exacting.measuring = true;
	fah_pace_start();
	if (good)
		good = fah_py.dict_set_text(globals, "builtin", function) == 0 &&
		       (run = fah_py.dict_get_text(globals, "nothing")) && fah_exact_thread_new();
	for (int i = 0; good && i < TRIES; i++) {
		int64_t took = fah_measure_run(run);

		took = fah_paced(took, 1 / fah_pace()) / CALLS;
		idle.without = took < idle.without ? took : idle.without;
	}
	if (good && fah_exacting.tool < 0)
		good = measure_slow(globals, &idle, &slower);
	good = good && measure_all(globals, &idle, &costs);
	fah_exact_slow_start(slower);
	if (good && !fah_exacting.raw) {
		measured = fah_exacting.costs = costs;
		know_special(&fah_exacting.costs);
	}
	fah_exacting.measuring = false;
	fah_py.err_clear();
	fah_py_drop(function);
	fah_py_drop_globals(globals);
	fah_exact_mine = NULL;
	fah_exact_start_anew(); /* what was measured is none of the program's */
	return good;
}

void fah_exact_pace(void)
{
	if (!fah_exacting.raw)
		fah_paced_all(&fah_exacting.costs, &measured, sizeof(measured), fah_pace_of_late());
}
