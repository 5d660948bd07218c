/* names.c - see names.h. */
#include "native/names.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "native/debug_file.h"
#include "native/demangle.h"
#include "native/debug_info.h"
#include "native/plt.h"
#include "native/table_build.h"

#include <inttypes.h>
#include <string.h>

#define DEFINED 0x80000000u /* in a value of known: by fah_names_define */

struct found {
	struct fah_name_frame *frames; /* in the arena */
	uint32_t n;
};

struct fah_names {
	struct fah_elf *elf; /* borrowed */
	char *root, *path;
	struct fah_elf *debug, *small; /* NULL: there is none */
	uint8_t *small_bytes;
	struct fah_dwarf *dwarf;
	bool has_symbols, has_starts;
	struct fah_symbols symbols, stubs;
	uint64_t *starts; /* of functions, for those without a symbol */
	size_t n_starts;
	struct fah_arena arena;
	struct fah_strmap texts; /* names and files, each once */
	struct fah_map known;	 /* offset, or where its function begins -> 1 + index into found */
	struct found *found;
	size_t n_found;
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
	fah_arena_release(&names->arena);
	fah_strmap_release(&names->texts);
	fah_map_release(&names->known);
	free(names->starts);
	free(names->found);
	free(names->root);
	free(names->path);
	free(names);
}

