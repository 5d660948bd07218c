/*
 * test_model_calltree.c - the call tree over captures by construction: sums that are known by hand,
 * recursion, native frames and waits in one tree, leaves.
 */
#include "build.h"

#include "model/calltree.h"

#include <math.h>

static void near(double value, double wanted)
{
	if (!(fabs(value - wanted) < 1e-6))
		fail_msg("%.9f, not %.9f", value, wanted);
}

struct run {
	struct build b;
	uint32_t thread;
	double at; /* ms */
	struct fah_reader *reader;
	struct fah_stacks *stacks;
};

static void begin(struct run *r)
{
	*r = (struct run){0};
	build_begin(&r->b);
	r->thread = build_thread(&r->b, build_process(&r->b, 10, 0), 10, 0);
}

static void spend(struct run *r, double ms, uint32_t flags, uint32_t node)
{
	for (double until = r->at + ms; r->at + 1 < until;) {
		r->at += 4;
		fah_writer_sample(r->b.w, r->thread, MS(r->at), MS(4), flags, node);
	}
}

static struct fah_profile *load(struct run *r, double cpu_ms)
{
	fah_writer_thread_end(r->b.w, r->thread, MS(r->at), MS(cpu_ms));
	return build_load_moments(&r->b, r->at, cpu_ms, &r->reader);
}

static void release(struct run *r, struct fah_calltree *t)
{
	fah_calltree_free(t);
	fah_stacks_free(r->stacks);
	r->stacks = NULL;
}

static uint32_t python(struct run *r, const char *name, uint32_t line)
{
	return build_function(&r->b, "/home/me/project/a.py", name, name, line);
}

static uint32_t native(struct run *r, const char *name)
{
	return fah_writer_other_function(r->b.w, fah_writer_string(r->b.w, "/usr/lib/libx.so", 16),
					 fah_writer_string(r->b.w, name, strlen(name)),
					 FAH_FUNCTION_NATIVE);
}

/* The call at the end of a path of names; fails where there is none. */
static const struct fah_call *at(const struct fah_calltree *t, const char *path)
{
	char copy[256], *rest = copy, *name;
	uint32_t i = 0;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((name = strsep(&rest, "/")) != NULL) {
		uint32_t c;

		for (c = t->calls[i].child; c; c = t->calls[c].sibling)
			if (!strcmp(fah_call_name(t, &t->calls[c]), name))
				break;
		if (!c)
			fail_msg("no %s in %s", name, path);
		i = c;
	}
	return &t->calls[i];
}

static struct fah_calltree *tree_of(struct run *r, struct fah_profile *p, bool native_too,
				    bool leaves)
{
	struct fah_view view = {.native = native_too, .idle = true};
	struct fah_calltree *t;

	assert_int_equal(fah_stacks_new(p, &view, &r->stacks), 0);
	assert_int_equal(fah_calltree_new(r->stacks, leaves, &t), 0);
	return t;
}

