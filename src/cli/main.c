/* main.c - find the command in the table and run it. */
#include "base/err.h"
#include "base/strbuf.h"
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/settings.h"
#include "native/names.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fah_fail(const char *fmt, ...)
{
	va_list ap;

	fputs("fixingahole: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return FAH_STATUS_USAGE;
}

int fah_fail_err(int err, const char *fmt, ...)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;
	int saved = errno;
	va_list ap;

	/* whoever read it has had enough, as head has: no other tool has a word for that */
	if (err == FAH_ERR_SYS && saved == EPIPE && ferror(stdout))
		return FAH_STATUS_USAGE;
	va_start(ap, fmt);
	if (err == FAH_ERR_SYS && ferror(stdout))
		fah_strbuf_adds(&text, "stdout"); /* that is where it failed, whatever was read */
	else
		fah_strbuf_addv(&text, fmt, ap);
	va_end(ap);
	fah_strbuf_adds(&text, ": ");
	fah_err_describe(&text, err, saved);
	return fah_fail("%s", fah_strbuf_str(&text));
}

int fah_printed(void)
{
	return fflush(stdout) == EOF || ferror(stdout) ? fah_fail_err(FAH_ERR_SYS, "stdout")
						       : FAH_STATUS_OK;
}

static void do_nothing(int sig)
{
	(void)sig;
}

void fah_outlive(int sig)
{
	struct sigaction now, ours = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};

	if (sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		sigaction(sig, &ours, NULL);
}

/* With the settings in force here, or what is wrong with them. */
static int print_version(void)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT,
							why = FAH_STRBUF_INIT;
	_cleanup_(fah_settings_release) struct fah_settings settings = {0};
	int err;

	fah_names_abilities(&text);
	printf("fixingahole %s\nNative frames: %s.\n", FAH_VERSION, fah_strbuf_str(&text));
	err = fah_settings_load(&settings, &(struct fah_settings_flags){0}, &why);
	if (err < 0) {
		fflush(stdout);
		return err == FAH_ERR_USAGE ? fah_fail("%s", fah_strbuf_str(&why))
					    : fah_fail_err(err, "the settings");
	}
	fah_strbuf_truncate(&text, 0);
	fah_settings_words(&settings, &text);
	printf("Settings:\n%s", fah_strbuf_str(&text));
	return fah_printed();
}

int main(int argc, char **argv)
{
	const struct fah_command *cmd;

	fah_outlive(SIGXFSZ); /* ulimit -f: where files may not grow */
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* numbers in reports and files look the same everywhere */
	if (argc < 2) {
		fah_help_all();
		return FAH_STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		fah_help_all();
		return fah_printed();
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return print_version();
	cmd = fah_command_find(argv[1]);
	if (!cmd)
		return fah_help_no_command(argv[1]);
	return cmd->run(cmd, argc - 2, argv + 2);
}
