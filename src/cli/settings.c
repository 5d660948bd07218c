/* settings.c - see settings.h. Every layer's values are looked at, in force or not; only the
 * folders of those in force must exist. */
#include "cli/settings.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "cli/settings_file.h"
#include "core/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_DEFAULT "performance"

static const char *const names[FAH_SET_COUNT] = {"root", "output", "ignore", "duration"};
static const char *const variables[FAH_SET_COUNT] = {"FIXINGAHOLE_ROOT", "FIXINGAHOLE_OUTPUT",
						     "FIXINGAHOLE_IGNORE", "FIXINGAHOLE_DURATION"};
static const char *const options[FAH_SET_COUNT] = {"--root", "--output-directory", "--ignore",
						   "--duration"};

const char *fah_setting_name(enum fah_setting key)
{
	return names[key];
}

static int wrong(struct fah_strbuf *why, const char *from, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int wrong(struct fah_strbuf *why, const char *from, const char *fmt, ...)
{
	va_list ap;

	fah_strbuf_add_printable(why, from, strlen(from));
	fah_strbuf_adds(why, ": ");
	va_start(ap, fmt);
	fah_strbuf_addv(why, fmt, ap);
	va_end(ap);
	return FAH_ERR_USAGE;
}

/* The folders of a variable, between ':'; empty ones don't count. */
static int split(struct fah_arena *arena, const char *value, struct fah_setting_text *out)
{
	size_t n = 1;
	const char **texts;

	for (const char *s = value; *s; s++)
		n += *s == ':';
	texts = fah_arena_array(arena, n, sizeof(*texts));
	if (!texts)
		return FAH_ERR_NOMEM;
	out->texts = texts;
	out->n = 0;
	for (const char *s = value; *s;) {
		size_t len = strcspn(s, ":");

		if (len && !(texts[out->n++] = fah_arena_strndup(arena, s, len)))
			return FAH_ERR_NOMEM;
		s += len + (s[len] == ':');
	}
	return 0;
}

static int from_environment(struct fah_settings *s, struct fah_setting_text *keys)
{
	for (int i = 0; i < FAH_SET_COUNT; i++) {
		const char *value = getenv(variables[i]);
		const char **texts;

		if (!value || !*value) /* empty is not set, as for NO_COLOR and the like */
			continue;
		keys[i].from = variables[i];
		keys[i].base = i == FAH_SET_ROOT ? s->cwd : NULL;
		if (i == FAH_SET_IGNORE) {
			if (split(&s->arena, value, &keys[i]) < 0)
				return FAH_ERR_NOMEM;
			continue;
		}
		texts = fah_arena_array(&s->arena, 1, sizeof(*texts));
		if (!texts || !(texts[0] = fah_arena_strdup(&s->arena, value)))
			return FAH_ERR_NOMEM;
		keys[i].texts = texts;
		keys[i].n = 1;
	}
	return 0;
}

static int from_flags(struct fah_settings *s, const struct fah_settings_flags *flags,
		      struct fah_setting_text *keys, struct fah_strbuf *why)
{
	const char *const *texts[FAH_SET_COUNT] = {&flags->root, &flags->output, flags->ignore,
						   &flags->duration};

	for (int i = 0; i < FAH_SET_COUNT; i++) {
		size_t n = i == FAH_SET_IGNORE ? flags->n_ignore : *texts[i] != NULL;

		if (!n)
			continue;
		for (size_t k = 0; k < n; k++)
			if (!texts[i][k][0])
				return wrong(why, options[i], "its value is empty");
		keys[i] = (struct fah_setting_text){texts[i], n, s->cwd, options[i]};
	}
	return 0;
}

static int check_duration(const struct fah_setting_text *key, bool *ret, struct fah_strbuf *why)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;

	if (!key->from)
		return 0;
	*ret = !strcmp(key->texts[0], "absolute");
	if (*ret || !strcmp(key->texts[0], "relative"))
		return 0;
	fah_strbuf_add_printable(&text, key->texts[0], strlen(key->texts[0]));
	return wrong(
		why, key->from,
		"there is no duration '%s'; allowed: relative (percent) and absolute (seconds)",
		fah_strbuf_str(&text));
}

static int resolve_root(struct fah_settings *s, const struct fah_setting_text *key,
			struct fah_strbuf *why)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;
	_cleanup_(fah_freep) char *real = NULL;
	const char *path = s->cwd;
	struct stat st;

	if (key->from) {
		path = fah_path_absolute(&s->arena, key->base, key->texts[0]);
		if (!path)
			return FAH_ERR_NOMEM;
	}
	real = realpath(path, NULL);
	fah_strbuf_add_printable(&text, path, strlen(path));
	if (!real)
		return wrong(why, key->from ? key->from : names[FAH_SET_ROOT],
			     "the root %s: %s; it should be a folder", fah_strbuf_str(&text),
			     errno == ENOENT ? "there is nothing of that name" : strerror(errno));
	if (stat(real, &st) < 0 || !S_ISDIR(st.st_mode))
		return wrong(why, key->from ? key->from : names[FAH_SET_ROOT],
			     "the root %s is no folder", fah_strbuf_str(&text));
	s->root = fah_arena_strdup(&s->arena, real);
	return s->root ? 0 : FAH_ERR_NOMEM;
}

