/*
 * test_memory_text.c - what files of the kernel say of memory: as kernels and containers write
 * them, and as nobody should. The texts have no NUL behind them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "target/memory_text.h"

#include <stdlib.h>
#include <string.h>

#define STATUS \
	"Name:\tVmRSS: 1 kB\\n\nVmPeak:\t  900 kB\nVmHWM:\t   31000 kB\nVmRSS:\t   20480 kB\n" \
	"RssAnon:\t 1 kB\nVmSwap:\t       0 kB\nThreads:\t7\n"

/* Without a NUL behind it, in memory of just that size: who reads on is found by ASan. */
static char *exactly(const char *text)
{
	char *copy = malloc(strlen(text) ? strlen(text) : 1);

	memcpy(copy, text, strlen(text));
	return copy;
}

static uint64_t keyed(const char *text, const char *key)
{
	char *copy = exactly(text);
	uint64_t value = fah_text_keyed(copy, strlen(text), key);

	free(copy);
	return value;
}

static uint64_t limit(const char *text)
{
	char *copy = exactly(text);
	uint64_t value = fah_text_limit(copy, strlen(text));

	free(copy);
	return value;
}

static uint64_t resident(const char *text)
{
	char *copy = exactly(text);
	uint64_t value = fah_text_resident(copy, strlen(text), 4096);

	free(copy);
	return value;
}

static void keys(void **state)
{
	assert_int_equal(keyed(STATUS, "VmRSS"), 20480 * 1024);
	assert_int_equal(keyed(STATUS, "VmHWM"), 31000 * 1024);
	assert_int_equal(keyed(STATUS, "VmSwap"), 0);
	assert_int_equal(keyed(STATUS, "Threads"), 7);
	assert_int_equal(keyed("MemTotal:       24684100 kB\nMemFree: 1 kB", "MemTotal"),
			 24684100ull * 1024);
	assert_int_equal(keyed("low 0\noom 3\noom_kill 12\noom_group_kill 0\n", "oom_kill"), 12);
	assert_int_equal(keyed("inactive_file 4096\n", "inactive_file"), 4096);
	assert_int_equal(keyed("a 18446744073709551614\n", "a"), UINT64_MAX - 1);
}

