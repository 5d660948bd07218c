/* shown.c - see shown.h. */
#include "cli/shown.h"

#include "base/file.h"
#include "base/term.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int fah_shown_init(struct fah_shown *s, const struct fah_profile *p, const char *capture)
{
	int folder = (int)(fah_basename(capture) - capture);
	const char *name, *trace = fah_profile_meta(p, "trace");
	int err = fah_run_scope_init(&s->scope, p);

	if (err < 0)
		return err;
	s->report.command = fah_profile_meta(p, "command");
	s->report.root = fah_profile_meta(p, "root");
	s->report.scope = &s->scope.scope;
	s->report.seconds = fah_profile_meta(p, "duration") != NULL;
	s->report.trace = !trace || strcmp(trace, "no") != 0;
	s->report.copy_of[0] =
		fah_profile_meta(p, "code") ? "<string>" : fah_profile_meta(p, "file");
	s->report.copy_of[1] = fah_profile_meta(p, "script");
	if (!s->report.copy_of[0])
		return 0;
	name = fah_profile_meta(p, "code") ? "code.py" : fah_basename(s->report.copy_of[0]);
	snprintf(s->copy, sizeof(s->copy), "%.*s%.255s", folder, capture, name);
	if (access(s->copy, R_OK) == 0)
		s->report.copy = s->copy;
	return 0;
}

void fah_shown_release(struct fah_shown *s)
{
	fah_run_scope_release(&s->scope);
}

void fah_shown_on_stdout(struct fah_report_options *o)
{
	o->width = fah_term_width(STDOUT_FILENO);
	o->colour = fah_term_color(STDOUT_FILENO);
	o->utf8 = fah_term_utf8();
}
