"""Graphs built by hand: nodes, edges, executable graphs, as ``cuda.bindings.driver`` sees them."""

import ctypes
import struct
import threading
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

Emulated = Callable[..., str]

PTX = (files("nvshare") / "lab" / "emulator" / "kernels.ptx").read_bytes()
U64, U32 = ctypes.c_uint64, ctypes.c_uint32
COUNT = 16


def words(value: int) -> bytes:
    return struct.pack("<I", value) * COUNT


def handles(nodes: Any) -> list[int]:
    return [int(node) for node in nodes]


class Bench:
    """A stream, memory, and nodes with a visible effect on it."""

    def __init__(self, cu: Any) -> None:
        self.cu = cu
        self.stream = cu.cuStreamCreate(1)
        self.module = cu.cuModuleLoadData(PTX)
        self.fill = cu.cuModuleGetFunction(self.module, b"nvshare_fill_u32")
        self.data = cu.cuMemAlloc(COUNT * 4)
        self.copy = cu.cuMemAlloc(COUNT * 4)
        cu.cuMemsetD8(self.data, 0, COUNT * 4)
        cu.cuMemsetD8(self.copy, 0, COUNT * 4)

    def kernel(self, value: int, address: Any = None) -> Any:
        params = self.cu.CUDA_KERNEL_NODE_PARAMS()
        params.func = self.fill
        params.gridDimX = params.gridDimY = params.gridDimZ = 1
        params.blockDimX, params.blockDimY, params.blockDimZ = 32, 1, 1
        target = int(self.data if address is None else address)
        params.kernelParams = ((target, value, COUNT), (U64, U32, U64))
        return params

    def memset(self, value: int) -> Any:
        params = self.cu.CUDA_MEMSET_NODE_PARAMS()
        params.dst, params.value, params.elementSize = self.data, value, 4
        params.width, params.height, params.pitch = COUNT, 1, 0
        return params

    def memcpy(self) -> Any:
        device = self.cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
        box = self.cu.CUDA_MEMCPY3D()
        box.srcMemoryType, box.srcDevice = device, self.data
        box.dstMemoryType, box.dstDevice = device, self.copy
        box.WidthInBytes, box.Height, box.Depth = COUNT * 4, 1, 1
        return box

    def run(self, executable: Any) -> None:
        self.cu.cuGraphLaunch(executable, self.stream)
        self.cu.cuStreamSynchronize(self.stream)

    def see(self, address: Any = None) -> bytes:
        seen: bytes = self.cu.read(self.data if address is None else address, COUNT * 4)
        return seen


def nodes_and_edges_can_be_asked_for(cu: Any) -> None:
    graph = cu.cuGraphCreate(0)
    first = cu.cuGraphAddEmptyNode(graph, [], 0)
    second = cu.cuGraphAddEmptyNode(graph, [first], 1)
    third = cu.cuGraphAddEmptyNode(graph, [first], 1)
    last = cu.cuGraphAddEmptyNode(graph, [second, third], 2)
    assert cu.cuGraphGetNodes(graph, 0)[1] == 4
    nodes, count = cu.cuGraphGetNodes(graph, 6)
    assert count == 4
    assert handles(nodes)[:4] == handles([first, second, third, last])
    assert handles(cu.cuGraphGetRootNodes(graph, 1)[0]) == [int(first)]
    assert handles(cu.cuGraphNodeGetDependencies(last, 2)[0]) == handles([second, third])
    assert handles(cu.cuGraphNodeGetDependentNodes(first, 2)[0]) == handles([second, third])
    from_, to, _, count = cu.cuGraphGetEdges(graph, 4)
    assert count == 4
    edges = set(zip(handles(from_), handles(to), strict=True))
    assert (int(third), int(last)) in edges

    twice = (graph, [first, first], 2)
    assert cu.error("cuGraphAddEmptyNode", *twice) == "INVALID_VALUE"
    other = cu.cuGraphCreate(0)
    assert cu.error("cuGraphAddEmptyNode", other, [first], 1) == "INVALID_VALUE"
    edge = cu.CUgraphEdgeData()
    assert cu.error("cuGraphAddDependencies", graph, [first], [second], [edge], 1) == (
        "INVALID_VALUE"
    )
    cu.cuGraphRemoveDependencies(graph, [third], [last], [edge], 1)
    assert cu.cuGraphGetEdges(graph, 0)[3] == 3
    cu.cuGraphDestroyNode(second)
    assert cu.cuGraphGetNodes(graph, 0)[1] == 3
    assert cu.cuGraphGetEdges(graph, 0)[3] == 1
    cu.cuGraphDestroy(graph)
    cu.cuGraphDestroy(other)


