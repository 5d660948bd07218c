/*
 * text.c - records as text. One table of record types serves the printing and the check that
 * doc/format.md knows them all. Contents that can't be decoded print as "damaged", never stop it.
 */
#include "capture/text.h"

#include "capture/blocks.h"
#include "capture/words.h"
#include "core/err.h"
#include "core/segment.h"

#include <inttypes.h>

/* Append the contents, without the newline of the first line. 0 or FAH_ERR_DAMAGED. */
typedef int print_fn(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out);

static void quote(struct fah_strbuf *out, struct fah_str s)
{
	fah_strbuf_addc(out, '"');
	fah_strbuf_add_printable(out, s.p, s.len);
	fah_strbuf_addc(out, '"');
}

static int print_meta(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_cursor c = {rec->payload, rec->payload + rec->len, false};
	struct fah_str key, value;
	int err;

	while ((err = fah_decode_meta(&c, &key, &value)) > 0) {
		fah_strbuf_addc(out, ' ');
		fah_strbuf_add_printable(out, key.p, key.len);
		fah_strbuf_addc(out, '=');
		quote(out, value);
	}
	return err;
}

static int print_string(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_str s;
	int err = fah_decode_string(rec, &s);

	fah_strbuf_addf(out, " %u ", ++t->strings);
	if (err == 0)
		quote(out, s);
	return err;
}

static int print_function(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_function f;
	int err = fah_decode_function(rec, &f);

	fah_strbuf_addf(out, " %u", ++t->functions);
	if (err == 0)
		fah_strbuf_addf(out, " file=%u name=%u qualname=%u first_line=%u%s", f.file, f.name,
				f.qualname, f.first_line,
				f.kind == FAH_FUNCTION_PYTHON	? ""
				: f.kind == FAH_FUNCTION_NATIVE ? " native"
								: " runtime");
	if (err == 0 && f.module)
		fah_strbuf_addf(out, " module=%u", f.module);
	return err;
}

static int print_nodes(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_nodes_block block;
	struct fah_node_item item;
	int err = fah_nodes_open(rec, &block);

	if (err < 0)
		return err;
	fah_strbuf_addf(out, " count=%u", block.left);
	while (fah_nodes_next(&block, &item)) {
		t->nodes++;
		fah_strbuf_addf(out, "\n  %u parent=", t->nodes);
		if (item.distance && item.distance <= t->nodes)
			fah_strbuf_addf(out, "%u", t->nodes - item.distance);
		else
			fah_strbuf_adds(out, "?");
		fah_strbuf_addf(out, " function=%u line=%u", item.function, item.line);
	}
	return block.c.bad ? FAH_ERR_DAMAGED : 0;
}

static int print_process(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_process p;
	int err = fah_decode_process(rec, &p);

	fah_strbuf_addf(out, " %u", ++t->processes);
	if (err < 0)
		return err;
	fah_strbuf_addf(out,
			" pid=%u ppid=%u forked=%u python=%08x start=%" PRIu64 " period=%" PRIu64
			" clock=%u cmdline=",
			p.pid, p.ppid, p.forked, p.python_version, p.start_ns, p.period_ns,
			p.clock);
	quote(out, p.cmdline);
	return 0;
}

static int print_thread(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_thread thread;
	int err = fah_decode_thread(rec, &thread);

	fah_strbuf_addf(out, " %u", ++t->threads);
	if (err < 0)
		return err;
	fah_strbuf_addf(out, " process=%u tid=%u start=%" PRIu64 " name=", thread.process,
			thread.tid, thread.start_ns);
	quote(out, thread.name);
	return 0;
}

