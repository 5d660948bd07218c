"""Lines of known length; prints what the program's own clock says of each function."""

import time

try:
    profile
except NameError:

    def profile(thing):
        return thing


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


@profile
def waits():
    time.sleep(0.15)
    spin(0.1)
    helper()


@profile
def helper():
    time.sleep(0.05)


@profile
def again(n):
    time.sleep(0.01)
    if n:
        again(n - 1)


@profile
def generates(n):
    for i in range(n):
        time.sleep(0.02)
        yield 0.1


with profile if hasattr(profile, "enable") else open(__file__):
    for function, argument in ((waits, ()), (again, (9,)), (lambda: list(map(spin, generates(3))), ())):
        begun = time.perf_counter()
        function(*argument) if argument != () else function()
        print("%.6f" % (time.perf_counter() - begun))