def a_cycle_cannot_be_instantiated(cu: Any) -> None:
    graph = cu.cuGraphCreate(0)
    cu.cuGraphAddEmptyNode(graph, [], 0)
    first = cu.cuGraphAddEmptyNode(graph, [], 0)
    second = cu.cuGraphAddEmptyNode(graph, [first], 1)
    edge = cu.CUgraphEdgeData()
    cu.cuGraphAddDependencies(graph, [second], [first], [edge], 1)
    params = cu.CUDA_GRAPH_INSTANTIATE_PARAMS()
    assert cu.error("cuGraphInstantiateWithParams", graph, params) == "INVALID_VALUE"
    cu.cuGraphRemoveDependencies(graph, [second], [first], [edge], 1)
    executable = cu.cuGraphInstantiate(graph, 0)
    cu.cuGraphExecDestroy(executable)


def the_order_of_the_edges_is_kept(cu: Any) -> None:
    bench = Bench(cu)
    graph = cu.cuGraphCreate(0)
    # Created in the order 3, 1, 2 and run in the order 1, 2, 3.
    copy = cu.cuGraphAddMemcpyNode(graph, [], 0, bench.memcpy(), cu.context)
    clear = cu.cuGraphAddMemsetNode(graph, [], 0, bench.memset(1), cu.context)
    fill = cu.cuGraphAddKernelNode(graph, [clear], 1, bench.kernel(5))
    cu.cuGraphAddDependencies(graph, [fill], [copy], [cu.CUgraphEdgeData()], 1)
    executable = cu.cuGraphInstantiate(graph, 0)
    assert bench.see() == bytes(COUNT * 4)
    bench.run(executable)
    assert bench.see() == words(5)
    assert bench.see(bench.copy) == words(5)
    types = [cu.cuGraphNodeGetType(node) for node in (copy, clear, fill)]
    assert [kind.name.removeprefix("CU_GRAPH_NODE_TYPE_") for kind in types] == [
        "MEMCPY",
        "MEMSET",
        "KERNEL",
    ]


def parameters_can_be_read_and_changed(cu: Any) -> None:
    bench = Bench(cu)
    graph = cu.cuGraphCreate(0)
    fill = cu.cuGraphAddKernelNode(graph, [], 0, bench.kernel(5))
    read = cu.cuGraphKernelNodeGetParams(fill)
    assert int(read.func) == int(bench.fill)
    assert (read.gridDimX, read.blockDimX, read.sharedMemBytes) == (1, 32, 0)
    arguments = ctypes.cast(int(read.kernelParams), ctypes.POINTER(ctypes.c_void_p))
    assert ctypes.cast(arguments[1], ctypes.POINTER(U32))[0] == 5
    executable = cu.cuGraphInstantiate(graph, 0)
    cu.cuGraphKernelNodeSetParams(fill, bench.kernel(6))
    bench.run(executable)
    assert bench.see() == words(5)  # the instantiated graph is a copy
    cu.cuGraphExecKernelNodeSetParams(executable, fill, bench.kernel(7))
    bench.run(executable)
    assert bench.see() == words(7)
    bad = bench.kernel(7)
    bad.blockDimX = 5000
    assert cu.error("cuGraphKernelNodeSetParams", fill, bad) == "INVALID_VALUE"

    clear = cu.cuGraphAddMemsetNode(graph, [fill], 1, bench.memset(1), cu.context)
    assert cu.error("cuGraphKernelNodeGetParams", clear) == "INVALID_VALUE"
    assert cu.cuGraphMemsetNodeGetParams(clear).value == 1
    copy = cu.cuGraphAddMemcpyNode(graph, [clear], 1, bench.memcpy(), cu.context)
    assert int(cu.cuGraphMemcpyNodeGetParams(copy).srcDevice) == int(bench.data)
    executable = cu.cuGraphInstantiate(graph, 0)
    cu.cuGraphExecMemsetNodeSetParams(executable, clear, bench.memset(2), cu.context)
    bench.run(executable)
    assert bench.see(bench.copy) == words(2)
    cu.cuGraphNodeSetEnabled(executable, clear, 0)
    assert cu.cuGraphNodeGetEnabled(executable, clear) == 0
    bench.run(executable)
    assert bench.see(bench.copy) == words(6)
    wild = bench.memset(1)
    wild.width = 1 << 30
    assert cu.error("cuGraphMemsetNodeSetParams", clear, wild) == "INVALID_VALUE"


