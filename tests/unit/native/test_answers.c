/*
 * test_answers.c - names kept between runs: the same as those that are worked out, taken from the
 * file alone, whatever a damaged file holds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/crc32.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "core/err.h"
#include "core/varint.h"
#include "native/answers.h"
#include "native/debug_info.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define STEP 0x195 /* one address of so many bytes: some in the stubs too */

static char dir[] = "/tmp/fah-answers-XXXXXX";

struct module {
	struct fah_elf *elf;
	struct fah_names *names;
};

static struct module open_module(const char *path, const char *kept)
{
	struct module m = {0};

	assert_int_equal(fah_elf_open("/proc/self/exe", &m.elf), 0);
	m.names = fah_names_new(m.elf, "", path);
	assert_non_null(m.names);
	if (kept)
		fah_names_keep_in(m.names, kept);
	return m;
}

static void close_module(struct module *m)
{
	fah_names_free(m->names);
	fah_elf_free(m->elf);
}

/* From now on its file is an empty one. */
static void blind(struct module *m)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(null >= 0);
	assert_int_equal(dup2(null, m->elf->fd), m->elf->fd);
	close(null);
}

static void all_names(struct module *m, struct fah_strbuf *out)
{
	fah_strbuf_truncate(out, 0);
	fah_strbuf_addf(out, "%d %d\n", fah_names_has(m->names, "main"),
			fah_names_has(m->names, "no_such_thing"));
	for (uint64_t at = 0; at < m->elf->end - m->elf->base; at += STEP) {
		uint32_t n = 0;
		struct fah_name_frame *frames = fah_names_find(m->names, at, &n);

		assert_non_null(frames);
		for (uint32_t i = 0; i < n; i++)
			fah_strbuf_addf(out, "%s %s:%u\n", frames[i].function,
					frames[i].file ? frames[i].file : "-", frames[i].line);
	}
	assert_false(out->failed);
}

static void the_file(char *path, size_t size)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	int n = 0;

	assert_non_null(d);
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.') {
			snprintf(path, size, "%s/%s", dir, entry->d_name);
			n++;
		}
	closedir(d);
	assert_int_equal(n, 1);
}

static void names_from(const char *kept, const char *wanted)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;
	struct module m = open_module("/proc/self/exe", kept);

	all_names(&m, &text);
	assert_string_equal(text.p, wanted);
	close_module(&m);
}

static void test_kept(void **state)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf plain = FAH_STRBUF_INIT,
							text = FAH_STRBUF_INIT;
	struct module m = open_module("/proc/self/exe", NULL);

	all_names(&m, &plain);
	assert_false(fah_names_save(m.names)); /* nowhere to */
	close_module(&m);
	assert_non_null(strstr(plain.p, "exe+0x")); /* the file's head */
	assert_non_null(strstr(plain.p, "@plt"));
	if (fah_dwarf_library())
		assert_non_null(strstr(plain.p, "names.c:"));

	m = open_module("/proc/self/exe", dir);
	all_names(&m, &text);
	assert_string_equal(text.p, plain.p);
	assert_true(fah_names_save(m.names));
	assert_false(fah_names_save(m.names)); /* nothing new */
	close_module(&m);

	m = open_module("/proc/self/exe", dir);
	blind(&m);
	all_names(&m, &text);
	assert_string_equal(text.p, plain.p);
	assert_false(fah_names_save(m.names));
	close_module(&m);

	/* a copy has another name, which is in the names of what has none */
	m = open_module("/somewhere/copy", dir);
	blind(&m);
	all_names(&m, &text);
	assert_null(strstr(text.p, "exe+0x"));
	assert_non_null(strstr(text.p, "copy+0x0"));
	close_module(&m);
}

/* What is asked for the first time is worked out and added. */
static void test_added(void **state)
{
	char path[300];
	struct stat before, after;
	struct module m = open_module("/proc/self/exe", dir);
	uint32_t n, more = 0;

	the_file(path, sizeof(path));
	assert_int_equal(stat(path, &before), 0);
	for (uint64_t at = 0; at < m.elf->end - m.elf->base; at += STEP - 1, more++)
		assert_non_null(fah_names_find(m.names, at, &n));
	assert_true(more > 100);
	assert_true(fah_names_save(m.names));
	close_module(&m);
	assert_int_equal(stat(path, &after), 0);
	assert_true(after.st_size > before.st_size);
}

