"""A hostile process: FOLDER GPU ATTACK NUMBER [UID].

It prints "begun", and goes on until it is killed. Run by path: a process of its own for the daemon.
With a UID it runs as that user.
"""

import itertools
import os
import select
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from nvshare.wire import frames
from tests.integration.daemon.client import Client, hello

Attack = Callable[[Path, str, int], None]


def begun() -> None:
    """Print that the attack has begun."""
    print("begun", flush=True)


def joined(folder: Path, gpu: str, count: int) -> list[Client]:
    """Register this many clients."""
    clients = []
    for _ in range(count):
        client = Client(folder)
        client.sock.settimeout(60)
        client.join(gpu)
        clients.append(client)
    return clients


def flood(folder: Path, gpu: str, count: int, data: bytes) -> None:
    """Send the same frames without end, on all connections; answers are thrown away."""
    clients = joined(folder, gpu, count)
    begun()
    socks = [client.sock for client in clients]
    for sock in socks:
        sock.setblocking(False)
    while True:
        readable, writable, _ = select.select(socks, socks, [])
        for sock in readable:
            with suppress(OSError):
                sock.recv(65536)
        for sock in writable:
            with suppress(OSError):
                sock.send(data)


def want(folder: Path, gpu: str, count: int) -> None:
    """WANT without end."""
    flood(folder, gpu, count, frames.Want(0).pack() * 500)


def usage(folder: Path, gpu: str, count: int) -> None:
    """USAGE without end, of counters that grow."""
    data = b"".join(frames.Usage(n, n, n, n).pack() for n in range(500))
    flood(folder, gpu, count, data)


def reconnect(folder: Path, gpu: str, count: int) -> None:
    """Connect and disconnect again and again."""
    del count
    begun()
    for _ in itertools.count():
        with suppress(OSError), Client(folder) as client:
            client.send(hello(gpu))


def fork(folder: Path, gpu: str, count: int) -> None:
    """Connect as another process each time, so many of them side by side."""
    # The attack is not meant to use up the machine's processors.
    os.nice(10)
    begun()
    data = hello(gpu).pack() + frames.Want(0).pack() * 20
    for number in itertools.count():
        if os.fork() == 0:
            with suppress(OSError), Client(folder) as client:
                client.sock.sendall(data)
            os._exit(0)
        if number >= count:
            os.wait()


def connect(folder: Path, gpu: str, count: int) -> None:
    """Take all connections; print how many it has got."""
    begun()
    clients = []
    for _ in range(count):
        client = Client(folder)
        with suppress(OSError):
            client.send(hello(gpu))
        clients.append(client)
    held = 0
    for client in clients:
        client.sock.settimeout(30)
        with suppress(OSError, AssertionError):
            client.be_welcome()
            held += 1
    print(held, flush=True)
    time.sleep(60)


ATTACKS: dict[str, Attack] = {
    "want": want,
    "usage": usage,
    "reconnect": reconnect,
    "fork": fork,
    "connect": connect,
}

if __name__ == "__main__":
    socket.setdefaulttimeout(None)
    # From there it can connect, even if it may not read the folders above.
    os.chdir(sys.argv[1])
    if len(sys.argv) > 5:
        os.setgid(int(sys.argv[5]))
        os.setuid(int(sys.argv[5]))
    ATTACKS[sys.argv[3]](Path(), sys.argv[2], int(sys.argv[4]))
