/* help.c - --help, the man page and shell completion, all from the table of commands. */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "export/export.h"

#include <stdio.h>
#include <string.h>

#define TEXT_WIDTH 78

static const char tagline[] =
	"a profiler for Python programs: where time goes, by line, function and module";

/* Whether its value may be left out. */
static bool is_optional(const struct fah_option *o)
{
	return o->arg && o->arg[0] == '[';
}

/* "-o, --output-directory DIR", "--memory[=peak|live]" */
static void option_label(const struct fah_option *o, char *buf, size_t cap)
{
	snprintf(buf, cap, "%s%s%s--%s%s%s", o->short_name ? "-" : "",
		 o->short_name ? o->short_name : "", o->short_name ? ", " : "", o->name,
		 o->arg && !is_optional(o) ? " " : "", o->arg ? o->arg : "");
}

/* One line of text, broken at spaces so that it fits; the spaces it begins with indent all of it.
 */
static void wrapped_line(const char *text, size_t len, int indent)
{
	const char *end = text + len;
	int column;

	while (text < end && *text == ' ') {
		text++;
		indent++;
	}
	column = indent;
	if (text < end)
		printf("%*s", indent, "");
	while (text < end) {
		size_t n = strcspn(text, " \n"), spaces = strspn(text + n, " ");

		printf("%.*s", (int)n, text);
		column += (int)n;
		text += n + spaces;
		if (text >= end)
			break;
		n = strcspn(text, " \n");
		if (column + (int)(spaces + n) > TEXT_WIDTH) {
			printf("\n%*s", indent, "");
			column = indent;
		} else {
			printf("%*s", (int)spaces, "");
			column += (int)spaces;
			if (spaces > 1) /* a table's next column */
				indent = column;
		}
	}
	putchar('\n');
}

/* Text behind an indent, wrapped to TEXT_WIDTH columns; '\n' in it starts a line anew. */
static void wrapped(const char *text, int indent)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		wrapped_line(text, len, indent);
		text += len + (text[len] == '\n');
	}
}

/* "svg, flamegraph" */
static void format_label(const struct fah_export *e, char *buf, size_t cap)
{
	size_t n = (size_t)snprintf(buf, cap, "%s", e->name);

	for (const char *const *alias = e->aliases; *alias && n < cap; alias++)
		n += (size_t)snprintf(buf + n, cap - n, ", %s", *alias);
}

void fah_help_all(void)
{
	printf("fixingahole %s - %s\n\nusage: fixingahole COMMAND [OPTIONS] ...\n\ncommands:\n",
	       FAH_VERSION, tagline);
	for (const struct fah_command *const *c = fah_commands; *c; c++)
		if (!(*c)->hidden)
			printf("  %-10s %s\n", (*c)->name, (*c)->summary);
	printf("\ntopics, for fixingahole help TOPIC:\n");
	for (const struct fah_topic *t = fah_topics; t->name; t++)
		printf("  %-13s %s\n", t->name, t->summary);
	printf("\nfixingahole COMMAND --help says more. fixingahole --version prints the "
	       "version.\n");
}

static void list_formats(void)
{
	char label[128];

	printf("\nformats:\n");
	for (const struct fah_export *const *e = fah_exports; *e; e++) {
		format_label(*e, label, sizeof(label));
		printf("  %-26s  %s\n", label, (*e)->summary);
	}
}

void fah_help_topic(const struct fah_topic *topic)
{
	printf("%s: %s\n\n", topic->name, topic->summary);
	wrapped(topic->text, 0);
	if (topic->formats)
		list_formats();
}

void fah_help_command(const struct fah_command *cmd)
{
	char label[128];

	printf("usage: fixingahole %s %s\n\n", cmd->name, cmd->usage);
	wrapped(cmd->description, 0);
	printf("\noptions:\n");
	for (const struct fah_option *o = cmd->options; o->id; o++) {
		option_label(o, label, sizeof(label));
		if (strlen(label) < 26) {
			printf("  %-26s  %s\n", label, o->help);
		} else {
			printf("  %s\n%30s%s\n", label, "", o->help);
		}
	}
	printf("  %-26s  %s\n", "-h, --help", "print this");
	if (cmd->formats)
		list_formats();
	for (const char *const *e = cmd->examples; e && *e; e += 2)
		printf("%s  %s\n      %s\n", e == cmd->examples ? "\nexamples:\n" : "", e[0], e[1]);
}

