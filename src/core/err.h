/*
 * err.h - the one list of failures. Functions return 0 (or a count) on success and a negative
 * enum fah_err on failure; results go through ret_ parameters, written only on success.
 * The texts for people stand in base/err.c.
 */
#ifndef FAH_CORE_ERR_H
#define FAH_CORE_ERR_H

enum fah_err {
	FAH_ERR_NOMEM = -1,	     /* no memory */
	FAH_ERR_SYS = -2,	     /* a system call failed; errno says why */
	FAH_ERR_FORMAT = -3,	     /* not one of our files, or its head is damaged */
	FAH_ERR_VERSION = -4,	     /* one of our files, from a newer version */
	FAH_ERR_DAMAGED = -5,	     /* a record is cut or its checksum is wrong */
	FAH_ERR_RANGE = -6,	     /* a number from outside is not possible */
	FAH_ERR_FAULT = -7,	     /* memory of the target could not be read */
	FAH_ERR_UNKNOWN_PYTHON = -8, /* an interpreter whose layout we don't know */
	FAH_ERR_MISMATCH = -9,	     /* our walk and the interpreter's own answer differ */
	FAH_ERR_EXISTS = -10,	     /* something is in the way of an output */
	FAH_ERR_USAGE = -11,	     /* the caller's arguments */
	FAH_ERR_DOUBT = -12,	     /* a stack that could not be proved: drop the sample */
	FAH_ERR_SPECIAL = -13,	     /* a device, pipe or socket where an output was to go */
};

#endif
