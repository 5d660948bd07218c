/*
 * logs.h - `profile --log-level` and `--no-plots`: their values, and the summary's line about
 * logs.log.
 */
#ifndef FAH_CLI_LOGS_H
#define FAH_CLI_LOGS_H

#include "cli/cli.h"
#include "cli/runfolder.h"
#include "model/profile.h"

#define FAH_LOGS_FILE "logs.log"
#define FAH_LOG_LEVEL_DEFAULT 30 /* WARNING */
#define FAH_LOG_LEVEL_OPTION(id) \
	{ \
		id, "log-level", "l", "DEBUG|INFO|WARNING|ERROR|CRITICAL|OFF", \
			"log records for logs.log: from this level up (default: WARNING)" \
	}
#define FAH_NO_PLOTS_OPTION(id) \
	{ \
		id, "no-plots", "np", "[=matplotlib|plotly|seaborn|bokeh|all]", \
			"show() of these returns at once; several: with commas (default: all)" \
	}

/* 0, or an exit status after saying why not. */
int fah_logs_parse_level(const char *text, uint32_t *ret_level); /* Python's number; 0: OFF */
/* One library, several with commas between, or NULL: all. Adds to *plots (enum fah_plots). */
int fah_plots_parse(const char *text, uint32_t *plots);

/* "Check logs <path> (6 warnings)", where the file beside the capture is still there, and which
 * module could not be changed, and why; NULL: there is nothing to say. The caller frees it. */
char *fah_logs_line(const struct fah_profile *p, const char *capture);

#endif
