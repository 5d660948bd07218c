/*
 * test_writer.c - outputs in the way, full disks, killed writers: one clear refusal or a capture
 * that is whole and says what it lost, and nothing half-written under the final name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "capture/reader.h"
#include "capture/sink.h"
#include "capture/writer.h"
#include "core/err.h"
#include "make.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

FAH_DEFINE_FREEP(struct fah_reader *, fah_reader_free)
FAH_DEFINE_FREEP(struct fah_writer *, fah_writer_free)

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static int try(const char *path)
{
	struct fah_writer *w = NULL;
	int err = fah_writer_new(path, &w), number = errno;

	fah_writer_free(w);
	errno = number;
	return err;
}

static void in_the_way(void **state)
{
	static const char *const bad[] = {"folder", "link", "dangling", "x/"};
	size_t i;

	assert_int_equal(mkdir("folder", 0777), 0);
	assert_int_equal(fah_file_replace("target", "untouched", 9), 0);
	assert_int_equal(symlink("target", "link"), 0);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_equal(mkfifo("fifo", 0666), 0);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(try(bad[i]), FAH_ERR_EXISTS);
	assert_int_equal(try("fifo"), FAH_ERR_SPECIAL);
	assert_int_equal(try("/dev/null"), FAH_ERR_SPECIAL);
	assert_false(exists("folder.partial") || exists("link.partial"));

	/* The same for the partial file's name. */
	assert_int_equal(symlink("target", "a.fah.partial"), 0);
	assert_int_equal(mkdir("b.fah.partial", 0777), 0);
	assert_int_equal(mkfifo("c.fah.partial", 0666), 0);
	assert_int_equal(try("a.fah"), FAH_ERR_EXISTS);
	assert_int_equal(try("b.fah"), FAH_ERR_EXISTS);
	assert_int_equal(try("c.fah"), FAH_ERR_SPECIAL);
	assert_int_equal(try("none/a.fah"), FAH_ERR_SYS);
	assert_int_equal(errno, ENOENT);
	/* Another name of the same file keeps its bytes. */
	assert_int_equal(link("target", "d.fah.partial"), 0);
	assert_int_equal(try("d.fah"), 0);
	{
		_cleanup_(fah_freep) char *text = NULL;
		size_t len;

		assert_int_equal(fah_file_read("target", 100, &text, &len), 0);
		assert_string_equal(text, "untouched");
	}
}

