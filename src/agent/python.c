/*
 * python.c - notices that this process is Python, and starts recording when it is ready.
 *
 * An audit hook is the one door that every CPython since 3.8 opens without headers: its first
 * `cpython.run_*` event comes when the interpreter is ready and the program is about to run. The
 * hook then unlinks itself, so audited operations cost what they always did; where logs or plots
 * are watched (hooks.c) it comes back while their modules are imported.
 */
#include "agent/count.h"
#include "agent/exact.h"
#include "agent/heap.h"
#include "agent/hooks.h"
#include "agent/lines.h"
#include "agent/python_gc.h"
#include "agent/python_quiet.h"
#include "core/sys.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/resource.h>

typedef int (*hook_fn)(const char *event, void *args, void *data);

/* struct _Py_AuditHookEntry, the same since 3.8 */
struct hook_entry {
	uint64_t next, hook, data;
};

#define LEAST_FREE (16u << 20)	 /* our tables take 3 MB, and 250 kB a thread */
#define RUNTIME_SCAN (64u << 10) /* of _PyRuntime: the list stands before its large tables */

static int on_event(const char *event, void *args, void *data);

static uint64_t hook_link;	      /* see find_link */
static struct hook_entry *hook_entry; /* ours; never freed */
static _Atomic bool linked;

static uint64_t address(const char *name)
{
	return (uint64_t)(uintptr_t)fah_global(name);
}

bool fah_python_present(void)
{
	return fah_global("PySys_AddAuditHook") != NULL;
}

/*
 * The word in _PyRuntime that leads to our entry of the list of hooks, or 0. Asked right after the
 * entry was added: nothing else runs yet, and most of _PyRuntime is still empty.
 */
static uint64_t find_link(void)
{
	uint64_t words[64], at, runtime = address("_PyRuntime");
	struct hook_entry e;

	for (at = runtime; runtime && at < runtime + RUNTIME_SCAN; at += sizeof(words)) {
		if (fah_load(&fah_mem_self, at, words, sizeof(words)) < 0)
			return 0;
		for (unsigned i = 0; i < 64; i++) {
			/* with other hooks in front of ours we stay linked: slower, not wrong */
			if (words[i] < 4096 || words[i] & 7 ||
			    fah_load(&fah_mem_self, words[i], &e, sizeof(e)) < 0)
				continue;
			if (e.hook == (uint64_t)(uintptr_t)on_event &&
			    e.data == (uint64_t)(uintptr_t)&fah_agent) {
				hook_entry = (struct hook_entry *)(uintptr_t)words[i];
				return at + i * 8;
			}
		}
	}
	return 0;
}

void fah_python_watch(void)
{
	int (*add)(hook_fn, void *) =
		(int (*)(hook_fn, void *))(uintptr_t)fah_global("PySys_AddAuditHook");

	if (add(on_event, &fah_agent) == 0)
		hook_link = find_link();
	atomic_store(&linked, hook_link != 0);
}

/* The word that leads to the first entry, others' or ours: those that come later go to the end. */
static _Atomic uint64_t *first_entry(void)
{
	return (_Atomic uint64_t *)(uintptr_t)hook_link;
}

/* Take our entry out of the list: one store, and no system call, which a sandbox may forbid. */
void fah_python_unwatch(void)
{
	if (!hook_link || atomic_load(first_entry()) != (uint64_t)(uintptr_t)hook_entry)
		return;
	atomic_store(first_entry(), hook_entry->next);
	atomic_store(&linked, false);
}

bool fah_python_can_watch_again(void)
{
	return hook_link != 0;
}

void fah_python_watch_again(void)
{
	uint64_t first;

	if (!hook_link || atomic_exchange(&linked, true))
		return;
	/* without the GIL: another thread's entry that comes at the same moment stays */
	first = atomic_load(first_entry());
	do
		hook_entry->next = first;
	while (!atomic_compare_exchange_strong(first_entry(), &first,
					       (uint64_t)(uintptr_t)hook_entry));
}

int fah_python_is_audited(void)
{
	uint32_t at = fah_agent.layout.interp_audit_hooks;
	uint64_t list, head[4];

	if (!hook_link || !at ||
	    fah_load(&fah_mem_self, (uint64_t)(uintptr_t)fah_py.interpreter() + at, &list, 8) < 0)
		return -1;
	if (hook_entry->next)
		return 1;
	if (!list)
		return 0;
	/* it is kept from the collector, which no other list in this structure is: its links are 0
	 */
	return fah_load(&fah_mem_self, list - 16, head, sizeof(head)) == 0 && !head[0] &&
			       head[3] == (uint64_t)(uintptr_t)fah_py.t_list
		       ? 1
		       : -1;
}

/* PY_VERSION_HEX of the running interpreter; from its text before 3.11. */
static uint32_t version_hex(void)
{
	const unsigned long *number = fah_global("Py_Version");
	const char *(*text)(void) = (const char *(*)(void))(uintptr_t)fah_global("Py_GetVersion");
	uint32_t part[3] = {0, 0, 0};
	const char *s;

	if (number)
		return (uint32_t)*number;
	if (!text)
		return 0;
	s = text();
	for (int i = 0; i < 3; i++, s += *s == '.')
		for (; *s >= '0' && *s <= '9'; s++)
			part[i] = part[i] * 10 + (uint32_t)(*s - '0');
	return part[0] << 24 | part[1] << 16 | part[2] << 8 | 0xf0;
}

