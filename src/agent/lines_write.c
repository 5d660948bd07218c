/*
 * lines_write.c - counts of lines into records: all of them so far, each time, so that the last
 * record of a function's lines is the one that counts. In handlers now and then, and at the end; of
 * a process that is killed the collector takes them from where they are counted (core/kept.h).
 */
#include "agent/lines.h"
#include "core/sys.h"
#include "core/varint.h"

#include <string.h>

#define PART 256u		      /* lines of a record */
#define LINE_MAX (4 * FAH_VARINT_MAX) /* bytes of one */
#define AT_ONCE 64u		      /* functions, in a handler */
#define WRITE_EVERY_NS 900000000u
#define WHY_MAX 255u

static _Atomic bool writing;
static _Atomic uint64_t written_ns;
static uint32_t next_written;

/* What lines that run have had since they began, in all threads, is theirs too. */
static struct fah_line counts_of(const struct fah_lined *l, uint32_t index,
				 const struct fah_line *at)
{
	struct fah_line sum = *at;
	struct fah_lines_thread *t;

	for (uint32_t i = 0; (t = fah_lines_thread_at(i)); i++) {
		uint32_t newest = t->active[fah_lined_index(l)];
		const struct fah_lines_frame *f = &t->frames[newest ? newest - 1 : 0];
		int64_t now;

		if (!newest || newest > FAH_LINES_DEPTH || f->of != l || f->line != index + 1)
			continue;
		now = fah_event_ticks() - t->spent;
		sum.ticks += now > f->since ? now - f->since : 0;
		if (f->call)
			sum.called += now > f->call_since ? now - f->call_since : 0;
	}
	return sum;
}

static uint64_t ns_of(int64_t ticks, double scale)
{
	return ticks > 0 ? (uint64_t)((double)ticks * scale) : 0;
}

static bool define(struct fah_thread_state *t, struct fah_lined *l)
{
	struct fah_py_frame frame = {.code = l->code,
				     .ident = (uint64_t)fah_lined_index(l) << 32 | 1};
	enum fah_drop drop;

	if (!l->id) {
		l->id = fah_codes_id(t, &frame, &drop);
		fah_lined_told(l);
	}
	return l->id != 0;
}

/* Lines from *at on that have hits, up to PART of them. False: there was no room. */
static bool write_part(struct fah_thread_state *t, const struct fah_lined *l, uint32_t n,
		       uint32_t *at, double scale)
{
	uint8_t *p = fah_record_begin(t, 4 * FAH_VARINT_MAX + PART * LINE_MAX);
	uint32_t written = 0;

	if (!p)
		return false;
	p = fah_record_put_time(t, p);
	p = fah_put_varint(p, l->id);
	p = fah_put_varint(p, l->marked);
	for (; *at < n && written < PART; ++*at) {
		const struct fah_line *line = &l->lines[*at];
		struct fah_line sum;

		if (!line->hits && !line->ticks)
			continue;
		sum = counts_of(l, *at, line);
		p = fah_put_varint(p, (uint64_t)l->base + *at);
		p = fah_put_varint(p, sum.hits);
		p = fah_put_varint(p, ns_of(sum.ticks, scale));
		p = fah_put_varint(p,
				   ns_of(sum.called < sum.ticks ? sum.called : sum.ticks, scale));
		written++;
	}
	fah_record_commit(t, FAH_SEG_LINES, p);
	return true;
}

static void write_one(struct fah_thread_state *t, struct fah_lined *l)
{
	uint32_t n = atomic_load_explicit(&l->n_lines, memory_order_acquire), at = 0;
	double scale = fah_event_ns_a_tick();

	if (!define(t, l))
		return;
	atomic_store(&l->changed, false);
	do
		if (!write_part(t, l, n, &at, scale)) {
			atomic_store(&l->changed, true);
			return;
		}
	while (at < n);
}

static void write_some(struct fah_thread_state *t, uint32_t most, bool all)
{
	struct fah_lined *l;

	if (atomic_exchange(&writing, true))
		return;
	for (uint32_t i = 0; i < FAH_LINED_MAX && most; i++, next_written++) {
		l = fah_lined_at(next_written);
		if (!l) {
			next_written = 0;
			l = fah_lined_at(0);
		}
		if (!l || (all && i && !next_written))
			break;
		if (!all && !atomic_load_explicit(&l->changed, memory_order_relaxed))
			continue;
		write_one(t, l);
		most--;
	}
	atomic_store(&writing, false);
}

void fah_lines_tick(struct fah_thread_state *t)
{
	uint64_t now, last;

	if (!atomic_load_explicit(&fah_lining.on, memory_order_relaxed))
		return;
	now = fah_now_mono();
	last = atomic_load(&written_ns);
	if (now - last < WRITE_EVERY_NS || !atomic_compare_exchange_strong(&written_ns, &last, now))
		return;
	write_some(t, AT_ONCE, false);
}

static void write_state(struct fah_thread_state *t, const char *why)
{
	size_t len = strlen(why) < WHY_MAX ? strlen(why) : WHY_MAX;
	uint8_t *p = fah_record_begin(t, 6 * FAH_VARINT_MAX + WHY_MAX);
	double scale = fah_event_ns_a_tick();

	if (!p)
		return;
	p = fah_record_put_time(t, p);
	p = fah_put_varint(p, ns_of(fah_lining.cost.line, scale));
	p = fah_put_varint(p, atomic_load(&fah_lining.lost_codes));
	p = fah_put_varint(p, atomic_load(&fah_lining.lost_frames));
	p = fah_put_varint(p, atomic_load(&fah_lining.lost_lines));
	p = fah_put_varint(p, len);
	memcpy(p, why, len);
	fah_record_commit(t, FAH_SEG_LINES_STATE, p + len);
}

void fah_lines_note(const char *why)
{
	struct fah_thread_state *t = fah_thread_write_begin();

	if (!t)
		return;
	write_state(t, why);
	fah_thread_write_end(t);
}

static bool any_changed(void)
{
	const struct fah_lined *l;

	for (uint32_t i = 0; (l = fah_lined_at(i)); i++)
		if (atomic_load(&l->changed))
			return true;
	return false;
}

void fah_lines_end(void)
{
	struct fah_thread_state *t;

	/* a fork's child that ran none of it leaves no trace */
	if (!atomic_load(&fah_lining.on) || !atomic_load(&fah_agent.active) ||
	    (atomic_load(&fah_agent.forked) && !any_changed()))
		return;
	t = fah_thread_write_begin();
	if (!t)
		return;
	next_written = 0;
	write_some(t, UINT32_MAX, true);
	write_state(t, "");
	fah_thread_write_end(t);
}

void fah_lines_forked(void)
{
	if (!atomic_load(&fah_lining.on))
		return;
	atomic_store(&writing, false);
	next_written = 0;
	fah_lined_forked();
	fah_lines_threads_forked();
}
