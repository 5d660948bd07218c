/* clocks.c - see clocks.h. */
#include "collect/clocks.h"

#include "base/file.h"
#include "collect/event_cost.h"
#include "collect/process.h"
#include "collect/switch_cost.h"
#include "collect/switches.h"
#include "collect/vary.h"
#include "core/err.h"
#include "core/segment.h"
#include "core/time.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MEASURE_AFTER_NS 2000000000u

/* A thread that wants an event, and whether it may have it. */
struct asker {
	uint32_t tid;	       /* 0: none */
	struct fah_task *task; /* the process's; NULL: nothing is known of it */
	uint32_t readings;     /* of its account, by the last look */
	struct fah_switches switches;
};

struct event {
	uint32_t tid;	      /* 0: none */
	int fd;		      /* -1: the kernel refused */
	uint32_t events;      /* that had come when its interval was set */
	uint64_t set_ns;      /* when that was */
	uint64_t set_used_ns; /* and what its thread had used by then, since the event was made */
};

struct clocked {
	struct clocked *next;
	struct fah_collected *p;
	struct event *events; /* by the agent's slots */
	struct asker *askers; /* likewise */
	uint32_t n;
	uint64_t period_ns; /* as asked for */
	bool may_be_dear;   /* there is another clock for threads that switch all the time */
	struct fah_vary vary;
};

struct fah_clocks {
	struct fah_drain *d;
	struct clocked *list;
	bool user_only, cost_at_once;
	uint64_t random;
	uint64_t begun_ns; /* at the first look; 0: none yet */
	uint32_t cost_ns;  /* of an event, beside its handler */
	bool measured;
	uint32_t switch_cost_ns; /* 0: not measured yet */
	struct fah_clocks_stats stats;
};

static uint64_t next_random(struct fah_clocks *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return c->random;
}

int fah_clocks_new(struct fah_drain *d, bool user_only, bool cost_at_once, struct fah_clocks **ret)
{
	struct fah_clocks *c = calloc(1, sizeof(*c));
	struct timespec now;

	if (!c)
		return FAH_ERR_NOMEM;
	clock_gettime(CLOCK_REALTIME, &now);
	c->d = d;
	c->user_only = user_only;
	c->cost_at_once = cost_at_once;
	c->random =
		(uint64_t)now.tv_nsec << 20 ^ (uint64_t)now.tv_sec ^ (uint64_t)getpid() << 40 ^ 1;
	*ret = c;
	return 0;
}

static void end_event(struct event *e)
{
	if (e->fd >= 0)
		close(e->fd);
	*e = (struct event){.fd = -1};
}

