"""Modules imported, used, thrown out of sys.modules and freed; packages, reload, zip. Status 19.

Module made_K has functions outer_K -> inner_K, as in newcode.py.
"""
import gc
import importlib
import os
import shutil
import sys
import tempfile
import zipfile

from victim import Sum, rounds, seconds

SOURCE = """\
def outer_{k}(n):
    return sum(inner_{k}(i) for i in range(n))


def inner_{k}(i):
    return i * 5 % 11


class Holder_{k}:
    def method_{k}(self):
        return inner_{k}(7)


VALUE = outer_{k}(10)
"""
MODULES = 12


def write(folder):  # from: main
    for k in range(MODULES):
        with open(os.path.join(folder, "made_%d.py" % k), "w") as file:
            file.write(SOURCE.format(k=k))
    with zipfile.ZipFile(os.path.join(folder, "zipped.zip"), "w") as archive:
        archive.writestr("made_99.py", SOURCE.format(k=99))


def call_outer(module, k):  # from: use
    return getattr(module, "outer_%d" % k)(50)


def call_method(module, k):  # from: use
    return getattr(getattr(module, "Holder_%d" % k)(), "method_%d" % k)()


def use(k):  # from: main
    name = "made_%d" % k
    module = importlib.import_module(name)
    out = [module.VALUE, call_outer(module, k), call_method(module, k)]
    if k % 4 == 0:
        importlib.reload(module)
        out.append(module.VALUE)
    del sys.modules[name]
    return out


def main():  # from: <module>
    total = Sum()
    folder = tempfile.mkdtemp()
    try:
        write(folder)
        sys.path[:0] = [folder, os.path.join(folder, "zipped.zip")]
        for n in rounds(seconds()):
            sys.dont_write_bytecode = n % 2 == 0
            for k in list(range(MODULES)) + [99]:
                total.add(k, use(k))
            gc.collect()
            importlib.invalidate_caches()
    finally:
        shutil.rmtree(folder)
    print(total.line())
    return 19


if __name__ == "__main__":
    sys.exit(main())
