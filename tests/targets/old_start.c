/*
 * old_start.c - what old compilers link into every library: it registers its .eh_frame when it is
 * loaded and takes it back when it goes, if there is anybody to do that with. -DLATER: a library
 * that brings libgcc along.
 */
#ifdef LATER
extern void *_Unwind_FindEnclosingFunction(void *pc);

void *needs_libgcc(void)
{
	return _Unwind_FindEnclosingFunction(0);
}
#else
extern void __register_frame_info(const void *begin, void *object) __attribute__((weak));
extern void *__deregister_frame_info(const void *begin) __attribute__((weak));

/* An entry that nothing comes of, and the end: libgcc takes what is empty for not there. */
static unsigned section[] = {4, 0, 0};
static long object[16];

__attribute__((constructor)) static void start(void)
{
	if (__register_frame_info)
		__register_frame_info(section, object);
}

__attribute__((destructor)) static void end(void)
{
	if (__deregister_frame_info)
		__deregister_frame_info(section);
}
#endif
