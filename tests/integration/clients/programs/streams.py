"""Streams, events and callbacks: what waits for what."""

import ctypes
import threading
from typing import Any

from checked import begin, ok
from cuda.bindings import driver as cu
from named import Kernels, number

begin()
kernels = Kernels()
NON_BLOCKING = cu.CUstream_flags.CU_STREAM_NON_BLOCKING
Flags = cu.CUevent_flags
out = ok(cu.cuMemAlloc(64))

least, greatest = ok(cu.cuCtxGetStreamPriorityRange())
print("priorities:", least, greatest)
urgent = ok(cu.cuStreamCreateWithPriority(NON_BLOCKING, greatest))
print("priority kept:", ok(cu.cuStreamGetPriority(urgent)) == greatest)
print("flags kept:", ok(cu.cuStreamGetFlags(urgent)) == NON_BLOCKING.value)
first = ok(cu.cuStreamCreate(NON_BLOCKING))
second = ok(cu.cuStreamCreate(NON_BLOCKING))
print("own numbers:", ok(cu.cuStreamGetId(first)) != ok(cu.cuStreamGetId(second)))
own = ok(cu.cuCtxGetCurrent())
print("belongs to the context:", int(ok(cu.cuStreamGetCtx(first))) == int(own))

# A function on the host keeps a stream from going on until the program says so.
opened = threading.Event()


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def wait_for_gate(_argument: int) -> None:
    opened.wait(20)


gate = cu.CUhostFn(ctypes.cast(wait_for_gate, ctypes.c_void_p).value)


def close(stream: Any) -> None:
    opened.clear()
    ok(cu.cuLaunchHostFunc(stream, gate, 0))


# An event measures the work between, and only that.
begun, done = ok(cu.cuEventCreate(0)), ok(cu.cuEventCreate(0))
print("never recorded:", cu.cuEventQuery(begun)[0].name)
close(first)
ok(cu.cuEventRecord(begun, first))
kernels.launch("spin", 200_000, stream=first)
ok(cu.cuEventRecord(done, first))
print("stream is pending:", cu.cuStreamQuery(first)[0].name)
print("event is pending:", cu.cuEventQuery(done)[0].name)
print("too early to measure:", cu.cuEventElapsedTime(begun, done)[0].name)
opened.set()
ok(cu.cuEventSynchronize(done))
print("event is done:", cu.cuEventQuery(done)[0].name)
print("stream is done:", cu.cuStreamQuery(first)[0].name)
print("took its 200 ms:", ok(cu.cuEventElapsedTime(begun, done)) > 199)
untimed = ok(cu.cuEventCreate(Flags.CU_EVENT_DISABLE_TIMING))
ok(cu.cuEventRecord(untimed, first))
ok(cu.cuEventSynchronize(untimed))
print("no timing:", cu.cuEventElapsedTime(begun, untimed)[0].name)

# One stream waits for another: without the wait, the sum would be taken before the fill.
data = ok(cu.cuMemAlloc(4000))
ok(cu.cuMemsetD8(data, 0, 4000))
ok(cu.cuMemsetD8(out, 0, 64))
close(first)
kernels.launch("fill_u32", data, 3, 1000, stream=first)
ok(cu.cuEventRecord(done, first))
ok(cu.cuStreamWaitEvent(second, done, 0))
kernels.launch("sum_u32", data, out, 1000, stream=second)
opened.set()
ok(cu.cuStreamSynchronize(second))
print("waited for the fill:", number(out))

# The default stream waits for ordinary streams, and they for it.
blocking = ok(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_DEFAULT))
close(blocking)
kernels.launch("fill_u32", data, 5, 1000, stream=blocking)
ok(cu.cuMemsetD8Async(out, 0, 64, 0))
kernels.launch("sum_u32", data, out, 1000, stream=0)
ok(cu.cuMemcpyDtoDAsync(int(out) + 8, out, 8, blocking))
opened.set()
ok(cu.cuStreamSynchronize(blocking))
print("the default stream is in between:", number(out), number(int(out) + 8))

# The default stream of a thread does not wait for that of another.
close(first)
kernels.launch("fill_u32", data, 7, 1000, stream=cu.CU_STREAM_PER_THREAD)
ok(cu.cuStreamSynchronize(cu.CU_STREAM_PER_THREAD))
print("its own stream did not wait:", cu.cuStreamQuery(first)[0].name)
opened.set()
ok(cu.cuCtxSynchronize())
print("everything is done:", cu.cuStreamQuery(first)[0].name)

# Functions on the host, in the order of their stream.
calls: list[str] = []
finished = threading.Event()


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def host_function(argument: int) -> None:
    calls.append(f"function {argument}")


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
def callback(_stream: int, status: int, argument: int) -> None:
    calls.append(f"callback {argument} with status {status}")
    finished.set()


function = cu.CUhostFn(ctypes.cast(host_function, ctypes.c_void_p).value)
last = cu.CUstreamCallback(ctypes.cast(callback, ctypes.c_void_p).value)
for turn in (1, 2, 3):
    kernels.launch("spin", 1000, stream=first)
    ok(cu.cuLaunchHostFunc(first, function, turn))
ok(cu.cuStreamAddCallback(first, last, 4, 0))
ok(cu.cuStreamSynchronize(first))
finished.wait(10)
print("called:", calls)

# A value in memory that another stream waits for.
word = ok(cu.cuMemAlloc(4))
ok(cu.cuMemsetD8(word, 0, 4))
wait = cu.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_GEQ
ok(cu.cuStreamWaitValue32(second, word, 9, wait))
kernels.launch("fill_u32", data, 11, 1, stream=second)
print("waits for the value:", cu.cuStreamQuery(second)[0].name)
ok(cu.cuStreamWriteValue32(first, word, 10, 0))
ok(cu.cuStreamSynchronize(second))
print("got the value:", number(data) % 2**32)

for stream in (urgent, first, second, blocking):
    ok(cu.cuStreamDestroy(stream))
for event in (begun, done, untimed):
    ok(cu.cuEventDestroy(event))
