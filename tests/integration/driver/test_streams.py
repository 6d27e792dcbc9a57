"""Programs that make more streams than there are queues, as frameworks do."""

from typing import Any

MIB = 1 << 20
STREAMS = 300


def make_streams(cu: Any) -> list[Any]:
    return [cu.cuStreamCreateWithPriority(1, -(number % 4)) for number in range(STREAMS)]


def every_stream_does_its_work_on_both_gpus(cu: Any) -> None:
    contexts = [cu.context, cu.cuDevicePrimaryCtxRetain(cu.cuDeviceGet(1))]
    for context in contexts:
        cu.cuCtxSetCurrent(context)
        streams = make_streams(cu)
        memory = cu.cuMemAlloc(STREAMS)
        for number, stream in enumerate(streams):
            cu.cuMemsetD8Async(int(memory) + number, number % 251, 1, stream)
        cu.cuCtxSynchronize()
        assert cu.read(memory, STREAMS) == bytes(number % 251 for number in range(STREAMS))


def a_priority_keeps_its_own_queues(cu: Any) -> None:
    memory = cu.cuMemAlloc(16 * MIB)
    low = [cu.cuStreamCreateWithPriority(1, 0) for _ in range(STREAMS)]
    high = cu.cuStreamCreateWithPriority(1, -4)
    ends = [cu.cuEventCreate(0), cu.cuEventCreate(0)]
    for stream in low:
        cu.cuMemsetD8Async(memory, 1, 16 * MIB, stream)
    cu.cuMemsetD8Async(memory, 2, 1, high)
    cu.cuEventRecord(ends[0], high)
    cu.cuEventRecord(ends[1], low[-1])
    cu.cuCtxSynchronize()
    # In a queue with others it would have had to wait for some of them.
    assert cu.cuEventElapsedTime(*ends) > 0


def test_more_streams_than_queues(emulated: Any) -> None:
    emulated(every_stream_does_its_work_on_both_gpus, gpus="2xtiny")


def test_priorities(emulated: Any) -> None:
    # Slow enough that all is submitted before any of it is done.
    emulated(a_priority_keeps_its_own_queues, speed=0.05, data="off")