def attributes_of_kernel_nodes_are_kept(cu: Any) -> None:
    bench = Bench(cu)
    graph = cu.cuGraphCreate(0)
    first = cu.cuGraphAddKernelNode(graph, [], 0, bench.kernel(5))
    second = cu.cuGraphAddKernelNode(graph, [], 0, bench.kernel(5))
    priority = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY
    value = cu.CUkernelNodeAttrValue()
    value.priority = -3
    cu.cuGraphKernelNodeSetAttribute(first, priority, value)
    cu.cuGraphKernelNodeCopyAttributes(second, first)
    assert cu.cuGraphKernelNodeGetAttribute(second, priority).priority == -3


def host_functions_run_in_their_place(cu: Any) -> None:
    bench = Bench(cu)
    seen: list[int] = []
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: seen.append(data or 0))
    params = cu.CUDA_HOST_NODE_PARAMS()
    params.fn = ctypes.cast(callback, ctypes.c_void_p).value
    params.userData = 11
    graph = cu.cuGraphCreate(0)
    node = cu.cuGraphAddHostNode(graph, [], 0, params)
    executable = cu.cuGraphInstantiate(graph, 0)
    bench.run(executable)
    params.userData = 12
    cu.cuGraphExecHostNodeSetParams(executable, node, params)
    bench.run(executable)
    assert seen == [11, 12]


def events_can_be_nodes(cu: Any) -> None:
    bench = Bench(cu)
    spin = cu.cuModuleGetFunction(bench.module, b"nvshare_spin")
    params = bench.kernel(0)
    params.func, params.kernelParams = spin, ((20_000_000,), (U64,))
    begin, end = cu.cuEventCreate(0), cu.cuEventCreate(0)
    graph = cu.cuGraphCreate(0)
    first = cu.cuGraphAddEventRecordNode(graph, [], 0, begin)
    work = cu.cuGraphAddKernelNode(graph, [first], 1, params)
    last = cu.cuGraphAddEventRecordNode(graph, [work], 1, end)
    cu.cuGraphAddEventWaitNode(graph, [last], 1, begin)
    assert int(cu.cuGraphEventRecordNodeGetEvent(last)) == int(end)
    bench.run(cu.cuGraphInstantiate(graph, 0))
    assert 20_000 <= cu.cuEventElapsedTime(begin, end) < 21_000


def child_graphs_are_copies(cu: Any) -> None:
    bench = Bench(cu)
    child = cu.cuGraphCreate(0)
    inner = cu.cuGraphAddKernelNode(child, [], 0, bench.kernel(5))
    graph = cu.cuGraphCreate(0)
    node = cu.cuGraphAddChildGraphNode(graph, [], 0, child)
    cu.cuGraphAddMemcpyNode(graph, [node], 1, bench.memcpy(), cu.context)
    embedded = cu.cuGraphChildGraphNodeGetGraph(node)
    assert int(embedded) != int(child)
    assert cu.error("cuGraphDestroy", embedded) == "INVALID_VALUE"
    inside = cu.cuGraphNodeFindInClone(inner, embedded)
    cu.cuGraphKernelNodeSetParams(inner, bench.kernel(6))
    executable = cu.cuGraphInstantiate(graph, 0)
    bench.run(executable)
    assert bench.see(bench.copy) == words(5)
    cu.cuGraphExecKernelNodeSetParams(executable, inside, bench.kernel(8))
    bench.run(executable)
    assert bench.see(bench.copy) == words(8)
    cu.cuGraphExecChildGraphNodeSetParams(executable, node, child)
    bench.run(executable)
    assert bench.see(bench.copy) == words(6)
    cu.cuGraphAddEmptyNode(child, [], 0)
    changed = (executable, node, child)
    assert cu.error("cuGraphExecChildGraphNodeSetParams", *changed) == "GRAPH_EXEC_UPDATE_FAILURE"


