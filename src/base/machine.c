/* machine.c - see machine.h. */
#include "base/machine.h"

#include <stdio.h>
#include <sys/resource.h>

static uint64_t available(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kb;
	uint64_t found = UINT64_MAX;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu kB", &kb) == 1)
			found = kb * 1024;
	if (f)
		fclose(f);
	return found;
}

uint64_t fah_machine_memory(void)
{
	uint64_t found = available();
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    limit.rlim_cur < found)
		found = limit.rlim_cur;
	return found;
}
