"""A command on a terminal of its own, as a user types it."""

import os
import pty
import re
import select

from support import run as tool

SILENCE = 180  # seconds


class Terminal:
    """The terminal is all three streams; stdout may be a file."""

    def __init__(self, words, cwd, stdout=None):
        self.pid, self.master = pty.fork()
        self.text = b""
        if self.pid == 0:
            if stdout is not None:
                os.dup2(os.open(str(stdout), os.O_WRONLY | os.O_CREAT, 0o666), 1)
            os.chdir(str(cwd))
            words = [str(word) for word in words]
            os.execvpe(words[0], words, tool.environment({"TERM": "xterm", "COLUMNS": "100"}))

    def read(self):
        """What comes next. One that says nothing more, but does not end either, has failed."""
        assert select.select([self.master], [], [], SILENCE)[0], self.text
        try:
            part = os.read(self.master, 65536)
        except OSError:
            part = b""
        self.text += part
        return bool(part)

    def read_what_is_there(self):
        while select.select([self.master], [], [], 0)[0] and self.read():
            pass

    def until(self, word):
        while word not in self.text:
            assert self.read(), self.text

    def until_match(self, pattern):
        while not re.search(pattern, self.text):
            assert self.read(), self.text

    def end(self):
        while self.read():
            pass
        os.close(self.master)
        return os.waitpid(self.pid, 0)[1]