static void refuse(const char *reason)
{
	struct fah_segment_head *head = fah_segment_head();
	size_t n = strlen(reason);

	if (!head)
		return;
	if (n >= sizeof(head->reason))
		n = sizeof(head->reason) - 1;
	memcpy(head->reason, reason, n);
	head->reason[n] = 0;
	atomic_store(&head->status, FAH_AGENT_REFUSED);
}

/* Whether the program is Python itself. Others that link it may never use it. */
static bool is_python_program(void)
{
	char path[4096];
	long n = FAH_SYS4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof(path) - 1);
	const char *name;

	if (n <= 0)
		return false;
	path[n] = 0;
	name = strrchr(path, '/');
	return name && !strncmp(name + 1, "python", 6);
}

/* Before 3.8 nothing tells when the interpreter is ready, and nothing of it is known. */
void fah_python_refuse_old(void)
{
	if (!fah_global("Py_GetVersion") || !is_python_program())
		return;
	fah_agent.python_version = version_hex();
	if (fah_segment_start() == 0)
		refuse(FAH_PYTHONS " is needed");
}

/* Addresses that are free under RLIMIT_AS; UINT64_MAX: it is not set, or what is used not known. */
static uint64_t free_addresses(void)
{
	uint64_t limit[2], pages = 0;
	char text[64];
	long fd, n;

	if (FAH_SYS4(SYS_prlimit64, 0, RLIMIT_AS, NULL, limit) < 0 || limit[0] == RLIM_INFINITY)
		return UINT64_MAX;
	fd = FAH_SYS4(SYS_openat, AT_FDCWD, "/proc/self/statm", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return UINT64_MAX;
	n = FAH_SYS3(SYS_read, fd, text, sizeof(text));
	FAH_SYS1(SYS_close, fd);
	for (long i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
		pages = pages * 10 + (uint64_t)(text[i] - '0');
	return limit[0] > pages * 4096 ? limit[0] - pages * 4096 : 0;
}

/* Everything that must hold before the first sample. The reason where something does not. */
static const char *prepare(void)
{
	struct fah_py_layout *layout = &fah_agent.layout;
	const char *reason = NULL;

	if (free_addresses() < LEAST_FREE)
		return "its address space is limited (ulimit -v) to little more than it uses";
	fah_agent.runtime = address("_PyRuntime");
	if (!fah_agent.runtime)
		return "the interpreter does not export _PyRuntime";
	if (fah_py_layout_init(layout, &fah_mem_self, fah_agent.python_version, fah_agent.runtime) <
	    0)
		return "this Python build is not known (" FAH_PYTHONS " with the GIL are)";
	layout->code_type = address("PyCode_Type");
	layout->frame_type = address("PyFrame_Type");
	layout->gen_type = address("PyGen_Type");
	layout->coro_type = address("PyCoro_Type");
	layout->asyncgen_type = address("PyAsyncGen_Type");
	if (fah_codes_setup() < 0)
		return "no memory for the agent's tables";
	fah_own_stack_setup();
	fah_modules_scan(address("PySys_AddAuditHook"));
	fah_gc_learn();
	if (fah_python_self_check(&reason) < 0)
		return reason;
	if (fah_signal_install() < 0)
		return "the signal handler could not be installed";
	return NULL;
}

/* Lines, or modules that come by a way that cannot be watched otherwise: then the hook stays. */
static void watch_modules(bool recording)
{
	if (!fah_hooks_start(recording) && !fah_lines_watches())
		fah_python_unwatch();
}

static void start(void)
{
	const char *reason;

	fah_own_pid();
	reason = prepare();
	fah_outside_prepare();
	if (fah_segment_start() < 0) {
		fah_python_unwatch();
		return; /* no room for a single segment: the collector sees that none came */
	}
	if (reason) {
		refuse(reason);
		watch_modules(false);
		return;
	}
	fah_python_end_early();
	atomic_store(&fah_agent.active, true);
	fah_count_start();
	fah_exact_start();
	fah_lines_start();
	fah_thread_begin_first();
	fah_thread_adopt_all();
	watch_modules(true);
	fah_heap_start();
}

static int on_event(const char *event, void *args, void *data)
{
	static _Atomic bool started;
	bool expected = false;

	bool quiet;

	(void)data;
	if (atomic_load_explicit(&started, memory_order_relaxed) ||
	    strncmp(event, "cpython.run_", 12) ||
	    !atomic_compare_exchange_strong(&started, &expected, true)) {
		fah_lines_event(event);
		return fah_hooks_event(event, args);
	}
	fah_agent.python_version = version_hex();
	quiet = fah_pyapi_load() && fah_quiet_begin();
	start();
	if (quiet)
		fah_quiet_end();
	return 0;
}
