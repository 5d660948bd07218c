/* callees.c - see callees.h. The file is somebody else's: src/native takes no byte on trust. */
#include "collect/callees.h"

#include "base/map.h"
#include "cpython/callee.h"
#include "native/call_site.h"
#include "native/data_words.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTION_MAX 65536u /* bytes of a function that are looked through */

struct fah_callees {
	struct fah_elf *elf;
	struct fah_names *names;
	struct fah_map roles; /* where a function begins -> enum fah_py_role, of those found */
	struct fah_map steps; /* call and function called -> enum fah_callee_step */
};

static bool is_function(void *arg, uint64_t offset)
{
	const struct fah_callees *c = arg;

	return fah_elf_is_code(c->elf, c->elf->base + offset) &&
	       fah_names_start(c->names, offset) == offset;
}

/* The first one that says something is believed: see new. */
static void note(struct fah_callees *c, uint64_t start, enum fah_py_role role)
{
	uint32_t *known = fah_map_put(&c->roles, fah_key_u64(start), NULL);

	if (known && !*known)
		*known = role;
}

static enum fah_py_role role_of(const struct fah_callees *c, uint64_t offset)
{
	enum fah_py_role role = fah_py_role_of(fah_names_symbol(c->names, offset));
	const uint32_t *found;

	if (role != FAH_PY_ROLE_UNKNOWN && role != FAH_PY_ROLE_OTHER)
		return role;
	found = fah_map_get(&c->roles, fah_key_u64(fah_names_start(c->names, offset)));
	return found && *found ? (enum fah_py_role) * found : role;
}

/* An address in the file's data as an offset of code; false: it is no function's. */
static bool to_function(struct fah_callees *c, uint64_t vaddr, uint64_t *ret)
{
	if (vaddr < c->elf->base || !is_function(c, vaddr - c->elf->base))
		return false;
	*ret = vaddr - c->elf->base;
	return true;
}

static void take_known_slots(struct fah_callees *c, const struct fah_data_words *data)
{
	for (size_t i = 0; i < fah_py_n_known_slots; i++) {
		const struct fah_py_known_slot *s = &fah_py_known_slots[i];
		uint64_t at, word, start;

		if (fah_symbols_data(c->elf, s->symbol, &at) &&
		    fah_data_words_at(data, at + s->distance, &word) &&
		    to_function(c, word, &start))
			note(c, start, s->role);
	}
}

/* Texts stand among what is neither code nor data that changes. */
static bool may_be_text(const struct fah_callees *c, const struct fah_data_words *data,
			uint64_t vaddr)
{
	uint64_t word;

	return vaddr && fah_elf_room_at(c->elf, vaddr) && !fah_elf_is_code(c->elf, vaddr) &&
	       !fah_data_words_at(data, vaddr & ~7ull, &word);
}

static void take_table(struct fah_callees *c, const struct fah_data_words *data,
		       const uint64_t w[FAH_PY_TABLE_WORDS])
{
	uint64_t start, wrapper;

	if (fah_py_is_method_flags(w[2]) && to_function(c, w[1], &start) &&
	    may_be_text(c, data, w[0]) && (!w[3] || may_be_text(c, data, w[3])))
		note(c, start, FAH_PY_ROLE_C);
	if (fah_py_is_slot_offset(w[1]) && to_function(c, w[2], &start) &&
	    to_function(c, w[3], &wrapper) && may_be_text(c, data, w[0]))
		note(c, start, FAH_PY_ROLE_PASSES);
}

static void take_tables(struct fah_callees *c, const struct fah_data_words *data)
{
	for (size_t i = 0; i < data->n; i++)
		for (size_t k = 0; k + FAH_PY_TABLE_WORDS <= data->parts[i].n; k++)
			take_table(c, data, data->parts[i].words + k);
}

struct leads {
	struct fah_callees *c;
	enum fah_lead_kind kind;
	enum fah_py_role role;
};

static void take_lead(void *arg, const struct fah_code_lead *lead)
{
	const struct leads *l = arg;
	uint64_t start;

	if (lead->kind == l->kind && to_function(l->c, lead->target, &start))
		note(l->c, start, l->role);
}

/* The code of the function at start. */
static void look_through(struct fah_callees *c, uint64_t start, uint64_t end,
			 void (*found)(void *arg, const struct fah_code_lead *lead), void *arg)
{
	_cleanup_(fah_freep) uint8_t *code = NULL;
	uint64_t at = c->elf->base + start;

	if (end - start <= FUNCTION_MAX && fah_elf_read_at(c->elf, at, end - start, &code) == 0)
		fah_code_leads(code, end - start, at, found, arg);
}

/* What the function of that name leads to in this way. */
static void take_leads(struct fah_callees *c, const char *symbol, enum fah_lead_kind kind,
		       enum fah_py_role role)
{
	struct leads leads = {c, kind, role};
	uint64_t start, end;

	if (fah_names_range(c->names, symbol, &start, &end))
		look_through(c, start, end, take_lead, &leads);
}

struct fah_callees *fah_callees_new(struct fah_elf *elf, struct fah_names *names)
{
	_cleanup_(fah_data_words_release) struct fah_data_words data = {0};
	struct fah_callees *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->elf = elf;
	c->names = names;
	if (fah_data_words_read(elf, &data) == 0) {
		take_known_slots(c, &data);
		take_tables(c, &data);
	}
	take_leads(c, FAH_PY_MAKES_METHODS, FAH_LEAD_ADDRESS, FAH_PY_ROLE_PASSES);
	take_leads(c, FAH_PY_CALLS_PYTHON, FAH_LEAD_JUMP, FAH_PY_ROLE_PYTHON);
	return c;
}

