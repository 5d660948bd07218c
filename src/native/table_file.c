/*
 * table_file.c - see table_file.h. Several runs may use one folder at the same time: a file is
 * written beside its name and renamed.
 */
#include "native/table_file.h"

#include "base/file.h"
#include "core/err.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define MAX_TABLE ((size_t)1 << 28)

void fah_table_name(const struct fah_elf *elf, struct fah_strbuf *out)
{
	for (uint32_t i = 0; i < elf->build_id_len && i < 20; i++)
		fah_strbuf_addf(out, "%02x", elf->build_id[i]);
	if (elf->build_id_len)
		fah_strbuf_addf(out, "-%016" PRIx64, elf->head_sum);
	else
		fah_strbuf_addf(out, "%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64, elf->dev,
				elf->ino, elf->len, elf->mtime_ns);
}

int fah_native_cache_dir(const char *what, char **ret)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct fah_strbuf path = FAH_STRBUF_INIT;

	if (cache && cache[0] == '/')
		fah_strbuf_addf(&path, "%s", cache);
	else if (home && home[0] == '/' && access(home, F_OK) == 0)
		fah_strbuf_addf(&path, "%s/.cache", home);
	else
		return FAH_ERR_USAGE;
	fah_strbuf_addf(&path, "/fixingahole/%s", what);
	*ret = fah_strbuf_take(&path);
	return *ret ? 0 : FAH_ERR_NOMEM;
}

/* A table of this module and of this version, whole; else it is made anew. */
static bool is_usable(const void *bytes, size_t len, const char *key, size_t key_len)
{
	const struct fah_table_head *head = bytes;
	struct fah_table table;

	return fah_table_open(bytes, len, &table) == 0 && head->key_len == key_len &&
	       !memcmp(head->key, key, key_len);
}

int fah_table_get(struct fah_elf *elf, const char *dir, struct fah_table_bytes *ret)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf name = FAH_STRBUF_INIT,
							path = FAH_STRBUF_INIT;
	_cleanup_(fah_freep) char *found = NULL;
	size_t len, key_len;
	void *bytes;
	int err;

	fah_table_name(elf, &name);
	fah_strbuf_addf(&path, "%s/%s", dir ? dir : "", fah_strbuf_str(&name));
	if (name.failed || path.failed)
		return FAH_ERR_NOMEM;
	key_len = name.len < FAH_TABLE_KEY_MAX ? name.len : FAH_TABLE_KEY_MAX;
	if (dir && fah_file_read_regular(path.p, MAX_TABLE, &found, &len) == 0 &&
	    is_usable(found, len, name.p, key_len)) {
		*ret = (struct fah_table_bytes){TAKE_PTR(found), len, false};
		return 0;
	}
	err = fah_table_build(elf, name.p, key_len, &bytes, &len, NULL);
	if (err < 0)
		return err;
	if (dir && fah_mkdir_p(dir, 0700) == 0)
		(void)fah_file_replace(path.p, bytes,
				       len); /* without it the next run makes it anew */
	*ret = (struct fah_table_bytes){bytes, len, true};
	return 0;
}
