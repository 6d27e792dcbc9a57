"""What the core learns of contexts, modules and pools. The test supplies NVML's table."""

import asyncio

import pytest

from nvshare.core.events import MemoryChanged
from nvshare.core.memory import Memory
from nvshare.daemon.status.snapshots import Snapshots
from nvshare.daemon.usage.footprint import Footprint, Footprints
from nvshare.settings import DeviceSettings
from nvshare.wire import frames

from ..stage import GIB, GPU, Stage

MIB = 1 << 20
# The process of all clients of the stage.
PID = 7
EXPLICIT = frames.AllocationKind.EXPLICIT
ASSUMED = DeviceSettings().context_of(GPU.memory)


class Nvml:
    """What a GPU would report."""

    def __init__(self) -> None:
        self.found: dict[int, int] = {}
        self.error: OSError | None = None
        self.asked = 0

    def read(self, uuid: str) -> Footprints:
        assert uuid == GPU.uuid
        self.asked += 1
        if self.error:
            raise self.error
        return self.found


def look(stage: Stage, nvml: Nvml) -> None:
    """Look twice, since one look may come in the middle of a change."""
    stage.node.footprint = Footprint(stage.node.parts, nvml.read)
    for _ in range(2):
        asyncio.run(stage.node.footprint.look())


def memory(stage: Stage, client: int = 1) -> Memory:
    return stage.node.core.client_view(client).memory


def test_until_nvml_has_told_the_setting_counts(stage: Stage) -> None:
    stage.join(2 * GIB)
    assert memory(stage) == Memory(2 * GIB + ASSUMED, ASSUMED, context=ASSUMED)
    look(stage, Nvml())
    assert memory(stage) == Memory(2 * GIB + ASSUMED, ASSUMED, context=ASSUMED)


def test_what_nvml_lists_beyond_plain_memory_is_pinned_too(stage: Stage) -> None:
    nvml = Nvml()
    stage.join(2 * GIB, pinned=GIB)
    nvml.found = {PID: GIB + 500 * MIB, PID + 1: 9 * GIB}
    look(stage, nvml)
    assert memory(stage) == Memory(2 * GIB + 500 * MIB, GIB + 500 * MIB, context=500 * MIB)
    (shown,) = Snapshots(stage.node, 0.0).take().clients
    assert (shown.allocated, shown.pinned, shown.context) == (2 * GIB, GIB, 500 * MIB)


def test_plain_memory_is_not_counted_twice_as_it_grows(stage: Stage) -> None:
    nvml = Nvml()
    stage.join(2 * GIB, pinned=GIB)
    nvml.found = {PID: GIB + 500 * MIB}
    look(stage, nvml)
    # Its report comes before the next query of NVML.
    stage.clients[0].send(frames.Memory(4 * GIB, 3 * GIB, 0, 0).pack())
    stage.turn()
    assert memory(stage) == Memory(4 * GIB + 500 * MIB, 3 * GIB + 500 * MIB, context=500 * MIB)
    nvml.found = {PID: 3 * GIB + 500 * MIB}
    heard = stage.listen(MemoryChanged)
    look(stage, nvml)
    assert heard == []


def test_modules_that_are_loaded_later_count_and_little_does_not(stage: Stage) -> None:
    nvml = Nvml()
    stage.join(GIB)
    heard = stage.listen(MemoryChanged)
    for size in (300, 303, 340, 330):
        nvml.found = {PID: size * MIB}
        look(stage, nvml)
    assert [event.memory.pinned for event in heard] == [300 * MIB, 340 * MIB, 330 * MIB]


def test_memory_that_moves_explicitly_is_the_programs_own_and_no_context(stage: Stage) -> None:
    nvml = Nvml()
    stage.join(2 * GIB, kind=EXPLICIT)
    nvml.found = {PID: 2 * GIB + 500 * MIB}
    look(stage, nvml)
    assert memory(stage) == Memory(2 * GIB + 500 * MIB, 500 * MIB, context=500 * MIB)


