"""The requests of pods hold for their programs: from the start, and when they change."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from nvshare.daemon.api.control import Control
from nvshare.daemon.clients import session as session_module
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.groups.pods import Pods
from nvshare.daemon.node import Node
from nvshare.daemon.status.describe_group import describe_group
from nvshare.daemon.status.snapshots import Snapshots
from nvshare.daemon.tenants.identity import Identity
from nvshare.settings import ClientLimits, DeviceSettings, Orders
from nvshare.telemetry.ceilings import Ceiling, Ceilings
from nvshare.telemetry.pod_orders import ContainerOrders, PodOrders
from nvshare.telemetry.snapshot import GroupStatus
from nvshare.wire import frames
from nvshare.wire.codec import daemon_frames

GIB = 1 << 30
GPU = Gpu(0, "GPU-00000000-0000-0000-0000-000000000001", "T", 16 * GIB)
POD, CONTAINER = "uid-1", "a" * 64
WHO = Identity(7, 0, 0, "train.py", POD, CONTAINER)
NO_FLAGS = frames.HelloFlags(0)
NO_LIMIT_FLAGS = frames.LimitFlags(0)


def asks(container: Orders | None = None, **orders: Any) -> PodOrders:
    containers = {CONTAINER: ContainerOrders("main", container)} if container else {}
    return PodOrders("team", "trainer", Orders(**orders), containers)


def test_a_container_that_is_known_has_its_own_orders() -> None:
    pods = Pods()
    pods.set(POD, asks(Orders(compute_percent=20), compute_percent=40))
    assert pods.orders(WHO).orders.compute_percent == 20
    assert pods.orders(Identity(7, 0, 0, "x", POD, "b" * 64)).orders.compute_percent == 40
    assert pods.name(WHO) == "team/trainer"


def test_outside_of_pods_nothing_is_asked() -> None:
    pods = Pods()
    pods.set(POD, asks(memory_limit=1))
    stranger = Identity(7, 0, 0)
    assert pods.limits(stranger, ClientLimits(memory_limit=5)) == ClientLimits(memory_limit=5)
    assert pods.name(stranger) == ""


def test_a_static_pod_is_known_by_its_containers() -> None:
    """Its cgroup is named after a hash, and only kubelet knows which containers belong to it."""
    pods = Pods()
    in_static = Identity(7, 0, 0, "x", "f" * 32, CONTAINER)
    pods.set(POD, asks(memory_limit=1))
    assert (pods.uid(in_static), pods.name(in_static)) == ("", "")
    pods.set(POD, asks(Orders(memory_limit=2), memory_limit=1))
    assert (pods.uid(in_static), pods.name(in_static)) == (POD, "team/trainer")
    assert pods.orders(in_static).orders.memory_limit == 2
    pods.set(POD, None)
    assert (pods.uid(in_static), pods.orders(in_static).orders.memory_limit) == ("", None)


def test_a_container_that_two_pods_claim_is_that_of_its_cgroup() -> None:
    pods = Pods()
    pods.set(POD, asks(Orders(memory_limit=1)))
    pods.set("uid-2", asks(Orders(memory_limit=2)))
    assert pods.orders(WHO).orders.memory_limit == 1
    # When one of them goes, the other still has it.
    pods.set(POD, None)
    assert pods.uid(WHO) == "uid-2"


def test_orders_go_over_what_the_program_had_field_by_field() -> None:
    pods = Pods()
    pods.set(POD, asks(memory_limit=1, priority="low"))
    own = ClientLimits(memory_limit=5, compute_percent=50)
    assert pods.limits(WHO, own) == ClientLimits(memory_limit=1, compute_percent=50, priority="low")
    pods.set(POD, None)
    assert pods.limits(WHO, own) == own


class Stage:
    """A node in this process, and the other end of one client's socket."""

    def __init__(self, loop: asyncio.AbstractEventLoop, folder: Path) -> None:
        self.loop = loop
        self.node = Node(
            loop,
            version="test",
            max_clients=9,
            spare_memory=GIB,
            folder=folder / "groups",
            on_population=lambda _: None,
        )
        self.node.add_gpu(GPU, DeviceSettings(), 0.0)
        ours, self.client = socket.socketpair(socket.AF_UNIX)
        self.client.setblocking(False)
        self._decoder = daemon_frames()
        self.node.connect(ours)

    def join(
        self,
        memory_limit: int = 0,
        compute_percent: int = 0,
        flags: frames.HelloFlags = NO_FLAGS,
        limit_flags: frames.LimitFlags = NO_LIMIT_FLAGS,
        library: str = "test",
    ) -> None:
        hello = frames.Hello(
            GPU.key, frames.AllocationKind.MANAGED, flags, 0, 0, 0,
            memory_limit, compute_percent, limit_flags, 0, bytes(16), library, 0,
        )  # fmt: skip
        self.client.send(hello.pack())

    def heard(self) -> list[tuple[int, int]]:
        """Turn the loop; return the memory limit and the share in percent that were sent."""
        got = [one for one in self.told() if isinstance(one, frames.Limits)]
        return [(one.memory_limit, one.share_ppm // 10_000) for one in got]

    def told(self) -> list[frames.FromDaemon]:
        """Turn the loop; return all frames sent to the client since the last time."""
        self.loop.run_until_complete(asyncio.sleep(0.01))
        data = b""
        # A frame with a descriptor arrives by itself.
        with suppress(BlockingIOError):
            while True:
                data += self.client.recv(65536)
        return list(self._decoder.feed(data))


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Stage]:
    monkeypatch.setattr(session_module, "identify", lambda *_: WHO)
    loop = asyncio.new_event_loop()
    stage = Stage(loop, tmp_path)
    yield stage
    stage.client.close()
    stage.node.close()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


def test_a_program_is_limited_from_its_first_moment(stage: Stage) -> None:
    stage.node.limits.change_pod(
        POD, asks(memory_limit=4 * GIB, compute_percent=40, priority="high")
    )
    stage.join()
    assert stage.heard() == [(4 * GIB, 40)]
    (client,) = Snapshots(stage.node, 0.0).take().clients
    assert client.limits == ClientLimits(memory_limit=4 * GIB, compute_percent=40, priority="high")
    assert client.pod_name == "team/trainer"


def test_a_change_of_the_pod_reaches_its_programs_and_a_removal_lifts(stage: Stage) -> None:
    stage.join(memory_limit=8 * GIB)
    assert stage.heard() == [(8 * GIB, 0)]
    stage.node.limits.change_pod(POD, asks(memory_limit=4 * GIB))
    stage.node.limits.change_pod(POD, asks(memory_limit=4 * GIB))
    stage.node.limits.change_pod(POD, asks(memory_limit=4 * GIB, compute_percent=40))
    assert stage.heard() == [(4 * GIB, 0), (4 * GIB, 40)]
    # The limits that the program was started with are in force again.
    stage.node.limits.change_pod(POD, asks())
    assert stage.heard() == [(8 * GIB, 0)]


def test_orders_of_the_container_come_when_it_is_known(stage: Stage) -> None:
    stage.node.limits.change_pod(POD, asks(memory_limit=4 * GIB))
    stage.join()
    assert stage.heard() == [(4 * GIB, 0)]
    stage.node.limits.change_pod(POD, asks(Orders(memory_limit=2 * GIB), memory_limit=4 * GIB))
    assert stage.heard() == [(2 * GIB, 0)]
    (client,) = Snapshots(stage.node, 0.0).take().clients
    assert client.container_name == "main"


def test_a_program_that_outlives_its_pod_keeps_its_limits(stage: Stage) -> None:
    stage.node.limits.change_pod(POD, asks(memory_limit=4 * GIB))
    stage.join()
    assert stage.heard() == [(4 * GIB, 0)]
    stage.node.limits.change_pod(POD, None)
    assert stage.heard() == []


def test_other_pods_are_left_alone(stage: Stage) -> None:
    stage.join()
    stage.heard()
    stage.node.limits.change_pod("uid-2", asks(memory_limit=4 * GIB))
    assert stage.heard() == []


def patch(stage: Stage, changes: dict[str, int | None]) -> tuple[int, str]:
    """Change limits by hand; return the status and text of the answer."""

    async def ask() -> tuple[int, str]:
        async with TestClient(TestServer(Control(stage.node).application())) as people:
            answer = await people.patch(f"/v1/groups/{WHO.pid}", json=changes)
            return answer.status, await answer.text()

    return stage.loop.run_until_complete(ask())


def test_what_a_pod_asks_for_cannot_be_changed_by_hand(stage: Stage) -> None:
    stage.node.limits.change_pod(POD, asks(memory_limit=4 * GIB))
    stage.join()
    assert stage.heard() == [(4 * GIB, 0)]
    status, text = patch(stage, {"compute_percent": 50, "memory_limit": 1 * GIB})
    assert status == 400
    assert "memory_limit of this program is set by an annotation of its pod" in text
    assert stage.heard() == []


def test_what_is_changed_by_hand_is_below_what_the_pod_asks_for(stage: Stage) -> None:
    stage.node.limits.change_pod(POD, asks(memory_limit=4 * GIB))
    stage.join()
    stage.heard()
    assert patch(stage, {"compute_percent": 50})[0] == 200
    assert stage.heard() == [(4 * GIB, 50)]
    stage.node.limits.change_pod(POD, asks(memory_limit=4 * GIB, compute_percent=20))
    stage.node.limits.change_pod(POD, asks(memory_limit=4 * GIB))
    assert stage.heard() == [(4 * GIB, 20), (4 * GIB, 50)]


UNDECIDED = (
    frames.HelloFlags.UNDECIDED
    | frames.HelloFlags.CAN_MANAGE
    | frames.HelloFlags.CAN_MAP
    | frames.HelloFlags.ASKS_NATIVE
)


def allocates(stage: Stage) -> tuple[str, str, str]:
    (client,) = Snapshots(stage.node, 0.0).take().clients
    return client.allocation, client.allocation_because, client.allocation_next


def test_a_program_is_told_how_to_allocate_before_it_is_welcome(stage: Stage) -> None:
    stage.node.limits.change_pod(POD, asks(allocation="explicit"))
    stage.join(flags=UNDECIDED)
    told = [one for one in stage.told() if isinstance(one, frames.Allocation | frames.Welcome)]
    explicit = frames.Allocation(frames.AllocationKind.EXPLICIT, frames.AllocationFlags(0))
    assert told == [explicit, frames.Welcome(1, "test")]
    assert allocates(stage) == ("explicit", "its pod", "")


def test_an_annotation_that_comes_later_is_for_the_next_process(stage: Stage) -> None:
    stage.join(flags=UNDECIDED)
    stage.told()
    assert allocates(stage) == ("native", "its environment", "")
    stage.node.limits.change_pod(POD, asks(allocation="auto"))
    assert stage.told() == []
    assert allocates(stage) == ("native", "its environment", "auto")
    # The request of a container overrides that of its pod, as with limits.
    stage.node.limits.change_pod(POD, asks(Orders(allocation="native"), allocation="auto"))
    assert allocates(stage) == ("native", "its environment", "")


def test_a_program_that_goes_on_in_another_way_is_shown_so(stage: Stage) -> None:
    stage.node.limits.change_pod(POD, asks(allocation="auto"))
    stage.join(flags=UNDECIDED)
    stage.told()
    stage.client.send(frames.Allocates(frames.AllocationKind.MIXED).pack())
    stage.told()
    assert allocates(stage) == ("mixed", "auto: more than the GPU holds at once", "")


@pytest.mark.parametrize(("wish", "kinds"), [("explicit", ["too large"]), ("auto", [])])
def test_a_pod_hears_of_memory_that_is_refused_and_not_of_what_it_gets_in_another_way(
    stage: Stage, wish: str, kinds: list[str]
) -> None:
    told: list[str] = []
    stage.node.pods.on_notice(lambda _, kind, __: told.append(kind))
    stage.node.limits.change_pod(POD, asks(allocation=wish))
    stage.join(flags=UNDECIDED)
    stage.told()
    stage.client.send(frames.Memory(16 * GIB, 0, 0, ticket=1).pack())
    (answer,) = [one for one in stage.told() if isinstance(one, frames.Answer)]
    assert answer.verdict is frames.Verdict.TOO_LARGE
    assert told == kinds


CEILINGS = Ceilings(
    Ceiling(memory_limit=4 * GIB, compute_percent=50, priority="normal", allocation=("auto",)),
    {"team": Ceiling(memory_limit=6 * GIB), "rich": Ceiling(memory_limit=8 * GIB)},
)


def group(stage: Stage) -> GroupStatus:
    (found,) = (describe_group(stage.node, one) for one in stage.node.groups.all())
    return found


def test_nobody_gets_more_than_its_ceiling_whoever_asks(stage: Stage) -> None:
    stage.node.limits.change_ceilings(CEILINGS)
    stage.node.limits.change_pod(POD, asks(memory_limit=9 * GIB, priority="high"))
    stage.join(compute_percent=90, limit_flags=frames.LimitFlags.BURST)
    assert stage.heard() == [(6 * GIB, 50)]
    (client,) = Snapshots(stage.node, 0.0).take().clients
    assert client.limits == ClientLimits(memory_limit=6 * GIB, compute_percent=50)
    assert client.capped == ("burst", "compute_percent", "memory_limit", "priority")
    assert set(group(stage).sources.values()) == {"ceiling"}
    # A request below the ceiling is met.
    stage.node.limits.change_pod(POD, asks(memory_limit=1 * GIB, priority="low"))
    assert stage.heard() == [(1 * GIB, 50)]
    assert group(stage).sources["memory_limit"] == group(stage).sources["priority"] == "pod"
    # No request is a request for everything.
    stage.node.limits.change_pod(POD, asks())
    assert stage.heard() == [(6 * GIB, 50)]


def test_what_is_set_by_hand_is_cut_too(stage: Stage) -> None:
    stage.node.limits.change_ceilings(CEILINGS)
    stage.node.limits.change_pod(POD, asks())
    stage.join()
    assert stage.heard() == [(6 * GIB, 50)]
    assert patch(stage, {"memory_limit": 7 * GIB, "compute_percent": 20})[0] == 200
    assert stage.heard() == [(6 * GIB, 20)]


def test_a_ceiling_that_changes_holds_for_those_who_run(stage: Stage) -> None:
    stage.node.limits.change_pod(POD, asks(memory_limit=9 * GIB))
    stage.join()
    assert stage.heard() == [(9 * GIB, 0)]
    stage.node.limits.change_ceilings(CEILINGS)
    stage.node.limits.change_ceilings(Ceilings())
    assert stage.heard() == [(6 * GIB, 50), (9 * GIB, 0)]


def test_a_pod_that_is_not_known_yet_has_what_some_pod_may_have(stage: Stage) -> None:
    stage.node.limits.change_ceilings(CEILINGS)
    stage.join()
    assert stage.heard() == [(8 * GIB, 50)]
    stage.node.limits.change_pod(POD, asks())
    assert stage.heard() == [(6 * GIB, 50)]


def test_programs_outside_of_pods_have_no_ceiling() -> None:
    pods = Pods()
    pods.ceilings = CEILINGS
    own = ClientLimits(memory_limit=9 * GIB, priority="high")
    assert pods.limits(Identity(7, 0, 0, "x", "", CONTAINER), own) == own
    assert pods.limits(WHO, own) != own


def test_a_way_of_allocating_that_a_ceiling_does_not_allow_is_not_taken(stage: Stage) -> None:
    """Neither by the annotation nor by the environment: memory that stays is in others' way."""
    stage.node.limits.change_ceilings(CEILINGS)
    stage.node.limits.change_pod(POD, asks(allocation="native"))
    stage.join(flags=UNDECIDED)
    (told,) = [one for one in stage.told() if isinstance(one, frames.Allocation)]
    assert told.allocation_kind is frames.AllocationKind.MANAGED
    assert allocates(stage) == ("managed", "", "")


def test_what_a_program_says_of_its_library_steers_no_terminal(stage: Stage) -> None:
    stage.join(library="\x1b]0;you are root\x07 1.0")
    stage.told()
    (client,) = Snapshots(stage.node, 0.0).take().clients
    assert client.library_version == "?]0;you are root? 1.0"