static int print_samples(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_samples_block block;
	struct fah_sample_item item;
	int err = fah_samples_open(rec, &block);

	if (err < 0)
		return err;
	fah_strbuf_addf(out, " thread=%u count=%u base=%" PRIu64 " usual=%" PRIu64, block.thread,
			block.left, block.time_ns, block.usual_us);
	while (fah_samples_next(&block, &item)) {
		fah_strbuf_addf(out, "\n  time=%" PRIu64 " cpu=%" PRIu64 " node=%u %s%s%s%s%s%s%s",
				item.time_ns, item.cpu_ns, item.node, fah_where_words(item.flags),
				item.flags & FAH_SAMPLE_TRUNCATED ? " truncated" : "",
				item.flags & FAH_SAMPLE_RECOVERED ? " recovered" : "",
				item.flags & FAH_SAMPLE_NO_PYTHON ? " no-python" : "",
				item.flags & FAH_SAMPLE_RAN_ON ? " ran-on" : "",
				item.flags & FAH_SAMPLE_IN_GC ? " gc" : "",
				item.flags & FAH_SAMPLE_IN_JIT ? " jit" : "");
		if (item.flags & FAH_SAMPLE_SYSTEM_PART)
			fah_strbuf_addf(out, " system=%" PRIu64, item.system_ns);
	}
	return block.c.bad ? FAH_ERR_DAMAGED : 0;
}

static int print_waits(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_waits_block block;
	struct fah_wait_item item;
	int err = fah_waits_open(rec, &block);

	if (err < 0)
		return err;
	fah_strbuf_addf(out, " thread=%u count=%u base=%" PRIu64, block.thread, block.left,
			block.time_ns);
	while (fah_waits_next(&block, &item))
		fah_strbuf_addf(out,
				"\n  time=%" PRIu64 " length=%" PRIu64 " waited=%" PRIu64
				" node=%u %s",
				item.time_ns, item.length_ns, item.waited_ns, item.node,
				fah_wait_words(item.reason));
	return block.c.bad ? FAH_ERR_DAMAGED : 0;
}

static int print_states(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_states s;
	int err = fah_decode_states(rec, &s);

	if (err == 0)
		fah_strbuf_addf(out, " thread=%u time=%" PRIu64 " cpu=%" PRIu64 " ready=%" PRIu64,
				s.thread, s.time_ns, s.cpu_ns, s.ready_ns);
	return err;
}

static int print_drops(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_drops d;
	int err = fah_decode_drops(rec, &d);

	if (err == 0)
		fah_strbuf_addf(out,
				" thread=%u time=%" PRIu64 " count=%" PRIu64 " cpu=%" PRIu64
				" reason=%u (%s)",
				d.thread, d.time_ns, d.count, d.cpu_ns, d.reason,
				fah_drop_words(d.reason));
	return err;
}

static int print_thread_end(struct fah_text *t, const struct fah_record *rec,
			    struct fah_strbuf *out)
{
	struct fah_rec_thread_end e;
	int err = fah_decode_thread_end(rec, &e);

	if (err == 0)
		fah_strbuf_addf(out, " thread=%u time=%" PRIu64 " cpu=%" PRIu64, e.thread,
				e.time_ns, e.cpu_ns);
	if (err == 0 && e.start_ns != UINT64_MAX)
		fah_strbuf_addf(out, " start=%" PRIu64 " before=%" PRIu64, e.start_ns, e.before_ns);
	return err;
}

static int print_process_end(struct fah_text *t, const struct fah_record *rec,
			     struct fah_strbuf *out)
{
	struct fah_rec_process_end e;
	int err = fah_decode_process_end(rec, &e);
	uint32_t i;

	if (err < 0)
		return err;
	fah_strbuf_addf(out,
			" process=%u time=%" PRIu64 " user=%" PRIu64 " system=%" PRIu64
			" max_rss=%" PRIu64 " samples=%" PRIu64 " recovered=%" PRIu64 " drops=",
			e.process, e.time_ns, e.user_ns, e.system_ns, e.max_rss_bytes, e.samples,
			e.recovered);
	for (i = 0; i < e.n_drops; i++)
		fah_strbuf_addf(out, "%s%" PRIu64, i ? "," : "", e.drops[i]);
	fah_strbuf_addf(out, " status=%u (%s) reason=", e.status, fah_status_words(e.status));
	quote(out, e.reason);
	return 0;
}

