/* heap.h - the heap in words: what all views that show memory say of it. */
#ifndef FAH_REPORT_HEAP_H
#define FAH_REPORT_HEAP_H

#include "model/heap.h"
#include "report/top.h"

/* Of the run's max, or of all that was asked for: less is not shown. */
#define FAH_HEAP_FLOOR 0.01

/* Append a timeline as n small bars, the highest of them `most`. */
void fah_heap_bars(struct fah_strbuf *sb, const struct fah_text *t, const double *timeline,
		   double most, int n);

/* "Memory usage: ▁▂█ (max: 767.800 MB, growth rate: 5%)" */
void fah_heap_usage(struct fah_text *t, const struct fah_heap *heap);
/* Below the table of a file: its largest lines on average and at the peak, and possible leaks. */
void fah_heap_file_words(struct fah_text *t, const struct fah_heap *heap,
			 const struct fah_heap_file *file);
/* Top N Functions by Memory Usage, or by what t->o->memory says. Zeroed *top; FAH_ERR_NOMEM. */
int fah_heap_top(struct fah_top *top, const struct fah_profile *p, const struct fah_heap *heap,
		 const struct fah_text *t);
/* By what that list is, as its heading has it. */
const char *fah_heap_top_by(uint32_t view);
/* At the end of a report: when and what the most was, heap and RSS, how sure all that is. */
void fah_heap_words(struct fah_text *t, const struct fah_profile *p, const struct fah_heap *heap);

#endif
