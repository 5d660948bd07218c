# plots.py - makes show() of a plotting library return at once. Runs inside the program.
#
# agent/hooks.c runs this text, in a namespace of its own, when the code of a module that has one is about to be run by
# its import, or when it is there already: then the function stays the same object, under whatever
# names the program has it, with other code. It takes the same arguments. It imports nothing.
#
# Given: name and module (perhaps still empty), code (of the module; None: it was run before), compiled (see logs.py),
# changes (a list). Left there: (code object, place among its constants, what is to stand there).

CLASSES = {  # where show() is a method
    "matplotlib.figure": "Figure",
    "plotly.basedatatypes": "BaseFigure",
    "seaborn._core.plot": "Plotter",
}


def quiet(old):
    """Code that takes the same arguments and returns None at once."""
    names = list(old.co_varnames)
    n, only = old.co_argcount, old.co_posonlyargcount
    words = names[:n]
    if only:
        words.insert(only, "/")
    rest = names[n + old.co_kwonlyargcount :]
    if old.co_flags & 4:
        words.append("*" + rest.pop(0))
    elif old.co_kwonlyargcount:
        words.append("*")
    words += names[n : n + old.co_kwonlyargcount]
    if old.co_flags & 8:
        words.append("**" + rest.pop(0))
    free = ", ".join(old.co_freevars)
    text = "def outer(%s):\n def show(%s):\n  return None\n  %s\n" % (
        free,
        ", ".join(words),
        free or "pass",
    )
    outer = compiled(text, old.co_filename).co_consts[0]
    new = [const for const in outer.co_consts if isinstance(const, type(old))][0]
    same = {"co_name": old.co_name, "co_firstlineno": old.co_firstlineno}
    if hasattr(old, "co_qualname"):
        same["co_qualname"] = old.co_qualname
    return new.replace(**same)


def in_code(container, wanted):
    for i, const in enumerate(container.co_consts):
        if isinstance(const, type(container)) and const.co_name == wanted:
            yield i, const


def main():
    owner = CLASSES.get(name)
    if code is None:
        function = getattr(getattr(module, owner, None) if owner else module, "show", None)
        if hasattr(function, "__code__"):
            function.__code__ = quiet(function.__code__)
        return
    bodies = [body for _, body in in_code(code, owner)] if owner else [code]
    for body in bodies:
        for i, old in in_code(body, "show"):
            changes.append((body, i, quiet(old)))


main()
