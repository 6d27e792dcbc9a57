"""Copies of page-locked memory, and of any other: how fast they are, and which calls wait."""

import ctypes
import mmap
import os
import time
from typing import Any

import pytest

MIB = 1 << 20
SIZE = 64 * MIB
# Of the profile "tiny", in bytes per second. Nothing here is real time, but for lower limits.
BUS, PAGEABLE, SPEED = 12e9, 6e9, 0.1


def pinned(cu: Any) -> int:
    return int(cu.cuMemHostAlloc(SIZE, 0))


def registered(cu: Any) -> int:
    """Shared memory in a file of its own, as two processes would have it."""
    file = os.memfd_create("shared")
    os.ftruncate(file, SIZE)
    cu.kept = ctypes.c_char.from_buffer(mmap.mmap(file, SIZE))  # else it goes with this function
    address = ctypes.addressof(cu.kept)
    cu.cuMemHostRegister(address, SIZE, 0)
    return address


def page_locked_copies_wait_for_nobody(cu: Any) -> None:
    device, stream = int(cu.cuMemAlloc(SIZE)), cu.cuStreamCreate(1)
    begin, end = (cu.cuEventCreate(0) for _ in range(2))
    for host in (pinned(cu), registered(cu)):
        ctypes.memset(host, 5, SIZE)
        for copy, *sides in (
            (cu.cuMemcpyHtoDAsync, device, host),
            (cu.cuMemcpyDtoHAsync, host, device),
        ):
            # Behind another copy, so that it is submitted by the time it begins.
            copy(*sides, SIZE, stream)
            cu.cuEventRecord(begin, stream)
            copy(*sides, SIZE, stream)
            cu.cuEventRecord(end, stream)
            assert cu.error("cuEventQuery", end) == "NOT_READY"
            cu.cuEventSynchronize(end)
            assert cu.cuEventElapsedTime(begin, end) == pytest.approx(SIZE / BUS * 1e3, rel=0.02)
        assert cu.read(device, 64) == b"\5" * 64


def both_ways_at_once(cu: Any) -> None:
    """Two copy engines: nearly as fast as each alone. How nearly is the profile's bus.duplex."""
    first, second = (int(cu.cuMemAlloc(SIZE)) for _ in range(2))
    there, back = pinned(cu), pinned(cu)
    *streams, ahead = (cu.cuStreamCreate(1) for _ in range(3))
    begin, end, start = (cu.cuEventCreate(0) for _ in range(3))
    # Both behind another copy, so that both are submitted by the time they begin.
    cu.cuMemcpyHtoDAsync(first, there, SIZE, ahead)
    cu.cuEventRecord(start, ahead)
    for stream in streams:
        cu.cuStreamWaitEvent(stream, start, 0)
    cu.cuEventRecord(begin, streams[0])
    cu.cuMemcpyHtoDAsync(first, there, SIZE, streams[0])
    cu.cuMemcpyDtoHAsync(back, second, SIZE, streams[1])
    done = cu.cuEventCreate(0)
    cu.cuEventRecord(done, streams[1])
    cu.cuStreamWaitEvent(streams[0], done, 0)
    cu.cuEventRecord(end, streams[0])
    assert cu.error("cuEventQuery", start) == "NOT_READY"
    cu.cuEventSynchronize(end)
    assert cu.cuEventElapsedTime(begin, end) < 1.25 * SIZE / BUS * 1e3


def other_memory_is_copied_by_the_caller(cu: Any) -> None:
    """At the CPU's rate; to the device, a little is still under way when the call returns."""
    device = int(cu.cuMemAlloc(SIZE))
    data = bytearray(b"\6" * SIZE)
    for call in ("cuMemcpyHtoD", "cuMemcpyHtoDAsync"):
        arguments = (device, data, SIZE) + ((0,) if call.endswith("Async") else ())
        before = time.monotonic()
        getattr(cu, call)(*arguments)
        assert (time.monotonic() - before) * SPEED >= SIZE / PAGEABLE
        data[:] = bytes(SIZE)  # the driver has what it needs
        assert cu.read(device + SIZE - 64, 64) == b"\6" * 64
        data[:] = b"\6" * SIZE
    before = time.monotonic()
    cu.cuMemcpyDtoHAsync(data, device, SIZE, 0)
    assert (time.monotonic() - before) * SPEED >= SIZE / PAGEABLE
    assert data[-64:] == b"\6" * 64


def a_small_copy_is_staged_at_once(cu: Any) -> None:
    """While others use the bus as well, a copy takes 40 ms: an immediate question is in time."""
    device, event = int(cu.cuMemAlloc(SIZE)), cu.cuEventCreate(0)
    source = pinned(cu)
    for _ in range(10):
        other = cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING)
        cu.cuMemcpyHtoDAsync(device, source, SIZE, other)
    cu.cuMemcpyHtoD(device, bytes(4 * MIB), 4 * MIB)
    cu.cuEventRecord(event, 0)
    assert cu.error("cuEventQuery", event) == "NOT_READY"


@pytest.mark.parametrize(
    "body",
    [
        page_locked_copies_wait_for_nobody,
        both_ways_at_once,
        other_memory_is_copied_by_the_caller,
        a_small_copy_is_staged_at_once,
    ],
)
def test_copies(emulated: Any, body: Any) -> None:
    emulated(body, speed=SPEED)
