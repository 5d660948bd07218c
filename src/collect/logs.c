/* logs.c - see logs.h. */
#include "collect/logs.h"

#include "base/strbuf.h"
#include "collect/about.h"
#include "core/err.h"
#include "core/segment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARNING = 30, ERROR = 40 };
enum { LEVEL_NAME, NAME, FILE_NAME, TEXT, MORE, STACK, PARTS }; /* as in core/segment.h */

struct entry {
	uint64_t mono_ns;
	size_t at, len, order; /* its text in `text`; as it came */
};

struct fah_logs {
	char *path;
	FILE *file;
	int failed; /* errno of what could not be written */
	uint64_t start_mono_ns, start_real_ns;
	uint32_t pid;
	struct fah_strbuf text;
	struct entry *entries;
	size_t n, cap;
	uint64_t records, warnings, errors, lost;
	char note[256];
};

int fah_logs_new(const char *path, uint64_t start_mono_ns, uint64_t start_real_ns, uint32_t pid,
		 struct fah_logs **ret)
{
	struct fah_logs *l = calloc(1, sizeof(*l));

	if (!l)
		return FAH_ERR_NOMEM;
	l->path = strdup(path);
	if (!l->path) {
		free(l);
		return FAH_ERR_NOMEM;
	}
	l->start_mono_ns = start_mono_ns;
	l->start_real_ns = start_real_ns;
	l->pid = pid;
	*ret = l;
	return 0;
}

void fah_logs_free(struct fah_logs *l)
{
	if (!l)
		return;
	if (l->file)
		fclose(l->file);
	fah_strbuf_release(&l->text);
	free(l->entries);
	free(l->path);
	free(l);
}

struct part {
	const char *at;
	size_t n;
};

/* As logging's own time: local, with milliseconds. */
static void add_time(struct fah_logs *l, uint64_t mono_ns)
{
	uint64_t ns = l->start_real_ns + (mono_ns - l->start_mono_ns);
	time_t seconds = (time_t)(ns / 1000000000u);
	char text[32];
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	fah_strbuf_addf(&l->text, "%s,%03u", text, (unsigned)(ns / 1000000u % 1000u));
}

static void add_part(struct fah_logs *l, const char *before, const struct part *p)
{
	if (!p->n)
		return;
	fah_strbuf_adds(&l->text, before);
	fah_strbuf_add(&l->text, p->at, p->n);
}

/* 2026-01-26 14:58:48,123 WARNING name (file.py:12): message */
static void add_text(struct fah_logs *l, uint32_t pid, uint64_t mono_ns, uint64_t level,
		     uint64_t line, const struct part *parts)
{
	add_time(l, mono_ns);
	if (parts[LEVEL_NAME].n)
		add_part(l, " ", &parts[LEVEL_NAME]);
	else
		fah_strbuf_addf(&l->text, " Level %llu", (unsigned long long)level);
	add_part(l, " ", &parts[NAME]);
	add_part(l, " (", &parts[FILE_NAME]);
	if (parts[FILE_NAME].n)
		fah_strbuf_addf(&l->text, ":%llu", (unsigned long long)line);
	if (pid != l->pid)
		fah_strbuf_addf(&l->text, "%sprocess %u", parts[FILE_NAME].n ? ", " : " (", pid);
	if (parts[FILE_NAME].n || pid != l->pid)
		fah_strbuf_addc(&l->text, ')');
	fah_strbuf_addc(&l->text, ':');
	add_part(l, " ", &parts[TEXT]);
	if (parts[TEXT].n + 3 >= FAH_LOG_TEXT_MAX) /* cut before a character of up to 4 bytes */
		fah_strbuf_adds(&l->text, " [cut]");
	add_part(l, "\n", &parts[MORE]);
	add_part(l, "\n", &parts[STACK]);
	fah_strbuf_addc(&l->text, '\n');
}

static struct entry *new_entry(struct fah_logs *l)
{
	struct entry *grown;

	if (l->n == l->cap) {
		grown = realloc(l->entries, (2 * l->cap + 64) * sizeof(*grown));
		if (!grown)
			return NULL;
		l->entries = grown;
		l->cap = 2 * l->cap + 64;
	}
	return &l->entries[l->n];
}

void fah_logs_take(struct fah_logs *l, uint32_t pid, uint64_t mono_ns, struct fah_cursor *cur)
{
	uint64_t level = fah_get_varint(cur), line = fah_get_varint(cur);
	struct part parts[PARTS];
	struct entry *e;

	for (int i = 0; i < PARTS; i++) {
		parts[i].n = (size_t)fah_get_varint(cur);
		parts[i].at = (const char *)fah_get_bytes(cur, parts[i].n);
	}
	if (cur->bad)
		return;
	if (!level) {
		if (!l->note[0])
			snprintf(l->note, sizeof(l->note), "%.*s (%.*s)", (int)parts[NAME].n,
				 parts[NAME].at, (int)parts[TEXT].n, parts[TEXT].at);
		return;
	}
	e = new_entry(l);
	if (!e) {
		l->lost++;
		return;
	}
	*e = (struct entry){.mono_ns = mono_ns, .at = l->text.len, .order = l->n};
	add_text(l, pid, mono_ns, level, line, parts);
	e->len = l->text.len - e->at;
	l->n++;
	l->records++;
	l->warnings += level >= WARNING && level < ERROR;
	l->errors += level >= ERROR;
}

static int by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->mono_ns != y->mono_ns)
		return x->mono_ns < y->mono_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void fah_logs_flush(struct fah_logs *l)
{
	if (!l->n)
		return;
	if (!l->file && !l->failed) {
		l->file = fopen(l->path, "we");
		l->failed = l->file ? 0 : errno;
	}
	qsort(l->entries, l->n, sizeof(l->entries[0]), by_time);
	for (size_t i = 0; l->file && !l->text.failed && i < l->n; i++)
		fwrite(fah_strbuf_str(&l->text) + l->entries[i].at, 1, l->entries[i].len, l->file);
	if (l->text.failed && !l->failed)
		l->failed = ENOMEM;
	if (l->file && fflush(l->file) != 0 && !l->failed)
		l->failed = errno;
	l->n = 0;
	fah_strbuf_release(&l->text);
}

void fah_logs_lost(struct fah_logs *l, uint64_t n)
{
	l->lost += n;
}

void fah_logs_finish(struct fah_logs *l, struct fah_writer *w)
{
	fah_logs_flush(l);
	if (l->lost && l->file)
		fprintf(l->file, "(%llu more came faster than they could be kept)\n",
			(unsigned long long)l->lost);
	if (l->file && fclose(l->file) != 0 && !l->failed)
		l->failed = errno;
	l->file = NULL;
	fah_about_missing(w, "log_records", l->records);
	fah_about_missing(w, "log_warnings", l->warnings);
	fah_about_missing(w, "log_errors", l->errors);
	fah_about_missing(w, "logs_lost", l->lost);
	if (l->note[0])
		fah_writer_meta(w, "logs_note", l->note);
	if (l->failed)
		fah_writer_meta(w, "logs_failed", strerror(l->failed));
}
