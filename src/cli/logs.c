/* logs.c - see logs.h. */
#include "cli/logs.h"

#include "base/file.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "core/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char *const levels[] = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"};

int fah_logs_parse_level(const char *text, uint32_t *ret_level)
{
	for (uint32_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		if (!strcasecmp(text, levels[i])) {
			*ret_level = 10 * (i + 1);
			return 0;
		}
	}
	if (!strcasecmp(text, "OFF")) {
		*ret_level = 0;
		return 0;
	}
	return fah_fail("profile: --log-level %s: there are DEBUG, INFO, WARNING, ERROR, "
			"CRITICAL and OFF",
			text);
}

int fah_plots_parse(const char *text, uint32_t *plots)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} known[] = {
		{"matplotlib", FAH_PLOTS_MATPLOTLIB},
		{"plotly", FAH_PLOTS_PLOTLY},
		{"seaborn", FAH_PLOTS_SEABORN},
		{"bokeh", FAH_PLOTS_BOKEH},
		{"all", FAH_PLOTS_ALL},
	};

	if (!text)
		*plots = FAH_PLOTS_ALL;
	while (text) {
		size_t n = strcspn(text, ","), i = 0;

		while (i < sizeof(known) / sizeof(known[0]) &&
		       (strlen(known[i].name) != n || strncmp(known[i].name, text, n)))
			i++;
		if (i == sizeof(known) / sizeof(known[0]))
			return fah_fail("profile: --no-plots=%s: there are matplotlib, plotly, "
					"seaborn, bokeh and all",
					text);
		*plots |= known[i].bit;
		text = text[n] ? text + n + 1 : NULL;
	}
	return 0;
}

static uint64_t number_of(const struct fah_profile *p, const char *key)
{
	const char *text = fah_profile_meta(p, key);

	return text ? strtoull(text, NULL, 10) : 0;
}

struct counts {
	uint64_t records, warnings, errors;
};

/* By the time that each record begins with, as collect/logs.c writes it, and the level behind it;
 * NULL: it is the rest of one. */
static const char *level_of(const char *line)
{
	static const char form[] = "0000-00-00 00:00:00,000 ";

	for (size_t i = 0; form[i]; i++)
		if (form[i] == '0' ? line[i] < '0' || line[i] > '9' : line[i] != form[i])
			return NULL;
	return line + sizeof(form) - 1;
}

static uint32_t level_number(const char *text)
{
	for (uint32_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		size_t n = strlen(levels[i]);

		if (!strncmp(text, levels[i], n) && text[n] == ' ')
			return 10 * (i + 1);
	}
	return strncmp(text, "Level ", 6) ? 0 : (uint32_t)strtoul(text + 6, NULL, 10);
}

/* Of a run whose profiler was killed: the capture has no word of them. */
static struct counts count_file(const char *path)
{
	struct counts found = {0};
	FILE *f = fopen(path, "re");
	char *line = NULL;
	const char *level;
	size_t cap = 0;
	uint32_t number;

	while (f && getline(&line, &cap, f) > 0) {
		level = level_of(line);
		if (!level)
			continue;
		number = level_number(level);
		found.records++;
		found.warnings += number >= 30 && number < 40;
		found.errors += number >= 40;
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

static struct counts counts_of(const struct fah_profile *p, const char *path)
{
	struct counts told = {number_of(p, "log_records"), number_of(p, "log_warnings"),
			      number_of(p, "log_errors")};

	return told.records || !fah_profile_meta(p, "log_level") ? told : count_file(path);
}

static void add_count(struct fah_strbuf *sb, uint64_t n, const char *what)
{
	fah_strbuf_addf(sb, "%s %s%s", fah_num_count(n).s, what, n == 1 ? "" : "s");
}

/* Shown as the user would type it, where the file is below the current folder. */
static const char *short_path(const char *path)
{
	char cwd[FAH_RUN_PATH_MAX];
	size_t n;

	if (!getcwd(cwd, sizeof(cwd)))
		return path;
	n = strlen(cwd);
	return !strncmp(path, cwd, n) && path[n] == '/' ? path + n + 1 : path;
}

/* From 3.14 on warnings stands in _py_warnings. */
static bool is_of_plots(const char *note)
{
	return strncmp(note, "logging", 7) && strncmp(note, "warnings", 8) &&
	       strncmp(note, "_py_warnings", 12);
}

char *fah_logs_line(const struct fah_profile *p, const char *capture)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	char path[FAH_RUN_PATH_MAX + 64];
	struct counts counts = {0};
	const char *note = fah_profile_meta(p, "logs_note"),
		   *failed = fah_profile_meta(p, "logs_failed");

	snprintf(path, sizeof(path), "%.*s" FAH_LOGS_FILE, (int)(fah_basename(capture) - capture),
		 capture);
	if (access(path, R_OK) == 0)
		counts = counts_of(p, path);
	if (counts.records) {
		fah_strbuf_addf(&sb, "Check logs %s (", short_path(path));
		add_count(&sb, counts.warnings, "warning");
		if (counts.errors) {
			fah_strbuf_adds(&sb, ", ");
			add_count(&sb, counts.errors, "error");
		}
		fah_strbuf_addc(&sb, ')');
	}
	if (failed)
		fah_strbuf_addf(&sb, "%s" FAH_LOGS_FILE " could not be written whole: %s",
				sb.len ? ". " : "", failed);
	if (note)
		fah_strbuf_addf(&sb, "%sLeft as it was, so that %s: %s", sb.len ? ". " : "",
				is_of_plots(note) ? "its show() is not stopped"
						  : "its records are missing",
				note);
	return sb.len ? fah_strbuf_take(&sb) : NULL;
}
