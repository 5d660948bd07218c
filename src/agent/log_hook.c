/*
 * log_hook.c - what the changed code of logging and warnings tells us, into the thread's chunk.
 *
 * An object whose @ operator is a function here stands among the constants of that code
 * (inside/logs.py). The function runs no Python code, so no signal handler and no other thread of
 * the program comes in between, and nothing that it does can raise. The collector writes the file.
 */
#include "agent/agent.h"
#include "agent/hooks.h"
#include "agent/log_text.h"
#include "core/sys.h"
#include "core/varint.h"

#include <string.h>

#define MATRIX_MULTIPLY 75     /* Py_nb_matrix_multiply, stable ABI */
#define HAS_VERSION (1u << 18) /* Py_TPFLAGS_DEFAULT of 3.8 */
#define NAME_MAX_LEN 1024u
#define A_SECOND_MAX (16u << 20) /* bytes: samples need room too */
#define ADAPTERS_MAX 8
#define FRAMES_MAX 64

enum kind { SUPPRESSED = 0, RECORD = 1, GIVEN = 2, SHOWN = 3 }; /* as in inside/logs.py */

/* One line to be; objects are str, new, or NULL. */
struct entry {
	long level, line;
	fah_object *level_name, *name, *file, *text, *more, *stack;
};

static fah_object *the_hook;
static const void *given_message; /* shown by the program's own function, which may hand it on */

struct bytes {
	const char *at;
	size_t n;
};

static fah_object *take(fah_object *o)
{
	if (o)
		fah_py.incref(o);
	return o;
}

static bool within_rate(size_t n)
{
	static uint64_t second, used;
	uint64_t now = fah_now_mono() / 1000000000u;

	if (now != second) {
		second = now;
		used = 0;
	}
	used += n;
	return used <= A_SECOND_MAX;
}

static uint8_t *put_str(uint8_t *p, struct bytes b)
{
	p = fah_put_varint(p, b.n);
	memcpy(p, b.at, b.n);
	return p + b.n;
}

enum { LEVEL_NAME, NAME, FILE_NAME, TEXT, MORE, STACK, PARTS };

static void put(struct fah_thread_state *t, const struct entry *e, const struct bytes *parts)
{
	size_t max = (PARTS + 4) * FAH_VARINT_MAX;
	uint8_t *p;

	for (int i = 0; i < PARTS; i++)
		max += parts[i].n;
	p = fah_record_begin(t, max);
	if (!p)
		return;
	p = fah_record_put_time(t, p);
	p = fah_put_varint(p, e->level > 0 ? (uint64_t)e->level : 0);
	p = fah_put_varint(p, e->line > 0 ? (uint64_t)e->line : 0);
	for (int i = 0; i < PARTS; i++)
		p = put_str(p, parts[i]);
	fah_record_commit(t, FAH_SEG_LOG, p);
}

static void write_parts(const struct entry *e, const struct bytes *parts)
{
	struct fah_segment_head *head;
	struct fah_thread_state *t;
	size_t all = 64;
	bool written = false;

	for (int i = 0; i < PARTS; i++)
		all += parts[i].n;
	if (!fah_writing_begin())
		return;
	if (atomic_load(&fah_agent.pid) == (uint32_t)FAH_SYS0(SYS_getpid) &&
	    (fah_segment_head() || fah_segment_start() == 0) && !fah_segment_closed()) {
		t = within_rate(all) ? fah_thread_current() : NULL;
		if (t && !atomic_exchange(&t->busy, true)) {
			put(t, e, parts);
			written = t->chunk != NULL;
			atomic_store(&t->busy, false);
		}
		head = fah_segment_head();
		if (!written && head)
			atomic_fetch_add(&head->logs_lost, 1);
	}
	fah_writing_end();
}

/* The str's bytes, which *ret_owner keeps. What is too long is cut, at the start of a character. */
static struct bytes bytes_of(fah_object *str, size_t max, fah_object **ret_owner)
{
	struct bytes b = {"", 0};

