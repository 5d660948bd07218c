/* invoke.c - see invoke.h. */
#include "cli/invoke.h"

#include "base/strbuf.h"
#include "core/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool fah_invoke_is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool fah_invoke_on_path(const char *name, char *buf, size_t cap)
{
	const char *path = getenv("PATH"), *end;

	for (path = path ? path : "/usr/local/bin:/usr/bin:/bin";; path = end + 1) {
		end = path + strcspn(path, ":");
		if (snprintf(buf, cap, "%.*s%s%s", (int)(end - path), path, end > path ? "/" : "",
			     name) < (int)cap &&
		    fah_invoke_is_program(buf))
			return true;
		if (!*end)
			return false;
	}
}

int fah_invoke_find(const char *typed, char *buf, size_t cap)
{
	struct stat st;

	if (!strchr(typed, '/')) {
		if (*typed && fah_invoke_on_path(typed, buf, cap))
			return FAH_STATUS_OK;
		fah_fail("cannot start '%s': there is no such command on PATH%s", typed,
			 stat(typed, &st) == 0 ? " (there is a file here: python FILE runs it)"
					       : "");
		return FAH_STATUS_NOT_STARTED;
	}
	if (stat(typed, &st) < 0)
		fah_fail_err(FAH_ERR_SYS, "cannot start %s", typed);
	else if (S_ISDIR(st.st_mode))
		fah_fail("cannot start %s: it is a folder", typed);
	else if (access(typed, X_OK) < 0)
		fah_fail("cannot start %s: it is not executable (python FILE runs a script)",
			 typed);
	else if ((size_t)snprintf(buf, cap, "%s", typed) < cap)
		return FAH_STATUS_OK;
	else
		fah_fail("cannot start %s: its path is too long", typed);
	return FAH_STATUS_NOT_STARTED;
}

void fah_invoke_quote(struct fah_strbuf *sb, const char *word)
{
	bool plain = word[0] && !word[strcspn(word, " \t\n'\"\\$&|;<>()*?`#~")];

	if (plain) {
		fah_strbuf_adds(sb, word);
		return;
	}
	fah_strbuf_addc(sb, '\'');
	for (const char *s = word; *s; s++)
		/* no backslash: where texts are made safe for a terminal, it is doubled */
		fah_strbuf_adds(sb, *s == '\'' ? "'\"'\"'" : (char[]){*s, 0});
	fah_strbuf_addc(sb, '\'');
}

char *fah_invoke_words(const struct fah_command *cmd, int argc, char **argv)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	/* by either of its names, as it was typed; a build's or a copy's own name is none */
	fah_strbuf_addf(&sb, "%s %s",
			strcmp(program_invocation_short_name, "fixit") ? "fixingahole" : "fixit",
			cmd->name);
	for (int i = 0; i < argc; i++) {
		fah_strbuf_addc(&sb, ' ');
		fah_invoke_quote(&sb, argv[i]);
	}
	return fah_strbuf_take(&sb);
}

int fah_invoke_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

double fah_invoke_test_rate(void)
{
	const char *text = getenv("FIXINGAHOLE_TEST_HZ");
	double hz = 0;

	return text && fah_parse_rate(text, &hz) ? hz : 0;
}
