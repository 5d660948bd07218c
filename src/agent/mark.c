/*
 * mark.c - iterations that the program itself marks (python/fixingahole): how long each took, into
 * the thread's chunk. Called by the program, never in a handler.
 *
 * The first iterations of a loop, and long ones, are recorded one by one; short ones together, so
 * that a loop of microseconds does not take the room of samples.
 */
#include "agent/agent.h"
#include "core/sys.h"
#include "core/varint.h"

#include <string.h>

#define LOOPS 4u  /* that may be nested in a thread */
#define APART 10u /* that many first ones are recorded one by one */
#define TOGETHER_NS \
	5000000u /* what is shorter may share a record with what came this shortly before */
#define LABEL_MAX 255u
#define RECORD_MAX (9 * FAH_VARINT_MAX + LABEL_MAX)

enum kind { BEGIN = 0, END = 1, OVER = 2 };

static __thread struct loop {
	uint64_t id; /* 0: free */
	bool begun;
	uint64_t begin_mono, begin_cpu;
	/* those that are not written yet */
	uint64_t first, count, wall_ns, cpu_ns, squares;
	uint64_t written_mono;
} loops[LOOPS];

FAH_AGENT_EXPORT void fixingahole_mark(unsigned kind, unsigned long id, unsigned long number,
				       const char *label);

static struct loop *find(uint64_t id)
{
	struct loop *l = NULL;

	for (unsigned i = 0; i < LOOPS; i++) {
		if (loops[i].id == id)
			return &loops[i];
		if (!l && !loops[i].id)
			l = &loops[i];
	}
	if (!l)
		l = &loops[id % LOOPS];
	memset(l, 0, sizeof(*l));
	l->id = id;
	return l;
}

static void put(struct fah_thread_state *t, const struct loop *l, const char *label)
{
	size_t len = strlen(label);
	uint8_t *p = fah_record_begin(t, RECORD_MAX);

	if (!p)
		return;
	if (len > LABEL_MAX)
		len = LABEL_MAX;
	p = fah_record_put_time(t, p); /* now: a sample may have been taken since the end */
	p = fah_put_varint(p, l->id);
	p = fah_put_varint(p, l->first);
	p = fah_put_varint(p, l->count);
	p = fah_put_varint(p, l->wall_ns);
	p = fah_put_varint(p, l->cpu_ns);
	p = fah_put_varint(p, l->count > 1 ? l->squares : 0);
	p = fah_put_varint(p, len);
	memcpy(p, label, len);
	fah_record_commit(t, FAH_SEG_ITERATIONS, p + len);
}

/* Those that are left to write, where they can be. */
static void write_rest(struct loop *l, const char *label)
{
	struct fah_thread_state *t;

	if (!l->count)
		return;
	t = fah_thread_write_begin();
	if (t) {
		put(t, l, label);
		fah_thread_write_end(t);
	}
	l->count = l->wall_ns = l->cpu_ns = l->squares = 0;
}

static void end(struct loop *l, uint64_t number, const char *label)
{
	uint64_t mono = fah_now_mono(), cpu = fah_now_thread_cpu();
	uint64_t wall_ns = mono - l->begin_mono;
	bool alone = number < APART || wall_ns >= TOGETHER_NS;

	if (alone || number != l->first + l->count)
		write_rest(l, label);
	if (!l->count)
		l->first = number;
	l->count++;
	l->wall_ns += wall_ns;
	l->cpu_ns += cpu - l->begin_cpu;
	if (!alone) /* short ones: no sum of squares can outgrow its number */
		l->squares += wall_ns * wall_ns;
	if (alone || mono - l->written_mono >= TOGETHER_NS) {
		write_rest(l, label);
		l->written_mono = mono;
	}
	l->begun = false;
}

/*
 * Iteration `number` (from 0) of loop `id` (from 1, the program's own count) begins or ends in this
 * thread; or the loop is over. label: what the loop is called.
 */
void fixingahole_mark(unsigned kind, unsigned long id, unsigned long number, const char *label)
{
	struct loop *l;

	if (!id || !label || !atomic_load(&fah_agent.active))
		return;
	l = find(id);
	if (kind == BEGIN) {
		l->begun = true;
		l->begin_cpu = fah_now_thread_cpu();
		l->begin_mono = fah_now_mono();
	} else if (kind == END && l->begun) {
		end(l, number, label);
	} else if (kind == OVER) {
		write_rest(l, label);
		l->id = 0;
	}
}
