/* names.c - see names.h. */
#include "native/names.h"

#include "base/file.h"
#include "native/answers.h"
#include "native/debug_file.h"
#include "native/demangle.h"
#include "native/debug_info.h"
#include "native/made_debug.h"
#include "native/plt.h"
#include "native/table_build.h"
#include "native/table_file.h"

#include <inttypes.h>
#include <string.h>

struct fah_names {
	struct fah_elf *elf; /* borrowed */
	char *root, *path;
	struct fah_elf *debug, *small; /* NULL: there is none */
	uint8_t *small_bytes;
	struct fah_dwarf *dwarf;
	bool has_debug, has_symbols, has_dwarf, has_starts;
	struct fah_symbols symbols, stubs;
	uint64_t *starts; /* of functions, for those without a symbol */
	size_t n_starts;
	struct fah_made_debug **debugs; /* of code of no file, at base */
	size_t n_debugs;
	uint64_t base;
	struct fah_answers answers;
	char *cache; /* folder in which answers are kept; NULL: they are not */
	bool loaded;
};

struct fah_names *fah_names_new(struct fah_elf *elf, const char *root, const char *path)
{
	struct fah_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->elf = elf;
	names->root = strdup(root);
	names->path = strdup(path);
	if (names->root && names->path)
		return names;
	fah_names_free(names);
	return NULL;
}

void fah_names_free(struct fah_names *names)
{
	if (!names)
		return;
	fah_dwarf_free(names->dwarf);
	fah_elf_free(names->debug);
	fah_elf_free(names->small);
	free(names->small_bytes);
	fah_symbols_release(&names->symbols);
	fah_symbols_release(&names->stubs);
	fah_answers_release(&names->answers);
	free(names->starts);
	free(names->debugs);
	free(names->cache);
	free(names->root);
	free(names->path);
	free(names);
}

static void open_debug(struct fah_names *names)
{
	if (names->has_debug)
		return;
	names->has_debug = true;
	if (!names->elf ||
	    fah_debug_file_open(names->elf, names->root, names->path, &names->debug) < 0)
		names->debug = NULL;
}

static void read_symbols(struct fah_names *names)
{
	struct fah_elf *others[2];

	if (names->has_symbols)
		return;
	names->has_symbols = true;
	open_debug(names);
	if (!names->elf)
		return;
	if (!names->debug &&
	    fah_debug_data_open(names->elf, &names->small_bytes, &names->small) < 0)
		names->small = NULL;
	others[0] = names->debug;
	others[1] = names->small;
	if (fah_symbols_read_all(names->elf, others, 2, &names->symbols) < 0)
		names->symbols = (struct fah_symbols){0};
	if (fah_plt_read(names->elf, &names->symbols, &names->stubs) < 0)
		names->stubs = (struct fah_symbols){0};
}

/* Apart from the symbols, which are asked for alone too: its sections are large. */
static void read_dwarf(struct fah_names *names)
{
	if (names->has_dwarf)
		return;
	names->has_dwarf = true;
	open_debug(names);
	names->dwarf = names->elf ? fah_dwarf_open(names->elf) : NULL;
	if (!names->dwarf && names->debug)
		names->dwarf = fah_dwarf_open(names->debug);
}

/*
 * The file's name: which module. A stripped copy keeps build-id and program headers, but not its
 * length. The key in it: what else the answers depend on.
 */
static void cache_file(struct fah_names *names, struct fah_strbuf *path, struct fah_strbuf *key)
{
	open_debug(names);
	fah_strbuf_addf(path, "%s/", names->cache);
	fah_table_name(names->elf, path);
	fah_strbuf_addf(path, "-%" PRIx64, names->elf->len);
	fah_strbuf_adds(key, FAH_VERSION "; ");
	fah_names_abilities(key);
	if (names->debug) {
		fah_strbuf_addf(key, "; debug file of %" PRIu64 " bytes ", names->debug->len);
		fah_table_name(names->debug, key);
	}
}

static void load_answers(struct fah_names *names)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf path = FAH_STRBUF_INIT,
							key = FAH_STRBUF_INIT;

	if (names->loaded || !names->cache)
		return;
	names->loaded = true;
	cache_file(names, &path, &key);
	if (!path.failed && !key.failed) /* what cannot be read is worked out */
		(void)fah_answers_load(&names->answers, path.p, fah_strbuf_str(&key));
}

void fah_names_keep_in(struct fah_names *names, const char *dir)
{
	/* what is neither of a build nor a file has nothing to be known by */
	if (!names->cache && names->elf && (names->elf->build_id_len || names->elf->fd >= 0))
		names->cache = strdup(dir);
}

bool fah_names_save(struct fah_names *names)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf path = FAH_STRBUF_INIT,
							key = FAH_STRBUF_INIT;

	if (!names->cache || !names->answers.changed || fah_mkdir_p(names->cache, 0700) < 0)
		return false;
	cache_file(names, &path, &key);
	return !path.failed && !key.failed &&
	       fah_answers_save(&names->answers, path.p, fah_strbuf_str(&key)) == 0;
}

