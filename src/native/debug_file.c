/* debug_file.c - see debug_file.h. A file is taken only if it says that it is of the same build. */
#include "native/debug_file.h"

#include "base/crc32.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "core/err.h"

#include <elf.h>
#include <string.h>

#define DEBUG_DIR "/usr/lib/debug"
#define MAX_LINK 4096u
#define MAX_DATA (64u << 20)

static bool same_build(const struct fah_elf *a, const struct fah_elf *b)
{
	return a->build_id_len && a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len);
}

static bool has_sum(const struct fah_elf *file, uint32_t wanted)
{
	const uint64_t piece = 1u << 20;
	uint32_t sum = 0;

	for (uint64_t at = 0; at < file->len; at += piece) {
		_cleanup_(fah_freep) uint8_t *bytes = NULL;
		uint64_t len = file->len - at < piece ? file->len - at : piece;

		if (fah_elf_read(file, at, len, &bytes) < 0)
			return false;
		sum = fah_crc32(sum, bytes, len);
	}
	return sum == wanted;
}

static int open_by_build_id(const struct fah_elf *elf, const char *root, struct fah_elf **ret)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf path = FAH_STRBUF_INIT;
	_cleanup_(fah_elf_freep) struct fah_elf *found = NULL;

	if (elf->build_id_len < 2)
		return FAH_ERR_FORMAT;
	fah_strbuf_addf(&path, "%s" DEBUG_DIR "/.build-id/%02x/", root, elf->build_id[0]);
	for (uint32_t i = 1; i < elf->build_id_len; i++)
		fah_strbuf_addf(&path, "%02x", elf->build_id[i]);
	fah_strbuf_adds(&path, ".debug");
	if (path.failed)
		return FAH_ERR_NOMEM;
	if (fah_elf_open(path.p, &found) < 0 || !same_build(elf, found))
		return FAH_ERR_FORMAT;
	*ret = TAKE_PTR(found);
	return 0;
}

/* The name of the debug file and its checksum; FAH_ERR_FORMAT: no such section. */
static int read_link(struct fah_elf *elf, char **ret_name, uint32_t *ret_sum)
{
	const struct fah_elf_section *section;
	_cleanup_(fah_freep) uint8_t *bytes = NULL;
	size_t len, sum_at;

	if (fah_elf_sections(elf) < 0)
		return FAH_ERR_FORMAT;
	section = fah_elf_section(elf, ".gnu_debuglink");
	if (!section || section->len > MAX_LINK ||
	    fah_elf_read(elf, section->offset, section->len, &bytes) < 0)
		return FAH_ERR_FORMAT;
	len = strnlen((char *)bytes, section->len);
	sum_at = (len + 4) & ~(size_t)3;
	if (!len || sum_at + 4 > section->len || strchr((char *)bytes, '/'))
		return FAH_ERR_FORMAT;
	memcpy(ret_sum, bytes + sum_at, sizeof(*ret_sum));
	*ret_name = (char *)TAKE_PTR(bytes);
	return 0;
}

static int open_by_link(struct fah_elf *elf, const char *root, const char *path,
			struct fah_elf **ret)
{
	static const struct {
		const char *before, *behind; /* the module's folder */
	} places[] = {{"", "/"}, {"", "/.debug/"}, {DEBUG_DIR, "/"}};
	_cleanup_(fah_freep) char *name = NULL;
	int folder = (int)(fah_basename(path) - path), err;
	uint32_t sum;

	err = read_link(elf, &name, &sum);
	if (err < 0)
		return err;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		_cleanup_(fah_strbuf_release) struct fah_strbuf at = FAH_STRBUF_INIT;
		_cleanup_(fah_elf_freep) struct fah_elf *found = NULL;

		fah_strbuf_addf(&at, "%s%s%.*s%s%s", root, places[i].before, folder, path,
				places[i].behind, name);
		if (at.failed)
			return FAH_ERR_NOMEM;
		if (fah_elf_open(at.p, &found) < 0 ||
		    (found->dev == elf->dev && found->ino == elf->ino))
			continue;
		if (elf->build_id_len ? !same_build(elf, found) : !has_sum(found, sum))
			continue;
		*ret = TAKE_PTR(found);
		return 0;
	}
	return FAH_ERR_FORMAT;
}

int fah_debug_file_open(struct fah_elf *elf, const char *root, const char *path,
			struct fah_elf **ret)
{
	int err = open_by_build_id(elf, root, ret);

	return err == FAH_ERR_FORMAT && *path == '/' ? open_by_link(elf, root, path, ret) : err;
}

int fah_debug_data_open(struct fah_elf *elf, uint8_t **ret_bytes, struct fah_elf **ret)
{
	const struct fah_elf_section *section;
	_cleanup_(fah_freep) uint8_t *packed = NULL, *bytes = NULL;
	size_t len;
	int err;

	if (fah_elf_sections(elf) < 0)
		return FAH_ERR_FORMAT;
	section = fah_elf_section(elf, ".gnu_debugdata");
	if (!section || section->type != SHT_PROGBITS || section->len > MAX_DATA)
		return FAH_ERR_FORMAT;
	err = fah_elf_read(elf, section->offset, section->len, &packed);
	if (err == 0)
		err = fah_unpack(packed, section->len, &bytes, &len);
	if (err == 0)
		err = fah_elf_open_mem(bytes, len, ret);
	if (err == 0)
		*ret_bytes = TAKE_PTR(bytes);
	return err;
}
