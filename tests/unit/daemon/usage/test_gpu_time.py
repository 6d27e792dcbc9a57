"""When the GPUs are asked for which processes they worked, and what the core learns of it."""

import asyncio

import pytest

from nvshare.core.events import Given
from nvshare.daemon.usage.gpu_time import GpuTime, Samples

from ..stage import GPU, Stage

# The process of all clients of the stage.
PID = 7


class Nvml:
    """What a GPU would report."""

    def __init__(self) -> None:
        self.percent: int | None = 0
        self.asked: list[int] = []
        self.error: OSError | None = None

    def samples(self, uuid: str, seen: int) -> Samples:
        assert uuid == GPU.uuid
        self.asked.append(seen)
        if self.error:
            raise self.error
        if self.percent is None:
            return {PID + 1: (seen + 5, 90)}
        return {PID: (seen + 10, self.percent), PID + 1: (seen + 5, 90)}


def follow_two(stage: Stage, nvml: Nvml) -> GpuTime:
    """Two clients with one share for both."""
    stage.join(1)
    stage.join(1)
    stage.limit(compute_percent=30)
    return GpuTime(stage.node.parts, nvml.samples)


def test_nobody_is_asked_about_who_is_alone_or_has_no_share(stage: Stage) -> None:
    nvml = Nvml()
    follower = GpuTime(stage.node.parts, nvml.samples)
    stage.join(1)
    stage.limit(compute_percent=30)
    asyncio.run(follower.look())
    stage.limit(compute_percent=None)
    stage.join(1)
    asyncio.run(follower.look())
    assert nvml.asked == []
    stage.limit(compute_percent=30)
    asyncio.run(follower.look())
    assert nvml.asked == [0]


def test_the_core_hears_of_the_time_since_it_was_asked_last(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvml, heard = Nvml(), stage.listen(Given)
    follower = follow_two(stage, nvml)
    nvml.percent, now = 40, stage.node.now()
    for passed in (0.0, 0.5, 1.0):
        monkeypatch.setattr(stage.node.executor, "now", lambda passed=passed: now + passed)
        asyncio.run(follower.look())
    assert nvml.asked == [0, 10, 20]
    assert [event.seconds for event in heard] == [None, None] + 4 * [pytest.approx(0.2)]


def test_without_samples_of_its_clients_the_next_ones_are_about_all_of_the_time(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvml, heard = Nvml(), stage.listen(Given)
    follower = follow_two(stage, nvml)
    now = stage.node.now()
    for passed, percent in ((0.0, 40), (0.5, None), (1.0, 40)):
        nvml.percent = percent
        monkeypatch.setattr(stage.node.executor, "now", lambda passed=passed: now + passed)
        asyncio.run(follower.look())
    assert [event.seconds for event in heard] == [None, None] + 2 * [pytest.approx(0.4)]


def test_a_gpu_that_does_not_tell_is_asked_once(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    nvml, heard = Nvml(), stage.listen(Given)
    nvml.error = OSError("Not Supported")
    follower = follow_two(stage, nvml)
    for _ in range(3):
        asyncio.run(follower.look())
    assert (nvml.asked, heard) == ([0], [])
    assert "NVML reports no utilisation per process" in caplog.text


def test_who_has_come_back_begins_anew(stage: Stage) -> None:
    nvml, heard = Nvml(), stage.listen(Given)
    follower = follow_two(stage, nvml)
    asyncio.run(follower.look())
    stage.clients.pop().close()
    stage.turn()
    asyncio.run(follower.look())
    stage.join(1)
    asyncio.run(follower.look())
    assert [event.seconds for event in heard] == [None] * 4
