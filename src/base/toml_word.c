/* toml_word.c - values without quotes: numbers, booleans, dates and times. */
#include "base/toml_parser.h"

#include "core/err.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX 1024 /* bytes of a number; the standard has no limit */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool of_base(char c, int base)
{
	if (base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
		return true;
	return is_digit(c) && c < '0' + base;
}

/* Behind digits with single '_' between them; NULL: there is not even one. */
static const char *digits(const char *s, int base)
{
	if (!of_base(*s, base))
		return NULL;
	for (s++;; s++) {
		if (*s == '_' && of_base(s[1], base))
			continue;
		if (!of_base(*s, base))
			return s;
	}
}

/* A sign, then no zero in front of other digits. */
static const char *whole_part(const char *s)
{
	if (*s == '+' || *s == '-')
		s++;
	return *s == '0' ? s + 1 : digits(s, 10);
}

/* Does the word have a number's form, and a float's? */
static bool is_number(const char *word, bool *ret_float)
{
	const char *s = whole_part(word);

	*ret_float = false;
	if (s && *s == '.') {
		*ret_float = true;
		s = digits(s + 1, 10);
	}
	if (s && (*s == 'e' || *s == 'E')) {
		*ret_float = true;
		s += s[1] == '+' || s[1] == '-' ? 2 : 1;
		s = digits(s, 10);
	}
	return s && !*s;
}

static void drop_underscores(char *word)
{
	char *w = word;

	for (const char *r = word; *r; r++)
		if (*r != '_')
			*w++ = *r;
	*w = 0;
}

static int base_of(const char *word)
{
	if (word[0] != '0')
		return 0;
	return word[1] == 'x' ? 16 : word[1] == 'o' ? 8 : word[1] == 'b' ? 2 : 0;
}

/* 1: it was one. 0: it is none. */
static int integer(struct fah_toml_parser *ps, const char *at, char *word, struct fah_toml *value)
{
	int base = base_of(word);
	const char *end;
	bool is_float;

	if (base) {
		end = digits(word + 2, base);
		if (!end || *end)
			return 0;
	} else if (!is_number(word, &is_float) || is_float) {
		return 0;
	}
	drop_underscores(word);
	errno = 0;
	value->integer = strtoll(base ? word + 2 : word, NULL, base ? base : 10);
	if (errno == ERANGE)
		return fah_toml_fail(ps, at, "an integer beyond 64 bits");
	value->type = FAH_TOML_INTEGER;
	return 1;
}

static int number(struct fah_toml_parser *ps, char *word, struct fah_toml *value)
{
	const char *s = word + (*word == '+' || *word == '-');
	bool is_float;

	value->type = FAH_TOML_FLOAT;
	if (!strcmp(s, "inf") || !strcmp(s, "nan")) {
		value->number = *s == 'i' ? (double)INFINITY : (double)NAN;
		if (*word == '-')
			value->number = -value->number;
		return 1;
	}
	if (!is_number(word, &is_float) || !is_float)
		return 0;
	if (!ps->c_locale)
		ps->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!ps->c_locale)
		return FAH_ERR_NOMEM;
	drop_underscores(word);
	value->number = strtod_l(word, NULL, ps->c_locale);
	return 1;
}

/* n digits and what stands behind them; -1: that is not what is there. */
static int field(const char **s, int n, char behind)
{
	int v = 0;

	for (int i = 0; i < n; i++, (*s)++) {
		if (!is_digit(**s))
			return -1;
		v = v * 10 + (**s - '0');
	}
	if (behind && *(*s)++ != behind)
		return -1;
	return v;
}

