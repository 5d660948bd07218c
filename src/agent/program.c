/*
 * program.c - would a program start as always with the agent preloaded?
 *
 * Asked before every exec, also in a vfork child, which runs on its parent's memory: so only the
 * stack is written to. When in doubt the answer is no: the child then runs without us, unchanged.
 */
#include "agent/agent.h"
#include "core/sys.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_SCRIPT_DEPTH 4 /* the kernel's own limit for #! chains */
#define MAX_PHDRS 64
#define MAX_DYNAMIC 512

static long read_at(int fd, void *buf, size_t len, uint64_t at)
{
	return FAH_SYS4(SYS_pread64, fd, buf, len, at);
}

/* Sanitizer runtimes insist on being the first library, and stop the program otherwise. */
static bool is_sanitizer(const char *needed)
{
	static const char *const names[] = {"libasan.", "libtsan.", "liblsan.", "libhwasan.",
					    "libclang_rt."};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(needed, names[i], strlen(names[i])))
			return true;
	return false;
}

/* The file offset of a virtual address, or 0. */
static uint64_t offset_of(const Elf64_Phdr *ph, int n, uint64_t vaddr)
{
	for (int i = 0; i < n; i++)
		if (ph[i].p_type == PT_LOAD && vaddr >= ph[i].p_vaddr &&
		    vaddr - ph[i].p_vaddr < ph[i].p_filesz)
			return vaddr - ph[i].p_vaddr + ph[i].p_offset;
	return 0;
}

static bool needs_sanitizer(int fd, const Elf64_Phdr *ph, int n, const Elf64_Phdr *dynamic)
{
	uint64_t strings = 0, at;
	Elf64_Dyn d;
	char name[32];
	unsigned i;

	for (i = 0, at = dynamic->p_offset; i < MAX_DYNAMIC; i++, at += sizeof(d)) {
		if (read_at(fd, &d, sizeof(d), at) != (long)sizeof(d) || d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_STRTAB)
			strings = offset_of(ph, n, d.d_un.d_ptr);
	}
	if (!strings)
		return false;
	for (i = 0, at = dynamic->p_offset; i < MAX_DYNAMIC; i++, at += sizeof(d)) {
		if (read_at(fd, &d, sizeof(d), at) != (long)sizeof(d) || d.d_tag == DT_NULL)
			break;
		if (d.d_tag != DT_NEEDED)
			continue;
		memset(name, 0, sizeof(name));
		read_at(fd, name, sizeof(name) - 1, strings + d.d_un.d_val);
		if (is_sanitizer(name))
			return true;
	}
	return false;
}

/* A 64-bit program of this CPU whose loader is glibc's, and that tolerates a preload. */
static bool elf_takes(int fd, const Elf64_Ehdr *eh)
{
	static const char loader[] = "ld-linux-x86-64.so.2";
	const Elf64_Phdr *dynamic = NULL;
	Elf64_Phdr ph[MAX_PHDRS];
	bool glibc = false;
	char interp[256];
	size_t len;
	int i, n = eh->e_phnum;

	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_machine != EM_X86_64 || n > MAX_PHDRS ||
	    eh->e_phentsize != sizeof(ph[0]))
		return false;
	if (read_at(fd, ph, (size_t)n * sizeof(ph[0]), eh->e_phoff) !=
	    (long)((size_t)n * sizeof(ph[0])))
		return false;
	for (i = 0; i < n; i++) {
		if (ph[i].p_type == PT_DYNAMIC)
			dynamic = &ph[i];
		if (ph[i].p_type != PT_INTERP || ph[i].p_filesz >= sizeof(interp))
			continue;
		memset(interp, 0, sizeof(interp));
		read_at(fd, interp, ph[i].p_filesz, ph[i].p_offset);
		len = strlen(interp);
		glibc = len >= sizeof(loader) - 1 &&
			!strcmp(interp + len - (sizeof(loader) - 1), loader);
	}
	return glibc && dynamic && !needs_sanitizer(fd, ph, n, dynamic);
}

/* "#! /path arg": the path, in place; NULL if there is none. */
static char *script_interpreter(char *head)
{
	char *s = head + 2, *end;

	while (*s == ' ' || *s == '\t')
		s++;
	for (end = s; *end && *end != ' ' && *end != '\t' && *end != '\n'; end++)
		;
	if (end == s || !*end)
		return NULL;
	*end = 0;
	return s;
}

/*
 * The program's file for reading, or a negative number. Only regular files are opened: to open a
 * pipe wakes whoever waits at its other end, a device may do anything, and none can be executed.
 */
static long open_program(int dirfd, const char *path, int flags)
{
	struct stat st;
	long fd;

	if (flags & AT_EMPTY_PATH && !path[0])
		return FAH_SYS2(SYS_fstat, dirfd, &st) < 0 || !S_ISREG(st.st_mode)
			       ? -1
			       : FAH_SYS3(SYS_fcntl, dirfd, F_DUPFD_CLOEXEC, 0);
	if (FAH_SYS4(SYS_newfstatat, dirfd, path, &st, 0) < 0 || !S_ISREG(st.st_mode))
		return -1;
	fd = FAH_SYS4(SYS_openat, dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	if (fd >= 0 && (FAH_SYS2(SYS_fstat, fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		FAH_SYS1(SYS_close, fd); /* replaced just now */
		return -1;
	}
	return fd;
}

bool fah_program_takes_preload(int dirfd, const char *path, int flags)
{
	char head[512];
	struct stat st;
	bool takes = false;
	int depth;

	/* chrooted, or in another mount namespace: the loader would complain about a missing file
	 */
	if (FAH_SYS4(SYS_faccessat, AT_FDCWD, fah_agent.preload, 4 /* R_OK */, 0) < 0)
		return false;
	for (depth = 0; depth <= MAX_SCRIPT_DEPTH; depth++) {
		union {
			Elf64_Ehdr eh;
			char bytes[sizeof(head)];
		} u;
		bool script = false;
		long fd, n;

		fd = open_program(dirfd, path, flags);
		if (fd < 0)
			return false; /* not readable, or not there: exec will say so */
		memset(&u, 0, sizeof(u));
		n = read_at((int)fd, u.bytes, sizeof(u.bytes) - 1, 0);
		if (n > 2 && u.bytes[0] == '#' && u.bytes[1] == '!') {
			script = true;
			memcpy(head, u.bytes, sizeof(head));
		} else if (n >= (long)sizeof(u.eh) && !memcmp(u.eh.e_ident, ELFMAG, SELFMAG)) {
			takes = elf_takes((int)fd, &u.eh);
			/* set-id and capabilities: the loader runs in its secure mode and may
			 * complain */
			if (FAH_SYS2(SYS_fstat, fd, &st) < 0 || st.st_mode & (S_ISUID | S_ISGID) ||
			    FAH_SYS4(SYS_fgetxattr, fd, "security.capability", NULL, 0) > 0)
				takes = false;
		}
		FAH_SYS1(SYS_close, fd);
		if (!script)
			return takes;
		path = script_interpreter(head);
		if (!path)
			return false;
		dirfd = AT_FDCWD;
		flags = 0;
	}
	return false;
}
