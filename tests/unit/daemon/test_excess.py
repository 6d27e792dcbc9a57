"""What a group has beyond its limit is shared out to its members, and taken back."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from nvshare.daemon import session as session_module
from nvshare.daemon.devices import Gpu
from nvshare.daemon.identity import Identity
from nvshare.daemon.node import Node
from nvshare.telemetry.settings import DeviceSettings
from nvshare.wire import frames

GIB = 1 << 30
GPU = Gpu(0, "GPU-00000000-0000-0000-0000-000000000001", "T", 16 * GIB)


class Stage:
    """A node in this process, with clients of one container."""

    def __init__(self, loop: asyncio.AbstractEventLoop, folder: Path) -> None:
        self._loop = loop
        self.clients: list[socket.socket] = []
        self.node = Node(
            loop,
            version="test",
            max_clients=9,
            spare_memory=99 * GIB,
            folder=folder / "groups",
            on_population=lambda _: None,
        )
        self.node.add_gpu(GPU, DeviceSettings(swap_excess=True), 0.0)

    def join(self, allocated: int, pinned: int = 0) -> None:
        ours, client = socket.socketpair(socket.AF_UNIX)
        self.clients.append(client)
        self.node.connect(ours)
        client.send(
            frames.Hello(
                GPU.key, frames.AllocationKind.MANAGED, frames.HelloFlags(0), allocated, pinned, 0,
                0, 0, frames.LimitFlags(0), 0, bytes(16), "test", 0,
            ).pack()
        )  # fmt: skip
        self.turn()

    def turn(self) -> None:
        self._loop.run_until_complete(asyncio.sleep(0.01))

    def limit(self, memory: int | None) -> list[int]:
        """Set a limit; return what each client is over it."""
        (group,) = self.node.groups.all()
        self.node.change_limits(group, {"memory_limit": memory}, "test")
        return self.excess()

    def excess(self) -> list[int]:
        return [
            client.excess for client in self.node.core.devices[GPU.uuid].roster.clients.values()
        ]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Stage]:
    who = Identity(7, 0, 0, "train.py", "", "a" * 64)
    monkeypatch.setattr(session_module, "identify", lambda _: who)
    loop = asyncio.new_event_loop()
    stage = Stage(loop, tmp_path)
    yield stage
    for client in stage.clients:
        client.close()
    stage.node.close()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


def test_members_share_it_as_far_as_their_memory_can_move(stage: Stage) -> None:
    stage.join(4 * GIB, pinned=3 * GIB)
    stage.join(4 * GIB)
    assert stage.limit(8 * GIB) == [0, 0]
    assert stage.limit(6 * GIB) == [1 * GIB, 1 * GIB]
    assert stage.limit(1 * GIB) == [1 * GIB, 4 * GIB]
    assert stage.limit(None) == [0, 0]


def test_it_follows_what_is_allocated_and_who_is_there(stage: Stage) -> None:
    stage.join(4 * GIB)
    stage.join(4 * GIB)
    assert stage.limit(3 * GIB) == [4 * GIB, 1 * GIB]
    stage.clients[1].send(frames.Memory(1 * GIB, 0, 0, ticket=0).pack())
    stage.turn()
    assert stage.excess() == [2 * GIB, 0]
    stage.clients[0].close()
    stage.turn()
    assert stage.excess() == [0]


def test_without_the_setting_there_is_none(stage: Stage) -> None:
    stage.join(4 * GIB)
    assert stage.limit(3 * GIB) == [1 * GIB]
    stage.node.change_settings(GPU, DeviceSettings())
    assert stage.excess() == [0]
    stage.node.change_settings(GPU, DeviceSettings(swap_excess=True))
    assert stage.excess() == [1 * GIB]
