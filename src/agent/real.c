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
	{"execvpe", NULL},	  {"posix_spawn", NULL},
	{"posix_spawnp", NULL},	  {"system", NULL},
	{"sigaction", NULL},	  {"signal", NULL},
	{"pthread_create", NULL}, {"__sysv_signal", NULL},
	{"siginterrupt", NULL},	  {"pthread_sigmask", NULL},
	{"sigprocmask", NULL},	  {"sigwait", NULL},
	{"sigwaitinfo", NULL},	  {"sigtimedwait", NULL},
	{"raise", NULL},	  {"pthread_kill", NULL},
	{"prctl", NULL},	  {"dlclose", NULL},
	{"open", NULL},		  {"open64", NULL},
};

struct wanted {
	const char *name;
	void *by_dlsym; /* NULL: any library of libc's serves */
	void *found;
};

/* The parts of a module's dynamic section that a look-up needs. */
struct tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash, *hash;
	const ElfW(Dyn) * dynamic;
	const uint16_t *versions;
};

static bool read_tables(const struct dl_phdr_info *info, struct tables *ret)
{
	const ElfW(Dyn) *d = NULL;

	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (const void *)(uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	ret->dynamic = d;
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
		else if (d->d_tag == DT_HASH)
			ret->hash = (const void *)at;
		else if (d->d_tag == DT_VERSYM)
			ret->versions = (const void *)at;
	}
	return ret->symbols && ret->strings;
}

static bool is_named(const struct tables *t, uint32_t i, const char *name)
{
	/* 0x8000: an old version, kept for old programs */
	return !(t->versions && t->versions[i] & 0x8000) && t->symbols[i].st_shndx != SHN_UNDEF &&
	       !strcmp(t->strings + t->symbols[i].st_name, name);
}

/* Buckets by hash, then a chain of symbols whose hashes end in a set lowest bit. */
static uint32_t find_by_gnu_hash(const struct tables *t, const char *name)
{
	uint32_t n_buckets = t->gnu_hash[0], first = t->gnu_hash[1], bloom = t->gnu_hash[2],
		 hash = 5381, i;
	const uint32_t *buckets = t->gnu_hash + 4 + 2 * bloom, *chain = buckets + n_buckets;

	for (const char *s = name; *s; s++)
		hash = hash * 33 + (uint8_t)*s;
	for (i = n_buckets ? buckets[hash % n_buckets] : 0; i >= first && i; i++) {
		if ((chain[i - first] | 1) == (hash | 1) && is_named(t, i, name))
			return i;
		if (chain[i - first] & 1)
			break;
	}
	return 0;
}

/* 0: there is none. */
static uint32_t find_symbol(const struct tables *t, const char *name)
{
	uint32_t n = t->hash ? t->hash[1] : 0;

	if (t->gnu_hash)
		return find_by_gnu_hash(t, name);
	for (uint32_t i = 1; i < n; i++) /* the old table says how many symbols there are */
		if (is_named(t, i, name))
			return i;
	return 0;
}

static void *address_of(const struct dl_phdr_info *info, const struct tables *t, const char *name)
{
	uint32_t i = find_symbol(t, name);
	uintptr_t at = i && t->symbols[i].st_value ? info->dlpi_addr + t->symbols[i].st_value : 0;

	/* memmove and the like, by the CPU: what stands there says which one it is */
	if (at && ELF64_ST_TYPE(t->symbols[i].st_info) == STT_GNU_IFUNC)
		return ((void *(*)(void))at)();
	return (void *)at;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool has_code(const struct dl_phdr_info *info, uintptr_t address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD &&
		    address - (info->dlpi_addr + ph->p_vaddr) < ph->p_memsz)
			return true;
	}
	return false;
}

static int look_into(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *file = base_name(info->dlpi_name);
	struct wanted *w = data;
	struct tables t;

	(void)size;
	if (strncmp(file, "libc.so", 7) && strncmp(file, "libc-2", 6) &&
	    strncmp(file, "libpthread", 10) && strncmp(file, "libdl", 5))
		return 0;
	if ((w->by_dlsym && !has_code(info, (uintptr_t)w->by_dlsym)) || !read_tables(info, &t))
		return 0;
	w->found = address_of(info, &t, w->name);
	return w->found != NULL;
}

