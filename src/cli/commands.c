/* commands.c - the table of commands. A new one: its file, an extern and a line here. */
#include "cli/cli.h"

#include <string.h>

extern const struct fah_command fah_cmd_annotate;
extern const struct fah_command fah_cmd_calls;
extern const struct fah_command fah_cmd_export;
extern const struct fah_command fah_cmd_flame;
extern const struct fah_command fah_cmd_graph;
extern const struct fah_command fah_cmd_help;
extern const struct fah_command fah_cmd_inspect;
extern const struct fah_command fah_cmd_lines;
extern const struct fah_command fah_cmd_profile;
extern const struct fah_command fah_cmd_record;
extern const struct fah_command fah_cmd_stats;
extern const struct fah_command fah_cmd_summarize;
extern const struct fah_command fah_cmd_tree;

/* clang-format off */
const struct fah_command *const fah_commands[] = {
	&fah_cmd_profile,
	&fah_cmd_record,
	&fah_cmd_calls,
	&fah_cmd_lines,
	&fah_cmd_summarize,
	&fah_cmd_stats,
	&fah_cmd_annotate,
	&fah_cmd_tree,
	&fah_cmd_flame,
	&fah_cmd_graph,
	&fah_cmd_export,
	&fah_cmd_inspect,
	&fah_cmd_help,
	NULL,
};
/* clang-format on */

const struct fah_command *fah_command_find(const char *name)
{
	for (const struct fah_command *const *c = fah_commands; *c; c++)
		if (!strcmp((*c)->name, name) || ((*c)->alias && !strcmp((*c)->alias, name)))
			return *c;
	return NULL;
}