def clones_know_their_originals(cu: Any) -> None:
    bench = Bench(cu)
    graph = cu.cuGraphCreate(0)
    clear = cu.cuGraphAddMemsetNode(graph, [], 0, bench.memset(3), cu.context)
    copy = cu.cuGraphAddMemcpyNode(graph, [clear], 1, bench.memcpy(), cu.context)
    clone = cu.cuGraphClone(graph)
    mine = cu.cuGraphNodeFindInClone(copy, clone)
    assert int(mine) != int(copy)
    assert int(cu.cuGraphNodeGetDependencies(mine, 1)[0][0]) == int(
        cu.cuGraphNodeFindInClone(clear, clone)
    )
    cu.cuGraphDestroy(graph)
    bench.run(cu.cuGraphInstantiate(clone, 0))
    assert bench.see(bench.copy) == words(3)


def an_executable_graph_is_updated_as_a_whole(cu: Any) -> None:
    bench = Bench(cu)

    def build(value: int, extra: bool = False, linked: bool = True) -> Any:
        graph = cu.cuGraphCreate(0)
        fill = cu.cuGraphAddKernelNode(graph, [], 0, bench.kernel(value))
        after = [fill] if linked else []
        cu.cuGraphAddMemcpyNode(graph, after, len(after), bench.memcpy(), cu.context)
        if extra:
            cu.cuGraphAddEmptyNode(graph, [], 0)
        return graph

    def refusal(graph: Any) -> str:
        # The bindings do not return the reason when there is one.
        info = (ctypes.c_uint64 * 3)()
        arguments = ctypes.c_void_p(int(executable)), ctypes.c_void_p(int(graph)), info
        failure = cu.CUresult.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
        assert cu.libcuda.cuGraphExecUpdate_v2(*arguments) == failure
        reason = cu.CUgraphExecUpdateResult(info[0] & 0xFFFFFFFF)
        return str(reason.name.removeprefix("CU_GRAPH_EXEC_UPDATE_ERROR_"))

    executable = cu.cuGraphInstantiate(build(5), 0)
    cu.cuGraphExecUpdate(executable, build(9))
    bench.run(executable)
    assert bench.see(bench.copy) == words(9)
    assert refusal(build(4, extra=True)) == "TOPOLOGY_CHANGED"
    assert refusal(build(4, linked=False)) == "TOPOLOGY_CHANGED"
    other = cu.cuGraphCreate(0)
    fill = cu.cuGraphAddMemsetNode(other, [], 0, bench.memset(1), cu.context)
    cu.cuGraphAddMemcpyNode(other, [fill], 1, bench.memcpy(), cu.context)
    assert refusal(other) == "NODE_TYPE_CHANGED"
    bench.run(executable)
    assert bench.see(bench.copy) == words(9)


