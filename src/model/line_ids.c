/* line_ids.c - see line_ids.h. */
#include "model/line_ids.h"

#include "core/err.h"

int fah_line_ids_put(struct fah_line_ids *ids, uint32_t file, uint32_t line, uint32_t *ret)
{
	uint32_t *slot;
	bool is_new;

	if (!fah_room(&ids->all, ids->n, &ids->cap, sizeof(*ids->all)))
		return FAH_ERR_NOMEM;
	slot = fah_map_put(&ids->by_line, fah_key_u64((uint64_t)file << 32 | line), &is_new);
	if (!slot)
		return FAH_ERR_NOMEM;
	if (is_new) {
		*slot = (uint32_t)ids->n;
		ids->all[ids->n++] = (struct fah_line_id){file, line};
	}
	*ret = *slot;
	return 0;
}

void fah_line_ids_release(struct fah_line_ids *ids)
{
	free(ids->all);
	fah_map_release(&ids->by_line);
}
