"""Host memory as memory files: how they are made and handed out, and if none can be made."""

import asyncio
import errno
import fcntl
import mmap
import os
import socket
from collections.abc import Collection, Iterator

import pytest

from nvshare.core.events import HostDenied, HostMemoryChanged, HostRoomChanged
from nvshare.daemon.host.cgroup import MemoryGroup
from nvshare.daemon.host.extents import EXTENT, Extents, make_extent
from nvshare.daemon.host.headroom import Headroom
from nvshare.wire import frames
from nvshare.wire.codec import daemon_frames

from ..stage import GIB, Stage

SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


class Maker:
    """Makes extents without pages, or fails."""

    def __init__(self) -> None:
        self.made = 0
        self.error: OSError | None = None

    def __call__(self, size: int, *, populated: bool) -> int:
        assert not populated
        if self.error:
            raise self.error
        self.made += 1
        return make_extent(size, populated=False)


class Desk:
    """Extents for a node, and clients that send and receive frames about them."""

    def __init__(self, stage: Stage, maker: Maker) -> None:
        self.stage = stage
        self.node = stage.node
        self.node.parts.extents = Extents(
            stage.node.executor, lambda: None, populated=False, make=maker
        )
        self.node.executor.on_provide = self.node.parts.extents.aim

    def join(self) -> socket.socket:
        self.stage.join(0)
        client = self.stage.clients[-1]
        self.hear(client)
        return client

    def say(self, client: socket.socket, **host: int) -> None:
        fields = {"received": 0, "held": 0, "most": 0, "lacking": 0, **host}
        client.send(frames.Host(**fields).pack())
        self.run()

    def run(self) -> None:
        async def scene() -> None:
            following = asyncio.create_task(self.node.parts.extents.follow())
            await asyncio.sleep(0.02)
            following.cancel()

        self.stage.run(scene())

    def hear(self, client: socket.socket) -> list[frames.FromDaemon]:
        decoder = daemon_frames()
        heard: list[frames.FromDaemon] = []
        client.setblocking(False)
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(client, 65536, 64)
            except BlockingIOError:
                return heard
            for one in descriptors:
                os.close(one)
            heard += decoder.feed(data)

    def extents(self, client: socket.socket) -> int:
        return sum(isinstance(frame, frames.Extent) for frame in self.hear(client))


@pytest.fixture
def maker() -> Maker:
    return Maker()


@pytest.fixture
def desk(stage: Stage, maker: Maker) -> Desk:
    return Desk(stage, maker)


@pytest.fixture
def extent() -> Iterator[int]:
    descriptor = make_extent(4 << 20, populated=True)
    yield descriptor
    os.close(descriptor)


def test_an_extent_has_all_its_pages_and_keeps_its_size(extent: int) -> None:
    assert os.fstat(extent).st_blocks * 512 == 4 << 20
    assert fcntl.fcntl(extent, fcntl.F_GET_SEALS) == SEALS
    for size in (0, 8 << 20):
        with pytest.raises(PermissionError):
            os.ftruncate(extent, size)
    with mmap.mmap(extent, 4 << 20) as memory:
        assert not any(memory[:4096])
        memory[0] = 1


def test_one_without_pages_takes_nothing() -> None:
    descriptor = make_extent(EXTENT, populated=False)
    assert (os.fstat(descriptor).st_blocks, os.fstat(descriptor).st_size) == (0, EXTENT)
    os.close(descriptor)


def test_a_client_gets_what_it_is_to_have_but_no_more_than_it_has_a_use_for(desk: Desk) -> None:
    client = desk.join()
    desk.say(client, most=3 * EXTENT)
    assert desk.extents(client) == 0
    desk.node.parts.extents.aim(1, GIB)
    desk.run()
    assert desk.extents(client) == 3
    desk.say(client, received=3 * EXTENT, held=3 * EXTENT, most=3 * EXTENT)
    assert desk.extents(client) == 0
    # It has freed memory, and given an extent back.
    desk.say(client, received=3 * EXTENT, held=2 * EXTENT, most=2 * EXTENT)
    assert desk.extents(client) == 0
    assert desk.node.parts.extents.total == 2 * EXTENT


def test_little_is_on_its_way_to_a_client_that_does_not_take_it(desk: Desk) -> None:
    client = desk.join()
    desk.node.parts.extents.aim(1, 10 * GIB)
    desk.say(client, most=10 * GIB)
    assert desk.extents(client) == 8
    desk.say(client, received=EXTENT, held=EXTENT, most=10 * GIB)
    assert desk.extents(client) == 1


