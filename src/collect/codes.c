/* codes.c - see codes.h. Bytes come from the target: untrusted. */
#include "collect/codes.h"

#include "base/cleanup.h"
#include "core/segment.h"
#include "core/varint.h"
#include "cpython/cpython.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_CODES (1u << 24)
#define MAX_TABLE (1u << 20)
#define MAX_JOURNAL ((size_t)1 << 30)

struct fah_code {
	uint8_t *table; /* line table, table_len bytes when all parts have come */
	uint32_t table_len, table_have;
	char *names; /* file, name, qualname behind one another */
	uint32_t n_file, n_name, n_qual;
	int32_t first_line;
	uint32_t function; /* the writer's id, 0: not asked for yet */
};

/* The file for reading and appending; -1: none, or something else has that name. */
static int open_journal(const char *path, size_t *ret_len)
{
	/* a pipe would wait, a terminal could become ours, a link could lead anywhere */
	int fd = open(path,
		      O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
		      0600);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
	    st.st_size > (off_t)MAX_JOURNAL) {
		close(fd);
		return -1;
	}
	*ret_len = (size_t)st.st_size;
	return fd;
}

/* The whole records of data; how many bytes they take. */
static size_t load_records(struct fah_codes *c, const uint8_t *data, size_t len)
{
	size_t at = 0;

	while (len - at >= 4) {
		uint32_t word;

		memcpy(&word, data + at, 4);
		if (word >> 8 > len - at - 4)
			break;
		fah_codes_record(c, word & 0xff, data + at + 4, word >> 8);
		at += 4 + (word >> 8);
	}
	return at;
}

static void load_journal(struct fah_codes *c, int fd, size_t len)
{
	_cleanup_(fah_freep) uint8_t *data = malloc(len + 1);
	size_t have = 0;
	ssize_t n;

	if (!data)
		return;
	while (have < len && (n = pread(fd, data + have, len - have, (off_t)have)) > 0)
		have += (size_t)n;
	c->journal_len = load_records(c, data, have);
}

void fah_codes_init(struct fah_codes *c, uint32_t lines_kind, const char *journal_path)
{
	size_t len = 0;
	int fd;

	memset(c, 0, sizeof(*c));
	c->lines_kind = lines_kind;
	c->journal = -1;
	fd = journal_path ? open_journal(journal_path, &len) : -1;
	if (fd < 0)
		return;
	load_journal(c, fd, len);
	/* a record that a kill cut short must not swallow those that follow */
	if (c->journal_len < len && ftruncate(fd, (off_t)c->journal_len) < 0)
		close(fd);
	else
		c->journal = fd;
}

void fah_codes_release(struct fah_codes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->codes[i].table);
		free(c->codes[i].names);
	}
	free(c->codes);
	fah_map_release(&c->lines);
	if (c->journal >= 0)
		close(c->journal);
	memset(c, 0, sizeof(*c));
	c->journal = -1;
}

static struct fah_code *code_at(struct fah_codes *c, uint64_t id)
{
	if (!id || id >= MAX_CODES)
		return NULL;
	if (id >= c->n) {
		size_t n = c->n ? c->n : 256;
		struct fah_code *grown;

		while (n <= id)
			n *= 2;
		grown = realloc(c->codes, n * sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + c->n, 0, (n - c->n) * sizeof(*grown));
		c->codes = grown;
		c->n = n;
	}
	return &c->codes[id];
}

static void define(struct fah_codes *c, struct fah_cursor *cur)
{
	struct fah_code *code = code_at(c, fah_get_varint(cur));
	int64_t first = fah_unzigzag(fah_get_varint(cur));
	uint64_t n[3], table_len;
	const uint8_t *s[3];

	(void)fah_get_varint(cur); /* co_flags */
	for (int i = 0; i < 3; i++) {
		n[i] = fah_get_varint(cur);
		s[i] = fah_get_bytes(cur, n[i]);
	}
	table_len = fah_get_varint(cur);
	if (cur->bad || !code || code->names || table_len > MAX_TABLE)
		return;
	code->names = malloc(n[0] + n[1] + n[2] + 1);
	if (!code->names)
		return;
	memcpy(code->names, s[0], n[0]);
	memcpy(code->names + n[0], s[1], n[1]);
	memcpy(code->names + n[0] + n[1], s[2], n[2]);
	code->n_file = (uint32_t)n[0];
	code->n_name = (uint32_t)n[1];
	code->n_qual = (uint32_t)n[2];
	code->first_line = (int32_t)first;
	code->table = malloc(table_len + 1);
	code->table_len = code->table ? (uint32_t)table_len : 0;
}

