/* account.c - see account.h. */
#include "collect/account.h"

#define LEAST_NS 1000u /* the capture counts in us */
/* The kernel adds up what a thread uses when it stops: of one that ran to its end, so much is more
 * likely CPU and want of a core than waiting that was never seen. */
#define REST_NS 30000000u

void fah_account_begin(struct fah_account *a, uint64_t start_ns, const struct fah_sched *base)
{
	a->start_ns = a->item_ns = a->last_ns = start_ns;
	a->base = a->last = *base;
	a->told_cpu = UINT64_MAX;
}

uint64_t fah_account_due(const struct fah_account *a)
{
	uint64_t wall = a->last_ns - a->start_ns;
	uint64_t other = a->last.cpu_ns - a->base.cpu_ns + (a->last.ready_ns - a->base.ready_ns);

	return wall > other + a->waited_ns ? wall - other - a->waited_ns : 0;
}

static void item(struct fah_account *a, uint64_t end_ns, uint64_t waited, struct fah_place place)
{
	uint64_t length = end_ns > a->item_ns ? end_ns - a->item_ns : 0;

	/* the kernel's account lags behind by a tick while a thread runs */
	if (waited > length)
		waited = length;
	if (waited < LEAST_NS)
		return;
	fah_writer_wait(a->w, a->thread, end_ns > a->run_start_ns ? end_ns - a->run_start_ns : 0,
			length, waited, place.reason, place.node);
	a->item_ns = end_ns;
	a->waited_ns += waited;
}

bool fah_account_point(struct fah_account *a, const struct fah_sched *s, uint64_t now_ns)
{
	if (a->blocked) {
		if (s->slices == a->last.slices && s->cpu_ns == a->last.cpu_ns) {
			a->last_ns = now_ns;
			return true;
		}
		item(a, a->last_ns, fah_account_due(a), a->place);
		a->blocked = false;
		a->was_blocked = true;
	}
	a->last = *s;
	a->last_ns = now_ns;
	return false;
}

void fah_account_still(struct fah_account *a, uint64_t now_ns)
{
	a->last_ns = now_ns;
}

/*
 * At the last point it was blocked, and it has run since. The old wait went on for a while that
 * nobody saw: anything between nothing and all that was waited since, half of it in the mean. Where
 * the thread runs now there is no new wait that the rest could belong to.
 */
static void settle(struct fah_account *a, bool blocked_anew)
{
	uint64_t waited = fah_account_due(a);

	if (!a->was_blocked)
		return;
	a->was_blocked = false;
	if (blocked_anew)
		item(a, a->item_ns + waited / 2, waited / 2, a->place);
	else
		item(a, a->last_ns, waited, a->place);
}

void fah_account_blocked(struct fah_account *a, struct fah_place place)
{
	settle(a, true);
	a->place = place;
	a->blocked = true;
	a->since_ns = a->last_ns;
	item(a, a->last_ns, fah_account_due(a), place);
}

void fah_account_running(struct fah_account *a)
{
	settle(a, false);
}

void fah_account_unknown(struct fah_account *a)
{
	settle(a, true);
}

/*
 * The kernel counts the want of a core when it ends: what a thread was in want of after a wait, and
 * before it was seen to run, has gone to the wait by then. The sum is the thread's time all the
 * same.
 */
static void write_states(struct fah_account *a, uint64_t end_ns)
{
	uint64_t wall = end_ns - a->start_ns, ready;

	a->told_cpu = a->last.cpu_ns - a->base.cpu_ns;
	a->told_ready = ready = a->last.ready_ns - a->base.ready_ns;
	if (a->told_cpu + ready + a->waited_ns > wall)
		ready = wall > a->told_cpu + a->waited_ns ? wall - a->told_cpu - a->waited_ns : 0;
	fah_writer_states(a->w, a->thread, end_ns > a->run_start_ns ? end_ns - a->run_start_ns : 0,
			  a->told_cpu, ready);
}

/* Of what is left, the part that is more likely want of a core. */
static uint64_t ready_of(const struct fah_account *a, uint64_t due)
{
	double ready = (double)(a->last.ready_ns - a->base.ready_ns);
	double known = ready + (double)a->waited_ns;

	if (known > 0)
		return (uint64_t)((double)due * (ready / known));
	return due < REST_NS ? due : 0;
}

void fah_account_end(struct fah_account *a, uint64_t start_ns, uint64_t end_ns, uint64_t cpu_ns)
{
	/* one that is older than its record is known from its first look on */
	if (!a->base.cpu_ns && start_ns < end_ns) {
		if (a->item_ns == a->start_ns)
			a->item_ns = start_ns;
		a->start_ns = start_ns;
	}
	if (a->blocked)
		item(a, a->last_ns, fah_account_due(a), a->place);
	/* the kernel may have it for a moment longer */
	if (end_ns > a->item_ns)
		a->last_ns = end_ns;
	if (cpu_ns > a->last.cpu_ns)
		a->last.cpu_ns = cpu_ns;
	if (!a->blocked && !a->was_blocked)
		a->last.ready_ns += ready_of(a, fah_account_due(a));
	item(a, a->last_ns, fah_account_due(a), a->place);
	write_states(a, a->last_ns);
}

void fah_account_flush(struct fah_account *a, bool final)
{
	uint64_t cpu = a->last.cpu_ns - a->base.cpu_ns, ready = a->last.ready_ns - a->base.ready_ns;
	uint64_t end_ns = a->last_ns;

	if (a->blocked)
		item(a, end_ns, fah_account_due(a), a->place);
	else if (final && fah_account_due(a) >= REST_NS)
		item(a, end_ns, fah_account_due(a),
		     a->place); /* where it was last seen; unknown if never */
	else
		end_ns -= fah_account_due(a); /* so far the account is known */
	if (final || cpu != a->told_cpu || ready != a->told_ready)
		write_states(a, end_ns);
}
