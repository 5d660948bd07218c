/*
 * outlived.h - processes that go on when the program they belong to has ended.
 */
#ifndef FAH_COLLECT_OUTLIVED_H
#define FAH_COLLECT_OUTLIVED_H

/* How many processes of the session's run live; those that are just ending are waited for shortly.
 * session_dir: as agents were told it. */
unsigned fah_outlived(const char *session_dir);

#endif