static void keys_not_there(void **state)
{
	static const char *const texts[] = {
		"",
		"\n\n\n",
		"VmRSS",
		"VmRSS:",
		"VmRSS:\t",
		"VmRSS:\tkB",
		"VmRSS:\t-5 kB",
		"VmRSS:\t5kB",
		"VmRSS:\t0x10 kB",
		"VmRSSX:\t5 kB",
		"xVmRSS:\t5 kB",
		" VmRSS:\t5 kB",
		"VmRSS:\t18446744073709551615 kB",
		"VmRSS:\t18446744073709551616 kB",
		"VmRSS:\t99999999999999999999999999 kB",
		"VmRSS:\t4503599627370496 kB", /* 2^62 bytes */
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (keyed(texts[i], "VmRSS") != FAH_BYTES_UNKNOWN)
			fail_msg("%s", texts[i]);
}

static void limits(void **state)
{
	assert_int_equal(limit("max\n"), FAH_BYTES_NO_LIMIT);
	assert_int_equal(limit("max"), FAH_BYTES_NO_LIMIT);
	assert_int_equal(limit("536870912\n"), 536870912);
	assert_int_equal(limit("0\n"), 0);
	assert_int_equal(limit("9223372036854771712\n"), FAH_BYTES_NO_LIMIT);
	assert_int_equal(limit(""), FAH_BYTES_UNKNOWN);
	assert_int_equal(limit("maximum\n"), FAH_BYTES_UNKNOWN);
	assert_int_equal(limit("-1\n"), FAH_BYTES_UNKNOWN);
	assert_int_equal(limit("12 13\n"), FAH_BYTES_UNKNOWN);
	assert_int_equal(limit("99999999999999999999999\n"), FAH_BYTES_UNKNOWN);
}

static void residents(void **state)
{
	assert_int_equal(resident("3000 1200 900 1 0 500 0\n"), 1200 * 4096);
	assert_int_equal(resident("3000 1200"), 1200 * 4096);
	/* a zombie has no memory: that is no resident set of nothing */
	assert_int_equal(resident("0 0 0 0 0 0 0\n"), FAH_BYTES_UNKNOWN);
	assert_int_equal(resident("3000\n"), FAH_BYTES_UNKNOWN);
	assert_int_equal(resident(""), FAH_BYTES_UNKNOWN);
	assert_int_equal(resident("3000 x\n"), FAH_BYTES_UNKNOWN);
	assert_int_equal(resident("3000 18446744073709551614\n"), FAH_BYTES_UNKNOWN);
}

#define MOUNT_V2 "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define MOUNTS_V1 \
	"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n" \
	"32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n" \
	"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:1 master:2 - cgroup cgroup " \
	"rw,memory\n" \
	"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"

static bool group(const char *groups, const char *mounts, struct fah_group_place *ret)
{
	char *g = exactly(groups), *m = exactly(mounts);
	bool found = fah_text_group(g, strlen(groups), m, strlen(mounts), ret);

	free(g);
	free(m);
	return found;
}

static void check_group(const char *groups, const char *mounts, const char *dir, const char *top,
			bool v1)
{
	struct fah_group_place place;

	memset(&place, 0x5a, sizeof(place));
	assert_true(group(groups, mounts, &place));
	assert_string_equal(place.dir, dir);
	assert_int_equal(place.top, strlen(top));
	assert_int_equal(place.v1, v1);
}

static void groups(void **state)
{
	check_group("0::/user.slice/run-7.scope\n", MOUNT_V2,
		    "/sys/fs/cgroup/user.slice/run-7.scope", "/sys/fs/cgroup", false);
	check_group("0::/\n", MOUNT_V2, "/sys/fs/cgroup", "/sys/fs/cgroup", false);
	/* both, as systemd's hybrid mode has it: memory is where it is listed */
	check_group("9:name=systemd:/\n4:cpuacct,memory:/a/b:c\n0::/x\n", MOUNTS_V1,
		    "/sys/fs/cgroup/memory/a/b:c", "/sys/fs/cgroup/memory", true);
	check_group("2:cpu:/y\n0::/x/\n", MOUNTS_V1, "/sys/fs/cgroup/unified/x",
		    "/sys/fs/cgroup/unified", false);
	/* a container: the mount's root is its own group, the path is the host's */
	check_group("0::/docker/abc/in\n",
		    "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup ro\n",
		    "/sys/fs/cgroup/in", "/sys/fs/cgroup", false);
	check_group("0::/docker/abcd\n",
		    "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup ro\n",
		    "/sys/fs/cgroup", "/sys/fs/cgroup", false);
	check_group("0::/a b\n", "30 23 0:26 / /mnt/my\\040groups\\x rw - cgroup2 none rw\n",
		    "/mnt/my groups\\x/a b", "/mnt/my groups\\x", false);
}

static void groups_not_there(void **state)
{
	static const char *const texts[][2] = {
		{"", MOUNT_V2},
		{"0::/\n", ""},
		{"4:memory:/a\n", MOUNT_V2}, /* its hierarchy is not mounted */
		{"0::/a\n", "30 23 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"},
		{"0::/../other\n", MOUNT_V2}, /* outside of our namespace */
		{"0::/a/../../../etc\n", MOUNT_V2},
		{"0::relative\n", MOUNT_V2},
		{"0::\n", MOUNT_V2},
		{"::::\n0\n:\n", MOUNT_V2},
		{"0::/\n", "30 23 0:26 / \n- cgroup2 cgroup2 rw\n30 23 - cgroup2 x y\n"},
		{"0::/\n", "30 23 0:26 / /a\\000b rw - cgroup2 cgroup2 rw\n"},
	};
	struct fah_group_place place;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (group(texts[i][0], texts[i][1], &place))
			fail_msg("%zu: %s", i, place.dir);
}

/* Longer than a path may be: refused, not cut to another group's name. */
static void groups_too_long(void **state)
{
	struct fah_group_place place;
	char *path = malloc(2 * FAH_GROUP_PATH);

	memcpy(path, "0::", 3);
	for (size_t i = 3; i < 2 * FAH_GROUP_PATH - 1; i++)
		path[i] = i % 2 ? '/' : 'a';
	path[2 * FAH_GROUP_PATH - 1] = 0;
	assert_false(group(path, MOUNT_V2, &place));
	free(path);
}

/* Any bytes: nothing is read beyond them, whatever they are cut from. */
static void garbage(void **state)
{
	static const char all[] = STATUS MOUNTS_V1 MOUNT_V2 "4:memory:/a\n0::/b\nmax\n12 13\n";
	struct fah_group_place place;
	uint64_t seed = 88172645463325252u;

	for (int i = 0; i < 20000; i++) {
		char text[64];
		size_t n, from;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		n = seed % sizeof(text);
		from = (seed >> 8) % (sizeof(all) - sizeof(text));
		memcpy(text, all + from, n);
		if (n)
			text[(seed >> 24) % n] = (char)(seed >> 32);
		fah_text_keyed(text, n, "VmRSS");
		fah_text_limit(text, n);
		fah_text_resident(text, n, 4096);
		fah_text_group(text, n, MOUNT_V2, strlen(MOUNT_V2), &place);
		fah_text_group("0::/\n", 5, text, n, &place);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys),
		cmocka_unit_test(keys_not_there),
		cmocka_unit_test(limits),
		cmocka_unit_test(residents),
		cmocka_unit_test(groups),
		cmocka_unit_test(groups_not_there),
		cmocka_unit_test(groups_too_long),
		cmocka_unit_test(garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
