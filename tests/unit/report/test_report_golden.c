/*
 * test_report_golden.c - whole reports, compared with the files in golden/. With
 * FAH_UPDATE_GOLDEN=1 they are written anew: look at the difference before you commit it.
 *
 * Sources lie in a temporary folder, whose name is replaced by one of the same length.
 */
#include "golden.h"

#include "build_heap.h"

#include "report/closing.h"
#include "report/inspect.h"
#include "report/lines.h"
#include "report/summary.h"

#include <sys/stat.h>

#define SHOWN "/home/me/the-project"

#define TEMPORARY "/tmp/fah-test-"

static char dir[] = TEMPORARY "XXXXXX";

_Static_assert(sizeof(dir) == sizeof(SHOWN), "the replacement must not move columns");

static const char advanced[] =
	"import json\n"
	"\n"
	"\n"
	"def data_serialization(n):\n"
	"    text = json.dumps(list(range(n)))\n"
	"    return json.loads(text)\n"
	"\n"
	"\n"
	"class Analysis:\n"
	"\tdef fourier(self, 信号):\n"
	"\t\tgrüße = [x ** 2 for x in 信号]  # 信号の二乗 👩‍💻 \n"
	"\t\treturn sum(grüße) + 0.000000000000000000000000000000000000000000000000000"
	"000000000000000000000000001\n"
	"\n"
	"data_serialization(10)\n";

static int setup(void **state)
{
	char path[64];

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/advanced.py", dir);
	return fah_file_replace(path, advanced, sizeof(advanced) - 1);
}

static int teardown(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/advanced.py", dir);
	unlink(path);
	return rmdir(dir);
}

struct run {
	struct build b;
	uint32_t thread;
	double at;
};

static uint32_t in_file(struct run *r, const char *file, const char *name, uint32_t line)
{
	char path[128];

	snprintf(path, sizeof(path), "%s%s%s", file[0] == '/' ? "" : dir, file[0] == '/' ? "" : "/",
		 file);
	return build_function(&r->b, path, name, name, line);
}

static void spend(struct run *r, double ms, uint32_t flags, uint32_t node)
{
	for (double until = r->at + ms; r->at + 1 < until;) {
		r->at += 4;
		fah_writer_sample(r->b.w, r->thread, MS(r->at), MS(4), flags, node);
	}
}

/* 8 s of work in 10 s: several files and folders, a child process, drops, code outside. */
static struct fah_profile *whole_run(void)
{
	struct run r = {.at = 20};
	uint32_t module, data, fourier, dumps, deep, other, top, process, child;
	struct fah_process_end end = {.status = FAH_AGENT_ENDED,
				      .time_ns = MS(9900),
				      .max_rss_bytes = 767800000,
				      .samples = 2000,
				      .recovered = 2,
				      .reason = ""};

	build_begin(&r.b);
	process = build_process(&r.b, 10, 20);
	r.thread = build_thread(&r.b, process, 10, 20);
	module = in_file(&r, "advanced.py", "<module>", 1);
	data = in_file(&r, "advanced.py", "data_serialization", 4);
	fourier = in_file(&r, "advanced.py", "Analysis.fourier", 10);
	dumps = in_file(&r, "/usr/lib/python3.11/json/encoder.py", "JSONEncoder.encode", 183);
	deep = in_file(&r, "pkg/deep/er.py", "面白い関数.<locals>.<lambda>", 7);
	other = in_file(&r, "pkg/other.py", "evil\033[31m\nname", 70000);
	top = fah_writer_node(r.b.w, 0, module, 14);
	spend(&r, 40, FAH_IN_SYSTEM, top);
	spend(&r, 2000, FAH_IN_NATIVE,
	      fah_writer_node(r.b.w, fah_writer_node(r.b.w, top, data, 5), dumps, 200));
	spend(&r, 3000, FAH_IN_PYTHON, fah_writer_node(r.b.w, top, data, 6));
	spend(&r, 600, FAH_IN_PYTHON, fah_writer_node(r.b.w, top, fourier, 11));
	spend(&r, 400, FAH_IN_NATIVE, fah_writer_node(r.b.w, top, fourier, 12));
	spend(&r, 400, FAH_IN_SYSTEM, fah_writer_node(r.b.w, top, fourier, 12));
	spend(&r, 800, FAH_IN_PYTHON, fah_writer_node(r.b.w, top, deep, 8));
	spend(&r, 200, FAH_IN_PYTHON, fah_writer_node(r.b.w, top, other, 70001));
	spend(&r, 200, FAH_IN_PYTHON, fah_writer_node(r.b.w, 0, dumps, 201));
	spend(&r, 100, FAH_IN_NATIVE | FAH_SAMPLE_NO_PYTHON, 0);
	fah_writer_drops(r.b.w, r.thread, MS(r.at + 40), FAH_DROP_FRAME, 10, MS(40));
	fah_writer_thread_end(r.b.w, r.thread, MS(9900), MS(7780));
	end.process = process;
	fah_writer_process_end(r.b.w, &end);
	child = build_process(&r.b, 11, 9000);
	r.at = 9000;
	r.thread = build_thread(&r.b, child, 11, 9000);
	spend(&r, 200, FAH_IN_PYTHON, fah_writer_node(r.b.w, top, data, 6));
	build_process_end(&r.b, child, 9300, 120300000);
	return build_load(&r.b, 10000, 8100);
}

