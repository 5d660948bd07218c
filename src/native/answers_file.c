/*
 * answers_file.c - see answers.h: the file's bytes.
 *
 *   "FAHnames", version (4 bytes), CRC-32 of all behind it (4 bytes); then numbers as varints:
 *   the key; texts; answers: 0 for a function (its start, its name + 1, 0: unnamed), else how many
 *   frames (name, file + 1, line); addresses (their distance from the one before, answer); symbols
 *   asked for (name, whether it is there). Texts have their length in front and are numbered.
 */
#include "native/answers.h"

#include "base/crc32.h"
#include "base/file.h"
#include "core/err.h"
#include "core/varint.h"
#include "native/debug_info.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC "FAHnames"
#define VERSION 2u
#define HEAD 16u
#define MAX_FILE ((size_t)8 << 20)

static void add_number(struct fah_strbuf *out, uint64_t v)
{
	uint8_t bytes[FAH_VARINT_MAX];

	fah_strbuf_add(out, bytes, (size_t)(fah_put_varint(bytes, v) - bytes));
}

static void add_text(struct fah_strbuf *out, const char *text, size_t len)
{
	add_number(out, len);
	fah_strbuf_add(out, text, len);
}

/* The number of a text; texts are added to `out` in the order of their numbers. */
static uint64_t text_number(struct fah_strmap *numbers, struct fah_strbuf *out, const char *text)
{
	bool is_new = false;
	size_t len = strlen(text);
	uint32_t *number = fah_strmap_put(numbers, text, len, &is_new, NULL);

	if (!number) {
		out->failed = true;
		return 0;
	}
	if (is_new) {
		*number = (uint32_t)numbers->n - 1;
		add_text(out, text, len);
	}
	return *number;
}

struct saving {
	struct fah_strmap numbers;
	struct fah_strbuf texts, answers;
	uint32_t *order; /* by index: its number + 1 in the file; 0: left out */
	uint64_t n_answers;
};

static void save_answer(struct saving *s, const struct fah_answer *answer)
{
	struct fah_strbuf *out = &s->answers;

	if (answer->is_function) {
		add_number(out, 0);
		add_number(out, answer->start);
		add_number(out, answer->is_unnamed ? 0
						   : text_number(&s->numbers, &s->texts,
								 answer->frames[0].function) +
							     1);
		return;
	}
	add_number(out, answer->n);
	for (uint32_t i = 0; i < answer->n; i++) {
		const struct fah_name_frame *f = &answer->frames[i];

		add_number(out, text_number(&s->numbers, &s->texts, f->function));
		add_number(out, f->file ? text_number(&s->numbers, &s->texts, f->file) + 1 : 0);
		add_number(out, f->line);
	}
}

struct address {
	uint64_t offset, answer;
};

static int by_offset(const void *a, const void *b)
{
	const struct address *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void save_addresses(const struct saving *s, const struct fah_answers *a,
			   struct fah_strbuf *out)
{
	_cleanup_(fah_freep) struct address *list = calloc(a->known.n + 1, sizeof(*list));
	uint64_t before = 0;
	size_t n = 0;

	if (!list) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; a->known.n && i <= a->known.mask; i++) {
		const struct fah_map_slot *slot = &a->known.slots[i];

		/* functions have their key by themselves */
		if (slot->used && slot->value && !slot->key.b && s->order[slot->value - 1])
			list[n++] = (struct address){slot->key.a, s->order[slot->value - 1] - 1};
	}
	qsort(list, n, sizeof(*list), by_offset);
	add_number(out, n);
	for (size_t i = 0; i < n; i++) {
		add_number(out, list[i].offset - before);
		add_number(out, list[i].answer);
		before = list[i].offset;
	}
}

static void save_symbols(const struct fah_answers *a, struct fah_strbuf *out)
{
	add_number(out, a->symbols.n);
	for (size_t i = 0; a->symbols.n && i <= a->symbols.mask; i++)
		if (a->symbols.slots[i].key) {
			add_text(out, a->symbols.slots[i].key, a->symbols.slots[i].len);
			add_number(out, a->symbols.slots[i].value);
		}
}

