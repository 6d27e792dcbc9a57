"""Work that waits for the program: kernels that spin until memory changes, and host functions."""

import ctypes
import mmap
import struct
import threading
import time
from importlib.resources import files
from typing import Any

from tests.integration.driver.test_sharing import OPEN, in_another_process

Word = ctypes.c_uint64
NOT_READY = 600


def launch(cu: Any, name: str, stream: Any, *words: int) -> None:
    image = (files("nvshare") / "lab" / "emulator" / "kernels.ptx").read_bytes()
    function = cu.cuModuleGetFunction(cu.cuModuleLoadData(image), name.encode())
    values = [Word(word) for word in words]
    pointers = (ctypes.c_void_p * len(words))(*(ctypes.addressof(one) for one in values))
    cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, ctypes.addressof(pointers), 0)


def memory(cu: Any, size: int = 16) -> int:
    address = cu.cuMemAlloc(size)
    cu.cuMemsetD8(address, 0, size)
    return int(address)


def spins(cu: Any, stream: Any) -> bool:
    time.sleep(0.02)
    return int(cu.libcuda.cuStreamQuery(ctypes.c_void_p(int(stream)))) == NOT_READY


def a_copy_ends_it(cu: Any) -> None:
    own, other, word = cu.cuStreamCreate(1), cu.cuStreamCreate(1), memory(cu)
    launch(cu, "nvshare_await_u64", own, word, 5)
    assert spins(cu, own)
    cu.cuMemcpyHtoDAsync(word, struct.pack("Q", 4), 8, other)
    cu.cuStreamSynchronize(other)
    assert spins(cu, own)
    cu.cuMemcpyHtoDAsync(word, struct.pack("Q", 5), 8, other)
    cu.cuStreamSynchronize(own)


def a_memset_ends_it(cu: Any) -> None:
    own, other, word = cu.cuStreamCreate(1), cu.cuStreamCreate(1), memory(cu)
    launch(cu, "nvshare_await_u64", own, word, 1)
    assert spins(cu, own)
    cu.cuMemsetD8Async(word, 1, 1, other)
    cu.cuStreamSynchronize(own)


def another_kernel_ends_it(cu: Any) -> None:
    own, other, word = cu.cuStreamCreate(1), cu.cuStreamCreate(1), memory(cu)
    launch(cu, "nvshare_await_u64", own, word, 1)
    assert spins(cu, own)
    launch(cu, "nvshare_pattern_u64", other, word, 1, 1)
    cu.cuStreamSynchronize(own)


def another_gpu_ends_it(cu: Any) -> None:
    own, word = cu.cuStreamCreate(1), int(cu.cuMemAllocManaged(16, 1))
    cu.cuMemsetD8(word, 0, 16)
    launch(cu, "nvshare_await_u64", own, word, 1)
    assert spins(cu, own)
    cu.cuCtxSetCurrent(cu.cuDevicePrimaryCtxRetain(cu.cuDeviceGet(1)))
    cu.cuMemsetD8Async(word, 1, 1, cu.cuStreamCreate(1))
    cu.cuStreamSynchronize(own)


def a_word_on_another_gpu_is_as_good(cu: Any) -> None:
    first = cu.cuCtxGetCurrent()
    own = cu.cuStreamCreate(1)
    cu.cuCtxSetCurrent(cu.cuDevicePrimaryCtxRetain(cu.cuDeviceGet(1)))
    there, word = cu.cuStreamCreate(1), memory(cu)
    cu.cuCtxSetCurrent(first)
    launch(cu, "nvshare_await_u64", own, word, 1)
    assert spins(cu, own)
    cu.cuCtxSetCurrent(cu.cuDevicePrimaryCtxRetain(cu.cuDeviceGet(1)))
    cu.cuMemsetD8Async(word, 1, 1, there)
    cu.cuStreamSynchronize(own)


def kernels_meet(cu: Any) -> None:
    own, ranks = mmap.mmap(-1, mmap.PAGESIZE), 2
    host = ctypes.addressof(ctypes.c_char.from_buffer(own))
    cu.cuMemHostRegister(host, mmap.PAGESIZE, 2)
    words = int(cu.cuMemHostGetDevicePointer(host, 0))
    contexts = [cu.cuDevicePrimaryCtxRetain(cu.cuDeviceGet(gpu)) for gpu in range(ranks)]
    streams = []
    for context in contexts:
        cu.cuCtxSetCurrent(context)
        streams.append(cu.cuStreamCreate(1))
    for value in (1, 2):
        for rank in range(ranks):
            cu.cuCtxSetCurrent(contexts[rank])
            launch(cu, "nvshare_meet_u64", streams[rank], words, ranks, rank, value)
            assert rank or spins(cu, streams[rank])
        for stream in streams:
            cu.cuStreamSynchronize(stream)
        assert [Word.from_address(words + 8 * rank).value for rank in range(ranks)] == [value] * 2