static char *printed(struct fah_profile *p, const struct fah_report_options *o,
		     int (*report)(FILE *, struct fah_profile *, const struct fah_report_options *))
{
	char *text = NULL, *at;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(report(f, p, o), 0);
	fclose(f);
	/* Also where a narrow column cut it. */
	for (at = text; (at = strstr(at, TEMPORARY)) != NULL; at++)
		for (size_t i = 0; dir[i] && at[i] == dir[i]; i++)
			at[i] = SHOWN[i];
	return text;
}

static void check(struct fah_profile *p, const char *name, struct fah_report_options o,
		  int (*report)(FILE *, struct fah_profile *, const struct fah_report_options *))
{
	const char *dirs[] = {dir};
	struct fah_scope scope = {.dirs = dirs, .n_dirs = 1};
	char *text;

	o.root = dir;
	if (!o.scope)
		o.scope = &scope;
	text = printed(p, &o, report);
	golden_compare(name, text);
	free(text);
}

static void summaries(void **state)
{
	static const struct fah_scope everything = {.everything = true};
	struct fah_profile *p = whole_run();

	(void)state;
	check(p, "summary", (struct fah_report_options){.width = 80, .utf8 = true},
	      fah_report_summary);
	check(p, "summary-ascii", (struct fah_report_options){.width = 80}, fah_report_summary);
	check(p, "summary-narrow", (struct fah_report_options){.width = 40, .utf8 = true},
	      fah_report_summary);
	check(p, "summary-colour",
	      (struct fah_report_options){.width = 80,
					  .utf8 = true,
					  .colour = true,
					  .note = "Check logs logs.log (1 warning)"},
	      fah_report_summary);
	check(p, "summary-seconds",
	      (struct fah_report_options){
		      .width = 80, .utf8 = true, .seconds = true, .trace = true},
	      fah_report_summary);
	check(p, "summary-everything",
	      (struct fah_report_options){.utf8 = true, .scope = &everything}, fah_report_summary);
	fah_profile_free(p);
}

static void tables(void **state)
{
	struct fah_profile *p = whole_run();

	(void)state;
	check(p, "lines", (struct fah_report_options){.utf8 = true}, fah_report_lines);
	check(p, "lines-ascii", (struct fah_report_options){.width = 80}, fah_report_lines);
	check(p, "lines-narrow", (struct fah_report_options){.width = 50, .utf8 = true},
	      fah_report_lines);
	check(p, "lines-colour",
	      (struct fah_report_options){.width = 80, .utf8 = true, .colour = true},
	      fah_report_lines);
	fah_profile_free(p);
}

static void wait_for(struct run *r, double ms, uint32_t reason, uint32_t node)
{
	for (double until = r->at + ms; r->at + 1 < until;) {
		r->at += 50;
		fah_writer_wait(r->b.w, r->thread, MS(r->at), MS(50), MS(50), reason, node);
	}
}