	*ret_owner = str ? fah_py.encode(str, "utf-8", "backslashreplace") : NULL;
	if (!*ret_owner) {
		fah_py.err_clear();
		return b;
	}
	b.at = fah_py.bytes_as(*ret_owner);
	b.n = (size_t)fah_py.bytes_size(*ret_owner);
	if (b.n > max)
		for (b.n = max; b.n && ((uint8_t)b.at[b.n] & 0xc0) == 0x80;)
			b.n--;
	return b;
}

static void write_entry(const struct entry *e)
{
	fah_object *owners[PARTS];
	struct bytes parts[PARTS];

	parts[LEVEL_NAME] = bytes_of(e->level_name, NAME_MAX_LEN, &owners[LEVEL_NAME]);
	parts[NAME] = bytes_of(e->name, NAME_MAX_LEN, &owners[NAME]);
	parts[FILE_NAME] = bytes_of(e->file, NAME_MAX_LEN * 4, &owners[FILE_NAME]);
	parts[TEXT] = bytes_of(e->text, FAH_LOG_TEXT_MAX, &owners[TEXT]);
	parts[MORE] = bytes_of(e->more, FAH_LOG_TEXT_MAX / 4, &owners[MORE]);
	parts[STACK] = bytes_of(e->stack, FAH_LOG_TEXT_MAX / 4, &owners[STACK]);
	write_parts(e, parts);
	for (int i = 0; i < PARTS; i++)
		fah_py_drop(owners[i]);
}

static void release(struct entry *e)
{
	fah_py_drop(e->level_name);
	fah_py_drop(e->name);
	fah_py_drop(e->file);
	fah_py_drop(e->text);
	fah_py_drop(e->more);
	fah_py_drop(e->stack);
}

static long number_of(fah_object *o)
{
	long n = o && fah_py.is_subtype(fah_py_type(o), fah_py.t_int) ? fah_py.long_as(o) : 0;

	fah_py.err_clear();
	return n;
}

/* Of a logger, or what stands for one: an adapter has its own inside. New, or NULL. */
static fah_object *name_of(fah_object *logger)
{
	fah_object *dict = fah_py.dict_of(logger, NULL), *name = NULL, *inner;

	for (int i = 0; dict && i < ADAPTERS_MAX; i++) {
		name = take(fah_log_get(dict, "name", fah_py.t_str));
		inner = name ? NULL : fah_py.dict_get_text(dict, "logger");
		logger = take(inner);
		fah_py.decref(dict);
		dict = logger ? fah_py.dict_of(logger, NULL) : NULL;
		fah_py_drop(logger);
	}
	fah_py_drop(dict);
	fah_py.err_clear();
	return name;
}

/* "Kind: text" of the exception; new, or NULL. */
static fah_object *exception_text(fah_object *value)
{
	fah_object *form, *both, *text, *made = NULL;
	const char *name;

	if (!value || !fah_py.is_subtype(fah_py_type(value), *fah_py.e_base))
		return NULL;
	name = fah_py_word(fah_py_type(value), FAH_TYPE_NAME);
	form = fah_py.str_from("%s: %s", 6);
	both = fah_py.tuple_new(2);
	text = fah_log_str(value);
	if (form && both && text) {
		fah_py.tuple_set(both, 0, fah_py.str_from(name, (ptrdiff_t)strlen(name)));
		fah_py.tuple_set(both, 1, take(text));
		made = fah_py.format(form, both);
	}
	fah_py.err_clear();
	fah_py_drop(form);
	fah_py_drop(both);
	fah_py_drop(text);
	return made;
}

