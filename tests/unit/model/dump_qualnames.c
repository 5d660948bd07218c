/*
 * dump_qualnames.c - what model/qualname.c says of Python sources, for check_qualnames.py.
 *
 * Reads from stdin lines "F path", then "Q first-line name" of that file; answers each Q with the
 * qualified name, or "?".
 */
#include "base/file.h"
#include "model/qualname.h"
#include "model/source_text.h"

#include <stdlib.h>
#include <string.h>

int main(void)
{
	struct fah_qualnames *names = NULL;
	char line[8192], *source;
	size_t len;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == 'F') {
			fah_qualnames_free(names);
			names = NULL;
			if (fah_file_read(line + 2, 1u << 30, &source, &len) < 0)
				return 1;
			if (fah_source_text_decode(&source, &len) < 0)
				return 1;
			if (fah_qualnames_new(source, len, &names) < 0)
				return 1;
			free(source);
		} else if (names) {
			char *name;
			unsigned long first = strtoul(line + 2, &name, 10);
			const char *found = fah_qualnames_find(names, name + 1, (uint32_t)first);

			puts(found ? found : "?");
		}
	}
	fah_qualnames_free(names);
	return 0;
}
