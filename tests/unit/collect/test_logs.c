/*
 * test_logs.c - logs.log: what stands in it, in which order, and that records cut anywhere leave
 * nothing half said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/logs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND 1000000000ull
#define START (5 * SECOND)	      /* by the monotonic clock */
#define REAL (1700000000ull * SECOND) /* the same moment */
#define PROGRAM 100u

static char dir[64], path[128], capture[128];
static struct fah_logs *logs;

static int enter(void **state)
{
	strcpy(dir, "/tmp/fah-logs-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/logs.log", dir);
	snprintf(capture, sizeof(capture), "%s/c.fah", dir);
	setenv("TZ", "UTC", 1);
	return fah_logs_new(path, START, REAL, PROGRAM, &logs);
}

static int leave(void **state)
{
	fah_logs_free(logs);
	unlink(path);
	unlink(capture);
	return rmdir(dir);
}

static uint8_t *put_str(uint8_t *p, const char *s)
{
	p = fah_put_varint(p, strlen(s));
	memcpy(p, s, strlen(s));
	return p + strlen(s);
}

/* A record as the agent writes it, behind its time; how long it is. */
static size_t make(uint8_t *buf, unsigned level, const char *name, const char *text,
		   const char *more)
{
	uint8_t *p = fah_put_varint(buf, level);

	p = fah_put_varint(p, 12);
	p = put_str(p, level == 33 ? "" : level >= 40 ? "ERROR" : "WARNING");
	p = put_str(p, name);
	p = put_str(p, "f.py");
	p = put_str(p, text);
	p = put_str(p, more);
	p = put_str(p, "");
	return (size_t)(p - buf);
}

static void take(uint32_t pid, uint64_t after_ns, unsigned level, const char *text,
		 const char *more)
{
	uint8_t buf[256];
	size_t n = make(buf, level, "a.b", text, more);

	fah_logs_take(logs, pid, START + after_ns, &(struct fah_cursor){buf, buf + n, false});
}

static void finish(void)
{
	struct fah_writer *w;

	assert_int_equal(fah_writer_new(capture, &w), 0);
	fah_logs_finish(logs, w);
	fah_writer_free(w);
	snprintf(capture, sizeof(capture), "%s/c.fah.partial", dir);
}

static const char *contents(void)
{
	static char text[4096];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = 0;
	return f ? text : NULL;
}

static void lines_in_order_of_time(void **state)
{
	take(PROGRAM, 2 * SECOND, 30, "second", "");
	take(PROGRAM + 1, 1250000000, 40, "first", "KeyError: 'k'");
	take(PROGRAM, 2 * SECOND, 33, "third", "");
	fah_logs_flush(logs);
	take(PROGRAM, 3 * SECOND, 30, "fourth", "");
	fah_logs_lost(logs, 7);
	finish();
	assert_string_equal(contents(),
			    "2023-11-14 22:13:21,250 ERROR a.b (f.py:12, process 101): first\n"
			    "KeyError: 'k'\n"
			    "2023-11-14 22:13:22,000 WARNING a.b (f.py:12): second\n"
			    "2023-11-14 22:13:22,000 Level 33 a.b (f.py:12): third\n"
			    "2023-11-14 22:13:23,000 WARNING a.b (f.py:12): fourth\n"
			    "(7 more came faster than they could be kept)\n");
}

static void nothing_came_nothing_is_left(void **state)
{
	fah_logs_flush(logs);
	fah_logs_lost(logs, 0);
	take(PROGRAM, 0, 0, "a word of the agent's own is no record", "");
	finish();
	assert_null(contents());
}

static void a_record_cut_anywhere_is_none(void **state)
{
	uint8_t buf[256];
	size_t n = make(buf, 30, "name", "text", "more");

	for (size_t i = 0; i < n; i++)
		fah_logs_take(logs, PROGRAM, START, &(struct fah_cursor){buf, buf + i, false});
	finish();
	assert_null(contents());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_in_order_of_time, enter, leave),
		cmocka_unit_test_setup_teardown(nothing_came_nothing_is_left, enter, leave),
		cmocka_unit_test_setup_teardown(a_record_cut_anywhere_is_none, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
