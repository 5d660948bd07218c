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

#define CELL "/cell "
#define NOTEBOOK ".ipynb"

uint32_t fah_cell_number(const char *path, size_t *ret_len)
{
	const char *at = strrchr(path, '/'), *digit;
	uint32_t number = 0;

	if (!at || strncmp(at, CELL, strlen(CELL)) != 0 || (size_t)(at - path) < strlen(NOTEBOOK) ||
	    memcmp(at - strlen(NOTEBOOK), NOTEBOOK, strlen(NOTEBOOK)) != 0)
		return 0;
	for (digit = at + strlen(CELL); *digit >= '0' && *digit <= '9' && number < 100000000;)
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
};

/* A cell itself is called by nobody: what stands below it, up to another call of it, is what %%time
 * or an event loop needs to run the rest of it. */
static bool is_start(const struct fah_profile *p, const struct fah_node *node)
{
	return !strcmp(p->functions[node->function].name, "<module>");
}

static void cut_stacks(struct fah_profile *p, const bool *is_cell, const bool *is_runner,
		       uint8_t *side, uint32_t runner)
{
	for (uint32_t i = 1; i < p->n_nodes; i++) {
		struct fah_node *node = &p->nodes[i];

		if (is_cell[node->function] &&
		    (side[node->parent] == RUNNER || is_start(p, node))) {
			node->parent = 0; /* and it is the program's again */
		} else if (side[node->parent] == RUNNER || is_runner[node->function]) {
			side[i] = RUNNER;
			*node = (struct fah_node){.parent = 0, .function = runner};
		}
	}
}

int fah_cells_apply(struct fah_profile *p)
{
	const char *path = fah_profile_meta(p, "runner");
	_cleanup_(fah_freep) bool *is_cell = NULL, *is_runner = NULL;
	_cleanup_(fah_freep) uint8_t *side = NULL;
	uint32_t runner = 0;

	if (!path)
		return 0;
	is_cell = calloc(p->n_functions, sizeof(*is_cell));
	is_runner = calloc(p->n_functions, sizeof(*is_runner));
	side = calloc(p->n_nodes, sizeof(*side));
	if (!is_cell || !is_runner || !side)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 1; i < p->n_functions; i++) {
		is_cell[i] = fah_is_python(p, i) && fah_cell_number(p->functions[i].file, NULL);
		is_runner[i] = fah_is_python(p, i) && !strcmp(p->functions[i].file, path);
		if (is_runner[i] && !runner)
			runner = i;
	}
	if (!runner)
		return 0;
	p->functions[runner].name = "<notebook runner>";
	p->functions[runner].first_line = 0;
	cut_stacks(p, is_cell, is_runner, side, runner);
	p->functions[runner].kind = FAH_FUNCTION_NATIVE;
	return 0;
}