/* Text for roff: dashes that may be copied, no line that starts a request. */
static void roff(const char *s)
{
	for (bool start = true; *s; s++) {
		if (start && (*s == '.' || *s == '\''))
			fputs("\\&", stdout);
		start = *s == '\n';
		if (*s == '-')
			fputs("\\-", stdout);
		else if (*s == '\\')
			fputs("\\e", stdout);
		else if (*s == '\n' && s[1] == '\n') {
			fputs("\n.PP\n", stdout);
			s++;
			start = true;
		} else
			putchar(*s);
	}
}

static void man_formats(void)
{
	char label[128];

	fputs(".PP\nFormats:\n", stdout);
	for (const struct fah_export *const *e = fah_exports; *e; e++) {
		format_label(*e, label, sizeof(label));
		printf(".TP\n.B %s\n", label);
		roff((*e)->summary);
		fputs(".\n", stdout);
	}
}

/* As roff; paragraphs that begin with spaces are tables, whose lines stay as they are. */
static void man_text(const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t len = end ? (size_t)(end - text) : strlen(text);
		_cleanup_(fah_freep) char *paragraph = strndup(text, len);

		fputs(*text == ' ' ? ".PP\n.nf\n" : ".PP\n", stdout);
		roff(paragraph ? paragraph : "");
		fputs(*text == ' ' ? "\n.fi\n" : "\n", stdout);
		text += len + (end ? 2 : 0);
	}
}

static void man_topic(const struct fah_topic *topic)
{
	fputs(".SS ", stdout);
	roff(topic->name);
	fputs(": ", stdout);
	roff(topic->summary);
	putchar('\n');
	man_text(topic->text);
	if (topic->formats)
		man_formats();
}

static void man_command(const struct fah_command *cmd)
{
	char label[128];

	printf(".SS fixingahole %s %s\n", cmd->name, cmd->usage);
	roff(cmd->description);
	putchar('\n');
	for (const struct fah_option *o = cmd->options; o->id; o++) {
		option_label(o, label, sizeof(label));
		fputs(".TP\n.B ", stdout);
		roff(label);
		putchar('\n');
		roff(o->help);
		fputs(".\n", stdout);
	}
	if (cmd->formats)
		man_formats();
	for (const char *const *e = cmd->examples; e && *e; e += 2) {
		printf("%s.TP\n.B ", e == cmd->examples ? ".PP\nExamples:\n" : "");
		roff(e[0]);
		putchar('\n');
		roff(e[1]);
		putchar('\n');
	}
}

void fah_man(const struct fah_command *cmd)
{
	printf(".TH FIXINGAHOLE 1 \"\" \"Fixing-A-Hole %s\" \"User Commands\"\n"
	       ".SH NAME\nfixingahole, fixit \\- ",
	       FAH_VERSION);
	roff(tagline);
	fputs("\n.SH SYNOPSIS\n", stdout);
	for (const struct fah_command *const *c = fah_commands; *c; c++)
		if ((!cmd || cmd == *c) && !(*c)->hidden) {
			printf(".B fixingahole %s\n", (*c)->name);
			roff((*c)->usage);
			fputs("\n.br\n", stdout);
		}
	fputs(".SH COMMANDS\n", stdout);
	for (const struct fah_command *const *c = fah_commands; *c; c++)
		if ((!cmd || cmd == *c) && !(*c)->hidden)
			man_command(*c);
	if (!cmd)
		fputs(".SH TOPICS\n", stdout);
	for (const struct fah_topic *t = fah_topics; !cmd && t->name; t++)
		man_topic(t);
	fputs(".SH EXIT STATUS\nThe program's own, 128 + n where signal n killed it; 1 where it "
	      "could not be "
	      "started; 2 for errors in the use of fixingahole.\n"
	      ".SH ENVIRONMENT\n"
	      ".TP\n.B NO_COLOR, FORCE_COLOR\nColour off, colour on.\n"
	      ".TP\n.B COLUMNS\nWidth of what is printed.\n"
	      ".TP\n.B VIRTUAL_ENV\nThe active virtual environment, whose Python is used.\n"
	      ".TP\n.B FIXINGAHOLE_ROOT, FIXINGAHOLE_OUTPUT, FIXINGAHOLE_IGNORE, "
	      "FIXINGAHOLE_DURATION\nAs the options of profile: see there.\n"
	      ".SH FILES\n.TP\n.I performance/<script>/<UTC date_time>/\n"
	      "A copy of the code, profile_summary.txt, profile_results.txt, profile.fah, and "
	      "logs.log where "
	      "there is something in it.\n"
	      ".TP\n.I pyproject.toml\nIts table [tool.fixingahole]: root, output, ignore, "
	      "duration.\n",
	      stdout);
}