/* exc_info as it is given: an exception, a tuple, or anything true for the one being handled. */
static fah_object *given_exception(fah_object *info)
{
	fah_object *type = NULL, *value = NULL, *trace = NULL, *text = NULL;

	if (!info || info == fah_py.none || info == fah_py.no)
		return NULL;
	if (fah_py_type(info) == fah_py.t_tuple)
		return fah_py.tuple_size(info) > 1 ? exception_text(fah_py.tuple_get(info, 1))
						   : NULL;
	if (fah_py.is_subtype(fah_py_type(info), *fah_py.e_base))
		return exception_text(info);
	if (fah_py_type(info) != fah_py.t_bool && fah_py_type(info) != fah_py.t_int)
		return NULL;
	fah_py.exc_info(&type, &value, &trace);
	text = exception_text(value);
	fah_py_drop(type);
	fah_py_drop(value);
	fah_py_drop(trace);
	return text;
}

/* The file and line that called logging: the first frame that is not its own. */
static void find_caller(struct entry *e, long stacklevel)
{
	fah_object *frame = take(fah_py.frame()), *code, *file = NULL, *own = NULL, *line, *back;

	for (int i = 0; frame && frame != fah_py.none && i < FRAMES_MAX; i++) {
		/* 3.8: its attribute is an audit event */
		code = fah_py.frame_code ? fah_py.frame_code(frame)
					 : take(fah_py_word(frame, fah_agent.layout.f_code));
		file = code ? fah_py.get_attr(code, "co_filename") : NULL;
		fah_py_drop(code);
		if (!own)
			own = take(file);
		if (file && fah_py.compare(file, own) != 0 && stacklevel-- <= 1)
			break;
		fah_py_drop(file);
		file = NULL;
		back = fah_py.get_attr(frame, "f_back");
		fah_py.decref(frame);
		frame = back;
	}
	if (file) {
		line = fah_py.get_attr(frame, "f_lineno");
		e->file = file;
		e->line = number_of(line);
		fah_py_drop(line);
	}
	fah_py_drop(frame);
	fah_py_drop(own);
	fah_py.err_clear();
}

/* As logging calls it, by its table, which the program may have added to. New, or NULL. */
static fah_object *level_name(fah_object *level)
{
	fah_object *names = fah_py_global("logging", "_levelToName"), *name = NULL;

	if (names && fah_py_type(names) == fah_py.t_dict && fah_py_type(level) == fah_py.t_int)
		name = fah_py.dict_get(names, level);
	return name && fah_py_type(name) == fah_py.t_str ? take(name) : NULL;
}

/* logger, level, msg, args, kwargs: a call that the program's own level made nothing of. */
static void on_suppressed(fah_object *v)
{
	fah_object *level = fah_py.tuple_get(v, 2), *kwargs = fah_py.tuple_get(v, 5);
	struct entry e = {.level = number_of(level)};

	if (e.level < (long)fah_agent.log_level)
		return;
	e.level_name = level_name(level);
	e.name = name_of(fah_py.tuple_get(v, 1));
	e.text = fah_log_message(fah_py.tuple_get(v, 3), fah_py.tuple_get(v, 4));
	e.more = given_exception(fah_py.dict_get_text(kwargs, "exc_info"));
	find_caller(&e, number_of(fah_py.dict_get_text(kwargs, "stacklevel")));
	write_entry(&e);
	release(&e);
}

/* level, record: it was handled, so what its handlers made of it is there to be used. */
static void on_record(fah_object *v)
{
	struct entry e = {.level = number_of(fah_py.tuple_get(v, 1))};
	fah_object *d, *text;

	if (e.level < (long)fah_agent.log_level)
		return;
	d = fah_py.dict_of(fah_py.tuple_get(v, 2), NULL);
	if (!d) {
		fah_py.err_clear();
		return;
	}
	e.level_name = take(fah_log_get(d, "levelname", fah_py.t_str));
	e.name = take(fah_log_get(d, "name", fah_py.t_str));
	e.file = take(fah_log_get(d, "pathname", fah_py.t_str));
	e.line = number_of(fah_py.dict_get_text(d, "lineno"));
	e.text = take(fah_log_get(d, "message", fah_py.t_str));
	text = e.text ? NULL : fah_py.dict_get_text(d, "msg");
	if (text)
		e.text = fah_log_message(text, fah_py.dict_get_text(d, "args"));
	e.more = take(fah_log_get(d, "exc_text", fah_py.t_str));
	if (!e.more)
		e.more = given_exception(fah_log_get(d, "exc_info", fah_py.t_tuple));
	e.stack = take(fah_log_get(d, "stack_info", fah_py.t_str));
	fah_py.decref(d);
	write_entry(&e);
	release(&e);
}

