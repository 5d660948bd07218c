"""uvloop: streams, signals (SIGURG among them), a child, an executor."""

import asyncio
import os
import signal
import sys

import uvloop


async def serve(reader, writer):
    while True:
        line = await reader.readline()
        if not line:
            break
        writer.write(line.upper())
        await writer.drain()
    writer.close()


async def client(port, n):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = []
    for i in range(30):
        writer.write(b"a%d.%d\n" % (n, i))
        lines.append(await reader.readline())
        sum(range(10000))
    writer.close()
    return lines


async def main(loop):
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port, got = server.sockets[0].getsockname()[1], []
    for name in "SIGUSR1", "SIGURG":
        loop.add_signal_handler(getattr(signal, name), got.append, name)
    lines = await asyncio.gather(*[client(port, n) for n in range(20)])
    print([line[-1] for line in lines])
    os.kill(os.getpid(), signal.SIGUSR1)
    os.kill(os.getpid(), signal.SIGURG)
    while len(got) < 2:
        await asyncio.sleep(0.01)
    code = "print(sum(range(10**6)))"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=-1)
    print(sorted(got), await child.communicate(), child.returncode)
    print(await loop.run_in_executor(None, sum, range(10**6)))
    server.close()


loop = uvloop.new_event_loop()
asyncio.set_event_loop(loop)
loop.run_until_complete(main(loop))
print(type(loop).__module__)
