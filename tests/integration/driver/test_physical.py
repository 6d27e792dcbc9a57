"""Memory with handles: zero when it is new, gone when it is released, and its waits."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.integration.driver.physical import GRAIN, Launcher, Window, properties

MIB = 1 << 20
# The memory of the profile "tiny" that is left beside one context.
MOST = 240 * MIB


def held_by_the_machine() -> int:
    """Bytes of host memory behind the device memory of this process."""
    total = 0
    for file in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # that of the folder itself
            if "nvshare-emulator" in str(file.readlink()):
                total += file.stat().st_blocks * 512
    return total


def new_memory_is_zero(cu: Any) -> None:
    window = Window(cu, 8 * GRAIN)
    for value in (1, 2, 3):
        assert cu.read(window.address, window.size) == bytes(window.size)
        cu.cuMemsetD8(window.address, value, window.size)
        cu.cuCtxSynchronize()
        window.go()
        window.come()
    # Small allocations leave their bytes in a block that the next handle gets.
    window.go()
    small = [int(cu.cuMemAlloc(4096)) for _ in range(1000)]
    for address in small:
        cu.cuMemsetD8(address, 7, 4096)
    for address in small:
        cu.cuMemFree(address)
    windows = [Window(cu) for _ in range(8)]
    assert all(cu.read(w.address, GRAIN) == bytes(GRAIN) for w in windows)


def released_bytes_cost_nothing(cu: Any) -> None:
    for shared in (False, True):
        before = held_by_the_machine()
        handle = cu.cuMemCreate(8 * GRAIN, properties(cu, shared=shared), 0)
        window = Window(cu, 8 * GRAIN, mapped=False)
        cu.cuMemMap(window.address, window.size, 0, handle, 0)
        window.allow(0)
        cu.cuMemsetD8(window.address, 1, window.size)
        cu.cuCtxSynchronize()
        assert held_by_the_machine() >= before + window.size
        cu.cuMemRelease(handle)
        assert held_by_the_machine() >= before + window.size  # a mapping holds it as well
        cu.cuMemUnmap(window.address, window.size)
        assert held_by_the_machine() == before


def creating(cu: Any, size: int, pause: float) -> float:
    """How long it takes to create memory that was freed this long ago."""
    cu.cuMemFree(cu.cuMemAlloc(size))
    time.sleep(pause)
    before = time.monotonic()
    handle = cu.cuMemCreate(size, properties(cu), 0)
    took = time.monotonic() - before
    cu.cuMemRelease(handle)
    return took


def scrubbing(cu: Any) -> None:
    """Free at once; but a call that needs it before it is zero waits: 10 ms, at this speed."""
    large = MOST - 8 * MIB
    handle = cu.cuMemCreate(large, properties(cu), 0)
    free = cu.free()
    cu.cuMemRelease(handle)
    assert cu.free() == free + large
    clean = min(creating(cu, large, 0.05) for _ in range(5))
    dirty = min(creating(cu, large, 0) for _ in range(5))
    assert dirty - clean > 0.005, (dirty, clean)


def more_than_there_is(cu: Any) -> None:
    """Refused also after the wait; a smaller request then succeeds."""
    handle = cu.cuMemCreate(MOST - 8 * MIB, properties(cu), 0)
    cu.cuMemRelease(handle)
    assert cu.error("cuMemCreate", MOST + GRAIN, properties(cu), 0) == "OUT_OF_MEMORY"
    free = cu.free()
    cu.cuMemCreate(free // GRAIN * GRAIN, properties(cu), 0)
    assert cu.error("cuMemCreate", GRAIN, properties(cu), 0) == "OUT_OF_MEMORY"


def managed_memory_gives_way(cu: Any) -> None:
    """As for plain memory, until there is none of it left."""
    launcher, size = Launcher(cu), 160 * MIB
    managed = int(cu.cuMemAllocManaged(size, 1))
    launcher.fill(0, managed, 7, size // 4)
    cu.cuCtxSynchronize()
    assert cu.free() < 80 * MIB
    first = cu.cuMemCreate(120 * MIB, properties(cu), 0)
    assert cu.read(managed, 1000) == b"\x07\0\0\0" * 250
    rest = (cu.free() + GRAIN) // GRAIN * GRAIN
    cu.cuMemCreate(rest, properties(cu), 0)
    while cu.error("cuMemCreate", GRAIN, properties(cu), 0) == "CUDA_SUCCESS":
        pass
    assert cu.free() < GRAIN
    cu.cuMemRelease(first)
    assert cu.free() >= 120 * MIB


@pytest.mark.parametrize("body", [new_memory_is_zero, released_bytes_cost_nothing])
@pytest.mark.parametrize("model", [True, False])
def test_bytes(emulated: Any, body: Any, model: bool) -> None:
    emulated(body, model=model)


@pytest.mark.parametrize("model", [True, False])
def test_room(emulated: Any, model: bool) -> None:
    emulated(more_than_there_is, model=model)


def test_room_of_managed_memory(emulated: Any) -> None:
    emulated(managed_memory_gives_way)


def test_scrubbing(emulated: Any) -> None:
    emulated(scrubbing, speed=0.1)
