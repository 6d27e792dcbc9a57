"""The parts of the ways that are in the daemon: a node in this process, and scripted clients."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any
from unittest.mock import patch

from nvshare import kernel
from nvshare.daemon.clients import session as session_module
from nvshare.daemon.tenants.identity import Identity
from nvshare.kubernetes.client import Access
from nvshare.kubernetes.follow import follow_pods
from nvshare.telemetry.pod_orders import PodOrders
from nvshare.wire import frames
from tests.unit.daemon.stage import Stage
from tests.unit.kubernetes.apiserver import ApiServer, event, pod_list
from tests.unit.kubernetes.making import pod_tree
from tools.docs.ways.python_calls import Calls

GIB = 1 << 30
_CONTAINER = "a" * 64
_SECONDS = 20.0
# So long after its turn has begun, a program may be interrupted by a new one.
_TURN = 3.0
_HEAD = frames.HEADER


class _Loop(asyncio.SelectorEventLoop):
    """A loop whose time can be moved on."""

    ahead = 0.0

    def time(self) -> float:
        """Return its time."""
        return super().time() + self.ahead


class _Node(Stage):
    """The stage of the daemon's tests, and the frames that its clients get."""

    def __init__(self, loop: _Loop, folder: Path) -> None:
        super().__init__(loop, folder)
        self._clock = loop
        # What clients have been sent, and nobody has asked for.
        self._unread: dict[int, bytes] = {}

    def bytes_of(self, kind: type[Any], **values: Any) -> bytes:
        """Return a frame of a client; what is not named is 0."""
        rest = {one.name: 0 for one in fields(kind) if one.default is MISSING}
        return bytes(kind(**{**rest, **values}).pack())

    def send(self, client: int, data: bytes) -> None:
        """Have a client send bytes."""
        self.clients[client].sendall(data)

    def told(self, client: int, kind: type[Any]) -> bytes:
        """Wait until a client is sent a frame of a kind. It is not read with the daemon's code."""
        sock = self.clients[client]
        sock.setblocking(False)

        async def receive() -> bytes:
            data = self._unread.pop(client, b"")
            while True:
                while len(data) >= _HEAD.size and len(data) >= (size := _size(data)):
                    frame, data = data[:size], data[size:]
                    if _HEAD.unpack_from(frame)[2] == kind.TYPE:
                        self._unread[client] = data
                        return frame[_HEAD.size :]
                data += await self._loop.sock_recv(sock, 65536)

        return self._loop.run_until_complete(asyncio.wait_for(receive(), _SECONDS))

    def move_on(self, seconds: float) -> None:
        """Let time pass."""
        self._clock.ahead += seconds


@contextmanager
def _node(folder: Path) -> Iterator[_Node]:
    """Make a node whose clients are processes of one container."""
    who = Identity(7, 0, 0, "train.py", "", _CONTAINER)
    loop = _Loop()
    node = _Node(loop, folder)
    # Their process is this one.
    own = kernel.pidfd_open(os.getpid())
    try:
        with (
            patch.object(session_module, "identify", lambda *_: who),
            patch.object(kernel, "pidfd_open", lambda _: os.dup(own)),
        ):
            yield node
    finally:
        for client in node.clients:
            client.close()
        node.node.close()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        os.close(own)


def _two_programs(node: _Node) -> int:
    """Let two programs of 12 GiB come to a GPU of 16 GiB; the first gets a turn."""
    node.join(12 * GIB)
    node.send(0, node.bytes_of(frames.Want))
    grant = frames.Grant.unpack(node.told(0, frames.Grant))
    node.join(12 * GIB, swapped=12 * GIB)
    return grant.turn


def launch(folder: Path) -> list[str]:
    """Record from WANT to GRANT: another program has the turn, and is idle."""
    calls = Calls()
    with _node(folder) as node:
        gone = {"turn": _two_programs(node), "allocated": 12 * GIB, "swapped_out": 12 * GIB}
        want = node.bytes_of(frames.Want)
        release = node.bytes_of(frames.Released, reason=frames.ReleaseReason.IDLE, **gone)
        calls.begin()
        node.send(1, want)
        node.told(0, frames.Revoke)
        node.send(0, release)
        node.told(1, frames.Grant)
        return calls.end()


def memory(folder: Path) -> tuple[list[str], list[str]]:
    """Record until REVOKE NOW, as a turn ends for another program; and from RELEASED to ROOM."""
    before, after = Calls(), Calls()
    with _node(folder) as node:
        turn = {"turn": _two_programs(node), "allocated": 12 * GIB}
        node.send(1, node.bytes_of(frames.Want))
        node.told(0, frames.Revoke)
        node.move_on(_TURN)
        before.begin()
        node.told(0, frames.Revoke)
        files = before.end()
        gone = {**turn, "swapped_out": 12 * GIB}
        told = frames.ReleaseReason.TOLD
        release = node.bytes_of(frames.Released, reason=told, left=12 * GIB, **gone)
        half = node.bytes_of(frames.Moved, out_bytes=6 * GIB, left=6 * GIB, **gone)
        after.begin()
        node.send(0, release)
        node.told(1, frames.Grant)
        node.send(0, half)
        node.told(1, frames.Room)
        return files, after.end()


def _size(data: bytes) -> int:
    """Return how long the first frame is."""
    return int(_HEAD.size + _HEAD.unpack_from(data)[3])


def annotation(folder: Path) -> list[str]:
    """Record from the API server's word of a change to LIMITS."""
    calls = Calls()
    with _node(folder) as node:
        node.join(1 * GIB)
        node.told(0, frames.Settings)
        node.run(_follow(node, calls))
        node.told(0, frames.Limits)
        return calls.end()


async def _follow(node: _Node, calls: Calls) -> None:
    """Follow the pod, which is annotated once it is known."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    known: list[PodOrders | None] = []

    def take(uid: str, orders: PodOrders | None) -> None:
        node.node.limits.change_pod(uid, orders)
        known.append(orders)
        if len(known) == 1:
            loop.call_soon(calls.begin)
        else:
            changed.set()

    ids = {"main": _CONTAINER}
    async with ApiServer() as server:
        limit = {"nvshare.com/gpu-memory-limit": "4Gi"}
        server.lists = [pod_list(pod_tree(ids=ids))]
        server.watches = [[event("MODIFIED", pod_tree(annotations=limit, ids=ids, version="2"))]]
        following = asyncio.create_task(follow_pods(Access(server.url), "here", take, hami=False))
        await asyncio.wait_for(changed.wait(), _SECONDS)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