/* Lines of one function are one call; totals and own times by where. */
static void sums(void **state)
{
	struct fah_profile *p;
	struct fah_calltree *t;
	const struct fah_call *c;
	struct run r;
	uint32_t module, work, leaf, top;

	(void)state;
	begin(&r);
	module = python(&r, "<module>", 1);
	work = python(&r, "work", 10);
	leaf = python(&r, "leaf", 20);
	top = fah_writer_node(r.b.w, 0, module, 3);
	spend(&r, 400, FAH_IN_PYTHON, fah_writer_node(r.b.w, top, work, 11));
	spend(&r, 200, FAH_IN_NATIVE, fah_writer_node(r.b.w, top, work, 12));
	spend(&r, 100, FAH_IN_SYSTEM,
	      fah_writer_node(r.b.w, fah_writer_node(r.b.w, top, work, 13), leaf, 21));
	spend(&r, 100, FAH_IN_PYTHON,
	      fah_writer_node(r.b.w, fah_writer_node(r.b.w, top, work, 14), leaf, 21));
	spend(&r, 200, FAH_IN_PYTHON, top);
	p = load(&r, 1000);
	t = tree_of(&r, p, false, false);
	assert_int_equal(t->n, 4); /* the run and three functions */
	c = at(t, "<module>");
	near(fah_times_sum(&c->total), 1.0);
	near(c->self.python, 0.2);
	assert_int_equal(c->samples, 250);
	c = at(t, "<module>/work");
	near(c->self.python, 0.4);
	near(c->self.native, 0.2);
	near(c->total.python, 0.5);
	near(c->total.system, 0.1);
	near(fah_times_sum(&c->total), 0.8);
	assert_int_equal(c->samples, 200);
	assert_true(c->interval > 0.04 && c->interval < 0.06); /* 80 % of 250 samples */
	c = at(t, "<module>/work/leaf");
	near(fah_times_sum(&c->self), 0.2);
	assert_int_equal(c->depth, 3);
	assert_int_equal(t->max_depth, 3);
	assert_ptr_equal(&t->calls[t->calls[0].child], at(t, "<module>"));
	release(&r, t);

	t = tree_of(&r, p, false, true); /* the same seconds, other owners */
	near(fah_times_sum(&t->calls[0].total), 1.0);
	near(fah_times_sum(&at(t, "<module>/work")->self), 0.4);
	near(fah_times_sum(&at(t, "<module>/work")->total), 0.8);
	near(at(t, "<module>/work/native")->total.native, 0.2);
	near(at(t, "<module>/work/leaf/system")->total.system, 0.1);
	release(&r, t);
	fah_profile_free(p);
	fah_reader_free(r.reader);
}

/* f calls itself 3,000 deep: each call has less than its caller, and none more than the run. */
static void recursion(void **state)
{
	struct fah_profile *p;
	struct fah_calltree *t;
	struct run r;
	uint32_t f, node = 0, i, seen = 0;

	(void)state;
	begin(&r);
	f = python(&r, "f", 1);
	for (int depth = 0; depth < 3000; depth++) {
		node = fah_writer_node(r.b.w, node, f, 2);
		if (depth % 100 == 99)
			spend(&r, 4, FAH_IN_PYTHON, node);
	}
	p = load(&r, r.at);
	t = tree_of(&r, p, false, false);
	assert_int_equal(t->n, 3001);
	for (i = 0;; seen++) {
		const struct fah_call *c = &t->calls[i];

		assert_true(fah_times_sum(&c->total) <= fah_profile_totals(p)->wall_s + 1e-9);
		assert_true(i == 0 || c->parent < i);
		i = fah_calltree_next(t, i, false);
		if (!i)
			break;
		assert_true(fah_times_sum(&t->calls[i].total) <= fah_times_sum(&c->total) + 1e-9);
	}
	assert_int_equal(seen, 3000);
	assert_int_equal(fah_calltree_next(t, 5, true), 0); /* nothing beside the chain */
	release(&r, t);
	fah_profile_free(p);
	fah_reader_free(r.reader);
}

/*
 * Samples have the native start of the program above Python, waits have not: one tree. A stack
 * without Python stays whole; what has no stack is told apart.
 */
static void native_and_waits(void **state)
{
	struct fah_profile *p;
	struct fah_calltree *t;
	struct run r;
	uint32_t start, module, inflate, top, below, end;

	(void)state;
	begin(&r);
	start = native(&r, "_start");
	inflate = native(&r, "inflate");
	module = python(&r, "<module>", 1);
	below = fah_writer_node(r.b.w, 0, start, 0);
	top = fah_writer_node(r.b.w, below, module, 3);
	end = fah_writer_node(r.b.w, below, native(&r, "finish"), 0);
	spend(&r, 100, FAH_IN_PYTHON, top);
	spend(&r, 200, FAH_IN_NATIVE, fah_writer_node(r.b.w, top, inflate, 0));
	for (int i = 0; i < 4; i++) {
		r.at += 50;
		fah_writer_wait(r.b.w, r.thread, MS(r.at), MS(50), MS(50), FAH_WAIT_SOCKET,
				fah_writer_node(r.b.w, 0, module, 4));
	}
	spend(&r, 40, FAH_IN_NATIVE, end);
	spend(&r, 20, FAH_IN_NATIVE | FAH_SAMPLE_NO_PYTHON, 0);
	p = load(&r, 360);
	t = tree_of(&r, p, true, false);
	near(fah_times_sum(&at(t, "<module>")->total), 0.5);
	near(at(t, "<module>/waiting (socket)")->self.waiting, 0.2);
	near(at(t, "<module>/inflate")->self.native, 0.2);
	near(at(t, "_start/finish")->self.native, 0.04);
	near(at(t, "(no Python)")->self.native, 0.02);
	near(fah_times_sum(&t->calls[0].total), 0.56);
	release(&r, t);

	t = tree_of(&r, p, true, true);
	near(fah_times_sum(&at(t, "<module>")->self), 0.1);
	near(at(t, "<module>/waiting (socket)")->total.waiting, 0.2);
	near(fah_times_sum(&at(t, "<module>/inflate")->self), 0.2);
	release(&r, t);

	t = tree_of(&r, p, false, false); /* without native functions: their time is the caller's */
	assert_int_equal(t->n, 4);
	near(at(t, "<module>")->self.native, 0.2);
	near(at(t, "(no Python)")->self.native, 0.06);
	release(&r, t);
	fah_profile_free(p);
	fah_reader_free(r.reader);
}

