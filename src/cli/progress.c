/*
 * progress.c - see progress.h. Writes to a terminal only, and only from its foreground: elsewhere a
 * write could stop us, or mix with another program's lines.
 */
#include "cli/progress.h"

#include "base/number.h"
#include "base/strbuf.h"
#include "base/term.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ERASE "\r\033[K"

void fah_progress_init(struct fah_progress *p, bool wanted)
{
	memset(p, 0, sizeof(*p));
	p->on = wanted && fah_term_rewrites(STDERR_FILENO);
}

void fah_progress_show(void *ctx, const struct fah_run_progress *now)
{
	struct fah_progress *p = ctx;
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	double elapsed = now->elapsed_s - p->last.elapsed_s;
	size_t room = (size_t)fah_term_width(STDERR_FILENO) - 1;

	if (!p->on || !fah_term_is_ours(STDERR_FILENO))
		return;
	fah_strbuf_addf(&sb, "%.0f s, %s samples", now->elapsed_s, fah_num_count(now->samples).s);
	if (elapsed > 0)
		fah_strbuf_addf(&sb, " (%.0f/s)",
				(double)(now->samples - p->last.samples) / elapsed);
	fah_strbuf_addf(&sb, ", %s dropped, RSS %s", fah_num_count(now->drops).s,
			fah_num_bytes_short(now->rss_bytes).s);
	if (sb.len > room) /* it must not wrap: a second line could not be erased */
		fah_strbuf_truncate(&sb, room);
	if (!sb.failed && dprintf(STDERR_FILENO, ERASE "%s", fah_strbuf_str(&sb)) > 0)
		p->shown = true;
	fah_strbuf_release(&sb);
	p->last = *now;
}

void fah_progress_erase(struct fah_progress *p)
{
	if (p->shown && fah_term_is_ours(STDERR_FILENO))
		dprintf(STDERR_FILENO, ERASE);
	p->shown = false;
}