/* As nobody, since root may write everywhere. */
static void read_only_folder(void **state)
{
	int status;
	pid_t pid;

	assert_int_equal(mkdir("folder", 0555), 0);
	assert_int_equal(chmod(".", 0755), 0);
	pid = fork();
	if (pid == 0) {
		if (getuid() == 0 && setuid(65534) < 0)
			_exit(2);
		_exit(try("folder/a.fah") == FAH_ERR_SYS && errno == EACCES ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(rmdir("folder"), 0); /* nothing was left in it */
}

static void name_only_when_finished(void **state)
{
	_cleanup_(fah_writer_freep) struct fah_writer *w = NULL;
	struct fah_run_end end = {0};
	struct fah_write_loss loss;
	struct fah_reader *r = NULL;
	struct fah_reader_state rs;
	struct fah_record rec;

	assert_int_equal(fah_file_replace("a.fah", "old", 3), 0);
	assert_int_equal(fah_writer_new("a.fah", &w), 0);
	assert_int_equal(try("a.fah"), FAH_ERR_SYS); /* one writer at a time */
	assert_int_equal(errno, EBUSY);
	fah_writer_meta(w, "command", "x");
	fah_writer_flush(w);
	assert_int_equal(fah_reader_new("a.fah", &r), FAH_ERR_FORMAT); /* still the old one */
	assert_int_equal(unlink("a.fah"), 0);
	assert_int_equal(fah_reader_new("a.fah", &r), 0); /* while it is being written */
	assert_int_equal(fah_reader_next(r, &rec), 1);
	assert_int_equal(fah_reader_next(r, &rec), 0);
	fah_reader_state(r, &rs);
	assert_true(rs.partial && !rs.complete && !rs.lost_bytes);
	assert_string_equal(fah_reader_path(r), "a.fah.partial");
	fah_reader_free(r);

	/* Something comes in the way of the name: the partial file stays. */
	assert_int_equal(symlink("nowhere", "a.fah"), 0);
	assert_int_equal(fah_writer_finish(w, &end, &loss), FAH_ERR_EXISTS);
	assert_true(exists("a.fah.partial"));
	assert_false(exists("nowhere"));
	fah_writer_free(w);
	w = NULL;

	assert_int_equal(unlink("a.fah"), 0);
	assert_int_equal(fah_writer_new("a.fah", &w), 0); /* replaces what a run left */
	assert_int_equal(fah_writer_finish(w, &end, &loss), 0);
	assert_false(exists("a.fah.partial"));
	assert_int_equal(fah_reader_new("a.fah", &r), 0);
	assert_int_equal(fah_reader_next(r, &rec), 1);
	assert_int_equal(rec.type, FAH_REC_END);
	fah_reader_free(r);
}

/* Killed at some moment between two flushes: what was flushed is there, the rest is not half there.
 */
static void killed_writer(void **state)
{
	_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
	struct fah_reader_state rs;
	struct fah_record rec;
	int status, n = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct fah_writer *w;
		char key[32];
		int i;

		if (fah_writer_new("k.fah", &w) < 0)
			_exit(1);
		for (i = 0; i < 3000; i++) {
			snprintf(key, sizeof(key), "key-%d", i);
			fah_writer_meta(w, key, "value");
			if (i == 997)
				fah_writer_flush(w);
		}
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_false(exists("k.fah"));
	assert_int_equal(fah_reader_new("k.fah", &r), 0);
	while (fah_reader_next(r, &rec) > 0)
		n++;
	assert_in_range(n, 998, 3000);
	fah_reader_state(r, &rs);
	assert_true(rs.partial && !rs.complete);
	assert_int_equal(rs.lost_bytes, 0);
}

/*
 * A capture that met a full disk: complete, every record whole, every id right, and what it has and
 * what it says it lost are all that there was.
 */
static void check_full(const char *path, const struct fah_write_loss *loss, uint64_t samples)
{
	_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
	struct fah_reader_state rs;
	struct fah_record rec;
	struct fah_rec_end end = {0};
	uint64_t n = 0;
	uint32_t nodes = 0, thread_ends = 0;

	assert_int_equal(fah_reader_new(path, &r), 0);
	while (fah_reader_next(r, &rec) > 0) {
		struct fah_samples_block sb;
		struct fah_sample_item si;
		struct fah_nodes_block nb;
		struct fah_node_item ni;

		thread_ends += rec.type == FAH_REC_THREAD_END;
		if (rec.type == FAH_REC_NODES) {
			assert_int_equal(fah_nodes_open(&rec, &nb), 0);
			while (fah_nodes_next(&nb, &ni))
				assert_in_range(ni.distance, 1, ++nodes);
		} else if (rec.type == FAH_REC_SAMPLES) {
			assert_int_equal(fah_samples_open(&rec, &sb), 0);
			while (fah_samples_next(&sb, &si)) {
				if (!si.node || si.node > nodes)
					fail();
				n++;
			}
		} else if (rec.type == FAH_REC_END) {
			assert_int_equal(fah_decode_end(&rec, &end), 0);
		}
	}
	fah_reader_state(r, &rs);
	assert_true(rs.complete);
	assert_int_equal(rs.lost_bytes, 0);
	assert_int_equal(thread_ends, 8);
	assert_true(loss->records > 0 && loss->bytes > 0);
	assert_int_equal(end.lost_records, loss->records);
	assert_int_equal(end.lost_bytes, loss->bytes);
	assert_int_equal(n + loss->records, samples);
	assert_true(n > 0);
}

static const struct make_options full_options = {
	.samples = 200000, .stacks = 300, .depth = 20, .threads = 8};

/* No SIGXFSZ is ignored here: the writer must not even try. */
static void file_size_limit(void **state)
{
	struct fah_write_loss loss;
	struct rlimit old, small;
	struct stat st;
	int err;

	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 400000;
	setrlimit(RLIMIT_FSIZE, &small);
	err = make_samples("a.fah", &full_options, NULL, &loss);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(err, 0);
	assert_int_equal(loss.error, EFBIG);
	check_full("a.fah", &loss, full_options.samples);
	/* Samples took none of the reserve, which is for the end of the run. */
	assert_int_equal(stat("a.fah", &st), 0);
	assert_in_range(st.st_size, 300000, 400000 - FAH_SINK_RESERVE + 500);
}

/* Definitions that fill the disk to the last byte leave room for END, however large its numbers. */
static void room_for_the_end(void **state)
{
	static const char text[997];
	struct fah_run_end end = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX};
	struct rlimit old, small;

	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	for (uint32_t k = 0; k < 400; k++) {
		_cleanup_(fah_writer_freep) struct fah_writer *w = NULL;
		_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
		struct fah_reader_state rs;
		struct fah_write_loss loss;
		struct fah_record rec;
		int err;

		small.rlim_cur = FAH_CAPTURE_HEAD + FAH_SINK_RESERVE + 3 * k;
		setrlimit(RLIMIT_FSIZE, &small);
		err = fah_writer_new("a.fah", &w);
		for (uint32_t i = 0; i < 70; i++)
			fah_writer_string(w, text, sizeof(text) - i);
		err = err < 0 ? err : fah_writer_finish(w, &end, &loss);
		setrlimit(RLIMIT_FSIZE, &old);
		assert_int_equal(err, 0);
		assert_int_equal(loss.error, EFBIG);
		assert_int_equal(fah_reader_new("a.fah", &r), 0);
		while (fah_reader_next(r, &rec) > 0)
			;
		fah_reader_state(r, &rs);
		assert_true(rs.complete && !rs.partial && !rs.lost_bytes);
		assert_true(rs.good_bytes > small.rlim_cur - 2000);
	}
}

/* Not even room for the head: refused before anything has begun. */
static void no_room_at_all(void **state)
{
	struct rlimit old, small;
	int err, number;

	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 10;
	setrlimit(RLIMIT_FSIZE, &small);
	err = try("a.fah");
	number = errno;
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(err, FAH_ERR_SYS);
	assert_int_equal(number, EFBIG);
	assert_false(exists("a.fah") || exists("a.fah.partial"));
}

/*
 * A file system that promises nothing: writes themselves fail, in the middle of a record, and what
 * stands in the file must still be whole records. Definitions wait, samples are lost.
 */
static void without_promises(const char *path)
{
	static const uint8_t samples[1009] = {1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
	struct fah_reader_state rs;
	struct fah_record rec;
	struct fah_sink s;
	uint64_t n = 0, defined = 0;
	int i;

	assert_int_equal(fah_sink_open(&s, path), 0);
	assert_int_equal(ftruncate(s.fd, (off_t)s.size), 0);
	s.no_reserve = true;
	for (i = 0; i < 1000; i++) {
		fah_sink_record(&s, FAH_REC_SAMPLES, samples, sizeof(samples));
		if (i % 10 == 0)
			fah_sink_record(&s, FAH_REC_STRING, samples, 17);
		if (i % 7 == 0)
			fah_sink_flush(&s);
		assert_true(s.size <= 400 << 10);
	}
	fah_sink_flush(&s);
	assert_int_equal(s.loss.error, ENOSPC);
	assert_true(s.out.len > 0); /* strings that wait */
	assert_int_equal(fah_reader_new(path, &r), 0);
	while (fah_reader_next(r, &rec) > 0) {
		n += rec.type == FAH_REC_SAMPLES ? 3 : 0;
		defined += rec.type == FAH_REC_STRING;
	}
	fah_reader_state(r, &rs);
	assert_int_equal(rs.lost_bytes, 0);
	assert_int_equal(rs.good_bytes, s.size);
	assert_int_equal(n + s.loss.records, 3000);
	assert_int_equal(defined + s.out.len / (FAH_RECORD_HEAD + 17), 100);
	fah_sink_release(&s);
}

/* A real disk of 400 kB, in a mount namespace of its own. 77: not allowed here. */
static int on_small_disk(void)
{
	struct fah_write_loss loss;

	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mkdir("disk", 0777) < 0 || mount("tmpfs", "disk", "tmpfs", 0, "size=400k") < 0)
		return 77;
	if (make_samples("disk/a.fah", &full_options, NULL, &loss) < 0 || loss.error != ENOSPC)
		return 1;
	check_full("disk/a.fah", &loss, full_options.samples);
	assert_int_equal(unlink("disk/a.fah"), 0);
	without_promises("disk/b.fah");
	return 0;
}

static void full_disk(void **state)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(on_small_disk()); /* a failed assertion in it ends this child with a signal or
					   255 */
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

/* Space comes back: what waited goes first, and later samples find their definitions. */
static void space_comes_back(void **state)
{
	_cleanup_(fah_writer_freep) struct fah_writer *w = NULL;
	_cleanup_(fah_reader_freep) struct fah_reader *r = NULL;
	struct fah_process_def def = {.pid = 1, .cmdline = ""};
	struct fah_run_end end = {0};
	struct fah_write_loss loss;
	struct fah_record rec;
	struct rlimit old, small;
	uint32_t i, file, thread, nodes = 0, functions = 0, samples = 0;

	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	assert_int_equal(fah_writer_new("a.fah", &w), 0);
	thread = fah_writer_thread(w, fah_writer_process(w, &def), 1, 0, "t", 1);
	file = fah_writer_string(w, "f.py", 4);
	for (i = 0; i < 3000; i++) {
		uint32_t f = fah_writer_function(w, file, file, 0, i);

		small.rlim_cur = i < 1000 || i >= 2000 ? old.rlim_cur : 1000;
		setrlimit(RLIMIT_FSIZE, &small);
		fah_writer_sample(w, thread, i * 4000000ull, 4000000, 0,
				  fah_writer_node(w, 0, f, i));
		if (i % 100 == 99)
			fah_writer_flush(w);
	}
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(fah_writer_finish(w, &end, &loss), 0);
	assert_int_equal(loss.records, 1000);
	assert_int_equal(fah_reader_new("a.fah", &r), 0);
	while (fah_reader_next(r, &rec) > 0) {
		struct fah_samples_block sb;
		struct fah_sample_item si;
		struct fah_nodes_block nb;
		struct fah_node_item ni;

		functions += rec.type == FAH_REC_FUNCTION;
		if (rec.type == FAH_REC_NODES) {
			assert_int_equal(fah_nodes_open(&rec, &nb), 0);
			while (fah_nodes_next(&nb, &ni)) {
				nodes++;
				assert_int_equal(ni.line, nodes - 1);
				assert_int_equal(ni.function, nodes);
				assert_true(ni.function <= functions);
			}
		} else if (rec.type == FAH_REC_SAMPLES) {
			assert_int_equal(fah_samples_open(&rec, &sb), 0);
			while (fah_samples_next(&sb, &si)) {
				uint32_t at = (uint32_t)(si.time_ns / 4000000);

				assert_true(at < 1000 || at >= 2000);
				assert_int_equal(si.node, at + 1);
				samples++;
			}
		}
	}
	assert_int_equal(samples, 2000);
	assert_int_equal(nodes, 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_the_way, scratch_enter, scratch_leave),
		cmocka_unit_test_setup_teardown(read_only_folder, scratch_enter, scratch_leave),
		cmocka_unit_test_setup_teardown(name_only_when_finished, scratch_enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(killed_writer, scratch_enter, scratch_leave),
		cmocka_unit_test_setup_teardown(file_size_limit, scratch_enter, scratch_leave),
		cmocka_unit_test_setup_teardown(room_for_the_end, scratch_enter, scratch_leave),
		cmocka_unit_test_setup_teardown(no_room_at_all, scratch_enter, scratch_leave),
		cmocka_unit_test_setup_teardown(full_disk, scratch_enter, scratch_leave),
		cmocka_unit_test_setup_teardown(space_comes_back, scratch_enter, scratch_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
