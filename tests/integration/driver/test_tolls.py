"""The cost of calls on memory with handles, and of page-locking, for the calling thread."""

import ctypes
import mmap
import threading
import time
from typing import Any

import pytest

from tests.integration.driver.physical import GRAIN, access, properties

MIB = 1 << 20
# Of the profile "tiny", in seconds: a call, and for every 2 MiB.
CREATE, ACCESS, UNMAP, RELEASE = (190e-6, 3e-6), (33e-6, 3e-6), (22e-6, 4e-6), (19e-6, 4e-6)
MAP, RESERVE, REGISTER, LOCK, UNLOCK = 1.5e-6, 19e-6, 10e-6, 820e-6, 39e-6
SPEED = 0.1


def toll(of: tuple[float, float], size: int) -> float:
    return of[0] + of[1] * size / GRAIN


def timed(call: Any, *arguments: Any) -> tuple[float, Any]:
    """The emulated time that a call takes, and its result."""
    before = time.monotonic()
    result = call(*arguments)
    return (time.monotonic() - before) * SPEED, result


def seconds(call: Any, *arguments: Any) -> float:
    return timed(call, *arguments)[0]


def every_call_costs_its_time(cu: Any) -> None:
    for size in (GRAIN, 32 * GRAIN):
        took, address = timed(cu.cuMemAddressReserve, size, 0, 0, 0)
        assert took >= RESERVE
        took, handle = timed(cu.cuMemCreate, size, properties(cu), 0)
        assert took >= toll(CREATE, size)
        assert seconds(cu.cuMemMap, address, size, 0, handle, 0) >= MAP
        assert seconds(cu.cuMemSetAccess, address, size, [access(cu)], 1) >= toll(ACCESS, size)
        assert seconds(cu.cuMemUnmap, address, size) >= toll(UNMAP, size)
        assert seconds(cu.cuMemRelease, handle) >= toll(RELEASE, size)
        assert seconds(cu.cuMemAddressFree, address, size) >= RESERVE


def large_handles_are_cheap(cu: Any) -> None:
    """Thirty-two small ones cost many times as much as one of the same size in all."""

    def small() -> None:
        for _ in range(32):
            cu.cuMemCreate(GRAIN, properties(cu), 0)

    assert seconds(small) > 5 * toll(CREATE, 32 * GRAIN)
    assert seconds(cu.cuMemCreate, 32 * GRAIN, properties(cu), 0) >= toll(CREATE, 32 * GRAIN)


def page_locking_costs_time(cu: Any) -> None:
    size = 8 * MIB
    memory = mmap.mmap(-1, size)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    lock = REGISTER + LOCK * size / GRAIN
    assert seconds(cu.cuMemHostRegister, address, size, 0) >= lock
    assert seconds(cu.cuMemHostUnregister, address) >= UNLOCK * size / GRAIN
    took, allocated = timed(cu.cuMemHostAlloc, size, 0)
    assert took >= lock
    assert seconds(cu.cuMemFreeHost, allocated) >= UNLOCK * size / GRAIN
    # A page is no block.
    assert min(seconds(cu.cuMemHostAlloc, 4096, 0) for _ in range(5)) < LOCK


def one_lock_for_all_gpus(cu: Any) -> None:
    """Threads on two GPUs are served one after the other."""
    count = 10

    def create(device: int) -> None:
        for _ in range(count):
            cu.cuMemCreate(GRAIN, properties(cu, device=device), 0)

    def both() -> None:
        threads = [threading.Thread(target=create, args=(device,)) for device in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert seconds(both) >= 2 * count * toll(CREATE, GRAIN)


@pytest.mark.parametrize(
    "body", [every_call_costs_its_time, large_handles_are_cheap, page_locking_costs_time]
)
def test_tolls(emulated: Any, body: Any) -> None:
    emulated(body, speed=SPEED)


def test_one_lock(emulated: Any) -> None:
    emulated(one_lock_for_all_gpus, gpus="2xtiny", speed=SPEED)


def nothing_takes_time(cu: Any) -> None:
    before = time.monotonic()
    for _ in range(100):
        cu.cuMemRelease(cu.cuMemCreate(GRAIN, properties(cu), 0))
    # A second each, if the calls cost time.
    assert time.monotonic() - before < 10


def test_no_tolls_without_the_model(emulated: Any) -> None:
    emulated(nothing_takes_time, model=False, speed=0.0001)
