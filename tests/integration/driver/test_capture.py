"""Stream capture: the graphs that it makes, and the calls that it forbids meanwhile."""

import ctypes
import struct
import threading
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest

Emulated = Callable[..., str]

PTX = (files("nvshare") / "lab" / "emulator" / "kernels.ptx").read_bytes()
U64, U32 = ctypes.c_uint64, ctypes.c_uint32
GLOBAL, THREAD_LOCAL, RELAXED = range(3)
NON_BLOCKING = 1
COUNT = 16


class Bench:
    """Two streams, memory, and work for them."""

    def __init__(self, cu: Any) -> None:
        self.cu = cu
        self.one, self.two = (cu.cuStreamCreate(NON_BLOCKING) for _ in range(2))
        module = cu.cuModuleLoadData(PTX)
        self.function = cu.cuModuleGetFunction(module, b"nvshare_fill_u32")
        self.data = cu.cuMemAlloc(COUNT * 4)
        cu.cuMemsetD8(self.data, 0, COUNT * 4)
        self.event = cu.cuEventCreate(0)

    def begin(self, stream: Any, mode: int = GLOBAL) -> None:
        self.cu.cuStreamBeginCapture(stream, self.cu.CUstreamCaptureMode(mode))

    def fill(self, stream: Any, value: int = 1) -> None:
        parameters = ((int(self.data), value, COUNT), (U64, U32, U64))
        self.cu.cuLaunchKernel(self.function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, 0)

    def status(self, stream: Any) -> str:
        status: str = self.cu.cuStreamIsCapturing(stream).name
        return status.removeprefix("CU_STREAM_CAPTURE_STATUS_")

    def end_invalidated(self, stream: Any) -> None:
        assert self.status(stream) == "INVALIDATED"
        assert self.cu.error("cuStreamEndCapture", stream) == "STREAM_CAPTURE_INVALIDATED"
        assert self.status(stream) == "NONE"

    def seen(self) -> tuple[int, ...]:
        return struct.unpack(f"<{COUNT}I", self.cu.read(self.data, COUNT * 4))


def in_thread(function: Callable[[], Any]) -> Any:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def captured_work_runs_when_launched(cu: Any) -> None:
    bench = Bench(cu)
    copy = cu.cuMemHostAlloc(COUNT * 4, 0)
    ctypes.memset(copy, 0, COUNT * 4)
    called: list[int] = []
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: called.append(data or 0))
    host = cu.CUhostFn(ctypes.cast(callback, ctypes.c_void_p).value)
    assert bench.status(bench.one) == "NONE"
    bench.begin(bench.one)
    assert bench.status(bench.one) == "ACTIVE"
    cu.cuMemsetD32Async(bench.data, 3, COUNT, bench.one)
    bench.fill(bench.one, 5)
    cu.cuMemcpyDtoHAsync(copy, bench.data, COUNT * 4, bench.one)
    cu.cuLaunchHostFunc(bench.one, host, 9)
    graph = cu.cuStreamEndCapture(bench.one)
    nodes, count = cu.cuGraphGetNodes(graph, 8)
    kinds = [cu.cuGraphNodeGetType(node).name.rsplit("_", 1)[1] for node in nodes[:count]]
    assert kinds == ["MEMSET", "KERNEL", "MEMCPY", "HOST"]
    assert cu.cuGraphGetEdges(graph, 0)[3] == 3
    box = cu.cuGraphMemcpyNodeGetParams(nodes[2])
    assert (int(box.srcDevice), int(box.dstHost), box.WidthInBytes) == (
        int(bench.data),
        int(copy),
        COUNT * 4,
    )
    executable = cu.cuGraphInstantiate(graph, 0)
    assert bench.seen() == (0,) * COUNT
    for _ in range(3):
        cu.cuGraphLaunch(executable, bench.two)
    cu.cuStreamSynchronize(bench.two)
    assert bench.seen() == (5,) * COUNT
    assert ctypes.string_at(copy, COUNT * 4) == struct.pack("<I", 5) * COUNT
    assert called == [9, 9, 9]


