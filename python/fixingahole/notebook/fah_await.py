"""One event loop for all cells, and whose line it is that waits.

While a cell awaits, no frame of its is on the stack: the loop runs the tasks, or sleeps. So each turn of the
loop is made from a frame with the name and the line of the code that awaits, and what the loop does is that
line's, as it would be for a call.
"""

import functools
import inspect
import sys
import types


OLD = 8  # turns


class Loop:
    def __init__(self, cells):
        self.names = {cell.name for cell in cells}
        self.loop = None
        self.frames = {}
        # asyncio takes a while to import; cells that name it may ask for the current loop.
        if any("asyncio" in cell.source for cell in cells):
            self.get()

    def get(self):
        import asyncio

        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop

    def run(self, coroutine):
        """What the coroutine returns, or raises."""
        loop = self.get()
        task = loop.create_task(coroutine)
        turn = getattr(loop, "_run_once", None)
        if turn is None:  # a loop of somebody else's
            return loop.run_until_complete(task)
        loop._run_once = self.turns(loop, task, turn)
        try:
            return loop.run_until_complete(task)
        finally:
            del loop._run_once

    def turns(self, loop, task, turn):
        """A turn of the loop, called from the frames of what awaits.

        Looked for before the loop sleeps, else every now and then: a turn takes 3 µs, and so does that.
        """
        ready, age, call = getattr(loop, "_ready", ()), OLD, turn

        def once():
            nonlocal age, call
            age += 1
            if not ready or age > OLD:
                age, call = 0, turn
                for waiting in reversed(self.waiting(task.get_coro())):
                    call = functools.partial(self.frame(*waiting), call)
            return call()

        return once

    def waiting(self, awaitable):
        """The code of cells that awaits, and its lines, outermost first."""
        found = []
        while inspect.iscoroutine(awaitable):
            frame = awaitable.cr_frame
            if frame is not None and frame.f_code.co_filename in self.names:
                found.append((frame.f_code, frame.f_lineno or frame.f_code.co_firstlineno))
            awaitable = awaitable.cr_await
        return found

    def frame(self, code, line):
        """A function that calls its argument, which looks like that code at that line."""
        key = code.co_filename, code.co_name, code.co_firstlineno, line
        if key not in self.frames:
            self.frames[key] = like(code, line)
        return self.frames[key]

    def close(self):
        """Tasks that nobody awaits any more end, as at the end of asyncio.run."""
        if self.loop is None or self.loop.is_closed():
            return
        asyncio = sys.modules["asyncio"]
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()


def like(code, line):
    first = min(code.co_firstlineno, line)
    below = line - first
    source = "\n" * (first - 1) + "def call(turn):" + ("\n" * below or " ") + " return turn()\n"
    made = next(
        const
        for const in compile(source, code.co_filename, "exec").co_consts
        if isinstance(const, types.CodeType)
    )
    names = {"co_name": code.co_name}
    if hasattr(code, "co_qualname"):
        names["co_qualname"] = code.co_qualname
    return types.FunctionType(made.replace(**names), {})
