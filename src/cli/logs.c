/* logs.c - see logs.h. */
#include "cli/logs.h"

#include "base/number.h"
#include "base/strbuf.h"
#include "core/segment.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int fah_logs_parse_level(const char *text, uint32_t *ret_level)
{
	static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"};

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcasecmp(text, names[i])) {
			*ret_level = 10 * (i + 1);
			return 0;
		}
	}
	return fah_fail("profile: --log-level %s: there are DEBUG, INFO, WARNING, ERROR and "
			"CRITICAL",
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
					"seaborn and bokeh",
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

char *fah_logs_line(const struct fah_profile *p, const char *folder)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	uint64_t errors = number_of(p, "log_errors");
	const char *note = fah_profile_meta(p, "logs_note"),
		   *failed = fah_profile_meta(p, "logs_failed");

	if (number_of(p, "log_records")) {
		fah_strbuf_addf(&sb, "Check logs %s/" FAH_LOGS_FILE " (", short_path(folder));
		add_count(&sb, number_of(p, "log_warnings"), "warning");
		if (errors) {
			fah_strbuf_adds(&sb, ", ");
			add_count(&sb, errors, "error");
		}
		fah_strbuf_addc(&sb, ')');
		if (failed)
			fah_strbuf_addf(&sb, ", which could not be written whole: %s", failed);
	}
	if (note)
		fah_strbuf_addf(&sb, "%sLeft as it was, so that %s: %s", sb.len ? ". " : "",
				strncmp(note, "logging", 7) && strncmp(note, "warnings", 8)
					? "its show() is not stopped"
					: "its records are missing",
				note);
	return sb.len ? fah_strbuf_take(&sb) : NULL;
}
