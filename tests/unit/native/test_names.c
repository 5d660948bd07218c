/*
 * test_names.c - names as people write them: of C++, of Rust in both its ways, of stubs, of the
 * vdso, of code that nothing names; hostile ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "core/err.h"
#include "native/demangle.h"
#include "native/names.h"
#include "native/perf_map.h"
#include "native/plt.h"

#include <elf.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static void assert_name(const char *mangled, const char *wanted)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;

	fah_strbuf_adds(&text, "before ");
	if (!wanted) {
		assert_false(fah_demangle(mangled, &text));
		assert_string_equal(text.p, "before ");
		return;
	}
	assert_true(fah_demangle(mangled, &text));
	assert_string_equal(text.p + strlen("before "), wanted);
}

static void test_readable(void **state)
{
	if (!fah_demangle_library())
		skip();
	assert_name("_ZN3foo3barEi", "foo::bar");
	assert_name("_ZNSt6vectorIiSaIiEE9push_backERKi",
		    "std::vector<int, std::allocator<int> >::push_back");
	assert_name("_ZN3foo3barEi.cold", "foo::bar"); /* the part that is seldom run */
	/* Rust before and since 2021 */
	assert_name("_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place");
	assert_name("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
		    "3bar17h930b740aa94f1d3aE",
		    "<Test + 'static as foo::Bar<Test>>::bar");
	assert_name("_RNvNtNtCs1234_7mycrate3foo3bar3baz", "mycrate::foo::bar::baz");
	assert_name("_RNvC6_123foo3bar", "123foo::bar");
	assert_name("_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>");
	assert_name("main", NULL);
	assert_name("PyObject_Call", NULL);
	assert_name("_Znonsense", NULL);
	assert_name("_Rnonsense", NULL);
	assert_name("", NULL);
}

/* Each S_ doubles the length: what takes 200 bytes would take the memory of the machine. */
static void test_name_that_explodes(void **state)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf name = FAH_STRBUF_INIT,
							text = FAH_STRBUF_INIT;

	if (!fah_demangle_library())
		skip();
	fah_strbuf_adds(&name, "_Z1fI1AIiiE");
	for (int i = 0; i < 40; i++) {
		fah_strbuf_adds(&name, "S1_I");
		for (int twice = 0; twice < 2; twice++) {
			if (i < 2)
				fah_strbuf_adds(&name, "S2_");
			else
				fah_strbuf_addf(&name, "S%c_",
						"3456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(i - 2) % 33]);
		}
		fah_strbuf_addc(&name, 'E');
	}
	fah_strbuf_adds(&name, "Evv");
	(void)fah_demangle(name.p, &text); /* it may be no name at all, but must come to an end */
	assert_true(text.len <= FAH_NAME_MAX + 8);

	/* one that is surely long */
	fah_strbuf_truncate(&name, 0);
	fah_strbuf_adds(&name, "_ZN3foo3000");
	fah_strbuf_fill(&name, 'a', 3000);
	fah_strbuf_adds(&name, "Ev");
	fah_strbuf_truncate(&text, 0);
	assert_true(fah_demangle(name.p, &text));
	assert_int_equal(text.len, FAH_NAME_MAX + strlen("…"));
	assert_string_equal(text.p + FAH_NAME_MAX, "…");
	assert_true(!strncmp(text.p, "foo::aaaa", 9));
}

/* As deep as a name of that length can nest, on a stack of the size that we allow for it. */
static void *demangle_deep(void *unused)
{
	static const char *const nests[] = {"P",   "R",	  "K",	"1aIS", "F",
					    "A1_", "M1a", "Dp", "DT",	"C"};

	(void)unused;
	for (size_t i = 0; i < sizeof(nests) / sizeof(nests[0]); i++) {
		for (int rust = 0; rust < 2; rust++) {
			_cleanup_(fah_strbuf_release) struct fah_strbuf name = FAH_STRBUF_INIT,
									text = FAH_STRBUF_INIT;

			fah_strbuf_adds(&name, rust ? "_RINvC1a1b" : "_Z1fI");
			while (name.len < 4090)
				fah_strbuf_adds(&name, nests[i]);
			fah_strbuf_adds(&name, "iEv");
			fah_strbuf_truncate(&name, name.len < 4095 ? name.len : 4095);
			(void)fah_demangle(name.p, &text);
			assert_true(text.len <= FAH_NAME_MAX + 3);
		}
	}
	return NULL;
}

static void test_deep_names(void **state)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstacksize(&attr, 4u << 20), 0);
	assert_int_equal(pthread_create(&thread, &attr, demangle_deep, NULL), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
}

static struct fah_names *names_of(const char *path, struct fah_elf **elf)
{
	struct fah_names *names;

	assert_int_equal(*path == '[' ? fah_elf_open_vdso(elf) : fah_elf_open(path, elf), 0);
	names = fah_names_new(*elf, "", path);
	assert_non_null(names);
	return names;
}

