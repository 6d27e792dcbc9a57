"""Holders, waiters and daemons die; the survivors go on, and compute the right results."""

import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from nvshare.lab.emulator.report import Report
from nvshare.lab.emulator.workload import workload_command

from .conftest import Sharing, kill_and_wait

# Ten and more programs run as fast as they can.
pytestmark = pytest.mark.timed

Share = Callable[..., Sharing]
KERNELS = str(files("nvshare") / "lab" / "emulator" / "kernels.ptx")
ENDLESS = workload_command("pytorch-add-small", "--iterations", "1000000000")


def serial(turn_seconds: float) -> dict[str, str]:
    """Take turns. Without a daemon, all go on at once."""
    turns = {"NVSHARE_MODE": "serial", "NVSHARE_TURN": str(turn_seconds)}
    return {**turns, "NVSHARE_RESTART_WAIT": "0"}


def kernels(report: Report, pid: int) -> int:
    process = report.process(pid)
    return sum(account.kernels for account in process.gpus) if process else 0


def all_go_on(sharing: Sharing, processes: "list[subprocess.Popen[str]]") -> None:
    """Wait until every one of them has made progress."""
    pids = [process.pid for process in processes]
    before = sharing.until_report(lambda _: True)
    sharing.until_report(lambda r: all(kernels(r, pid) > kernels(before, pid) + 3 for pid in pids))


def one_at_a_time(sharing: Sharing, processes: "list[subprocess.Popen[str]]") -> None:
    """Wait until only one of them makes progress, now that its turn has no end."""
    forever = {"turn_seconds": 3600, "lab": {"idle_grace": 3600}}
    sharing.daemon().change_devices("all", forever)
    pids = [process.pid for process in processes]
    before = sharing.until_report(lambda _: True)

    def only_one_has_gone_on(report: Report) -> bool:
        nonlocal before
        done = {pid: kernels(report, pid) - kernels(before, pid) for pid in pids}
        if max(done.values()) < 50:
            return False
        before = report
        return sum(number > 0 for number in done.values()) == 1

    sharing.until_report(only_one_has_gone_on)


@pytest.mark.parametrize("state", ["running", "waiting"])
def test_one_that_is_killed_holds_nothing_and_waits_for_nothing(share: Share, state: str) -> None:
    sharing = share("t4", speed=100, data="off", settings=serial(0.05))
    programs = [sharing.start(*ENDLESS) for _ in range(4)]
    while len(programs) > 1:
        status = sharing.until_status(
            lambda s: len(s.clients) == len(programs) and any(c.state == state for c in s.clients)
        )
        pid = next(client.pid for client in status.clients if client.state == state)
        victim = next(program for program in programs if program.pid == pid)
        sharing.kill(victim)
        programs.remove(victim)
        all_go_on(sharing, programs)


def ten_programs(sharing: Sharing, hammer: Path) -> "list[subprocess.Popen[str]]":
    """Start programs whose daemon dies as soon as all are connected.

    They run as fast as they can, but not ahead of daemons, which have to start beside them.
    """
    ordinary = ("chrt", "--other", "0", hammer, "2", "0")
    programs = [sharing.start(*ordinary, str(seed), KERNELS) for seed in range(10)]
    status = sharing.until_status(lambda s: len(s.clients) == len(programs))
    all_go_on(sharing, programs)
    kill_and_wait(status.pid)
    all_go_on(sharing, programs)
    return programs


def all_come_back(sharing: Sharing, programs: "list[subprocess.Popen[str]]") -> None:
    """Start a daemon, and wait until all programs are connected and go on."""
    sharing.start_daemon()
    status = sharing.until_status(lambda s: len(s.clients) == len(programs))
    assert {client.pid for client in status.clients} == {program.pid for program in programs}
    all_go_on(sharing, programs)


def test_ten_programs_that_run_together_survive_the_daemon(share: Share, hammer: Path) -> None:
    sharing = share("h100-80g", speed=100)
    all_come_back(sharing, ten_programs(sharing, hammer))


def test_ten_programs_that_take_turns_survive_two_daemons(share: Share, hammer: Path) -> None:
    sharing = share("h100-80g", speed=100, settings=serial(0.02))
    programs = ten_programs(sharing, hammer)
    # The second one dies while they are coming back to it.
    sharing.start_daemon()
    kill_and_wait(sharing.until_status(lambda s: len(s.clients) > 0).pid)
    all_come_back(sharing, programs)
    one_at_a_time(sharing, programs)


def test_300_processes_started_at_once_are_all_registered_within_5_s(share: Share) -> None:
    # Their contexts alone would not fit on one GPU.
    sharing = share("8xh100-80g", speed=1, data="off")
    # One small kernel, then a long sleep.
    idle = ("--side", "16", "--iterations", "2", "--sleep", "1000")
    commands = [
        workload_command("pytorch-add-idle-small", *idle, "--device", str(number % 8))
        for number in range(300)
    ]
    for command in commands:
        sharing.start(*command)
    sharing.until_status(lambda s: len(s.clients) == 300, seconds=5)
