/*
 * number.c - numbers for people. Decimals are made from integers: printf's would follow the locale.
 */
#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct unit {
	uint64_t size;
	const char *name;
};

static const struct unit units[] = {
	{UINT64_C(1000000000000000), "PB"},
	{UINT64_C(1000000000000), "TB"},
	{1000000000, "GB"},
	{1000000, "MB"},
	{1000, "kB"},
};
#define N_UNITS (sizeof(units) / sizeof(units[0]))

/* The value in 10^-decimals of the unit, rounded. */
static uint64_t in_unit(uint64_t bytes, const struct unit *u, unsigned scale)
{
	uint64_t whole = bytes / u->size, rest = bytes % u->size;

	return whole * scale + (rest * scale + u->size / 2) / u->size;
}

static struct fah_num plain_bytes(uint64_t bytes)
{
	struct fah_num n;

	snprintf(n.s, sizeof(n.s), "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
	return n;
}

/* 999,999,999 bytes are 1.000 GB, not 1000.000 MB: the unit is chosen after rounding. */
static const struct unit *choose(uint64_t bytes, unsigned scale)
{
	size_t i;

	for (i = 0; i < N_UNITS; i++)
		if (in_unit(bytes, &units[i], scale) >= scale &&
		    (bytes >= units[i].size ||
		     (i + 1 < N_UNITS &&
		      in_unit(bytes, &units[i + 1], scale) >= (uint64_t)scale * 1000)))
			return &units[i];
	return NULL;
}

struct fah_num fah_num_bytes(uint64_t bytes)
{
	const struct unit *u = choose(bytes, 1000);
	struct fah_num n;
	uint64_t v;

	if (!u)
		return plain_bytes(bytes);
	v = in_unit(bytes, u, 1000);
	snprintf(n.s, sizeof(n.s), "%" PRIu64 ".%03" PRIu64 " %s", v / 1000, v % 1000, u->name);
	return n;
}

struct fah_num fah_num_bytes_short(uint64_t bytes)
{
	const struct unit *u = choose(bytes, 1);
	struct fah_num n;

	if (!u)
		return plain_bytes(bytes);
	snprintf(n.s, sizeof(n.s), "%" PRIu64 " %s", in_unit(bytes, u, 1), u->name);
	return n;
}

struct fah_num fah_num_bytes_column(uint64_t bytes)
{
	const struct unit *u = choose(bytes, 1);
	struct fah_num n;

	if (u)
		snprintf(n.s, sizeof(n.s), "%" PRIu64 "%c", in_unit(bytes, u, 1), u->name[0]);
	else
		snprintf(n.s, sizeof(n.s), "%" PRIu64, bytes);
	return n;
}

/* No llround: it would be all that needs libm. */
static int64_t nearest(double v)
{
	return (int64_t)(v < 0 ? v - 0.5 : v + 0.5);
}

/* v in fixed point; what no report can mean (NaN, beyond 10^15) becomes "?". */
static struct fah_num fixed(double v, unsigned decimals, const char *after)
{
	static const unsigned scales[] = {1, 10, 100, 1000};
	unsigned scale = scales[decimals];
	struct fah_num n;
	int64_t i;

	if (!(fabs(v) < 1e15)) {
		snprintf(n.s, sizeof(n.s), "?%s", after);
		return n;
	}
	i = nearest(v * scale);
	if (!decimals)
		snprintf(n.s, sizeof(n.s), "%" PRId64 "%s", i, after);
	else
		snprintf(n.s, sizeof(n.s), "%s%" PRIu64 ".%0*" PRIu64 "%s", i < 0 ? "-" : "",
			 (uint64_t)(i < 0 ? -i : i) / scale, (int)decimals,
			 (uint64_t)(i < 0 ? -i : i) % scale, after);
	return n;
}

struct fah_num fah_num_seconds(double s)
{
	return fixed(s, 3, " seconds");
}

struct fah_num fah_num_seconds_short(double s)
{
	return fixed(s, 3, "s");
}

struct fah_num fah_num_duration(double s)
{
	static const struct {
		double size;
		const char *after;
	} steps[] = {{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {1e-9, " ns"}};
	size_t i = 0;
	double v;

	/* what rounds to 1000 of a unit is 1.00 of the next */
	while (i + 1 < sizeof(steps) / sizeof(steps[0]) && fabs(s) < 0.9995 * steps[i].size)
		i++;
	v = s / steps[i].size;
	return fixed(v, fabs(v) < 9.995 ? 2 : fabs(v) < 99.95 ? 1 : 0, steps[i].after);
}

struct fah_num fah_num_percent(double share)
{
	return fixed(share * 100, 2, "%");
}

struct fah_num fah_num_hz(double hz)
{
	bool whole = hz < 1e9 && fabs(hz - (double)nearest(hz)) < 0.05;

	return fixed(hz, whole ? 0 : 1, " Hz");
}

struct fah_num fah_num_count(uint64_t v)
{
	struct fah_num n;
	char digits[24];
	size_t len, i, o = 0;

	len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, v);
	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			n.s[o++] = ',';
		n.s[o++] = digits[i];
	}
	n.s[o] = '\0';
	return n;
}