/*
 * 10 s: 4 s of work, 3 s on a socket inside the standard library, 1.2 s for a lock, 0.3 s for the
 * disk, 0.08 s for a pipe on the socket's line, 1.42 s unseen, of which 0.4 s had no core.
 */
static void begin_waiting(struct run *r)
{
	uint32_t module, data, fourier, recv, top, process;

	build_begin(&r->b);
	process = build_process(&r->b, 10, 0);
	r->thread = fah_writer_thread(r->b.w, process, 10, 0, "MainThread", 10);
	module = in_file(r, "advanced.py", "<module>", 1);
	data = in_file(r, "advanced.py", "data_serialization", 4);
	fourier = in_file(r, "advanced.py", "Analysis.fourier", 10);
	recv = in_file(r, "/usr/lib/python3.11/socket.py", "socket.recv", 183);
	top = fah_writer_node(r->b.w, 0, module, 14);
	spend(r, 1000, FAH_IN_PYTHON, fah_writer_node(r->b.w, top, data, 5));
	wait_for(r, 3000, FAH_WAIT_SOCKET,
		 fah_writer_node(r->b.w, fah_writer_node(r->b.w, top, data, 6), recv, 200));
	spend(r, 3000, FAH_IN_NATIVE, fah_writer_node(r->b.w, top, fourier, 11));
	wait_for(r, 1200, FAH_WAIT_LOCK, fah_writer_node(r->b.w, top, fourier, 12));
	wait_for(r, 300, FAH_WAIT_DISK, fah_writer_node(r->b.w, top, fourier, 12));
	r->at += 80;
	fah_writer_wait(r->b.w, r->thread, MS(r->at), MS(80), MS(80), FAH_WAIT_PIPE,
			fah_writer_node(r->b.w, top, data, 6));
	fah_writer_states(r->b.w, r->thread, MS(r->at), MS(4000), 0);
	fah_writer_states(r->b.w, r->thread, MS(10000), MS(4000), MS(400));
	fah_writer_thread_end(r->b.w, r->thread, MS(10000), MS(4000));
	build_process_end(&r->b, process, 10000, 9000000);
}

static void waiting(void **state)
{
	struct run r = {.at = 0};
	struct fah_profile *p;

	(void)state;
	begin_waiting(&r);
	p = build_load(&r.b, 10000, 4000);
	check(p, "waiting", (struct fah_report_options){.width = 80, .utf8 = true},
	      fah_report_summary);
	check(p, "waiting-ascii", (struct fah_report_options){.width = 80}, fah_report_summary);
	check(p, "waiting-lines", (struct fah_report_options){.utf8 = true}, fah_report_lines);
	check(p, "waiting-lines-ascii", (struct fah_report_options){.width = 80}, fah_report_lines);
	check(p, "waiting-lines-narrow", (struct fah_report_options){.width = 56, .utf8 = true},
	      fah_report_lines);
	check(p, "waiting-lines-colour",
	      (struct fah_report_options){.width = 80, .utf8 = true, .colour = true},
	      fah_report_lines);
	fah_profile_free(p);
}

/* Not one sample, and still an answer. */
/* As record says it, which shows no waiting itself. */
static int why_empty(FILE *out, struct fah_profile *p, const struct fah_report_options *o)
{
	struct fah_text t;

	fah_text_init(&t, out, o);
	fah_closing_empty(&t, p);
	return fah_text_finish(&t);
}

static void only_waiting(void **state)
{
	struct run r = {.at = 0};
	struct fah_profile *p;

	(void)state;
	build_begin(&r.b);
	r.thread = build_thread(&r.b, build_process(&r.b, 10, 0), 10, 0);
	wait_for(&r, 2000, FAH_WAIT_SLEEP,
		 fah_writer_node(r.b.w, 0, in_file(&r, "advanced.py", "<module>", 1), 14));
	fah_writer_thread_end(r.b.w, r.thread, MS(2000), 0);
	p = build_load(&r.b, 2000, 2);
	check(p, "only-waiting", (struct fah_report_options){.width = 80, .utf8 = true},
	      fah_report_summary);
	check(p, "only-waiting-lines", (struct fah_report_options){.width = 80, .utf8 = true},
	      fah_report_lines);
	check(p, "only-waiting-record", (struct fah_report_options){.width = 80, .utf8 = true},
	      why_empty);
	fah_profile_free(p);
}

