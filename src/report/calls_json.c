/* calls_json.c - the call tree with all its numbers, for programs: a flat list, callers first. */
#include "report/calls.h"

#include "base/json.h"

static void put_times(struct fah_json *j, const char *key, const struct fah_times *t)
{
	fah_json_key(j, key);
	fah_json_begin_object(j);
	fah_json_put_double(j, "python", t->python);
	fah_json_put_double(j, "native", t->native);
	fah_json_put_double(j, "system", t->system);
	fah_json_put_double(j, "waiting", t->waiting);
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
	fah_json_put_u64(j, "id", id);
	fah_json_key(j, "caller");
	if (id)
		fah_json_u64(j, c->parent);
	else
		fah_json_null(j);
	fah_json_put_str(j, "name", fah_call_name(t, c));
	fah_json_put_str(j, "kind", f ? kinds[f->kind] : "all");
	if (f && *f->file) {
		fah_json_put_str(j, "file", f->file);
		fah_json_put_u64(j, "line", f->line ? f->line : f->first_line);
	}
	put_times(j, t->memory ? "total_bytes" : "total_s", &c->total);
	put_times(j, t->memory ? "self_bytes" : "self_s", &c->self);
	fah_json_put_u64(j, t->memory ? "recorded_blocks" : "samples", c->samples);
	fah_json_put_double(j, "interval", c->interval);
	fah_json_end_object(j);
}

int fah_report_calls_json(FILE *out, const struct fah_profile *p, const struct fah_calltree *tree)
{
	const struct fah_totals *totals = fah_profile_totals(p);
	struct fah_json j;
	uint32_t i = 0;

	fah_json_init(&j, out);
	fah_json_begin_object(&j);
	fah_json_put_double(&j, "wall_s", totals->wall_s);
	fah_json_put_double(&j, tree->memory ? "whole_bytes" : "whole_s", tree->whole_s);
	fah_json_put_u64(&j, "samples", totals->samples);
	fah_json_put_u64(&j, "drops", totals->drops);
	fah_json_put_bool(&j, "complete", totals->complete);
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