def test_what_comes_back_explicitly_is_no_context_before_the_program_has_told(
    stage: Stage,
) -> None:
    nvml = Nvml()
    stage.join(3 * GIB, swapped=2 * GIB, kind=EXPLICIT)
    # Half of it is there again.
    nvml.found = {PID: 2 * GIB + 500 * MIB}
    look(stage, nvml)
    assert memory(stage).pinned == ASSUMED
    stage.clients[0].send(frames.Memory(3 * GIB, 0, 0, 0).pack())
    stage.turn()
    nvml.found = {PID: 3 * GIB + 500 * MIB}
    look(stage, nvml)
    assert memory(stage).pinned == 500 * MIB


def test_what_one_look_has_found_may_be_a_change_that_is_under_way(stage: Stage) -> None:
    """It has reported 2 GiB, and not allocated all of them yet."""
    nvml = Nvml()
    stage.join(2 * GIB, kind=EXPLICIT)
    footprint = Footprint(stage.node.parts, nvml.read)
    for found in (2 * GIB + 100 * MIB, 2 * GIB + 500 * MIB):
        nvml.found = {PID: found}
        asyncio.run(footprint.look())
        assert memory(stage).pinned == ASSUMED
    asyncio.run(footprint.look())
    assert memory(stage).pinned == 500 * MIB


def test_less_than_a_program_says_itself_is_no_figure(stage: Stage) -> None:
    nvml = Nvml()
    stage.join(2 * GIB, pinned=GIB)
    nvml.found = {PID: GIB}
    look(stage, nvml)
    assert memory(stage).pinned == GIB + ASSUMED


def test_clients_of_one_process_share_its_figure(stage: Stage) -> None:
    nvml = Nvml()
    stage.join(GIB)
    stage.join(GIB, pinned=GIB)
    nvml.found = {PID: GIB + 200 * MIB}
    look(stage, nvml)
    assert [memory(stage, one).pinned for one in (1, 2)] == [100 * MIB, GIB + 100 * MIB]


def test_what_is_set_is_not_asked_for(stage: Stage) -> None:
    nvml = Nvml()
    settings = stage.node.gpus.settings[GPU.uuid].changed({"lab": {"context": 100 * MIB}})
    stage.node.change_settings(GPU, settings)
    stage.join(GIB)
    nvml.found = {PID: 700 * MIB}
    look(stage, nvml)
    assert nvml.asked == 0
    assert memory(stage).pinned == 100 * MIB


def test_nobody_is_asked_about_an_empty_gpu_nor_a_silent_one_again(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    nvml = Nvml()
    footprint = Footprint(stage.node.parts, nvml.read)
    asyncio.run(footprint.look())
    assert nvml.asked == 0
    stage.join(GIB)
    nvml.error = OSError("Not Supported")
    with caplog.at_level("INFO"):
        for _ in range(2):
            asyncio.run(footprint.look())
    assert nvml.asked == 1
    assert "NVML does not tell how much memory each process holds" in caplog.text


def test_somebody_who_comes_is_looked_at_soon(stage: Stage) -> None:
    nvml = Nvml()
    nvml.found = {PID: 700 * MIB}

    async def scene() -> None:
        footprint = Footprint(stage.node.parts, nvml.read)
        following = asyncio.create_task(footprint.follow())
        footprint.soon()
        while not nvml.asked:
            await asyncio.sleep(0.01)
        following.cancel()

    stage.join(GIB)
    asyncio.run(scene())


def test_a_program_that_goes_meanwhile_is_no_matter(stage: Stage) -> None:
    stage.join(GIB)
    heard = stage.listen(MemoryChanged)
    (client,) = stage.node.clients.all()

    def read(uuid: str) -> Footprints:
        del uuid
        stage.node.clients.remove(client)
        return {PID: 700 * MIB}

    asyncio.run(Footprint(stage.node.parts, read).look())
    assert heard == []
    stage.node.clients.add(client)
