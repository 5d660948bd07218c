/*
 * table_build.c - see table_build.h: .eh_frame found and read, each function's rows in order, gaps
 * as rows without rule, equal neighbours made one, different rules counted once.
 */
#include "native/table_build.h"

#include "base/map.h"
#include "core/err.h"
#include "native/code.h"
#include "native/eh_return.h"
#include "native/ehframe.h"
#include "native/regs.h"
#include "native/symbols.h"

#include <string.h>

#define ROWS_A_BUCKET 8
#define MIN_SHIFT 6
#define MIN_GAP 64	    /* less is padding, or what starts and ends a program */
#define MIN_GAPS (4u << 10) /* less in a whole module is not worth reading its symbols */

struct rows {
	struct fah_row *rows;
	uint32_t n, room;
	uint64_t base, limit; /* rows at or behind the limit belong to the next function */
	struct fah_rule *rules;
	uint32_t n_rules;
	struct fah_map known;
	bool failed;
};

static void rows_release(struct rows *rows)
{
	free(rows->rows);
	free(rows->rules);
	fah_map_release(&rows->known);
}

/* The rule's number; 0, which is "none", where there are more than a table can hold. */
static uint32_t rule_number(struct rows *rows, const struct fah_rule *rule)
{
	struct fah_key key;
	uint32_t *number;
	bool is_new;

	memcpy(&key, rule, sizeof(key));
	number = fah_map_put(&rows->known, key, &is_new);
	if (!number) {
		rows->failed = true;
		return 0;
	}
	if (!is_new)
		return *number;
	if (rows->n_rules == FAH_TABLE_RULES_MAX)
		return 0;
	if ((rows->n_rules & (rows->n_rules - 1)) == 0) {
		struct fah_rule *rules = realloc(
			rows->rules, (rows->n_rules ? rows->n_rules * 2u : 1u) * sizeof(*rules));

		if (!rules) {
			rows->failed = true;
			return 0;
		}
		rows->rules = rules;
	}
	rows->rules[rows->n_rules] = *rule;
	*number = rows->n_rules;
	return rows->n_rules++;
}

static bool rows_grow(struct rows *rows)
{
	uint32_t room = rows->room ? rows->room * 2 : 1024;
	struct fah_row *more = room > rows->room ? realloc(rows->rows, room * sizeof(*more)) : NULL;

	if (!more) {
		rows->failed = true;
		return false;
	}
	rows->rows = more;
	rows->room = room;
	return true;
}

/* From pc on this rule holds. pcs never fall. */
static bool rows_add(void *ctx, uint64_t pc, const struct fah_rule *rule)
{
	struct rows *rows = ctx;
	uint32_t number, at;

	if (pc >= rows->limit)
		return true;
	at = (uint32_t)(pc - rows->base);
	number = rule_number(rows, rule);
	if (rows->n && rows->rows[rows->n - 1].pc == at)
		rows->n--;
	if (rows->n ? rows->rows[rows->n - 1].rule == number : number == 0)
		return !rows->failed;
	if (rows->n == rows->room && !rows_grow(rows))
		return false;
	rows->rows[rows->n++] = (struct fah_row){at, (uint16_t)number};
	return !rows->failed;
}

static const struct fah_rule none = {.cfa = FAH_CFA_NONE};

/* From `from` to `to` no entry says anything: what symbols call functions there is read. */
static void add_gap(struct rows *rows, const struct fah_elf *elf, const struct fah_symbols *syms,
		    uint64_t from, uint64_t to, struct fah_build_stats *stats)
{
	size_t lo = 0, hi = syms->n;

	rows_add(rows, from, &none);
	if (to - from < MIN_GAP)
		return;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (rows->base + syms->symbols[mid].start < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < syms->n && rows->base + syms->symbols[lo].start < to && !rows->failed; lo++) {
		uint64_t start = rows->base + syms->symbols[lo].start,
			 len = syms->symbols[lo].end - syms->symbols[lo].start;
		_cleanup_(fah_freep) uint8_t *code = NULL;

		if (start < from || len > to - start || len > FAH_CODE_MAX ||
		    fah_elf_read_at(elf, start, len, &code) < 0 ||
		    fah_code_rows(code, len, start, rows_add, rows) < 0)
			continue;
		stats->read++;
		from = start + len;
		rows_add(rows, from, &none);
	}
}

