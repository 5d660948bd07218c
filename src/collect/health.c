/* health.c - see health.h. */
#include "collect/health.h"

#include "capture/reader.h"

/* The program could write there: counts that cannot be added up are as if there were none. */
static void take_hist(struct fah_hist *to, uint64_t sum_ns, uint64_t max_ns,
		      const _Atomic uint64_t *buckets)
{
	to->sum_ns = sum_ns;
	to->max_ns = max_ns;
	for (uint32_t i = 0; i < FAH_HIST_BUCKETS; i++) {
		to->buckets[i] = atomic_load_explicit(&buckets[i], memory_order_relaxed);
		if (__builtin_add_overflow(to->count, to->buckets[i], &to->count)) {
			*to = (struct fah_hist){0};
			return;
		}
	}
}

void fah_health_write(struct fah_writer *w, uint32_t process, const struct fah_segment_head *head)
{
	struct fah_rec_health health = {
		.process = process,
		.interval_sum_ns = atomic_load(&head->interval_sum_ns),
		.told_ns = atomic_load(&head->told_ns),
	};

	take_hist(&health.handlers, atomic_load(&head->handler_ns),
		  atomic_load(&head->handler_max_ns), head->handlers);
	take_hist(&health.gaps, atomic_load(&head->gap_ns), atomic_load(&head->gap_max_ns),
		  head->gaps);
	for (unsigned i = 0; i < FAH_NATIVE_STOPS; i++)
		health.native_stops[i] = atomic_load(&head->native_stops[i]);
	fah_writer_health(w, &health);
}