static void put_warning(fah_object *d)
{
	fah_object *message = fah_py.dict_get_text(d, "message"),
		   *category = fah_py.dict_get_text(d, "category");
	struct entry e = {.level = 30};
	const char *name = category && fah_py.is_subtype(fah_py_type(category), fah_py.t_type)
				   ? fah_py_word(category, FAH_TYPE_NAME)
				   : "Warning";

	e.level_name = fah_py.str_from("WARNING", 7);
	e.name = fah_py.str_from(name, (ptrdiff_t)strlen(name));
	e.file = take(fah_log_get(d, "filename", fah_py.t_str));
	e.line = number_of(fah_py.dict_get_text(d, "lineno"));
	e.text = message ? fah_log_str(message) : NULL;
	write_entry(&e);
	release(&e);
}

/* logging.captureWarnings(): it comes again, as a record. */
static bool is_of_logging(fah_object *function)
{
	return fah_py_global("logging", "_showwarning") == function;
}

/* A WarningMessage; function: the program's own that is to show it, or NULL. */
static void on_warning(fah_object *warning, fah_object *function)
{
	fah_object *d = fah_py.dict_of(warning, NULL), *message;

	if (!d) {
		fah_py.err_clear();
		return;
	}
	message = fah_py.dict_get_text(d, "message");
	if (function) {
		if (!is_of_logging(function))
			put_warning(d);
		given_message = is_of_logging(function) ? NULL : message;
	} else {
		if (!message || message != given_message)
			put_warning(d);
		given_message = NULL;
	}
	fah_py.decref(d);
}

static fah_object *told(fah_object *hook, fah_object *values)
{
	unsigned char *overflow = fah_py_overflow_before();
	long kind;

	fah_log_text_setup();
	if (hook == the_hook && fah_py_type(values) == fah_py.t_tuple && !fah_py.err_occurred()) {
		kind = number_of(fah_py.tuple_get(values, 0));
		if (kind == SUPPRESSED)
			on_suppressed(values);
		else if (kind == RECORD)
			on_record(values);
		else if (kind == GIVEN)
			on_warning(fah_py.tuple_get(values, 2), fah_py.tuple_get(values, 1));
		else
			on_warning(fah_py.tuple_get(values, 1), NULL);
		fah_py.err_clear();
	}
	fah_py_overflow_after(overflow);
	fah_py.incref(fah_py.no);
	return fah_py.no;
}

fah_object *fah_log_hook(void)
{
	static struct fah_type_slot slots[] = {{MATRIX_MULTIPLY, (void *)(uintptr_t)told},
					       {0, NULL}};
	static struct fah_type_spec spec = {"builtins.fixingahole_hook", 16, 0, HAS_VERSION, slots};
	fah_object *type;

	if (!the_hook) {
		type = fah_py.type_from(&spec);
		the_hook = type ? fah_py.call(type, NULL) : NULL;
		fah_py_drop(type);
	}
	return take(the_hook);
}

void fah_log_note(const char *module, const char *why)
{
	struct entry e = {.level = 0};
	struct bytes parts[PARTS] = {
		{"", 0}, {module, strlen(module)}, {"", 0}, {why, strlen(why)}, {"", 0}, {"", 0}};

	write_parts(&e, parts);
}
