"""asyncio: tasks of unequal work that take turns, and one that only waits."""

import asyncio
import time

import clocks


def burn(n):
    x = 0
    for i in range(n):
        x ^= i
    return x


def small():
    burn(12000)


def medium():
    burn(30000)


def large():
    burn(70000)


async def step(function):
    clocks.timed(function)
    await asyncio.sleep(0)


async def job(function, end):
    while time.process_time() < end:
        await step(function)


async def waiter(end):
    while time.process_time() < end:
        await asyncio.sleep(0.005)


async def main():
    end = time.process_time() + clocks.SECONDS
    await asyncio.gather(job(small, end), job(medium, end), job(large, end), waiter(end))


asyncio.run(main())
clocks.say(shared=["burn"])
