/*
 * real.c - the libc functions that the agent stands in front of.
 *
 * All are looked up when the agent is loaded: later, in a fork's child, the loader's lock may be
 * held by a thread that is not there. Before glibc 2.34 dlsym lives in libdl, which a child need
 * not have loaded; then libc's own table of symbols is read.
 */
#include "agent/agent.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* The old version of the symbol, and weak: one that is missing would stop a child from starting. */
extern void *dlsym(void *restrict handle, const char *restrict name) __attribute__((weak));
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");

static struct {
	const char *name;
	void *_Atomic address;
} reals[] = {
	{"execvpe", NULL},	   {"posix_spawn", NULL},   {"posix_spawnp", NULL},
	{"system", NULL},	   {"sigaction", NULL},	    {"signal", NULL},
	{"pthread_create", NULL},  {"__sysv_signal", NULL}, {"siginterrupt", NULL},
	{"pthread_sigmask", NULL}, {"sigprocmask", NULL},   {"sigwait", NULL},
	{"sigwaitinfo", NULL},	   {"sigtimedwait", NULL},  {"raise", NULL},
	{"pthread_kill", NULL},	   {"prctl", NULL},	    {"dlclose", NULL},
};

struct wanted {
	const char *name;
	void *found;
};

/* The parts of a module's dynamic section that a look-up needs. */
struct tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const uint16_t *versions;
};

static bool read_tables(const struct dl_phdr_info *info, struct tables *ret)
{
	const ElfW(Dyn) *d = NULL;

	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (const void *)(uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++) {
		/* glibc has made addresses of them already, other loaders have not */
		uintptr_t at = d->d_un.d_ptr < info->dlpi_addr ? info->dlpi_addr + d->d_un.d_ptr
							       : d->d_un.d_ptr;

		if (d->d_tag == DT_SYMTAB)
			ret->symbols = (const void *)at;
		else if (d->d_tag == DT_STRTAB)
			ret->strings = (const char *)at;
		else if (d->d_tag == DT_GNU_HASH)
			ret->gnu_hash = (const void *)at;
		else if (d->d_tag == DT_VERSYM)
			ret->versions = (const void *)at;
	}
	return ret->symbols && ret->strings && ret->gnu_hash;
}

/* Buckets by hash, then a chain of symbols whose hashes end in a set lowest bit. */
static uint32_t find_symbol(const struct tables *t, const char *name)
{
	uint32_t n_buckets = t->gnu_hash[0], first = t->gnu_hash[1], bloom = t->gnu_hash[2],
		 hash = 5381, i;
	const uint32_t *buckets = t->gnu_hash + 4 + 2 * bloom, *chain = buckets + n_buckets;

	for (const char *s = name; *s; s++)
		hash = hash * 33 + (uint8_t)*s;
	for (i = n_buckets ? buckets[hash % n_buckets] : 0; i >= first && i; i++) {
		/* 0x8000: an old version, kept for old programs */
		if ((chain[i - first] | 1) == (hash | 1) &&
		    !(t->versions && t->versions[i] & 0x8000) &&
		    !strcmp(t->strings + t->symbols[i].st_name, name))
			return i;
		if (chain[i - first] & 1)
			break;
	}
	return 0;
}

static int look_into(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *file = slash ? slash + 1 : info->dlpi_name;
	struct wanted *w = data;
	struct tables t;
	uint32_t i;

	(void)size;
	if (strncmp(file, "libc.so", 7) && strncmp(file, "libc-2", 6) &&
	    strncmp(file, "libpthread", 10) && strncmp(file, "libdl", 5))
		return 0;
	if (!read_tables(info, &t))
		return 0;
	i = find_symbol(&t, w->name);
	if (i && t.symbols[i].st_value)
		w->found = (void *)(uintptr_t)(info->dlpi_addr + t.symbols[i].st_value);
	return w->found != NULL;
}

static void *look_up(const char *name)
{
	struct wanted w = {name, NULL};
	void *found = dlsym ? dlsym(RTLD_NEXT, name) : NULL;

	if (found)
		return found;
	dl_iterate_phdr(look_into, &w);
	return w.found;
}

void fah_real_setup(void)
{
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
		atomic_store(&reals[i].address, look_up(reals[i].name));
}

void *fah_real(const char *name)
{
	void *found = NULL;

	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]) && !found; i++)
		if (!strcmp(reals[i].name, name))
			found = atomic_load(&reals[i].address);
	/* called before the agent's constructor, by that of another library */
	return found ? found : look_up(name);
}

void *fah_global(const char *name)
{
	return dlsym ? dlsym(RTLD_DEFAULT, name) : NULL;
}