def a_kernel_of_another_process_ends_it(cu: Any) -> None:
    own, word = cu.cuStreamCreate(1), memory(cu)
    handle = ctypes.string_at(cu.cuIpcGetMemHandle(word).getPtr(), 64)
    launch(cu, "nvshare_await_u64", own, word, 1)
    assert spins(cu, own)
    in_another_process(OPEN + "cu.cuMemsetD8(cu.cuIpcOpenMemHandle(handle, 1), 1, 1)", handle.hex())
    cu.cuStreamSynchronize(own)


def the_host_ends_it(cu: Any) -> None:
    own, host = cu.cuStreamCreate(1), int(cu.cuMemHostAlloc(8, 2))
    word = Word.from_address(host)
    word.value = 0
    launch(cu, "nvshare_await_u64", own, int(cu.cuMemHostGetDevicePointer(host, 0)), 1)
    assert spins(cu, own)
    word.value = 1
    cu.cuStreamSynchronize(own)


def a_kernel_serves_what_it_is_fed(cu: Any) -> None:
    own, feed, rounds = cu.cuStreamCreate(1), cu.cuStreamCreate(1), 20
    inbox, outbox = memory(cu), memory(cu)
    launch(cu, "nvshare_serve_u64", own, inbox, outbox, rounds)
    for number in range(1, rounds + 1):
        cu.cuMemcpyHtoDAsync(inbox + 8, struct.pack("Q", number), 8, feed)
        cu.cuMemcpyHtoDAsync(inbox, struct.pack("Q", number), 8, feed)
        taken = bytearray(8)
        while struct.unpack("Q", taken)[0] < number:
            cu.cuMemcpyDtoHAsync(taken, outbox, 8, feed)
            cu.cuStreamSynchronize(feed)
    cu.cuStreamSynchronize(own)
    assert struct.unpack("QQ", cu.read(outbox, 16)) == (rounds, rounds * (rounds + 1) // 2)


def a_graph_spins_too(cu: Any) -> None:
    own, other, word = cu.cuStreamCreate(1), cu.cuStreamCreate(1), memory(cu)
    cu.cuStreamBeginCapture(own, cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
    launch(cu, "nvshare_await_u64", own, word, 1)
    graph = cu.cuGraphInstantiate(cu.cuStreamEndCapture(own), 0)
    cu.cuGraphLaunch(graph, own)
    assert spins(cu, own)
    cu.cuMemsetD8Async(word, 1, 1, other)
    cu.cuStreamSynchronize(own)


def a_function_waits_for_another_thread_and_what_that_does(cu: Any) -> None:
    first, second = cu.cuStreamCreate(1), cu.cuStreamCreate(1)
    word, goes_on, seen = memory(cu), threading.Event(), []
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    wait = call(lambda _: seen.append(goes_on.wait(20)))
    cu.libcuda.cuLaunchHostFunc(ctypes.c_void_p(int(first)), wait, None)
    assert spins(cu, first)
    # The GPU works for the others meanwhile, whether or not a process polls it.
    host = int(cu.cuMemHostAlloc(8, 2))
    Word.from_address(host).value = 0
    cu.cuMemsetD8Async(word, 7, 1, second)
    cu.cuMemcpyDtoHAsync(host, word, 8, second)
    deadline = time.monotonic() + 20
    while Word.from_address(host).value != 7 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert Word.from_address(host).value == 7
    assert spins(cu, first)
    goes_on.set()
    cu.cuStreamSynchronize(first)
    assert seen == [True]


def it_costs_nothing_where_nothing_is_stored(cu: Any) -> None:
    own = cu.cuStreamCreate(1)
    launch(cu, "nvshare_await_u64", own, int(cu.cuMemAlloc(8)), 1)
    cu.cuStreamSynchronize(own)


def memory_that_goes_ends_it(cu: Any) -> None:
    word = int(cu.cuMemAlloc(8))
    cu.cuMemsetD8(word, 0, 8)
    launch(cu, "nvshare_await_u64", cu.cuStreamCreate(1), word + (1 << 40), 1)
    time.sleep(0.02)
    assert cu.error("cuCtxSynchronize") == "ILLEGAL_ADDRESS"


def test_what_ends_a_spinning_kernel(emulated: Any) -> None:
    emulated(a_copy_ends_it)
    emulated(a_memset_ends_it)
    emulated(another_kernel_ends_it)
    emulated(the_host_ends_it)
    emulated(another_gpu_ends_it, gpus="2xtiny")
    emulated(a_word_on_another_gpu_is_as_good, gpus="2xtiny")
    emulated(a_kernel_of_another_process_ends_it)
    emulated(a_graph_spins_too)


def test_kernels_that_wait_for_each_other(emulated: Any) -> None:
    emulated(kernels_meet, gpus="2xtiny")
    # The words are on the host, and are kept in any case.
    emulated(kernels_meet, gpus="2xtiny", data="off")


def test_a_kernel_that_is_fed(emulated: Any) -> None:
    emulated(a_kernel_serves_what_it_is_fed)


def test_a_host_function_that_waits(emulated: Any) -> None:
    emulated(a_function_waits_for_another_thread_and_what_that_does)


def test_without_data_it_spins_for_nothing(emulated: Any) -> None:
    emulated(it_costs_nothing_where_nothing_is_stored, data="off")


def test_a_word_that_is_not_there(emulated: Any) -> None:
    emulated(memory_that_goes_ends_it)
