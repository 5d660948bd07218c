"""gevent, with everything patched: sockets, threads, a child, a time limit, its own threads."""

from gevent import monkey

monkey.patch_all()

import socket  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402

import gevent  # noqa: E402
from gevent import pool, server  # noqa: E402


def serve(sock, address):
    file = sock.makefile("rwb")
    for line in file:
        file.write(line.upper())
        file.flush()


def client(port, n):
    sock = socket.create_connection(("127.0.0.1", port))
    file, lines = sock.makefile("rwb"), []
    for i in range(20):
        file.write(b"a%d.%d\n" % (n, i))
        file.flush()
        lines.append(file.readline())
        sum(range(20000))
    sock.close()
    return lines


listener = server.StreamServer(("127.0.0.1", 0), serve)
listener.start()
clients = [gevent.spawn(client, listener.server_port, n) for n in range(20)]
gevent.joinall(clients)
print([c.value[-1] for c in clients])
print(sum(pool.Pool(5).map(lambda x: x * x, range(50))))
thread = threading.Thread(target=lambda: print(sum(range(100000))))
thread.start()
thread.join()
print(subprocess.check_output([sys.executable, "-c", "print(sum(range(10**6)))"]))
with gevent.Timeout(0.1, False):
    gevent.sleep(5)
print(gevent.get_hub().threadpool.apply(sum, (range(10**6),)))
listener.stop()