static void set_sum(char *bytes, size_t len)
{
	uint32_t sum = fah_crc32(0, bytes + 16, len - 16);

	memcpy(bytes + 12, &sum, sizeof(sum));
}

static void test_damaged(void **state)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf plain = FAH_STRBUF_INIT;
	_cleanup_(fah_freep) char *bytes = NULL;
	struct module m = open_module("/proc/self/exe", dir);
	struct fah_answers a = {0};
	char path[300], key[512];
	size_t len, key_len, key_end;
	struct fah_cursor c;

	all_names(&m, &plain);
	close_module(&m);
	the_file(path, sizeof(path));
	assert_int_equal(fah_file_read(path, 1 << 24, &bytes, &len), 0);
	c = (struct fah_cursor){(uint8_t *)bytes + 16, (uint8_t *)bytes + len, false};
	key_len = fah_get_varint(&c);
	assert_true(key_len < sizeof(key));
	memcpy(key, c.p, key_len);
	key_end = (size_t)(c.p - (uint8_t *)bytes) + key_len;
	key[key_len] = 0;
	assert_int_equal(fah_answers_load(&a, path, key), 0);
	assert_false(a.changed);
	fah_answers_release(&a);
	assert_true(fah_answers_load(&a, path, "another") < 0);
	assert_int_equal(a.n, 0);

	/* a bit anywhere */
	for (size_t at = 0; at < len; at += at < 40 ? 1 : len / 50) {
		bytes[at] ^= 4;
		assert_int_equal(fah_file_replace(path, bytes, len), 0);
		assert_true(fah_answers_load(&a, path, key) < 0);
		assert_int_equal(a.n + a.known.n + a.texts.n, 0);
		bytes[at] ^= 4;
	}
	names_from(dir, plain.p);
	/* cut anywhere, with a sum that says it is right */
	for (size_t at = 0; at < len; at += at < 40 ? 1 : len / 50) {
		_cleanup_(fah_freep) char *cut = malloc(at + 1);

		memcpy(cut, bytes, at);
		if (at >= 16)
			set_sum(cut, at);
		assert_int_equal(fah_file_replace(path, cut, at), 0);
		assert_true(fah_answers_load(&a, path, key) < 0);
		assert_int_equal(a.n, 0);
	}
	names_from(dir, plain.p);
	/* nonsense with the right sum: any answer or none, but no load out of bounds */
	for (size_t at = key_end; at < len; at += len / 400 + 1) {
		char was = bytes[at];

		bytes[at] = (char)0xff;
		set_sum(bytes, len);
		assert_int_equal(fah_file_replace(path, bytes, len), 0);
		(void)fah_answers_load(&a, path, key);
		for (size_t i = 0; i < a.n; i++)
			for (uint32_t k = 0; k < a.list[i].n; k++)
				assert_true(*a.list[i].frames[k].function);
		fah_answers_release(&a);
		bytes[at] = was;
	}
}

static void test_no_folder(void **state)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;
	struct module m = open_module("/proc/self/exe", "/proc/self/nothing");

	all_names(&m, &text);
	assert_memory_equal(text.p, "1 0\n", 4); /* main is there, and the other is not */
	assert_true(text.len > 1000);
	assert_false(fah_names_save(m.names));
	close_module(&m);
}

static bool there(const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

static void test_trim(void **state)
{
	char path[300];

	the_file(path, sizeof(path));
	assert_int_equal(unlink(path), 0);
	for (int i = 0; i < 5; i++) { /* 4 is the newest */
		struct timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};

		snprintf(path, sizeof(path), "%s/%d", dir, i);
		assert_int_equal(fah_file_replace(path, "0123456789", 10), 0);
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	}
	fah_answers_trim(dir, 5, 50);
	assert_true(there("0"));
	fah_answers_trim(dir, 3, 50);
	assert_true(!there("0") && !there("1") && there("2") && there("4"));
	fah_answers_trim(dir, 3, 29);
	assert_true(!there("2") && there("3") && there("4"));
	fah_answers_trim(dir, 0, 0);
	assert_true(!there("4"));
	fah_answers_trim("/nowhere/at/all", 0, 0);
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),	cmocka_unit_test(test_added),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_no_folder),
		cmocka_unit_test(test_trim),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
