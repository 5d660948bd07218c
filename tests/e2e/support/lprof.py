"""line_profiler's files, read without line_profiler."""

import pickle


class LineStats:
    pass


class Reader(pickle.Unpickler):
    def find_class(self, module, name):
        assert (module, name) == ("line_profiler._line_profiler", "LineStats"), (module, name)
        return LineStats


def read(path):
    with open(path, "rb") as file:
        return Reader(file).load()


def hits(stats):
    """{line: hits}, of all functions together."""
    found = {}
    for lines in stats.timings.values():
        for line, n, _time in lines:
            found[line] = found.get(line, 0) + n
    return found
