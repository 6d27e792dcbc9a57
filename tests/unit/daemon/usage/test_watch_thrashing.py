"""What a node's clients and NVML come to: thrashing in a snapshot, and in the time of programs."""

import asyncio
import logging

import pytest

from nvshare.daemon.clients.counters import Report
from nvshare.daemon.status.snapshots import Snapshots
from nvshare.daemon.usage.thrashing import THRASHING_SECONDS
from nvshare.daemon.usage.watch_thrashing import ThrashWatch
from nvshare.settings import DeviceSettings
from nvshare.telemetry.snapshot import NodeStatus
from nvshare.telemetry.time.client_time import Part

from ..stage import GIB, GPU, Stage


class Scene:
    """Two clients of 12 GiB that may run at the same time, and a clock."""

    def __init__(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        self.node = stage.node
        stage.node.change_settings(GPU, DeviceSettings(mode="concurrent"))
        for _ in range(2):
            stage.join(12 * GIB)
        self.asked = 0
        self.busy_ns = 0
        self.watch = stage.node.thrashing = ThrashWatch(
            stage.node.parts, stage.node.outsiders, self._utilisation
        )
        self.now = stage.node.now()
        monkeypatch.setattr(stage.node.executor, "now", lambda: self.now)

    def _utilisation(self, uuid: str) -> float:
        assert uuid == GPU.uuid
        self.asked += 1
        return 100.0

    def pass_seconds(self, seconds: float, calls: int = 0) -> NodeStatus:
        """Let time pass: all programs have work all the time, and make so many calls."""
        for _ in range(round(seconds)):
            self.now += 1.0
            self.busy_ns += 10**9
            for client in self.node.clients.all():
                told = client.counters.told
                client.counters.told = Report(self.busy_ns, told.launches + calls)
            asyncio.run(self.watch.look())
        return Snapshots(self.node, 0.0).take()


@pytest.fixture
def scene(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(stage, monkeypatch)


def test_it_is_seen_after_some_seconds_and_is_over_when_they_take_turns(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    assert scene.pass_seconds(THRASHING_SECONDS).devices[0].thrashing is None
    shown = scene.pass_seconds(2)
    found = shown.devices[0].thrashing
    assert found is not None
    assert found.programs == tuple(one.id for one in shown.clients)
    assert found.memory > 24 * GIB
    assert found.room == shown.devices[0].usable
    assert found.seconds == THRASHING_SECONDS + 1
    assert [one.thrashes for one in shown.clients] == [True, True]
    assert sum("page against each other and stand still" in one for one in caplog.messages) == 1
    scene.node.registration.leave(next(iter(scene.node.clients.all())))
    shown = scene.pass_seconds(1)
    assert shown.devices[0].thrashing is None
    assert [one.thrashes for one in shown.clients] == [False]
    assert caplog.messages[-1] == "programs page against each other no more"


def test_its_time_is_neither_idle_nor_computing(scene: Scene) -> None:
    scene.pass_seconds(THRASHING_SECONDS + 1)
    client = next(iter(scene.node.clients.all())).id
    before = scene.node.executor.times.spent(client, scene.now)
    scene.pass_seconds(10)
    after = scene.node.executor.times.spent(client, scene.now)
    gained = {part: (after[part] - before[part]) / 1e9 for part in Part}
    assert {part: value for part, value in gained.items() if value} == {
        Part.THRASHING: pytest.approx(10.0)
    }


def test_programs_that_go_on_do_not_thrash(scene: Scene) -> None:
    assert scene.pass_seconds(20, calls=50).devices[0].thrashing is None


def test_nvml_is_asked_only_while_too_much_runs(scene: Scene) -> None:
    scene.pass_seconds(3)
    assert scene.asked == 3
    scene.node.registration.leave(next(iter(scene.node.clients.all())))
    scene.pass_seconds(3)
    assert scene.asked == 3
