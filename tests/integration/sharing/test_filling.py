"""Several programs fill a GPU at once that holds one of them: with a daemon, and without.

Each has 42 MiB of explicit memory. NVSHARE_EVERY_POSITION=1 runs more of them.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import pytest

from nvshare.lab.emulator.fault import steal_memory
from nvshare.lab.emulator.report import Report, read_report
from nvshare.launch.preload import Wishes
from nvshare.telemetry.snapshot import NodeStatus
from nvshare.wire.frames import UNASKED_BYTES

from .conftest import Sharing

Share = Callable[..., Sharing]
KERNELS = str(files("nvshare") / "lab" / "emulator" / "kernels.ptx")
MIB = 1 << 20
LOOKS = 10
DEATHS = 1
# An outsider has the rest of the GPU. It leaves room for contexts, for one program, which needs 46
# MiB in whole pages of 2 MiB, and for the memory that each may gain without asking. Two programs do
# not fit. The others keep two such pages each for a few bytes; the daemon counts bytes.
CONTEXT = 10
USABLE = 248
UNASKED = UNASKED_BYTES // MIB
ROOM = 56 + UNASKED
COUNTED = 43 + UNASKED


def settings(count: int) -> dict[str, object]:
    reserve = USABLE - count * CONTEXT - COUNTED
    return {"lab": {"context": f"{CONTEXT}Mi"}, "reserve": f"{reserve}Mi", "turn_seconds": 0.01}


@contextmanager
def somebody_else(sharing: Sharing, count: int) -> Iterator[None]:
    """Has a part of the GPU, and now and then gives back its further memory."""
    over = threading.Event()
    stolen = (USABLE - count * CONTEXT - ROOM) * MIB

    def give_back() -> None:
        while not over.wait(0.02):
            steal_memory(sharing.node, 0, stolen)

    steal_memory(sharing.node, 0, stolen)
    thread = threading.Thread(target=give_back)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class Crowd:
    """Programs of which the GPU holds only one."""

    def __init__(self, sharing: Sharing, lodger: Path, count: int, **variables: str) -> None:
        self._sharing = sharing
        self._rounds = 0
        sharing.daemon().change_devices("all", settings(count))
        self.programs = [
            sharing.start(
                lodger, KERNELS, "whole", wishes=Wishes(allocation="explicit"), **variables
            )
            for _ in range(count)
        ]
        for program in self.programs:
            assert program.stdout is not None
            assert program.stdout.readline() == "ready\n", program.communicate(timeout=10)

    def look(self) -> None:
        """Let all of them check their memory, again and again."""
        self._rounds += 1
        for program in self.programs:
            assert program.stdin is not None
            program.stdin.write("\n" * LOOKS)
            program.stdin.flush()

    def look_until_somebody_fills(self) -> None:
        """Wait until one of them is seen filling; when all are idle, they check once more."""

        def fills(status: NodeStatus) -> bool:
            if all(one.state == "idle" for one in status.clients):
                self.look()
            return somebody_fills(status)

        self._sharing.until_status(fills)

    def end(self) -> None:
        """Let all of them end after their check."""
        for program in self.programs:
            assert program.stdin is not None
            program.stdin.close()
            program.stdin = None  # or communicate() would write to it

    def all_were_right(self) -> None:
        """Wait for their ends. Every check has to succeed."""
        for program in self.programs:
            said, errors = program.communicate(timeout=60)
            wrong = [one for one in errors.splitlines() if not one.startswith("nvshare[")]
            assert (program.returncode, said, wrong) == (0, "right\n" * LOOKS * self._rounds, [])
        assert read_report(self._sharing.node.folder).difference is None


def all_are_away(status: NodeStatus) -> bool:
    return all(one.swapped_out == one.allocated > 0 for one in status.clients)


def none_is_on_the_gpu(report: Report) -> bool:
    return all(process.gpus[0].plain_bytes == 0 for process in report.processes)


def park_all(sharing: Sharing, crowd: Crowd) -> None:
    for program in crowd.programs:
        sharing.daemon().park(str(program.pid))
    sharing.until_status(all_are_away)
    sharing.until_report(none_is_on_the_gpu)


EVERY = [(2, ""), (3, ""), (2, "release/3"), (3, "release/3")]
# The number of programs, and the stolen memory.
CASES = EVERY if os.environ.get("NVSHARE_EVERY_POSITION") else EVERY[1:3]


@pytest.mark.parametrize(("count", "theft"), CASES)
def test_all_that_come_back_at_once_without_a_daemon_get_on(
    share: Share, lodger: Path, count: int, theft: str
) -> None:
    sharing = share("tiny", speed=20, settings={"NVSHARE_RESTART_WAIT": "0"})
    with somebody_else(sharing, count):
        crowd = Crowd(sharing, lodger, count, NVSHARE_EMULATOR_STEAL=theft)
        park_all(sharing, crowd)
        crowd.look()
        sharing.kill_daemon()
        crowd.end()
        crowd.all_were_right()


def somebody_fills(status: NodeStatus) -> bool:
    return any(one.state == "running" and one.swapped_out for one in status.clients)


@pytest.mark.parametrize(("count", "theft"), CASES[-1:] if CASES is not EVERY else EVERY)
def test_turns_are_taken_though_daemons_die_while_somebody_fills(
    share: Share, lodger: Path, count: int, theft: str
) -> None:
    sharing = share("tiny", speed=20)
    with somebody_else(sharing, count):
        crowd = Crowd(sharing, lodger, count, NVSHARE_EMULATOR_STEAL=theft)
        for _ in range(DEATHS):
            crowd.look()
            crowd.look_until_somebody_fills()
            sharing.kill_daemon()
            sharing.start_daemon()
            sharing.daemon().change_devices("all", settings(count))
        crowd.end()
        crowd.all_were_right()
