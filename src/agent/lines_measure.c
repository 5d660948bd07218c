/*
 * lines_measure.c - what events cost: small programs of ours, with events and without, in turns.
 * With the GIL, before the program runs.
 */
#include "agent/lines.h"
#include "agent/measure.h"
#include "agent/pace.h"

#include <string.h>

#define TRIES 5 /* odd */
#define ROUNDS 200
#define MOST_NS 3000 /* what no event costs, whatever was measured */

static const char program[] = "def lines():\n"
			      "    for i in range(200):\n"
			      "        a = i\n"
			      "        a = i\n"
			      "        a = i\n"
			      "        a = i\n"
			      "def callee():\n"
			      "    pass\n"
			      "def calls():\n"
			      "    for i in range(200):\n"
			      "        callee()\n"
			      "def c_calls(f=len, e=()):\n"
			      "    for i in range(200):\n"
			      "        f(e)\n";
static struct fah_lines_cost measured;
static int64_t apart; /* ticks from one look at the machine's speed to the next */

#define LINES_A_ROUND 5
#define LINES_IN_LOOP 2

/* What a round of run costs more where `chosen` is chosen, or (NULL) where nothing is but all is
 * told. ret_hits: lines of it that were told. */
static int64_t added(fah_object *run, fah_object *chosen, uint64_t *ret_hits)
{
	fah_object *code = fah_py.get_attr(chosen ? chosen : run, "__code__");
	struct fah_lined *l = NULL;
	int64_t values[TRIES], told;
	bool is_new;

	fah_lined_clear();
	if (code && chosen)
		l = fah_lined_add(code, &is_new);
	*ret_hits = 0;
	for (int i = 0; i < TRIES; i++) {
		double pace = fah_pace();

		fah_lines_listen(code, true);
		fah_measure_run(run); /* instructions are made anew */
		told = fah_measure_run(run);
		told = fah_paced(told, 1 / fah_pace_since(&pace)); /* as at the start */
		fah_lines_listen(code, false);
		fah_measure_run(run);
		fah_measure_run(run);
		values[i] = fah_measure_run(run);
		values[i] = told - fah_paced(values[i], 1 / fah_pace_since(&pace));
	}
	for (uint32_t i = 0; l && i < atomic_load(&l->n_lines); i++)
		*ret_hits += l->lines[i].hits;
	fah_py_drop(code);
	return fah_measure_middle(values, TRIES) / ROUNDS;
}

static int64_t within(int64_t ticks, int64_t most)
{
	return ticks < 0 ? 0 : ticks > most ? most : ticks;
}

static bool measure_all(fah_object *globals, int64_t most)
{
	fah_object *lines = fah_py.dict_get_text(globals, "lines");
	fah_object *callee = fah_py.dict_get_text(globals, "callee");
	fah_object *calls = fah_py.dict_get_text(globals, "calls");
	fah_object *c_calls = fah_py.dict_get_text(globals, "c_calls");
	struct fah_lines_cost cost = {0};
	uint64_t hits;
	int64_t round;

	if (!lines || !callee || !calls || !c_calls)
		return false;
	cost.line = within(added(lines, lines, &hits) / LINES_A_ROUND, most);
	if (hits < 2 * TRIES * (uint64_t)(LINES_A_ROUND * ROUNDS))
		return false;
	if (fah_lining.traced) {
		cost.other = within(added(lines, NULL, &hits) / LINES_A_ROUND, most);
		/* the call and the end of one that is not chosen, and its line */
		round = added(calls, calls, &hits) - LINES_IN_LOOP * cost.line - cost.other;
		cost.python_call = within(round / 2, most);
	}
	round = added(calls, callee, &hits) - LINES_IN_LOOP * cost.other - cost.line;
	cost.start = cost.end = within(round / 2, most);
	if (fah_lining.called && !fah_lining.traced) {
		round = added(calls, calls, &hits) - LINES_IN_LOOP * cost.line;
		cost.python_call = within(round, most);
		round = added(c_calls, c_calls, &hits) - LINES_IN_LOOP * cost.line;
		cost.call = cost.c_return = within(round / 2, most);
	}
	fah_lining.cost = measured = cost;
	return true;
}

bool fah_lines_measure(void)
{
	fah_object *globals = fah_py_run(program, "<fixingahole>");
	uint64_t begun_ns = fah_now_mono();
	int64_t begun = fah_event_ticks(), most;
	bool good = false;

	if (!globals)
		return false;
	while (fah_now_mono() - begun_ns < 20000)
		;
	most = (fah_event_ticks() - begun) * MOST_NS / (int64_t)(fah_now_mono() - begun_ns);
	apart = (fah_event_ticks() - begun) * (1000000000 / FAH_PACE_LOOKS_A_SECOND) /
		(int64_t)(fah_now_mono() - begun_ns);
	fah_pace_start();
	good = measure_all(globals, most);
	fah_py.err_clear();
	fah_py_drop_globals(globals);
	fah_lined_clear();
	return good;
}

void fah_lines_pace(struct fah_lines_thread *t)
{
	int64_t begun = fah_event_ticks();

	fah_paced_all(&fah_lining.cost, &measured, sizeof(measured), fah_pace_of_late());
	t->due = fah_event_ticks() + apart;
	t->spent += fah_event_ticks() - begun; /* none of the program's time */
}
