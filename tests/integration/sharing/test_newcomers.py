"""Contexts on a GPU that is full of memory which the driver cannot push out."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from nvshare.lab.emulator.report import read_report
from nvshare.launch.preload import Wishes

from .conftest import Sharing

Share = Callable[..., Sharing]
EXPLICIT = Wishes(allocation="explicit")
NATIVE = Wishes(allocation="native")
MIB = 1 << 20
OUT_OF_MEMORY = 2

# Allocates in pieces of so many MiB until there is no room for more, or a given number of them.
# Works with all of it until a line comes, and then checks the contents.
FILLS = """
import select, sys
from cuda.bindings import driver

def do(result):
    assert not result[0], result[0]
    return result[-1]

size, count = int(sys.argv[1]) << 20, int(sys.argv[2])
do(driver.cuInit(0))
do(driver.cuCtxSetCurrent(do(driver.cuDevicePrimaryCtxRetain(0))))
memory = []
while len(memory) < count:
    error, address = driver.cuMemAlloc(size)
    if error:
        assert error == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY, error
        break
    memory.append(address)
print(len(memory), flush=True)
rounds = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    rounds += 1
    for number, address in enumerate(memory):
        do(driver.cuMemsetD32Async(address, rounds + number, size // 4, 0))
        do(driver.cuStreamSynchronize(0))
for number, address in enumerate(memory):
    found = bytearray(size)
    do(driver.cuMemcpyDtoH(found, address, size))
    assert found == (rounds + number).to_bytes(4, sys.byteorder) * (size // 4), number
print("right", rounds > 0, flush=True)
"""


def fill(
    sharing: Sharing, size: int, count: int, wishes: Wishes = EXPLICIT
) -> "subprocess.Popen[str]":
    """Start it, and wait until it has its memory."""
    program = sharing.start(sys.executable, "-c", FILLS, str(size), str(count), wishes=wishes)
    assert program.stdout is not None
    assert int(program.stdout.readline()) > 0
    return program


def is_right(program: "subprocess.Popen[str]") -> bool:
    """Let it end."""
    said, errors = program.communicate("\n", timeout=60)
    return (program.returncode, said) == (0, "right True\n") or pytest.fail(said + errors)


def free_bytes(sharing: Sharing) -> int:
    (gpu,) = read_report(sharing.node.folder).gpus
    return gpu.free_bytes


def test_beside_one_who_has_all_that_it_can_get(share: Share) -> None:
    sharing = share("tiny", speed=20)
    filler = fill(sharing, size=4, count=1000)
    newcomer = sharing.guest(EXPLICIT)
    assert newcomer.ask("gpu.init()") == 0
    assert newcomer.ask(f"gpu.alloc({8 * MIB})")[0] == 0
    assert newcomer.ask("gpu.touch(gpu.last.value)") == 0
    assert is_right(filler)
    newcomer.end()


def test_two_who_run_together_make_room_at_once(share: Share) -> None:
    """One of them gives way for it. No turn has to end for that."""
    sharing = share("tiny", speed=20)
    # On a busy machine one of them may be delayed so much that it counts as idle.
    sharing.daemon().change_devices(
        "all",
        {"turn_seconds": 1000.0, "lab": {"idle_grace": 1000.0, "context": "8Mi"}, "reserve": "2Mi"},
    )
    fillers = [fill(sharing, size=114, count=1) for _ in range(2)]
    status = sharing.until_status(lambda status: {c.state for c in status.clients} == {"running"})
    before = {one.pid: one.turns for one in status.clients}
    assert free_bytes(sharing) < 8 * MIB
    newcomer = sharing.guest(EXPLICIT)
    assert newcomer.ask("gpu.init()") == 0
    found = [one for one in sharing.daemon().status().clients if one.pid in before]
    assert sorted(one.state for one in found) == ["running", "waiting"]
    assert {one.pid: one.turns for one in found} == before
    assert newcomer.ask("gpu.launch()") == 0
    newcomer.end()
    assert [is_right(filler) for filler in fillers] == [True, True]


def test_two_who_take_turns_make_room_all_the_time(share: Share) -> None:
    sharing = share("tiny", speed=20)
    sharing.daemon().change_devices("all", {"turn_seconds": 0.1})
    fillers = [fill(sharing, size=100, count=2) for _ in range(2)]
    for _ in range(5):
        newcomer = sharing.guest(EXPLICIT)
        assert newcomer.ask("gpu.init()") == 0
        assert newcomer.ask("gpu.launch()") == 0
        newcomer.end()
    assert all(is_right(filler) for filler in fillers)


def test_the_room_that_somebody_needs_to_come_back_is_not_taken(share: Share) -> None:
    """It waits for a while, and there is room as soon as that one has gone."""
    sharing = share("tiny", speed=20)
    filler = fill(sharing, size=4, count=1000)
    guests = []
    while True:
        guests.append(sharing.guest(EXPLICIT))
        assert guests[-1].ask("gpu.cuda.cuInit(0)") == 0
        if guests[-1].ask("gpu.create()"):
            break
    assert len(guests) > 1
    guests[-1].put("gpu.create()")
    assert is_right(filler)
    assert guests[-1].answer() == 0
    assert "has to be there all at the same time" in guests[-1].end()
    for guest in guests[:-1]:
        guest.end()


def test_there_is_no_room_where_nothing_can_leave(share: Share) -> None:
    sharing = share("tiny", speed=20)
    filler = fill(sharing, size=4, count=1000, wishes=NATIVE)
    newcomer = sharing.guest(EXPLICIT)
    assert newcomer.ask("gpu.init()") == OUT_OF_MEMORY
    # It may go on without, and nothing is counted for it.
    (status,) = [
        client for client in sharing.daemon().status().clients if client.pid == newcomer.process.pid
    ]
    assert status.context == 0
    assert is_right(filler)
    # As soon as there is room it gets its context without asking.
    assert newcomer.ask("gpu.init()") == 0
    sharing.until_status(lambda status: [c.context > 0 for c in status.clients] == [True])
    assert "the memory of other programs there cannot move" in newcomer.end()
