/* test_system.c - files, folders, outputs; terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/term.h"
#include "core/err.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char dir[64];

static int enter(void **state)
{
	strcpy(dir, "/tmp/fah-test-XXXXXX");
	return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void assert_holds(const char *path, const char *text)
{
	_cleanup_(fah_freep) char *got = NULL;
	size_t len;

	assert_int_equal(fah_file_read(path, 1 << 20, &got, &len), 0);
	assert_string_equal(got, text);
}

/* So that no test leaves a temporary file behind. */
static size_t files_here(void)
{
	DIR *d = opendir(".");
	struct dirent *e;
	size_t n = 0;

	while ((e = readdir(d)))
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(d);
	return n;
}

static void reading(void **state)
{
	char *got = NULL;
	size_t len;

	put("f", "hello");
	assert_int_equal(fah_file_read("f", 5, &got, &len), 0);
	assert_int_equal(len, 5);
	assert_string_equal(got, "hello");
	free(got);
	got = NULL;
	assert_int_equal(fah_file_read("f", 4, &got, &len), FAH_ERR_RANGE);
	assert_int_equal(fah_file_read("none", 4, &got, &len), FAH_ERR_SYS);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(fah_file_read(".", 4, &got, &len), FAH_ERR_SYS);
	assert_int_equal(errno, EISDIR);
	assert_null(got);
	assert_int_equal(mkfifo("fifo", 0666), 0);
	assert_int_equal(fah_file_read_regular("fifo", 4, &got, &len), FAH_ERR_SYS);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(fah_file_read_regular("/dev/zero", 4, &got, &len), FAH_ERR_SYS);
	assert_int_equal(fah_file_read_regular("f", 5, &got, &len), 0);
	assert_string_equal(got, "hello");
	free(got);
	/* Its size is 0 for stat, and it must be read to its end. */
	assert_int_equal(fah_file_read("/proc/self/maps", 1 << 24, &got, &len), 0);
	assert_true(len > 0 && strlen(got) == len);
	free(got);
}

static void folders(void **state)
{
	struct stat st;

	assert_int_equal(fah_mkdir_p("a/b//c/", 0777), 0);
	assert_int_equal(fah_mkdir_p("a/b/c", 0777), 0);
	assert_int_equal(stat("a/b/c", &st), 0);
	assert_int_equal(fah_mkdir_p("/", 0777), 0);
	assert_int_equal(fah_mkdir_p("/proc/self", 0777), 0);
	put("a/file", "");
	assert_int_equal(fah_mkdir_p("a/file", 0777), FAH_ERR_SYS);
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(fah_mkdir_p("a/file/x", 0777), FAH_ERR_SYS);
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(fah_mkdir_p("", 0777), FAH_ERR_SYS);
}

static void outputs_in_the_way(void **state)
{
	static const char *const bad[] = {"folder", "link", "dangling", "new/"};
	static const char *const special[] = {"fifo", "to-fifo", "/dev/null", "/dev/stdout"};
	size_t i, before;

	assert_int_equal(mkdir("folder", 0777), 0);
	put("target", "untouched");
	assert_int_equal(symlink("target", "link"), 0);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_equal(mkfifo("fifo", 0666), 0);
	assert_int_equal(symlink("fifo", "to-fifo"), 0);
	before = files_here();
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(fah_file_check_output(bad[i]), FAH_ERR_EXISTS);
		assert_int_equal(fah_file_replace(bad[i], "x", 1), FAH_ERR_EXISTS);
	}
	for (i = 0; i < sizeof(special) / sizeof(*special); i++) {
		assert_int_equal(fah_file_check_output(special[i]), FAH_ERR_SPECIAL);
		assert_int_equal(fah_file_replace(special[i], "x", 1), FAH_ERR_SPECIAL);
	}
	assert_int_equal(fah_file_replace("none/x", "x", 1), FAH_ERR_SYS);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(fah_file_replace("target/x", "x", 1), FAH_ERR_SYS);
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(fah_file_replace("", "x", 1), FAH_ERR_SYS);
	assert_holds("target", "untouched");
	assert_int_equal(files_here(), before);
}

