/*
 * make.c - captures for tests: the golden one, and large ones that look like a real program's:
 * stacks that share their outer frames, intervals that vary, threads in turn.
 */
#include "make.h"

#include "base/cleanup.h"
#include "capture/reader.h"
#include "core/err.h"
#include "core/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FAH_DEFINE_FREEP(struct fah_writer *, fah_writer_free)

#define STR(s) (s), sizeof(s) - 1

static uint32_t text(struct fah_writer *w, const char *s)
{
	return fah_writer_string(w, s, strlen(s));
}

/* In steps: the order in which arguments are evaluated is the compiler's choice. */
static uint32_t function(struct fah_writer *w, const char *file, const char *name,
			 const char *qualname, uint32_t first_line)
{
	uint32_t file_id = text(w, file), name_id = text(w, name);

	return fah_writer_function(w, file_id, name_id, qualname ? text(w, qualname) : 0,
				   first_line);
}

/* A first iteration, one more by itself, and three short ones together. */
static void golden_iterations(struct fah_writer *w, uint32_t thread)
{
	struct fah_rec_iterations it = {
		.thread = thread,
		.label = text(w, "advanced.py:41"),
		.loop = 1,
		.count = 1,
		.time_ns = 1070000000,
		.wall_ns = 45200000,
		.cpu_ns = 44000000,
	};

	fah_writer_iterations(w, &it);
	it.first = 1;
	it.time_ns = 1080000000;
	it.wall_ns = it.cpu_ns = 2000000;
	fah_writer_iterations(w, &it);
	it.first = 2;
	it.count = 3;
	it.time_ns = 1090000000;
	it.wall_ns = 3000000;
	it.cpu_ns = 2900000;
	it.squares = 900000ull * 900000 + 1000000ull * 1000000 + 1100000ull * 1100000;
	fah_writer_iterations(w, &it);
}

/* Counted from a moment on, too often, and no more. */
static void golden_calls(struct fah_writer *w, uint32_t process, uint32_t callee, uint32_t caller)
{
	struct fah_rec_counting counting = {
		.process = process,
		.function = callee,
		.on = 1,
		.time_ns = 12000000,
		.work_ns = 11000000,
	};
	struct fah_rec_calls calls = {
		.process = process,
		.function = callee,
		.caller = caller,
		.line = 41,
		.place = 17,
		.time_ns = 20000000,
		.count = 70000,
		.by_caller = {caller, 3, 69000, 4},
		.missed = 5,
		.by_other = {callee, 1, 12, 2},
		.passed = 1000000,
	};

	fah_writer_counting(w, &counting);
	fah_writer_calls(w, &calls);
	counting.on = 0;
	counting.time_ns = 20000000;
	counting.work_ns = 16000000;
	fah_writer_counting(w, &counting);
	/* by nobody; and all of them again */
	fah_writer_calls(w, &(struct fah_rec_calls){.process = process,
						    .function = callee,
						    .time_ns = 30000000,
						    .count = 1});
	fah_writer_counting(
		w, &(struct fah_rec_counting){
			   .process = process, .on = 1, .time_ns = 40000000, .work_ns = 35000000});
}

/* Two calls, one of them within the other. */
static void golden_timed(struct fah_writer *w, uint32_t process, uint32_t callee, uint32_t caller)
{
	struct fah_rec_timed t = {.process = process,
				  .function = callee,
				  .caller = caller,
				  .calls = 1,
				  .self_ns = 5000,
				  .total_ns = 9000};

	fah_writer_timed(w, &t);
	t.caller = callee;
	t.self_ns = -20;
	t.total_ns = 4000;
	fah_writer_timed(w, &t);
	t = (struct fah_rec_timed){.process = process,
				   .function = callee,
				   .whole = true,
				   .recursive = 1,
				   .total_ns = 9000};
	fah_writer_timed(w, &t);
}

/* Told line by line: one that ran twice as far, one that never did; and what had no room. */
static void golden_lines(struct fah_writer *w, uint32_t process, uint32_t ran, uint32_t never)
{
	/* line, hits, ns, called ns */
	static const uint8_t bytes[] = {18, 1, 90, 0, 19, 0xac, 2, 0xa0, 0x8d, 6, 0x90, 0x4e};
	struct fah_rec_lines lines = {
		.process = process,
		.function = ran,
		.code = 7,
		.marked = 1,
		.time_ns = 21000000,
		.rest = {bytes, bytes + 4, false},
	};

	fah_writer_lines(w, &lines);
	lines.rest.end = bytes + sizeof(bytes);
	lines.time_ns = 41000000;
	fah_writer_lines(w, &lines);
	lines.function = never;
	lines.code = 8;
	lines.rest.end = bytes;
	fah_writer_lines(w, &lines);
	fah_writer_lines_state(w, &(struct fah_rec_lines_state){.process = process,
								.time_ns = 42000000,
								.line_ns = 21,
								.lost_frames = 1,
								.lost_lines = 300});
	fah_writer_lines_state(
		w, &(struct fah_rec_lines_state){.process = process, .why = {STR("too old")}});
}

