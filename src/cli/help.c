/* help.c - --help, the man page and shell completion, all from the table of commands. */
#include "cli/cli.h"
#include "export/export.h"

#include <stdio.h>
#include <string.h>

#define INDENT 4
#define TEXT_WIDTH 78

static const char tagline[] =
	"a profiler for Python programs: where time goes, by line, function and module";

/* Whether its value may be left out. */
static bool is_optional(const struct fah_option *o)
{
	return o->arg && o->arg[0] == '[';
}

/* "-o, --output-directory DIR", "--no-plots[=LIB]" */
static void option_label(const struct fah_option *o, char *buf, size_t cap)
{
	snprintf(buf, cap, "%s%s%s--%s%s%s", o->short_name ? "-" : "",
		 o->short_name ? o->short_name : "", o->short_name ? ", " : "", o->name,
		 o->arg && !is_optional(o) ? " " : "", o->arg ? o->arg : "");
}

/* Words of text wrapped to TEXT_WIDTH columns behind an indent; '\n' in text starts a line anew. */
static void wrapped(const char *text, int indent)
{
	int column = indent;

	printf("%*s", indent, "");
	while (*text) {
		size_t n = strcspn(text, " \n");

		if (column > indent && column + 1 + (int)n > TEXT_WIDTH) {
			printf("\n%*s", indent, "");
			column = indent;
		}
		if (column > indent) {
			putchar(' ');
			column++;
		}
		printf("%.*s", (int)n, text);
		column += (int)n;
		text += n;
		while (*text == ' ')
			text++;
		if (*text == '\n') {
			printf(text[1] ? "\n%*s" : "%*s", text[1] == '\n' ? 0 : indent, "");
			column = indent;
			text++;
			if (*text == '\n') {
				printf("\n%*s", indent, "");
				text++;
			}
		}
	}
	putchar('\n');
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
	printf("\nfixingahole COMMAND --help says more. fixingahole --version prints the "
	       "version.\n");
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
	for (const struct fah_export *const *e = fah_exports; cmd->formats && *e; e++) {
		format_label(*e, label, sizeof(label));
		printf("%s  %-26s  %s\n", e == fah_exports ? "\nformats:\n" : "", label,
		       (*e)->summary);
	}
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
	for (const struct fah_export *const *e = fah_exports; cmd->formats && *e; e++) {
		format_label(*e, label, sizeof(label));
		printf("%s.TP\n.B %s\n", e == fah_exports ? ".PP\nFormats:\n" : "", label);
		roff((*e)->summary);
		fputs(".\n", stdout);
	}
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
	      "logs.log where --log-level "
	      "found something for it.\n"
	      ".TP\n.I pyproject.toml\nIts table [tool.fixingahole]: root, output, ignore, "
	      "duration.\n",
	      stdout);
}

static void words(const struct fah_command *cmd)
{
	for (const struct fah_option *o = cmd->options; o->id; o++)
		printf(" --%s", o->name);
	fputs(" --help", stdout);
}

static void complete_bash(void)
{
	fputs("_fixingahole() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]}\n"
	      "\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\tCOMPREPLY=($(compgen -W \"",
	      stdout);
	for (const struct fah_command *const *c = fah_commands; *c; c++)
		if (!(*c)->hidden)
			printf("%s ", (*c)->name);
	fputs("--help --version\" -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase $cur in\n\t-*) ;;\n"
	      "\t*) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n\tesac\n\tcase "
	      "${COMP_WORDS[1]} in\n",
	      stdout);
	for (const struct fah_command *const *c = fah_commands; *c; c++) {
		if ((*c)->hidden)
			continue;
		printf("\t%s) COMPREPLY=($(compgen -W \"", (*c)->name);
		words(*c);
		fputs("\" -- \"$cur\")) ;;\n", stdout);
	}
	fputs("\tesac\n}\ncomplete -o filenames -F _fixingahole fixingahole fixit\n", stdout);
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
			if (is_optional(o))
				printf("]::value:' \\\n");
			else
				printf("]%s%s%s' \\\n", o->arg ? ":" : "", o->arg ? o->arg : "",
				       o->arg ? ":_files" : "");
		}
		fputs("\t\t\t'--help[print help]' '*:file:_files' ;;\n", stdout);
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
				printf("complete -c %s -n '__fish_seen_subcommand_from %s' -l %s%s "
				       "-d '",
				       programs[i], (*c)->name, o->name,
				       o->arg && !is_optional(o) ? " -r" : "");
				quoted(o->help, "");
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
