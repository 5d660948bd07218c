/*
 * cells.c - see cells.h. Also what a notebook's stacks are without whoever runs the cells.
 *
 * Below our runner stand IPython's shell and event loop, then the cell. A stack begins at the cell;
 * one that has none (IPython is imported, a cell compiled, a value printed) is one frame, of no
 * Python function, so no report blames it on the program.
 */
#include "model/cells.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "model/internal.h"

#include <stdio.h>

#define CELL_NAME "/cell "
#define NOTEBOOK ".ipynb"

uint32_t fah_cell_number(const char *path, size_t *ret_len)
{
	const char *at = strrchr(path, '/'), *digit;
	uint32_t number = 0;

	if (!at || strncmp(at, CELL_NAME, strlen(CELL_NAME)) != 0 ||
	    (size_t)(at - path) < strlen(NOTEBOOK) ||
	    memcmp(at - strlen(NOTEBOOK), NOTEBOOK, strlen(NOTEBOOK)) != 0)
		return 0;
	for (digit = at + strlen(CELL_NAME); *digit >= '0' && *digit <= '9' && number < 100000000;)
		number = number * 10 + (uint32_t)(*digit++ - '0');
	if (*digit)
		return 0;
	if (ret_len)
		*ret_len = (size_t)(at - path);
	return number;
}

void fah_place_add(struct fah_strbuf *sb, const char *file, uint32_t line)
{
	size_t len, from;
	uint32_t cell = fah_cell_number(file, &len);

	if (!cell) {
		fah_strbuf_adds(sb, file);
		if (line)
			fah_strbuf_addf(sb, ":%u", line);
		return;
	}
	for (from = len; from && file[from - 1] != '/';)
		from--;
	fah_strbuf_add(sb, file + from, len - from);
	fah_strbuf_addf(sb, ", cell %u", cell);
	if (line)
		fah_strbuf_addf(sb, ", line %u", line);
}

const char *fah_cell_key(uint32_t number, char buf[FAH_CELL_KEY_MAX])
{
	snprintf(buf, FAH_CELL_KEY_MAX, "cell %u", number);
	return buf;
}

const char *fah_profile_cell(const struct fah_profile *p, const char *path)
{
	uint32_t number = fah_cell_number(path, NULL);
	char key[FAH_CELL_KEY_MAX];

	return number ? fah_profile_meta(p, fah_cell_key(number, key)) : NULL;
}

enum side {
	PROGRAM,
	RUNNER, /* our runner, or called by it and in no cell */
	CELL,	/* in one, or called by one */
};

/* A cell itself is called by nobody: what stands below it, up to another call of it, is what %%time
 * or an event loop needs to run the rest of it. */
static bool is_start(const struct fah_profile *p, const struct fah_node *node)
{
	return !strcmp(p->functions[node->function].name, "<module>");
}

static void cut_stacks(struct fah_profile *p, const uint8_t *of, uint8_t *side, uint32_t runner)
{
	for (uint32_t i = 1; i < p->n_nodes; i++) {
		struct fah_node *node = &p->nodes[i];
		uint8_t below = side[node->parent];

		side[i] = of[node->function] == CELL || below == CELL ? CELL
			  : of[node->function] == RUNNER	      ? RUNNER
								      : below;
		if (side[i] == RUNNER)
			*node = (struct fah_node){.parent = 0, .function = runner};
		else if (of[node->function] == CELL && (below == RUNNER || is_start(p, node)))
			node->parent = 0;
	}
}

/* Which functions are whose. One of the runner's that no cell calls, to stand for all it does; 0:
 * it has none. */
static uint32_t tell_apart(const struct fah_profile *p, const char *path, uint8_t *of)
{
	const char *slash = strrchr(path, '/');
	size_t folder = slash ? (size_t)(slash + 1 - path) : strlen(path);
	uint32_t runner = 0;

	for (uint32_t i = 1; i < p->n_functions; i++) {
		const char *file = p->functions[i].file;

		if (!fah_is_python(p, i))
			continue;
		if (!strncmp(file, path, folder)) /* its other files too */
			of[i] = RUNNER;
		else if (fah_cell_number(file, NULL))
			of[i] = CELL;
		if (!runner && !strcmp(file, path))
			runner = i;
	}
	return runner;
}

int fah_cells_apply(struct fah_profile *p)
{
	const char *path = fah_profile_meta(p, "runner");
	_cleanup_(fah_freep) uint8_t *of = NULL, *side = NULL;
	uint32_t runner;

	if (!path || !*path)
		return 0;
	of = calloc(p->n_functions, sizeof(*of));
	side = calloc(p->n_nodes, sizeof(*side));
	if (!of || !side)
		return FAH_ERR_NOMEM;
	runner = tell_apart(p, path, of);
	if (!runner)
		return 0;
	cut_stacks(p, of, side, runner);
	for (uint32_t i = 1; i < p->n_functions; i++)
		if (of[i] == RUNNER) /* the cell's line pays for it, whatever the scope */
			p->functions[i].kind = FAH_FUNCTION_NATIVE;
	p->functions[runner].name = "<notebook runner>";
	p->functions[runner].first_line = 0;
	return 0;
}