def memory_of_a_graph_lasts_as_long_as_it(cu: Any) -> None:
    bench = Bench(cu)
    free = cu.free()
    graph = cu.cuGraphCreate(0)
    params = cu.CUDA_MEM_ALLOC_NODE_PARAMS()
    params.poolProps.allocType = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    params.poolProps.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    params.poolProps.location.id = 0
    params.bytesize = 4 << 20
    take = cu.cuGraphAddMemAllocNode(graph, [], 0, params)
    address = int(params.dptr)
    assert address
    assert cu.cuGraphMemAllocNodeGetParams(take).bytesize == 4 << 20
    fill = cu.cuGraphAddKernelNode(graph, [take], 1, bench.kernel(5, address))
    assert cu.error("cuGraphClone", graph) == "NOT_SUPPORTED"
    unfreed = cu.cuGraphInstantiate(graph, 0)
    bench.run(unfreed)
    assert bench.see(address) == words(5)
    assert cu.error("cuGraphLaunch", unfreed, bench.stream) == "INVALID_VALUE"
    cu.cuMemFreeAsync(address, bench.stream)
    bench.run(unfreed)
    cu.cuMemFreeAsync(address, bench.stream)
    automatic = cu.cuGraphInstantiate(graph, 1)
    bench.run(automatic)
    bench.run(automatic)
    cu.cuMemFreeAsync(address, bench.stream)

    cu.cuGraphAddMemFreeNode(graph, [fill], 1, address)
    freed = cu.cuGraphInstantiate(graph, 0)
    bench.run(freed)
    bench.run(freed)
    cu.cuStreamSynchronize(bench.stream)
    for executable in (unfreed, automatic, freed):
        cu.cuGraphExecDestroy(executable)
    assert cu.free() == free - (4 << 20)
    cu.cuGraphDestroy(graph)
    assert cu.free() == free


def memory_of_a_graph_that_is_trimmed_comes_back_with_a_launch(cu: Any) -> None:
    bench = Bench(cu)
    graph = cu.cuGraphCreate(0)
    params = cu.CUDA_MEM_ALLOC_NODE_PARAMS()
    params.poolProps.allocType = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    params.poolProps.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    params.bytesize = 4 << 20
    before = cu.free()
    take = cu.cuGraphAddMemAllocNode(graph, [], 0, params)
    address = int(params.dptr)
    cu.cuGraphAddKernelNode(graph, [take], 1, bench.kernel(5, address))
    executable = cu.cuGraphInstantiate(graph, 0)
    bench.run(executable)
    cu.cuDeviceGraphMemTrim(0)  # it is in use
    assert (cu.free(), bench.see(address)) == (before - (4 << 20), words(5))
    cu.cuMemFreeAsync(address, bench.stream)
    cu.cuStreamSynchronize(bench.stream)
    reserved = cu.CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT
    for kept in (4 << 20, 0, 0):
        assert int(cu.cuDeviceGetGraphMemAttribute(0, reserved)) == kept
        assert cu.free() == before - kept
        cu.cuDeviceGraphMemTrim(0)
    everything = cu.cuMemAlloc(cu.free() - (2 << 20))
    assert cu.error("cuGraphLaunch", executable, bench.stream) == "OUT_OF_MEMORY"
    cu.cuMemFree(everything)
    bench.run(executable)
    assert (cu.free(), bench.see(address)) == (before - (4 << 20), words(5))
    cu.cuMemFreeAsync(address, bench.stream)
    cu.cuStreamSynchronize(bench.stream)
    cu.cuDeviceGraphMemTrim(0)
    cu.cuGraphExecDestroy(executable)
    cu.cuGraphDestroy(graph)
    assert cu.free() == before


def user_objects_outlive_the_launches(cu: Any) -> None:
    bench = Bench(cu)
    gone = threading.Event()
    destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: gone.set())
    function = cu.CUhostFn(ctypes.cast(destroy, ctypes.c_void_p).value)
    thing = cu.cuUserObjectCreate(5, function, 1, 1)
    graph = cu.cuGraphCreate(0)
    params = bench.kernel(0)
    params.func = cu.cuModuleGetFunction(bench.module, b"nvshare_spin")
    params.kernelParams = ((100_000_000,), (U64,))
    cu.cuGraphAddKernelNode(graph, [], 0, params)
    cu.cuGraphRetainUserObject(graph, thing, 1, 1)  # moves the reference
    assert cu.error("cuGraphReleaseUserObject", graph, thing, 2) == "INVALID_VALUE"
    executable = cu.cuGraphInstantiate(graph, 0)
    cu.cuGraphDestroy(graph)
    cu.cuGraphLaunch(executable, bench.stream)
    cu.cuGraphExecDestroy(executable)
    assert not gone.is_set()
    cu.cuStreamSynchronize(bench.stream)
    assert gone.wait(10)


