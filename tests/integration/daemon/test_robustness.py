"""Nothing that a client does harms another, or the daemon."""

import random
import socket
from contextlib import suppress

import pytest

from nvshare.wire import frames
from nvshare.wire.frames import HEADER, MAGIC, MAX_PAYLOAD, SOCKET_NAME, VERSION

from .client import Client, hello
from .conftest import Daemon, StartDaemon


class Fuzzer:
    """Bytes that are nearly frames, or not at all."""

    def __init__(self, uuid: str, seed: int) -> None:
        self._chance = random.Random(seed)
        self._good = [
            hello(uuid).pack(),
            frames.Want(0).pack(),
            frames.Memory(1 << 30, 0, 0, 0).pack(),
            frames.Usage(1, 2, 3).pack(),
            frames.Moved(0, 0, 0, 0, 1, 1, 1).pack(),
            frames.Released(1, frames.ReleaseReason.IDLE, 1, 0, 0, 0, 0, 0, 0).pack(),
        ]

    def connection(self, count: int) -> bytes:
        """What one connection sends: so many frames, the first of which may be a good HELLO."""
        made = [self._frame() for _ in range(count)]
        if self._chance.random() < 0.5:
            made[0] = self._good[0]
        return b"".join(made)

    def _frame(self) -> bytes:
        return self._chance.choice(
            [self._damaged, self._random, self._unknown, self._oversized, self._cut, self._whole]
        )()

    def _whole(self) -> bytes:
        return self._chance.choice(self._good)

    def _damaged(self) -> bytes:
        data = bytearray(self._whole())
        # Behind the header more often than in it, or most would end at the magic.
        for _ in range(self._chance.randint(1, 4)):
            low = 0 if self._chance.random() < 0.2 else HEADER.size
            data[self._chance.randrange(low, len(data))] = self._chance.randrange(256)
        return bytes(data)

    def _random(self) -> bytes:
        return self._chance.randbytes(self._chance.randint(1, 64))

    def _unknown(self) -> bytes:
        size = self._chance.randint(0, 64)
        kind = self._chance.randrange(200, 60000)
        return HEADER.pack(MAGIC, VERSION, kind, size, 0) + self._chance.randbytes(size)

    def _oversized(self) -> bytes:
        size = self._chance.randint(MAX_PAYLOAD + 1, 2**32 - 1)
        return HEADER.pack(MAGIC, VERSION, self._chance.randint(1, 6), size, 0)

    def _cut(self) -> bytes:
        data = self._whole()
        return data[: self._chance.randrange(1, len(data))]


def drop(folder: str, data: bytes) -> None:
    """Send, look at nothing, go."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.connect(folder)
        # The daemon may have had enough already.
        with suppress(BrokenPipeError, ConnectionResetError):
            sock.sendall(data)


@pytest.mark.timeout(3600)
def test_bad_frames_close_that_connection_only(daemon: Daemon, bad_frames: int) -> None:
    gpu = daemon.gpus[0]
    bystander = daemon.connect()
    bystander.join(gpu)
    bystander.expect(frames.Grant)
    fuzzer = Fuzzer(gpu, seed=bad_frames)
    path = str(daemon.folder / SOCKET_NAME)
    each = 10
    for _ in range(bad_frames // each):
        drop(path, fuzzer.connection(each))

    # The bystander has lost nothing, and a newcomer is welcome.
    newcomer = Client(daemon.folder)
    newcomer.join(gpu)
    newcomer.close()
    bystander.send(frames.Memory(7, 0, 0, 0))
    shown = {client.id: client for client in daemon.control.status().clients}
    assert shown[1].state == "running"
    assert "error" not in daemon_errors(daemon)


def daemon_errors(daemon: Daemon) -> str:
    """What the daemon has logged as an error, after it has ended."""
    said = daemon.stop()
    return "\n".join(line for line in said.splitlines() if " error " in line)


def test_out_of_descriptors_is_a_pause(start_daemon: StartDaemon) -> None:
    daemon = start_daemon(prefix=("prlimit", "--nofile=64:64"))
    gpu = daemon.gpus[0]
    # More than it can accept; the rest waits in the kernel.
    crowd = [daemon.connect() for _ in range(100)]
    crowd[0].join(gpu)
    for client in crowd[1:60]:
        client.close()
    crowd[99].join(gpu)
    for client in crowd[60:99]:
        client.close()
    assert "no client can be accepted for now" in daemon.stop()
