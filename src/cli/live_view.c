/* live_view.c - see live_view.h. The numbers come from the capture as far as it is written. */
#include "cli/live_view.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/term.h"
#include "capture/reader.h"
#include "cli/shown.h"
#include "model/profile.h"
#include "report/summary.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

FAH_DEFINE_FREEP(struct fah_reader *, fah_reader_free)
FAH_DEFINE_FREEP(struct fah_profile *, fah_profile_free)

/* The summary as text, which the caller frees; NULL: there is none. */
static char *text_of(struct fah_profile *p, const struct fah_report_options *o, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);
	int err = out ? fah_report_summary(out, p, o) : -1;

	if (out && fclose(out) != 0)
		err = -1;
	if (err == 0)
		return text;
	free(text);
	return NULL;
}

/* Whole, also where we are told to end meanwhile. */
static void put_file(const char *path, const char *text, size_t len)
{
	sigset_t term, old;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &old);
	fah_file_replace(path, text, len);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* The same as the terminal wants it; NULL: it wants none. */
static char *text_to_draw(const struct fah_live_view *v, struct fah_profile *p,
			  struct fah_report_options o, pid_t pid)
{
	size_t len;

	if (!v->draw || !fah_live_screen_is_free((uint32_t)pid))
		return NULL;
	o.width = fah_term_width(STDERR_FILENO);
	o.colour = fah_term_color(STDERR_FILENO);
	o.utf8 = fah_term_utf8();
	return text_of(p, &o, &len);
}

void fah_live_view_show(struct fah_live_view *v, const struct fah_run_progress *now)
{
	_cleanup_(fah_reader_freep) struct fah_reader *reader = NULL;
	_cleanup_(fah_profile_freep) struct fah_profile *p = NULL;
	_cleanup_(fah_shown_release) struct fah_shown shown = {0};
	_cleanup_(fah_freep) char *text = NULL, *drawn = NULL;
	char path[FAH_RUN_PATH_MAX + 64];
	struct fah_report_options o;
	int reading = FAH_LIVE_READING;
	size_t len;

	if (fah_reader_new(fah_runfolder_file(v->folder, "profile.fah", path), &reader) < 0 ||
	    fah_profile_load(reader, &p) < 0 || fah_shown_init(&shown, p, path) < 0)
		return;
	o = shown.report;
	o.utf8 = true;
	o.so_far = true;
	o.rss_bytes = now->rss_bytes;
	text = text_of(p, &o, &len);
	drawn = text_to_draw(v, p, o, now->pid);
	if (!text || !atomic_compare_exchange_strong(v->state, &reading, FAH_LIVE_WRITING))
		return;
	put_file(fah_runfolder_file(v->folder, "profile_summary.txt", path), text, len);
	if (drawn)
		fah_live_screen_draw(&v->screen, drawn, path, (uint32_t)now->pid);
	atomic_store(v->state, FAH_LIVE_READING);
}