def test_who_waits_for_it_is_served_first(desk: Desk) -> None:
    extents = desk.node.parts.extents
    for client in (1, 2):
        desk.join()
        extents.aim(client, 10 * GIB)
        extents.report(client, frames.Host(0, client * EXTENT, 10 * GIB, 0))
    assert extents.next_client() == 1
    extents.report(2, frames.Host(0, 2 * EXTENT, 10 * GIB, EXTENT))
    assert extents.next_client() == 2


def test_who_waits_gets_more_than_it_is_to_have_but_not_out_of_all_proportion(desk: Desk) -> None:
    client = desk.join()
    desk.node.parts.extents.aim(1, EXTENT)
    desk.say(client, held=3 * EXTENT, most=10 * GIB)
    assert desk.hear(client) == []
    desk.say(client, held=3 * EXTENT, most=10 * GIB, lacking=2 * EXTENT)
    assert desk.extents(client) == 2
    desk.say(client, received=2 * EXTENT, held=5 * EXTENT, most=10 * GIB, lacking=GIB)
    assert desk.extents(client) == 1
    desk.say(client, received=3 * EXTENT, held=6 * EXTENT, most=10 * GIB, lacking=GIB)
    assert [type(frame) for frame in desk.hear(client)] == [frames.HostFull]


def test_what_a_client_brings_with_it_counts(desk: Desk) -> None:
    client = desk.join()
    desk.node.parts.extents.aim(1, 4 * EXTENT)
    desk.say(client, held=5 * EXTENT, most=10 * GIB)
    # Of six: two more than ordered, since whole chunks leave.
    assert desk.extents(client) == 1
    assert desk.node.parts.extents.total == 6 * EXTENT


def test_no_more_is_made_than_host_memory_allows(desk: Desk) -> None:
    client = desk.join()
    now = desk.node.now()
    desk.node.executor.dispatch(HostMemoryChanged(now=now, limit=2 * EXTENT))
    desk.node.parts.extents.aim(1, GIB)
    desk.say(client, most=GIB)
    assert desk.extents(client) == 2
    # A move may wait for a little more, because whole chunks leave.
    desk.say(client, received=2 * EXTENT, held=2 * EXTENT, most=GIB, lacking=EXTENT)
    assert desk.extents(client) == 2
    desk.say(client, received=4 * EXTENT, held=4 * EXTENT, most=GIB, lacking=EXTENT)
    assert [type(frame) for frame in desk.hear(client)] == [frames.HostFull]


def test_what_cannot_be_made_is_said_once_and_does_not_leave(
    desk: Desk, maker: Maker, caplog: pytest.LogCaptureFixture
) -> None:
    client = desk.join()
    heard = desk.stage.listen(HostDenied | HostRoomChanged)  # type: ignore[arg-type]
    maker.error = OSError(errno.EMFILE, "Too many open files")
    desk.node.parts.extents.aim(1, GIB)
    desk.say(client, most=GIB, lacking=EXTENT)
    assert [type(frame) for frame in desk.hear(client)] == [frames.HostFull]
    assert [type(event) for event in heard] == [HostRoomChanged, HostDenied]
    assert caplog.text.count("no more host memory can be made") == 1
    # A client that waits later is told at once.
    desk.say(client, most=GIB, lacking=2 * EXTENT)
    assert [type(frame) for frame in desk.hear(client)] == [frames.HostFull]
    assert caplog.text.count("no more host memory can be made") == 1


def test_a_client_that_is_gone_while_its_extent_is_made_harms_nobody(desk: Desk) -> None:
    client = desk.join()
    desk.node.parts.extents.aim(1, GIB)
    client.send(frames.Host(0, 0, GIB, 0).pack())
    client.close()
    desk.run()
    assert desk.node.parts.extents.total == 0


def test_none_is_made_that_our_memory_cgroup_cannot_take(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """The kernel would kill the daemon. The core's knowledge may be seconds old."""
    made = 0

    def make(size: int, *, populated: bool) -> int:
        nonlocal made
        assert populated
        made += 1
        return make_extent(size, populated=False)

    def read(pids: Collection[int]) -> dict[int, list[MemoryGroup]]:
        # Room for two, and for the needs of the daemon itself; not for a third.
        return {pid: [MemoryGroup("daemon", 3 * EXTENT, made * EXTENT)] for pid in pids}

    headroom = Headroom(stage.node.executor, read, own_pid=99)
    stage.node.parts.extents = extents = Extents(stage.node.executor, headroom.own_room, make=make)
    stage.join(0)
    extents.aim(1, GIB)
    extents.report(1, frames.Host(0, 0, GIB, 0))

    async def scene() -> None:
        following = asyncio.create_task(extents.follow())
        while not caplog.messages:
            await asyncio.sleep(0.001)
        following.cancel()

    stage.run(scene())
    assert made == 2
    assert caplog.text.count("no more host memory can be made") == 1
