/*
 * call_site.h - how code calls: by the call instruction before a return address, and by the jumps
 * and addresses that a function has. Tool side, untrusted bytes.
 */
#ifndef FAH_NATIVE_CALL_SITE_H
#define FAH_NATIVE_CALL_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAH_CALL_SITE_LEN 8u /* bytes before the return address that are looked at */

enum fah_call_kind {
	FAH_CALL_UNKNOWN = 0,
	FAH_CALL_NAMED = 1,   /* the instruction says which function */
	FAH_CALL_MEMBER = 2,  /* an address that stands at a distance from some register */
	FAH_CALL_POINTER = 3, /* any other address */
};

struct fah_call_site {
	enum fah_call_kind kind;
	uint64_t target;  /* NAMED: where, if the return address is the `at` that was given */
	int32_t distance; /* MEMBER */
};

/*
 * before: the FAH_CALL_SITE_LEN bytes before the return address `at`. Instructions cannot be read
 * backwards: bytes that could be several calls are the one by name if is_function says so of its
 * target.
 */
void fah_call_site_read(const uint8_t *before, uint64_t at,
			bool (*is_function)(void *arg, uint64_t target), void *arg,
			struct fah_call_site *ret);

/* What a function leads to, other than by calls. */
enum fah_lead_kind {
	FAH_LEAD_JUMP = 1,    /* to a place outside of it */
	FAH_LEAD_ADDRESS = 2, /* it takes an address, also in the way of code at fixed addresses */
	FAH_LEAD_MEMBER = 3,  /* as FAH_CALL_MEMBER, by a jump */
	FAH_LEAD_POINTER = 4,
};

struct fah_code_lead {
	enum fah_lead_kind kind;
	uint64_t target;  /* JUMP, ADDRESS */
	int32_t distance; /* MEMBER */
};

/* All of the function whose code this is, [at, at + len), as far as it can be read. */
void fah_code_leads(const uint8_t *code, size_t len, uint64_t at,
		    void (*found)(void *arg, const struct fah_code_lead *lead), void *arg);

#endif