/* "8000:3,10000:1": how many from that many ns on. */
static void add_hist(struct fah_strbuf *out, const char *what, const struct fah_hist *h)
{
	const char *between = " ";

	fah_strbuf_addf(out, "\n  %s: %" PRIu64 ", sum=%" PRIu64 " max=%" PRIu64, what, h->count,
			h->sum_ns, h->max_ns);
	for (uint32_t i = 0; i < FAH_HIST_BUCKETS; i++)
		if (h->buckets[i]) {
			fah_strbuf_addf(out, "%s%" PRIu64 ":%" PRIu64, between, fah_hist_from(i),
					h->buckets[i]);
			between = ",";
		}
}

static int print_health(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_health h;
	int err = fah_decode_health(rec, &h);

	if (err < 0)
		return err;
	fah_strbuf_addf(out, " process=%u intervals=%" PRIu64 " native_stops=", h.process,
			h.interval_sum_ns);
	for (unsigned i = 0; i < FAH_NATIVE_STOPS; i++)
		fah_strbuf_addf(out, "%s%" PRIu64, i ? "," : "", h.native_stops[i]);
	fah_strbuf_addf(out, " told=%" PRIu64, h.told_ns);
	add_hist(out, "handlers", &h.handlers);
	add_hist(out, "gaps", &h.gaps);
	return 0;
}

static int print_iterations(struct fah_text *t, const struct fah_record *rec,
			    struct fah_strbuf *out)
{
	struct fah_rec_iterations it;
	int err = fah_decode_iterations(rec, &it);

	if (err == 0)
		fah_strbuf_addf(out,
				" thread=%u loop=%" PRIu64 " label=%u first=%" PRIu64
				" count=%" PRIu64 " time=%" PRIu64 " wall=%" PRIu64 " cpu=%" PRIu64
				" squares=%" PRIu64,
				it.thread, it.loop, it.label, it.first, it.count, it.time_ns,
				it.wall_ns, it.cpu_ns, it.squares);
	return err;
}

static int print_calls(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_calls c;
	int err = fah_decode_calls(rec, &c);

	if (err == 0)
		fah_strbuf_addf(out,
				" process=%u time=%" PRIu64
				" function=%u caller=%u line=%u place=%u count=%" PRIu64
				" starts=%" PRIu64 " in_starts=%" PRIu64 " of=%" PRIu64
				" missed=%" PRIu64 " other=%u starts=%" PRIu64 " in_starts=%" PRIu64
				" of=%" PRIu64 " passed=%" PRIu64,
				c.process, c.time_ns, c.function, c.caller, c.line, c.place,
				c.count, c.by_caller.starts, c.by_caller.calls, c.by_caller.total,
				c.missed, c.by_other.function, c.by_other.starts, c.by_other.calls,
				c.by_other.total, c.passed);
	return err;
}

static int print_counting(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_counting c;
	int err = fah_decode_counting(rec, &c);

	if (err == 0)
		fah_strbuf_addf(out, " process=%u time=%" PRIu64 " function=%u on=%u work=%" PRIu64,
				c.process, c.time_ns, c.function, c.on, c.work_ns);
	return err;
}

static int print_timed(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_timed r;
	int err = fah_decode_timed(rec, &r);

	if (err == 0)
		fah_strbuf_addf(out,
				" process=%u function=%u caller=%u whole=%d calls=%" PRIu64
				" recursive=%" PRIu64 " self=%" PRId64 " total=%" PRId64,
				r.process, r.function, r.caller, r.whole, r.calls, r.recursive,
				r.self_ns, r.total_ns);
	return err;
}

static int print_lines(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_lines lines;
	struct fah_rec_line l;
	int err = fah_decode_lines(rec, &lines);

	if (err < 0)
		return err;
	fah_strbuf_addf(out, " process=%u time=%" PRIu64 " function=%u code=%u marked=%u",
			lines.process, lines.time_ns, lines.function, lines.code, lines.marked);
	while ((err = fah_lines_next(&lines, &l)) > 0)
		fah_strbuf_addf(out, " line=%u hits=%" PRIu64 " ns=%" PRIu64 " called=%" PRIu64,
				l.line, l.hits, l.ns, l.called_ns);
	return err;
}

