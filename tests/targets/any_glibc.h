/*
 * any_glibc.h - put before the sources of libraries that are made here and loaded in other roots
 * too. Before 2.34 these stood in a library of their own, and had the version of the first release;
 * made beside a newer one, a library asks for the newer version, which an older one has not got.
 */
#ifdef __x86_64__
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5\n"
	".symver pthread_join, pthread_join@GLIBC_2.2.5\n"
	".symver pthread_sigmask, pthread_sigmask@GLIBC_2.2.5\n"
	".symver pthread_setname_np, pthread_setname_np@GLIBC_2.12\n");
#endif
