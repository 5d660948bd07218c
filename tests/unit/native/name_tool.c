/*
 * name_tool.c - names of addresses from the command line, for check_names.py and for measuring.
 *
 *   name_tool demangle        each line of stdin as it reads, or as it is
 *   name_tool abilities       what this build can read
 *   name_tool FILE [ROOT [KEPT]]    for each address (hex, as in the file) of stdin its frames,
 * innermost first: name, tab, file:line; an empty line behind them. Names are kept in the folder
 * KEPT.
 */
#include "native/demangle.h"
#include "native/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int demangle(void)
{
	char line[1 << 16];

	while (fgets(line, sizeof(line), stdin)) {
		_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;

		line[strcspn(line, "\n")] = 0;
		puts(fah_demangle(line, &text) ? fah_strbuf_str(&text) : line);
	}
	return fah_demangle_library() ? 0 : 77;
}

static void print_frames(struct fah_names *names, uint64_t offset)
{
	uint32_t n = 0;
	struct fah_name_frame *frames = fah_names_find(names, offset, &n);

	while (frames && n--)
		printf("%s\t%s:%u\n", frames[n].function, frames[n].file ? frames[n].file : "??",
		       frames[n].line);
	puts("");
}

int main(int argc, char **argv)
{
	_cleanup_(fah_elf_freep) struct fah_elf *elf = NULL;
	_cleanup_(fah_names_freep) struct fah_names *names = NULL;
	uint64_t address;

	if (argc < 2 || argc > 4)
		return 2;
	if (!strcmp(argv[1], "demangle"))
		return demangle();
	if (!strcmp(argv[1], "abilities")) {
		_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;

		fah_names_abilities(&text);
		puts(fah_strbuf_str(&text));
		return 0;
	}
	if ((!strcmp(argv[1], "[vdso]") ? fah_elf_open_vdso(&elf) : fah_elf_open(argv[1], &elf)) <
	    0)
		return 1;
	names = fah_names_new(elf, argc >= 3 ? argv[2] : "", argv[1]);
	if (!names)
		return 1;
	if (argc == 4)
		fah_names_keep_in(names, argv[3]);
	while (scanf("%" SCNx64, &address) == 1)
		print_frames(names, address - elf->base);
	(void)fah_names_save(names);
	return 0;
}
