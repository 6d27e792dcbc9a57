"""Processes that use a GPU without nvshare. The test supplies NVML's table."""

import asyncio
import logging
import os
from types import SimpleNamespace

import pytest

from nvshare.core.events import OutsideChanged
from nvshare.daemon.status.snapshots import describe_gpu
from nvshare.daemon.usage.outsiders import UNKNOWN, Holdings, Outsiders, by_process
from nvshare.telemetry.snapshot import OutsideProcess
from nvshare.wire import frames

from ..stage import GIB, GPU, Stage

# The process of all clients of the stage, and another one.
CLIENT, OTHER = 7, os.getpid()


class Nvml:
    """What a GPU would report, and what the core was told of it."""

    def __init__(self, stage: Stage) -> None:
        self.processes: dict[int, int | None] = {}
        self.more = 0
        self.error: OSError | None = None
        self.told = stage.listen(OutsideChanged)
        self.outsiders = stage.node.outsiders = Outsiders(stage.node.parts, self.read)

    def read(self, uuid: str) -> Holdings:
        assert uuid == GPU.uuid
        if self.error:
            raise self.error
        used = sum(size or 0 for size in self.processes.values()) + self.more
        return Holdings(used, dict(self.processes))

    def look(self, times: int = 1) -> tuple[OutsideProcess, ...]:
        for _ in range(times):
            asyncio.run(self.outsiders.look())
        return self.outsiders.of(GPU)

    @property
    def bytes_told(self) -> list[int]:
        return [event.outside_bytes for event in self.told]


@pytest.fixture
def nvml(stage: Stage) -> Nvml:
    return Nvml(stage)


def test_a_process_that_is_no_client_takes_room(nvml: Nvml, stage: Stage) -> None:
    before = describe_gpu(stage.node, GPU).usable
    nvml.processes = {OTHER: 3 * GIB}
    (one,) = nvml.look(2)
    assert (one.pid, one.uid, one.memory) == (OTHER, os.getuid(), 3 * GIB)
    assert one.program
    shown = describe_gpu(stage.node, GPU)
    assert (shown.usable, shown.outside) == (before - 3 * GIB, (one,))
    nvml.processes = {}
    assert nvml.look() == ()
    assert nvml.bytes_told == [3 * GIB, 0]
    assert describe_gpu(stage.node, GPU).usable == before


def test_one_look_is_not_enough(nvml: Nvml) -> None:
    nvml.processes = {OTHER: GIB}
    assert nvml.look() == ()
    nvml.processes = {}
    assert nvml.look() == ()
    assert nvml.bytes_told == []


def test_clients_are_not_outside(nvml: Nvml, stage: Stage) -> None:
    stage.join(2 * GIB)
    nvml.processes = {CLIENT: GIB}
    # Managed memory is in no list; memory that has left the GPU may still count as used.
    nvml.more = 2 * GIB
    assert nvml.look(2) == ()
    assert nvml.bytes_told == []


def test_what_nobody_accounts_for_takes_room(nvml: Nvml, stage: Stage) -> None:
    stage.join(2 * GIB)
    nvml.processes = {CLIENT: GIB}
    nvml.more = 5 * GIB
    assert nvml.look(2) == (OutsideProcess(pid=0, program=UNKNOWN, memory=3 * GIB),)
    assert nvml.bytes_told == [3 * GIB]


def test_memory_that_is_copied_is_in_the_list(nvml: Nvml, stage: Stage) -> None:
    stage.join(2 * GIB, kind=frames.AllocationKind.EXPLICIT)
    nvml.processes = {CLIENT: 3 * GIB}
    nvml.more = GIB
    assert [one.memory for one in nvml.look(2)] == [GIB]


def test_the_driver_has_something_for_itself(nvml: Nvml) -> None:
    nvml.more = 200 << 20
    assert nvml.look(2) == ()


def test_clients_under_other_numbers_are_not_called_outsiders(nvml: Nvml, stage: Stage) -> None:
    stage.join(2 * GIB)
    nvml.processes = {OTHER: 3 * GIB}
    assert nvml.look(2) == ()


def test_a_process_that_does_not_say_how_much(nvml: Nvml) -> None:
    nvml.processes = {OTHER: None}
    nvml.more = 4 * GIB
    (one,) = nvml.look(2)
    assert (one.pid, one.memory) == (OTHER, 0)


def test_a_gpu_that_does_not_tell_keeps_what_it_has_told(nvml: Nvml) -> None:
    nvml.processes = {OTHER: GIB}
    nvml.look(2)
    nvml.error = OSError("GPU is lost")
    assert [one.memory for one in nvml.look(2)] == [GIB]
    assert nvml.bytes_told == [GIB]


@pytest.mark.parametrize("warns", [True, False])
def test_each_is_warned_about_once(
    nvml: Nvml, warns: bool, caplog: pytest.LogCaptureFixture
) -> None:
    nvml.outsiders.warns = warns
    nvml.processes = {OTHER: GIB}
    with caplog.at_level(logging.WARNING):
        nvml.look(5)
    said = [record for record in caplog.records if "used without nvshare" in record.message]
    assert len(said) == int(warns)


def test_little_changes_are_not_told(nvml: Nvml) -> None:
    nvml.processes = {OTHER: GIB}
    nvml.look(2)
    nvml.processes = {OTHER: GIB + (32 << 20)}
    nvml.look(2)
    assert nvml.bytes_told == [GIB]


def test_processes_of_the_same_number_in_several_containers_are_added_up() -> None:
    listed = [(1, 3 * GIB), (7, None), (1, GIB), (7, GIB), (9, 0)]
    processes = [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in listed]
    assert by_process(processes) == {1: 4 * GIB, 7: None, 9: 0}
