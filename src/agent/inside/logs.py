# logs.py - makes logging and warnings tell the agent of what they are given. Runs inside the program.
#
# agent/hooks.c runs this text, in a namespace of its own, when the code of one of the two is about to be run by
# its import, or when recording begins and it is there already. It makes other code for a few
# functions: the same statements, from the same source, with `hook @ values` added, which tells the
# agent; an operator, since a call could be seen by the program's own profile function. No handler, level or filter
# changes, no frame comes in between, all lines and columns of tracebacks are as they were. It imports nothing. An
# exception: all is as it was.
#
# Given: name and module (perhaps still empty), code (of the module; None: it was run long ago), hook, level,
# changes (a list). Left there: (code object, place among its constants, what is to stand there).

ONLY_AST = 0x400
MARK = "fixingahole: hook"  # stands for the hook until the code is made

LOADERS = ("_frozen_importlib_external", "importlib._bootstrap_external", "zipimport")

SUPPRESSED, RECORD, GIVEN, SHOWN = range(4)  # as in agent/log_hook.c


def parse(text, filename, mode):
    return compile(text, filename, mode, ONLY_AST, True)


def expression(text):
    return parse(text.replace("MARK", repr(MARK)), "<fixingahole>", "eval").body


def place(node, at):
    """Ours stand where what they belong to stands: lines and columns in tracebacks stay as they were."""
    for name in node._attributes:
        setattr(node, name, getattr(at, name))
    for name in node._fields:
        value = getattr(node, name, None)
        for child in value if isinstance(value, list) else [value]:
            if hasattr(child, "_fields"):
                place(child, at)
    return node


def kind(node):
    return type(node).__name__


def is_call(node, name):
    """A call of name, or of anything's attribute of that name."""
    return kind(node) == "Call" and name in (
        getattr(node.func, "id", None),
        getattr(node.func, "attr", None),
    )


# Edits: a list of statements in, the same list with ours out; None where there is nothing to edit.


def suppressed(statements):
    """if self.isEnabledFor(LEVEL): ... -> if self.isEnabledFor(LEVEL) or hook @ (...): ..."""
    for statement in statements:
        if kind(statement) == "If" and is_call(statement.test, "isEnabledFor"):
            test = statement.test
            both = expression(
                "0 or MARK @ (%d, self, level, msg, args, kwargs)" % SUPPRESSED
            )
            place(both, test)
            both.values[0] = test
            both.values[1].right.elts[2] = test.args[0]
            statement.test = both
            return statements
    return None


def handled(statements):
    """self.handle(record) -> try: self.handle(record) finally: hook @ (...)"""
    last = statements[-1]
    if kind(last) != "Expr" or not is_call(last.value, "handle"):
        return None
    text = "try:\n pass\nfinally:\n %r @ (%d, level, record)" % (MARK, RECORD)
    both = place(parse(text, "<fixingahole>", "exec").body[0], last)
    both.body = [last]
    return statements[:-1] + [both]


def before(statements, found, values):
    """found: which statement; the hook gets values before it."""
    for i, statement in enumerate(statements):
        if found(statement):
            ours = parse("%r @ (%s)" % (MARK, values), "<fixingahole>", "exec").body[0]
            return statements[:i] + [place(ours, statement)] + statements[i:]
        for name in ("body", "orelse"):
            inner = getattr(statement, name, None)
            inner = isinstance(inner, list) and before(inner, found, values)
            if inner:
                setattr(statement, name, inner)
                return statements
    return None


def given(statements):
    """To the program's own showwarning(), before it is called."""

    def found(statement):
        return kind(statement) == "Expr" and is_call(statement.value, "sw")

    return before(statements, found, "%d, sw, msg" % GIVEN)


def shown(statements):
    """Where it is about to be written, and not recorded by catch_warnings()."""

    def found(statement):
        return (
            kind(statement) == "Assign"
            and getattr(statement.targets[0], "id", None) == "file"
            and getattr(statement.value, "attr", None) == "file"
        )

    return before(statements, found, "%d, msg" % SHOWN)


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


def definition(tree, name):
    for statement in tree.body:
        if kind(statement) == "FunctionDef" and statement.name == name:
            return statement
        if kind(statement) == "ClassDef":
            return definition(statement, name)
    return None


def text_of(lines, old, owner, imports):
    """The function's own lines, where they stand in the file."""
    first = last = old.co_firstlineno
    line = lines[first - 1]
    deeper = line[: len(line) - len(line.lstrip())] + " "
    while last < len(lines) and (not lines[last].strip() or lines[last].startswith(deeper)):
        last += 1
    head = imports + "\n" * (first - 1 - len(owner))
    for name in owner:
        head += "class %s:\n" % name
    return head + "\n".join(lines[first - 1 : last]) + "\n"


def tree_of(lines, imports, old, owner):
    """What the function was made from: compiled again it gives the same."""
    # from 3.11 on a function of an imported module is called in another way than a method
    for start in (imports, ""):
        tree = parse(text_of(lines, old, owner, start), old.co_filename, "exec")
        if same_name(compile(tree, old.co_filename, "exec", 0, True), old) == old:
            return tree
    raise ImportError("the source of %s is not what it was made from" % old.co_name)


def changed(lines, imports, old, edit, owner):
    tree = tree_of(lines, imports, old, owner)
    body = definition(tree, old.co_name)
    body.body = edit(body.body)
    if body.body is None:
        raise ImportError("%s is not written as in any Python known" % old.co_name)
    new = same_name(compile(tree, old.co_filename, "exec", 0, True), old)
    # python -b: bytes must not be compared with it
    consts = [hook if isinstance(c, str) and c == MARK else c for c in new.co_consts]
    return new.replace(co_consts=tuple(consts))


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


def edits():
    if name != "logging":
        return [(("_showwarnmsg",), given), (("_showwarnmsg_impl",), shown)]
    found = [(("Logger", "_log"), handled), (("Logger", "log"), suppressed)]
    found.append((("LoggerAdapter", "log"), suppressed))
    for number, function in enumerate(("debug", "info", "warning", "error", "critical"), 1):
        if number * 10 >= level:
            found.append((("Logger", function), suppressed))
    return found


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
    lines, imports, made = None, None, []
    for path, edit in edits():
        place_of = in_code(code, path) if code is not None else in_module(path)
        if place_of is None:
            return  # a module of the program's that has the same name; or it was done
        if lines is None:
            lines = source_of(place_of[2].co_filename)
            imports = "; ".join([line for line in lines if line.startswith("import ")])
        made.append(place_of[:2] + (changed(lines, imports, place_of[2], edit, path[:-1]),))
    if code is not None:
        changes.extend(made)
        return
    for function, _, new in made:
        function.__code__ = new


main()
