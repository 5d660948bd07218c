# logs.py - makes logging and warnings tell the agent of what they are given. Runs inside the program.
#
# agent/inside.c runs this text, in a namespace of its own, when the code of one of the two is about to be run by
# its import, or when recording begins and it is there already; before it, there, logs_logging.py or logs_warnings.py. It
# makes other code for a few functions: the same lines of the same source, with `hook @ values` added, which tells the
# agent; an operator, since a call could be seen by the program's own profile function. No handler, level or filter
# changes, no frame comes in between, all lines and columns of tracebacks are as they were: what is added stands to the
# right of what is there. It imports nothing, and there is no syntax tree: the types for it would stay, 500 to 1100
# objects that the program's own first tree would find made. An exception: all is as it was.
#
# Given: name and module (perhaps still empty), code (of the module; None: it was run long ago), hook, level,
# compiled (text and file name to code; the built-in one makes those types), changes (a list). Left there: (code object,
# place among its constants, what is to stand there).
# Of the other text: edits(), a list of (names that lead to a function, what edits its lines: list, first, last, the
# lines' numbers; False where there is nothing to edit); prepared(lines), as they are to be compiled; finished(edit, code,
# last), what that made of it.

MARK = "fixingahole: hook"  # stands for the hook until the code is made

LOADERS = ("_frozen_importlib_external", "importlib._bootstrap_external", "zipimport")


def same_name(code, wanted):
    """The code object made for `wanted`, inside a module's."""
    for const in code.co_consts:
        if isinstance(const, type(code)):
            if const.co_name == wanted.co_name and const.co_firstlineno == wanted.co_firstlineno:
                return const
            inner = same_name(const, wanted)
            if inner:
                return inner
    return None


def end_of(lines, first):
    """Of the function that begins there: its last line's number."""
    line = lines[first - 1]
    deeper = line[: len(line) - len(line.lstrip())] + " "
    last = end = first
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith(deeper)):
        end += 1
        if lines[end - 1].strip():
            last = end
    return last


def text_of(lines, functions):
    """The functions' lines where they stand in the file, and what they depend on: their classes, and
    imports, since from 3.11 on a function of an imported module is called in another way than a method."""
    kept = [""] * (max([last for _, _, last in functions]) + 1)
    for i, line in enumerate(lines):
        if line.startswith("import "):
            kept[i] = line
        elif line.startswith(("def ", "class ")):
            break
    for path, first, last in functions:
        kept[first - 1 : last] = lines[first - 1 : last]
        i = first - 1
        while path[1:] and not lines[i].startswith("class "):
            i -= 1
        kept[i] = lines[i]
    return kept


def with_hook(new, old):
    # python -b: bytes must not be compared with it
    consts = [hook if isinstance(c, str) and c == MARK else c for c in new.co_consts]
    if isinstance(consts[0], str) and "\f" in consts[0]:
        consts[0] = old.co_consts[0]  # its description, less deep
    return new.replace(co_consts=tuple(consts))


def changed(lines, found):
    """found: (path, edit, code) each; the new code of each."""
    filename = found[0][2].co_filename
    functions = [(path, old.co_firstlineno, end_of(lines, old.co_firstlineno)) for path, _, old in found]
    lines = text_of(lines, functions)
    before = compiled("\n".join(lines), filename)
    for _, _, old in found:
        if same_name(before, old) != old:
            raise ImportError("the source of %s is not what it was made from" % old.co_name)
    for (_, edit, old), (_, first, last) in zip(found, functions):
        if not edit(lines, first, last):
            raise ImportError("%s is not written as in any Python known" % old.co_name)
    after = compiled("\n".join(prepared(lines)), filename)
    return [
        finished(edit, with_hook(same_name(after, old), old), last)
        for (_, edit, old), (_, _, last) in zip(found, functions)
    ]


def in_code(container, path):
    """(code object, place, code of the function) of what is not yet defined."""
    for i, const in enumerate(container.co_consts):
        if isinstance(const, type(container)) and const.co_name == path[0]:
            return in_code(const, path[1:]) if path[1:] else (container, i, const)
    return None


def in_module(path):
    """(function, None, its code)"""
    found = module
    for part in path:
        found = getattr(found, part, None)
    old = getattr(found, "__code__", None)
    if old is None or any(const is hook for const in old.co_consts):
        return None
    return found, None, old


def source_of(filename):
    """Its lines, by a loader that runs no code of the program's."""
    loader = module.__spec__.loader
    if type(loader).__module__ not in LOADERS:
        raise ImportError("it comes from a loader that is not Python's own")
    try:
        return loader.get_data(filename).decode("utf-8").split("\n")
    except ImportError as error:  # of zipimport, which has a class for it
        raise ImportError(str(error))


def main():
    found, places = [], []
    for path, edit in edits():
        place = in_code(code, path) if code is not None else in_module(path)
        if place is None:
            return  # a module of the program's that has the same name; or it was done
        places.append(place)
        found.append((path, edit, place[2]))
    made = changed(source_of(places[0][2].co_filename), found)
    for (owner, i, _), new in zip(places, made):
        if code is None:
            owner.__code__ = new
        else:
            changes.append((owner, i, new))


main()
