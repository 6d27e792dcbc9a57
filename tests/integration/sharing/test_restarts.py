"""Programs that do not fit together, with deep launch queues, across a restart of the daemon.

They never synchronise, so a launch queue of theirs fills. Whether they recover is asked of the
emulated GPU: its own count of what was computed, in its own time. Of programs of several ranks, the
rounds count in which all ranks have met: a rank that waits for another one computes too.
"""

import signal
import struct
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest

from nvshare.cli.lab.trial.limits import own_group
from nvshare.cli.lab.trial.ranks import Rank, rank_command
from nvshare.lab.emulator.report import read_report
from nvshare.lab.emulator.workload import workload_command
from nvshare.lab.sim.scenario import Phase, Program

from .conftest import Sharing, kill_and_wait

pytestmark = pytest.mark.timed

SPEED = 20
# Emulated seconds.
TURN, LOOK = 30.0, 60.0
NS = 1_000_000_000
RANKS = 2
ROUND = 0.2  # Long enough to hide how late a busy machine wakes the threads that meet.


def start(share: Callable[..., Sharing], programs: int, wait: float = 30) -> Sharing:
    """Start programs of 12 GB on a GPU of 14 GiB, and wait until they have taken turns."""
    settings = {"NVSHARE_TURN": str(TURN / SPEED)}
    sharing = share("1xt4", speed=SPEED, data="off", settings=settings)
    command = workload_command("pytorch-add", "--iterations", "1000000")
    started = [sharing.start(*command, NVSHARE_RESTART_WAIT=str(wait)) for _ in range(programs)]
    sharing.until_status(lambda now: len(now.clients) == programs, 60)
    sharing.until_report(lambda _: all(kernels(sharing, one) for one in started), 60)
    return sharing


def kernels(sharing: Sharing, program: "Popen[str]") -> int:
    found = read_report(sharing.node.folder).process(program.pid)
    return found.gpus[0].kernels if found else 0


def progress(sharing: Sharing, seconds: float) -> float:
    """Return the part of the GPU's time in which it computes, over emulated seconds from now on."""

    def look() -> tuple[int, int]:
        report = read_report(sharing.node.folder)
        return report.gpus[0].clock, sum(one.gpus[0].compute_ns for one in report.processes)

    began, before = look()
    while (now := look())[0] < began + seconds * NS:
        time.sleep(0.05)
    return (now[1] - before) / (now[0] - began)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_restart_costs_next_to_nothing(
    share: Callable[..., Sharing], how: signal.Signals
) -> None:
    sharing = start(share, 2)
    kill_and_wait(sharing.daemon().status().pid, how)
    # Who has the turn goes on alone: a program beside it would keep it from computing at all.
    alone = progress(sharing, LOOK / 2)
    sharing.start_daemon()
    after = progress(sharing, LOOK)
    assert min(alone, after) > 0.7


@pytest.mark.parametrize("programs", [2, 4])
def test_programs_that_have_waited_in_vain_are_brought_to_turns(
    share: Callable[..., Sharing], programs: int
) -> None:
    sharing = start(share, programs, wait=0)
    kill_and_wait(sharing.daemon().status().pid, signal.SIGKILL)
    assert progress(sharing, LOOK / 2) < 0.5, "they do not get into each other's way"
    sharing.start_daemon()
    sharing.until_status(lambda now: len(now.clients) == programs, 60)
    # A patience of the core's is longer at this speed than at the speed of a real GPU.
    deadline = time.monotonic() + 30
    while progress(sharing, LOOK) < 0.7:
        assert time.monotonic() < deadline


def start_gangs(share: Callable[..., Sharing], wait: float) -> tuple[Sharing, list[Path]]:
    """Start two programs of two ranks that fill their GPUs, and wait until both have had turns.

    Also returns the files in which their ranks meet.
    """
    sharing = share("2xt4", speed=SPEED, data="off", settings={"NVSHARE_TURN": str(TURN / SPEED)})
    phase = Phase(memory=12_000_000_000, iterations=1_000_000, kernel_seconds=ROUND)
    meets = [sharing.node.folder / f"meet-{number}" for number in range(2)]
    for meet in meets:
        program = Program(name="gang", ranks=tuple(range(RANKS)), phase=(phase,))
        variables = {"NVSHARE_GROUP": own_group(), "NVSHARE_RESTART_WAIT": str(wait)}
        for number in program.ranks:
            command = rank_command(program, Rank(number, meet), managed=False)
            process = sharing.start(*command, wishes=None, **variables)
            assert process.stdin
            process.stdin.write(f"{number} 0\n")
            process.stdin.flush()
    sharing.until_report(lambda _: all(rounds(meet) for meet in meets), 60)
    return sharing, meets


def rounds(meet: Path) -> int:
    """Return how often all ranks of a program have met."""
    words = meet.read_bytes()[: 8 * RANKS] if meet.exists() else b""
    return min(struct.unpack(f"{RANKS}Q", words)) if len(words) == 8 * RANKS else 0


def progress_of_gangs(sharing: Sharing, meets: list[Path], seconds: float) -> float:
    """Return the part of the GPUs' time in which one of the programs computes."""

    def look() -> tuple[int, int]:
        return read_report(sharing.node.folder).gpus[0].clock, sum(map(rounds, meets))

    began, before = look()
    while (now := look())[0] < began + seconds * NS:
        time.sleep(0.05)
    return (now[1] - before) * ROUND * NS / (now[0] - began)


def test_a_restart_costs_gangs_next_to_nothing(share: Callable[..., Sharing]) -> None:
    sharing, meets = start_gangs(share, wait=30)
    kill_and_wait(sharing.daemon().status().pid, signal.SIGKILL)
    alone = progress_of_gangs(sharing, meets, LOOK / 2)
    sharing.start_daemon()
    after = progress_of_gangs(sharing, meets, LOOK)
    assert min(alone, after) > 0.6


def test_gangs_that_have_waited_in_vain_are_brought_to_turns(share: Callable[..., Sharing]) -> None:
    sharing, meets = start_gangs(share, wait=0)
    kill_and_wait(sharing.daemon().status().pid, signal.SIGKILL)
    assert progress_of_gangs(sharing, meets, LOOK / 2) < 0.5, (
        "they do not get into each other's way"
    )
    sharing.start_daemon()
    deadline = time.monotonic() + 30
    while progress_of_gangs(sharing, meets, LOOK) < 0.6:
        assert time.monotonic() < deadline