static int days_in(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

static bool date(const char **s, struct fah_toml_time *t)
{
	t->year = field(s, 4, '-');
	t->month = t->year < 0 ? -1 : field(s, 2, '-');
	t->day = t->month < 0 ? -1 : field(s, 2, 0);
	return t->day >= 1 && t->month >= 1 && t->month <= 12 &&
	       t->day <= days_in(t->year, t->month);
}

/* A second may be the 60th: where a leap second was is not ours to know. */
static bool time_of_day(const char **s, struct fah_toml_time *t)
{
	uint32_t unit = 100000000;

	t->hour = field(s, 2, ':');
	t->minute = t->hour < 0 ? -1 : field(s, 2, ':');
	t->second = t->minute < 0 ? -1 : field(s, 2, 0);
	if (t->second < 0 || t->hour > 23 || t->minute > 59 || t->second > 60)
		return false;
	if (**s != '.')
		return true;
	if (!is_digit(*++*s))
		return false;
	for (; is_digit(**s); ++*s, unit /= 10)
		t->nanoseconds += unit * (uint32_t)(**s - '0');
	return true;
}

static bool offset(const char **s, struct fah_toml_time *t)
{
	int sign, hours, minutes;

	if (**s == 'Z' || **s == 'z') {
		++*s;
		return true;
	}
	sign = **s == '+' ? 1 : **s == '-' ? -1 : 0;
	++*s;
	hours = sign ? field(s, 2, ':') : -1;
	minutes = hours < 0 ? -1 : field(s, 2, 0);
	t->offset_minutes = sign * (hours * 60 + minutes);
	return minutes >= 0 && hours <= 23 && minutes <= 59;
}

static bool looks_like_date(const char *word)
{
	return is_digit(word[0]) && is_digit(word[1]) && is_digit(word[2]) && is_digit(word[3]) &&
	       word[4] == '-';
}

static bool looks_like_time(const char *word)
{
	return is_digit(word[0]) && is_digit(word[1]) && word[2] == ':';
}

/* 1: it was one. 0: it does not look like one. */
static int moment(struct fah_toml_parser *ps, const char *at, const char *word,
		  struct fah_toml *value)
{
	struct fah_toml_time *t = &value->time;
	const char *s = word;
	bool ok;

	memset(t, 0, sizeof(*t));
	if (looks_like_time(word)) {
		value->type = FAH_TOML_LOCAL_TIME;
		ok = time_of_day(&s, t);
	} else if (looks_like_date(word)) {
		value->type = FAH_TOML_LOCAL_DATE;
		ok = date(&s, t);
		if (ok && *s) {
			value->type = FAH_TOML_LOCAL_DATETIME;
			ok = *s == 'T' || *s == 't' || *s == ' ';
			s++;
			ok = ok && time_of_day(&s, t);
			if (ok && *s) {
				value->type = FAH_TOML_DATETIME;
				ok = offset(&s, t);
			}
		}
	} else {
		return 0;
	}
	if (ok && !*s)
		return 1;
	return fah_toml_fail(ps, at,
			     "'%s' is no date or time; 1979-05-27, 07:32:00, "
			     "1979-05-27T07:32:00 and 1979-05-27T07:32:00Z are",
			     fah_toml_show(word, strlen(word)).s);
}

static bool in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
	       c == '+' || c == '-' || c == '.' || c == ':';
}

int fah_toml_word(struct fah_toml_parser *ps, struct fah_toml *value)
{
	const char *at = ps->p;
	char word[WORD_MAX];
	size_t n;
	int found;

	while (in_word(*ps->p))
		ps->p++;
	/* A date and its time may have a space between them. */
	if (ps->p - at == 10 && looks_like_date(at) && *ps->p == ' ' && is_digit(ps->p[1]))
		for (ps->p++; in_word(*ps->p);)
			ps->p++;
	n = (size_t)(ps->p - at);
	if (!n)
		return fah_toml_fail(ps, at, "a value is missing");
	if (n >= sizeof(word))
		return fah_toml_fail(ps, at, "a number of more than %d digits", WORD_MAX - 1);
	memcpy(word, at, n);
	word[n] = 0;
	if (!strcmp(word, "true") || !strcmp(word, "false")) {
		value->type = FAH_TOML_BOOLEAN;
		value->boolean = *word == 't';
		return 0;
	}
	found = moment(ps, at, word, value);
	if (!found)
		found = integer(ps, at, word, value);
	if (!found)
		found = number(ps, word, value);
	if (found < 0)
		return found;
	return found ? 0
		     : fah_toml_fail(ps, at,
				     "'%s' is no value; text needs quotes: \"...\" or '...'",
				     fah_toml_show(word, n).s);
}