/*
 * The rows from `before` on are those of the function at start: where it writes over what it has
 * saved of its caller, they become rows without a rule, up to where its usual rule holds again.
 */
static void leave_out_unsure(struct rows *rows, uint32_t before, const struct fah_elf *elf,
			     uint64_t start)
{
	_cleanup_(fah_freep) uint8_t *code = NULL;
	_cleanup_(fah_freep) struct fah_row *copy = NULL;
	uint32_t n = rows->n > before ? rows->n - before : 0, at = 0,
		 sure = (uint32_t)(start - rows->base);
	bool out = false;

	while (at < n && !fah_eh_return_is(&rows->rules[rows->rows[before + at].rule]))
		at++;
	if (at == n)
		return;
	copy = malloc(n * sizeof(*copy));
	if (!copy) {
		rows->failed = true;
		return;
	}
	memcpy(copy, rows->rows + before, n * sizeof(*copy));
	if (fah_elf_read_at(elf, start, copy[at].pc - sure, &code) == 0)
		sure += (uint32_t)fah_eh_return_sure(code, copy[at].pc - sure);
	rows->n = before;
	for (uint32_t i = 0; i < n; i++) {
		struct fah_rule rule = rows->rules[copy[i].rule];

		if (!out && copy[i].pc >= sure) {
			rows_add(rows, rows->base + sure, &none);
			out = true;
		}
		if (i > at && rule.cfa == FAH_CFA_REG && rule.reg == FAH_REG_FP) {
			out = false;
			sure = UINT32_MAX;
		}
		if (!out)
			rows_add(rows, rows->base + copy[i].pc, &rule);
	}
}

static int add_functions(struct rows *rows, const struct fah_elf *elf, const struct fah_ehframe *eh,
			 const struct fah_symbols *syms, struct fah_build_stats *stats)
{
	uint64_t end = elf->end, most = rows->base + UINT32_MAX, from = rows->base;

	if (end > most)
		end = most;
	for (size_t i = 0; i < eh->n_fdes && !rows->failed; i++) {
		const struct fah_fde *fde = &eh->fdes[i];
		uint64_t next = i + 1 < eh->n_fdes ? eh->fdes[i + 1].start : UINT64_MAX;
		uint32_t before;

		if (fde->start < rows->base || fde->start >= end || fde->end > end) {
			stats->bad++;
			continue;
		}
		stats->functions++;
		if (from < fde->start)
			add_gap(rows, elf, syms, from, fde->start, stats);
		before = rows->n;
		from = fde->end < next ? fde->end : next;
		rows->limit = from;
		if (fah_cfi_run(&eh->cies[fde->cie], fde->program, fde->start, fde->end, rows_add,
				rows) < 0) {
			stats->bad++;
			rows->n = before;
			rows_add(rows, fde->start, &none);
		} else {
			leave_out_unsure(rows, before, elf, fde->start);
		}
		rows->limit = UINT64_MAX;
	}
	if (from < end)
		add_gap(rows, elf, syms, from, end, stats);
	rows_add(rows, end, &none);
	return rows->failed ? FAH_ERR_NOMEM : 0;
}

/* Whether there is enough code between functions that it may be functions. */
static bool has_gaps(const struct fah_elf *elf, const struct fah_ehframe *eh)
{
	uint64_t gaps = 0;

	for (uint32_t i = 0; i < elf->n_segments; i++)
		gaps += elf->segments[i].executable ? elf->segments[i].memsz : 0;
	for (size_t i = 0; i < eh->n_fdes; i++) {
		uint64_t to = i + 1 < eh->n_fdes ? eh->fdes[i + 1].start : eh->fdes[i].end;

		if (to - eh->fdes[i].end >= MIN_GAP)
			to = eh->fdes[i].end;
		gaps -= to - eh->fdes[i].start < gaps ? to - eh->fdes[i].start : gaps;
	}
	return gaps >= MIN_GAPS;
}