static void define_lines(struct fah_codes *c, struct fah_cursor *cur)
{
	struct fah_code *code = code_at(c, fah_get_varint(cur));
	uint64_t at = fah_get_varint(cur), len = fah_get_varint(cur);
	const uint8_t *part = fah_get_bytes(cur, len);

	if (cur->bad || !code || at != code->table_have || len > code->table_len - at)
		return;
	memcpy(code->table + at, part, len);
	code->table_have += (uint32_t)len;
}

static bool write_all(int fd, const uint8_t *data, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = write(fd, data + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static void journal(struct fah_codes *c, uint32_t type, const uint8_t *payload, size_t len)
{
	uint32_t word = (uint32_t)len << 8 | type;
	_cleanup_(fah_freep) uint8_t *buf = c->journal < 0 ? NULL : malloc(len + 4);

	if (!buf)
		return;
	/* in one write where the disk allows: then a kill leaves no half record */
	memcpy(buf, &word, 4);
	memcpy(buf + 4, payload, len);
	if (write_all(c->journal, buf, len + 4)) {
		c->journal_len += len + 4;
		return;
	}
	/* full: recovery will know less, but nothing wrong. The next record may find room again. */
	if (ftruncate(c->journal, (off_t)c->journal_len) < 0) {
		close(c->journal);
		c->journal = -1;
	}
}

void fah_codes_record(struct fah_codes *c, uint32_t type, const uint8_t *payload, size_t len)
{
	struct fah_cursor cur = {payload, payload + len, false};

	if (type == FAH_SEG_CODE)
		define(c, &cur);
	else if (type == FAH_SEG_CODE_LINES)
		define_lines(c, &cur);
	else
		return;
	journal(c, type, payload, len);
}

static uint32_t line_of(const struct fah_codes *c, const struct fah_code *code,
			uint32_t instr_plus_1)
{
	uint32_t instr = instr_plus_1 ? instr_plus_1 - 1 : FAH_PY_NOT_STARTED;
	struct fah_py_position pos;

	if (code->table_have != code->table_len ||
	    fah_py_position((enum fah_py_lines)c->lines_kind, code->table, code->table_len,
			    code->first_line, instr, &pos) < 0 ||
	    pos.line <= 0)
		return code->first_line > 0 ? (uint32_t)code->first_line : 0;
	return (uint32_t)pos.line;
}

bool fah_codes_resolve(struct fah_codes *c, struct fah_writer *w, uint32_t id,
		       uint32_t instr_plus_1, uint32_t *ret_function, uint32_t *ret_line)
{
	struct fah_code *code = id && id < c->n ? &c->codes[id] : NULL;
	uint32_t *line;
	bool is_new;

	if (!code || !code->names)
		return false;
	if (!code->function) {
		const char *name = code->names + code->n_file;
		uint32_t file = fah_writer_string(w, code->names, code->n_file);
		uint32_t qual =
			code->n_qual ? fah_writer_string(w, name + code->n_name, code->n_qual) : 0;

		code->function =
			fah_writer_function(w, file, fah_writer_string(w, name, code->n_name), qual,
					    code->first_line > 0 ? (uint32_t)code->first_line : 0);
	}
	line = fah_map_put(&c->lines, fah_key_u64((uint64_t)id << 32 | instr_plus_1), &is_new);
	if (line && is_new)
		*line = line_of(c, code, instr_plus_1);
	*ret_function = code->function;
	*ret_line = line ? *line : 0;
	return true;
}
