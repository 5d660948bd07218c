/*
 * registered.cc - machine code made at run time that no debugger is told of: only its .eh_frame is
 * registered, in one of libgcc's six ways. chain() calls it, and it calls back. Two kinds in turns,
 * at the same address: the second has a larger frame, with the address of decoy(), which nobody
 * calls, where the rules of the first look for the return address.
 */
#include <cstdint>
#include <cstring>
#include <sys/mman.h>

extern "C" {
void __register_frame(void *);
void __register_frame_info(const void *, void *);
void __register_frame_info_bases(const void *, void *, void *, void *);
void __register_frame_table(void *);
void __register_frame_info_table(void *, void *);
void __register_frame_info_table_bases(void *, void *, void *, void *);
void __deregister_frame(void *);
void *__deregister_frame_info(const void *);
void *__deregister_frame_info_bases(const void *);

typedef long (*back_fn)(long);
typedef long (*made_fn)(long, back_fn, const void *);

static unsigned char *code;
static unsigned char frames[2][128], no_frames[8];
static void *tables[2][3] = {{no_frames, frames[0]}, {no_frames, frames[1]}};
static long objects[2][16]; /* libgcc's, where the caller has to give it room */
static int kind = -1;

/* push %rbx; sub; the second: mov %rdx,8(%rsp); call *%rsi; add; pop %rbx; ret */
static const unsigned char first[] = {0x53, 0x48, 0x83, 0xec, 0x20, 0xff, 0xd6,
				      0x48, 0x83, 0xc4, 0x20, 0x5b, 0xc3};
static const unsigned char second[] = {0x53, 0x48, 0x83, 0xec, 0x60, 0x48, 0x89, 0x54, 0x24,
				       0x08, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x60, 0x5b, 0xc3};

static void describe(unsigned char *to, unsigned long len, unsigned char frame, unsigned char call)
{
	static const unsigned char cie[24] = {20, 0,	0,  0, 0, 0,	0, 0, 1,    'z', 'R', 0,
					      1,  0x78, 16, 1, 0, 0x0c, 7, 8, 0x90, 1,	 0,   0};
	const unsigned char program[] = {0x41, 0x0e,  16,
					 0x83, 2,     0x44,
					 0x0e, frame, static_cast<unsigned char>(0x40 + call),
					 0x0e, 16,    0x41,
					 0x0e, 8};
	const uint32_t fde_len = 32 + 4, back = sizeof(cie) + 4;
	const uint64_t start = reinterpret_cast<uint64_t>(code), code_len = len;

	memset(to, 0, 128); /* also the end */
	memcpy(to, cie, sizeof(cie));
	memcpy(to + 24, &fde_len, 4);
	memcpy(to + 28, &back, 4);
	memcpy(to + 32, &start, 8);
	memcpy(to + 40, &code_len, 8);
	memcpy(to + 49, program, sizeof(program));
}

/* Whether libgcc was told of it. */
static bool forget(int which, int way)
{
	switch (way) {
	case 0:
		__deregister_frame(frames[which]);
		return true;
	case 1:
		return __deregister_frame_info(frames[which]) == objects[which];
	case 2:
		return __deregister_frame_info_bases(frames[which]) == objects[which];
	case 3:
		__deregister_frame(tables[which]);
		return true;
	case 4:
		return __deregister_frame_info(tables[which]) == objects[which];
	default:
		return __deregister_frame_info_bases(tables[which]) == objects[which];
	}
}

static void tell(int which, int way)
{
	switch (way) {
	case 0:
		return __register_frame(frames[which]);
	case 1:
		return __register_frame_info(frames[which], objects[which]);
	case 2:
		return __register_frame_info_bases(frames[which], objects[which], code, code);
	case 3:
		return __register_frame_table(tables[which]);
	case 4:
		return __register_frame_info_table(tables[which], objects[which]);
	default:
		return __register_frame_info_table_bases(tables[which], objects[which], code, code);
	}
}

/* Takes the code of the other kind away, as it was told of; whether libgcc knew it. */
bool make(int which, int way)
{
	bool known = true;

	if (!code)
		code = static_cast<unsigned char *>(mmap(nullptr, 4096,
							 PROT_READ | PROT_WRITE | PROT_EXEC,
							 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	if (kind >= 0)
		known = forget(kind, way);
	kind = which;
	memcpy(code, which ? second : first, which ? sizeof(second) : sizeof(first));
	describe(frames[which], which ? sizeof(second) : sizeof(first), which ? 112 : 48,
		 which ? 11 : 6);
	tell(which, way);
	return known;
}

__attribute__((noinline)) long decoy(long n)
{
	volatile long sum = n;

	for (int i = 0; i < 4; i++)
		sum = sum * 3 + i;
	return sum;
}

__attribute__((noinline)) long spin_inside(long n)
{
	unsigned long sum = 1;

	for (long i = 0; i < n; i++) {
		sum = sum * 6364136223846793005ul + 1;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum & 1 ? 1 : 2;
}

__attribute__((noinline)) long chain(long n, back_fn back)
{
	made_fn made;

	memcpy(&made, &code, sizeof(made));
	return made(n, back, reinterpret_cast<const char *>(decoy) + 8) + 1;
}

static long throws(long n)
{
	if (spin_inside(n / 4))
		throw n;
	return 0;
}

/* An exception through the made frame: its .eh_frame must have come to whom it was meant for. */
__attribute__((noinline)) long caught(long n)
{
	try {
		return chain(n, throws);
	} catch (long thrown) {
		return thrown;
	}
}
}
