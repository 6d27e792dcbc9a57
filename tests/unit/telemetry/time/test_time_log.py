"""How the time of clients is divided, by the core's events and orders."""

from typing import Any

import pytest

from nvshare.core.effects import Effect, Grant
from nvshare.core.events import ClientJoined, Event, Reason, TimerKind, UsageReported
from nvshare.core.memory import Memory
from nvshare.core.settings import Mode
from nvshare.telemetry.time.time_log import TimeLog
from tests.unit.core.stage import GPU, Stage

MIB = 1 << 20


class Scene(Stage):
    """A stage on which time is followed. Sizes are MiB."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(usable=16 * MIB, **settings)
        self.times = TimeLog(self.core)
        handle = self.core.handle

        def heard(event: Event) -> list[Effect]:
            effects = handle(event)
            self.times.hear(event, effects)
            return effects

        self.core.handle = heard  # type: ignore[method-assign]

    def begin(self, client: int) -> None:
        """Join with 12 MiB that were never used, and have work at the gate."""
        size = 12 * MIB
        memory = Memory(size, 0, size, untouched=size)
        self.core.handle(ClientJoined(now=self.now, client=client, device=GPU, memory=memory))
        self.device.roster.clients[client].precedence.is_new = False
        self.want(client)

    def spent(self, client: int) -> dict[str, float]:
        parts = self.times.spent(client, self.now)
        return {part.value: value / 1e9 for part, value in parts.items() if value}


@pytest.fixture
def scene() -> Scene:
    """Two clients that do not fit together: 1 runs, 2 waits behind it."""
    scene = Scene()
    scene.begin(1)
    scene.begin(2)
    return scene


def test_one_runs_and_the_other_waits(scene: Scene) -> None:
    scene.now += 5
    assert scene.spent(1) == {"idle": 5.0}
    assert scene.spent(2) == {"waiting": 5.0}


def test_what_it_reports_becomes_computing_also_if_the_core_does_not_listen(scene: Scene) -> None:
    for _ in range(10):
        scene.now += 0.1
        busy = scene.now - 1000
        scene.core.handle(UsageReported(now=scene.now, client=1, busy_seconds=busy))
    assert scene.spent(1) == pytest.approx({"computing": 1.0})


def test_a_report_costs_no_look_at_anybody(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    monkeypatch.setattr(scene.core, "glance", looked_at.append)
    scene.now += 0.1
    scene.core.handle(UsageReported(now=scene.now, client=1, busy_seconds=0.1))
    # The core hears the first report, and its picture of the client changes; not so with the next.
    looked_at.clear()
    for _ in range(5):
        scene.now += 0.1
        scene.core.handle(UsageReported(now=scene.now, client=1, busy_seconds=scene.now - 1000))
    assert not looked_at


def change_turns(scene: Scene) -> None:
    """Client 1 gives way, and 8 MiB of it are on their way out."""
    scene.fire(TimerKind.TURN)
    memory = Memory(12 * MIB, 0, 8 * MIB)
    scene.release(1, wants=True, memory=memory, left=8 * MIB, reason=Reason.TOLD)


def test_memory_goes_out_until_it_is_told_that_all_has_left(scene: Scene) -> None:
    scene.now += 1
    change_turns(scene)
    turn = scene.now - 1000
    scene.now += 2
    scene.moved(1, Memory(12 * MIB, 0, 8 * MIB), out_bytes=8 * MIB, left=0)
    scene.now += 3
    assert scene.spent(1) == pytest.approx({"idle": turn, "memory_out": 2.0, "waiting": 3.0})


def test_memory_comes_in_from_the_grant_until_it_is_there(scene: Scene) -> None:
    change_turns(scene)
    scene.moved(1, Memory(12 * MIB, 0, 8 * MIB), out_bytes=8 * MIB, left=0)
    scene.fire(TimerKind.TURN)
    scene.release(2, wants=True, memory=Memory(12 * MIB, 0, 8 * MIB), reason=Reason.TOLD)
    before = scene.spent(1)
    scene.now += 4
    scene.moved(1, Memory(12 * MIB, 0, 0), in_bytes=8 * MIB, seconds=3.0)
    scene.now += 1
    scene.core.handle(UsageReported(now=scene.now, client=1, busy_seconds=1.0))
    after = scene.spent(1)
    assert after["memory_in"] == 4.0
    assert after["computing"] == 1.0
    assert after["waiting"] == before["waiting"]


def test_a_fill_that_nobody_expected_counts_as_one(scene: Scene) -> None:
    scene.now += 4
    scene.moved(1, Memory(12 * MIB, 0, 0), in_bytes=8 * MIB, seconds=3.0)
    assert scene.spent(1) == {"memory_in": 3.0, "idle": 1.0}


def test_who_comes_back_with_an_open_gate_brings_nothing_in() -> None:
    scene = Scene()
    scene.join(1, 12 * MIB, swapped=8 * MIB, running=True, turn=7)
    scene.now += 2
    assert scene.spent(1) == {"idle": 2.0}


def test_who_is_let_in_by_the_end_of_another_does_not_wait_any_more(scene: Scene) -> None:
    scene.now += 3
    scene.leave(1)
    scene.now += 2
    assert scene.spent(2) == {"waiting": 3.0, "idle": 2.0}


def test_who_is_let_in_without_needing_room_does_not_wait_any_more() -> None:
    scene = Scene(mode=Mode.SERIAL)
    for client in (1, 2):
        scene.join(client)
        scene.want(client)
    scene.now += 3
    assert isinstance(scene.leave(1)[0], Grant)
    scene.now += 2
    assert scene.spent(2) == {"waiting": 3.0, "idle": 2.0}


def test_of_who_is_gone_nothing_is_known(scene: Scene) -> None:
    scene.now += 2
    scene.leave(1)
    assert scene.spent(1) == {}


def test_time_in_which_it_thrashes_is_neither_computing_nor_idle(scene: Scene) -> None:
    scene.now += 1
    assert scene.spent(1) == {"idle": 1.0}
    scene.times.note_thrashing(scene.now, {1})
    assert scene.times.take_heard() >= {1}
    for _ in range(4):
        scene.now += 1
        busy = scene.now - 1000
        scene.core.handle(UsageReported(now=scene.now, client=1, busy_seconds=busy))
    assert scene.spent(1) == pytest.approx({"idle": 1.0, "thrashing": 4.0})
    scene.times.note_thrashing(scene.now, set())
    scene.now += 1
    assert scene.spent(1)["thrashing"] == 4.0


def test_who_has_no_turn_does_not_thrash(scene: Scene) -> None:
    scene.times.note_thrashing(scene.now, {2})
    scene.now += 3
    assert scene.spent(2) == {"waiting": 3.0}