/* Two blocks, one of them given back, and all that was counted. */
/* Every kind of event. */
static void golden_blocks(struct fah_writer *w, uint32_t thread, uint32_t node)
{
	static const uint8_t events[] = {
		0x02, 0x07, 0x01, 0xe0, 0x01, /* shape 7: site 1, 56 bytes, Python's: block 3 */
		0x1c,			      /* block 4, the same */
		0x02, 0xff, 0x00, 0x81, 0x80, 0x40, /* shape 255: site 0, 262144 bytes, native: 5 */
		0x06, 0xd0, 0x86, 0x03,		    /* 50000 ns later */
		0x05,				    /* block 5 is given back */
		0x01,				    /* one that another thread will tell of: 6 */
		0x0a, 0x7f, /* 64 bytes less, of a block of before the program */
		0xfc, 0x07, /* block 6, as 5 was */
		0x0d,	    /* block 4 is given back */
	};
	const uint32_t nodes[] = {0, node};

	fah_writer_blocks(
		w,
		&(struct fah_rec_blocks){.thread = thread,
					 .time_ns = 56200000,
					 .age_ns = 200000,
					 .ending = 1,
					 .first = 3,
					 .held = 16142399,
					 .most = 121000000,
					 .n_sites = 2,
					 .events = {events, events + sizeof(events), false}},
		nodes);
}

static void golden_heap(struct fah_writer *w, uint32_t process, uint32_t thread, uint32_t node)
{
	struct fah_rec_alloc a = {.thread = thread,
				  .node = node,
				  .kind = FAH_MEMORY_NATIVE,
				  .time_ns = 51000000,
				  .block = 1,
				  .bytes = 104857601,
				  .held = 110000000,
				  .most = 110000000};

	fah_writer_alloc(w, &a);
	a.kind = FAH_MEMORY_PYTHON;
	a.time_ns = 52000000;
	a.block = 2;
	a.bytes = 28;
	a.held = a.most = 121000000;
	fah_writer_alloc(w, &a);
	fah_writer_free_block(w, &(struct fah_rec_free){.process = process,
							.time_ns = 53000000,
							.block = 1,
							.held = 16142399,
							.most = 121000000,
							.ending = 1});
	fah_writer_heap(w, &(struct fah_rec_heap){.process = process,
						  .time_ns = 54000000,
						  .interval = 10485767,
						  .before = 5142399,
						  .python = 11000000,
						  .native = 5142399,
						  .most = 121000000,
						  .lost = 1,
						  .copied = 1048583});
	fah_writer_copied(w, &(struct fah_rec_copy){.thread = thread,
						    .node = node,
						    .time_ns = 55000000,
						    .bytes = 1048583,
						    .interval = 4194304});
	golden_blocks(w, thread, node);
}

/* Of a process, and of a machine with a control group that has a limit; with figures not known. */
static void golden_memory(struct fah_writer *w, uint32_t process)
{
	fah_writer_memory(w, &(struct fah_rec_memory){.process = process,
						      .time_ns = 56000000,
						      .resident = 20971520,
						      .swapped = 0,
						      .high = 31457280});
	fah_writer_memory(w, &(struct fah_rec_memory){.process = process,
						      .time_ns = 57000000,
						      .resident = 20975616,
						      .swapped = FAH_MEMORY_UNKNOWN,
						      .high = FAH_MEMORY_UNKNOWN});
	fah_writer_memory(w, &(struct fah_rec_memory){.time_ns = 57000000,
						      .total = 25276100608,
						      .available = 24653004800,
						      .used = 450000000,
						      .cache = 4096,
						      .limit = 536870912,
						      .kills = 1});
	fah_writer_memory(w, &(struct fah_rec_memory){.time_ns = 58000000,
						      .total = 25276100608,
						      .available = FAH_MEMORY_UNKNOWN,
						      .used = FAH_MEMORY_UNKNOWN,
						      .cache = FAH_MEMORY_UNKNOWN,
						      .limit = FAH_MEMORY_NO_LIMIT,
						      .kills = FAH_MEMORY_UNKNOWN});
}