def waiting_for_a_captured_stream_invalidates(cu: Any) -> None:
    bench = Bench(cu)
    for call in ("cuStreamSynchronize", "cuStreamQuery"):
        bench.begin(bench.one)
        assert cu.error(call, bench.one) == "STREAM_CAPTURE_UNSUPPORTED"
        parameters = ((int(bench.data), 1, COUNT), (U64, U32, U64))
        launch = (bench.function, 1, 1, 1, 32, 1, 1, 0, bench.one, parameters, 0)
        assert cu.error("cuLaunchKernel", *launch) == "STREAM_CAPTURE_INVALIDATED"
        bench.end_invalidated(bench.one)
    bench.begin(bench.one)
    assert cu.error("cuCtxSynchronize") == "STREAM_CAPTURE_UNSUPPORTED"
    bench.end_invalidated(bench.one)
    bench.fill(bench.one)
    cu.cuStreamSynchronize(bench.one)


def captures_begin_and_end_in_pairs(cu: Any) -> None:
    bench = Bench(cu)
    mode = cu.CUstreamCaptureMode(GLOBAL)
    assert cu.error("cuStreamBeginCapture", 0, mode) == "STREAM_CAPTURE_UNSUPPORTED"
    assert cu.error("cuStreamEndCapture", bench.one) == "ILLEGAL_STATE"
    bench.begin(bench.one)
    assert cu.error("cuStreamBeginCapture", bench.one, mode) == "ILLEGAL_STATE"
    assert in_thread(lambda: cu.error("cuStreamEndCapture", bench.one)) == (
        "STREAM_CAPTURE_WRONG_THREAD"
    )
    cu.cuGraphDestroy(cu.cuStreamEndCapture(bench.one))
    bench.begin(bench.one, RELAXED)
    in_thread(lambda: cu.cuGraphDestroy(cu.cuStreamEndCapture(bench.one)))
    bench.begin(bench.one)
    cu.cuStreamDestroy(bench.one)
    bench.fill(bench.two)


def the_legacy_stream_waits_for_no_capture(cu: Any) -> None:
    bench = Bench(cu)
    bench.begin(bench.one)
    bench.fill(0)  # the captured stream is a non-blocking one
    cu.cuStreamSynchronize(0)
    cu.cuGraphDestroy(cu.cuStreamEndCapture(bench.one))
    blocking = cu.cuStreamCreate(0)
    bench.begin(blocking)
    assert cu.error("cuStreamIsCapturing", 0) == "STREAM_CAPTURE_IMPLICIT"
    assert bench.status(blocking) == "ACTIVE"
    assert cu.error("cuMemsetD8Async", bench.data, 0, 4, 0) == "STREAM_CAPTURE_IMPLICIT"
    bench.end_invalidated(blocking)
    bench.begin(blocking)
    assert cu.error("cuStreamSynchronize", 0) == "STREAM_CAPTURE_IMPLICIT"
    bench.end_invalidated(blocking)


def unsafe_calls_depend_on_the_modes(cu: Any) -> None:
    bench = Bench(cu)

    def allocate() -> str:
        return str(cu.error("cuMemAlloc", 512))

    unsupported = "STREAM_CAPTURE_UNSUPPORTED"
    for mode, here, elsewhere in (
        (GLOBAL, unsupported, unsupported),
        (THREAD_LOCAL, unsupported, "CUDA_SUCCESS"),
        (RELAXED, "CUDA_SUCCESS", "CUDA_SUCCESS"),
    ):

        def other() -> str:
            cu.cuCtxSetCurrent(cu.context)
            return allocate()

        for place, expected in ((allocate, here), (lambda: in_thread(other), elsewhere)):
            bench.begin(bench.one, mode)
            assert place() == expected
            if expected == unsupported:
                bench.end_invalidated(bench.one)
            else:
                cu.cuGraphDestroy(cu.cuStreamEndCapture(bench.one))
    bench.begin(bench.one)
    relaxed = cu.CUstreamCaptureMode(RELAXED)
    before = cu.cuThreadExchangeStreamCaptureMode(relaxed)
    assert allocate() == "CUDA_SUCCESS"
    assert cu.cuThreadExchangeStreamCaptureMode(before) == relaxed
    cu.cuGraphDestroy(cu.cuStreamEndCapture(bench.one))


