/* calls_json.c - the call tree with all its numbers, for programs: a flat list, callers first. */
#include "report/calls.h"

#include "base/json.h"

static void put_times(struct fah_json *j, const char *key, const struct fah_times *t)
{
	fah_json_key(j, key);
	fah_json_begin_object(j);
	fah_json_key(j, "python");
	fah_json_double(j, t->python);
	fah_json_key(j, "native");
	fah_json_double(j, t->native);
	fah_json_key(j, "system");
	fah_json_double(j, t->system);
	fah_json_key(j, "waiting");
	fah_json_double(j, t->waiting);
	fah_json_end_object(j);
}

static void put_call(struct fah_json *j, const struct fah_calltree *t, const struct fah_call *c,
		     uint32_t id)
{
	static const char *const kinds[] = {
		[FAH_FRAME_PYTHON] = "python",	 [FAH_FRAME_NATIVE] = "native",
		[FAH_FRAME_RUNTIME] = "runtime", [FAH_FRAME_PROCESS] = "process",
		[FAH_FRAME_THREAD] = "thread",	 [FAH_FRAME_WAIT] = "waiting",
		[FAH_FRAME_EMPTY] = "no python",
	};
	const struct fah_frame *f = c->kind == FAH_CALL_FRAME ? &t->frames[c->frame] : NULL;

	fah_json_begin_object(j);
	fah_json_key(j, "id");
	fah_json_u64(j, id);
	fah_json_key(j, "caller");
	if (id)
		fah_json_u64(j, c->parent);
	else
		fah_json_null(j);
	fah_json_key(j, "name");
	fah_json_str(j, fah_call_name(t, c));
	fah_json_key(j, "kind");
	fah_json_str(j, f ? kinds[f->kind] : "all");
	if (f && *f->file) {
		fah_json_key(j, "file");
		fah_json_str(j, f->file);
		fah_json_key(j, "line");
		fah_json_u64(j, f->line ? f->line : f->first_line);
	}
	put_times(j, "total_s", &c->total);
	put_times(j, "self_s", &c->self);
	fah_json_key(j, "samples");
	fah_json_u64(j, c->samples);
	fah_json_key(j, "interval");
	fah_json_double(j, c->interval);
	fah_json_end_object(j);
}

int fah_report_calls_json(FILE *out, const struct fah_profile *p, const struct fah_calltree *tree)
{
	const struct fah_totals *totals = fah_profile_totals(p);
	struct fah_json j;
	uint32_t i = 0;

	fah_json_init(&j, out);
	fah_json_begin_object(&j);
	fah_json_key(&j, "wall_s");
	fah_json_double(&j, totals->wall_s);
	fah_json_key(&j, "whole_s");
	fah_json_double(&j, tree->whole_s);
	fah_json_key(&j, "samples");
	fah_json_u64(&j, totals->samples);
	fah_json_key(&j, "drops");
	fah_json_u64(&j, totals->drops);
	fah_json_key(&j, "complete");
	fah_json_bool(&j, totals->complete);
	fah_json_key(&j, "calls");
	fah_json_begin_array(&j);
	do {
		put_call(&j, tree, &tree->calls[i], i);
		i = fah_calltree_next(tree, i, false);
	} while (i);
	fah_json_end_array(&j);
	fah_json_end_object(&j);
	return fah_json_finish(&j);
}
