/*
 * env.c - the program's environment is its own: what we put in to get here is taken out before the
 * program can see it. Runs once, in the constructor. exec.c puts it back for children.
 */
#include "agent/agent.h"
#include "core/time.h"

#include <string.h>

extern char **environ;

static bool starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static void copy(char *dst, size_t cap, const char *src, size_t len)
{
	if (len >= cap)
		len = 0; /* too long: as if it were not there */
	memcpy(dst, src, len);
	dst[len] = 0;
}

static uint64_t number(const char **s)
{
	uint64_t v = 0;

	while (**s >= '0' && **s <= '9')
		v = v * 10 + (uint64_t)(*(*s)++ - '0');
	if (**s == ';')
		(*s)++;
	return v;
}

/* "<clock>;<period ns>;<budget, millionths>;<log level>;<plots>;<length of the agent's
 * path>;<agent's path><session folder>" */
static void parse(const char *value)
{
	const char *s = value;
	uint64_t preload_len;

	copy(fah_agent.config, sizeof(fah_agent.config), value, strlen(value));
	fah_agent.clock = (uint32_t)number(&s);
	fah_agent.period_ns = number(&s);
	fah_agent.tick_ns = fah_tick_ns();
	fah_agent.budget_ppm = (uint32_t)number(&s);
	fah_agent.log_level = (uint32_t)number(&s);
	fah_agent.plots = (uint32_t)number(&s);
	preload_len = number(&s);
	if (!fah_agent.period_ns || preload_len >= FAH_PATH_MAX || strlen(s) <= preload_len)
		return;
	copy(fah_agent.session, sizeof(fah_agent.session), s + preload_len,
	     strlen(s + preload_len));
	copy(fah_agent.preload, sizeof(fah_agent.preload), s, preload_len);
}

/* LD_PRELOAD=ours[:others]: leave the others, in place. False: nothing is left of the variable. */
static bool strip_preload(char *entry)
{
	char *value = entry + strlen(FAH_ENV_PRELOAD);
	size_t ours = strlen(fah_agent.preload);

	if (strncmp(value, fah_agent.preload, ours))
		return true;
	if (value[ours] == ':') {
		memmove(value, value + ours + 1, strlen(value + ours + 1) + 1);
		return true;
	}
	return value[ours] != 0;
}

void fah_env_take(void)
{
	char **from, **to;

	if (!environ)
		return;
	for (from = environ; *from; from++)
		if (starts(*from, FAH_ENV_CONFIG))
			parse(*from + strlen(FAH_ENV_CONFIG));
	if (!fah_agent.preload[0])
		return;
	for (from = to = environ; *from; from++) {
		if (starts(*from, FAH_ENV_CONFIG))
			continue;
		if (starts(*from, FAH_ENV_PRELOAD) && !strip_preload(*from))
			continue;
		*to++ = *from;
	}
	*to = NULL;
}
