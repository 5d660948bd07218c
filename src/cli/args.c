/* args.c - arguments by a command's table: --name value, --name=value, -n value, -n=value, -n. */
#include "cli/cli.h"

#include "base/file.h"
#include "core/segment.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void fah_args_init(struct fah_args *a, const struct fah_command *cmd, int argc, char **argv)
{
	*a = (struct fah_args){.cmd = cmd, .argc = argc, .argv = argv};
}

/* The option that text names; *ret_value points behind '=' or is NULL. */
static const struct fah_option *match(const struct fah_command *cmd, const char *text,
				      const char **ret_value)
{
	bool is_long = !strncmp(text, "--", 2);
	const char *name = text + (is_long ? 2 : 1), *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);

	for (const struct fah_option *o = cmd->options; o->id; o++) {
		const char *known = is_long ? o->name : o->short_name;

		if (known && strlen(known) == len && !strncmp(known, name, len)) {
			*ret_value = equals ? equals + 1 : NULL;
			return o;
		}
	}
	return NULL;
}

static int next(struct fah_args *a, bool leave_unknown)
{
	const struct fah_option *o;
	const char *text, *value;

	if (a->at >= a->argc)
		return FAH_ARG_END;
	text = a->argv[a->at];
	if (text[0] != '-' || !text[1]) {
		a->value = text;
		a->at++;
		return FAH_ARG_OPERAND;
	}
	if (!strcmp(text, "--")) {
		a->at++;
		return FAH_ARG_DASHES;
	}
	o = match(a->cmd, text, &value);
	if (!o && (!strcmp(text, "--help") || !strcmp(text, "-h")) && !leave_unknown) {
		fah_help_command(a->cmd);
		return FAH_ARG_HELP;
	}
	if (!o && leave_unknown)
		return FAH_ARG_UNKNOWN;
	if (!o) {
		fah_fail("%s: unknown option %s (fixingahole %s --help lists them)", a->cmd->name,
			 text, a->cmd->name);
		return FAH_ARG_ERROR;
	}
	a->at++;
	if (!o->arg && value) {
		fah_fail("%s: --%s takes no value", a->cmd->name, o->name);
		return FAH_ARG_ERROR;
	}
	if (o->arg && o->arg[0] != '[' && !value) {
		if (a->at >= a->argc) {
			fah_fail("%s: --%s needs a value: --%s %s", a->cmd->name, o->name, o->name,
				 o->arg);
			return FAH_ARG_ERROR;
		}
		value = a->argv[a->at++];
	}
	a->value = value;
	return o->id;
}

int fah_args_next(struct fah_args *a)
{
	return next(a, false);
}

int fah_args_next_known(struct fah_args *a)
{
	return next(a, true);
}

int fah_args_capture(const struct fah_command *cmd, int argc, char **argv, const char *how,
		     int (*take)(void *ctx, int option, const char *value), void *ctx,
		     const char **ret_path)
{
	struct fah_args a;
	int arg, status;

	*ret_path = NULL;
	fah_args_init(&a, cmd, argc, argv);
	while ((arg = fah_args_next(&a)) != FAH_ARG_END) {
		switch (arg) {
		case FAH_ARG_OPERAND:
			if (*ret_path)
				return fah_fail("%s: one capture at a time, not also %s", cmd->name,
						a.value);
			*ret_path = a.value;
			break;
		case FAH_ARG_HELP:
			return FAH_STATUS_OK;
		case FAH_ARG_DASHES:
			break;
		case FAH_ARG_ERROR:
			return FAH_STATUS_USAGE;
		default:
			status = take(ctx, arg, a.value);
			if (status)
				return status;
		}
	}
	if (!*ret_path)
		return fah_fail("%s: which capture? fixingahole %s %s", cmd->name, cmd->name, how);
	return -1;
}

uint32_t fah_parse_clock(const char *text)
{
	return !strcmp(text, "timer")  ? FAH_CLOCK_THREAD_CPU
	       : !strcmp(text, "perf") ? FAH_CLOCK_PERF
				       : 0;
}

bool fah_parse_rate(const char *text, double *ret_hz)
{
	char *end;
	double hz = strtod(text, &end);

	if (end == text)
		return false;
	if (!strcasecmp(end, "khz") || !strcasecmp(end, "k"))
		hz *= 1000;
	else if (*end && strcasecmp(end, "hz"))
		return false;
	if (!(hz > 0) || hz > 1e9)
		return false;
	*ret_hz = hz;
	return true;
}

bool fah_parse_share(const char *text, double *ret)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end == '%' ? end[1] : *end))
		return false;
	if (!(percent >= 0 && percent <= 100))
		return false;
	*ret = percent;
	return true;
}

bool fah_parse_percent(const char *text, double *ret)
{
	double percent;

	if (!fah_parse_share(text, &percent) || percent < 0.01)
		return false;
	*ret = percent;
	return true;
}

bool fah_parse_count(const char *text, uint32_t *ret)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || n < 1 || n > UINT32_MAX)
		return false;
	*ret = (uint32_t)n;
	return true;
}

int fah_output_apart(const char *option, const char *out, const char *in)
{
	if (!in || !fah_file_same(out, in))
		return 0;
	return fah_fail("%s %s: that is %s itself, which would be lost: name another file", option,
			out, in);
}