/* Three samples make no rate; and where nearly all is waiting, they are not too few. */
static void little_but_waiting(void **state)
{
	struct run r = {.at = 0};
	struct fah_profile *p;
	uint32_t node;

	(void)state;
	build_begin(&r.b);
	r.thread = build_thread(&r.b, build_process(&r.b, 10, 0), 10, 0);
	node = fah_writer_node(r.b.w, 0, in_file(&r, "advanced.py", "<module>", 1), 14);
	wait_for(&r, 2000, FAH_WAIT_SLEEP, node);
	for (int i = 1; i <= 3; i++)
		fah_writer_sample(r.b.w, r.thread, MS(2000) + i * 1000, 1000, FAH_IN_PYTHON, node);
	fah_writer_thread_end(r.b.w, r.thread, MS(2000), MS(1));
	p = build_load(&r.b, 2001, 2);
	assert_true(fah_profile_totals(p)->samples == 3);
	check(p, "little-but-waiting", (struct fah_report_options){.width = 80, .utf8 = true},
	      fah_report_summary);
	fah_profile_free(p);
}

/* What inspect says: of one thread that waits, then of 30 more, one with a name to be careful with.
 */
static void inspected(void **state)
{
	(void)state;
	for (int many = 0; many < 2; many++) {
		struct run r = {.at = 0};
		char *text = NULL, *at;
		size_t len;
		FILE *f;

		begin_waiting(&r);
		for (uint32_t i = 0; many && i < 30; i++) {
			uint32_t thread;

			thread = fah_writer_thread(
				r.b.w, 1, 100 + i, MS(5000),
				i ? "worker" : "evil\033[31m 面白い名前 and so on", i ? 6 : 36);
			fah_writer_thread_end(r.b.w, thread, MS(9000), MS(30 - i));
		}
		build_finish(&r.b, 10000, 4000);
		f = open_memstream(&text, &len);
		assert_non_null(f);
		assert_int_equal(fah_report_inspect(f, r.b.path, &(struct fah_inspect_options){0}),
				 0);
		fclose(f);
		build_remove(&r.b);
		at = strstr(text, r.b.path + 5); /* without "/tmp/" */
		assert_non_null(at);
		memcpy(at, "profile-of-a-test.fah", strlen(r.b.path + 5));
		golden_compare(many ? "inspect-threads" : "inspect", text);
		free(text);
	}
}

static void nothing_sampled(void **state)
{
	struct fah_process_end end = {.status = FAH_AGENT_ENDED,
				      .time_ns = MS(5),
				      .max_rss_bytes = 9000000,
				      .reason = ""};
	struct fah_profile *p;
	struct build b;

	(void)state;
	build_begin(&b);
	end.process = build_process(&b, 10, 1);
	build_thread(&b, end.process, 10, 1);
	fah_writer_process_end(b.w, &end);
	p = build_load(&b, 5, 4);
	check(p, "empty", (struct fah_report_options){.width = 80, .utf8 = true},
	      fah_report_summary);
	check(p, "empty-lines", (struct fah_report_options){.width = 80, .utf8 = true},
	      fah_report_lines);
	fah_profile_free(p);
}

/* A limit kept every process from being recorded: it is named. */
static void silence(void **state)
{
	struct fah_profile *p;
	struct build b;

	(void)state;
	build_begin(&b);
	fah_writer_meta(b.w, "silence", "the profiler may not open enough files (ulimit -n)");
	p = build_load(&b, 1000, 900);
	check(p, "silence", (struct fah_report_options){.width = 80, .utf8 = true},
	      fah_report_summary);
	fah_profile_free(p);
}

/* A second of one thread, then one of a thread of C that blocks all signals. */
static void unsampled(void **state)
{
	struct run r = {.at = 0};
	struct fah_profile *p;
	uint32_t process, other;

	(void)state;
	build_begin(&r.b);
	process = build_process(&r.b, 10, 0);
	r.thread = build_thread(&r.b, process, 10, 0);
	spend(&r, 1000, FAH_IN_PYTHON,
	      fah_writer_node(r.b.w, 0, in_file(&r, "advanced.py", "<module>", 1), 14));
	fah_writer_thread_end(r.b.w, r.thread, MS(2000), MS(1000));
	other = build_thread(&r.b, process, 11, 1000);
	fah_writer_thread_end(r.b.w, other, MS(2000), MS(1000));
	build_process_end(&r.b, process, 2000, 9000000);
	p = build_load(&r.b, 2000, 2000);
	check(p, "unsampled", (struct fah_report_options){.width = 80, .utf8 = true},
	      fah_report_summary);
	fah_profile_free(p);
}

