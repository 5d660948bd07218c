/* live_screen.c - see live_screen.h. */
#include "cli/live_screen.h"

#include "base/strbuf.h"
#include "base/term.h"
#include "base/utf8.h"
#include "core/segment.h"
#include "target/call.h"
#include "target/memory.h"
#include "target/task.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define ROWS_DEFAULT 24
#define ROWS_LEAST 6
#define ALL_OF_IT "All of it: " /* shorter than any terminal is wide */

/* Its main thread reads what is typed. */
static bool waits_for_terminal(uint32_t pid)
{
	struct fah_mem mem = fah_target_mem(pid);
	struct fah_call call;
	struct fah_task task;
	bool waits;

	if (fah_task_open(&task, pid, pid) < 0)
		return false;
	waits = fah_task_call(&task, &call) == 1 &&
		fah_call_reason(pid, pid, &mem, &call) == FAH_WAIT_TERMINAL;
	fah_task_close(&task);
	return waits;
}

bool fah_live_screen_is_free(uint32_t pid)
{
	struct termios now;

	if (!fah_term_rewrites(STDERR_FILENO) || !fah_term_is_ours(STDERR_FILENO) ||
	    tcgetattr(STDERR_FILENO, &now) < 0)
		return false;
	/* raw, as an editor or readline has it: somebody else knows where the cursor is */
	if (!(now.c_lflag & ICANON) || !(now.c_oflag & OPOST))
		return false;
	return !waits_for_terminal(pid);
}

static int rows_of_terminal(void)
{
	struct winsize ws;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_row ? ws.ws_row : ROWS_DEFAULT;
}

static void write_all(const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(STDERR_FILENO, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

void fah_live_screen_draw(struct fah_live_screen *s, const char *text, const char *path,
			  uint32_t pid)
{
	struct fah_strbuf body = FAH_STRBUF_INIT, rest = FAH_STRBUF_INIT, out = FAH_STRBUF_INIT;
	int columns = fah_term_width(STDERR_FILENO), max = rows_of_terminal() - 2, rows;
	struct fah_traffic traffic;
	bool known, in_place;

	if (max < ROWS_LEAST || !fah_live_screen_is_free(pid))
		return;
	if (!fah_live_fit(&body, text, columns, max - 2, &rows)) {
		fah_strbuf_adds(&body, "...\n" ALL_OF_IT);
		fah_strbuf_add_printable(&rest, path, strlen(path));
		fah_utf8_cut_tail(&body, fah_strbuf_str(&rest), rest.len,
				  (size_t)columns - strlen(ALL_OF_IT), !fah_term_utf8());
		fah_strbuf_addc(&body, '\n');
		rows += 2;
	}
	known = fah_traffic(pid, &traffic);
	in_place = s->rows && s->columns == columns && s->has_traffic && known &&
		   traffic.in == s->traffic.in && traffic.out == s->traffic.out;
	if (in_place)
		fah_strbuf_addf(&out, "\r\033[%dA\033[J", s->rows);
	else
		fah_strbuf_adds(&out, "\n"); /* the cursor may stand behind something */
	fah_strbuf_adds(&out, fah_strbuf_str(&body));
	if (!out.failed && !body.failed) {
		write_all(fah_strbuf_str(&out), out.len);
		*s = (struct fah_live_screen){rows, columns, traffic, known};
	}
	fah_strbuf_release(&body);
	fah_strbuf_release(&rest);
	fah_strbuf_release(&out);
}
