/*
 * test_load.c - loads that cannot fault: whole and partial batches, bad addresses, and the way
 * without the system call that a sandbox refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/load.h"
#include "core/varint.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

/* Two pages, of which the second is gone. */
static uint8_t *half_mapped(void)
{
	uint8_t *p =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	memset(p, 0x5a, PAGE);
	munmap(p + PAGE, PAGE);
	return p;
}

/* All that a reader must do, as a count of what it got wrong: also run where asserts can't report.
 */
static int failures(const struct fah_mem *mem)
{
	static const uint64_t bad[] = {
		0, 8, PAGE - 4, 1ull << 47, 0xffff800000000000ull, UINT64_MAX, UINT64_MAX - 7};
	uint8_t *half = half_mapped(), dst[64], big[3 * PAGE], src[3 * PAGE];
	uint64_t a = 0x1122334455667788ull, b = 42, ra = 0, rb = 0, rc = 7;
	struct fah_piece pieces[3] = {
		{&ra, (uint64_t)(uintptr_t)&a, 8}, {&rb, (uint64_t)(uintptr_t)&b, 8}, {&rc, 16, 8}};
	int wrong = 0, before = errno = 12345;

	wrong += mem->read(mem, pieces, 3) != 2 || ra != a || rb != b || rc != 7;
	pieces[1].addr = 16;
	rb = 9;
	wrong += mem->read(mem, pieces, 2) != 1 || rb != 9;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		wrong += fah_load(mem, bad[i], dst, 8) == 0;
	wrong += fah_load(mem, (uint64_t)(uintptr_t)half + PAGE - 8, dst, 8) != 0 || dst[7] != 0x5a;
	wrong += fah_load(mem, (uint64_t)(uintptr_t)half + PAGE - 4, dst, 8) == 0;
	for (size_t i = 0; i < sizeof(src); i++)
		src[i] = (uint8_t)(i * 31);
	wrong += fah_load(mem, (uint64_t)(uintptr_t)src + 1, big, sizeof(big) - 1) != 0;
	wrong += memcmp(big, src + 1, sizeof(big) - 1) != 0;
	wrong += errno != before;
	munmap(half, PAGE);
	return wrong;
}

static struct fah_mem with_room(void)
{
	static uint8_t room[FAH_LOAD_ROOM];
	struct fah_mem mem = fah_mem_self;

	mem.ctx = (uint64_t)(uintptr_t)room;
	return mem;
}

static void reads_what_is_there_and_nothing_else(void **state)
{
	struct fah_mem room = with_room();

	assert_int_equal(failures(&fah_mem_self), 0);
	assert_int_equal(failures(&room), 0);
	fah_mem_self_pid((uint32_t)getpid());
	assert_int_equal(failures(&room), 0);
	fah_mem_self_pid(0);
}

static void a_full_batch_keeps_its_order(void **state)
{
	struct fah_piece pieces[FAH_PIECES_MAX];
	uint8_t src[FAH_PIECES_MAX][96], dst[FAH_PIECES_MAX][96];
	struct fah_mem room = with_room();

	for (int i = 0; i < FAH_PIECES_MAX; i++) {
		memset(src[i], i + 1, sizeof(src[i]));
		pieces[i] = (struct fah_piece){dst[i], (uint64_t)(uintptr_t)src[i],
					       sizeof(src[i]) - (size_t)i};
	}
	memset(dst, 0, sizeof(dst));
	assert_int_equal(room.read(&room, pieces, FAH_PIECES_MAX), FAH_PIECES_MAX);
	for (int i = 0; i < FAH_PIECES_MAX; i++) {
		assert_int_equal(dst[i][0], i + 1);
		assert_int_equal(dst[i][95 - i], i + 1);
		if (i)
			assert_int_equal(dst[i][95], 0); /* not a byte more than was asked for */
	}
}

/* As in a container whose seccomp profile knows no process_vm_writev. */
static void refuse_the_system_call(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {sizeof(filter) / sizeof(filter[0]), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		_exit(77);
}

static void works_where_a_sandbox_refuses(void **state)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct fah_mem room = with_room();

		refuse_the_system_call();
		_exit(failures(&fah_mem_self) + failures(&room));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void varints_survive_and_bad_ones_stick(void **state)
{
	static const uint64_t values[] = {
		0, 1, 127, 128, 16383, 16384, 1ull << 32, UINT64_MAX >> 1, UINT64_MAX};
	static const uint8_t endless[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					  0xff, 0xff, 0xff, 0xff, 0xff};
	static const uint8_t too_big[] = {0xff, 0xff, 0xff, 0xff, 0xff,
					  0xff, 0xff, 0xff, 0xff, 0x02};
	uint8_t buf[FAH_VARINT_MAX];
	struct fah_cursor c;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		uint8_t *end = fah_put_varint(buf, values[i]);

		c = (struct fah_cursor){buf, end, false};
		assert_true(fah_get_varint(&c) == values[i] && !c.bad && c.p == end);
		c = (struct fah_cursor){buf, end - 1, false};
		assert_true(fah_get_varint(&c) == 0 && c.bad);
		assert_null(fah_get_bytes(&c, 1));
		assert_true(fah_unzigzag(fah_zigzag((int64_t)values[i])) == (int64_t)values[i]);
	}
	c = (struct fah_cursor){endless, endless + sizeof(endless), false};
	assert_true(fah_get_varint(&c) == 0 && c.bad);
	c = (struct fah_cursor){too_big, too_big + sizeof(too_big), false};
	assert_true(fah_get_varint(&c) == 0 && c.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_is_there_and_nothing_else),
		cmocka_unit_test(a_full_batch_keeps_its_order),
		cmocka_unit_test(works_where_a_sandbox_refuses),
		cmocka_unit_test(varints_survive_and_bad_ones_stick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
