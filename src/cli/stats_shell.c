/*
 * stats_shell.c - the shell of `stats -i`: the commands of `python -m pstats`, and its answers, so
 * that what was written for that one works here. What fails is said, and the shell goes on.
 */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/exact_open.h"
#include "cli/line_edit.h"
#include "cli/stats_files.h"
#include "core/err.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIMITS_MAX 32
#define SPACE " \t\n\r\f\v"

struct shell {
	struct fah_stats_files files;
	bool loaded;
	char *path; /* of the file that was read last; NULL: none yet */
	char *last; /* the command before, which an empty line repeats */
	struct fah_line_edit edit;
};

struct command {
	const char *name;
	bool (*run)(struct shell *s, char *arg); /* true: the shell ends */
	const char *help;
};

static const struct command commands[];

static bool has_files(const struct shell *s)
{
	if (!s->loaded)
		puts("No statistics object is loaded.");
	return s->loaded;
}

/* What went wrong below, if it did: nothing of a file is to blame for that. */
static void tell(int err)
{
	if (err < 0)
		printf("%s\n", err == FAH_ERR_SYS ? strerror(errno) : "out of memory");
}

static bool read_file(struct shell *s, const char *path)
{
	struct fah_stats_files files;
	int r;

	fah_stats_files_init(&files);
	r = fah_stats_files_add(&files, path);
	if (r || !files.exact.n_functions) {
		puts(r ? fah_exact_why(r, path) : "there are no calls in it");
		fah_stats_files_release(&files);
		return false;
	}
	fah_stats_files_release(&s->files);
	s->files = files;
	s->loaded = true;
	return true;
}

static bool do_read(struct shell *s, char *arg)
{
	char *path;

	if (!*arg && !s->path) {
		puts("No statistics object is current -- cannot reload.");
		return false;
	}
	path = strdup(*arg ? arg : s->path);
	if (path && read_file(s, path)) {
		free(s->path);
		s->path = TAKE_PTR(path);
	}
	free(path);
	return false;
}

static bool do_add(struct shell *s, char *arg)
{
	int r, saved;

	if (!has_files(s))
		return false;
	r = fah_stats_files_add(&s->files, arg);
	saved = errno;
	if (r == FAH_ERR_SYS)
		printf("Failed to load statistics for %s: [Errno %d] %s: '%s'\n", arg, saved,
		       strerror(saved), arg);
	else if (r)
		printf("Failed to load statistics for %s: %s\n", arg, fah_exact_why(r, arg));
	return false;
}

static void print(struct shell *s, char *arg, enum fah_pstats_what what)
{
	struct fah_pstats_limit limits[LIMITS_MAX];
	size_t n = 0;

	for (char *rest, *word = strtok_r(arg, SPACE, &rest); word && n < LIMITS_MAX;
	     word = strtok_r(NULL, SPACE, &rest)) {
		if (fah_pstats_limit_parse(word, &limits[n]) < 0)
			puts("Fraction argument must be in [0, 1]");
		else
			n++;
	}
	if (has_files(s))
		tell(fah_stats_files_print(&s->files, what, limits, n));
}

static bool do_stats(struct shell *s, char *arg)
{
	print(s, arg, FAH_PSTATS_FUNCTIONS);
	return false;
}

static bool do_callers(struct shell *s, char *arg)
{
	print(s, arg, FAH_PSTATS_CALLERS);
	return false;
}

static bool do_callees(struct shell *s, char *arg)
{
	print(s, arg, FAH_PSTATS_CALLEES);
	return false;
}

static bool do_sort(struct shell *s, char *arg)
{
	struct fah_pstats_order order = {0};
	bool ok = *arg;

	if (!has_files(s))
		return false;
	for (char *rest, *word = strtok_r(arg, SPACE, &rest); word && ok;
	     word = strtok_r(NULL, SPACE, &rest))
		ok = fah_pstats_order_add(&order, word);
	if (ok) {
		s->files.order = order;
		return false;
	}
	puts("Valid sort keys (unique prefixes are accepted):");
	for (const struct fah_pstats_word *w = fah_pstats_words; w->word; w++)
		printf("%s -- %s\n", w->word, w->text);
	return false;
}

static bool do_reverse(struct shell *s, char *arg)
{
	(void)arg;
	if (has_files(s) && s->files.order.n)
		s->files.order.reverse = !s->files.order.reverse;
	return false;
}

static bool do_strip(struct shell *s, char *arg)
{
	(void)arg;
	if (has_files(s))
		tell(fah_stats_files_strip(&s->files));
	return false;
}

static bool do_quit(struct shell *s, char *arg)
{
	(void)s;
	(void)arg;
	return true;
}

static bool do_eof(struct shell *s, char *arg)
{
	putchar('\n');
	return do_quit(s, arg);
}

static const struct command *find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static bool do_help(struct shell *s, char *arg)
{
	static const char head[] = "Documented commands (type help <topic>):";
	const struct command *c = *arg ? find(arg) : NULL;

	(void)s;
	if (c) {
		puts(c->help);
		return false;
	}
	if (*arg) {
		printf("*** No help on %s\n", arg);
		return false;
	}
	printf("\n%s\n", head);
	for (size_t i = 0; i < strlen(head); i++)
		putchar('=');
	putchar('\n');
	for (c = commands; c->name; c++)
		printf("%s%s", c->name, c[1].name ? "  " : "\n\n");
	return false;
}

