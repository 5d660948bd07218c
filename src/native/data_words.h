/*
 * data_words.h - the data of a module as its loader makes it: words, with the addresses in them.
 * Tool side.
 */
#ifndef FAH_NATIVE_DATA_WORDS_H
#define FAH_NATIVE_DATA_WORDS_H

#include "native/elf_file.h"

struct fah_data_words {
	struct fah_data_part {
		uint64_t vaddr; /* a multiple of 8 */
		uint64_t *words;
		size_t n;
	} * parts; /* what can be written to, section by section */
	size_t n;
};

/* Addresses are the file's own, as symbols have them. The caller owns *ret. FAH_ERR_SYS,
 * FAH_ERR_NOMEM, FAH_ERR_DAMAGED. */
int fah_data_words_read(struct fah_elf *elf, struct fah_data_words *ret);
void fah_data_words_release(struct fah_data_words *d); /* also for _cleanup_ */
/* The word at this address; false: there is none. */
bool fah_data_words_at(const struct fah_data_words *d, uint64_t vaddr, uint64_t *ret);

#endif