/* The bytes of .eh_frame, by .eh_frame_hdr, which every loadable file has, or else by name. A file
 * without either has *ret NULL. */
static int read_eh_frame(struct fah_elf *elf, uint8_t **ret, uint64_t *ret_len, uint64_t *ret_vaddr,
			 size_t *ret_fdes)
{
	_cleanup_(fah_freep) uint8_t *hdr = NULL;
	const struct fah_elf_section *section;
	uint64_t hdr_len = elf->eh_frame_hdr_len < 64 ? elf->eh_frame_hdr_len : 64;
	bool found = false;
	int err;

	*ret_fdes = SIZE_MAX;
	if (elf->eh_frame_hdr && fah_elf_read_at(elf, elf->eh_frame_hdr, hdr_len, &hdr) == 0)
		found = fah_ehframe_hdr(hdr, hdr_len, elf->eh_frame_hdr, ret_vaddr, ret_fdes) == 0;
	if (found)
		*ret_len = fah_elf_room_at(elf, *ret_vaddr);
	err = fah_elf_sections(elf);
	if (err == FAH_ERR_NOMEM)
		return err;
	section = fah_elf_section(elf, ".eh_frame");
	if (section && (!found || section->vaddr == *ret_vaddr)) {
		*ret_vaddr = section->vaddr;
		*ret_len = section->len;
		*ret_fdes = SIZE_MAX;
		found = true;
	}
	if (!found || !*ret_len)
		return 0;
	return fah_elf_read_at(elf, *ret_vaddr, *ret_len, ret);
}

static int assemble(const struct rows *rows, const void *key, size_t key_len, void **ret,
		    size_t *ret_len)
{
	struct fah_table_head head = {.magic = FAH_TABLE_MAGIC,
				      .version = FAH_TABLE_VERSION,
				      .n_rules = rows->n_rules,
				      .n_rows = rows->n,
				      .shift = MIN_SHIFT,
				      .key_len = (uint32_t)key_len};
	uint32_t last = rows->n ? rows->rows[rows->n - 1].pc : 0, row = 0, *index;
	size_t rules_len = rows->n_rules * sizeof(struct fah_rule), body;
	uint8_t *bytes, *p;

	/* few enough rows in a bucket for one or two cache lines, and no more buckets than that
	 * takes */
	while (head.shift < 31 && (uint64_t)(last >> head.shift) * ROWS_A_BUCKET > rows->n)
		head.shift++;
	head.n_buckets = rows->n ? (last >> head.shift) + 1 : 0;
	body = (rules_len + ((size_t)head.n_buckets + 1) * 4 + rows->n * sizeof(struct fah_row) +
		7) &
	       ~(size_t)7;
	bytes = calloc(1, sizeof(head) + body);
	if (!bytes)
		return FAH_ERR_NOMEM;
	p = bytes + sizeof(head);
	memcpy(p, rows->rules, rules_len);
	index = (uint32_t *)(void *)(p + rules_len);
	for (uint32_t bucket = 0; bucket <= head.n_buckets; bucket++) {
		while (row < rows->n && rows->rows[row].pc < (uint64_t)bucket << head.shift)
			row++;
		index[bucket] = row;
	}
	if (rows->n)
		memcpy(index + head.n_buckets + 1, rows->rows, rows->n * sizeof(struct fah_row));
	memcpy(head.key, key, key_len);
	head.sum = fah_table_sum(p, body);
	memcpy(bytes, &head, sizeof(head));
	*ret = bytes;
	*ret_len = sizeof(head) + body;
	return 0;
}

static void count(struct fah_build_stats *stats, const struct fah_elf *elf, const struct rows *rows)
{
	for (uint32_t i = 0; i < elf->n_segments; i++)
		stats->code += elf->segments[i].executable ? elf->segments[i].memsz : 0;
	for (uint32_t i = 0; i + 1 < rows->n; i++)
		stats->covered += rows->rows[i].rule ? rows->rows[i + 1].pc - rows->rows[i].pc : 0;
	stats->rows = rows->n;
	stats->rules = rows->n_rules;
}

