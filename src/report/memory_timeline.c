/* memory_timeline.c - see memory_timeline.h. All numbers are the model's. */
#include "report/memory_timeline.h"

#include "base/number.h"
#include "base/utf8.h"
#include "report/heap.h"

#define LABEL 15 /* columns */
#define BARS_MAX FAH_HEAP_BUCKETS
#define BARS_MIN 12

static struct fah_num bytes(double n)
{
	return fah_num_bytes(fah_heap_bytes(n));
}

static void say(struct fah_text *t, struct fah_strbuf *sb)
{
	t->failed |= sb->failed;
	fah_text_wrap(t, fah_strbuf_str(sb));
	fah_strbuf_release(sb);
}

static const char *label(enum fah_memory_row_kind kind)
{
	static const char *const labels[] = {
		[FAH_MEMORY_HEAP] = "heap",
		[FAH_MEMORY_RESIDENT] = "RSS",
		[FAH_MEMORY_HIGH] = "high-water mark",
		[FAH_MEMORY_SWAPPED] = "swap",
		[FAH_MEMORY_GROUP] = "control group",
		[FAH_MEMORY_AVAILABLE] = "MemAvailable",
	};

	return labels[kind];
}

static void add_limit(struct fah_strbuf *sb, const struct fah_memory_timeline *m)
{
	if (m->limit == FAH_MEMORY_UNKNOWN)
		fah_strbuf_adds(sb, " (limit not known)");
	else if (m->limit == FAH_MEMORY_NO_LIMIT)
		fah_strbuf_adds(sb, " (no limit)");
	else
		fah_strbuf_addf(sb, " of %s", bytes((double)m->limit).s);
}

/* "at most 512.000 MB at 3.200s" */
static void add_words(struct fah_strbuf *sb, const struct fah_memory_timeline *m,
		      enum fah_memory_row_kind kind)
{
	const struct fah_memory_row *row = &m->rows[kind];

	if (!row->known) {
		fah_strbuf_adds(sb, "not known");
		return;
	}
	if (kind == FAH_MEMORY_SWAPPED && !(row->extreme > 0)) {
		fah_strbuf_adds(sb, "none");
		return;
	}
	fah_strbuf_addf(sb, "%s %s", kind == FAH_MEMORY_AVAILABLE ? "at least" : "at most",
			bytes(row->extreme).s);
	if (kind == FAH_MEMORY_GROUP)
		add_limit(sb, m);
	if (kind == FAH_MEMORY_AVAILABLE)
		fah_strbuf_addf(sb, " of %s", bytes((double)m->total).s);
	fah_strbuf_addf(sb, " at %s", fah_num_seconds_short(row->at_s).s);
}

static int longest(const struct fah_memory_timeline *m)
{
	int most = 0;

	for (int i = 0; i < FAH_MEMORY_ROWS; i++) {
		struct fah_strbuf sb = FAH_STRBUF_INIT;

		add_words(&sb, m, (enum fah_memory_row_kind)i);
		most = (int)sb.len > most ? (int)sb.len : most; /* ASCII */
		fah_strbuf_release(&sb);
	}
	return most;
}

/* Where the words don't fit beside the bars they stand below them. */
static void put_row(struct fah_text *t, const struct fah_memory_timeline *m,
		    enum fah_memory_row_kind kind, int bars, bool beside)
{
	const struct fah_memory_row *row = &m->rows[kind];
	struct fah_strbuf words = FAH_STRBUF_INIT;

	add_words(&words, m, kind);
	fah_strbuf_addf(&t->line, "  %-*s ", LABEL, label(kind));
	if (row->known)
		fah_heap_bars(&t->line, t, row->timeline, row->full, bars);
	else
		fah_text_repeat(t, " ", bars);
	if (beside)
		fah_strbuf_addf(&t->line, "  %s", fah_strbuf_str(&words));
	fah_text_end(t);
	if (!beside && (int)words.len + 4 <= t->width)
		fah_text_put(t, "    %s", fah_strbuf_str(&words));
	else if (!beside)
		fah_text_wrap(t, fah_strbuf_str(&words));
	t->failed |= words.failed;
	fah_strbuf_release(&words);
}

static void say_limit(struct fah_text *t, const struct fah_memory_timeline *m)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!m->limited || m->kills)
		return;
	fah_strbuf_addf(
		&sb, "Came within %s of the control group's limit of %s at %s: %s were left",
		fah_share_text(m->left / m->left_of, m->left < 0.1 * m->left_of ? 1 : 0).s,
		bytes(m->left_of).s, fah_num_seconds_short(m->left_at_s).s, bytes(m->left).s);
	fah_strbuf_adds(&sb, ", files that the kernel would drop first not counted.");
	say(t, &sb);
}

static void say_kills(struct fah_text *t, const struct fah_memory_timeline *m)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	const char *rose = m->kills == 1 ? " rose by 1" : " rose by more than 1";

	if (!m->kills)
		return;
	if (m->killed)
		fah_strbuf_addf(
			&sb,
			"The program was killed by the kernel for want of memory: it ended by "
			"SIGKILL, and its control group's count of such kills%s",
			rose);
	else
		fah_strbuf_addf(&sb,
				"The kernel killed %s process%s of the program's control group for "
				"want of memory during the run",
				fah_num_count(m->kills).s, m->kills == 1 ? "" : "es");
	if (m->limit < FAH_MEMORY_NO_LIMIT)
		fah_strbuf_addf(&sb, "; the group's limit is %s", bytes((double)m->limit).s);
	fah_strbuf_adds(&sb, ".");
	if (m->rows[FAH_MEMORY_RESIDENT].known)
		fah_strbuf_addf(&sb, " Last seen: %s of RSS.",
				bytes(m->rows[FAH_MEMORY_RESIDENT].last).s);
	say(t, &sb);
}

void fah_memory_timeline(struct fah_text *t, const struct fah_memory_timeline *m)
{
	int words = longest(m), bars = t->width - (LABEL + 3) - (words + 2);
	bool beside = bars >= BARS_MIN;
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!beside)
		bars = t->width - (LABEL + 3);
	bars = bars < 1 ? 1 : bars > BARS_MAX ? BARS_MAX : bars;
	fah_strbuf_addf(&sb,
			"Memory over the run, 0s to %s%s (full height: the largest of the first "
			"four; the group's limit; the machine's memory):",
			fah_num_seconds_short(m->to_s).s,
			m->n_processes > 1 ? ", of all processes together" : "");
	say(t, &sb);
	for (int i = 0; i < FAH_MEMORY_ROWS; i++)
		put_row(t, m, (enum fah_memory_row_kind)i, bars, beside);
	say_limit(t, m);
	say_kills(t, m);
}
