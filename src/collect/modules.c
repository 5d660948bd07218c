/* modules.c - see modules.h. */
#include "collect/modules.h"

#include "collect/code_map.h"
#include "collect/module.h"
#include "native/map_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_MAX_BYTES 4096

struct fah_modules {
	char *dir;
	struct fah_module_store store;
	struct fah_code_map *maps; /* by number - 1 */
	uint32_t n_maps;
	struct fah_names *nowhere; /* addresses that no module has */
	struct fah_turns *turns;   /* borrowed; NULL: nobody else is at work */
};

struct fah_modules *fah_modules_new(const char *session_dir)
{
	struct fah_modules *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	fah_module_store_init(&m->store);
	m->dir = strdup(session_dir);
	m->nowhere = fah_names_new(NULL, "", "");
	if (!m->dir || !m->nowhere) {
		fah_modules_free(m);
		return NULL;
	}
	return m;
}

void fah_modules_free(struct fah_modules *m)
{
	if (!m)
		return;
	fah_module_store_release(&m->store);
	for (uint32_t i = 0; i < m->n_maps; i++)
		free(m->maps[i].list);
	free(m->maps);
	fah_names_free(m->nowhere);
	free(m->dir);
	free(m);
}

void fah_modules_share(struct fah_modules *m, struct fah_turns *turns)
{
	m->turns = turns;
}

/* Where agents find that map; false: the folder's name is too long. */
static bool map_path(const struct fah_modules *m, uint32_t number, char path[PATH_MAX_BYTES])
{
	int n = snprintf(path, PATH_MAX_BYTES, "%s/" FAH_MAP_NAME, m->dir, number);

	return n >= 0 && n < PATH_MAX_BYTES;
}

/* Whether its file is there. */
static bool write_map(const struct fah_modules *m, struct fah_code_map *map, uint32_t number)
{
	char path[PATH_MAX_BYTES];

	if (!map->written)
		map->written = map_path(m, number, path) && fah_code_map_write(map, path) == 0;
	return map->written;
}

void fah_modules_forget(struct fah_modules *m, uint32_t number)
{
	char path[PATH_MAX_BYTES];

	if (!number || number > m->n_maps || !map_path(m, number, path))
		return;
	m->maps[number - 1].written = false;
	unlink(path);
}

static uint32_t look(struct fah_modules *m, uint32_t pid, uint64_t frames)
{
	struct fah_code_map map, *bigger;

	if (fah_code_map_read(&m->store, pid, frames, &map) < 0) {
		free(map.list);
		return 0;
	}
	for (uint32_t i = m->n_maps; i > 0; i--) {
		if (fah_code_map_same(&m->maps[i - 1], &map)) {
			free(map.list);
			return write_map(m, &m->maps[i - 1], i) ? i : 0;
		}
	}
	bigger = reallocarray(m->maps, m->n_maps + 1, sizeof(*bigger));
	if (bigger)
		m->maps = bigger;
	if (!bigger || !write_map(m, &map, m->n_maps + 1)) {
		free(map.list);
		return 0;
	}
	m->maps[m->n_maps++] = map;
	return m->n_maps;
}

uint32_t fah_modules_look(struct fah_modules *m, uint32_t pid, uint64_t frames)
{
	uint32_t number;

	fah_turn_end(m->turns);
	number = look(m, pid, frames);
	fah_turn_begin(m->turns);
	return number;
}

static void see_interpreter(struct fah_modules *m, struct fah_module *mod)
{
	if (mod->is_known)
		return;
	fah_turn_end(m->turns);
	fah_module_see_interpreter(mod);
	fah_turn_begin(m->turns);
}

static void made_place(const struct fah_mapped *one, uint64_t pc, struct fah_native_place *ret)
{
	const char *symbol = fah_names_symbol(one->module->names, pc - one->base);

	ret->path = FAH_PATH_MADE;
	ret->named = symbol != NULL;
	ret->jit = symbol && !strncmp(symbol, FAH_JIT, sizeof(FAH_JIT) - 1);
	if (ret->named) {
		ret->names = one->module->names;
		ret->offset = pc - one->base;
	} else {
		ret->offset = fah_function_start(one->module->starts, one->module->n_starts, pc);
	}
}

void fah_modules_place(struct fah_modules *m, uint32_t map, uint64_t pc,
		       struct fah_native_place *ret)
{
	const struct fah_mapped *one =
		map && map <= m->n_maps ? fah_code_map_find(&m->maps[map - 1], pc) : NULL;
	const char *symbol;

	*ret = (struct fah_native_place){.kind = FAH_MODULE_UNKNOWN,
					 .path = FAH_PATH_UNKNOWN,
					 .names = m->nowhere,
					 .offset = pc};
	if (!one)
		return;
	if (one->module->start) {
		made_place(one, pc, ret);
		return;
	}
	see_interpreter(m, one->module);
	/* shared memory, as compilers at run time use it, has a name there too */
	ret->kind = one->module->elf ? one->module->kind : FAH_MODULE_UNKNOWN;
	ret->path = one->module->path;
	ret->names = one->module->names;
	ret->offset = pc - one->base;
	ret->module = one->module;
	if (ret->kind != FAH_MODULE_INTERPRETER)
		return;
	symbol = fah_names_symbol(one->module->names, ret->offset);
	ret->eval = symbol && !strncmp(symbol, FAH_EVAL, sizeof(FAH_EVAL) - 1);
	ret->jit = symbol && !strcmp(symbol, FAH_JIT_ENTRY);
}

struct fah_name_frame *fah_modules_frames(struct fah_modules *m,
					  const struct fah_native_place *place, uint32_t *ret_n)
{
	struct fah_name_frame *frames = fah_names_found(place->names, place->offset, ret_n);

	if (frames)
		return frames;
	fah_turn_end(m->turns);
	frames = fah_names_find(place->names, place->offset, ret_n);
	fah_turn_begin(m->turns);
	return frames;
}

enum fah_callee_step fah_modules_step(struct fah_modules *m, const struct fah_native_place *caller,
				      const struct fah_native_place *callee)
{
	struct fah_module *mod = caller->jit ? callee->module : caller->module;

	if (!mod || mod != callee->module || mod->kind != FAH_MODULE_INTERPRETER)
		return FAH_CALLEE_UNKNOWN;
	if (!mod->callees) {
		struct fah_callees *made;

		fah_turn_end(m->turns);
		made = fah_callees_new(mod->elf, mod->names);
		fah_turn_begin(m->turns);
		mod->callees = made;
	}
	if (!mod->callees)
		return FAH_CALLEE_UNKNOWN;
	return caller->jit ? fah_callees_step_of_jit(mod->callees, callee->offset)
			   : fah_callees_step(mod->callees, caller->offset, callee->offset);
}
