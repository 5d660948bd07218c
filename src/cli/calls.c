/* calls.c - see calls.h. */
#include "cli/calls.h"

#include "cli/shown.h"

#include "cli/export.h"
#include "core/err.h"

#include <unistd.h>

int fah_open_calls(struct fah_calls *ret, const char *command, const char *argument,
		   const struct fah_view *view, bool leaves)
{
	int status, err;

	*ret = (struct fah_calls){0};
	fah_shown_on_stdout(&ret->terminal);
	status = fah_open_view(&ret->opened, command, argument, view);
	if (status != FAH_STATUS_OK)
		return status;
	err = fah_stacks_new(ret->opened.profile, view, &ret->stacks);
	if (err == FAH_ERR_USAGE)
		return fah_fail_only(view);
	if (err == 0)
		err = fah_calltree_new(ret->stacks, leaves, &ret->tree);
	return err < 0 ? fah_fail_err(err, "%s: %s", command, ret->opened.path) : FAH_STATUS_OK;
}

void fah_calls_release(struct fah_calls *c)
{
	fah_calltree_free(c->tree);
	fah_stacks_free(c->stacks);
	fah_opened_release(&c->opened);
	*c = (struct fah_calls){0};
}