static int resolve_ignore(struct fah_settings *s, const struct fah_setting_text *key,
			  struct fah_strbuf *why)
{
	const char **paths = fah_arena_array(&s->arena, key->n, sizeof(*paths));

	if (!paths)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < key->n; i++) {
		_cleanup_(fah_freep) char *real = NULL;

		paths[i] = fah_path_absolute(&s->arena, key->base ? key->base : s->root,
					     key->texts[i]);
		real = paths[i] ? realpath(paths[i], NULL) : NULL;
		if (real)
			paths[i] = fah_arena_strdup(&s->arena, real);
		if (!paths[i])
			return FAH_ERR_NOMEM;
		if (fah_path_below(s->root, paths[i])) {
			_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;

			fah_strbuf_add_printable(&text, key->texts[i], strlen(key->texts[i]));
			return wrong(
				why, key->from,
				"ignoring %s would leave nothing: it holds the root %s; allowed "
				"are folders below it, or elsewhere",
				fah_strbuf_str(&text), s->root);
		}
	}
	s->ignore = paths;
	s->n_ignore = key->n;
	return 0;
}

static int resolve(struct fah_settings *s, const struct fah_setting_text *keys,
		   struct fah_strbuf *why)
{
	const struct fah_setting_text *output = &keys[FAH_SET_OUTPUT];
	int err = resolve_root(s, &keys[FAH_SET_ROOT], why);

	if (err < 0)
		return err;
	s->output = fah_path_absolute(&s->arena, output->base ? output->base : s->root,
				      output->from ? output->texts[0] : OUTPUT_DEFAULT);
	if (!s->output)
		return FAH_ERR_NOMEM;
	for (int i = 0; i < FAH_SET_COUNT; i++)
		s->from[i] = keys[i].from ? keys[i].from : "default";
	return resolve_ignore(s, &keys[FAH_SET_IGNORE], why);
}

int fah_settings_load(struct fah_settings *s, const struct fah_settings_flags *flags,
		      struct fah_strbuf *why)
{
	struct fah_setting_text keys[FAH_SET_COUNT] = {{0}};
	_cleanup_(fah_freep) char *cwd = getcwd(NULL, 0);
	int err;

	*s = (struct fah_settings){0};
	if (!cwd)
		return wrong(why, "the current folder", "%s", strerror(errno));
	s->cwd = fah_arena_strdup(&s->arena, cwd);
	if (!s->cwd)
		return FAH_ERR_NOMEM;
	err = fah_settings_file(&s->arena, s->cwd, keys, why);
	if (err == 0)
		err = check_duration(&keys[FAH_SET_DURATION], &s->seconds, why);
	if (err == 0)
		err = from_environment(s, keys);
	if (err == 0)
		err = check_duration(&keys[FAH_SET_DURATION], &s->seconds, why);
	if (err == 0)
		err = from_flags(s, flags, keys, why);
	if (err == 0)
		err = check_duration(&keys[FAH_SET_DURATION], &s->seconds, why);
	return err < 0 ? err : resolve(s, keys, why);
}

void fah_settings_release(struct fah_settings *s)
{
	fah_arena_release(&s->arena);
}

static void add_line(struct fah_strbuf *out, const struct fah_settings *s, enum fah_setting key,
		     const char *text)
{
	fah_strbuf_addf(out, "  %-8s  ", names[key]);
	fah_strbuf_add_printable(out, text, strlen(text));
	fah_strbuf_adds(out, "  (");
	fah_strbuf_add_printable(out, s->from[key], strlen(s->from[key]));
	fah_strbuf_adds(out, ")\n");
}

void fah_settings_words(const struct fah_settings *s, struct fah_strbuf *out)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf list = FAH_STRBUF_INIT;

	for (size_t i = 0; i < s->n_ignore; i++)
		fah_strbuf_addf(&list, "%s%s", i ? ", " : "", s->ignore[i]);
	fah_strbuf_addf(&list, "%s.git, .venv, the output folder", s->n_ignore ? ", " : "");
	add_line(out, s, FAH_SET_ROOT, s->root);
	add_line(out, s, FAH_SET_OUTPUT, s->output);
	add_line(out, s, FAH_SET_IGNORE, fah_strbuf_str(&list));
	add_line(out, s, FAH_SET_DURATION, s->seconds ? "absolute" : "relative");
}
