"""What the core is told of memory cgroups, and when. The test supplies a table of cgroups."""

import asyncio
from collections.abc import Collection

import pytest

from nvshare.core.events import ClientJoined, HostRoomChanged
from nvshare.core.memory import Kind
from nvshare.daemon.host.cgroup import MemoryGroup
from nvshare.daemon.host.headroom import Headroom, margin
from nvshare.wire import frames

from ..stage import GIB, GPU, Stage

MIB = 1 << 20


class Cgroups:
    """The cgroups of a process."""

    def __init__(self) -> None:
        self.groups: list[MemoryGroup] = []
        self.read = 0

    def __call__(self, pids: Collection[int]) -> dict[int, list[MemoryGroup]]:
        assert all(pids)
        self.read += len(pids)
        return dict.fromkeys(pids, self.groups)

    def limit(self, limit: int, used: int = 0, name: str = "pod") -> None:
        self.groups = [MemoryGroup(name, limit, used)]


@pytest.fixture
def cgroups(stage: Stage) -> Cgroups:
    table = Cgroups()
    stage.node.parts.headroom = Headroom(stage.node.executor, table, is_emulated=False)
    return table


def look(stage: Stage) -> None:
    asyncio.run(stage.node.parts.headroom.look())


def send(stage: Stage, client: int, frame: frames.FromClient) -> None:
    stage.clients[client].send(frame.pack())
    stage.turn()


def rooms(heard: list[HostRoomChanged]) -> list[tuple[int | None, tuple[int, ...]]]:
    return [(event.room, event.clients) for event in heard]


