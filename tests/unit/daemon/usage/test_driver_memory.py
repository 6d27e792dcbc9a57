"""Memory that counts against a limit besides programs' allocations, as far as NVML tells."""

import asyncio
import os
import struct

import pytest

from nvshare.daemon.groups.quota_page import HEADER_SIZE, Page
from nvshare.daemon.usage.footprint import Footprint, Footprints
from nvshare.wire.frames import AllocationKind

from ..stage import GIB, GPU, Stage

MIB = 1 << 20
# The process of all clients of the stage.
PID = 7


class Looking:
    """An NVML that reports prepared values."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._found: Footprints = {}
        self._footprint = Footprint(stage.node.parts, lambda _: self._found)

    def page(self) -> Page:
        (group,) = self._stage.node.groups.all()
        return group.pages[GPU.uuid]

    def at(self, size: int) -> int:
        """Return the memory use of the group; its only member reports that it has none."""
        self._found = {PID: size}
        for _ in range(2):
            asyncio.run(self._footprint.look())
        return self.page().used()


def test_what_modules_take_beyond_a_bare_context_counts(stage: Stage) -> None:
    stage.join(0)
    nvml = Looking(stage)
    assert nvml.at(300 * MIB) == 0
    assert nvml.at(500 * MIB) == 200 * MIB
    # Differences by rounding do not count.
    assert nvml.at(304 * MIB) == 0


def test_what_pools_keep_is_not_counted_twice(stage: Stage) -> None:
    stage.join(0)
    nvml = Looking(stage)
    assert nvml.at(300 * MIB) == 0
    os.pwrite(nvml.page().descriptor, struct.pack("<Q", 150 * MIB), HEADER_SIZE + 24)
    assert nvml.at(500 * MIB) == 200 * MIB


@pytest.mark.parametrize("kind", [AllocationKind.NATIVE, AllocationKind.EXPLICIT])
def test_memory_that_comes_in_whole_pages_is_not_taken_for_modules(
    stage: Stage, kind: AllocationKind
) -> None:
    stage.join(GIB, pinned=GIB if kind is AllocationKind.NATIVE else 0, kind=kind)
    nvml = Looking(stage)
    assert nvml.at(GIB + 300 * MIB) == 0
    assert nvml.at(GIB + 500 * MIB) == 0
