/*
 * test_segment.c - the head of a segment lies as doc/format.md draws it: every offset of the table
 * is a field's, and the fields are those of the table, in its order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/segment.h"

#define AT(field) offsetof(struct fah_segment_head, field)

static const size_t fields[] = {
	AT(magic),
	AT(version),
	AT(n),
	AT(pid),
	AT(ppid),
	AT(forked),
	AT(python_version),
	AT(clock),
	AT(lines_kind),
	AT(period_ns),
	AT(start_mono_ns),
	AT(start_real_ns),
	AT(status),
	AT(closed),
	AT(samples),
	AT(recovered),
	AT(drops),
	AT(handler_ns),
	AT(handler_max_ns),
	AT(end_mono_ns),
	AT(user_ns),
	AT(system_ns),
	AT(max_rss_kb),
	AT(cmdline_len),
	AT(pid_namespace),
	AT(map),
	AT(unloads),
	AT(registered),
	AT(budget_ppm),
	AT(native_stops),
	AT(cmdline),
	AT(reason),
	AT(runtime),
	AT(frames),
	AT(tid_offset),
	AT(first_tid),
	AT(first_cpu_ns),
	AT(first_ready_ns),
	AT(handlers),
	AT(gap_ns),
	AT(gap_max_ns),
	AT(gaps),
	AT(interval_sum_ns),
	AT(clock_interval_ns),
	AT(own_tids),
	AT(unrecorded),
	AT(n_clocks),
	AT(clocks),
	AT(collector),
	AT(event_cost_ns),
	AT(logs_lost),
	AT(told_ns),
};
#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

static FILE *open_document(void)
{
	const char *source = getenv("FAH_SOURCE_DIR");
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/doc/format.md", source ? source : ".");
	file = fopen(path, "r");
	assert_non_null(file);
	return file;
}

/* "| 16, 20 | 4, 4 | pid, parent's pid |": the numbers of the first column. */
static size_t offsets_of(const char *line, size_t *ret, size_t cap)
{
	const char *p = line + 1;
	size_t n = 0;
	char *end;

	while (n < cap) {
		ret[n] = strtoul(p, &end, 10);
		if (end == p)
			break;
		n++;
		if (*end != ',')
			break;
		p = end + 1;
	}
	return n;
}

static void lies_as_drawn(void **state)
{
	FILE *file = open_document();
	size_t found = 0, at[4], end = 0;
	char line[1024];
	int in_head = 0;

	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "## ", 3))
			in_head = !strncmp(line, "## The head", 11);
		if (!in_head || line[0] != '|')
			continue;
		for (size_t i = 0, n = offsets_of(line, at, 4); i < n; i++) {
			if (found == N_FIELDS) {
				end = at[i];
				continue;
			}
			if (at[i] != fields[found])
				print_error("the document has %zu, field %zu is at %zu: %s", at[i],
					    found, fields[found], line);
			assert_int_equal(at[i], fields[found]);
			found++;
		}
	}
	fclose(file);
	assert_int_equal(found, N_FIELDS);
	assert_int_equal(end, AT(told_ns) + 8); /* the row of zeros */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lies_as_drawn)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
