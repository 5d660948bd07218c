/*
 * cost.c - what samples cost the program, counted; and how often they are taken, so that it stays
 * within bounds. Runs in the signal handler.
 *
 * The interval follows what a handler usually takes, not the last one: were the next sample put off
 * by what this one took, the places whose stacks are dear would be looked at in another rhythm than
 * the rest.
 */
#include "agent/agent.h"

#define REST 8 /* handlers get an eighth of the threads' CPU at most, also without a budget */
#define MILLION 1000000u
#define MEAN_OF 16 /* handlers that the usual time is the mean of, about */
#define MOST 16	   /* a handler counts in it as at most so many usual ones */
#define GUESS_NS 15000

static _Atomic uint64_t usual_ns = GUESS_NS;
static _Atomic uint64_t interval_ns; /* in force; 0: as asked for */

static void add(_Atomic uint64_t *to, uint64_t n)
{
	atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

static void raise_to(_Atomic uint64_t *most, uint64_t ns)
{
	if (ns > atomic_load_explicit(most, memory_order_relaxed))
		atomic_store_explicit(most, ns, memory_order_relaxed);
}

uint64_t fah_cost_interval(void)
{
	uint64_t ns = atomic_load_explicit(&interval_ns, memory_order_relaxed);

	return ns ? ns : fah_agent.period_ns;
}

void fah_cost_gap(const struct fah_timer *timer, uint64_t cpu_ns)
{
	struct fah_segment_head *head = fah_segment_head();
	uint64_t ns;

	if (!head || !timer || !timer->due_ns)
		return;
	ns = cpu_ns > timer->due_ns ? cpu_ns - timer->due_ns : 0;
	add(&head->gap_ns, ns);
	add(&head->gaps[fah_hist_bucket(ns)], 1);
	raise_to(&head->gap_max_ns, ns);
}

/*
 * The first samples describe all code on the stack and take many times as long as later ones: in
 * full they would keep the rate low for seconds. What is cut off here the collector still sees,
 * which grants less then. Two threads at once may lose one of theirs: it is a mean of many.
 */
static uint64_t usual_after(uint64_t ns)
{
	uint64_t mean = atomic_load_explicit(&usual_ns, memory_order_relaxed);

	if (ns > MOST * mean)
		ns = MOST * mean;
	mean = mean - mean / MEAN_OF + ns / MEAN_OF + 1;
	atomic_store_explicit(&usual_ns, mean, memory_order_relaxed);
	return mean;
}

/* The interval at which handlers use their share of the threads' CPU and no more. */
static uint64_t choose_interval(struct fah_segment_head *head, uint64_t ns)
{
	uint64_t share = atomic_load_explicit(&head->budget_ppm, memory_order_relaxed);
	uint64_t now = fah_cost_interval(), want = fah_agent.period_ns;

	ns = usual_after(ns) * (share && MILLION / share > REST ? MILLION / share : REST);
	if (ns > want)
		want = ns;
	/* a timer is set by a system call: not for each small change */
	if (want > fah_agent.period_ns && want < now && want > now - now / 4)
		return now;
	if (want > now)
		want += want / 8;
	if (want != now)
		atomic_store_explicit(&interval_ns, want, memory_order_relaxed);
	if (want != now)
		atomic_store_explicit(&head->clock_interval_ns, want, memory_order_relaxed);
	return want;
}

uint64_t fah_cost_of_event(void)
{
	struct fah_segment_head *head = fah_segment_head();

	return head ? atomic_load_explicit(&head->event_cost_ns, memory_order_relaxed) : 0;
}

void fah_cost_no_sample(uint64_t ns)
{
	struct fah_segment_head *head = fah_segment_head();

	if (head)
		add(&head->handler_ns, ns);
}

void fah_cost_note(struct fah_timer *timer, uint64_t ns)
{
	struct fah_segment_head *head = fah_segment_head();
	uint64_t interval;

	if (!head)
		return;
	add(&head->handler_ns, ns);
	add(&head->handlers[fah_hist_bucket(ns)], 1);
	raise_to(&head->handler_max_ns, ns);
	interval = choose_interval(head, ns);
	add(&head->interval_sum_ns, interval);
	if (!timer)
		return;
	/* the program comes first: until the usual time is known, a stack of many thousand frames,
	 * which takes longer to walk than a period, must not keep it from running at all */
	if (ns > interval)
		fah_timer_rest(timer, ns * 2);
	else if (timer->interval_ns != interval)
		fah_timer_rest(timer, interval);
	else
		timer->due_ns = interval;
}
