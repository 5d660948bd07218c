/*
 * writer.c - encode a run into records: the file, interned definitions, blocks of nodes. What
 * threads did, calls and lines, and memory have a file each: writer_threads.c, writer_exact.c,
 * writer_heap.c.
 *
 * Samples wait in a block of their thread, nodes in one block for all. Before a block of samples
 * goes out, the nodes do, so that definitions stand before their use; strings and functions go out
 * at once. The file, and a disk that is full, are the sink's business.
 */
#include "capture/writer.h"

#include "base/cleanup.h"
#include "capture/reader.h"
#include "capture/writer_internal.h"
#include "core/err.h"
#include "core/segment.h"
#include "core/varint.h"

#include <errno.h>
#include <string.h>

#define TEXT_MAX (1u << 20) /* of one string; what is longer is cut */

int fah_writer_new(const char *path, struct fah_writer **ret)
{
	_cleanup_(fah_freep) struct fah_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return FAH_ERR_NOMEM;
	err = fah_sink_open(&w->sink, path);
	if (err < 0)
		return err;
	*ret = TAKE_PTR(w);
	return 0;
}

void fah_payload_number(struct fah_strbuf *sb, uint64_t v)
{
	uint8_t buf[FAH_VARINT_MAX];

	fah_strbuf_add(sb, buf, (size_t)(fah_put_varint(buf, v) - buf));
}

void fah_payload_list(struct fah_strbuf *sb, const uint64_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fah_payload_number(sb, numbers[i]);
}

void fah_payload_text(struct fah_strbuf *sb, const char *s, size_t len)
{
	if (len > TEXT_MAX)
		len = TEXT_MAX;
	fah_payload_number(sb, len);
	fah_strbuf_add(sb, s, len);
}

bool fah_writer_send(struct fah_writer *w, enum fah_record_type type, struct fah_strbuf *payload)
{
	bool ok = !payload->failed;

	if (ok)
		fah_sink_record(&w->sink, type, fah_strbuf_str(payload), payload->len);
	fah_strbuf_release(payload);
	return ok;
}

void fah_writer_meta(struct fah_writer *w, const char *key, const char *value)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_payload_text(&sb, key, strlen(key));
	fah_payload_text(&sb, value, strlen(value));
	fah_writer_send(w, FAH_REC_META, &sb);
}

uint32_t fah_writer_string(struct fah_writer *w, const char *s, size_t len)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	uint32_t *id;

	if (len > TEXT_MAX)
		len = TEXT_MAX;
	id = fah_strmap_put(&w->strings, s, len, NULL, NULL);
	if (!id)
		return 0;
	if (!*id) {
		fah_payload_text(&sb, s, len);
		if (fah_writer_send(w, FAH_REC_STRING, &sb))
			*id = ++w->n_strings;
	}
	return *id;
}

static uint32_t define_function(struct fah_writer *w, uint32_t file, uint32_t name,
				uint32_t qualname, uint32_t first_line, uint32_t kind,
				uint32_t module)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	uint32_t *id;

	if (file > w->n_strings || name > w->n_strings || qualname > w->n_strings ||
	    module > w->n_strings)
		return 0;
	id = fah_map_put(&w->functions,
			 fah_function_key(file, name, qualname, first_line, kind, module), NULL);
	if (!id)
		return 0;
	if (!*id) {
		fah_payload_number(&sb, file);
		fah_payload_number(&sb, name);
		fah_payload_number(&sb, qualname);
		fah_payload_number(&sb, first_line);
		fah_payload_number(&sb, kind);
		if (module)
			fah_payload_number(&sb, module);
		if (fah_writer_send(w, FAH_REC_FUNCTION, &sb))
			*id = ++w->n_functions;
	}
	return *id;
}

uint32_t fah_writer_function(struct fah_writer *w, uint32_t file, uint32_t name, uint32_t qualname,
			     uint32_t first_line)
{
	return define_function(w, file, name, qualname, first_line, FAH_FUNCTION_PYTHON, 0);
}

uint32_t fah_writer_other_function(struct fah_writer *w, uint32_t file, uint32_t name,
				   uint32_t kind)
{
	return define_function(w, file, name, 0, 0, kind, 0);
}

uint32_t fah_writer_native_function(struct fah_writer *w, uint32_t file, uint32_t name,
				    uint32_t module)
{
	return define_function(w, file, name, 0, 0, FAH_FUNCTION_NATIVE, module);
}

uint8_t *fah_block_room(struct block *b)
{
	if (!b->buf)
		b->buf = malloc(FAH_BLOCK_BYTES);
	return b->buf ? b->buf + b->len : NULL;
}

void fah_block_send(struct fah_writer *w, struct block *b, enum fah_record_type type,
		    const uint8_t *head, size_t head_len)
{
	uint8_t payload[FAH_BLOCK_HEAD_MAX + FAH_BLOCK_BYTES];

	memcpy(payload, head, head_len);
	memcpy(payload + head_len, b->buf, b->len);
	fah_sink_record(&w->sink, type, payload, head_len + b->len);
	b->len = 0;
	b->count = 0;
}