static void saving_release(struct saving *s)
{
	fah_strmap_release(&s->numbers);
	fah_strbuf_release(&s->texts);
	fah_strbuf_release(&s->answers);
	free(s->order);
}

int fah_answers_save(struct fah_answers *a, const char *path, const char *key)
{
	_cleanup_(saving_release) struct saving s = {.order = calloc(a->n + 1, sizeof(*s.order))};
	_cleanup_(fah_strbuf_release) struct fah_strbuf out = FAH_STRBUF_INIT;
	uint32_t word = VERSION;
	int err;

	if (!s.order)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < a->n; i++)
		if (!a->list[i].is_defined) {
			save_answer(&s, &a->list[i]);
			s.order[i] = (uint32_t)++s.n_answers;
		}
	fah_strbuf_add(&out, MAGIC, sizeof(MAGIC) - 1);
	fah_strbuf_add(&out, &word, sizeof(word));
	fah_strbuf_add(&out, &word, sizeof(word)); /* the sum, when all is there */
	add_text(&out, key, strlen(key));
	add_number(&out, s.numbers.n);
	fah_strbuf_add(&out, fah_strbuf_str(&s.texts), s.texts.len);
	add_number(&out, s.n_answers);
	fah_strbuf_add(&out, fah_strbuf_str(&s.answers), s.answers.len);
	save_addresses(&s, a, &out);
	save_symbols(a, &out);
	if (out.failed || s.texts.failed || s.answers.failed)
		return FAH_ERR_NOMEM;
	if (out.len > MAX_FILE)
		return FAH_ERR_RANGE;
	word = fah_crc32(0, out.p + HEAD, out.len - HEAD);
	memcpy(out.p + HEAD - sizeof(word), &word, sizeof(word));
	err = fah_file_replace(path, out.p, out.len);
	a->changed &= err < 0;
	return err;
}

static const char *load_text(struct fah_answers *a, struct fah_cursor *c)
{
	uint64_t len = fah_get_varint(c);
	const uint8_t *text = fah_get_bytes(c, len);
	const char *kept = NULL;

	if (!text || !fah_strmap_put(&a->texts, (const char *)text, len, NULL, &kept))
		return NULL;
	return kept;
}

/* A number below limit; 0 and c->bad where it is not. */
static uint64_t load_below(struct fah_cursor *c, uint64_t limit)
{
	uint64_t v = fah_get_varint(c);

	if (v < limit)
		return v;
	c->bad = true;
	return 0;
}

static bool load_answer(struct fah_answers *a, struct fah_cursor *c, const char *const *texts,
			uint64_t n_texts)
{
	uint64_t n = load_below(c, FAH_INLINE_MAX + 1), number = 0;
	struct fah_answer answer = {.n = (uint32_t)n};

	if (!n) {
		answer.is_function = true;
		answer.start = fah_get_varint(c);
		number = load_below(c, n_texts + 1);
		answer.is_unnamed = !number;
		answer.n = number != 0;
	}
	answer.frames = fah_arena_array(&a->arena, answer.n, sizeof(*answer.frames));
	if (!answer.frames || c->bad)
		return false;
	if (answer.is_function && answer.n)
		answer.frames[0].function = texts[number - 1];
	for (uint32_t i = 0; i < n; i++) {
		number = load_below(c, n_texts);
		if (c->bad)
			return false;
		answer.frames[i].function = texts[number];
		number = load_below(c, n_texts + 1);
		answer.frames[i].file = number ? texts[number - 1] : NULL;
		answer.frames[i].line = (uint32_t)load_below(c, UINT32_MAX);
	}
	/* those that are not of functions are reached by their addresses alone */
	return fah_answers_add(a,
			       answer.is_function ? (struct fah_key){answer.start, 1}
						  : (struct fah_key){a->n, 2},
			       &answer);
}

/* One byte at least each: what claims more than there are bytes is damaged. */
static uint64_t load_count(struct fah_cursor *c)
{
	return load_below(c, (uint64_t)(c->end - c->p) + 1);
}