static void golden_main_process(struct fah_writer *w, uint32_t *ret_process)
{
	struct fah_process_def def = {
		.pid = 4242,
		.ppid = 4241,
		.python_version = 0x030c01f0,
		.clock = FAH_CLOCK_THREAD_CPU,
		.start_ns = 12345678,
		.period_ns = 4000000,
		.cmdline = "python3\0advanced.py\0--size\0"
			   "3",
		.cmdline_len = 28,
	};
	uint32_t run, parse, native, nodes[6], main_thread, worker, module;

	*ret_process = fah_writer_process(w, &def);
	main_thread = fah_writer_thread(w, *ret_process, 4242, 12345678, STR("MainThread"));
	run = function(w, "/home/user/advanced.py", "<module>", "<module>", 1);
	parse = function(w, "/home/user/advanced.py", "parse", "Reader.parse", 17);
	native = function(w,
			  "/home/user/gr\xc3\xb6\xc3\x9f"
			  "e/\xe6\x95\xb0.py",
			  "f", NULL, 300);
	nodes[0] = fah_writer_node(w, 0, run, 40);
	nodes[1] = fah_writer_node(w, nodes[0], parse, 19);
	nodes[2] = fah_writer_node(w, nodes[1], native, 301);
	nodes[3] = fah_writer_node(w, nodes[0], parse, 23);
	module = text(w, "/usr/lib/libz.so.1");
	nodes[4] = fah_writer_node(
		w, nodes[3],
		fah_writer_other_function(w, module, text(w, "inflate"), FAH_FUNCTION_NATIVE), 0);
	nodes[5] = fah_writer_node(w, nodes[0],
				   fah_writer_other_function(w, 0, text(w, "<garbage collector>"),
							     FAH_FUNCTION_RUNTIME),
				   0);

	fah_writer_sample(w, main_thread, 16345678, 3998123, FAH_IN_PYTHON | FAH_SAMPLE_RAN_ON,
			  nodes[1]);
	fah_writer_sample(w, main_thread, 20346000, 4000321, FAH_IN_NATIVE, nodes[2]);
	fah_writer_sample(w, main_thread, 20346000, 0, FAH_IN_SYSTEM | FAH_SAMPLE_TRUNCATED,
			  nodes[3]);
	/* Waited for a second; then more CPU than time, as a coarse clock gives it. */
	fah_writer_sample(w, main_thread, 1024346000, 4001000, FAH_SAMPLE_RECOVERED, nodes[3]);
	fah_writer_sample(w, main_thread, 1026346000, 8000000, FAH_IN_PYTHON, nodes[1]);
	fah_writer_sample_part(w, main_thread, 1030346000, 4000000, 1500900,
			       FAH_IN_NATIVE | FAH_SAMPLE_SYSTEM_PART, nodes[4]);
	fah_writer_sample(w, main_thread, 1034346000, 4000000, FAH_IN_PYTHON | FAH_SAMPLE_IN_GC,
			  nodes[5]);
	/* Slept; then blocked for most of 20 ms at a lock, in several short stretches. */
	fah_writer_wait(w, main_thread, 1020000000, 990000000, 990000000, FAH_WAIT_SLEEP, nodes[1]);
	fah_writer_wait(w, main_thread, 1060000000, 20000000, 17500000, FAH_WAIT_LOCK, nodes[3]);
	fah_writer_states(w, main_thread, 1060000000, 28000000, 1250000);
	fah_writer_flush(w);
	golden_iterations(w, main_thread);
	golden_calls(w, *ret_process, parse, run);
	golden_timed(w, *ret_process, parse, run);
	golden_lines(w, *ret_process, parse, run);
	golden_heap(w, *ret_process, main_thread, nodes[1]);
	golden_memory(w, *ret_process);

	worker = fah_writer_thread(w, *ret_process, 4250, 500000000,
				   STR("pool-\xf0\x9f\x90\x8d\n1"));
	fah_writer_sample(w, worker, 504000000, 4000000, FAH_IN_NATIVE | FAH_SAMPLE_NO_PYTHON, 0);
	fah_writer_drops(w, worker, 508000000, FAH_DROP_FRAME, 1, 4000000);
	fah_writer_drops(w, worker, 600000000, FAH_DROP_NO_ROOM, 300, 1200000000);
	fah_writer_thread_end(w, worker, 1800000000, 1208500000);
	fah_writer_thread_end(w, main_thread, 1900000000, 20500000);
}

