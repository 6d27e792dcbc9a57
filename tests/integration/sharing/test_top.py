"""`nvshare top` in a terminal, with a real daemon and real programs."""

import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator

import pytest

from nvshare.lab.emulator.workload import installed_program

from .conftest import Sharing
from .terminal import Terminal

Share = Callable[..., Sharing]
GIB = 1 << 30
TOP = (sys.executable, "-m", "nvshare", "top", "--interval", "0.3")


def environment(sharing: Sharing) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {
        **kept,
        "TERM": "xterm-256color",
        "PYTHONIOENCODING": "utf-8",
        "NVSHARE_SOCKET_DIR": str(sharing.daemon().path.parent),
    }


@pytest.fixture
def sharing(share: Share) -> Sharing:
    """A T4 with a program that computes."""
    sharing = share("1xt4", data="off")
    program = installed_program("workloads", "driver-kernels")
    sharing.start(program, "--kernel", "0.005", "--memory", str(3 * GIB))
    sharing.until_status(lambda now: any(one.launches for one in now.clients))
    return sharing


@pytest.fixture
def open_top(sharing: Sharing) -> Iterator[Callable[[int, int], Terminal]]:
    """Start top in terminals that go when the test ends."""
    opened: list[Terminal] = []

    def start(columns: int, rows: int) -> Terminal:
        opened.append(Terminal(TOP, environment(sharing), (columns, rows)))
        opened[-1].until(lambda text: "driver-kernels" in text)
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_it_shows_gpus_and_programs_and_ends_when_told(
    sharing: Sharing, open_top: Callable[[int, int], Terminal], columns: int
) -> None:
    terminal = open_top(columns, 24)
    (client,) = sharing.daemon().status().clients
    text = terminal.until(lambda text: "1 programs by GPU" in text)
    assert str(client.pid) in text
    assert "turn: " in text
    assert "3.0G" in text
    assert max(map(len, terminal.lines)) <= columns
    assert terminal.is_other_page
    assert not terminal.local_flags() & termios.ECHO
    terminal.type("\r")
    terminal.until(lambda text: "computing" in text and "last minute" in text)
    terminal.type("q")
    assert terminal.end() == 0
    assert not terminal.is_other_page
    assert terminal.local_flags() & termios.ECHO


def test_limits_and_priority_are_changed_from_there(
    sharing: Sharing, open_top: Callable[[int, int], Terminal]
) -> None:
    terminal = open_top(100, 24)
    terminal.type("m")
    terminal.until(lambda text: "Memory limit (6Gi, none) of driver-kernels" in text)
    terminal.type("6Gi\r")
    terminal.until(lambda text: "memory=6Gi" in text)
    terminal.type("phigh\r")
    terminal.until(lambda text: "priority=high" in text)
    (client,) = sharing.daemon().status().clients
    assert (client.limits.memory_limit, client.limits.priority) == (6 * GIB, "high")
    terminal.type("c400\r")
    terminal.until(lambda text: "compute_percent" in text)
    terminal.until(lambda text: "6.0G high" in text)
    terminal.type("q")
    assert terminal.end() == 0


def test_a_daemon_that_goes_away_ends_it_and_the_terminal_is_as_before(
    sharing: Sharing, open_top: Callable[[int, int], Terminal]
) -> None:
    terminal = open_top(80, 24)
    os.kill(sharing.daemon().status().pid, signal.SIGTERM)
    assert terminal.end() == 1
    assert not terminal.is_other_page
    assert terminal.local_flags() & termios.ECHO
    assert "no daemon is running" in terminal.text


def test_a_signal_leaves_the_terminal_as_before(
    open_top: Callable[[int, int], Terminal],
) -> None:
    terminal = open_top(80, 24)
    os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.end() == 128 + signal.SIGTERM
    assert not terminal.is_other_page
    assert terminal.local_flags() & termios.ECHO


def test_what_stays_the_same_is_not_sent_again_and_a_new_size_is_filled(
    open_top: Callable[[int, int], Terminal],
) -> None:
    terminal = open_top(80, 24)
    whole = terminal.bytes
    before, deadline = terminal.bytes, time.monotonic() + 2
    terminal.until(lambda _: time.monotonic() > deadline)
    # Six frames, of which a few lines are new.
    assert terminal.bytes - before < 6 * whole / 2
    terminal.resize(120, 30)
    terminal.until(lambda text: text.splitlines()[-1].startswith("1 programs by GPU"))


def test_without_a_terminal_it_says_what_to_use(sharing: Sharing) -> None:
    found = subprocess.run(
        TOP,
        env=environment(sharing),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2
    assert "nvshare top needs a terminal" in found.stderr
    assert "nvshare status" in found.stderr
