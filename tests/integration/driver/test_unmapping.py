"""Work on addresses without memory: judged when executed, and fatal to its context."""

import ctypes
import time
from typing import Any

import pytest

from tests.integration.driver.physical import GRAIN, Launcher, Window

# Long enough for any call of the test to come in between; emulated, at speed 1.
BUSY_US = 60_000
DEAD = "ILLEGAL_ADDRESS"


def everything_is_dead(cu: Any) -> None:
    """Every later call in the context returns the error."""
    for _ in range(2):
        assert cu.error("cuCtxSynchronize") == DEAD
        assert cu.error("cuMemAlloc", 4096) == DEAD
        assert cu.error("cuMemGetInfo") == DEAD
        assert cu.error("cuStreamSynchronize", 0) == DEAD
        assert cu.error("cuMemAddressReserve", GRAIN, 0, 0, 0) == DEAD


def pinned(cu: Any, size: int) -> int:
    return int(cu.cuMemHostAlloc(size, 0))


def a_kernel_queued_before_the_unmapping(cu: Any) -> None:
    window, launcher, stream = Window(cu), Launcher(cu), cu.cuStreamCreate(1)
    launcher.spin(stream, BUSY_US)
    launcher.fill(stream, window.address, 7, 100)
    before = time.monotonic()
    window.go()
    assert time.monotonic() - before < BUSY_US / 2e6  # the call does not wait
    assert cu.error("cuStreamSynchronize", stream) == DEAD
    everything_is_dead(cu)


