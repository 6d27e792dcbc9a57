"""A connection on a real event loop, and a socket pair."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from nvshare.daemon.sockets.connection import Connection


class End:
    """A connection and its peer, and what has happened to them."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        ours, self.peer = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.peer.setblocking(False)
        self.arrived = b""
        self.lost: list[str] = []
        self.ended = asyncio.Event()
        self.something = asyncio.Event()
        self.connection = Connection(ours, self.loop, self._bytes, self._lost)

    def _bytes(self, data: bytes) -> None:
        self.arrived += data
        self.something.set()

    def _lost(self, why: str) -> None:
        self.lost.append(why)
        self.ended.set()


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def play(scene: Callable[[End], Awaitable[None]]) -> None:
    async def act() -> None:
        end = End()
        try:
            await asyncio.wait_for(scene(end), 20)
        finally:
            end.connection.close("done")
            end.peer.close()

    asyncio.run(act())


def test_bytes_arrive() -> None:
    async def scene(end: End) -> None:
        await end.loop.sock_sendall(end.peer, b"hello")
        await end.something.wait()
        assert end.arrived == b"hello"

    play(scene)


def test_the_end_is_told_once() -> None:
    async def scene(end: End) -> None:
        end.peer.close()
        await end.ended.wait()
        end.connection.close("again")
        end.connection.send(b"into the void")
        assert end.lost == ["closed by the client"]

    play(scene)


def test_a_descriptor_comes_with_its_bytes() -> None:
    async def scene(end: End) -> None:
        event = os.eventfd(0)
        end.connection.send(b"one")
        end.connection.send(b"two", event)
        end.connection.send(b"three")
        os.close(event)
        data, descriptors = b"", []
        while len(data) < 11:
            more, got, _, _ = socket.recv_fds(end.peer, 100, 4)
            data += more
            descriptors += got
        assert data == b"onetwothree"
        assert len(descriptors) == 1
        os.close(descriptors[0])

    play(scene)


async def everything(end: End, size: int) -> tuple[bytes, list[int]]:
    """Read this many bytes at the peer's side, as they come."""
    data, descriptors = b"", []
    while len(data) < size:
        try:
            more, got, _, _ = socket.recv_fds(end.peer, 1 << 20, 64)
        except BlockingIOError:
            await asyncio.sleep(0)
            continue
        data += more
        descriptors += got
    return data, descriptors


def test_what_the_kernel_does_not_take_at_once_comes_later_and_in_order() -> None:
    async def scene(end: End) -> None:
        sent = b""
        event = os.eventfd(0)
        while end.connection.is_clear:
            sent += b"x" * 1000
            end.connection.send(b"x" * 1000)
        for letter in (b"a", b"b", b"c"):
            end.connection.send(letter * 1000, event)
            sent += letter * 1000
        os.close(event)
        data, descriptors = await everything(end, len(sent))
        assert data == sent
        assert len(descriptors) == 3
        for descriptor in descriptors:
            os.close(descriptor)
        assert end.connection.is_clear
        # And it goes on as before.
        end.connection.send(b"more")
        assert (await everything(end, 4))[0] == b"more"

    play(scene)


def test_a_peer_that_takes_nothing_is_cut_off() -> None:
    async def scene(end: End) -> None:
        event = os.eventfd(0)
        while not end.lost:
            end.connection.send(b"x" * 1000, event)
            await asyncio.sleep(0)
        os.close(event)
        assert end.lost == ["it does not read the frames that it is sent"]

    play(scene)


@pytest.mark.parametrize("way", ["shutdown", "close"])
def test_writing_to_a_peer_that_has_gone(way: str) -> None:
    async def scene(end: End) -> None:
        if way == "close":
            end.peer.close()
        else:
            end.peer.shutdown(socket.SHUT_RD)
        end.connection.send(b"x")
        assert end.lost == []
        await end.ended.wait()
        assert len(end.lost) == 1

    play(scene)


def test_one_descriptor_comes_in_with_the_first_bytes_and_no_other_later() -> None:
    async def scene(end: End) -> None:
        there, other = os.memfd_create("there"), os.memfd_create("other")
        before = open_files()
        # More than one: the others are dropped by the kernel.
        socket.send_fds(end.peer, [b"hello"], [there, other])
        await end.something.wait()
        end.something.clear()
        assert open_files() == before + 1
        taken = end.connection.take_descriptor()
        assert os.fstat(taken).st_ino == os.fstat(there).st_ino
        assert not os.get_inheritable(taken)
        assert end.connection.take_descriptor() == -1
        os.close(taken)
        socket.send_fds(end.peer, [b"again"], [there])
        await end.something.wait()
        assert end.arrived == b"helloagain"
        assert end.connection.take_descriptor() == -1
        assert open_files() == before
        os.close(there)
        os.close(other)

    play(scene)


def test_a_descriptor_that_nobody_takes_is_closed() -> None:
    async def scene(end: End) -> None:
        before = open_files()
        with Path("/proc/self/status").open("rb") as file:
            socket.send_fds(end.peer, [b"hello"], [file.fileno()])
        await end.something.wait()
        end.connection.close("enough")
        assert open_files() == before - 1

    play(scene)