static void refused(void **state)
{
	struct fah_process_end end = {.status = FAH_AGENT_REFUSED,
				      .time_ns = MS(900),
				      .max_rss_bytes = 9000000,
				      .reason =
					      "its frames are not laid out as this version's are"};
	struct fah_profile *p;
	struct build b;

	(void)state;
	build_begin(&b);
	end.process = build_process(&b, 10, 1);
	fah_writer_process_end(b.w, &end);
	p = build_load(&b, 1000, 900);
	check(p, "refused", (struct fah_report_options){.width = 80, .utf8 = true},
	      fah_report_summary);
	fah_profile_free(p);
}

static void cut_and_few(void **state)
{
	struct run r = {.at = 0};
	struct fah_profile *p;
	uint32_t f;

	(void)state;
	build_begin(&r.b);
	r.thread = build_thread(&r.b, build_process(&r.b, 10, 0), 10, 0);
	f = in_file(&r, "gone.py", "f", 3);
	spend(&r, 20, FAH_IN_PYTHON, fah_writer_node(r.b.w, 0, f, 4));
	p = build_load(&r.b, 0, 0);
	check(p, "cut", (struct fah_report_options){.width = 80, .utf8 = true}, fah_report_summary);
	check(p, "cut-lines", (struct fah_report_options){.width = 80, .utf8 = true},
	      fah_report_lines);
	fah_profile_free(p);
}

/* The same of a run that goes on: said first, and not taken for a cut one. */
static void so_far(void **state)
{
	const struct fah_report_options o = {
		.width = 80, .utf8 = true, .so_far = true, .rss_bytes = 12345678};
	struct run r = {.at = 0};
	struct fah_profile *p;
	uint32_t f;

	(void)state;
	build_begin(&r.b);
	fah_writer_meta(r.b.w, "start_real_ns", "1700000000123456789");
	r.thread = build_thread(&r.b, build_process(&r.b, 10, 0), 10, 0);
	f = in_file(&r, "gone.py", "f", 3);
	spend(&r, 2000, FAH_IN_PYTHON, fah_writer_node(r.b.w, 0, f, 4));
	p = build_load(&r.b, 0, 0);
	check(p, "so-far", o, fah_report_summary);
	fah_profile_free(p);
	build_begin(&r.b);
	p = build_load(&r.b, 0, 0);
	check(p, "so-far-nothing", o, fah_report_summary);
	fah_profile_free(p);
}

/*
 * 10 s with memory, one block in 1 MB recorded: line 5 holds 40 MB and then 80, line 6 loses 8 MB a
 * second, line 11 has garbage of 30 MB, a file that took no time holds 12, json itself 20.
 */
static struct fah_profile *run_with_memory(uint64_t interval)
{
	struct run r = {.at = 20};
	uint32_t module, data, fourier, deep, dumps, top, process, text, kept, junk;
	struct memory m;

