/*
 * table.h - how to get from a frame to its caller, for every pc of one module: the unwind table.
 *
 * Made by the tool (table_build.h), looked up in the target's signal handler (unwind.c). A table is
 * one block of bytes, the same in memory and in a file, native byte order:
 *
 *     struct fah_table_head
 *     struct fah_rule rules[n_rules]      the different rules, a few hundred; rules[0] is "none"
 *     uint32_t index[n_buckets + 1]       index[b]: how many rows begin before b << shift
 *     struct fah_row rows[n_rows]         where each begins, rising, and its rule up to the next
 *     zeroes to a multiple of 8
 *
 * Pcs count from the module's base: its lowest PT_LOAD, rounded down to a page. The last row has
 * rule 0, so nothing holds behind the end.
 */
#ifndef FAH_NATIVE_TABLE_H
#define FAH_NATIVE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define FAH_TABLE_MAGIC "FAHunwnd"
#define FAH_TABLE_VERSION 2
#define FAH_TABLE_KEY_MAX 64
#define FAH_TABLE_RULES_MAX 65536

/* The CFA is the value that sp had before the call; the return address stands right below it. */
enum fah_cfa_kind {
	FAH_CFA_NONE = 0,   /* nothing is known here */
	FAH_CFA_END = 1,    /* the outermost frame */
	FAH_CFA_REG = 2,    /* reg + off */
	FAH_CFA_DEREF = 3,  /* what stands at reg + off, + add: frames that realign the stack */
	FAH_CFA_PLT = 4,    /* reg + off, + 8 where pc % 16 >= add: a stub has pushed or not yet */
	FAH_CFA_SIGNAL = 5, /* returns from a signal handler: all registers are in the frame */
	FAH_CFA_KINDS = 6,
};

/* The caller's rbp. */
enum fah_fp_kind {
	FAH_FP_SAME = 0,
	FAH_FP_AT_CFA = 1, /* at CFA + fp_off */
	FAH_FP_AT_REG = 2, /* at fp_reg + fp_off */
	FAH_FP_LOST = 3,
	FAH_FP_KINDS = 4,
};

/* The caller was interrupted, its pc is not behind a call. */
#define FAH_RULE_EXACT 1

struct fah_rule {
	uint8_t cfa;	     /* enum fah_cfa_kind */
	uint8_t fp : 4;	     /* enum fah_fp_kind */
	uint8_t flags : 4;   /* FAH_RULE_EXACT */
	uint8_t reg, fp_reg; /* below FAH_REGS */
	int32_t off, add;
	int32_t fp_off;
};
_Static_assert(sizeof(struct fah_rule) == 16, "a rule is 16 bytes, in files too");

/* Pc and rule side by side: a look-up in a handler finds the table cold, so each further line of
 * memory counts. */
struct fah_row {
	uint32_t pc;
	uint16_t rule;
} __attribute__((packed));
_Static_assert(sizeof(struct fah_row) == 6, "a row is 6 bytes, in files too");

struct fah_table_head {
	char magic[8];
	uint32_t version;
	uint32_t n_rules, n_buckets, n_rows;
	uint32_t shift;
	uint32_t key_len;
	uint8_t key[FAH_TABLE_KEY_MAX]; /* of which module; what it is, the maker decides */
	uint64_t sum;			/* fah_table_sum of all behind the head */
};
_Static_assert(sizeof(struct fah_table_head) == 104, "no padding, in files too");

/* A table that was checked; the pointers are into its bytes. */
struct fah_table {
	const struct fah_rule *rules;
	const uint32_t *index;
	const struct fah_row *rows;
	uint32_t n_rules, n_buckets, n_rows, shift;
};

/*
 * Checks everything that look-ups rely on, so that they need no bounds: sizes, order, ranges, the
 * checksum. bytes are borrowed for as long as *ret is used, must be aligned to 8, and must not
 * change (a mapped file that somebody shortens would be a SIGBUS: read it into memory).
 * Signal-handler safe. FAH_ERR_FORMAT, FAH_ERR_VERSION, FAH_ERR_DAMAGED; *ret is then untouched.
 */
int fah_table_open(const void *bytes, size_t len, struct fah_table *ret);

/*
 * The same without a look at the rows: for bytes that our own collector has just written, mapped in
 * a target whose pages we don't want to touch without need. Wrong rows give wrong rules, never a
 * load out of bounds.
 */
int fah_table_attach(const void *bytes, size_t len, struct fah_table *ret);

/* len is a multiple of 8. */
uint64_t fah_table_sum(const void *bytes, size_t len);

/* The rule at a pc that counts from the module's base. Never NULL. */
static inline const struct fah_rule *fah_table_find(const struct fah_table *t, uint64_t pc)
{
	uint32_t lo, hi, mid, rule;

	if (pc >> t->shift >= t->n_buckets)
		return &t->rules[0];
	lo = t->index[pc >> t->shift];
	hi = t->index[(pc >> t->shift) + 1];
	if (lo > hi || hi > t->n_rows)
		return &t->rules[0];
	while (lo < hi) { /* the first row that begins behind pc */
		mid = lo + (hi - lo) / 2;
		if (t->rows[mid].pc <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	rule = lo ? t->rows[lo - 1].rule : 0;
	return &t->rules[rule < t->n_rules ? rule : 0];
}

#endif
