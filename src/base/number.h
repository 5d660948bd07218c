/*
 * number.h - numbers for people, the same in every view. MB = 1,000,000 bytes. Independent of the
 * locale.
 */
#ifndef FAH_BASE_NUMBER_H
#define FAH_BASE_NUMBER_H

#include <stdint.h>

#define FAH_NUM_MAX 48

struct fah_num {
	char s[FAH_NUM_MAX];
};

/* Three decimals in the largest unit of which there is at least one: "512 bytes", "12.345 kB",
 * "767.800 MB", "1.706 GB". */
struct fah_num fah_num_bytes(uint64_t bytes);
/* No decimals, for tables: "610 MB". */
struct fah_num fah_num_bytes_short(uint64_t bytes);
/* The same for columns: "610M", "12k", "512". */
struct fah_num fah_num_bytes_column(uint64_t bytes);
struct fah_num fah_num_seconds(double s);	/* "9.308 seconds" */
struct fah_num fah_num_seconds_short(double s); /* "9.308s" */
struct fah_num fah_num_duration(double s);	/* three digits: "2.03 ms", "45.2 us", "1.20 s" */
struct fah_num fah_num_percent(double share);	/* 0.7059 is "70.59%" */
struct fah_num fah_num_hz(double hz);		/* "249.8 Hz", "250 Hz" */
struct fah_num fah_num_count(uint64_t n);	/* "1,234,567" */

#endif