	build_begin(&r.b);
	process = build_process(&r.b, 10, 0);
	r.thread = build_thread(&r.b, process, 10, 0);
	module = in_file(&r, "advanced.py", "<module>", 1);
	data = in_file(&r, "advanced.py", "data_serialization", 4);
	fourier = in_file(&r, "advanced.py", "Analysis.fourier", 10);
	deep = in_file(&r, "pkg/deep/er.py", "f", 7);
	dumps = in_file(&r, "/usr/lib/python3.11/json/encoder.py", "JSONEncoder.encode", 183);
	top = fah_writer_node(r.b.w, 0, module, 14);
	text = fah_writer_node(r.b.w, top, data, 5);
	kept = fah_writer_node(r.b.w, top, data, 6);
	junk = fah_writer_node(r.b.w, top, fourier, 11);
	m = memory_begin(&r.b, process, r.thread, 20, 9000000, interval);
	memory_alloc_kind(&m, 30, fah_writer_node(r.b.w, top, deep, 8), 12000000,
			  FAH_MEMORY_MAPPED);
	memory_alloc(&m, 40, fah_writer_node(r.b.w, 0, dumps, 200), 20000000);
	for (int i = 0; i < 100; i++) {
		double at = 100 + 95 * i;

		spend(&r, 40, FAH_IN_PYTHON, kept);
		if (!interval || i * 11 % 20 < 11) /* 55 % of them, as 1 - exp(-0.8) is */
			memory_alloc_kind(&m, at, kept, 800000, FAH_MEMORY_PYTHON);
		else
			memory_count(&m, 800000);
		if (i == 20 || i == 50)
			memory_alloc_kind(&m, at + 1, text, 40000000,
					  i == 20 ? FAH_MEMORY_NATIVE : FAH_MEMORY_PYTHON);
		memory_alloc(&m, at + 2, junk, 30000000);
		memory_copy(&m, at + 3, junk, 30000000, 0);
		memory_free(&m, at + 7, m.blocks, 30000000);
	}
	spend(&r, 400, FAH_IN_NATIVE, junk);
	memory_state(&m, 9900);
	fah_writer_thread_end(r.b.w, r.thread, MS(9900), MS(4400));
	build_process_end(&r.b, process, 9900, 320300000);
	return build_load(&r.b, 10000, 4400);
}

static void memory(void **state)
{
	struct fah_profile *p = run_with_memory(1000000);

	(void)state;
	check(p, "memory", (struct fah_report_options){.width = 80, .utf8 = true},
	      fah_report_summary);
	check(p, "memory-lines", (struct fah_report_options){.utf8 = true}, fah_report_lines);
	check(p, "memory-lines-ascii", (struct fah_report_options){.width = 80}, fah_report_lines);
	check(p, "memory-lines-narrow",
	      (struct fah_report_options){.width = 60, .utf8 = true, .colour = true},
	      fah_report_lines);
	check(p, "memory-json", (struct fah_report_options){.utf8 = true}, fah_report_summary_json);
	fah_profile_free(p);
	p = run_with_memory(0);
	check(p, "memory-exact", (struct fah_report_options){.width = 80}, fah_report_summary);
	fah_profile_free(p);
}

/* Not one sample, but blocks of memory. */
static void only_memory(void **state)
{
	struct run r = {.at = 0};
	struct fah_profile *p;
	struct memory m;
	uint32_t process;

	(void)state;
	build_begin(&r.b);
	process = build_process(&r.b, 10, 0);
	r.thread = build_thread(&r.b, process, 10, 0);
	m = memory_begin(&r.b, process, r.thread, 0, 5000000, 0);
	memory_alloc(&m, 1,
		     fah_writer_node(r.b.w, 0, in_file(&r, "advanced.py", "<module>", 1), 14),
		     70000000);
	memory_state(&m, 2);
	p = build_load(&r.b, 5, 4);
	check(p, "only-memory", (struct fah_report_options){.width = 80, .utf8 = true},
	      fah_report_summary);
	check(p, "only-memory-lines", (struct fah_report_options){.width = 80, .utf8 = true},
	      fah_report_lines);
	fah_profile_free(p);
}

/* A stream that cannot take the text is an error, not silence. */
static void full_disk(void **state)
{
	struct fah_profile *p = whole_run();
	struct fah_report_options o = {.utf8 = true};
	FILE *f = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(f);
	assert_true(fah_report_summary(f, p, &o) < 0);
	fclose(f);
	fah_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(summaries),
		cmocka_unit_test(tables),
		cmocka_unit_test(nothing_sampled),
		cmocka_unit_test(refused),
		cmocka_unit_test(silence),
		cmocka_unit_test(unsampled),
		cmocka_unit_test(cut_and_few),
		cmocka_unit_test(full_disk),
		cmocka_unit_test(waiting),
		cmocka_unit_test(only_waiting),
		cmocka_unit_test(little_but_waiting),
		cmocka_unit_test(inspected),
		cmocka_unit_test(so_far),
		cmocka_unit_test(memory),
		cmocka_unit_test(only_memory),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
