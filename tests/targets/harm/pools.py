"""pools.py METHOD: multiprocessing, most of it."""

import multiprocessing
import sys
import time
from multiprocessing import shared_memory


def square(x):
    sum(range(20000))
    return x * x


def put(queue, n):
    for i in range(n):
        queue.put((n, i))


def write(name):
    memory = shared_memory.SharedMemory(name=name)
    memory.buf[0] = 42
    memory.close()


def bump(table, lock, key):
    with lock:
        table[key] = table.get(key, 0) + 1


def all_of(processes):
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return [process.exitcode for process in processes]


def main(ctx):
    with ctx.Pool(3) as pool:
        print(sum(pool.map(square, range(200))), pool.apply_async(square, (9,)).get())
    queue = ctx.Queue()
    writers = [ctx.Process(target=put, args=(queue, 50)) for _ in range(3)]
    for writer in writers:
        writer.start()
    print(len([queue.get() for _ in range(150)]))
    for writer in writers:
        writer.join()
    memory = shared_memory.SharedMemory(create=True, size=100)
    print(all_of([ctx.Process(target=write, args=(memory.name,))]), memory.buf[0])
    memory.close()
    memory.unlink()
    with ctx.Manager() as manager:
        table, lock = manager.dict(), manager.Lock()
        print(all_of([ctx.Process(target=bump, args=(table, lock, i % 2)) for i in range(4)]))
        print(sorted(table.items()))
    sleeper = ctx.Process(target=time.sleep, args=(100,))
    sleeper.start()
    sleeper.terminate()
    sleeper.join()
    print(sleeper.exitcode)


if __name__ == "__main__":
    main(multiprocessing.get_context(sys.argv[1]))