/* Whether its value is one of a fixed set: those of "a|b", of "[=a|b]", or an export's format. */
static bool has_values(const struct fah_command *cmd, const struct fah_option *o)
{
	return o->arg && (strchr(o->arg, '|') || (cmd->formats && !strcmp(o->name, "format")));
}

/* These, with a space between. */
static void values(const struct fah_option *o)
{
	const char *between = "";

	if (strchr(o->arg, '|')) {
		for (const char *s = o->arg; *s; s++)
			if (!strchr("[=]", *s))
				putchar(*s == '|' ? ' ' : *s);
		return;
	}
	for (const struct fah_export *const *e = fah_exports; *e; e++) {
		printf("%s%s", between, (*e)->name);
		between = " ";
	}
}

static void words(const struct fah_command *cmd)
{
	for (const struct fah_option *o = cmd->options; o->id; o++)
		printf(" --%s", o->name);
	fputs(" --help", stdout);
}

/* Commands, with a space behind each. */
static void command_names(void)
{
	for (const struct fah_command *const *c = fah_commands; *c; c++)
		if (!(*c)->hidden)
			printf("%s ", (*c)->name);
}

/* Commands and topics, likewise. */
static void what_help_knows(void)
{
	command_names();
	for (const struct fah_topic *t = fah_topics; t->name; t++)
		printf("%s ", t->name);
}

/* One case for each option of a fixed set, "command --option" or "command --option=". */
static void bash_values(const struct fah_command *cmd)
{
	for (const struct fah_option *o = cmd->options; o->id; o++) {
		if (!has_values(cmd, o))
			continue;
		printf("\t'%s --%s=' ", cmd->name, o->name);
		if (!is_optional(o))
			printf("| '%s --%s' ", cmd->name, o->name);
		if (!is_optional(o) && o->short_name)
			printf("| '%s -%s' ", cmd->name, o->short_name);
		fputs(") words='", stdout);
		values(o);
		fputs("' ;;\n", stdout);
	}
}

/*
 * A word that is none of ours is a file's: an empty COMPREPLY leaves it to bash (-o default), which
 * knows how to quote it. bash splits at '=': it is a word of its own.
 */
static void complete_bash(void)
{
	fputs("_fixingahole() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} equals= "
	      "words=\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [ \"$cur\" = = ]; then\n\t\tcur= equals==\n"
	      "\telif [ \"$option\" = = ]; then\n"
	      "\t\toption=${COMP_WORDS[COMP_CWORD-2]} equals==\n\tfi\n"
	      "\tcase \"${COMP_WORDS[1]} $option$equals\" in\n",
	      stdout);
	for (const struct fah_command *const *c = fah_commands; *c; c++)
		if (!(*c)->hidden)
			bash_values(*c);
	fputs("\t*)\n\t\tcase $COMP_CWORD:${COMP_WORDS[1]}:$cur in\n\t\t1:*) words='", stdout);
	command_names();
	fputs("--help --version' ;;\n", stdout);
	for (const struct fah_command *const *c = fah_commands; *c; c++) {
		if ((*c)->hidden)
			continue;
		printf("\t\t*:%s:-*) words='", (*c)->name);
		words(*c);
		fputs("' ;;\n", stdout);
	}
	fputs("\t\t*:help:*) words='", stdout);
	what_help_knows();
	fputs("' ;;\n\t\tesac ;;\n\tesac\n"
	      "\tif [ \"$words\" ]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n\tfi\n}\n"
	      "complete -o default -F _fixingahole fixingahole fixit\n",
	      stdout);
}

