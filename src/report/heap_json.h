/* heap_json.h - the heap's numbers for programs. */
#ifndef FAH_REPORT_HEAP_JSON_H
#define FAH_REPORT_HEAP_JSON_H

#include "base/json.h"
#include "model/heap.h"

/* A key "heap" and all of it. */
void fah_heap_json(struct fah_json *j, const struct fah_profile *p, const struct fah_heap *heap);

#endif