def a_kernel_under_way(cu: Any) -> None:
    """It is judged as its memory goes, also if other memory comes before it ends."""
    window, stream = Window(cu), cu.cuStreamCreate(1)
    code = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry slow(.param .u64 data)
{
    .pragma "nvshare cost_us 60000";
    ret;
}
"""
    slow = cu.cuModuleGetFunction(cu.cuModuleLoadData(code), b"slow")
    parameters = (window.address,), (ctypes.c_uint64,)
    cu.cuLaunchKernel(slow, 1, 1, 1, 32, 1, 1, 0, stream, parameters, 0)
    time.sleep(0.02)
    cu.cuMemUnmap(window.address, GRAIN)
    assert cu.error("cuMemMap", window.address, GRAIN, 0, window.handle, 0) == DEAD
    everything_is_dead(cu)


def memory_that_is_back_in_time(cu: Any) -> None:
    """Nothing was there when the work was queued, nor for a while after that."""
    window, launcher, stream = Window(cu), Launcher(cu), cu.cuStreamCreate(1)
    host = pinned(cu, GRAIN)
    window.go()
    launcher.spin(stream, BUSY_US)
    cu.cuMemsetD32Async(window.address, 5, 1000, stream)
    launcher.fill(stream, window.address + 4000, 6, 1000)
    cu.cuMemcpyDtoHAsync(host, window.address, 8000, stream)
    window.come()
    cu.cuStreamSynchronize(stream)
    assert ctypes.string_at(host, 8000) == b"\5\0\0\0" * 1000 + b"\6\0\0\0" * 1000


def a_copy_that_finds_nothing(cu: Any) -> None:
    window, launcher, stream = Window(cu), Launcher(cu), cu.cuStreamCreate(1)
    host = pinned(cu, GRAIN)
    launcher.spin(stream, BUSY_US)
    cu.cuMemcpyHtoDAsync(window.address, host, GRAIN, stream)
    window.go()
    assert cu.error("cuStreamSynchronize", stream) == DEAD


def a_memset_that_finds_nothing(cu: Any) -> None:
    window, launcher, stream = Window(cu), Launcher(cu), cu.cuStreamCreate(1)
    launcher.spin(stream, BUSY_US)
    cu.cuMemsetD8Async(window.address + GRAIN // 2, 1, GRAIN // 2, stream)
    window.go()
    assert cu.error("cuStreamSynchronize", stream) == DEAD


def a_graph_that_finds_nothing(cu: Any) -> None:
    """It can be launched again as long as its addresses are backed by then."""
    window, launcher, stream = Window(cu), Launcher(cu), cu.cuStreamCreate(1)
    mode = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    cu.cuStreamBeginCapture(stream, mode)
    launcher.fill(stream, window.address, 9, 8)
    graph = cu.cuGraphInstantiate(cu.cuStreamEndCapture(stream), 0)
    cu.cuGraphLaunch(graph, stream)
    cu.cuStreamSynchronize(stream)
    window.go()
    window.come()
    assert cu.read(window.address, 32) == bytes(32)
    cu.cuGraphLaunch(graph, stream)
    cu.cuStreamSynchronize(stream)
    assert cu.read(window.address, 32) == b"\x09\0\0\0" * 8
    window.go()
    cu.cuGraphLaunch(graph, stream)
    assert cu.error("cuStreamSynchronize", stream) == DEAD


def a_word_that_is_written_nowhere(cu: Any) -> None:
    window, launcher, stream = Window(cu), Launcher(cu), cu.cuStreamCreate(1)
    launcher.spin(stream, BUSY_US)
    cu.cuStreamWriteValue32(stream, window.address, 3, 0)
    window.go()
    assert cu.error("cuStreamSynchronize", stream) == DEAD


def a_word_that_is_awaited_nowhere(cu: Any) -> None:
    window, stream = Window(cu), cu.cuStreamCreate(1)
    cu.cuStreamWaitValue32(stream, window.address, 3, 0)
    time.sleep(0.02)
    cu.cuMemUnmap(window.address, GRAIN)
    assert cu.error("cuStreamSynchronize", stream) == DEAD


def what_comes_after_is_not_done(cu: Any) -> None:
    """Also in another stream, if it would have ended later."""
    window, launcher, event = Window(cu), Launcher(cu), cu.cuEventCreate(0)
    first, second = cu.cuStreamCreate(1), cu.cuStreamCreate(1)
    plain, host, other = int(cu.cuMemAlloc(GRAIN)), pinned(cu, 64), pinned(cu, 64)
    cu.cuMemsetD8(plain, 4, GRAIN)
    launcher.spin(first, BUSY_US)
    launcher.fill(first, window.address, 7, 100)
    cu.cuMemcpyDtoHAsync(host, plain, 64, first)
    cu.cuEventRecord(event, first)
    cu.cuStreamWaitEvent(second, event, 0)
    cu.cuMemcpyDtoHAsync(other, plain, 64, second)
    window.go()
    assert cu.error("cuStreamSynchronize", second) == DEAD
    assert cu.error("cuStreamSynchronize", first) == DEAD
    assert ctypes.string_at(host, 64) == bytes(64)
    assert ctypes.string_at(other, 64) == bytes(64)


def what_came_before_is_done(cu: Any) -> None:
    """Work that has ended keeps its result, whenever its bytes are read."""
    window, launcher, stream = Window(cu), Launcher(cu), cu.cuStreamCreate(1)
    launcher.fill(stream, window.address, 7, 100)
    time.sleep(0.02)
    cu.cuMemUnmap(window.address, GRAIN)
    cu.cuCtxSynchronize()
    cu.cuMemMap(window.address, GRAIN, 0, window.handle, 0)
    window.allow(0)
    assert cu.read(window.address, 400) == b"\x07\0\0\0" * 100


def only_its_context_dies(cu: Any) -> None:
    window, device = Window(cu), cu.cuDeviceGet(0)
    other = cu.cuCtxCreate(None, 0, device)
    plain = int(cu.cuMemAlloc(4096))
    cu.cuCtxSetCurrent(cu.context)
    launcher = Launcher(cu)
    window.go()
    launcher.fill(0, window.address, 7, 100)
    assert cu.error("cuCtxSynchronize") == DEAD
    cu.cuCtxSetCurrent(other)
    cu.write(plain, b"alive")
    assert cu.read(plain, 5) == b"alive"


def events_tell_of_it(cu: Any) -> None:
    window, launcher, event = Window(cu), Launcher(cu), cu.cuEventCreate(0)
    window.go()
    launcher.spin(0, BUSY_US)
    launcher.fill(0, window.address, 7, 100)
    cu.cuEventRecord(event, 0)
    assert cu.error("cuEventSynchronize", event) == DEAD
    assert cu.error("cuEventQuery", event) == DEAD


def at_once_or_soon(cu: Any) -> None:
    """With and without modelled time, with and without stored bytes."""
    window, launcher = Window(cu), Launcher(cu)
    launcher.fill(0, window.address, 7, GRAIN // 4)
    cu.cuMemsetD8(window.address, 1, GRAIN)
    cu.cuCtxSynchronize()
    window.go()
    launcher.fill(0, window.address, 7, 1)
    everything_is_dead(cu)


def one_byte_too_far(cu: Any) -> None:
    """The addresses of a named kernel are known: across mappings, and no further."""
    window, launcher = Window(cu, 3 * GRAIN, mapped=False), Launcher(cu)
    window.size = 2 * GRAIN
    window.come()
    launcher.fill(0, window.address, 7, 2 * GRAIN // 4)
    cu.cuCtxSynchronize()
    launcher.fill(0, window.address, 7, 2 * GRAIN // 4 + 1)
    assert cu.error("cuCtxSynchronize") == DEAD


def a_copy_at_once_or_soon(cu: Any) -> None:
    window = Window(cu)
    window.go()
    assert cu.error("cuMemcpyDtoH", bytearray(4), window.address, 4) == DEAD
    everything_is_dead(cu)


def ends_of_arrays(cu: Any) -> None:
    """A pointer to the end of another parameter's memory is not followed."""
    window = Window(cu, 2 * GRAIN, mapped=False)
    window.size = GRAIN
    window.come()
    code = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry between(.param .u64 from, .param .u64 to)
{
    ret;
}
"""
    between = cu.cuModuleGetFunction(cu.cuModuleLoadData(code), b"between")
    ends = (window.address, window.address + GRAIN), (ctypes.c_uint64, ctypes.c_uint64)
    cu.cuLaunchKernel(between, 1, 1, 1, 32, 1, 1, 0, 0, ends, 0)
    cu.cuCtxSynchronize()
    beyond = (window.address, window.address + GRAIN + 8), ends[1]
    cu.cuLaunchKernel(between, 1, 1, 1, 32, 1, 1, 0, 0, beyond, 0)
    assert cu.error("cuCtxSynchronize") == DEAD


def nvml_tells_of_it(cu: Any) -> None:
    """Even if the process never queries the result."""
    import pynvml

    pynvml.nvmlInit()
    device = pynvml.nvmlDeviceGetHandleByIndex(0)
    events = pynvml.nvmlEventSetCreate()
    pynvml.nvmlDeviceRegisterEvents(device, pynvml.nvmlEventTypeXidCriticalError, events)
    window, launcher, stream = Window(cu), Launcher(cu), cu.cuStreamCreate(1)
    launcher.spin(stream, BUSY_US)
    launcher.fill(stream, window.address, 7, 100)
    window.go()
    assert pynvml.nvmlEventSetWait_v2(events, 5000).eventData == 31


@pytest.mark.parametrize(
    "body",
    [
        a_kernel_queued_before_the_unmapping,
        a_kernel_under_way,
        a_copy_that_finds_nothing,
        a_memset_that_finds_nothing,
        a_graph_that_finds_nothing,
        a_word_that_is_written_nowhere,
        a_word_that_is_awaited_nowhere,
        memory_that_is_back_in_time,
        what_comes_after_is_not_done,
        what_came_before_is_done,
        only_its_context_dies,
        events_tell_of_it,
        nvml_tells_of_it,
    ],
)
def test_judged_when_executed(emulated: Any, body: Any) -> None:
    emulated(body, speed=1.0)


@pytest.mark.parametrize(
    "body", [a_kernel_queued_before_the_unmapping, a_copy_that_finds_nothing, a_kernel_under_way]
)
def test_judged_without_bytes(emulated: Any, body: Any) -> None:
    emulated(body, speed=1.0, data="off")


@pytest.mark.parametrize("model", [True, False])
@pytest.mark.parametrize("data", ["on", "off"])
@pytest.mark.parametrize(
    "body", [at_once_or_soon, a_copy_at_once_or_soon, one_byte_too_far, ends_of_arrays]
)
def test_judged_in_every_mode(emulated: Any, body: Any, model: bool, data: str) -> None:
    emulated(body, model=model, data=data)
