/*
 * test_journal.c - the journal of code definitions: what is in it after short writes and kills, and
 * names that are taken by something that is no file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/codes.h"
#include "core/segment.h"
#include "core/varint.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE 20 /* seconds: a journal that waits for a pipe's other end fails */

static char dir[64], path[128], capture[128];

static int enter(void **state)
{
	strcpy(dir, "/tmp/fah-journal-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/1-2-0.codes", dir);
	snprintf(capture, sizeof(capture), "%s/c.fah", dir);
	alarm(PATIENCE);
	return 0;
}

static int leave(void **state)
{
	char command[128];

	alarm(0);
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	return system(command);
}

static void add(struct fah_codes *c, uint32_t id)
{
	uint8_t buf[256], *p = buf;
	char name[64];

	snprintf(name, sizeof(name), "a function with the number %u", id);
	p = fah_put_varint(p, id);
	p = fah_put_varint(p, fah_zigzag((int)id));
	p = fah_put_varint(p, 0);
	p = fah_put_varint(p, 4);
	memcpy(p, "a.py", 4);
	p = fah_put_varint(p + 4, strlen(name));
	memcpy(p, name, strlen(name));
	p = fah_put_varint(p + strlen(name), 0);
	p = fah_put_varint(p, 0);
	fah_codes_record(c, FAH_SEG_CODE, buf, (size_t)(p - buf));
}

/* How many of the ids 1..n a journal at path knows. */
static unsigned known(uint32_t n)
{
	struct fah_writer *w = NULL;
	struct fah_codes c;
	unsigned found = 0;
	uint32_t function, line;

	assert_int_equal(fah_writer_new(capture, &w), 0);
	fah_codes_init(&c, 0, path);
	for (uint32_t id = 1; id <= n; id++)
		if (fah_codes_resolve(&c, w, id, 0, &function, &line)) {
			assert_int_equal(line, id);
			found++;
		}
	fah_codes_release(&c);
	fah_writer_free(w);
	return found;
}

static void what_was_added_is_there_again(void **state)
{
	struct fah_codes c;

	fah_codes_init(&c, 0, path);
	for (uint32_t id = 1; id <= 100; id++)
		add(&c, id);
	fah_codes_release(&c);
	assert_int_equal(known(100), 100);
}

/* A disk that is full in the middle of a record, and has room again later. */
static void short_writes(void **state)
{
	struct rlimit old, small;
	struct fah_codes c;
	unsigned before;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 1000; /* no multiple of a record's length */
	fah_codes_init(&c, 0, path);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (uint32_t id = 1; id <= 100; id++)
		add(&c, id);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	before = known(200);
	assert_in_range(before, 10, 60);
	for (uint32_t id = 101; id <= 200; id++)
		add(&c, id);
	fah_codes_release(&c);
	assert_int_equal(known(200), before + 100);
}

/* A collector that was killed in the middle of a record; the next one goes on. */
static void half_a_record_at_the_end(void **state)
{
	struct fah_codes c;
	struct stat st;

	fah_codes_init(&c, 0, path);
	for (uint32_t id = 1; id <= 10; id++)
		add(&c, id);
	fah_codes_release(&c);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size - 3), 0);
	fah_codes_init(&c, 0, path);
	for (uint32_t id = 11; id <= 20; id++)
		add(&c, id);
	fah_codes_release(&c);
	assert_int_equal(known(20), 19);
}

static void no_journal_at_path(void)
{
	struct fah_codes c;

	fah_codes_init(&c, 0, path);
	assert_int_equal(c.journal, -1);
	add(&c, 1); /* goes on without */
	fah_codes_release(&c);
}

static void a_pipe_is_no_journal(void **state)
{
	struct stat st;

	assert_int_equal(mkfifo(path, 0600), 0);
	no_journal_at_path();
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
}

static void a_link_is_no_journal(void **state)
{
	char other[128];
	struct stat st;

	snprintf(other, sizeof(other), "%s/other", dir);
	close(open(other, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(symlink(other, path), 0);
	no_journal_at_path();
	assert_int_equal(stat(other, &st), 0);
	assert_int_equal(st.st_size, 0);
	/* and a second name of somebody's file is none either */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(link(other, path), 0);
	no_journal_at_path();
	assert_int_equal(stat(other, &st), 0);
	assert_int_equal(st.st_size, 0);
}

static void a_folder_is_no_journal(void **state)
{
	assert_int_equal(mkdir(path, 0700), 0);
	no_journal_at_path();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_added_is_there_again, enter, leave),
		cmocka_unit_test_setup_teardown(short_writes, enter, leave),
		cmocka_unit_test_setup_teardown(half_a_record_at_the_end, enter, leave),
		cmocka_unit_test_setup_teardown(a_pipe_is_no_journal, enter, leave),
		cmocka_unit_test_setup_teardown(a_link_is_no_journal, enter, leave),
		cmocka_unit_test_setup_teardown(a_folder_is_no_journal, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
