/*
 * test_memory_series.c - when looks at memory become points: fewer and fewer, but no extreme and no
 * last state is lost. The clock is the test's; what is looked at are this process and a child.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/reader.h"
#include "collect/memory_series.h"
#include "core/segment.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define START 1000000000ull /* the run's start, monotonic ns */
#define SECOND 1000000000ull
#define TICK (SECOND / 20)
#define BLOCK ((size_t)64 << 20)

static char dir[64], capture[128];
static struct fah_writer *w;
static struct fah_drain *d;
static struct fah_memory_series *series;
static uint64_t now;

/* As an agent's, that has recorded nothing. */
static void make_segment(pid_t pid)
{
	struct fah_segment_head *head;
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%d-%llu-0.seg", dir, (int)pid, START);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0 && ftruncate(fd, FAH_SEGMENT_SIZE) == 0);
	head = mmap(NULL, FAH_SEGMENT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(head != MAP_FAILED);
	close(fd);
	head->version = FAH_SEGMENT_VERSION;
	head->pid = (uint32_t)pid;
	head->start_mono_ns = START;
	atomic_store(&head->status, FAH_AGENT_RUNNING);
	head->magic = FAH_SEGMENT_MAGIC;
	munmap(head, FAH_SEGMENT_SIZE);
}

static int setup(void **state)
{
	strcpy(dir, "/tmp/fah-series-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(capture, sizeof(capture), "%s/profile.fah", dir);
	assert_int_equal(fah_writer_new(capture, &w), 0);
	assert_int_equal(fah_drain_new(dir, w, START, &d), 0);
	assert_int_equal(fah_memory_series_new(d, w, START, (uint32_t)getpid(), &series), 0);
	now = START;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int teardown(void **state)
{
	return nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void go_on(uint64_t ns)
{
	for (uint64_t end = now + ns; now < end; now += TICK)
		fah_memory_series_tick(series, now);
}

/* All points of a process (1: the first that was met; 0: the machine); the caller frees *ret. */
static size_t finish(uint32_t process, struct fah_rec_memory **ret)
{
	struct fah_rec_memory *points = NULL, point;
	struct fah_write_loss loss;
	struct fah_reader *r;
	struct fah_record rec;
	size_t n = 0;

	fah_memory_series_finish(series, now);
	fah_memory_series_free(series);
	fah_drain_free(d);
	assert_int_equal(fah_writer_finish(w, &(struct fah_run_end){0}, &loss), 0);
	fah_writer_free(w);
	assert_int_equal(fah_reader_new(capture, &r), 0);
	while (fah_reader_next(r, &rec) > 0) {
		if (rec.type != FAH_REC_MEMORY || fah_decode_memory(&rec, &point) < 0 ||
		    point.process != process)
			continue;
		points = reallocarray(points, n + 1, sizeof(*points));
		points[n++] = point;
	}
	fah_reader_free(r);
	*ret = points;
	return n;
}

static void *take_block(void)
{
	char *block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(block != MAP_FAILED);
	memset(block, 1, BLOCK);
	return block;
}

/* 256 points while a run becomes e times as long: in an hour some 2,000, and an hour more is 177.
 */
static void points_are_bounded(void **state)
{
	struct fah_rec_memory *points;
	size_t n, later = 0;

	(void)state;
	make_segment(getpid());
	fah_drain_notice(d);
	go_on(3600 * SECOND);
	go_on(3600 * SECOND);
	n = finish(1, &points);
	for (size_t i = 0; i < n; i++)
		later += points[i].time_ns > 3600 * SECOND;
	assert_true(n > 500 && n < 2600);
	assert_true(later > 100 && later < 200);
	for (size_t i = 0; i < n; i++)
		assert_true(points[i].resident > 4096 && points[i].resident <= points[i].high &&
			    points[i].swapped != FAH_MEMORY_UNKNOWN);
	free(points);
}

/* An hour into the run points are 14 s apart; what comes and goes in a second is there. */
static void extremes_are_kept(void **state)
{
	struct fah_rec_memory *points;
	uint64_t before = 0, most = 0, at = 0, last;
	size_t n;
	void *block;

	(void)state;
	make_segment(getpid());
	fah_drain_notice(d);
	go_on(3600 * SECOND);
	block = take_block();
	at = now - START;
	go_on(SECOND);
	munmap(block, BLOCK);
	go_on(SECOND);
	last = now - START;
	n = finish(1, &points);
	for (size_t i = 0; i < n; i++) {
		if (points[i].time_ns < at && points[i].resident > before)
			before = points[i].resident;
		if (points[i].time_ns >= at && points[i].resident > most)
			most = points[i].resident;
	}
	assert_true(most >= before + BLOCK * 9 / 10);
	/* and the last state, which is none */
	assert_int_equal(points[n - 1].time_ns, last);
	assert_true(points[n - 1].resident < most - BLOCK / 2);
	/* the kernel keeps that one by counters of each core, which are a little behind */
	assert_true(points[n - 1].high + BLOCK / 16 >= most);
	free(points);
}

/* Its last look was none that is written, until it is gone. */
static void last_state_of_a_killed_process(void **state)
{
	struct fah_rec_memory *points;
	int ready[2];
	char c;
	size_t n;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	go_on(3600 * SECOND);
	pid = fork();
	if (!pid) {
		take_block();
		(void)!write(ready[1], "x", 1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	make_segment(pid);
	fah_drain_notice(d);
	go_on(3 * SECOND);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	go_on(SECOND);
	n = finish(1, &points);
	assert_true(n >= 2);
	assert_true(points[n - 1].resident >= BLOCK);
	/* up to a tenth of a second before, and a tick */
	assert_true(points[n - 1].time_ns + SECOND / 10 + 2 * TICK >= 3603 * SECOND);
	assert_true(points[n - 1].time_ns < 3603 * SECOND);
	free(points);
	close(ready[0]);
	close(ready[1]);
}

/* Without a process, the machine's own: all that this kernel says. */
static void machine(void **state)
{
	struct fah_rec_memory *points;
	size_t n;

	(void)state;
	go_on(10 * SECOND);
	n = finish(0, &points);
	assert_true(n > 50 && n < 700);
	assert_true(points[n - 1].total > points[n - 1].available);
	assert_int_equal(points[n - 1].time_ns, now - START);
	for (size_t i = 0; i < n; i++)
		assert_true(points[i].resident == FAH_MEMORY_UNKNOWN);
	free(points);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(points_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(extremes_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(last_state_of_a_killed_process, setup, teardown),
		cmocka_unit_test_setup_teardown(machine, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
