/* writer_heap.c - blocks of memory, what was copied, and what the kernel counts. See writer.h. */
#include "capture/writer.h"

#include "capture/reader.h"
#include "capture/writer_internal.h"

void fah_writer_alloc(struct fah_writer *w, const struct fah_rec_alloc *a)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!a->thread || a->thread > w->n_threads || a->node > w->n_nodes)
		return;
	fah_writer_send_nodes(w); /* this one's among them */
	fah_payload_numbers(&sb, a->thread, a->time_ns, a->block, a->kind, a->node, a->bytes,
			    a->held, a->most);
	fah_writer_send(w, FAH_REC_ALLOC, &sb);
}

void fah_writer_free_block(struct fah_writer *w, const struct fah_rec_free *f)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!f->process || f->process > w->n_processes)
		return;
	fah_payload_numbers(&sb, f->process, f->time_ns, f->block, f->held, f->most, f->ending);
	fah_writer_send(w, FAH_REC_FREE, &sb);
}

void fah_writer_blocks(struct fah_writer *w, const struct fah_rec_blocks *b, const uint32_t *nodes)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!b->thread || b->thread > w->n_threads)
		return;
	fah_writer_send_nodes(w);
	fah_payload_numbers(&sb, b->thread, b->time_ns, b->age_ns, b->ending, b->first, b->held,
			    b->most, b->n_sites);
	for (uint32_t i = 0; i < b->n_sites; i++)
		fah_payload_number(&sb, nodes[i] <= w->n_nodes ? nodes[i] : 0);
	fah_strbuf_add(&sb, b->events.p, (size_t)(b->events.end - b->events.p));
	fah_writer_send(w, FAH_REC_BLOCKS, &sb);
}

void fah_writer_heap(struct fah_writer *w, const struct fah_rec_heap *h)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!h->process || h->process > w->n_processes)
		return;
	fah_payload_numbers(&sb, h->process, h->time_ns, h->interval, h->before, h->python,
			    h->native, h->most, h->lost, h->copied);
	fah_writer_send(w, FAH_REC_HEAP, &sb);
}

void fah_writer_copied(struct fah_writer *w, const struct fah_rec_copy *c)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!c->thread || c->thread > w->n_threads || c->node > w->n_nodes)
		return;
	fah_writer_send_nodes(w);
	fah_payload_numbers(&sb, c->thread, c->time_ns, c->node, c->bytes, c->interval);
	fah_writer_send(w, FAH_REC_COPY, &sb);
}

/* FAH_MEMORY_UNKNOWN becomes 0. */
static void put_figures(struct fah_strbuf *sb, const uint64_t *figures, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fah_payload_number(sb, figures[i] + 1);
}

void fah_writer_memory(struct fah_writer *w, const struct fah_rec_memory *m)
{
	const uint64_t own[] = {m->resident, m->swapped, m->high};
	const uint64_t machine[] = {m->total, m->available, m->used, m->cache, m->limit, m->kills};
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (m->process > w->n_processes)
		return;
	fah_payload_numbers(&sb, m->process, m->time_ns);
	if (m->process)
		put_figures(&sb, own, sizeof(own) / sizeof(own[0]));
	else
		put_figures(&sb, machine, sizeof(machine) / sizeof(machine[0]));
	fah_writer_send(w, FAH_REC_MEMORY, &sb);
}
