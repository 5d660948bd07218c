"""Coroutines by hand and by asyncio, async generators, cancelled tasks. Ends with status 13."""
import asyncio
import gc
import sys
import types

from victim import Sum, rounds, seconds


def pause():  # from: leaf_a, drive_a, coro_close, coro_throw
    yield 1


pause = types.coroutine(pause)


async def leaf_a(n):  # from: middle_a, drive_a, coro_close, coro_throw
    for _ in range(n):
        await pause()
    return n


async def middle_a(n):  # from: drive_a, coro_close, coro_throw
    return await leaf_a(n) + await leaf_a(n)


def drive_a():  # from: main
    """By hand: to the end, half-way and dropped, half-way and closed, thrown into."""
    out = []
    for n in range(12):
        coro = middle_a(n)
        try:
            while True:
                coro.send(None)
        except StopIteration as stop:
            out.append(stop.value)
        for end in (coro_drop, coro_close, coro_throw):
            coro = middle_a(n + 1)
            coro.send(None)
            out.append(end(coro))
            del coro
    return out


def coro_drop(coro):  # from: drive_a
    return "dropped"


def coro_close(coro):  # from: drive_a
    coro.close()
    return "closed"


def coro_throw(coro):  # from: drive_a
    try:
        coro.throw(KeyError("thrown"))
    except KeyError as error:
        return error.args


async def numbers_b(n):  # from: half_b, all_b, <listcomp>, _run@events.py
    try:
        for i in range(n):
            yield i
            await asyncio.sleep(0)
    finally:
        await asyncio.sleep(0)


async def half_b(n):  # from: gather_b, <listcomp>, _run@events.py
    gen = numbers_b(n)
    total = 0
    async for i in gen:
        total += i
        if i > n // 2:
            break
    await gen.aclose()
    return total


async def all_b(n):  # from: gather_b, _run@events.py
    return sum([i async for i in numbers_b(n)])  # from: all_b


async def gather_b():  # from: _run@events.py, main
    halves = [half_b(n) for n in range(3, 9)]  # from: gather_b
    return await asyncio.gather(*halves, all_b(8), all_b(5))


async def forever_c(event):  # from: _run@events.py, cancel_c, <listcomp>
    while not event.is_set():
        await asyncio.sleep(0)


async def cancel_c():  # from: _run@events.py, main
    event = asyncio.Event()
    tasks = [asyncio.ensure_future(forever_c(event)) for _ in range(8)]  # from: cancel_c
    for _ in range(5):
        await asyncio.sleep(0)
    for task in tasks[:4]:
        task.cancel()
    event.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    return [type(r).__name__ for r in results]  # from: cancel_c


def call_d(left, future):  # from: _run@events.py
    if left:
        asyncio.get_event_loop().call_soon(call_d, left - 1, future)
    else:
        future.set_result("called")


async def callbacks_d():  # from: _run@events.py, main
    future = asyncio.get_event_loop().create_future()
    asyncio.get_event_loop().call_soon(call_d, 30, future)
    return await future


def main():  # from: <module>
    total = Sum()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    for n in rounds(seconds()):
        total.add("drive_a", drive_a())
        total.add("gather_b", loop.run_until_complete(gather_b()))
        total.add("cancel_c", loop.run_until_complete(cancel_c()))
        total.add("callbacks_d", loop.run_until_complete(callbacks_d()))
        if n % 16 == 0:
            gc.collect()
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
    print(total.line())
    return 13


if __name__ == "__main__":
    sys.exit(main())
