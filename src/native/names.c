/* names.c - see names.h. */
#include "native/names.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "native/demangle.h"
#include "native/plt.h"
#include "native/table_build.h"

#include <inttypes.h>
#include <string.h>

struct found {
	struct fah_name_frame *frames; /* in the arena */
	uint32_t n;
};

struct fah_names {
	struct fah_elf *elf; /* borrowed */
	char *path;
	bool has_symbols, has_starts;
	struct fah_symbols symbols, stubs;
	uint64_t *starts; /* of functions, for those without a symbol */
	size_t n_starts;
	struct fah_arena arena;
	struct fah_map known; /* offset, or where its function begins -> 1 + index into found */
	struct found *found;
	size_t n_found;
};

struct fah_names *fah_names_new(struct fah_elf *elf, const char *path)
{
	struct fah_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->elf = elf;
	names->path = strdup(path);
	if (names->path)
		return names;
	free(names);
	return NULL;
}

void fah_names_free(struct fah_names *names)
{
	if (!names)
		return;
	fah_symbols_release(&names->symbols);
	fah_symbols_release(&names->stubs);
	fah_arena_release(&names->arena);
	fah_map_release(&names->known);
	free(names->starts);
	free(names->found);
	free(names->path);
	free(names);
}

static void read_symbols(struct fah_names *names)
{
	if (names->has_symbols)
		return;
	names->has_symbols = true;
	if (!names->elf || fah_symbols_read(names->elf, &names->symbols) < 0)
		names->symbols = (struct fah_symbols){0};
	if (!names->elf || fah_plt_read(names->elf, &names->symbols, &names->stubs) < 0)
		names->stubs = (struct fah_symbols){0};
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

struct fah_name_frame *fah_names_find(struct fah_names *names, uint64_t offset, uint32_t *ret_n)
{
	uint32_t *entry = fah_map_get(&names->known, (struct fah_key){offset, 0}), index;

	if (entry && *entry) {
		index = *entry;
	} else {
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