void fah_names_give(struct fah_names *names, struct fah_symbols *symbols)
{
	fah_symbols_release(&names->symbols);
	names->symbols = *symbols;
	names->has_symbols = true;
	*symbols = (struct fah_symbols){0};
}

void fah_names_give_debug(struct fah_names *names, uint64_t base,
			  struct fah_made_debug *const *debugs, size_t n)
{
	struct fah_made_debug **copy = calloc(n + 1, sizeof(*copy));

	if (!copy)
		return; /* there are no lines then */
	memcpy(copy, debugs, n * sizeof(*copy));
	free(names->debugs);
	names->debugs = copy;
	names->n_debugs = n;
	names->base = base;
}

static const struct fah_symbol *find_symbol(struct fah_names *names, uint64_t offset)
{
	const struct fah_symbol *stub;

	read_symbols(names);
	stub = fah_symbols_find(&names->stubs, offset);
	return stub ? stub : fah_symbols_find(&names->symbols, offset);
}

const char *fah_names_symbol(struct fah_names *names, uint64_t offset)
{
	const struct fah_symbol *symbol = find_symbol(names, offset);

	return symbol ? symbol->name : NULL;
}

void fah_names_trim(const char *dir)
{
	fah_answers_trim(dir, FAH_ANSWERS_FILES, FAH_ANSWERS_BYTES);
}

bool fah_names_range(struct fah_names *names, const char *symbol, uint64_t *ret_start,
		     uint64_t *ret_end)
{
	read_symbols(names);
	for (size_t i = 0; i < names->symbols.n; i++) {
		const struct fah_symbol *s = &names->symbols.symbols[i];

		if (strcmp(s->name, symbol) != 0)
			continue;
		*ret_start = s->start;
		*ret_end = s->end;
		return true;
	}
	return false;
}

static bool has_symbol(struct fah_names *names, const char *symbol)
{
	uint64_t start, end;

	return fah_names_range(names, symbol, &start, &end);
}

bool fah_names_has(struct fah_names *names, const char *symbol)
{
	uint32_t *known;

	load_answers(names);
	known = fah_strmap_put(&names->answers.symbols, symbol, strlen(symbol), NULL, NULL);
	if (!known)
		return has_symbol(names, symbol);
	if (!*known) {
		*known = has_symbol(names, symbol) ? 2 : 1;
		names->answers.changed = true;
	}
	return *known == 2;
}

static uint64_t function_start(struct fah_names *names, uint64_t offset)
{
	if (!names->has_starts) {
		names->has_starts = true;
		if (names->elf &&
		    fah_function_starts(names->elf, &names->starts, &names->n_starts) < 0)
			names->n_starts = 0;
	}
	return fah_function_start(names->starts, names->n_starts, offset);
}

uint64_t fah_names_start(struct fah_names *names, uint64_t offset)
{
	const struct fah_symbol *symbol = find_symbol(names, offset);

	return symbol ? symbol->start : function_start(names, offset);
}

static const char *readable(struct fah_names *names, const char *symbol)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;
	const char *at = strstr(symbol, "@plt");

	if (at) { /* a stub's function */
		_cleanup_(fah_freep) char *function = strndup(symbol, (size_t)(at - symbol));

		if (!function || !fah_demangle(function, &text))
			return symbol;
		fah_strbuf_adds(&text, at);
	} else if (!fah_demangle(symbol, &text)) {
		return symbol;
	}
	return text.failed ? symbol : fah_answers_text(&names->answers, text.p);
}

static const char *offset_name(struct fah_names *names, uint64_t start)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;
	const char *module = fah_basename(names->path);

	fah_strbuf_addf(&text, "%.200s%s0x%" PRIx64, module, *module ? "+" : "", start);
	return text.failed ? NULL : fah_answers_text(&names->answers, text.p);
}

/* All addresses of one function that have nothing but its name share one answer. */
static struct fah_answer *find_function(struct fah_names *names, uint64_t offset)
{
	const struct fah_symbol *symbol = find_symbol(names, offset);
	uint64_t start = fah_names_start(names, offset);
	struct fah_key key = {start, 1};
	struct fah_answer *known = fah_answers_get(&names->answers, key);
	struct fah_answer answer = {
		.n = 1, .start = start, .is_function = true, .is_unnamed = !symbol};

	if (known)
		return known;
	answer.frames = fah_arena_alloc(&names->answers.arena, sizeof(*answer.frames));
	if (!answer.frames)
		return NULL;
	answer.frames->function =
		symbol ? readable(names, symbol->name) : offset_name(names, start);
	return answer.frames->function ? fah_answers_add(&names->answers, key, &answer) : NULL;
}

/* libdw puts the folder before names without one of their own: twice would be a folder of it. */
static bool begins_in(const char *file, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(file, dir, n) && file[n] == '/';
}