/* Single quotes for zsh and fish: the text inside must have none. */
static void quoted(const char *s, const char *special)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", stdout);
		else {
			if (strchr(special, *s))
				putchar('\\');
			putchar(*s);
		}
	}
}

static void complete_zsh(void)
{
	fputs("#compdef fixingahole fixit\n_fixingahole() {\n\tlocal -a commands\n\tcommands=(\n",
	      stdout);
	for (const struct fah_command *const *c = fah_commands; *c; c++)
		if (!(*c)->hidden) {
			printf("\t\t'%s:", (*c)->name);
			quoted((*c)->summary, ":");
			fputs("'\n", stdout);
		}
	fputs("\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command "
	      "commands\n\t\treturn\n\tfi\n"
	      "\tcase $words[2] in\n",
	      stdout);
	for (const struct fah_command *const *c = fah_commands; *c; c++) {
		if ((*c)->hidden)
			continue;
		printf("\t%s)\n\t\t_arguments \\\n", (*c)->name);
		for (const struct fah_option *o = (*c)->options; o->id; o++) {
			printf("\t\t\t'--%s%s[", o->name,
			       is_optional(o) ? "=-"
			       : o->arg	      ? "="
					      : "");
			quoted(o->help, "[]:");
			putchar(']');
			if (has_values(*c, o)) {
				fputs(is_optional(o) ? "::value:(" : ":value:(", stdout);
				values(o);
				fputs(")' \\\n", stdout);
			} else if (is_optional(o)) {
				fputs("::value:' \\\n", stdout);
			} else {
				printf("%s%s%s' \\\n", o->arg ? ":" : "", o->arg ? o->arg : "",
				       o->arg ? ":_files" : "");
			}
		}
		fputs("\t\t\t'--help[print help]' ", stdout);
		if (*c == fah_command_find("help")) {
			fputs("'1:topic:(", stdout);
			what_help_knows();
			fputs(")' ;;\n", stdout);
		} else {
			fputs("'*:file:_files' ;;\n", stdout);
		}
	}
	fputs("\tesac\n}\n_fixingahole \"$@\"\n", stdout);
}

static void complete_fish(void)
{
	static const char *const programs[] = {"fixingahole", "fixit"};

	for (size_t i = 0; i < 2; i++)
		for (const struct fah_command *const *c = fah_commands; *c; c++) {
			if ((*c)->hidden)
				continue;
			printf("complete -c %s -n __fish_use_subcommand -a %s -d '", programs[i],
			       (*c)->name);
			quoted((*c)->summary, "");
			fputs("'\n", stdout);
			for (const struct fah_option *o = (*c)->options; o->id; o++) {
				printf("complete -c %s -n '__fish_seen_subcommand_from %s' -l %s%s",
				       programs[i], (*c)->name, o->name,
				       o->arg && !is_optional(o) ? " -r" : "");
				if (has_values(*c, o)) {
					fputs(" -f -a '", stdout);
					values(o);
					putchar('\'');
				}
				fputs(" -d '", stdout);
				quoted(o->help, "");
				fputs("'\n", stdout);
			}
			if (*c == fah_command_find("help")) {
				printf("complete -c %s -f -n '__fish_seen_subcommand_from help' -a "
				       "'",
				       programs[i]);
				what_help_knows();
				fputs("'\n", stdout);
			}
		}
}

int fah_completion(const char *shell)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} shells[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (!strcmp(shells[i].name, shell)) {
			shells[i].print();
			return 0;
		}
	return -1;
}