def events_fork_and_join(cu: Any) -> None:
    bench = Bench(cu)
    joined = cu.cuEventCreate(0)
    bench.begin(bench.one)
    bench.fill(bench.one)
    cu.cuEventRecord(bench.event, bench.one)
    cu.cuStreamWaitEvent(bench.two, bench.event, 0)
    assert bench.status(bench.two) == "ACTIVE"
    bench.fill(bench.one)
    bench.fill(bench.two)
    assert cu.error("cuStreamEndCapture", bench.two) == "STREAM_CAPTURE_UNMATCHED"
    cu.cuEventRecord(joined, bench.two)
    cu.cuStreamWaitEvent(bench.one, joined, 0)
    bench.fill(bench.one)
    graph = cu.cuStreamEndCapture(bench.one)
    assert bench.status(bench.two) == "NONE"
    nodes, count = cu.cuGraphGetNodes(graph, 4)
    assert count == 4
    dependencies = [cu.cuGraphNodeGetDependencies(node, 0)[2] for node in nodes]
    assert dependencies == [0, 1, 1, 2]
    cu.cuGraphLaunch(cu.cuGraphInstantiate(graph, 0), bench.one)
    bench.fill(bench.two)
    cu.cuCtxSynchronize()


def what_was_forked_must_be_joined(cu: Any) -> None:
    bench = Bench(cu)
    bench.begin(bench.one)
    cu.cuEventRecord(bench.event, bench.one)
    cu.cuStreamWaitEvent(bench.two, bench.event, 0)
    bench.fill(bench.two)
    assert cu.error("cuStreamEndCapture", bench.one) == "STREAM_CAPTURE_UNJOINED"
    assert bench.status(bench.one) == bench.status(bench.two) == "NONE"


def events_do_not_cross_the_border(cu: Any) -> None:
    bench = Bench(cu)
    cu.cuEventRecord(bench.event, bench.two)
    bench.begin(bench.one)
    assert cu.error("cuStreamWaitEvent", bench.one, bench.event, 0) == "STREAM_CAPTURE_ISOLATION"
    bench.end_invalidated(bench.one)

    bench.begin(bench.one)
    cu.cuEventRecord(bench.event, bench.one)
    assert cu.error("cuEventQuery", bench.event) == "CAPTURED_EVENT"
    bench.end_invalidated(bench.one)
    assert cu.error("cuStreamWaitEvent", bench.two, bench.event, 0) == "CAPTURED_EVENT"
    cu.cuEventRecord(bench.event, bench.two)
    cu.cuEventSynchronize(bench.event)

    bench.begin(bench.one)
    bench.begin(bench.two)
    cu.cuEventRecord(bench.event, bench.one)
    assert cu.error("cuStreamWaitEvent", bench.two, bench.event, 0) == "STREAM_CAPTURE_MERGE"
    bench.end_invalidated(bench.one)
    bench.end_invalidated(bench.two)


def external_events_become_nodes(cu: Any) -> None:
    bench = Bench(cu)
    bench.begin(bench.one)
    cu.cuEventRecordWithFlags(bench.event, bench.one, 1)
    cu.cuStreamWaitEvent(bench.one, bench.event, 1)
    graph = cu.cuStreamEndCapture(bench.one)
    nodes, count = cu.cuGraphGetNodes(graph, 2)
    assert [cu.cuGraphNodeGetType(node).name[19:] for node in nodes[:count]] == [
        "EVENT_RECORD",
        "WAIT_EVENT",
    ]
    cu.cuGraphLaunch(cu.cuGraphInstantiate(graph, 0), bench.one)
    cu.cuEventSynchronize(bench.event)


def dependencies_can_be_seen_and_changed(cu: Any) -> None:
    bench = Bench(cu)
    bench.begin(bench.one)
    bench.fill(bench.one)
    status, identity, graph, dependencies, _, count = cu.cuStreamGetCaptureInfo(bench.one)
    assert (status.name, count) == ("CU_STREAM_CAPTURE_STATUS_ACTIVE", 1)
    first = dependencies[0]
    side = cu.cuGraphAddEmptyNode(graph, [], 0)
    edge = cu.CUgraphEdgeData()
    assert cu.error("cuGraphDestroy", graph) == "ILLEGAL_STATE"
    assert cu.error("cuGraphInstantiate", graph, 0) == "INVALID_VALUE"
    cu.cuStreamUpdateCaptureDependencies(bench.one, [side], [edge], 1, 0)
    assert cu.cuStreamGetCaptureInfo(bench.one)[5] == 2
    cu.cuStreamUpdateCaptureDependencies(bench.one, [side], [edge], 1, 1)
    bench.fill(bench.one)
    ended = cu.cuStreamEndCapture(bench.one)
    assert int(ended) == int(graph)
    last = cu.cuGraphGetNodes(graph, 3)[0][2]
    assert [int(node) for node in cu.cuGraphNodeGetDependencies(last, 1)[0]] == [int(side)]
    assert cu.cuGraphNodeGetDependentNodes(first, 0)[2] == 0
    update = (bench.one, [side], [edge], 1, 0)
    assert cu.error("cuStreamUpdateCaptureDependencies", *update) == "ILLEGAL_STATE"
    bench.begin(bench.one)
    bench.fill(bench.one)
    assert cu.cuStreamGetCaptureInfo(bench.one)[1] != identity
    cu.cuStreamEndCapture(bench.one)


