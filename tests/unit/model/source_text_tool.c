/* source_text_tool.c - sources named on stdin, a path a line, as model/source_text.c reads them;
 * each with a NUL behind it. For check_source_text.py. */
#include "base/file.h"
#include "model/source_text.h"

#include <stdlib.h>
#include <string.h>

int main(void)
{
	char path[4096], *text;
	size_t len;

	while (fgets(path, sizeof(path), stdin)) {
		path[strcspn(path, "\n")] = '\0';
		if (fah_file_read(path, 1u << 30, &text, &len) < 0)
			return 1;
		if (fah_source_text_decode(&text, &len) < 0)
			return 1;
		fwrite(text, 1, len, stdout);
		putchar('\0');
		free(text);
	}
	return 0;
}