def any_node_can_be_added_by_one_function(cu: Any) -> None:
    bench = Bench(cu)
    kinds = cu.CUgraphNodeType
    graph = cu.cuGraphCreate(0)
    params = cu.CUgraphNodeParams()
    params.type = kinds.CU_GRAPH_NODE_TYPE_MEMSET
    params.memset.dst, params.memset.value, params.memset.elementSize = bench.data, 4, 4
    params.memset.width, params.memset.height = COUNT, 1
    node = cu.cuGraphAddNode(graph, None, None, 0, params)
    executable = cu.cuGraphInstantiate(graph, 0)
    bench.run(executable)
    assert bench.see() == words(4)
    params.memset.value = 6
    cu.cuGraphExecNodeSetParams(executable, node, params)
    bench.run(executable)
    assert bench.see() == words(6)
    child = cu.CUgraphNodeParams()
    child.type = kinds.CU_GRAPH_NODE_TYPE_GRAPH
    child.graph.graph = cu.cuGraphCreate(0)
    child.graph.ownership = cu.CUgraphChildGraphNodeOwnership.CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE
    moved = cu.cuGraphAddNode(graph, None, None, 0, child)
    assert int(cu.cuGraphChildGraphNodeGetGraph(moved)) == int(child.graph.graph)
    assert cu.error("cuGraphDestroy", child.graph.graph) == "INVALID_VALUE"
    child.graph.graph = graph
    inner = cu.cuGraphChildGraphNodeGetGraph(moved)
    assert cu.error("cuGraphAddNode", inner, None, None, 0, child) == "INVALID_VALUE"
    conditional = cu.CUgraphNodeParams()
    conditional.type = kinds.CU_GRAPH_NODE_TYPE_CONDITIONAL
    assert cu.error("cuGraphAddNode", graph, None, None, 0, conditional) == "NOT_SUPPORTED"


def launches_of_one_graph_never_overlap(cu: Any) -> None:
    bench = Bench(cu)
    other = cu.cuStreamCreate(1)
    params = bench.kernel(0)
    params.func = cu.cuModuleGetFunction(bench.module, b"nvshare_spin")
    params.kernelParams = ((300_000,), (U64,))
    graph = cu.cuGraphCreate(0)
    cu.cuGraphAddKernelNode(graph, [], 0, params)
    executable = cu.cuGraphInstantiate(graph, 0)
    begin, middle, end = (cu.cuEventCreate(0) for _ in range(3))
    cu.cuEventRecord(begin, bench.stream)
    cu.cuGraphLaunch(executable, bench.stream)
    cu.cuEventRecord(middle, bench.stream)
    cu.cuGraphLaunch(executable, other)
    cu.cuEventRecord(end, other)
    cu.cuEventSynchronize(end)
    assert cu.cuEventElapsedTime(middle, end) >= 299


def a_graph_can_be_drawn(cu: Any) -> None:
    bench = Bench(cu)
    graph = cu.cuGraphCreate(0)
    fill = cu.cuGraphAddKernelNode(graph, [], 0, bench.kernel(5))
    cu.cuGraphAddEmptyNode(graph, [fill], 1)
    path = Path("/dev/shm") / f"nvshare-test-{int(fill)}.dot"
    try:
        cu.cuGraphDebugDotPrint(graph, str(path).encode(), 0)
        text = path.read_text()
    finally:
        path.unlink(missing_ok=True)
    assert "nvshare_fill_u32" in text
    assert text.count("->") == 1


@pytest.mark.parametrize(
    "body",
    [
        nodes_and_edges_can_be_asked_for,
        a_cycle_cannot_be_instantiated,
        the_order_of_the_edges_is_kept,
        parameters_can_be_read_and_changed,
        attributes_of_kernel_nodes_are_kept,
        host_functions_run_in_their_place,
        events_can_be_nodes,
        child_graphs_are_copies,
        clones_know_their_originals,
        an_executable_graph_is_updated_as_a_whole,
        memory_of_a_graph_lasts_as_long_as_it,
        memory_of_a_graph_that_is_trimmed_comes_back_with_a_launch,
        user_objects_outlive_the_launches,
        any_node_can_be_added_by_one_function,
        launches_of_one_graph_never_overlap,
        a_graph_can_be_drawn,
    ],
)
def test_graphs(emulated: Emulated, body: Callable[[Any], None]) -> None:
    emulated(body)
