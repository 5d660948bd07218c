/*
 * table.c - checks a table once, so that look-ups in a handler need no bounds. Runs in the target
 * (outside of handlers) and in the tool; no allocation, no system call.
 */
#include "native/table.h"

#include "core/err.h"
#include "native/regs.h"

#include <stdbool.h>
#include <string.h>

uint64_t fah_table_sum(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint64_t sum = 0x9e3779b97f4a7c15ull, word;

	for (size_t i = 0; i + 8 <= len; i += 8) {
		memcpy(&word, p + i, 8);
		sum = (sum ^ word) * 0xff51afd7ed558ccdull;
		sum ^= sum >> 29;
	}
	return sum;
}

static bool rule_is_sound(const struct fah_rule *rule)
{
	return rule->cfa < FAH_CFA_KINDS && rule->fp < FAH_FP_KINDS && rule->reg < FAH_REGS &&
	       rule->fp_reg < FAH_REGS && rule->flags <= FAH_RULE_EXACT;
}

static bool rows_are_sound(const struct fah_table *t)
{
	uint32_t bucket = 0, row;

	for (row = 0; row < t->n_rows; row++) {
		if (row && t->rows[row].pc <= t->rows[row - 1].pc)
			return false;
		if (t->rows[row].rule >= t->n_rules)
			return false;
		/* every bucket up to this row's begins at the first row that is not before it */
		for (; bucket <= t->n_buckets && (uint64_t)bucket << t->shift <= t->rows[row].pc;
		     bucket++)
			if (t->index[bucket] != row)
				return false;
	}
	for (; bucket <= t->n_buckets; bucket++)
		if (t->index[bucket] != t->n_rows)
			return false;
	return !t->n_rows || t->rows[t->n_rows - 1].rule == 0;
}

int fah_table_attach(const void *bytes, size_t len, struct fah_table *ret)
{
	const struct fah_table_head *head = bytes;
	const uint8_t *p = (const uint8_t *)bytes + sizeof(*head);
	struct fah_table t;
	uint64_t body;

	if (len < sizeof(*head) || memcmp(head->magic, FAH_TABLE_MAGIC, sizeof(head->magic)) != 0)
		return FAH_ERR_FORMAT;
	if (head->version != FAH_TABLE_VERSION)
		return FAH_ERR_VERSION;
	body = (uint64_t)head->n_rules * sizeof(struct fah_rule) +
	       ((uint64_t)head->n_buckets + 1) * 4 +
	       (uint64_t)head->n_rows * sizeof(struct fah_row);
	if (!head->n_rules || head->n_rules > FAH_TABLE_RULES_MAX || head->shift > 31 ||
	    head->key_len > FAH_TABLE_KEY_MAX || ((body + 7) & ~7ull) != len - sizeof(*head))
		return FAH_ERR_DAMAGED;

	t.n_rules = head->n_rules;
	t.n_buckets = head->n_buckets;
	t.n_rows = head->n_rows;
	t.shift = head->shift;
	t.rules = (const void *)p;
	t.index = (const void *)(p + t.n_rules * sizeof(struct fah_rule));
	t.rows = (const void *)(t.index + t.n_buckets + 1);
	if (t.rules[0].cfa != FAH_CFA_NONE)
		return FAH_ERR_DAMAGED;
	for (uint32_t i = 0; i < t.n_rules; i++)
		if (!rule_is_sound(&t.rules[i]))
			return FAH_ERR_DAMAGED;
	*ret = t;
	return 0;
}

int fah_table_open(const void *bytes, size_t len, struct fah_table *ret)
{
	const struct fah_table_head *head = bytes;
	struct fah_table t;
	int err = fah_table_attach(bytes, len, &t);

	if (err < 0)
		return err;
	if (fah_table_sum(head + 1, len - sizeof(*head)) != head->sum || !rows_are_sound(&t))
		return FAH_ERR_DAMAGED;
	*ret = t;
	return 0;
}