@pytest.mark.parametrize(("limit", "free"), [(GIB // 2, 64 * MIB), (20 * GIB, GIB)])
def test_a_margin_is_left_for_the_program(limit: int, free: int) -> None:
    assert margin(limit) == free


def test_the_core_knows_the_room_before_the_client_joins(stage: Stage, cgroups: Cgroups) -> None:
    heard = stage.listen(HostRoomChanged | ClientJoined)  # type: ignore[arg-type]
    cgroups.limit(20 * GIB, 3 * GIB)
    stage.join(1)
    room, joined = heard
    assert isinstance(room, HostRoomChanged)
    assert isinstance(joined, ClientJoined)
    assert (room.pool, room.limit, room.room) == ("pod", 20 * GIB, 16 * GIB)
    assert room.clients == (joined.client,)


def test_those_in_one_cgroup_share_its_room(stage: Stage, cgroups: Cgroups) -> None:
    cgroups.limit(20 * GIB)
    heard = stage.listen(HostRoomChanged)
    stage.join(1)
    stage.join(1)
    assert rooms(heard) == [(19 * GIB, (1,)), (19 * GIB, (1, 2))]


def test_only_what_is_new_is_told(stage: Stage, cgroups: Cgroups) -> None:
    cgroups.limit(20 * GIB)
    stage.join(1)
    heard = stage.listen(HostRoomChanged)
    look(stage)
    cgroups.limit(20 * GIB, 10 * MIB)
    look(stage)
    assert heard == []
    cgroups.limit(20 * GIB, 100 * MIB)
    look(stage)
    assert rooms(heard) == [(19 * GIB - 100 * MIB, (1,))]
    cgroups.limit(40 * GIB, 100 * MIB)
    look(stage)
    assert len(heard) == 2


def test_a_limit_that_comes_late_or_goes_is_seen(stage: Stage, cgroups: Cgroups) -> None:
    stage.join(1)
    heard = stage.listen(HostRoomChanged)
    cgroups.limit(20 * GIB)
    look(stage)
    cgroups.groups = []
    look(stage)
    look(stage)
    assert rooms(heard) == [(19 * GIB, (1,)), (None, ())]
    assert stage.node.core.room_in("pod") is None


def test_a_program_that_uses_everything_itself_leaves_nothing(
    stage: Stage, cgroups: Cgroups
) -> None:
    cgroups.limit(GIB, GIB)
    heard = stage.listen(HostRoomChanged)
    stage.join(1)
    assert rooms(heard) == [(0, (1,))]


def test_what_is_on_its_way_is_counted_by_the_core_and_nobody_looks_meanwhile(
    stage: Stage, cgroups: Cgroups
) -> None:
    cgroups.limit(20 * GIB)
    stage.join(8 * GIB)
    heard = stage.listen(HostRoomChanged)
    send(stage, 0, frames.Moved(1, 8 * GIB, 0, 2 * GIB, GIB, 0, 1, left=GIB))
    # The memory that has left, and as much of the program's own.
    cgroups.limit(20 * GIB, 2 * GIB)
    for _ in range(4):
        look(stage)
    assert heard == []
    # But not for ever: a value that is too low is better than none.
    look(stage)
    assert rooms(heard) == [(19 * GIB - 2 * GIB, (1,))]
    assert stage.node.core.room_in("pod") == 19 * GIB - 2 * GIB - GIB
    send(stage, 0, frames.Moved(1, 8 * GIB, 0, 2 * GIB, GIB, 0, 1, left=0))
    cgroups.limit(20 * GIB, 3 * GIB)
    look(stage)
    assert rooms(heard)[1:] == []


def test_what_leaves_an_emulated_gpu_is_in_no_cgroup_and_counts(stage: Stage) -> None:
    cgroups = Cgroups()
    stage.node.parts.headroom = Headroom(stage.node.executor, cgroups, is_emulated=True)
    cgroups.limit(20 * GIB)
    stage.join(8 * GIB)
    send(stage, 0, frames.Moved(1, 8 * GIB, 0, 2 * GIB, 2 * GIB, 0, 1, left=0))
    heard = stage.listen(HostRoomChanged)
    cgroups.limit(20 * GIB, GIB)
    look(stage)
    assert rooms(heard) == [(19 * GIB - 3 * GIB, (1,))]


def test_nobody_is_looked_at_when_nobody_is_there(stage: Stage, cgroups: Cgroups) -> None:
    look(stage)
    assert cgroups.read == 0
    cgroups.limit(20 * GIB)
    stage.join(1)
    stage.clients[0].close()
    stage.turn()
    read = cgroups.read
    look(stage)
    assert cgroups.read == read
    assert stage.node.core.room_in("pod") is None


def test_a_change_of_memory_has_it_look_soon(stage: Stage, cgroups: Cgroups) -> None:
    cgroups.limit(20 * GIB)
    stage.join(GIB)
    heard = stage.listen(HostRoomChanged)

    async def scene() -> None:
        headroom = Headroom(stage.node.executor, cgroups, is_emulated=False)
        headroom.enter(1, 7, Kind.MANAGED)
        heard.clear()
        cgroups.limit(20 * GIB, 2 * GIB)
        following = asyncio.create_task(headroom.follow())
        headroom.soon()
        while not heard:
            await asyncio.sleep(0.01)
        following.cancel()

    asyncio.run(scene())
    assert rooms(heard) == [(17 * GIB, (1,))]


def test_a_pid_that_cannot_be_seen_is_in_no_cgroup(stage: Stage, cgroups: Cgroups) -> None:
    cgroups.limit(GIB)
    stage.node.parts.headroom.enter(9, 0, Kind.MANAGED)
    assert cgroups.read == 0
    assert stage.node.core.view(GPU.uuid).clients == 0


def test_what_we_make_ourselves_is_charged_to_our_own_cgroup(stage: Stage) -> None:
    pods, ours = [MemoryGroup("pod", GIB, 0)], [MemoryGroup("daemon", 20 * GIB, 3 * GIB)]

    def read(pids: Collection[int]) -> dict[int, list[MemoryGroup]]:
        return {pid: ours if pid == 99 else pods for pid in pids}

    headroom = Headroom(stage.node.executor, read, own_pid=99)
    heard = stage.listen(HostRoomChanged)
    headroom.enter(1, 7, Kind.EXPLICIT)
    headroom.enter(2, 7, Kind.MANAGED)
    # It is not known which part of a mixture is which.
    headroom.enter(3, 7, Kind.MIXED)
    assert [(event.pool, event.clients) for event in heard] == [
        ("daemon", (1,)),
        ("pod", (2,)),
        ("pod", (2, 3)),
        ("daemon", (1, 3)),
    ]
    # Only the daemon needs memory there.
    assert heard[0].room == 17 * GIB - 64 * MIB
    assert (heard[0].what, heard[1].what) == (
        "the limit of the daemon's memory cgroup",
        "its memory cgroup's limit",
    )


def test_host_memory_without_pages_is_charged_to_nobody(stage: Stage, cgroups: Cgroups) -> None:
    cgroups.limit(GIB)
    heard = stage.listen(HostRoomChanged)
    stage.node.parts.headroom.enter(1, 7, Kind.EXPLICIT)
    assert heard == []


def test_what_can_be_charged_to_us_right_now(stage: Stage, cgroups: Cgroups) -> None:
    headroom = Headroom(stage.node.executor, cgroups, own_pid=99)
    assert headroom.own_room() is None
    cgroups.groups = [MemoryGroup("daemon", 4 * GIB, 3 * GIB), MemoryGroup("all", 9 * GIB, GIB)]
    assert headroom.own_room() == GIB - 24 * MIB
    # A lowered limit counts at once, even below the use.
    cgroups.limit(GIB, used=2 * GIB)
    assert headroom.own_room() == -GIB - 24 * MIB
    assert Headroom(stage.node.executor, cgroups).own_room() is None
