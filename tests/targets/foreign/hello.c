/* hello.c - says its arguments, its environment and its user; built against several C libraries. */
#include <stdio.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	printf("hello from a %u bit program, %d arguments, user %d\n", (unsigned)sizeof(void *) * 8,
	       argc - 1, (int)geteuid());
	for (int i = 1; i < argc; i++)
		printf("argument %s\n", argv[i]);
	for (char **entry = environ; *entry; entry++)
		printf("environment %s\n", *entry);
	return 6;
}
