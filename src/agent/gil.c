/* gil.c - see gil.h. */
#include "agent/gil.h"

#include "agent/agent.h"

static void *(*running_state)(void); /* the state that has the GIL; from 3.12 on: if it is ours */
static void *(*own_state)(void);     /* this thread's */
static bool tells_own;		     /* running_state answers for the calling thread alone */

void fah_gil_setup(void)
{
	*(void **)&running_state = fah_global("PyThreadState_GetUnchecked");
	if (!running_state) /* up to 3.12 */
		*(void **)&running_state = fah_global("_PyThreadState_UncheckedGet");
	*(void **)&own_state = fah_global("PyGILState_GetThisThreadState");
	tells_own = fah_agent.python_version >= 0x030c0000;
}

uint64_t fah_gil_own_state(void)
{
	return own_state ? (uint64_t)(uintptr_t)own_state() : 0;
}

uint64_t fah_gil_state(bool *ret_none)
{
	uint64_t running = running_state ? (uint64_t)(uintptr_t)running_state() : 0, own;

	*ret_none = false;
	if (running && tells_own)
		return running;
	own = fah_gil_own_state();
	*ret_none = own_state && !own;
	return running == own ? own : 0;
}
