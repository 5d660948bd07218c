/* toml_value.c - any value: what its first character says it is; arrays and inline tables. */
#include "base/toml_parser.h"

#include "core/err.h"

static int array(struct fah_toml_parser *ps, struct fah_toml *value)
{
	const char *begin = ps->p++;
	struct fah_toml *item;
	int err;

	value->type = FAH_TOML_ARRAY;
	value->frozen = true; /* [[...]] adds to arrays of its own only */
	for (;;) {
		err = fah_toml_skip_lines(ps);
		if (err < 0)
			return err;
		if (*ps->p == ']') {
			ps->p++;
			return 0;
		}
		if (ps->p >= ps->end)
			return fah_toml_fail(ps, begin,
					     "an array that does not end: ']' is missing");
		item = fah_toml_append(ps, value, NULL);
		if (!item)
			return FAH_ERR_NOMEM;
		item->at = fah_toml_where(ps, ps->p);
		err = fah_toml_value(ps, item);
		if (err == 0)
			err = fah_toml_skip_lines(ps);
		if (err < 0)
			return err;
		if (*ps->p == ',')
			ps->p++;
		else if (*ps->p != ']')
			return fah_toml_fail(ps, ps->p,
					     "',' or ']' is missing behind a value of an array");
	}
}

static int inline_table(struct fah_toml_parser *ps, struct fah_toml *value)
{
	int err;

	value->type = FAH_TOML_TABLE;
	ps->p++;
	fah_toml_skip_blanks(ps);
	if (*ps->p != '}')
		for (;;) {
			err = fah_toml_pair(ps, value);
			if (err < 0)
				return err;
			fah_toml_skip_blanks(ps);
			if (*ps->p == '}')
				break;
			if (*ps->p != ',')
				return fah_toml_fail(ps, ps->p,
						     "',' or '}' is missing in an inline table, "
						     "which stands in one line");
			ps->p++;
			fah_toml_skip_blanks(ps);
		}
	ps->p++;
	value->frozen = true;
	return 0;
}

int fah_toml_value(struct fah_toml_parser *ps, struct fah_toml *value)
{
	int err;

	switch (*ps->p) {
	case '"':
	case '\'':
		value->type = FAH_TOML_STRING;
		return fah_toml_string(ps, false, &value->string.s, &value->string.len);
	case '[':
	case '{':
		if (ps->depth == FAH_TOML_DEPTH_MAX)
			return fah_toml_fail(ps, ps->p, "nested more than %d levels deep",
					     FAH_TOML_DEPTH_MAX);
		ps->depth++;
		err = *ps->p == '[' ? array(ps, value) : inline_table(ps, value);
		ps->depth--;
		return err;
	default:
		return fah_toml_word(ps, value);
	}
}