/* CPU that its thread has used since the event was made. */
static uint64_t used(const struct event *e)
{
	uint64_t count;

	return read(e->fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

static void is_set(struct event *e, const struct clocked *k, struct fah_clock_slot *slot,
		   uint64_t interval)
{
	atomic_store(&slot->stands_for_ns, fah_vary_stands_for(interval, k->period_ns));
	atomic_store(&slot->interval_ns, interval);
	e->set_used_ns = e->fd < 0 ? 0 : used(e);
	e->events = atomic_load(&slot->events);
}

static void begin_event(struct fah_clocks *c, struct clocked *k, struct event *e,
			struct fah_clock_slot *slot, uint32_t tid)
{
	uint64_t interval = fah_vary_next(&k->vary, k->period_ns);

	*e = (struct event){.tid = tid, .fd = fah_perf_open(tid, interval, c->user_only)};
	if (e->fd < 0 && errno == EMFILE) {
		fah_files_more();
		e->fd = fah_perf_open(tid, interval, c->user_only);
	}
	if (e->fd >= 0 && fah_perf_aim(e->fd, tid) < 0) {
		close(e->fd);
		e->fd = -1;
	}
	e->set_ns = fah_clock_ns(CLOCK_MONOTONIC);
	is_set(e, k, slot, interval);
	if (e->fd >= 0 && ioctl(e->fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
		c->stats.given++;
	else if (errno != ESRCH)
		c->stats.refused++;
}

static int open_for_cost(void *arg, uint32_t tid, uint64_t interval_ns)
{
	const struct fah_clocks *c = arg;

	return fah_perf_open(tid, interval_ns, c->user_only);
}

/* Only when it matters: it takes some ms. */
static uint64_t switch_cost(struct fah_clocks *c, const struct asker *a,
			    const struct fah_sched *sched, uint64_t now_ns)
{
	if (c->switch_cost_ns)
		return c->switch_cost_ns;
	if (fah_switches_are_dear(&a->switches, sched, now_ns, FAH_SWITCH_COST_GUESS_NS))
		c->switch_cost_ns = (uint32_t)fah_switch_cost_ns(open_for_cost, c) + 1;
	return c->switch_cost_ns ? c->switch_cost_ns : FAH_SWITCH_COST_GUESS_NS;
}

static void begin_asker(struct clocked *k, struct asker *a, uint32_t tid)
{
	if (a->task)
		fah_task_give(&k->p->task_files, a->task);
	*a = (struct asker){.tid = tid};
	if (tid)
		a->task = fah_task_take(&k->p->task_files, k->p->pid, tid);
}

/*
 * Not before it has shown for a while that it does not switch all the time, nor while it does. Who
 * looks at waiting threads has read its account just now, where that has changed; a new thread's we
 * read ourselves. Where there is nothing to read, as before.
 */
static bool may_have(struct fah_clocks *c, struct clocked *k, struct asker *a, uint32_t tid,
		     uint64_t now_ns)
{
	struct fah_switches *s = &a->switches;
	uint32_t taken = s->taken;
	struct fah_sched sched;

	if (a->tid != tid)
		begin_asker(k, a, tid);
	if (!tid || !a->task)
		return tid != 0;
	if (!s->may && !s->taken && a->readings == a->task->readings &&
	    fah_task_sched(a->task, &sched) < 0)
		return true;
	if (a->readings == a->task->readings)
		return s->may;
	a->readings = a->task->readings;
	sched = a->task->last;
	fah_switches_look(s, &sched, now_ns, switch_cost(c, a, &sched, now_ns));
	c->stats.dear += s->taken != taken;
	return s->may;
}

/*
 * A thread that gives its event back waits until `given` is another. So it is set before the event
 * is made, and what is wanted is asked once more: whoever comes second sees the other.
 */
static void look_at(struct fah_clocks *c, struct clocked *k, uint32_t i,
		    struct fah_clock_slot *slot, uint64_t now_ns)
{
	struct event *e = &k->events[i];
	uint32_t asks = atomic_load(&slot->wanted), wanted = asks;

	if (k->may_be_dear && !may_have(c, k, &k->askers[i], asks, now_ns))
		wanted = 0;
	if (e->tid == wanted)
		return;
	if (e->tid) {
		end_event(e);
		atomic_store(&slot->given, 0);
		atomic_store(&slot->interval_ns, 0);
	}
	if (!wanted)
		return;
	atomic_store(&slot->given, wanted);
	if (atomic_load(&slot->wanted) == wanted)
		begin_event(c, k, e, slot, wanted);
	if (e->fd < 0)
		atomic_store(&slot->given, 0);
}

/*
 * Setting it begins it anew: what a thread has used of the interval so far is nobody's. So a thread
 * keeps one for a while of its own CPU, however little of a core it gets: of fifty threads that
 * take turns each had its interval cut short again and again.
 */
static void set_interval(struct clocked *k, struct event *e, struct fah_clock_slot *slot,
			 uint64_t now_ns)
{
	uint64_t interval = fah_vary_next(&k->vary, k->period_ns);

	/* who samples meanwhile cannot tell by which of the two intervals it came */
	atomic_store(&slot->interval_ns, 0);
	ioctl(e->fd, PERF_EVENT_IOC_PERIOD, &interval);
	e->set_ns = now_ns;
	is_set(e, k, slot, interval);
}

static bool is_to_vary(const struct clocked *k, const struct event *e,
		       const struct fah_clock_slot *slot, uint64_t now_ns)
{
	uint64_t after = fah_vary_after(k->period_ns);

	return now_ns - e->set_ns >= after && atomic_load(&slot->events) != e->events &&
	       used(e) - e->set_used_ns >= after;
}

static bool grow(struct clocked *k, uint32_t n)
{
	struct event *events;
	struct asker *askers;

	if (n <= k->n)
		return true;
	events = realloc(k->events, n * sizeof(*events));
	if (!events)
		return false;
	k->events = events;
	askers = realloc(k->askers, n * sizeof(*askers));
	if (!askers)
		return false;
	k->askers = askers;
	for (uint32_t i = k->n; i < n; i++) {
		events[i] = (struct event){.fd = -1};
		askers[i] = (struct asker){0};
	}
	k->n = n;
	return true;
}

static void tick_process(struct fah_clocks *c, struct clocked *k, uint64_t now_ns)
{
	struct fah_segment_head *head = fah_segment_map_head(&k->p->segments[0]);
	uint32_t n = atomic_load(&head->n_clocks);
	uint64_t period = atomic_load(&head->clock_interval_ns);
	bool is_new;

	if (n > FAH_CLOCK_SLOTS || !grow(k, n))
		return;
	atomic_store(&head->collector, (uint32_t)getpid());
	atomic_store(&head->event_cost_ns, c->cost_ns);
	period = period ? period : head->period_ns;
	is_new = period != k->period_ns;
	k->period_ns = period;
	for (uint32_t i = 0; i < n; i++) {
		struct fah_clock_slot *slot = &head->clocks[i];
		struct event *e = &k->events[i];

		if (e->tid && e->fd >= 0 && (is_new || is_to_vary(k, e, slot, now_ns)))
			set_interval(k, e, slot, now_ns);
		look_at(c, k, i, slot, now_ns);
	}
}

static void leave(struct clocked **at)
{
	struct clocked *k = *at;
	struct fah_segment_head *head =
		k->p->n_segments ? fah_segment_map_head(&k->p->segments[0]) : NULL;

	*at = k->next;
	if (head)
		atomic_store(&head->collector, 0);
	for (uint32_t i = 0; i < k->n; i++) {
		end_event(&k->events[i]);
		begin_asker(k, &k->askers[i], 0);
		if (head)
			atomic_store(&head->clocks[i].given, 0);
	}
	free(k->events);
	free(k->askers);
	free(k);
}

static bool is_watched(const struct fah_clocks *c, const struct fah_collected *p)
{
	for (const struct clocked *k = c->list; k; k = k->next)
		if (k->p == p)
			return true;
	return false;
}

/* Those in another namespace have numbers for their threads that are not ours. */
static bool is_wanted(struct fah_collected *list, struct fah_collected *p)
{
	const struct fah_segment_head *head;

	if (!p->id || !p->n_segments || p->done || fah_collected_is_replaced(list, p))
		return false;
	head = fah_segment_map_head(&p->segments[0]);
	return fah_clock_has_events(head->clock) &&
	       atomic_load(&head->status) == FAH_AGENT_RUNNING && !atomic_load(&head->closed) &&
	       fah_collected_outer_pid(p) == p->pid;
}

/* At once where the rate depends on it; else when a run has shown to be a long one, for it takes 8
 * ms of our CPU. SIGURG, which nobody needs on us, is blocked: one stays pending, and means a look.
 */
static void measure_cost(struct fah_clocks *c, uint64_t now_ns)
{
	uint32_t self = (uint32_t)syscall(SYS_gettid);
	int fd;

	c->begun_ns = c->begun_ns ? c->begun_ns : now_ns;
	if (c->measured || (!c->cost_at_once && now_ns - c->begun_ns < MEASURE_AFTER_NS))
		return;
	c->measured = true;
	fd = fah_perf_open(self, 1000000000u, c->user_only);
	if (fd >= 0 && fah_perf_aim(fd, self) == 0)
		c->cost_ns = (uint32_t)fah_event_cost_ns(fd);
	if (fd >= 0)
		close(fd);
}

void fah_clocks_tick(struct fah_clocks *c, uint64_t now_ns)
{
	struct fah_collected *list = fah_drain_processes(c->d), *p;

	measure_cost(c, now_ns);
	for (struct clocked **at = &c->list; *at;)
		if (is_wanted(list, (*at)->p))
			at = &(*at)->next;
		else
			leave(at);
	for (p = list; p; p = p->next) {
		struct clocked *k;

		if (is_watched(c, p) || !is_wanted(list, p))
			continue;
		k = calloc(1, sizeof(*k));
		if (!k)
			return;
		k->p = p;
		k->may_be_dear = fah_segment_map_head(&p->segments[0])->clock == FAH_CLOCK_BOTH;
		fah_vary_init(&k->vary, next_random(c));
		k->next = c->list;
		c->list = k;
	}
	for (struct clocked *k = c->list; k; k = k->next)
		tick_process(c, k, now_ns);
}

const struct fah_clocks_stats *fah_clocks_stats(const struct fah_clocks *c)
{
	return &c->stats;
}

void fah_clocks_free(struct fah_clocks *c)
{
	if (!c)
		return;
	while (c->list)
		leave(&c->list);
	free(c);
}