static int print_lines_state(struct fah_text *t, const struct fah_record *rec,
			     struct fah_strbuf *out)
{
	struct fah_rec_lines_state s;
	int err = fah_decode_lines_state(rec, &s);

	if (err < 0)
		return err;
	fah_strbuf_addf(out,
			" process=%u time=%" PRIu64 " line_ns=%" PRIu64 " lost_functions=%" PRIu64
			" lost_frames=%" PRIu64 " lost_lines=%" PRIu64 " why=",
			s.process, s.time_ns, s.line_ns, s.lost_functions, s.lost_frames,
			s.lost_lines);
	fah_strbuf_add_printable(out, s.why.p, s.why.len);
	return 0;
}

static int print_alloc(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_alloc a;
	int err = fah_decode_alloc(rec, &a);

	if (err == 0)
		fah_strbuf_addf(out,
				" thread=%u time=%" PRIu64 " block=%" PRIu64
				" kind=%s node=%u bytes=%" PRIu64 " held=%" PRIu64 " most=%" PRIu64,
				a.thread, a.time_ns, a.block, fah_memory_words(a.kind), a.node,
				a.bytes, a.held, a.most);
	return err;
}

static int print_free(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_free f;
	int err = fah_decode_free(rec, &f);

	if (err == 0)
		fah_strbuf_addf(out,
				" process=%u time=%" PRIu64 " block=%" PRIu64 " held=%" PRIu64
				" most=%" PRIu64 " ending=%u",
				f.process, f.time_ns, f.block, f.held, f.most, f.ending);
	return err;
}

static int print_blocks(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_blocks b;
	struct fah_blocks_reader r;
	struct fah_blocks_item item;
	int err = fah_decode_blocks(rec, &b);

	if (err < 0)
		return err;
	fah_strbuf_addf(out,
			" thread=%u time=%" PRIu64 " age=%" PRIu64 " ending=%u first=%" PRIu64
			" held=%" PRIu64 " most=%" PRIu64 " sites=",
			b.thread, b.time_ns, b.age_ns, b.ending, b.first, b.held, b.most);
	for (uint32_t i = 0; i < b.n_sites; i++)
		fah_strbuf_addf(out, "%s%u", i ? "," : "", (uint32_t)fah_get_varint(&b.sites));
	fah_blocks_begin(&r, &b);
	while ((err = fah_blocks_next(&r, &item)) > 0) {
		switch (item.what) {
		case FAH_BLOCKS_CAME:
			fah_strbuf_addf(out, " +%" PRIu64 ":%s/%u/%" PRIu64, item.number,
					fah_memory_words(item.kind), item.site, item.bytes);
			break;
		case FAH_BLOCKS_WENT:
			fah_strbuf_addf(out, " -%" PRIu64, item.number);
			break;
		case FAH_BLOCKS_CHANGED:
			fah_strbuf_addf(out, " held%+" PRId64, (int64_t)item.bytes);
			break;
		case FAH_BLOCKS_PASSED:
			fah_strbuf_addf(out, " ns+%" PRIu64, item.bytes);
			break;
		}
	}
	return err;
}

static int print_heap(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_heap h;
	int err = fah_decode_heap(rec, &h);

	if (err == 0)
		fah_strbuf_addf(out,
				" process=%u time=%" PRIu64 " interval=%" PRIu64 " before=%" PRIu64
				" python=%" PRIu64 " native=%" PRIu64 " most=%" PRIu64
				" lost=%" PRIu64 " copied=%" PRIu64,
				h.process, h.time_ns, h.interval, h.before, h.python, h.native,
				h.most, h.lost, h.copied);
	return err;
}

static int print_copy(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_copy c;
	int err = fah_decode_copy(rec, &c);

	if (err == 0)
		fah_strbuf_addf(out,
				" thread=%u time=%" PRIu64 " node=%u bytes=%" PRIu64
				" interval=%" PRIu64,
				c.thread, c.time_ns, c.node, c.bytes, c.interval);
	return err;
}

static void print_figure(struct fah_strbuf *out, const char *name, uint64_t value)
{
	if (value == FAH_MEMORY_UNKNOWN)
		fah_strbuf_addf(out, " %s=?", name);
	else
		fah_strbuf_addf(out, " %s=%" PRIu64, name, value);
}

