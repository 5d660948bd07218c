/* functions.c - see functions.h. */
#include "export/functions.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "core/err.h"

#include <stdlib.h>
#include <string.h>

int fah_functions_init(struct fah_functions *f, const struct fah_frame *frames, size_t n)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf key = FAH_STRBUF_INIT;
	_cleanup_(fah_strmap_release) struct fah_strmap names = FAH_STRMAP_INIT;
	_cleanup_(fah_map_release) struct fah_map by_line = FAH_MAP_INIT;

	*f = (struct fah_functions){0};
	f->of_frame = calloc(n + 1, sizeof(*f->of_frame));
	f->all = calloc(n + 1, sizeof(*f->all));
	f->namesake = calloc(n + 1, sizeof(*f->namesake));
	if (!f->of_frame || !f->all || !f->namesake)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t *name, *slot;
		bool is_new;

		fah_strbuf_truncate(&key, 0);
		fah_strbuf_adds(&key, frames[i].file);
		fah_strbuf_addc(&key, '\0');
		fah_strbuf_adds(&key, frames[i].name);
		name = fah_strmap_put(&names, fah_strbuf_str(&key), key.len, &is_new, NULL);
		if (!name || key.failed)
			return FAH_ERR_NOMEM;
		if (is_new)
			*name = f->n;
		slot = fah_map_put(&by_line,
				   fah_key_u32x4(*name, frames[i].first_line, frames[i].kind, 0),
				   &is_new);
		if (!slot)
			return FAH_ERR_NOMEM;
		if (is_new) {
			f->all[f->n] = &frames[i];
			f->namesake[f->n] = *name;
			*slot = f->n++;
		}
		f->of_frame[i] = *slot;
	}
	return 0;
}

void fah_functions_release(struct fah_functions *f)
{
	free(f->of_frame);
	free(f->all);
	free(f->namesake);
	*f = (struct fah_functions){0};
}