void fah_writer_send_nodes(struct fah_writer *w)
{
	uint8_t head[FAH_BLOCK_HEAD_MAX];

	if (w->node_block.count)
		fah_block_send(w, &w->node_block, FAH_REC_NODES, head,
			       (size_t)(fah_put_varint(head, w->node_block.count) - head));
}

uint32_t fah_writer_node(struct fah_writer *w, uint32_t parent, uint32_t function, uint32_t line)
{
	struct block *b = &w->node_block;
	uint32_t *id;
	uint8_t *p;

	if (parent > w->n_nodes || function > w->n_functions)
		return 0;
	id = fah_map_put(&w->nodes, fah_key_u32x4(parent, function, line, 0), NULL);
	if (!id || *id)
		return id ? *id : 0;
	p = fah_block_room(b);
	if (!p)
		return 0;
	*id = ++w->n_nodes;
	p = fah_put_varint(p, *id - parent);
	p = fah_put_varint(p, function);
	p = fah_put_varint(p, line);
	b->len = (size_t)(p - b->buf);
	b->count++;
	if (b->len > FAH_BLOCK_BYTES - FAH_ITEM_MAX)
		fah_writer_send_nodes(w);
	return w->n_nodes;
}

uint32_t fah_writer_process(struct fah_writer *w, const struct fah_process_def *def)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	uint32_t *id = fah_map_put(&w->processes, fah_process_key(def->pid, def->start_ns), NULL);

	if (!id || *id)
		return id ? *id : 0;
	fah_payload_numbers(&sb, def->pid, def->ppid, def->forked ? 1 : 0, def->python_version,
			    def->start_ns);
	fah_payload_text(&sb, def->cmdline, def->cmdline_len);
	fah_payload_numbers(&sb, def->period_ns, def->clock);
	if (fah_writer_send(w, FAH_REC_PROCESS, &sb))
		*id = ++w->n_processes;
	return *id;
}

bool fah_writer_thread_room(struct fah_writer *w)
{
	size_t cap = w->cap_threads ? w->cap_threads * 2 : 16;
	struct thread *bigger;

	if (w->n_threads == w->cap_threads) {
		bigger = realloc(w->threads, cap * sizeof(*bigger));
		if (!bigger)
			return false;
		w->threads = bigger;
		w->cap_threads = cap;
	}
	w->threads[w->n_threads] = (struct thread){0};
	return true;
}

uint32_t fah_writer_thread(struct fah_writer *w, uint32_t process, uint32_t tid, uint64_t start_ns,
			   const char *name, size_t name_len)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	uint32_t *id;

	if (!process || process > w->n_processes)
		return 0;
	id = fah_map_put(&w->thread_ids, fah_thread_key(process, tid, start_ns), NULL);
	if (!id || *id || !fah_writer_thread_room(w))
		return id ? *id : 0;
	fah_payload_numbers(&sb, process, tid, start_ns);
	fah_payload_text(&sb, name, name_len);
	if (fah_writer_send(w, FAH_REC_THREAD, &sb))
		*id = ++w->n_threads;
	return *id;
}

bool fah_writer_lost(const struct fah_writer *w)
{
	return w->sink.loss.records || w->sink.out.len;
}

void fah_writer_flush(struct fah_writer *w)
{
	fah_writer_send_all(w);
	fah_sink_flush(&w->sink);
}

int fah_writer_finish(struct fah_writer *w, const struct fah_run_end *end,
		      struct fah_write_loss *ret_loss)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	uint64_t size;

	fah_writer_send_all(w);
	fah_sink_flush_last(&w->sink, FAH_SINK_END);
	*ret_loss = w->sink.loss;

	fah_payload_numbers(&sb, end->wall_ns, end->user_ns, end->system_ns, end->max_rss_bytes,
			    end->wait_status, w->sink.loss.records, w->sink.loss.bytes);
	size = w->sink.size;
	fah_writer_send(w, FAH_REC_END, &sb);
	w->sink.given_up = false; /* the end refers to nothing, so it may stand in any capture */
	fah_sink_flush_last(&w->sink, 0);
	if (w->sink.size == size) { /* not even that: the partial file stays, and is readable */
		errno = w->sink.loss.error;
		return FAH_ERR_SYS;
	}
	return fah_sink_commit(&w->sink);
}

void fah_writer_free(struct fah_writer *w)
{
	uint32_t i;

	if (!w)
		return;
	fah_sink_release(&w->sink);
	fah_strmap_release(&w->strings);
	fah_map_release(&w->functions);
	fah_map_release(&w->nodes);
	fah_map_release(&w->processes);
	fah_map_release(&w->thread_ids);
	for (i = 0; i < w->n_threads; i++) {
		free(w->threads[i].block.buf);
		free(w->threads[i].waits.buf);
	}
	free(w->threads);
	free(w->node_block.buf);
	free(w);
}
