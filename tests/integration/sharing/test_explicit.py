"""Memory that moves explicitly: programs that do not fit together take turns with it."""

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from nvshare.lab.emulator.report import read_report
from nvshare.lab.emulator.workload import workload_command
from nvshare.launch.preload import Wishes
from nvshare.telemetry.snapshot import NodeStatus

from .conftest import Sharing, short_turns

Share = Callable[..., Sharing]
KERNELS = str(files("nvshare") / "lab" / "emulator" / "kernels.ptx")
EXPLICIT = Wishes(allocation="explicit")
GIB = 1 << 30
NEED = 4 * 28_000**2 * 4


def ending(program: "subprocess.Popen[str]") -> tuple[int, list[str]]:
    """Its exit code, and its messages that are not from nvshare."""
    _, errors = program.communicate(timeout=60)
    ours = ("nvshare[", "nvshare: ")
    return program.returncode, [one for one in errors.splitlines() if not one.startswith(ours)]


def add(sharing: Sharing, memory: str, iterations: int) -> "subprocess.Popen[str]":
    options = ("--iterations", str(iterations), "--allocate", memory)
    return sharing.start(*workload_command("pytorch-add", *options), wishes=EXPLICIT)


# Where every step of a move waits for a processor, turns of 0.2 s are over when memory is there.
@pytest.mark.timed
@pytest.mark.parametrize("memory", ["plain", "handles"])
def test_two_of_12_gb_alternate_on_one_t4(share: Share, memory: str) -> None:
    sharing = share("t4", speed=20, data="off")
    sharing.daemon().change_devices("all", short_turns(0.2))
    programs = [add(sharing, memory, 700) for _ in range(2)]
    status = sharing.until_status(lambda status: turns(status) >= 6)
    assert {client.allocation for client in status.clients} == {"explicit"}
    assert [ending(program) for program in programs] == [(0, []), (0, [])]
    report = read_report(sharing.node.folder)
    gpu = report.gpus[0]
    assert (gpu.faults, gpu.evictions, report.difference) == (0, 0, None)
    totals = sharing.daemon().status().devices[0].totals
    # The programs copy two of their four arrays to the GPU themselves.
    assert gpu.in_bytes - NEED == pytest.approx(totals.moved_in, rel=0.01)
    assert gpu.out_bytes == pytest.approx(totals.moved_out, rel=0.01)
    # A turn needs room for one of them, and no more than that leaves.
    assert totals.moved_out <= totals.turns * NEED


def turns(status: NodeStatus) -> int:
    return sum(client.turns for client in status.clients)


def test_everything_is_back_before_a_program_goes_on_without_a_daemon(share: Share) -> None:
    sharing = share("t4", speed=20, data="off", settings={"NVSHARE_RESTART_WAIT": "0"})
    sharing.daemon().change_devices("all", short_turns(0.2))
    programs = [add(sharing, "plain", 3000) for _ in range(2)]
    # Without a daemon no room is made for an allocation.
    sharing.until_status(
        lambda status: [client.allocated for client in status.clients] == [NEED, NEED]
    )
    sharing.until_status(lambda status: turns(status) >= 4)
    sharing.kill_daemon()
    # One runs on. The other waits until there is room for all of its memory: when the first ends.
    assert [ending(program) for program in programs] == [(0, []), (0, [])]
    assert read_report(sharing.node.folder).difference is None


# Uses memory that is away, reports that, and is idle until a line comes.
DIES = """
from cuda.bindings import driver

driver.cuInit(0)
_, context = driver.cuDevicePrimaryCtxRetain(0)
driver.cuCtxSetCurrent(context)
error, memory = driver.cuMemAlloc(12 << 30)
assert not error, error
error, address = driver.cuMemAddressReserve(2 << 20, 0, 0, 0)
assert not error, error
driver.cuMemsetD8Async(address, 1, 4096, 0)
print(driver.cuCtxSynchronize()[0].name, flush=True)
input()
print(driver.cuMemsetD8Async(memory, 1, 4096, 0)[0].name, flush=True)
"""


def test_a_program_whose_context_is_dead_hears_of_it_and_holds_nobody_up_for_ever(
    share: Share,
) -> None:
    sharing = share("t4", speed=20, data="off")
    dead = sharing.start(sys.executable, "-c", DIES, wishes=EXPLICIT)
    assert dead.stdout is not None
    assert dead.stdout.readline() == "CUDA_ERROR_ILLEGAL_ADDRESS\n"
    other = add(sharing, "plain", 100)
    # Nothing can be copied out of its memory, so that the other has a turn, and no room.
    sharing.until_status(lambda status: lacks_room(status, other.pid))
    said, _ = dead.communicate("\n", timeout=60)
    assert said == "CUDA_ERROR_ILLEGAL_ADDRESS\n"
    assert ending(other) == (0, [])


def lacks_room(status: NodeStatus, pid: int) -> bool:
    """Whether this program is the only one with a turn, and has memory away."""
    running = [client for client in status.clients if client.state != "idle"]
    return [client.pid for client in running] == [pid] and running[0].swapped_out > 0


def test_both_ways_share_one_gpu(share: Share) -> None:
    sharing = share("t4", speed=20, data="off")
    sharing.daemon().change_devices("all", short_turns(0.2))
    command = workload_command("pytorch-add", "--iterations", "300")
    programs = [sharing.start(*command, wishes=EXPLICIT), sharing.start(*command)]
    sharing.until_status(lambda status: turns(status) >= 4)
    assert [ending(program) for program in programs] == [(0, []), (0, [])]


@pytest.mark.parametrize(
    "faults",
    [
        "create/5=2",
        "map/5=2",
        "access/5=2",
        "register/2=2",
        "reserve/5=2,unreserve/2=1",
        "create@1=2,map@2=2",
        "unmap/4=1,release/3=999",
    ],
)
def test_calls_of_the_driver_that_fail_harm_nobody(
    share: Share, keeper: Path, tmp_path: Path, faults: str
) -> None:
    sharing = share("tiny", speed=20)
    sharing.daemon().change_devices(
        "all", {"turn_seconds": 0.01, "lab": {"context": "24Mi"}, "reserve": "48Mi"}
    )
    leaks = tmp_path / "leaks"
    injected = {"NVSHARE_EMULATOR_FAIL": faults, "NVSHARE_EMULATOR_LEAKS": str(leaks)}
    programs = [
        sharing.start(keeper, "2", "25", str(seed), KERNELS, wishes=EXPLICIT, **injected)
        for seed in range(2)
    ]
    assert [ending(program) for program in programs] == [(0, []), (0, [])]
    # Memory that a program does not free itself is left when it ends, and none of ours.
    left = [json.loads(line) for line in leaks.read_text().splitlines()]
    assert all(one["mappings"] <= one["handles"] for one in left)
    assert read_report(sharing.node.folder).difference is None
