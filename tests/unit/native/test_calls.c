/*
 * test_calls.c - how code calls: the instructions before return addresses, what functions jump to
 * and take the addresses of, and the addresses in a module's data as its loader makes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "native/call_site.h"
#include "native/data_words.h"
#include "native/symbols.h"

#include <string.h>

static bool is_known(void *arg, uint64_t target)
{
	return target == *(const uint64_t *)arg;
}

/* A call whose last bytes these are, before address 0x1000; 0x1234 is a function. */
static struct fah_call_site read_site(const char *bytes, size_t len)
{
	uint8_t before[FAH_CALL_SITE_LEN];
	uint64_t function = 0x1234;
	struct fah_call_site site;

	memset(before, 0x90, sizeof(before));
	memcpy(before + sizeof(before) - len, bytes, len);
	fah_call_site_read(before, 0x1000, is_known, &function, &site);
	return site;
}

#define READ(bytes) read_site(bytes, sizeof(bytes) - 1)

static void test_sites(void **state)
{
	(void)state;
	assert_int_equal(READ("\xe8\x34\x02\x00\x00").kind, FAH_CALL_NAMED);
	assert_int_equal(READ("\xe8\x34\x02\x00\x00").target, 0x1234);
	assert_int_equal(READ("\xe8\x35\x02\x00\x00").kind, FAH_CALL_UNKNOWN); /* no function */
	assert_int_equal(READ("\xff\xd0").kind, FAH_CALL_POINTER);	       /* *%rax */
	assert_int_equal(READ("\x41\xff\xd3").kind, FAH_CALL_POINTER);	       /* *%r11 */
	assert_int_equal(READ("\xff\x50\x30").kind, FAH_CALL_MEMBER);	       /* *0x30(%rax) */
	assert_int_equal(READ("\xff\x50\x30").distance, 0x30);
	assert_int_equal(READ("\x41\xff\x52\x30").distance, 0x30); /* *0x30(%r10) */
	assert_int_equal(READ("\x41\xff\x90\x90\x01\x00\x00").distance, 0x190);
	assert_int_equal(READ("\x41\xff\x54\x24\x30").kind, FAH_CALL_MEMBER);	   /* *0x30(%r12) */
	assert_int_equal(READ("\xff\x54\x24\x30").kind, FAH_CALL_POINTER);	   /* *0x30(%rsp) */
	assert_int_equal(READ("\xff\x15\x00\x00\x00\x00").kind, FAH_CALL_POINTER); /* *(%rip) */
	assert_int_equal(READ("\xff\x54\xc8\x30").kind, FAH_CALL_POINTER); /* 0x30(%rax,%rcx,8) */
	assert_int_equal(READ("\xff\x60\x30").kind, FAH_CALL_UNKNOWN);	   /* a jump */
	assert_int_equal(READ("\x90").kind, FAH_CALL_UNKNOWN);
}

struct seen {
	struct fah_code_lead leads[8];
	int n;
};

static void see(void *arg, const struct fah_code_lead *lead)
{
	struct seen *s = arg;

	assert_true(s->n < 8);
	s->leads[s->n++] = *lead;
}

static void test_leads(void **state)
{
	static const uint8_t code[] = {
		0x75, 0x01,					/* jne inside */
		0x90,						/* nop */
		0x0f, 0x84, 0xf7, 0x0f, 0x00, 0x00,		/* je 0x2000 */
		0x0f, 0x85, 0xf1, 0xff, 0xff, 0xff,		/* jne 0x1000, itself */
		0x48, 0x8d, 0x15, 0xea, 0x1f, 0x00, 0x00,	/* lea 0x3000(%rip), %rdx */
		0x48, 0xc7, 0x40, 0x28, 0x00, 0x40, 0x00, 0x00, /* movq $0x4000, 0x28(%rax) */
		0xff, 0x60, 0x30,				/* jmp *0x30(%rax) */
		0xff, 0xe0,					/* jmp *%rax */
		0xe9, 0xd8, 0x4f, 0x00, 0x00,			/* jmp 0x6000 */
	};
	struct seen s = {.n = 0};

	(void)state;
	fah_code_leads(code, sizeof(code), 0x1000, see, &s);
	assert_int_equal(s.n, 6);
	assert_int_equal(s.leads[0].kind, FAH_LEAD_JUMP);
	assert_int_equal(s.leads[0].target, 0x2000);
	assert_int_equal(s.leads[1].kind, FAH_LEAD_ADDRESS);
	assert_int_equal(s.leads[1].target, 0x3000);
	assert_int_equal(s.leads[2].kind, FAH_LEAD_ADDRESS);
	assert_int_equal(s.leads[2].target, 0x4000);
	assert_int_equal(s.leads[3].kind, FAH_LEAD_MEMBER);
	assert_int_equal(s.leads[3].distance, 0x30);
	assert_int_equal(s.leads[4].kind, FAH_LEAD_POINTER);
	assert_int_equal(s.leads[5].kind, FAH_LEAD_JUMP);
	assert_int_equal(s.leads[5].target, 0x6000);
}

/* Cut anywhere it is read as far as it goes. */
static void test_cut(void **state)
{
	static const uint8_t code[] = {0xe9, 0x00, 0x00, 0x00, 0x01, 0x0f, 0x84, 1, 2, 3, 4};
	struct seen s = {.n = 0};

	(void)state;
	for (size_t len = 0; len <= sizeof(code); len++) {
		s.n = 0;
		fah_code_leads(code, len, 0x1000, see, &s);
		assert_int_equal(s.n, (len >= 5) + (len >= 11));
	}
}

/* A table as interpreters have: not static, so that its symbol is there. */
struct entry {
	const char *name;
	void (*function)(void **state);
	uint64_t flags;
};
extern struct entry fah_test_table[];
struct entry fah_test_table[] = {{"cut", test_cut, 7}, {NULL, NULL, 0}};

static void test_words(void **state)
{
	_cleanup_(fah_data_words_release) struct fah_data_words data = {0};
	_cleanup_(fah_symbols_release) struct fah_symbols syms = {0};
	_cleanup_(fah_elf_freep) struct fah_elf *elf = NULL;
	const struct fah_symbol *found;
	uint64_t at, word;

	(void)state;
	assert_int_equal(fah_elf_open("/proc/self/exe", &elf), 0);
	assert_int_equal(fah_data_words_read(elf, &data), 0);
	assert_int_equal(fah_symbols_read(elf, &syms), 0);
	assert_true(fah_symbols_data(elf, "fah_test_table", &at));
	assert_true(fah_data_words_at(&data, at + 16, &word));
	assert_int_equal(word, fah_test_table[0].flags);
	assert_true(fah_data_words_at(&data, at + 8, &word));
	found = fah_symbols_find(&syms, word - elf->base);
	assert_non_null(found);
	assert_string_equal(found->name, "test_cut");
	assert_false(fah_data_words_at(&data, at + 1, &word));	     /* no word begins there */
	assert_false(fah_data_words_at(&data, word & ~7ull, &word)); /* code */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sites),
		cmocka_unit_test(test_leads),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
