/*
 * cli.h - what commands share: the table they stand in, their options, and how they fail.
 *
 * Only this folder prints errors and decides exit statuses. One entry of a command's table serves
 * parsing,
 * --help, the man page and the shells' completion.
 */
#ifndef FAH_CLI_CLI_H
#define FAH_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses of our own; else a command exits as the program did (128 + n on a signal). */
enum fah_status {
	FAH_STATUS_OK = 0,
	FAH_STATUS_NOT_STARTED = 1, /* the program could not be started */
	FAH_STATUS_USAGE = 2,	    /* our usage errors and refusals */
};

struct fah_option {
	int id;			/* the command's own enum, from 1 */
	const char *name;	/* long, without dashes */
	const char *short_name; /* one or two letters without the dash; NULL: none */
	const char *arg;  /* what its value is called, or "a|b|c" where it is one of these; NULL: it
			     takes none; "[=X]": it may have one, behind = only */
	const char *help; /* one line, no full stop */
};

struct fah_command {
	const char *name;
	const char *alias; /* NULL: none */
	const char *usage; /* behind the name */
	const char *summary;
	const char *description;	  /* paragraphs, blank line between */
	const struct fah_option *options; /* ends with id 0 */
	const char *const
		*examples; /* pairs: command, what it does; NULL at the end; may be NULL */
	bool hidden;
	bool formats; /* it exports: help lists the formats */
	int (*run)(const struct fah_command *cmd, int argc,
		   char **argv); /* arguments behind the name */
};

/* commands.c: NULL at the end. */
extern const struct fah_command *const fah_commands[];
const struct fah_command *fah_command_find(const char *name); /* also by alias; NULL: none */

/* topics.c: fixingahole help TOPIC; no name at the end. */
struct fah_topic {
	const char *name;
	const char *summary; /* one line, no full stop */
	const char *text;    /* as a command's description; lines that begin with spaces stay */
	bool formats;	     /* the formats of exports are listed below it */
};
extern const struct fah_topic fah_topics[];
const struct fah_topic *fah_topic_find(const char *name); /* NULL: none */

/* args.c: a walk over arguments by a command's table. */
struct fah_args {
	const struct fah_command *cmd;
	int argc, at;
	char **argv;
	const char *value; /* of the option just returned */
};

enum {
	FAH_ARG_END = 0,      /* no more arguments */
	FAH_ARG_OPERAND = -1, /* args->value is it */
	FAH_ARG_DASHES = -2,  /* "--": the rest starts at args->at */
	FAH_ARG_ERROR = -3,   /* was printed */
	FAH_ARG_HELP = -4,    /* --help was asked for, and printed */
	FAH_ARG_UNKNOWN = -5, /* only from fah_args_next_known: starts with a dash, not ours */
};

void fah_args_init(struct fah_args *a, const struct fah_command *cmd, int argc, char **argv);
/* An option's id, or one of the above. An unknown option is printed as an error. */
int fah_args_next(struct fah_args *a);
/* As next, but an unknown option is left where it is and FAH_ARG_UNKNOWN returned. */
int fah_args_next_known(struct fah_args *a);

/*
 * All arguments of a command that takes one capture, which is *ret_path then. Options go to take,
 * which returns 0, or an exit status after printing why. how: what stands behind the command's name
 * when none was given. -1, or the status to exit with.
 */
int fah_args_capture(const struct fah_command *cmd, int argc, char **argv, const char *how,
		     int (*take)(void *ctx, int option, const char *value), void *ctx,
		     const char **ret_path);

/* "fixingahole: <text>" on stderr, one line; returns FAH_STATUS_USAGE for `return`. */
int fah_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same with what fah_err_describe says of err behind it. */
int fah_fail_err(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The status of who has only printed: OK, or that stdout could not be written. */
int fah_printed(void);

/*
 * An output must not take the place of what is read, whatever the names of both. option: for the
 * line that says so. 0, or an exit status after that; in may be NULL.
 */
int fah_output_apart(const char *option, const char *out, const char *in);

/*
 * From now on a write that the kernel answers with this signal (SIGXFSZ, SIGPIPE) fails, and does
 * not kill us. By a handler: an ignored signal would be handed on to the program. SIGPIPE only
 * where a program is run, whose status is to be ours: else it ends us, as it does other tools.
 */
void fah_outlive(int sig);

/* help.c */
void fah_help_all(void);
void fah_help_command(const struct fah_command *cmd);
void fah_help_topic(const struct fah_topic *topic);
void fah_man(const struct fah_command *cmd); /* NULL: the page of the whole program */
int fah_completion(const char *shell);	     /* 0, or -1 where the shell is not known */

/* cmd_help.c: what was typed is no command; returns FAH_STATUS_USAGE after saying so. */
int fah_help_no_command(const char *typed);

/* Values: false where the text is none. */
bool fah_parse_percent(const char *text, double *ret); /* "1", "0.5%": 0.01 to 100 */
bool fah_parse_share(const char *text, double *ret);   /* "1", "0.5%": 0 to 100 */
bool fah_parse_count(const char *text, uint32_t *ret); /* digits, from 1 */
bool fah_parse_seconds(const char *text, double *ret); /* "5", "0.5s": more than 0 */
bool fah_parse_rate(const char *text, double *ret_hz); /* 250, 1khz, 0.5kHz */
/* The entry of a command that has --clock; its id is the command's own. */
#define FAH_CLOCK_OPTION(id) \
	{ \
		id, "clock", NULL, "timer|perf", \
			"timer: bound to the kernel's tick (default: both, or by the rate)" \
	}
uint32_t fah_parse_clock(const char *text); /* timer, perf: enum fah_clock; 0: neither */

#endif