/* Four handlers, one of them long; a sample that came a tick late. */
static void golden_health(struct fah_writer *w, uint32_t process)
{
	struct fah_rec_health health = {
		.process = process,
		.interval_sum_ns = 4 * 8000000,
		.handlers = {.sum_ns = 127500, .max_ns = 97000},
		.gaps = {.sum_ns = 4000300, .max_ns = 4000000},
		.native_stops = {3, 0, 1},
	};

	health.handlers.buckets[fah_hist_bucket(9500)] = 2;
	health.handlers.buckets[fah_hist_bucket(11500)] = 1;
	health.handlers.buckets[fah_hist_bucket(97000)] = 1;
	health.told_ns = 1200000;
	health.gaps.buckets[0] = 1;
	health.gaps.buckets[fah_hist_bucket(300)] = 1;
	health.gaps.buckets[fah_hist_bucket(4000000)] = 1;
	fah_writer_health(w, &health);
}

static void golden_child(struct fah_writer *w)
{
	struct fah_process_def def = {
		.pid = 4300,
		.ppid = 4242,
		.forked = 1,
		.python_version = 0x030c01f0,
		.clock = FAH_CLOCK_THREAD_CPU,
		.start_ns = 700000000,
		.period_ns = 4000000,
		.cmdline = "",
	};
	struct fah_process_end end = {
		.process = fah_writer_process(w, &def),
		.status = FAH_AGENT_REFUSED,
		.time_ns = 710000000,
		.reason = "our walk and the interpreter's own answer differ",
	};

	fah_writer_process_end(w, &end);
}

int make_golden(const char *path)
{
	_cleanup_(fah_writer_freep) struct fah_writer *w = NULL;
	struct fah_process_end process_end = {
		.status = FAH_AGENT_ENDED,
		.time_ns = 1900000000,
		.user_ns = 1100000000,
		.system_ns = 129000000,
		.max_rss_bytes = 52428800,
		.samples = 6,
		.recovered = 1,
		.drops = {[FAH_DROP_FRAME] = 1, [FAH_DROP_NO_ROOM] = 300},
		.reason = "",
	};
	struct fah_run_end end = {
		.wall_ns = 2000000000,
		.user_ns = 1150000000,
		.system_ns = 150000000,
		.max_rss_bytes = 52428800,
		.wait_status = 3 << 8,
	};
	struct fah_write_loss loss;
	int err = fah_writer_new(path, &w);

	if (err < 0)
		return err;
	fah_writer_meta(w, "command", "python3 advanced.py --size 3");
	fah_writer_meta(w, "tool", "fixingahole 0.1.0");
	fah_writer_meta(w, "rate_asked", "250");
	fah_writer_meta(w, "clock", "thread-cpu");
	fah_writer_meta(w, "start_real_ns", "1769439528123456789");
	golden_main_process(w, &process_end.process);
	golden_child(w);
	fah_writer_process_end(w, &process_end);
	golden_health(w, process_end.process);
	fah_writer_meta(w, "budget", "0.5");
	fah_writer_meta(w, "native_stacks", "2 1 0 1");
	fah_writer_meta(w, "collector_cpu_ns", "2100000");
	return fah_writer_finish(w, &end, &loss);
}

/* xorshift: the same numbers on every machine. */
static uint32_t draw(uint64_t *state, uint32_t below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)((*state >> 32) * below >> 32);
}

#define FUNCTIONS 800u
#define DEPTH_MAX 200u

/* Each stack goes on from somewhere in an earlier one, so outer frames are shared as in a program.
 */
