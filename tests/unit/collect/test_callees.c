/*
 * test_callees.c - is it a C function that was called, or the interpreter's own way to call Python?
 * This program plays the interpreter: functions and tables of its names, and calls of every shape.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/callees.h"
#include "native/names.h"

#include <string.h>

#ifdef __clang__ /* which makes no copies of functions, and knows no word for it */
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noinline, noclone, used))
#endif
#define PLAYED KEPT __attribute__((visibility("default")))

typedef uint64_t (*played)(void);

/* Where the caller's call instruction ends: what a walk has of it. */
#define CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0) - 1)

uint64_t _PyFunction_Vectorcall(void);
uint64_t _PyObject_MakeTpCall(played given);
uint64_t cfunction_vectorcall_O(void);

PLAYED uint64_t _PyFunction_Vectorcall(void)
{
	return CALLER;
}

PLAYED uint64_t cfunction_vectorcall_O(void)
{
	return CALLER;
}

KEPT static uint64_t helper(void)
{
	return CALLER;
}

KEPT static uint64_t unknown(void)
{
	return CALLER;
}

KEPT static uint64_t in_methods(void)
{
	return CALLER;
}

KEPT static uint64_t calls_types(void)
{
	return CALLER;
}

KEPT static uint64_t calls_init(void)
{
	return CALLER;
}

KEPT static uint64_t wraps_init(void)
{
	return CALLER;
}

/* Goes on to what it is given, by a jump where the compiler makes one. */
PLAYED uint64_t _PyObject_MakeTpCall(played given)
{
	uint64_t caller = CALLER;

	if (given)
		return given();
	return caller;
}

/* As the interpreter's tables and types are. */
struct method {
	const char *name;
	played function;
	int flags;
	const char *doc;
};
struct slot {
	const char *name;
	int offset;
	played function, wrapper;
};
struct type {
	uint64_t before[6];
	played dealloc;
	uint64_t between[9];
	played call;
	uint64_t behind[40];
};
extern struct method fah_test_methods[];
extern struct slot fah_test_slots[];
extern struct type PyType_Type;
struct method fah_test_methods[] = {{"in_methods", in_methods, 8, NULL}, {NULL, NULL, 0, NULL}};
struct slot fah_test_slots[] = {{"__init__", 296, calls_init, wraps_init}};
struct type PyType_Type = {.dealloc = unknown, .call = calls_types};
_Static_assert(offsetof(struct type, dealloc) == 48 && offsetof(struct type, call) == 128,
	       "as in PyTypeObject");

static struct fah_elf *elf;
static struct fah_names *names;
static struct fah_callees *callees;
static uint64_t bias; /* from addresses to offsets */

static int begin(void **state)
{
	uint64_t start, end;

	(void)state;
	if (fah_elf_open("/proc/self/exe", &elf) < 0)
		return -1;
	names = fah_names_new(elf, "", "/proc/self/exe");
	if (!names || !fah_names_range(names, "_PyFunction_Vectorcall", &start, &end))
		return -1;
	bias = (uint64_t)(uintptr_t)_PyFunction_Vectorcall - start;
	callees = fah_callees_new(elf, names);
	return callees ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	fah_callees_free(callees);
	fah_names_free(names);
	fah_elf_free(elf);
	return 0;
}

static void assert_step(uint64_t caller, played callee, enum fah_callee_step wanted)
{
	for (int i = 0; i < 2; i++) /* the second time it is remembered */
		assert_int_equal(fah_callees_step(callees, caller - bias,
						  (uint64_t)(uintptr_t)callee + 1 - bias),
				 wanted);
}

static uint64_t through(played volatile *function)
{
	uint64_t caller = (*function)();

	__asm__ volatile("" ::: "memory"); /* no jump */
	return caller;
}

static void test_by_name(void **state)
{
	uint64_t caller;

	(void)state;
	caller = helper(); /* a name that says nothing */
	assert_step(caller, helper, FAH_CALLEE_PYTHON);
	caller = _PyFunction_Vectorcall();
	assert_step(caller, _PyFunction_Vectorcall, FAH_CALLEE_PYTHON);
	caller = cfunction_vectorcall_O();
	assert_step(caller, cfunction_vectorcall_O, FAH_CALLEE_C);
	caller = in_methods(); /* as compilers call what is called often */
	assert_step(caller, in_methods, FAH_CALLEE_C);
	caller = calls_types();
	assert_step(caller, calls_types, FAH_CALLEE_PASSES);
	caller = calls_init();
	assert_step(caller, calls_init, FAH_CALLEE_PASSES);
}

static void test_passed_on(void **state)
{
	uint64_t caller = _PyObject_MakeTpCall(NULL);

	(void)state;
	assert_step(caller, (played)(void (*)(void))_PyObject_MakeTpCall, FAH_CALLEE_PASSES);
	/* it has jumped */
	assert_step(caller, unknown, FAH_CALLEE_POINTER);
	assert_step(caller, in_methods, FAH_CALLEE_C);
	assert_step(caller, _PyFunction_Vectorcall, FAH_CALLEE_PYTHON);
	assert_step(caller, calls_types, FAH_CALLEE_PASSES);
}

static void test_by_pointer(void **state)
{
	static played volatile pointer;
	uint64_t caller;

	(void)state;
	pointer = unknown;
	caller = through(&pointer);
	assert_step(caller, unknown, FAH_CALLEE_POINTER);
	assert_step(caller, in_methods, FAH_CALLEE_C);
	assert_step(caller, _PyFunction_Vectorcall, FAH_CALLEE_PYTHON);
	assert_step(caller, calls_types, FAH_CALLEE_PASSES);
}

KEPT static uint64_t frees(const struct type *type)
{
	uint64_t caller;

	__asm__ volatile("call *0x30(%1)"
			 : "=a"(caller)
			 : "r"(type)
			 : "memory", "cc", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
	return caller;
}

/* What frees an object is no call of the program's, whatever is called for it. */
static void test_freed(void **state)
{
	(void)state;
	assert_step(frees(&PyType_Type), unknown, FAH_CALLEE_FREES);
}

/* Offsets of nowhere, as a hostile process may send them. */
static void test_nowhere(void **state)
{
	(void)state;
	assert_int_equal(fah_callees_step(callees, 0, 0), FAH_CALLEE_HELPER);
	assert_int_equal(fah_callees_step(callees, UINT64_MAX, UINT64_MAX), FAH_CALLEE_HELPER);
	assert_int_equal(fah_callees_step(callees, 1ull << 60, 5), FAH_CALLEE_HELPER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_name),	   cmocka_unit_test(test_passed_on),
		cmocka_unit_test(test_by_pointer), cmocka_unit_test(test_freed),
		cmocka_unit_test(test_nowhere),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
