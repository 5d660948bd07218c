/* show_file.h - a file in whatever program the user has for it. */
#ifndef FAH_CLI_SHOW_FILE_H
#define FAH_CLI_SHOW_FILE_H

/*
 * $BROWSER, else xdg-open; it is not waited for. Where there is neither, or no screen, where the
 * file is stands on stderr instead. 0, or an exit status after printing why not.
 */
int fah_show_file(const char *path);

#endif