/* The kernel's part of a sample is the system's; a thread's own time is its CPU. */
static void parts_and_threads(void **state)
{
	struct fah_view view = {.threads = true};
	struct fah_profile *p;
	struct fah_calltree *t;
	struct run r;
	uint32_t node, other;

	(void)state;
	begin(&r);
	node = fah_writer_node(r.b.w, 0, python(&r, "f", 1), 2);
	other = fah_writer_thread(r.b.w, 1, 11, 0, "other", 5);
	for (int i = 1; i <= 100; i++)
		fah_writer_sample_part(r.b.w, r.thread, MS(4 * i), MS(4), MS(1),
				       FAH_IN_NATIVE | FAH_SAMPLE_SYSTEM_PART, node);
	for (int i = 1; i <= 100; i++)
		fah_writer_sample(r.b.w, other, MS(4 * i), MS(4), FAH_IN_PYTHON, node);
	r.at = 400;
	fah_writer_thread_end(r.b.w, other, MS(400), MS(400));
	p = load(&r, 400);
	t = tree_of(&r, p, false, true);
	near(at(t, "f/system")->total.system, 0.05); /* two threads: half of each moment */
	near(at(t, "f/native")->total.native, 0.15);
	near(at(t, "f")->self.python, 0.2);
	near(t->whole_s, 0.4);
	release(&r, t);

	assert_int_equal(fah_stacks_new(p, &view, &r.stacks), 0);
	assert_int_equal(fah_calltree_new(r.stacks, false, &t), 0);
	near(fah_times_sum(&at(t, "thread 11 (other)/f")->total), 0.4);
	near(at(t, "thread 10 (t)/f")->self.system, 0.1);
	near(t->whole_s, 0.8);
	release(&r, t);
	fah_profile_free(p);
	fah_reader_free(r.reader);
}

/* A cut capture with nothing in it, and one that was cut behind its first samples. */
static void empty_and_cut(void **state)
{
	struct fah_profile *p;
	struct fah_calltree *t;
	struct run r;

	(void)state;
	begin(&r);
	p = build_load_moments(&r.b, 0, 0, &r.reader);
	t = tree_of(&r, p, true, true);
	assert_int_equal(t->n, 1);
	assert_int_equal(fah_calltree_next(t, 0, false), 0);
	release(&r, t);
	fah_profile_free(p);
	fah_reader_free(r.reader);

	begin(&r);
	spend(&r, 40, FAH_IN_PYTHON, fah_writer_node(r.b.w, 0, python(&r, "f", 1), 2));
	p = build_load_moments(&r.b, 0, 0, &r.reader);
	t = tree_of(&r, p, true, true);
	assert_int_equal(at(t, "f")->samples, 10);
	near(fah_times_sum(&at(t, "f")->self), fah_profile_totals(p)->wall_s);
	release(&r, t);
	fah_profile_free(p);
	fah_reader_free(r.reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums),
		cmocka_unit_test(recursion),
		cmocka_unit_test(native_and_waits),
		cmocka_unit_test(parts_and_threads),
		cmocka_unit_test(empty_and_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
