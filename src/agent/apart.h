/*
 * apart.h - what needs a descriptor, where the program's other threads cannot meet it.
 */
#ifndef FAH_AGENT_APART_H
#define FAH_AGENT_APART_H

#include <stddef.h>

/*
 * fn(arg), on that stack (aligned to 16, 16 kB), in a thread whose descriptors are not the
 * program's; it has ended on return. Where no thread can be had: right here. fn makes raw system
 * calls only, and no use of TLS.
 */
void fah_apart(void (*fn)(void *), void *arg, void *stack, size_t size);
#define FAH_APART_STACK 16384u

#endif