static int make_stacks(struct fah_writer *w, const struct make_options *opt, uint64_t *random,
		       uint32_t *leaf, uint64_t *ret_nodes)
{
	_cleanup_(fah_freep) uint32_t *path = calloc(opt->stacks, DEPTH_MAX * sizeof(*path));
	_cleanup_(fah_freep) uint32_t *depth = calloc(opt->stacks, sizeof(*depth));
	uint32_t functions[FUNCTIONS], i, k, nodes = 0;
	char file[64], name[64];

	if (!path || !depth)
		return FAH_ERR_NOMEM;
	for (i = 0; i < FUNCTIONS; i++) {
		snprintf(file, sizeof(file), "/usr/lib/python3/package_%u/module_%u.py", i / 80,
			 i / 8);
		snprintf(name, sizeof(name), "Class%u.method_%u", i / 4, i);
		functions[i] = function(w, file, strchr(name, '.') + 1, name, 1 + i % 8 * 40);
	}
	for (i = 0; i < opt->stacks; i++) {
		uint32_t *mine = path + (size_t)i * DEPTH_MAX, from = i ? draw(random, i) : 0;
		uint32_t want = opt->depth / 2 + 1 + draw(random, opt->depth);
		uint32_t keep =
			i ? depth[from] - draw(random, depth[from] < 6 ? depth[from] : 6) : 0;

		if (want > DEPTH_MAX - 1)
			want = DEPTH_MAX - 1;
		keep = keep > want ? want : keep;
		memcpy(mine, path + (size_t)from * DEPTH_MAX, keep * sizeof(*mine));
		for (k = keep; k <= want; k++) {
			uint32_t f = draw(random, FUNCTIONS);
			/* A line that no stack has used makes this one distinct. */
			uint32_t line = k == want ? 1 + i : 1 + f % 8 * 40 + draw(random, 39);

			mine[k] = fah_writer_node(w, k ? mine[k - 1] : 0, functions[f], line);
			nodes = mine[k] > nodes ? mine[k] : nodes;
		}
		depth[i] = want + 1;
		leaf[i] = mine[want];
	}
	*ret_nodes = nodes;
	return 0;
}

int make_samples(const char *path, const struct make_options *opt, struct make_sums *ret_sums,
		 struct fah_write_loss *ret_loss)
{
	_cleanup_(fah_writer_freep) struct fah_writer *w = NULL;
	_cleanup_(fah_freep) uint32_t *leaf = calloc(opt->stacks, sizeof(*leaf));
	_cleanup_(fah_freep) uint64_t *now = calloc(opt->threads, sizeof(*now));
	_cleanup_(fah_freep) uint64_t *cpu = calloc(opt->threads, sizeof(*cpu));
	struct fah_process_def def = {
		.pid = 1000,
		.ppid = 999,
		.python_version = 0x030d00f0,
		.clock = FAH_CLOCK_THREAD_CPU,
		.period_ns = 4000000,
		.cmdline = "python3\0synthetic.py",
		.cmdline_len = 20,
	};
	struct fah_run_end end = {0};
	struct fah_write_loss loss = {0};
	struct make_sums sums = {.samples = opt->samples, .functions = FUNCTIONS};
	uint64_t random = 0x9e3779b97f4a7c15ull, flushed = 0, i;
	uint32_t process, t;
	int err;

	if (!leaf || !now || !cpu)
		return FAH_ERR_NOMEM;
	err = fah_writer_new(path, &w);
	if (err < 0)
		return err;
	fah_writer_meta(w, "command", "python3 synthetic.py");
	fah_writer_meta(w, "rate_asked", "250");
	process = fah_writer_process(w, &def);
	for (t = 0; t < opt->threads; t++)
		fah_writer_thread(w, process, 1000 + t, 0, STR("Thread"));
	err = make_stacks(w, opt, &random, leaf, &sums.nodes);
	if (err < 0)
		return err;
	for (i = 0; i < opt->samples; i++) {
		/* Bound to the kernel's tick: a few us around 4 ms, now and then one or two more.
		 */
		uint64_t ticks = draw(&random, 6) ? 1 : 1 + draw(&random, 3);
		uint64_t run = ticks * 4000000 - 15000 + draw(&random, 30000);
		uint64_t wait = draw(&random, 60000);

		t = (uint32_t)(i % opt->threads);
		if (opt->contended)
			wait += (opt->threads - 1) * (uint64_t)(4800000 + draw(&random, 400000));
		else if (draw(&random, 10) == 0) /* now and then it waits for something */
			wait += draw(&random, 50000000);
		now[t] += run + wait;
		cpu[t] += run;
		fah_writer_sample(w, t + 1, now[t], run, draw(&random, 3),
				  leaf[draw(&random, opt->stacks)]);
		if (now[t] >= flushed + 1000000000) { /* as the collector does every second */
			flushed = now[t];
			fah_writer_flush(w);
		}
		if (now[t] > end.wall_ns)
			end.wall_ns = now[t];
	}
	for (t = 0; t < opt->threads; t++) {
		fah_writer_thread_end(w, t + 1, now[t], cpu[t]);
		sums.cpu_us += cpu[t] / 1000;
		end.user_ns += cpu[t];
	}
	err = fah_writer_finish(w, &end, &loss);
	if (ret_loss)
		*ret_loss = loss;
	else if (err == 0 && loss.records)
		err = FAH_ERR_SYS;
	if (ret_sums)
		*ret_sums = sums;
	return err;
}