int fah_table_build(struct fah_elf *elf, const void *key, size_t key_len, void **ret,
		    size_t *ret_len, struct fah_build_stats *ret_stats)
{
	_cleanup_(fah_freep) uint8_t *bytes = NULL;
	_cleanup_(fah_ehframe_release) struct fah_ehframe eh = {0};
	_cleanup_(fah_symbols_release) struct fah_symbols syms = {0};
	_cleanup_(rows_release) struct rows rows = {
		.base = elf->base, .limit = UINT64_MAX, .known = FAH_MAP_INIT};
	struct fah_build_stats stats = {0};
	uint64_t len = 0, vaddr = 0;
	size_t max_fdes;
	int err;

	if (key_len > FAH_TABLE_KEY_MAX)
		return FAH_ERR_USAGE;
	err = read_eh_frame(elf, &bytes, &len, &vaddr, &max_fdes);
	if (err == 0 && bytes)
		err = fah_ehframe_read(&eh, bytes, len, vaddr, max_fdes);
	if (err < 0)
		return err;
	stats.bad = (uint32_t)eh.n_bad;
	if (rule_number(&rows, &none) != 0 || rows.failed)
		return FAH_ERR_NOMEM;
	if (has_gaps(elf, &eh) && fah_symbols_read(elf, &syms) == FAH_ERR_NOMEM)
		return FAH_ERR_NOMEM;
	err = add_functions(&rows, elf, &eh, &syms, &stats);
	if (err < 0)
		return err;
	count(&stats, elf, &rows);
	err = assemble(&rows, key, key_len, ret, ret_len);
	if (err == 0 && ret_stats)
		*ret_stats = stats;
	return err;
}

int fah_table_build_made(const struct fah_ehframe *eh, const struct fah_symbols *syms,
			 const uint8_t *code, uint64_t start, uint64_t end, const void *key,
			 size_t key_len, void **ret, size_t *ret_len)
{
	_cleanup_(rows_release) struct rows rows = {
		.base = start, .limit = UINT64_MAX, .known = FAH_MAP_INIT};
	struct fah_elf_segment all = {start, end - start, 0, end - start, true};
	const struct fah_elf elf = {.fd = -1,
				    .mem = code,
				    .len = code ? end - start : 0,
				    .base = start,
				    .end = end,
				    .segments = &all,
				    .n_segments = code ? 1 : 0};
	struct fah_build_stats stats = {0};
	int err;

	if (key_len > FAH_TABLE_KEY_MAX || end <= start)
		return FAH_ERR_USAGE;
	if (rule_number(&rows, &none) != 0 || rows.failed)
		return FAH_ERR_NOMEM;
	err = add_functions(&rows, &elf, eh, syms, &stats);
	return err < 0 ? err : assemble(&rows, key, key_len, ret, ret_len);
}

int fah_function_starts(struct fah_elf *elf, uint64_t **ret, size_t *ret_n)
{
	_cleanup_(fah_freep) uint8_t *bytes = NULL;
	_cleanup_(fah_ehframe_release) struct fah_ehframe eh = {0};
	uint64_t len = 0, vaddr = 0;
	size_t max_fdes;
	int err = read_eh_frame(elf, &bytes, &len, &vaddr, &max_fdes);

	*ret = NULL;
	*ret_n = 0;
	if (err == 0 && bytes)
		err = fah_ehframe_read(&eh, bytes, len, vaddr, max_fdes);
	if (err < 0 || !eh.n_fdes)
		return err;
	*ret = calloc(eh.n_fdes, sizeof(**ret));
	if (!*ret)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < eh.n_fdes; i++)
		if (eh.fdes[i].start >= elf->base)
			(*ret)[(*ret_n)++] = eh.fdes[i].start - elf->base;
	return 0;
}

uint64_t fah_function_start(const uint64_t *starts, size_t n, uint64_t at)
{
	size_t lo = 0, hi = n;

	while (lo < hi) { /* the first that begins behind it */
		size_t mid = lo + (hi - lo) / 2;

		if (starts[mid] <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? starts[lo - 1] : at;
}
