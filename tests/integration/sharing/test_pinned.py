"""Memory that cannot leave the GPU is shown with the reason."""

import sys
from collections.abc import Callable

import pytest

from nvshare.launch.preload import Wishes
from nvshare.telemetry.snapshot import NodeStatus

from .conftest import Sharing

MIB = 1 << 20


def pinned(status: NodeStatus) -> dict[str, int]:
    return {
        name: size // MIB for client in status.clients for name, size in client.pinned_by.items()
    }


def test_reasons(share: Callable[..., Sharing]) -> None:
    sharing = share("2xtiny")
    guest = sharing.guest(Wishes(allocation="explicit"))
    assert guest.ask("gpu.init() or gpu.launch()") == 0
    assert guest.ask(f"gpu.alloc_async({8 * MIB})")[0] == 0
    assert guest.ask(f"gpu.array({4 * MIB})") == 0
    pool = guest.ask("gpu.make_exportable_pool()")
    assert guest.ask(f"gpu.export_pool({pool})") == 0
    assert guest.ask(f"gpu.alloc_async({16 * MIB}, {pool})")[0] == 0
    handle = guest.ask(f"gpu.make_handle({2 * MIB})")
    expected = {"arrays": 4, "pools": 16}
    status = sharing.until_status(lambda status: pinned(status) == expected)
    assert status.clients[0].pinned == 20 * MIB
    assert guest.ask(f"gpu.export_handle({handle})") == 0
    expected["exported"] = 2
    sharing.until_status(lambda status: pinned(status) == expected)
    # The next daemon is told, too.
    sharing.kill_daemon()
    sharing.start_daemon()
    sharing.until_status(lambda status: pinned(status) == expected)
    # With a second GPU everything stays.
    assert guest.ask("gpu.init(1) or gpu.launch()") == 0
    expected["several_gpus"] = 8
    sharing.until_status(lambda status: pinned(status) == expected)


def test_in_the_other_way(share: Callable[..., Sharing]) -> None:
    sharing = share("tiny")
    guest = sharing.guest(Wishes(allocation="managed"))
    assert guest.ask("gpu.init() or gpu.launch()") == 0
    pointer = guest.ask(f"gpu.alloc_async({8 * MIB})")[1]
    guest.ask(f"gpu.make_handle({2 * MIB})")
    sharing.until_status(lambda status: pinned(status) == {"pools": 8, "handles": 2})
    assert guest.ask(f"gpu.free_async({pointer})") == 0
    sharing.until_status(lambda status: pinned(status) == {"handles": 2})


# Launches a graph with 32 MiB of its own, after each line, beside 140 MiB; prints the result.
GRAPH = """
import sys
from cuda.bindings import driver

MIB = 1 << 20

def do(result):
    assert not result[0], result[0]
    return result[-1]

do(driver.cuInit(0))
do(driver.cuCtxSetCurrent(do(driver.cuDevicePrimaryCtxRetain(0))))
stream = do(driver.cuStreamCreate(1))
kept = do(driver.cuMemAlloc(140 * MIB))
mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
do(driver.cuStreamBeginCapture(stream, mode))
memory = do(driver.cuMemAllocAsync(32 * MIB, stream))
do(driver.cuMemsetD8Async(memory, 7, 32 * MIB, stream))
do(driver.cuMemcpyDtoDAsync(kept, memory, 4096, stream))
do(driver.cuMemFreeAsync(memory, stream))
graph = do(driver.cuGraphInstantiate(do(driver.cuStreamEndCapture(stream)), 0))
for line in sys.stdin:
    do(driver.cuMemsetD8(kept, 0, 4096))
    do(driver.cuGraphLaunch(graph, stream))
    do(driver.cuStreamSynchronize(stream))
    found = bytearray(4096)
    do(driver.cuMemcpyDtoH(found, kept, 4096))
    print(found == bytes([7]) * 4096, flush=True)
"""


@pytest.mark.parametrize("allocation", ["managed", "explicit"])
def test_memory_of_graphs_is_counted_and_stays(
    share: Callable[..., Sharing], allocation: str
) -> None:
    sharing = share("tiny", speed=20)
    wishes = Wishes(allocation=allocation)
    program = sharing.start(sys.executable, "-c", GRAPH, wishes=wishes)
    assert program.stdin is not None
    assert program.stdout is not None

    def launch() -> str:
        print("go", file=program.stdin, flush=True)
        return program.stdout.readline() if program.stdout else ""

    assert launch() == "True\n"
    status = sharing.until_status(lambda status: pinned(status) == {"graphs": 32})
    assert (status.clients[0].pinned, status.clients[0].allocated) == (32 * MIB, 172 * MIB)
    # NVML counts it too, and the daemon may have taken it for a part of the context at first.
    sharing.until_status(lambda status: status.clients[0].context < 16 * MIB)
    # Another program needs room. The next launch needs that of the graph, and finds it.
    other = sharing.guest(wishes)
    assert other.ask("gpu.init() or gpu.launch()") == 0
    assert other.ask(f"gpu.alloc({140 * MIB})")[0] == 0
    assert other.ask("gpu.touch(gpu.last.value) or gpu.sync()") == 0
    assert pinned(sharing.daemon().status()) == {"graphs": 32}
    assert launch() == "True\n"
    other.end()
