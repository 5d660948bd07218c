/* pstats_limit.c - what a limit is, and which functions it leaves. */
#include "base/cleanup.h"
#include "core/err.h"
#include "report/pstats_list.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* An integer as Python's int() reads one, without its underscores. */
static bool is_integer(const char *text)
{
	text += *text == '+' || *text == '-';
	return *text && !text[strspn(text, "0123456789")];
}

static bool is_number(const char *text)
{
	char *end;

	if (text[strspn(text, "0123456789.eE+-")])
		return false; /* strtod knows more */
	strtod(text, &end);
	return end != text && !*end;
}

int fah_pstats_limit_parse(const char *text, struct fah_pstats_limit *ret)
{
	*ret = (struct fah_pstats_limit){.type = FAH_PSTATS_REGEX, .text = text};
	if (is_integer(text)) {
		ret->type = FAH_PSTATS_COUNT;
		ret->count = strtoll(text, NULL, 10); /* at most the largest */
	} else if (is_number(text)) {
		ret->type = FAH_PSTATS_FRACTION;
		ret->fraction = strtod(text, NULL);
		if (!(ret->fraction >= 0 && ret->fraction <= 1))
			return FAH_ERR_RANGE;
	}
	return 0;
}

static int apply_regex(const char *text, struct fah_pstats_list *l, struct fah_strbuf *note)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf posix = FAH_STRBUF_INIT;
	bool ignore_case;
	regex_t re;
	size_t n = 0;
	int r = REG_BADPAT;

	if (fah_pstats_regex(text, &posix, &ignore_case))
		r = regcomp(&re, fah_strbuf_str(&posix),
			    REG_EXTENDED | REG_NOSUB | (ignore_case ? REG_ICASE : 0));
	if (posix.failed || r == REG_ESPACE)
		return FAH_ERR_NOMEM;
	if (r) {
		fah_strbuf_adds(note, "   <Invalid regular expression ");
		fah_pstats_add_repr(note, text);
		fah_strbuf_adds(note, ">\n");
		return 0;
	}
	for (size_t i = 0; i < l->n; i++)
		if (regexec(&re, l->names[l->functions[i]], 0, NULL, 0) == 0)
			l->functions[n++] = l->functions[i];
	regfree(&re);
	l->n = n;
	return 0;
}

int fah_pstats_limit_apply(const struct fah_pstats_limit *limit, struct fah_pstats_list *l,
			   struct fah_strbuf *note)
{
	size_t before = l->n;
	int err = 0;

	if (limit->type == FAH_PSTATS_REGEX)
		err = apply_regex(limit->text, l, note);
	else if (limit->type == FAH_PSTATS_FRACTION && limit->fraction < 1)
		l->n = (size_t)((double)before * limit->fraction + .5);
	else if (limit->type == FAH_PSTATS_COUNT && limit->count >= 0 &&
		 (uint64_t)limit->count < before)
		l->n = (size_t)limit->count;
	if (err < 0 || l->n == before)
		return err;
	fah_strbuf_addf(note, "   List reduced from %zu to %zu due to restriction <", before, l->n);
	if (limit->type == FAH_PSTATS_REGEX)
		fah_pstats_add_repr(note, limit->text);
	else if (limit->type == FAH_PSTATS_FRACTION)
		fah_pstats_add_float(note, limit->fraction);
	else
		fah_strbuf_addf(note, "%" PRId64, limit->count);
	fah_strbuf_adds(note, ">\n");
	return 0;
}