static int print_memory(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_memory m;
	int err = fah_decode_memory(rec, &m);

	if (err < 0)
		return err;
	fah_strbuf_addf(out, " process=%u time=%" PRIu64, m.process, m.time_ns);
	if (m.process) {
		print_figure(out, "resident", m.resident);
		print_figure(out, "swapped", m.swapped);
		print_figure(out, "high", m.high);
		return 0;
	}
	print_figure(out, "total", m.total);
	print_figure(out, "available", m.available);
	print_figure(out, "used", m.used);
	print_figure(out, "cache", m.cache);
	print_figure(out, "limit", m.limit);
	print_figure(out, "kills", m.kills);
	return 0;
}

static int print_end(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	struct fah_rec_end e;
	int err = fah_decode_end(rec, &e);

	if (err == 0)
		fah_strbuf_addf(out,
				" wall=%" PRIu64 " user=%" PRIu64 " system=%" PRIu64
				" max_rss=%" PRIu64 " wait_status=0x%x lost_records=%" PRIu64
				" lost_bytes=%" PRIu64,
				e.wall_ns, e.user_ns, e.system_ns, e.max_rss_bytes, e.wait_status,
				e.lost_records, e.lost_bytes);
	return err;
}

static const struct record_type {
	enum fah_record_type type;
	const char *name;
	print_fn *print;
} record_types[] = {
	{FAH_REC_META, "META", print_meta},
	{FAH_REC_STRING, "STRING", print_string},
	{FAH_REC_FUNCTION, "FUNCTION", print_function},
	{FAH_REC_NODES, "NODES", print_nodes},
	{FAH_REC_PROCESS, "PROCESS", print_process},
	{FAH_REC_THREAD, "THREAD", print_thread},
	{FAH_REC_SAMPLES, "SAMPLES", print_samples},
	{FAH_REC_DROPS, "DROPS", print_drops},
	{FAH_REC_THREAD_END, "THREAD_END", print_thread_end},
	{FAH_REC_PROCESS_END, "PROCESS_END", print_process_end},
	{FAH_REC_END, "END", print_end},
	{FAH_REC_WAITS, "WAITS", print_waits},
	{FAH_REC_STATES, "STATES", print_states},
	{FAH_REC_HEALTH, "HEALTH", print_health},
	{FAH_REC_ITERATIONS, "ITERATIONS", print_iterations},
	{FAH_REC_CALLS, "CALLS", print_calls},
	{FAH_REC_COUNTING, "COUNTING", print_counting},
	{FAH_REC_TIMED, "TIMED", print_timed},
	{FAH_REC_LINES, "LINES", print_lines},
	{FAH_REC_LINES_STATE, "LINES_STATE", print_lines_state},
	{FAH_REC_ALLOC, "ALLOC", print_alloc},
	{FAH_REC_FREE, "FREE", print_free},
	{FAH_REC_HEAP, "HEAP", print_heap},
	{FAH_REC_COPY, "COPY", print_copy},
	{FAH_REC_BLOCKS, "BLOCKS", print_blocks},
	{FAH_REC_MEMORY, "MEMORY", print_memory},
};

static const struct record_type *find(unsigned type)
{
	size_t i;

	for (i = 0; i < sizeof(record_types) / sizeof(record_types[0]); i++)
		if ((unsigned)record_types[i].type == type)
			return &record_types[i];
	return NULL;
}

const char *fah_record_name(unsigned type)
{
	const struct record_type *found = find(type);

	return found ? found->name : NULL;
}

void fah_text_record(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out)
{
	const struct record_type *found = find(rec->type);

	fah_strbuf_addf(out, "%08" PRIx64 " ", rec->offset);
	if (!found) {
		fah_strbuf_addf(out, "unknown type %u, %u bytes", rec->type, rec->len);
	} else {
		fah_strbuf_adds(out, found->name);
		if (found->print(t, rec, out) < 0)
			fah_strbuf_adds(out, " damaged");
	}
	fah_strbuf_addc(out, '\n');
}
