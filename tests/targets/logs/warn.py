# log: WARNING UserWarning: shown
# log: WARNING UserWarning: twice
# log: WARNING UserWarning: twice
# log: WARNING DeprecationWarning: in main
# log: WARNING RuntimeWarning: explicit
# log: WARNING UserWarning: to the program's own
# log: WARNING UserWarning: handed on
# log: WARNING Own: <Own>
import warnings


class Own(UserWarning):
    def __str__(self):
        print("own str")
        return "own"


def mine(message, category, filename, lineno, file=None, line=None):
    print("mine:", message, category.__name__, lineno, file, line)


warnings.warn("shown")
warnings.simplefilter("ignore")
warnings.warn("ignored")
warnings.simplefilter("error")
try:
    warnings.warn("an error")
except UserWarning as error:
    print("caught", error)
warnings.resetwarnings()
warnings.simplefilter("always")
for _ in range(2):
    warnings.warn("twice")
warnings.warn("in main", DeprecationWarning)
warnings.warn_explicit("explicit", RuntimeWarning, "elsewhere.py", 7)
with warnings.catch_warnings(record=True) as kept:
    warnings.warn("kept by the program")
print([str(k.message) for k in kept])
show = warnings.showwarning
warnings.showwarning = mine
warnings.warn("to the program's own")
warnings.showwarning = lambda *args: (print("first"), show(*args))
warnings.warn("handed on")
warnings.showwarning = show
warnings.formatwarning = lambda *args: "formatted\n"
warnings.warn(Own("x"))
