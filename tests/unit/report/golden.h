/* golden.h - compare a text with its file in golden/. FAH_UPDATE_GOLDEN=1 writes it anew. */
#ifndef FAH_TESTS_REPORT_GOLDEN_H
#define FAH_TESTS_REPORT_GOLDEN_H

#include "build.h"

#include "base/file.h"

static inline void golden_compare(const char *name, const char *text)
{
	const char *source = getenv("FAH_SOURCE_DIR");
	char path[512], *wanted;
	size_t len;

	snprintf(path, sizeof(path), "%s/tests/unit/report/golden/%s.txt", source ? source : ".",
		 name);
	if (getenv("FAH_UPDATE_GOLDEN"))
		assert_int_equal(fah_file_replace(path, text, strlen(text)), 0);
	assert_int_equal(fah_file_read(path, 1u << 20, &wanted, &len), 0);
	if (strcmp(wanted, text) != 0)
		fail_msg("%s differs:\n%s", path, text);
	free(wanted);
}

#endif