static void read_symbols(struct fah_names *names)
{
	struct fah_elf *others[2];

	if (names->has_symbols)
		return;
	names->has_symbols = true;
	if (!names->elf)
		return;
	if (fah_debug_file_open(names->elf, names->root, names->path, &names->debug) < 0)
		names->debug = NULL;
	if (!names->debug &&
	    fah_debug_data_open(names->elf, &names->small_bytes, &names->small) < 0)
		names->small = NULL;
	others[0] = names->debug;
	others[1] = names->small;
	if (fah_symbols_read_all(names->elf, others, 2, &names->symbols) < 0)
		names->symbols = (struct fah_symbols){0};
	if (fah_plt_read(names->elf, &names->symbols, &names->stubs) < 0)
		names->stubs = (struct fah_symbols){0};
	names->dwarf = fah_dwarf_open(names->elf);
	if (!names->dwarf && names->debug)
		names->dwarf = fah_dwarf_open(names->debug);
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

bool fah_names_has(struct fah_names *names, const char *symbol)
{
	read_symbols(names);
	for (size_t i = 0; i < names->symbols.n; i++)
		if (!strcmp(names->symbols.symbols[i].name, symbol))
			return true;
	return false;
}

/* Where the function begins that holds this offset: one name for all of it. */
static uint64_t function_start(struct fah_names *names, uint64_t offset)
{
	size_t lo = 0, hi;

	if (!names->has_starts) {
		names->has_starts = true;
		if (names->elf &&
		    fah_function_starts(names->elf, &names->starts, &names->n_starts) < 0)
			names->n_starts = 0;
	}
	hi = names->n_starts;
	while (lo < hi) { /* the first that begins behind it */
		size_t mid = lo + (hi - lo) / 2;

		if (names->starts[mid] <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? names->starts[lo - 1] : offset;
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
	return text.failed ? symbol : fah_arena_strndup(&names->arena, text.p, text.len);
}

static const char *offset_name(struct fah_names *names, uint64_t start)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;
	const char *module = fah_basename(names->path);

	fah_strbuf_addf(&text, "%.200s%s0x%" PRIx64, module, *module ? "+" : "", start);
	return text.failed ? NULL : fah_arena_strndup(&names->arena, text.p, text.len);
}

/* Where the list of those found has its entry for a key; 0: no memory. */
static uint32_t *entry_for(struct fah_names *names, struct fah_key key, bool *ret_new)
{
	if ((names->n_found & (names->n_found - 1)) == 0) {
		size_t room = names->n_found ? names->n_found * 2 : 1;
		struct found *more = reallocarray(names->found, room, sizeof(*more));

		if (!more)
			return NULL;
		names->found = more;
	}
	return fah_map_put(&names->known, key, ret_new);
}

/* All addresses of one function that have nothing but its name share one entry. */
static uint32_t find_function(struct fah_names *names, uint64_t offset)
{
	const struct fah_symbol *symbol = find_symbol(names, offset);
	uint64_t start = symbol ? symbol->start : function_start(names, offset);
	struct fah_name_frame *frame;
	uint32_t *entry;
	bool is_new;

	entry = entry_for(names, (struct fah_key){start, 1}, &is_new);
	if (!entry)
		return 0;
	if (!is_new)
		return *entry;
	frame = fah_arena_alloc(&names->arena, sizeof(*frame));
	if (!frame)
		return 0;
	frame->function = symbol ? readable(names, symbol->name) : offset_name(names, start);
	if (!frame->function)
		return 0;
	names->found[names->n_found++] = (struct found){frame, 1};
	return *entry = (uint32_t)names->n_found;
}

static const char *keep(struct fah_names *names, const char *text)
{
	uint32_t *unused = NULL;
	const char *kept = NULL;

	unused = fah_strmap_put(&names->texts, text, strlen(text), NULL, &kept);
	return unused ? kept : NULL;
}

static const char *source_file(struct fah_names *names, const struct fah_dwarf_frame *from)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;

	if (!from->file || !*from->file)
		return NULL;
	if (*from->file != '/' && from->dir && *from->dir)
		fah_strbuf_addf(&text, "%s/", from->dir);
	fah_strbuf_adds(&text, from->file);
	return text.failed ? NULL : keep(names, text.p);
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
		return keep(names, text.p);
	if (from->name && *from->name)
		return keep(names, from->name);
	return name && *name ? keep(names, name) : symbol;
}

/* By debug information; 0: it has nothing there, or no memory. */
static uint32_t find_inlined(struct fah_names *names, uint64_t offset)
{
	struct fah_dwarf_frame from[FAH_INLINE_MAX];
	const struct fah_symbol *symbol;
	struct fah_name_frame *frames;
	uint32_t n, *entry;

	read_symbols(names);
	n = names->dwarf ? fah_dwarf_find(names->dwarf, names->elf->base + offset, from) : 0;
	if (!n)
		return 0;
	symbol = find_symbol(names, offset);
	frames = fah_arena_array(&names->arena, n, sizeof(*frames));
	for (uint32_t i = 0; frames && i < n; i++) {
		frames[i] = (struct fah_name_frame){
			.function =
				function_name(names, &from[i], symbol && !i ? symbol->name : NULL),
			.file = source_file(names, &from[i]),
			.line = from[i].line};
		if (!frames[i].function)
			return 0;
	}
	entry = frames ? entry_for(names, (struct fah_key){offset, 0}, NULL) : NULL;
	if (!entry)
		return 0;
	names->found[names->n_found++] = (struct found){frames, n};
	return *entry = (uint32_t)names->n_found;
}

struct fah_name_frame *fah_names_find(struct fah_names *names, uint64_t offset, uint32_t *ret_n)
{
	uint32_t *entry = fah_map_get(&names->known, (struct fah_key){offset, 0}), index;

	if (entry && *entry) {
		index = *entry & ~DEFINED;
	} else {
		index = find_inlined(names, offset);
		if (!index)
			index = find_function(names, offset);
		entry = index ? fah_map_put(&names->known, (struct fah_key){offset, 0}, NULL)
			      : NULL;
		if (!entry)
			return NULL;
		*entry = index;
	}
	*ret_n = names->found[index - 1].n;
	return names->found[index - 1].frames;
}

void fah_names_define(struct fah_names *names, uint64_t offset, const char *function)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;
	struct fah_name_frame *frame = fah_arena_alloc(&names->arena, sizeof(*frame));
	uint32_t *entry;

	if (frame && fah_demangle(function, &text))
		function = text.p;
	if (frame)
		frame->function = keep(names, function);
	entry = frame && frame->function ? entry_for(names, (struct fah_key){offset, 0}, NULL)
					 : NULL;
	if (!entry)
		return;
	names->found[names->n_found++] = (struct found){frame, 1};
	*entry = (uint32_t)names->n_found | DEFINED;
}

bool fah_names_is_defined(const struct fah_names *names, uint64_t offset)
{
	const uint32_t *entry = fah_map_get(&names->known, (struct fah_key){offset, 0});

	return entry && *entry & DEFINED;
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