#define LIMITS \
	"\nBehind it, in any number: how many functions (10), which part of them (0.1), or a\n" \
	"regular expression for file:line(function)."

static const struct command commands[] = {
	{"EOF", do_eof, "Ends the shell, as Ctrl-D does."},
	{"add", do_add, "add FILE: the calls of another file on top."},
	{"callees", do_callees, "What each function called." LIMITS},
	{"callers", do_callers, "Who called each function." LIMITS},
	{"help", do_help, "help [COMMAND]: the commands, or what one does."},
	{"quit", do_quit, "Ends the shell."},
	{"read", do_read, "read [FILE]: another file instead; without one, the same file again."},
	{"reverse", do_reverse, "Turns the order round."},
	{"sort", do_sort, "sort KEY...: the order from now on. Without a key, lists them."},
	{"stats", do_stats, "The functions." LIMITS},
	{"strip", do_strip, "Takes the folders off the names of files."},
	{NULL, NULL, NULL},
};

static char *stripped(char *text)
{
	char *end;

	text += strspn(text, SPACE);
	end = text + strlen(text);
	while (end > text && strchr(SPACE, end[-1]))
		end--;
	*end = '\0';
	return text;
}

/* One line, which is changed; true: the shell ends. */
static bool run_line(struct shell *s, char *line)
{
	_cleanup_(fah_freep) char *whole = NULL, *name = NULL;
	const struct command *c;
	size_t len;

	line = stripped(line);
	if (!*line) {
		_cleanup_(fah_freep) char *again = s->last ? strdup(s->last) : NULL;

		return again && *again ? run_line(s, again) : false;
	}
	if (asprintf(&whole, *line == '?' ? "help %s" : "%s", line + (*line == '?')) < 0)
		return true;
	free(s->last);
	s->last = strcmp(whole, "EOF") != 0 && *line != '!' ? strdup(whole) : NULL;
	for (len = 0; isalnum((unsigned char)whole[len]) || whole[len] == '_';)
		len++;
	name = strndup(whole, len);
	c = name ? find(name) : NULL;
	if (!c) {
		printf("*** Unknown syntax: %s\n", whole);
		return false;
	}
	return c->run(s, stripped(whole + len));
}

/* Files that begin so, as words. */
static void complete_file(const char *begun, struct fah_words *found)
{
	const char *slash = strrchr(begun, '/'), *name = slash ? slash + 1 : begun;
	_cleanup_(fah_freep) char *folder = strndup(begun, (size_t)(name - begun));
	struct dirent *entry;
	DIR *dir = folder ? opendir(*folder ? folder : ".") : NULL;

	while (dir && (entry = readdir(dir))) {
		_cleanup_(fah_freep) char *path = NULL, *word = NULL;
		struct stat st;

		if (strncmp(entry->d_name, name, strlen(name)) != 0 ||
		    (entry->d_name[0] == '.' && name[0] != '.') ||
		    asprintf(&path, "%s%s", folder, entry->d_name) < 0)
			continue;
		if (asprintf(&word, "%s%s", path,
			     stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? "/" : "") >= 0)
			fah_words_add(found, word);
	}
	if (dir)
		closedir(dir);
}

static void complete(void *ctx, const char *line, size_t at, struct fah_words *found)
{
	const char *word = line + at, *command = line + strspn(line, SPACE);
	size_t len = strcspn(command, SPACE);

	(void)ctx;
	if (command == word || (len == 4 && !strncmp(command, "help", 4))) {
		for (const struct command *c = commands; c->name; c++)
			if (!strncmp(c->name, word, strlen(word)))
				fah_words_add(found, c->name);
	} else if (len == 4 && !strncmp(command, "sort", 4)) {
		for (const struct fah_pstats_word *w = fah_pstats_words; w->word; w++)
			if (!strncmp(w->word, word, strlen(word)))
				fah_words_add(found, w->word);
	} else if ((len == 4 && !strncmp(command, "read", 4)) ||
		   (len == 3 && !strncmp(command, "add", 3))) {
		complete_file(word, found);
	}
}

static void loop(struct shell *s)
{
	bool end = false;

	puts("Welcome to the profile statistics browser.");
	while (!end) {
		_cleanup_(fah_freep) char *prompt = NULL, *line = NULL;

		if (asprintf(&prompt, "%s%% ", s->path ? s->path : "") < 0)
			break;
		line = fah_line_edit_read(&s->edit, prompt);
		end = line ? run_line(s, line) : do_eof(s, NULL);
	}
	puts("Goodbye.");
}

int fah_stats_shell(char *const *paths, size_t n_paths, const struct fah_pstats_order *order,
		    bool strip)
{
	struct shell s = {.edit = {.complete = complete}};

	fah_stats_files_init(&s.files);
	if (n_paths)
		do_read(&s, paths[0]);
	for (size_t i = 1; i < n_paths; i++)
		do_add(&s, paths[i]);
	if (s.loaded && strip)
		tell(fah_stats_files_strip(&s.files));
	if (s.loaded)
		s.files.order = *order;
	loop(&s);
	fah_stats_files_release(&s.files);
	fah_line_edit_release(&s.edit);
	free(s.path);
	free(s.last);
	return fflush(stdout) || ferror(stdout) ? fah_fail_err(FAH_ERR_SYS, "stats")
						: FAH_STATUS_OK;
}