void fah_callees_free(struct fah_callees *c)
{
	if (!c)
		return;
	fah_map_release(&c->roles);
	fah_map_release(&c->steps);
	free(c);
}

static enum fah_callee_step by_pointer(const struct fah_callees *c, uint64_t callee)
{
	switch (role_of(c, callee)) {
	case FAH_PY_ROLE_PASSES:
		return FAH_CALLEE_PASSES;
	case FAH_PY_ROLE_PYTHON:
		return FAH_CALLEE_PYTHON;
	case FAH_PY_ROLE_FREES:
		return FAH_CALLEE_FREES;
	case FAH_PY_ROLE_C:
		return FAH_CALLEE_C;
	default:
		return FAH_CALLEE_POINTER;
	}
}

/* A stub's function is the one of its name. */
static bool is_same(const struct fah_callees *c, uint64_t target, uint64_t callee)
{
	const char *one = fah_names_symbol(c->names, target),
		   *other = fah_names_symbol(c->names, callee);
	size_t len = one ? strcspn(one, "@") : 0;

	if (fah_names_start(c->names, target) == fah_names_start(c->names, callee))
		return true;
	return other && len && strcspn(other, "@") == len && !memcmp(one, other, len);
}

struct ends {
	struct fah_callees *c;
	uint64_t callee; /* where it begins */
	bool pointer, own;
};

static void take_end(void *arg, const struct fah_code_lead *lead)
{
	struct ends *e = arg;
	uint64_t start;

	if (lead->kind == FAH_LEAD_POINTER || lead->kind == FAH_LEAD_MEMBER) {
		e->pointer = true;
		e->own |= lead->kind == FAH_LEAD_MEMBER && fah_py_slot_is_own(lead->distance);
	} else if (lead->kind == FAH_LEAD_JUMP && to_function(e->c, lead->target, &start)) {
		e->own |= start == e->callee || role_of(e->c, start) == FAH_PY_ROLE_PYTHON ||
			  role_of(e->c, start) == FAH_PY_ROLE_FREES;
	}
}

/* A function without a name was called, and another one runs in its place: can it only have been
 * jumped to through a pointer, and not to free something? */
static bool passed_on(struct fah_callees *c, uint64_t target, uint64_t callee)
{
	struct ends ends = {c, fah_names_start(c->names, callee), false, false};
	uint64_t end = target;

	if (target == ends.callee)
		return false;
	while (end - target < FUNCTION_MAX && fah_names_start(c->names, end) == target)
		end++;
	look_through(c, target, end, take_end, &ends);
	return ends.pointer && !ends.own;
}

static enum fah_callee_step by_name(struct fah_callees *c, uint64_t target, uint64_t callee)
{
	switch (role_of(c, target)) {
	case FAH_PY_ROLE_PASSES:
		/* else it has gone on to what it was given */
		return is_same(c, target, callee) ? FAH_CALLEE_PASSES : by_pointer(c, callee);
	case FAH_PY_ROLE_PYTHON:
	case FAH_PY_ROLE_OTHER:
		return FAH_CALLEE_PYTHON;
	case FAH_PY_ROLE_FREES:
		return FAH_CALLEE_FREES;
	case FAH_PY_ROLE_C:
		return FAH_CALLEE_C;
	default:
		return passed_on(c, target, callee) ? by_pointer(c, callee) : FAH_CALLEE_HELPER;
	}
}

static enum fah_callee_step work_out(struct fah_callees *c, uint64_t caller, uint64_t callee)
{
	_cleanup_(fah_freep) uint8_t *before = NULL;
	uint64_t end = caller + 1;
	struct fah_call_site site;

	if (end < FAH_CALL_SITE_LEN ||
	    fah_elf_read_at(c->elf, c->elf->base + end - FAH_CALL_SITE_LEN, FAH_CALL_SITE_LEN,
			    &before) < 0)
		return FAH_CALLEE_HELPER;
	fah_call_site_read(before, end, is_function, c, &site);
	if (site.kind == FAH_CALL_NAMED)
		return by_name(c, site.target, callee);
	if (site.kind == FAH_CALL_MEMBER && fah_py_slot_is_own(site.distance))
		return fah_py_slot_frees(site.distance) ? FAH_CALLEE_FREES : FAH_CALLEE_PYTHON;
	return site.kind == FAH_CALL_UNKNOWN ? FAH_CALLEE_HELPER : by_pointer(c, callee);
}

enum fah_callee_step fah_callees_step(struct fah_callees *c, uint64_t caller, uint64_t callee)
{
	struct fah_key key = {caller, fah_names_start(c->names, callee)};
	uint32_t *known = fah_map_put(&c->steps, key, NULL);

	if (!known)
		return FAH_CALLEE_HELPER;
	if (!*known)
		*known = work_out(c, caller, callee);
	return (enum fah_callee_step) * known;
}

enum fah_callee_step fah_callees_step_of_jit(struct fah_callees *c, uint64_t callee)
{
	return by_name(c, fah_names_start(c->names, callee), callee);
}