static const char *name_at(struct fah_names *names, uint64_t offset)
{
	uint32_t n = 0;
	struct fah_name_frame *frames = fah_names_find(names, offset, &n);

	assert_non_null(frames);
	assert_true(n >= 1);
	return frames[0].function;
}

static void test_vdso(void **state)
{
	_cleanup_(fah_elf_freep) struct fah_elf *elf = NULL;
	_cleanup_(fah_names_freep) struct fah_names *names = NULL;
	struct fah_symbols syms;
	bool seen = false;

	names = names_of("[vdso]", &elf);
	assert_int_equal(fah_symbols_read(elf, &syms), 0);
	for (size_t i = 0; i < syms.n; i++) {
		const char *name = name_at(names, syms.symbols[i].start);

		assert_null(strchr(name, '+'));
		seen |= strstr(name, "clock_gettime") != NULL;
	}
	fah_symbols_release(&syms);
	assert_true(seen);
}

static void test_stubs(void **state)
{
	_cleanup_(fah_elf_freep) struct fah_elf *elf = NULL;
	_cleanup_(fah_names_freep) struct fah_names *names = NULL;
	struct fah_symbols syms, stubs;
	bool seen = false;

	names = names_of("/proc/self/exe", &elf);
	assert_int_equal(fah_symbols_read(elf, &syms), 0);
	assert_int_equal(fah_plt_read(elf, &syms, &stubs), 0);
	for (size_t i = 0; i < stubs.n; i++) {
		const struct fah_symbol *s = &stubs.symbols[i];

		assert_true(!i || s->start >= s[-1].end);
		assert_string_equal(name_at(names, s->start), s->name);
		assert_string_equal(name_at(names, s->end - 1), s->name);
		seen |= !strcmp(s->name, "sched_yield@plt");
	}
	assert_true(stubs.n > 5);
	assert_true(seen);
	fah_symbols_release(&syms);
	fah_symbols_release(&stubs);
}

static void test_unnamed(void **state)
{
	_cleanup_(fah_elf_freep) struct fah_elf *elf = NULL;
	_cleanup_(fah_names_freep) struct fah_names *names = NULL, *nowhere = NULL, *gone = NULL;

	sched_yield(); /* the stub that test_stubs looks for: no sanitizer has one of its own */
	names = names_of("/proc/self/exe", &elf);
	assert_string_equal(name_at(names, 0), "exe+0x0"); /* its head is no code */
	nowhere = fah_names_new(NULL, "", "");
	assert_string_equal(name_at(nowhere, 0x7f0012345678), "0x7f0012345678");
	gone = fah_names_new(NULL, "", "/some/where/libgone.so");
	assert_string_equal(name_at(gone, 0x1234), "libgone.so+0x1234");
	assert_ptr_equal(name_at(gone, 0x1234), name_at(gone, 0x1234));
}

static void test_perf_map(void **state)
{
	char text[] =
		"7f0000001000 40 first\n0x7f0000001040 0x20 second name\n7f0000001000 30 again\n"
		"zz 1 x\n7f00 0 empty\n7f00 8 \nffffffffffffffff ff over\n\n"
		"12345678901234567 1 long\n7f0000001048 4 inside\n1 2 cut";
	struct fah_perf_map map;

	assert_int_equal(fah_perf_map_parse(text, strlen(text), &map), 0);
	assert_int_equal(map.n, 3);
	assert_string_equal(fah_perf_map_find(&map, 0x7f0000001000)->name, "again");
	assert_null(fah_perf_map_find(&map, 0x7f0000001030));
	assert_string_equal(fah_perf_map_find(&map, 0x7f000000105f)->name, "second name");
	assert_string_equal(fah_perf_map_find(&map, 0x7f0000001049)->name, "inside");
	assert_null(fah_perf_map_find(&map, 0x7f0000001060));
	assert_null(fah_perf_map_find(&map, 0));
	fah_perf_map_release(&map);
	assert_int_equal(fah_perf_map_parse(text, 0, &map), 0);
	assert_int_equal(map.n, 0);
	fah_perf_map_release(&map);
}

static void test_defined(void **state)
{
	_cleanup_(fah_names_freep) struct fah_names *names = fah_names_new(NULL, "", "");

	assert_string_equal(name_at(names, 0x1000), "0x1000");
	assert_false(fah_names_is_defined(names, 0x1000));
	fah_names_define(names, 0x1000, "jit: loop");
	assert_true(fah_names_is_defined(names, 0x1000));
	assert_string_equal(name_at(names, 0x1000), "jit: loop");
	assert_string_equal(name_at(names, 0x1001), "0x1001");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readable),   cmocka_unit_test(test_name_that_explodes),
		cmocka_unit_test(test_deep_names), cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_stubs),	   cmocka_unit_test(test_unnamed),
		cmocka_unit_test(test_perf_map),   cmocka_unit_test(test_defined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
