"""A node in the process of a test, and clients that send what the test tells them to."""

import asyncio
import socket
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from nvshare.core.events import Event
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.node import Node
from nvshare.settings import DeviceSettings
from nvshare.wire import frames

Heard = TypeVar("Heard", bound=Event)

GIB = 1 << 30
NO_FLAGS = frames.HelloFlags(0)
GPU = Gpu(0, "GPU-00000000-0000-0000-0000-000000000001", "T", 16 * GIB)


class Stage:
    """A node in this process, with clients of one container."""

    def __init__(self, loop: asyncio.AbstractEventLoop, folder: Path) -> None:
        self._loop = loop
        self.clients: list[socket.socket] = []
        self.node = Node(
            loop,
            version="test",
            max_clients=32,
            spare_memory=99 * GIB,
            folder=folder / "groups",
            on_population=lambda _: None,
        )
        self.node.add_gpu(GPU, DeviceSettings(swap_excess=True), 0.0)

    def join(
        self,
        allocated: int,
        pinned: int = 0,
        swapped: int = 0,
        kind: frames.AllocationKind = frames.AllocationKind.MANAGED,
        flags: frames.HelloFlags = NO_FLAGS,
    ) -> None:
        ours, client = socket.socketpair(socket.AF_UNIX)
        self.clients.append(client)
        self.node.connect(ours)
        client.send(
            frames.Hello(
                GPU.key, kind, flags, allocated, pinned, swapped,
                0, 0, frames.LimitFlags(0), 0, bytes(16), "test", 0,
            ).pack()
        )  # fmt: skip
        self.turn()

    def turn(self) -> None:
        self.run(asyncio.sleep(0.01))

    def run(self, scene: Coroutine[Any, Any, None]) -> None:
        self._loop.run_until_complete(scene)

    def listen(self, kind: type[Heard]) -> list[Heard]:
        """Return a list to which the core's events of a type are added."""
        heard: list[Heard] = []
        dispatch = self.node.executor.dispatch

        def note(event: Event) -> None:
            if isinstance(event, kind):
                heard.append(event)
            dispatch(event)

        self.node.executor.dispatch = note  # type: ignore[method-assign]
        return heard

    def limit(self, **limits: int | None) -> None:
        """Limit the clients, which are all of one container."""
        (group,) = self.node.groups.all()
        self.node.limits.change(group, limits, "test")
