/*
 * frames.c - see frames.h. What two functions of one name are told apart by is their file, so it
 * stands in the label, but short: without the folder that was profiled, and of the standard library
 * and of packages from their own name on.
 */
#include "model/frames.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "capture/words.h"
#include "core/err.h"
#include "model/cells.h"
#include "model/internal.h"

int fah_frames_init(struct fah_frames *f, const struct fah_profile *p)
{
	f->p = p;
	f->short_files = calloc(p->n_files + 1, sizeof(*f->short_files));
	return f->short_files ? 0 : FAH_ERR_NOMEM;
}

void fah_frames_release(struct fah_frames *f)
{
	free(f->all);
	fah_map_release(&f->by_key);
	fah_arena_release(&f->arena);
	free(f->short_files);
}

static const char *short_file(struct fah_frames *f, uint32_t file, bool python)
{
	const char *path = f->p->files[file].abspath, *root = fah_profile_meta(f->p, "root"), *s;

	if (f->short_files[file])
		return f->short_files[file];
	s = python ? fah_path_short(path, root) : fah_basename(path);
	f->short_files[file] = s;
	return s;
}

/* A new frame for a key that has none; its label is made of what it has, where it has none. */
static uint32_t make(struct fah_frames *f, uint32_t *slot, struct fah_frame frame)
{
	struct fah_strbuf label = FAH_STRBUF_INIT;

	if (!fah_room(&f->all, f->n, &f->cap, sizeof(*f->all)))
		return FAH_NO_FRAME;
	fah_strbuf_adds(&label, frame.name);
	if (*frame.short_file) {
		fah_strbuf_adds(&label, " (");
		fah_place_add(&label, frame.short_file, frame.line);
		fah_strbuf_addc(&label, ')');
	}
	frame.label = label.failed ? NULL : fah_arena_strdup(&f->arena, fah_strbuf_str(&label));
	fah_strbuf_release(&label);
	if (!frame.label)
		return FAH_NO_FRAME;
	*slot = (uint32_t)f->n;
	f->all[f->n++] = frame;
	return *slot;
}

static uint32_t *find(struct fah_frames *f, uint32_t kind, uint32_t number, uint32_t line,
		      bool *ret_new)
{
	return fah_map_put(&f->by_key, fah_key_u32x4(kind, number, line, 0), ret_new);
}

uint32_t fah_frames_function(struct fah_frames *f, uint32_t function, uint32_t line)
{
	const struct fah_profile *p = f->p;
	const struct fah_function *def;
	uint32_t *slot;
	bool is_new;

	function = p->canonical[function];
	def = &p->functions[function];
	slot = find(f, def->kind, function, line, &is_new);
	if (!slot || !is_new)
		return slot ? *slot : FAH_NO_FRAME;
	return make(f, slot,
		    (struct fah_frame){
			    .name = def->name,
			    .file = p->files[def->file_id].abspath,
			    .short_file = def->kind == FAH_FUNCTION_RUNTIME
						  ? ""
						  : short_file(f, def->file_id,
							       def->kind == FAH_FUNCTION_PYTHON),
			    .line = line,
			    .first_line = def->first_line,
			    .kind = def->kind <= FAH_FUNCTION_RUNTIME ? def->kind
								      : FAH_FUNCTION_RUNTIME,
		    });
}

static uint32_t plain(struct fah_frames *f, uint32_t kind, uint32_t number, const char *name)
{
	bool is_new;
	uint32_t *slot = find(f, kind, number, 0, &is_new);
	const char *copy;

	if (!slot || !is_new)
		return slot ? *slot : FAH_NO_FRAME;
	copy = fah_arena_strdup(&f->arena, name);
	if (!copy)
		return FAH_NO_FRAME;
	return make(f, slot,
		    (struct fah_frame){.name = copy, .file = "", .short_file = "", .kind = kind});
}

static uint32_t numbered(struct fah_frames *f, uint32_t kind, uint32_t index, uint32_t id,
			 const char *what, const char *name)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	uint32_t frame;

	fah_strbuf_addf(&sb, *name ? "%s %u (%s)" : "%s %u", what, id, name);
	frame = sb.failed ? FAH_NO_FRAME : plain(f, kind, index, fah_strbuf_str(&sb));
	fah_strbuf_release(&sb);
	return frame;
}

uint32_t fah_frames_process(struct fah_frames *f, uint32_t process)
{
	const struct fah_process *p = &f->p->processes[process];

	return numbered(f, FAH_FRAME_PROCESS, process, p->pid, "process", p->cmdline);
}

uint32_t fah_frames_thread(struct fah_frames *f, uint32_t thread)
{
	const struct fah_thread *t = &f->p->threads[thread];

	return numbered(f, FAH_FRAME_THREAD, thread, t->tid, "thread", t->name);
}

uint32_t fah_frames_wait(struct fah_frames *f, uint32_t reason)
{
	char name[64];

	snprintf(name, sizeof(name), "waiting (%s)", fah_wait_words(reason));
	return plain(f, FAH_FRAME_WAIT, reason, name);
}

uint32_t fah_frames_empty(struct fah_frames *f)
{
	return plain(f, FAH_FRAME_EMPTY, 0, "(no Python)");
}
