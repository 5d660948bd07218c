/* cmd_help.c - help on the program or a command; also prints the man page and completions. */
#include "cli/cli.h"

enum { OPT_MAN = 1, OPT_COMPLETION };

static const struct fah_option options[] = {
	{OPT_MAN, "man", NULL, NULL, "print the manual page (roff)"},
	{OPT_COMPLETION, "completion", NULL, "SHELL",
	 "print the completion script for bash, zsh or fish"},
	{0},
};

static int cmd_help(const struct fah_command *cmd, int argc, char **argv)
{
	const struct fah_command *about = NULL;
	bool man = false;
	struct fah_args a;
	int arg;

	fah_args_init(&a, cmd, argc, argv);
	while ((arg = fah_args_next(&a)) != FAH_ARG_END) {
		switch (arg) {
		case OPT_MAN:
			man = true;
			break;
		case OPT_COMPLETION:
			if (fah_completion(a.value) < 0)
				return fah_fail("help: no completion for '%s': bash, zsh and fish "
						"are known",
						a.value);
			return FAH_STATUS_OK;
		case FAH_ARG_OPERAND:
			about = fah_command_find(a.value);
			if (!about)
				return fah_fail("help: there is no command '%s'; fixingahole "
						"--help lists them",
						a.value);
			break;
		case FAH_ARG_HELP:
			return FAH_STATUS_OK;
		case FAH_ARG_DASHES:
			break;
		default:
			return FAH_STATUS_USAGE;
		}
	}
	if (man)
		fah_man(about);
	else if (about)
		fah_help_command(about);
	else
		fah_help_all();
	return FAH_STATUS_OK;
}

const struct fah_command fah_cmd_help = {
	.name = "help",
	.usage = "[COMMAND]",
	.summary = "print help, the manual page or shell completion",
	.description = "Prints what a command does and its options.",
	.options = options,
	.run = cmd_help,
};