static const char *source_file(struct fah_names *names, const struct fah_dwarf_frame *from)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;

	if (!from->file || !*from->file)
		return NULL;
	if (*from->file != '/' && from->dir && *from->dir && !begins_in(from->file, from->dir))
		fah_strbuf_addf(&text, "%s/", from->dir);
	fah_strbuf_adds(&text, from->file);
	return text.failed ? NULL : fah_answers_text(&names->answers, text.p);
}

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* The symbol's own name where debug information has only half of it, as "operator()". */
static const char *function_name(struct fah_names *names, const struct fah_dwarf_frame *from,
				 const char *symbol)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;
	const char *name = from->linkage;

	if ((!name || !*name) && symbol && is_mangled(symbol))
		name = symbol;
	if (name && *name && fah_demangle(name, &text))
		return fah_answers_text(&names->answers, text.p);
	if (from->name && *from->name)
		return fah_answers_text(&names->answers, from->name);
	return name && *name ? fah_answers_text(&names->answers, name) : symbol;
}

static uint32_t find_frames(struct fah_names *names, uint64_t offset,
			    struct fah_dwarf_frame frames[FAH_INLINE_MAX])
{
	uint32_t n = 0;

	read_dwarf(names);
	if (names->dwarf)
		return fah_dwarf_find(names->dwarf, names->elf->base + offset, frames);
	for (size_t i = 0; i < names->n_debugs && !n; i++)
		n = fah_made_debug_find(names->debugs[i], names->base + offset, frames);
	return n;
}

/* By debug information; NULL: it has nothing there, or no memory. */
static struct fah_answer *find_inlined(struct fah_names *names, uint64_t offset)
{
	struct fah_dwarf_frame from[FAH_INLINE_MAX];
	const struct fah_symbol *symbol;
	struct fah_name_frame *frames;
	uint32_t n = find_frames(names, offset, from);

	if (!n)
		return NULL;
	symbol = find_symbol(names, offset);
	frames = fah_arena_array(&names->answers.arena, n, sizeof(*frames));
	for (uint32_t i = 0; frames && i < n; i++) {
		frames[i] = (struct fah_name_frame){
			.function =
				function_name(names, &from[i], symbol && !i ? symbol->name : NULL),
			.file = source_file(names, &from[i]),
			.line = from[i].line};
		if (!frames[i].function)
			return NULL;
	}
	return frames ? fah_answers_add(&names->answers, (struct fah_key){offset, 0},
					&(struct fah_answer){.frames = frames, .n = n})
		      : NULL;
}

/* What came from a file has no frame yet where only the module's name says it. */
static bool complete(struct fah_names *names, struct fah_answer *answer)
{
	struct fah_name_frame *frame;

	if (answer->n)
		return true;
	frame = fah_arena_alloc(&names->answers.arena, sizeof(*frame));
	if (!frame)
		return false;
	frame->function = offset_name(names, answer->start);
	if (!frame->function)
		return false;
	answer->frames = frame;
	answer->n = 1;
	return true;
}

struct fah_name_frame *fah_names_found(struct fah_names *names, uint64_t offset, uint32_t *ret_n)
{
	const struct fah_answer *answer =
		fah_answers_get(&names->answers, (struct fah_key){offset, 0});

	if (!answer || !answer->n)
		return NULL;
	*ret_n = answer->n;
	return answer->frames;
}

struct fah_name_frame *fah_names_find(struct fah_names *names, uint64_t offset, uint32_t *ret_n)
{
	const struct fah_key key = {offset, 0};
	struct fah_answer *answer = fah_answers_get(&names->answers, key);

	if (!answer) {
		load_answers(names);
		answer = fah_answers_get(&names->answers, key);
	}
	if (!answer) {
		answer = find_inlined(names, offset);
		if (!answer)
			answer = find_function(names, offset);
		if (!answer || !fah_answers_put(&names->answers, key, answer))
			return NULL;
	}
	if (!complete(names, answer))
		return NULL;
	*ret_n = answer->n;
	return answer->frames;
}

void fah_names_define(struct fah_names *names, uint64_t offset, const char *function)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;
	struct fah_name_frame *frame = fah_arena_alloc(&names->answers.arena, sizeof(*frame));

	if (frame && fah_demangle(function, &text))
		function = text.p;
	if (frame)
		frame->function = fah_answers_text(&names->answers, function);
	if (frame && frame->function)
		(void)fah_answers_add(
			&names->answers, (struct fah_key){offset, 0},
			&(struct fah_answer){.frames = frame, .n = 1, .is_defined = true});
}

bool fah_names_is_defined(const struct fah_names *names, uint64_t offset)
{
	const struct fah_answer *answer =
		fah_answers_get(&names->answers, (struct fah_key){offset, 0});

	return answer && answer->is_defined;
}

void fah_names_abilities(struct fah_strbuf *out)
{
	const struct {
		const char *what, *library;
	} abilities[] = {
		{"inlined frames and lines", fah_dwarf_library()},
		{".gnu_debugdata", fah_unpack_library()},
		{"C++ and Rust names", fah_demangle_library()},
	};

	for (size_t i = 0; i < sizeof(abilities) / sizeof(abilities[0]); i++)
		fah_strbuf_addf(out, "%s%s (%s)", i ? ", " : "", abilities[i].what,
				abilities[i].library ? abilities[i].library : "not in this build");
}