static void replacing(void **state)
{
	struct fah_outfile of;
	struct stat st;

	put("out", "old");
	assert_int_equal(chmod("out", 0604), 0);
	assert_int_equal(fah_outfile_open(&of, "out"), 0);
	fputs("new", of.f);
	fflush(of.f);
	assert_holds("out", "old");
	assert_int_equal(fah_outfile_commit(&of), 0);
	assert_holds("out", "new");
	assert_int_equal(stat("out", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0604);
	assert_int_equal(files_here(), 1);

	assert_int_equal(fah_outfile_open(&of, "out"), 0);
	fputs("never", of.f);
	fah_outfile_abort(&of);
	fah_outfile_abort(&of);
	assert_holds("out", "new");
	assert_int_equal(files_here(), 1);

	/* A symlink that comes between is not followed, nor replaced. */
	assert_int_equal(fah_outfile_open(&of, "out"), 0);
	assert_int_equal(rename("out", "kept"), 0);
	assert_int_equal(symlink("kept", "out"), 0);
	assert_int_equal(fah_outfile_commit(&of), FAH_ERR_EXISTS);
	assert_holds("kept", "new");
	assert_int_equal(files_here(), 2);
}

/* A limit on the size of files is a full disk that every user can make. */
static void full_disk(void **state)
{
	struct rlimit old, small;
	char big[8192];
	int err, number;

	memset(big, 'x', sizeof(big));
	put("out", "old");
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 5000;
	setrlimit(RLIMIT_FSIZE, &small);
	err = fah_file_replace("out", big, sizeof(big));
	number = errno;
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(err, FAH_ERR_SYS);
	assert_int_equal(number, EFBIG);
	assert_holds("out", "old");
	assert_int_equal(files_here(), 1);
}

static void names(void **state)
{
	assert_string_equal(fah_basename("/a/b.py"), "b.py");
	assert_string_equal(fah_basename("b.py"), "b.py");
	assert_string_equal(fah_basename("a/"), "");
}

static void terminal_width(void **state)
{
	struct winsize ws = {.ws_row = 20, .ws_col = 133};
	int master, slave;

	unsetenv("COLUMNS");
	assert_int_equal(openpty(&master, &slave, NULL, NULL, &ws), 0);
	assert_int_equal(fah_term_width(slave), 133);
	assert_int_equal(fah_term_width(-1), 80);
	setenv("COLUMNS", "97", 1);
	assert_int_equal(fah_term_width(slave), 97);
	setenv("COLUMNS", "97x", 1);
	assert_int_equal(fah_term_width(slave), 133);
	setenv("COLUMNS", "3", 1);
	assert_int_equal(fah_term_width(slave), FAH_TERM_WIDTH_MIN);
	setenv("COLUMNS", "99999999999999999999", 1);
	assert_int_equal(fah_term_width(slave), FAH_TERM_WIDTH_MAX);
	unsetenv("COLUMNS");
	close(master);
	close(slave);
}

static void colour(void **state)
{
	int master, slave;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	unsetenv("NO_COLOR");
	unsetenv("FORCE_COLOR");
	setenv("TERM", "xterm", 1);
	assert_true(fah_term_color(slave));
	assert_false(fah_term_color(-1));
	setenv("TERM", "dumb", 1);
	assert_false(fah_term_color(slave));
	setenv("FORCE_COLOR", "1", 1);
	assert_true(fah_term_color(-1));
	setenv("FORCE_COLOR", "0", 1);
	setenv("TERM", "xterm", 1);
	assert_false(fah_term_color(slave));
	setenv("FORCE_COLOR", "", 1);
	assert_true(fah_term_color(slave));
	setenv("NO_COLOR", "", 1);
	assert_true(fah_term_color(slave));
	setenv("NO_COLOR", "1", 1);
	setenv("FORCE_COLOR", "1", 1);
	assert_false(fah_term_color(slave));
	close(master);
	close(slave);
}

static void locale(void **state)
{
	setenv("LC_ALL", "", 1);
	setenv("LC_CTYPE", "", 1);
	unsetenv("LANG");
	assert_false(fah_term_utf8());
	setenv("LANG", "en_US.UTF-8", 1);
	assert_true(fah_term_utf8());
	setenv("LC_CTYPE", "de_DE", 1);
	assert_false(fah_term_utf8());
	setenv("LC_ALL", "C.utf8", 1);
	assert_true(fah_term_utf8());
	setenv("LC_ALL", "POSIX", 1);
	assert_false(fah_term_utf8());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reading, enter, leave),
		cmocka_unit_test_setup_teardown(folders, enter, leave),
		cmocka_unit_test_setup_teardown(outputs_in_the_way, enter, leave),
		cmocka_unit_test_setup_teardown(replacing, enter, leave),
		cmocka_unit_test_setup_teardown(full_disk, enter, leave),
		cmocka_unit_test(names),
		cmocka_unit_test(terminal_width),
		cmocka_unit_test(colour),
		cmocka_unit_test(locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
