/*
 * test_memory_group.c - control groups as folders of files, of both versions: which limit is the
 * nearest, what is used, what is not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "target/memory_group.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[64];
static struct fah_group g;

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static struct fah_group_place place_of(const char *below, bool v1)
{
	struct fah_group_place place = {.top = strlen(top), .v1 = v1};

	snprintf(place.dir, sizeof(place.dir), "%s%s", top, below);
	return place;
}

static int setup(void **state)
{
	char path[128];

	strcpy(top, "/tmp/fah-group-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	snprintf(path, sizeof(path), "%s/outer", top);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/outer/inner", top);
	mkdir(path, 0700);
	fah_group_init(&g);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int teardown(void **state)
{
	fah_group_release(&g);
	return nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void at(const char *below, bool v1)
{
	struct fah_group_place place = place_of(below, v1);

	fah_group_at(&g, &place);
}

static void own_limit(void **state)
{
	put("outer/inner/memory.max", "1000000\n");
	put("outer/inner/memory.current", "400000\n");
	put("outer/inner/memory.stat", "anon 1\ninactive_file 4096\nactive_file 9\n");
	put("outer/inner/memory.events", "low 0\nmax 7\noom 2\noom_kill 1\n");
	put("outer/memory.max", "max\n");
	put("outer/memory.current", "900000\n");
	at("/outer/inner", false);
	assert_int_equal(g.limit, 1000000);
	assert_int_equal(fah_group_used(&g), 400000);
	assert_int_equal(fah_group_cache(&g), 4096);
	assert_int_equal(fah_group_kills(&g), 1);
	/* what is used is read anew each time */
	put("outer/inner/memory.current", "500000\n");
	assert_int_equal(fah_group_used(&g), 500000);
}

/* Not the smallest limit, but the one with least room: others use the outer one too. */
static void outer_limit(void **state)
{
	put("outer/inner/memory.max", "1000000\n");
	put("outer/inner/memory.current", "100000\n");
	put("outer/inner/memory.events", "oom_kill 3\n");
	put("outer/memory.max", "2000000\n");
	put("outer/memory.current", "1900000\n");
	put("outer/memory.events", "oom_kill 9\n");
	at("/outer/inner", false);
	assert_int_equal(g.limit, 2000000);
	assert_int_equal(fah_group_used(&g), 1900000);
	assert_int_equal(fah_group_kills(&g), 3); /* the program's own */
	/* others gave back: now the inner one is nearer */
	put("outer/memory.current", "1000\n");
	fah_group_look(&g);
	assert_int_equal(g.limit, 1000000);
	assert_int_equal(fah_group_used(&g), 100000);
	/* and a limit that is lowered while it runs is seen */
	put("outer/inner/memory.max", "200000\n");
	fah_group_look(&g);
	assert_int_equal(g.limit, 200000);
}

static void version_1(void **state)
{
	put("outer/inner/memory.limit_in_bytes", "9223372036854771712\n");
	put("outer/inner/memory.usage_in_bytes", "70000\n");
	put("outer/memory.limit_in_bytes", "150000000\n");
	put("outer/memory.usage_in_bytes", "80000\n");
	put("outer/memory.stat", "inactive_file 1\ntotal_inactive_file 8192\n");
	put("outer/inner/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
	put("memory.limit_in_bytes", "9223372036854771712\n");
	at("/outer/inner", true);
	assert_int_equal(g.limit, 150000000);
	assert_int_equal(fah_group_used(&g), 80000);
	assert_int_equal(fah_group_cache(&g), 8192);
	assert_int_equal(fah_group_kills(&g), 5);
}

/* No limit anywhere: the use is the own group's. */
static void no_limit(void **state)
{
	put("outer/inner/memory.max", "max\n");
	put("outer/inner/memory.current", "70000\n");
	put("outer/memory.max", "max\n");
	put("outer/memory.current", "80000\n");
	at("/outer/inner", false);
	assert_true(g.limit == FAH_BYTES_NO_LIMIT);
	assert_int_equal(fah_group_used(&g), 70000);
}

static void nothing_there(void **state)
{
	at("/outer/inner", false);
	assert_true(g.limit == FAH_BYTES_UNKNOWN);
	assert_true(fah_group_used(&g) == FAH_BYTES_UNKNOWN);
	assert_true(fah_group_cache(&g) == FAH_BYTES_UNKNOWN);
	assert_true(fah_group_kills(&g) == FAH_BYTES_UNKNOWN);
	at("/gone", false); /* removed meanwhile */
	assert_true(fah_group_used(&g) == FAH_BYTES_UNKNOWN);
	fah_group_release(&g);
	fah_group_look(&g);
	assert_true(fah_group_cache(&g) == FAH_BYTES_UNKNOWN);
	/* use above the limit, as right after it was lowered, is no room at all */
	put("outer/memory.max", "100\n");
	put("outer/memory.current", "5000\n");
	put("outer/inner/memory.max", "junk\n");
	at("/outer/inner", false);
	assert_int_equal(g.limit, 100);
}

/* Our own, whatever this machine has: never an error, and what is known makes sense. */
static void of_a_process(void **state)
{
	fah_group_find(&g, (uint32_t)getpid());
	if (fah_group_used(&g) != FAH_BYTES_UNKNOWN)
		assert_true(fah_group_used(&g) > 4096);
	fah_group_find(&g, UINT32_MAX); /* no such process: what was known stays */
	if (g.place.dir[0])
		assert_true(g.place.dir[0] == '/');
}

/* A zombie is listed in another group than it was in; what was known of it stays. */
static void of_a_zombie(void **state)
{
	pid_t pid = fork();
	siginfo_t ended;

	if (!pid)
		_exit(0);
	put("outer/inner/memory.max", "1000000\n");
	put("outer/inner/memory.current", "400000\n");
	at("/outer/inner", false);
	assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	fah_group_find(&g, (uint32_t)pid);
	assert_int_equal(g.limit, 1000000);
	assert_int_equal(fah_group_used(&g), 400000);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(own_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(outer_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(version_1, setup, teardown),
		cmocka_unit_test_setup_teardown(no_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_there, setup, teardown),
		cmocka_unit_test_setup_teardown(of_a_process, setup, teardown),
		cmocka_unit_test_setup_teardown(of_a_zombie, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
