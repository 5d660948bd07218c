/*
 * progress.c - see progress.h. Writes to a terminal only, and only from its foreground: elsewhere a
 * write could stop us, or mix with another program's lines.
 */
#include "cli/progress.h"

#include "base/number.h"
#include "base/strbuf.h"
#include "base/term.h"
#include "cli/live_screen.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define QUIET_FIRST 1.5 /* seconds; the collector comes by once in about one */
#define QUIET_MOST 96.0
#define ERASE "\r\033[A\033[J" /* the row above and what was typed below it */

void fah_progress_init(struct fah_progress *p, bool wanted)
{
	memset(p, 0, sizeof(*p));
	p->on = wanted && fah_term_rewrites(STDERR_FILENO);
	p->quiet = QUIET_FIRST;
}

/* Whether the program may have moved the cursor since the last look. */
static bool has_moved(struct fah_progress *p, pid_t pid)
{
	struct fah_traffic was = p->traffic;

	if (!fah_traffic((uint32_t)pid, &p->traffic)) {
		p->traffic = (struct fah_traffic){0};
		return true;
	}
	return was.out != p->traffic.out || (p->asks && was.in != p->traffic.in);
}

/* To the beginning of an empty row: spaces for a row less one wrap from everywhere but there. */
static void add_new_row(struct fah_strbuf *sb)
{
	struct winsize ws;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 1)
		fah_strbuf_addf(sb, "%*s\r", ws.ws_col - 1, "");
	else
		fah_strbuf_adds(sb, "\n");
}

static void draw(struct fah_progress *p, const struct fah_run_progress *now)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT, line = FAH_STRBUF_INIT;
	double elapsed = now->elapsed_s - p->last.elapsed_s;
	size_t room = (size_t)fah_term_width(STDERR_FILENO) - 1;

	fah_strbuf_addf(&line, "%.0f s, %s samples", now->elapsed_s, fah_num_count(now->samples).s);
	if (elapsed > 0)
		fah_strbuf_addf(&line, " (%.0f/s)",
				(double)(now->samples - p->last.samples) / elapsed);
	fah_strbuf_addf(&line, ", %s dropped, RSS %s", fah_num_count(now->drops).s,
			fah_num_bytes_short(now->rss_bytes).s);
	if (line.len > room) /* it must not wrap: a second row would not be erased */
		fah_strbuf_truncate(&line, room);
	if (p->shown)
		fah_strbuf_adds(&sb, ERASE);
	else
		add_new_row(&sb);
	fah_strbuf_addf(&sb, "%s\033[K\n", fah_strbuf_str(&line));
	if (!sb.failed && !line.failed &&
	    write(STDERR_FILENO, fah_strbuf_str(&sb), sb.len) == (ssize_t)sb.len)
		p->shown = true;
	fah_strbuf_release(&sb);
	fah_strbuf_release(&line);
}

/* Somebody else's turn. */
static void step_back(struct fah_progress *p, double now)
{
	p->quiet_since = now;
	if (p->shown && p->quiet < QUIET_MOST)
		p->quiet *= 2;
	p->shown = false;
}

void fah_progress_show(void *ctx, const struct fah_run_progress *now)
{
	struct fah_progress *p = ctx;

	if (!p->on)
		return;
	if (now->ended) {
		fah_progress_erase(p);
		return;
	}
	if (has_moved(p, now->pid)) {
		step_back(p, now->elapsed_s);
	} else if (!fah_live_screen_is_free((uint32_t)now->pid)) {
		p->asks = true;
		step_back(p, now->elapsed_s);
	} else if (now->elapsed_s - p->quiet_since >= p->quiet) {
		draw(p, now);
	}
	p->last = *now;
}

void fah_progress_erase(struct fah_progress *p)
{
	if (p->shown && !has_moved(p, p->last.pid) && fah_term_is_ours(STDERR_FILENO))
		dprintf(STDERR_FILENO, ERASE);
	p->shown = false;
}
