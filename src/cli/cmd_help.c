/* cmd_help.c - help on the program, a command or a topic; also the man page and completions. */
#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/strbuf.h"
#include "cli/cli.h"

#include <string.h>

enum { OPT_MAN = 1, OPT_COMPLETION };

static const struct fah_option options[] = {
	{OPT_MAN, "man", NULL, NULL, "print the manual page (roff)"},
	{OPT_COMPLETION, "completion", NULL, "bash|zsh|fish",
	 "print the completion script of this shell"},
	{0},
};

struct near {
	const char *typed;
	size_t distance; /* of those said */
	struct fah_strbuf said;
};

/* The nearest names, all that are as near. */
static void compare(struct near *n, const char *name)
{
	size_t d = fah_nearest_distance(n->typed, strlen(n->typed), name, strlen(name));

	if (d > n->distance)
		return;
	if (d < n->distance)
		fah_strbuf_truncate(&n->said, 0);
	n->distance = d;
	fah_strbuf_addf(&n->said, "%s%s", n->said.len ? ", " : "", name);
}

static int say_none(const char *typed, bool topics)
{
	struct near n = {.typed = typed, .distance = fah_nearest_limit(strlen(typed))};
	_cleanup_(fah_strbuf_release) struct fah_strbuf name = FAH_STRBUF_INIT;
	int status;

	for (const struct fah_command *const *c = fah_commands; *c; c++)
		if (!(*c)->hidden)
			compare(&n, (*c)->name);
	for (const struct fah_topic *t = fah_topics; topics && t->name; t++)
		compare(&n, t->name);
	fah_strbuf_add_printable(&name, typed, strlen(typed));
	status = fah_fail("%sthere is no command%s '%s'%s%s; fixingahole help lists them",
			  topics ? "help: " : "", topics ? " or topic" : "", fah_strbuf_str(&name),
			  n.said.len ? "; nearest: " : "", fah_strbuf_str(&n.said));
	fah_strbuf_release(&n.said);
	return status;
}

int fah_help_no_command(const char *typed)
{
	if (fah_topic_find(typed))
		return fah_fail("%s is no command but a topic: fixingahole help %s", typed, typed);
	return say_none(typed, false);
}

static int cmd_help(const struct fah_command *cmd, int argc, char **argv)
{
	const struct fah_command *about = NULL;
	const struct fah_topic *topic = NULL;
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
			return fah_printed();
		case FAH_ARG_OPERAND:
			about = fah_command_find(a.value);
			topic = about ? NULL : fah_topic_find(a.value);
			if (!about && !topic)
				return say_none(a.value, true);
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
	else if (topic)
		fah_help_topic(topic);
	else if (about)
		fah_help_command(about);
	else
		fah_help_all();
	return fah_printed();
}

const struct fah_command fah_cmd_help = {
	.name = "help",
	.usage = "[COMMAND | TOPIC]",
	.summary = "print help, the manual page or shell completion",
	.description =
		"Prints what a command does and its options, or what there is to know about a "
		"topic; without either, the list of both.",
	.options = options,
	.run = cmd_help,
};