def a_capture_can_go_into_a_graph(cu: Any) -> None:
    bench = Bench(cu)
    graph = cu.cuGraphCreate(0)
    before = cu.cuGraphAddEmptyNode(graph, [], 0)
    mode = cu.CUstreamCaptureMode(GLOBAL)
    edge = cu.CUgraphEdgeData()
    cu.cuStreamBeginCaptureToGraph(bench.one, graph, [before], [edge], 1, mode)
    bench.fill(bench.one, 4)
    assert int(cu.cuStreamEndCapture(bench.one)) == int(graph)
    assert cu.cuGraphGetEdges(graph, 0)[3] == 1
    cu.cuStreamBeginCaptureToGraph(bench.one, graph, [], [], 0, mode)
    cu.error("cuStreamSynchronize", bench.one)
    bench.end_invalidated(bench.one)
    assert cu.cuGraphGetNodes(graph, 0)[1] == 2  # still the program's


def a_launch_becomes_a_child_graph(cu: Any) -> None:
    bench = Bench(cu)
    bench.begin(bench.one)
    bench.fill(bench.one, 8)
    inner = cu.cuGraphInstantiate(cu.cuStreamEndCapture(bench.one), 0)
    bench.begin(bench.one)
    cu.cuGraphLaunch(inner, bench.one)
    outer = cu.cuStreamEndCapture(bench.one)
    (node,), _ = cu.cuGraphGetNodes(outer, 1)
    assert cu.cuGraphNodeGetType(node).name == "CU_GRAPH_NODE_TYPE_GRAPH"
    cu.cuGraphExecDestroy(inner)
    cu.cuGraphLaunch(cu.cuGraphInstantiate(outer, 0), bench.one)
    cu.cuStreamSynchronize(bench.one)
    assert bench.seen() == (8,) * COUNT


def memory_can_be_captured(cu: Any) -> None:
    bench = Bench(cu)
    free = cu.free()
    bench.begin(bench.one)
    address = cu.cuMemAllocAsync(4 << 20, bench.one)
    cu.cuMemsetD32Async(address, 6, COUNT, bench.one)
    cu.cuMemcpyDtoDAsync(bench.data, address, COUNT * 4, bench.one)
    cu.cuMemFreeAsync(address, bench.one)
    graph = cu.cuStreamEndCapture(bench.one)
    nodes, count = cu.cuGraphGetNodes(graph, 8)
    kinds = [cu.cuGraphNodeGetType(node).name[19:] for node in nodes[:count]]
    assert kinds == ["MEM_ALLOC", "MEMSET", "MEMCPY", "MEM_FREE"]
    assert int(cu.cuGraphMemFreeNodeGetParams(nodes[3])) == int(address)
    executable = cu.cuGraphInstantiate(graph, 0)
    for _ in range(2):
        cu.cuGraphLaunch(executable, bench.one)
        cu.cuStreamSynchronize(bench.one)
        assert bench.seen() == (6,) * COUNT
        cu.cuMemsetD8(bench.data, 0, COUNT * 4)
    cu.cuGraphExecDestroy(executable)
    cu.cuGraphDestroy(graph)
    cu.cuMemPoolTrimTo(cu.cuDeviceGetDefaultMemPool(cu.device), 0)
    assert cu.free() == free


@pytest.mark.parametrize(
    "body",
    [
        captured_work_runs_when_launched,
        waiting_for_a_captured_stream_invalidates,
        captures_begin_and_end_in_pairs,
        the_legacy_stream_waits_for_no_capture,
        unsafe_calls_depend_on_the_modes,
        events_fork_and_join,
        what_was_forked_must_be_joined,
        events_do_not_cross_the_border,
        external_events_become_nodes,
        dependencies_can_be_seen_and_changed,
        a_capture_can_go_into_a_graph,
        a_launch_becomes_a_child_graph,
        memory_can_be_captured,
    ],
)
def test_capture(emulated: Emulated, body: Callable[[Any], None]) -> None:
    emulated(body)
