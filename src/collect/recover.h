/*
 * recover.h - what a killed collector left behind: a partial capture, and segments that it had not
 * taken yet.
 */
#ifndef FAH_COLLECT_RECOVER_H
#define FAH_COLLECT_RECOVER_H

/*
 * Where the capture at path was never finished, its collector is gone and its session's folder is
 * there: add the leftovers, so that path.partial is whole up to the last record; processes of that
 * run that still live are told to record no more. 1: added, 0: nothing to do, < 0: enum fah_err,
 * nothing was changed.
 */
int fah_recover(const char *path);

#endif
