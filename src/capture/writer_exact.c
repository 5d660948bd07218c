/* writer_exact.c - iterations, calls and lines that were told one by one. See writer.h. */
#include "capture/writer.h"

#include "capture/reader.h"
#include "capture/writer_internal.h"
#include "core/varint.h"

void fah_writer_iterations(struct fah_writer *w, const struct fah_rec_iterations *it)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!it->thread || it->thread > w->n_threads || it->label > w->n_strings)
		return;
	fah_payload_numbers(&sb, it->thread, it->loop, it->label, it->first, it->count, it->time_ns,
			    it->wall_ns, it->cpu_ns, it->squares);
	fah_writer_send(w, FAH_REC_ITERATIONS, &sb);
}

void fah_writer_calls(struct fah_writer *w, const struct fah_rec_calls *calls)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!calls->process || calls->process > w->n_processes || !calls->function)
		return;
	fah_payload_numbers(&sb, calls->process, calls->time_ns, calls->function, calls->caller,
			    calls->line, calls->place, calls->count, calls->by_caller.starts,
			    calls->by_caller.calls, calls->by_caller.total, calls->missed,
			    calls->by_other.function, calls->by_other.starts, calls->by_other.calls,
			    calls->by_other.total, calls->passed);
	fah_writer_send(w, FAH_REC_CALLS, &sb);
}

void fah_writer_counting(struct fah_writer *w, const struct fah_rec_counting *c)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!c->process || c->process > w->n_processes)
		return;
	fah_payload_numbers(&sb, c->process, c->time_ns, c->function, c->on, c->work_ns);
	fah_writer_send(w, FAH_REC_COUNTING, &sb);
}

void fah_writer_timed(struct fah_writer *w, const struct fah_rec_timed *t)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!t->process || t->process > w->n_processes || !t->function)
		return;
	fah_payload_numbers(&sb, t->process, t->function, t->whole ? 0 : t->caller + 1ull, t->calls,
			    t->recursive, fah_zigzag(t->self_ns), fah_zigzag(t->total_ns));
	fah_writer_send(w, FAH_REC_TIMED, &sb);
}

void fah_writer_lines(struct fah_writer *w, const struct fah_rec_lines *lines)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!lines->process || lines->process > w->n_processes || !lines->function)
		return;
	fah_payload_numbers(&sb, lines->process, lines->time_ns, lines->function, lines->code,
			    lines->marked);
	fah_strbuf_add(&sb, lines->rest.p, (size_t)(lines->rest.end - lines->rest.p));
	fah_writer_send(w, FAH_REC_LINES, &sb);
}

void fah_writer_lines_state(struct fah_writer *w, const struct fah_rec_lines_state *state)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!state->process || state->process > w->n_processes)
		return;
	fah_payload_numbers(&sb, state->process, state->time_ns, state->line_ns,
			    state->lost_functions, state->lost_frames, state->lost_lines,
			    state->why.len);
	fah_strbuf_add(&sb, state->why.p, state->why.len);
	fah_writer_send(w, FAH_REC_LINES_STATE, &sb);
}