static void *look_up(const char *name)
{
	struct wanted w = {name, dlsym ? dlsym(RTLD_NEXT, name) : NULL, NULL};

	/* An old libc gives the oldest version of what comes next: of posix_spawn one that tries a
	 * shell. Of what is another library's there is no other. */
	dl_iterate_phdr(look_into, &w);
	return w.found ? w.found : w.by_dlsym;
}

/*
 * Where a library got a function from before we stood in front of it: from what the program was
 * started with, in that order; else from the library itself and what it needs; else, where those
 * need it in turn, from whoever has it. dlsym is of no use for that: it takes no other library's
 * place, and a failure of its own shows in the program's next dlerror().
 */
#define NEEDED_MAX 64
struct search {
	const char *name;
	uintptr_t caller;
	uint32_t n; /* modules seen */
	const char *needed[NEEDED_MAX];
	uint32_t n_needed;
	void *started, *own, *any; /* found among the first; the second; at all */
	uint32_t best;		   /* own is that of needed[best] */
};
static _Atomic uint32_t n_started; /* modules when the agent was loaded; 0: it is being loaded */

static int see_caller(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *s = data;
	struct tables t;

	(void)size;
	/* ourselves: a function that ours called has ended in a jump to it */
	if (!has_code(info, s->caller) || has_code(info, (uintptr_t)see_caller))
		return 0;
	s->own = read_tables(info, &t) ? address_of(info, &t, s->name) : NULL;
	for (const ElfW(Dyn) *d = t.dynamic; t.strings && d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && s->n_needed < NEEDED_MAX)
			s->needed[s->n_needed++] = base_name(t.strings + d->d_un.d_val);
	s->best = s->own ? 0 : s->n_needed;
	return 1;
}

static int see_definition(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *s = data;
	uint32_t started = atomic_load(&n_started);
	struct tables t;
	void *found;

	(void)size;
	s->n++;
	if (has_code(info, (uintptr_t)see_definition) || !read_tables(info, &t))
		return 0;
	found = address_of(info, &t, s->name);
	if (!found)
		return 0;
	if (!s->any)
		s->any = found;
	if (!started || s->n <= started) {
		s->started = found;
		return 1;
	}
	for (uint32_t i = 0; i < s->best; i++) {
		if (!strcmp(s->needed[i], base_name(info->dlpi_name))) {
			s->own = found;
			s->best = i;
		}
	}
	return 0;
}

void *fah_real_for(const char *name, uintptr_t caller)
{
	struct search s = {.name = name, .caller = caller};

	dl_iterate_phdr(see_caller, &s);
	dl_iterate_phdr(see_definition, &s);
	return s.started ? s.started : s.own ? s.own : s.any;
}

static int count_module(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	++*(uint32_t *)data;
	return 0;
}

void fah_real_setup(void)
{
	uint32_t n = 0;

	dl_iterate_phdr(count_module, &n);
	atomic_store(&n_started, n);
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

struct range {
	const char *name;
	uint64_t start, end;
};

static int see_range(struct dl_phdr_info *info, size_t size, void *data)
{
	struct range *r = data;
	struct tables t;
	uint32_t i;

	(void)size;
	i = read_tables(info, &t) ? find_symbol(&t, r->name) : 0;
	if (!i)
		return 0;
	r->start = info->dlpi_addr + t.symbols[i].st_value;
	r->end = r->start + t.symbols[i].st_size;
	return 1;
}

bool fah_symbol_range(const char *name, uint64_t *ret_start, uint64_t *ret_end)
{
	struct range r = {.name = name};

	dl_iterate_phdr(see_range, &r);
	*ret_start = r.start;
	*ret_end = r.end;
	return r.end > r.start;
}

void *fah_global(const char *name)
{
	return dlsym ? dlsym(RTLD_DEFAULT, name) : NULL;
}