static bool load_all(struct fah_answers *a, struct fah_cursor *c, const char *key)
{
	_cleanup_(fah_freep) const char **texts = NULL;
	uint64_t len = fah_get_varint(c), n_texts, n, offset = 0;
	const uint8_t *of = fah_get_bytes(c, len);

	if (!of || len != strlen(key) || memcmp(of, key, len) != 0)
		return false;
	n_texts = load_count(c);
	texts = calloc(n_texts + 1, sizeof(*texts));
	for (uint64_t i = 0; texts && i < n_texts; i++) {
		texts[i] = load_text(a, c);
		if (!texts[i] || !*texts[i])
			return false;
	}
	for (n = load_count(c); n && texts; n--)
		if (!load_answer(a, c, texts, n_texts))
			return false;
	for (n = load_count(c); n && texts; n--) {
		uint64_t index;

		offset += fah_get_varint(c);
		index = load_below(c, a->n);
		if (c->bad || !fah_answers_put(a, (struct fah_key){offset, 0}, &a->list[index]))
			return false;
	}
	for (n = load_count(c); n && texts; n--) {
		uint64_t name_len = fah_get_varint(c);
		const uint8_t *name = fah_get_bytes(c, name_len);
		uint32_t *is_there =
			name ? fah_strmap_put(&a->symbols, (const char *)name, name_len, NULL, NULL)
			     : NULL;

		if (!is_there)
			return false;
		*is_there = (uint32_t)load_below(c, 3);
	}
	return texts && !c->bad && c->p == c->end;
}

int fah_answers_load(struct fah_answers *a, const char *path, const char *key)
{
	_cleanup_(fah_freep) char *bytes = NULL;
	struct fah_cursor c;
	uint32_t version, sum;
	size_t len;
	int err = fah_file_read_regular(path, MAX_FILE, &bytes, &len);

	if (err < 0)
		return err;
	if (len < HEAD || memcmp(bytes, MAGIC, sizeof(MAGIC) - 1) != 0)
		return FAH_ERR_FORMAT;
	memcpy(&version, bytes + HEAD - 8, sizeof(version));
	memcpy(&sum, bytes + HEAD - 4, sizeof(sum));
	if (version != VERSION)
		return FAH_ERR_VERSION;
	c = (struct fah_cursor){(uint8_t *)bytes + HEAD, (uint8_t *)bytes + len, false};
	if (sum != fah_crc32(0, bytes + HEAD, len - HEAD) || !load_all(a, &c, key)) {
		fah_answers_release(a);
		return FAH_ERR_DAMAGED;
	}
	a->changed = false;
	return 0;
}

struct kept_file {
	char *name;
	uint64_t used_s, len;
};

static int by_use(const void *a, const void *b)
{
	const struct kept_file *x = a, *y = b;

	return x->used_s < y->used_s ? 1 : x->used_s > y->used_s ? -1 : strcmp(x->name, y->name);
}

static size_t list_files(DIR *dir, struct kept_file **ret)
{
	struct dirent *entry;
	struct stat st;
	size_t n = 0;

	while ((entry = readdir(dir))) {
		struct kept_file *more;

		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		more = reallocarray(*ret, n + 1, sizeof(*more));
		if (!more)
			break;
		*ret = more;
		more[n].name = strdup(entry->d_name);
		if (!more[n].name)
			break;
		more[n].used_s = (uint64_t)(st.st_atime > st.st_mtime ? st.st_atime : st.st_mtime);
		more[n++].len = (uint64_t)st.st_size;
	}
	return n;
}

void fah_answers_trim(const char *path, size_t max_files, uint64_t max_bytes)
{
	_cleanup_(fah_freep) struct kept_file *files = NULL;
	DIR *dir = opendir(path);
	uint64_t bytes = 0;
	size_t n;

	if (!dir)
		return;
	n = list_files(dir, &files);
	if (n)
		qsort(files, n, sizeof(*files), by_use);
	for (size_t i = 0; i < n; i++) {
		bytes += files[i].len;
		if (i >= max_files || bytes > max_bytes)
			(void)unlinkat(dirfd(dir), files[i].name, 0);
		free(files[i].name);
	}
	closedir(dir);
}
