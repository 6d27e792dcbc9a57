"""Programs whose work waits for their own next calls: they end, and others lose little.

Everything runs at speed 1: patience is real, and so is a lost second.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from nvshare.lab.emulator.report import read_report
from nvshare.launch.preload import Wishes
from nvshare.telemetry.snapshot import ClientStatus

from .conftest import Sharing

pytestmark = pytest.mark.usefixtures("ahead")

Share = Callable[..., Sharing]
PROGRAM = Path(__file__).parent / "programs" / "tangled.py"
NS = 1_000_000_000
# A GPU of 248 MiB: two of these do not fit.
LARGE, SMALL = 150, 20
MOST_LOST = 2.0


class Actor:
    """One of the programs, and its output."""

    def __init__(self, sharing: Sharing, *words: object, wishes: Wishes | None = None) -> None:
        command = [sys.executable, str(PROGRAM), *map(str, words)]
        self.process = sharing.start(*command, wishes=wishes)

    def until_begun(self) -> "Actor":
        """Wait until it has filled its memory."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "begun\n"
        return self

    def end(self, seconds: float = 60) -> tuple[dict[str, Any], list[str]]:
        """Wait for its end; return its results, and the messages of nvshare."""
        output, errors = self.process.communicate(timeout=seconds)
        assert self.process.returncode == 0, errors
        return json.loads(output.splitlines()[-1]), errors.splitlines()


class Watch:
    """When the GPU worked for a program, by its own record."""

    def __init__(self, sharing: Sharing, process: "subprocess.Popen[str]") -> None:
        self._sharing, self._process = sharing, process
        # Moments on the emulated clock, and the time that it had computed by then.
        self.seen: list[tuple[int, int]] = []
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while self._process.poll() is None:
            report = read_report(self._sharing.node.folder)
            own = report.process(self._process.pid)
            if own is not None:
                self.seen.append((report.clock_ns, own.gpus[0].compute_ns))
            time.sleep(0.01)

    def lost(self) -> float:
        """Seconds in which the GPU did nothing for it, from its appearance to its last work."""
        self._thread.join()
        last_work = self.seen[-1][1]
        gaps, since = 0, self.seen[0][0]
        for (clock, worked), (_, before) in zip(self.seen[1:], self.seen, strict=False):
            if worked > before:
                gaps += max(0, clock - since - NS // 20)
            if worked > before or worked == last_work:
                since = clock
        return gaps / NS


def client_of(sharing: Sharing, actor: Actor) -> ClientStatus:
    clients = sharing.daemon().status().clients
    return next(one for one in clients if one.pid == actor.process.pid)


def told(errors: list[str]) -> list[str]:
    return [line for line in errors if "cannot give up its turn" in line]


def check(ended: tuple[dict[str, Any], list[str]]) -> list[str]:
    """Check its results; return the messages of nvshare."""
    found, errors = ended
    assert found["right"]
    assert found["wrong"] == 0
    return told(errors)


def begin(share: Share, settings: Mapping[str, Any]) -> Sharing:
    sharing = share("tiny", speed=1)
    sharing.daemon().change_devices("all", dict(settings))
    return sharing


@pytest.mark.parametrize("kind", ["fed", "ordinary", "function"])
def test_beside_a_neighbour_that_fits(share: Share, kind: str) -> None:
    # They take short turns because of their priorities.
    sharing = begin(share, {})
    tangled = Actor(sharing, kind, SMALL, 9).until_begun()
    neighbour = Actor(sharing, "kernels", SMALL, 3, wishes=Wishes(priority="high"))
    watch = Watch(sharing, neighbour.process)
    assert check(neighbour.end()) == []
    assert watch.lost() < MOST_LOST
    assert len(check(tangled.end())) == 1


@pytest.mark.parametrize("kind", ["fed", "ordinary", "function"])
@pytest.mark.parametrize("allocation", ["explicit", "managed"])
def test_beside_a_neighbour_that_does_not_fit(share: Share, kind: str, allocation: str) -> None:
    sharing = begin(share, {"turn_seconds": 1})
    wishes = Wishes(allocation=allocation)
    tangled = Actor(sharing, kind, LARGE, 5, wishes=wishes).until_begun()
    neighbour = Actor(sharing, "kernels", LARGE, 2, wishes=wishes)
    if kind != "function":
        # A function may have ended before the status can show it.
        sharing.until_status(lambda _: client_of(sharing, tangled).cannot_drain)
    ended, other = tangled.end(), neighbour.end()
    assert len(check(ended)) == 1
    assert check(other) == []
    found, beside = ended[0], other[0]
    # It was held up for moments only, although another program waited.
    if kind != "function":
        assert found["ended"] - found["began"] < 5 + MOST_LOST
    # A program that waited for its memory has had that as soon as possible.
    assert beside["began"] - found["ended"] < MOST_LOST


def test_memory_that_the_driver_pages_is_not_waited_for_for_ever(share: Share) -> None:
    sharing = begin(share, {"turn_seconds": 1, "revoke_patience": 3})
    wishes = Wishes(allocation="managed")
    tangled = Actor(sharing, "fed", LARGE, 14, wishes=wishes).until_begun()
    neighbour = Actor(sharing, "kernels", LARGE, 1, wishes=wishes)
    sharing.until_status(lambda _: client_of(sharing, tangled).overdue)
    other = neighbour.end()
    assert check(other) == []
    assert tangled.process.poll() is None, "it ended too soon to be in anybody's way"
    ended = tangled.end()
    assert len(check(ended)) == 1
    assert ended[0]["ended"] - ended[0]["began"] < 14 + MOST_LOST


def test_long_kernels_alone_end_a_turn_as_ever(share: Share) -> None:
    sharing = begin(share, {"turn_seconds": 1})
    long = Actor(sharing, "kernels", LARGE, 9, 3000).until_begun()
    began = time.monotonic()
    neighbour = Actor(sharing, "kernels", LARGE, 1)
    ended, other = long.end(), neighbour.end()
    assert check(ended) == []
    assert check(other) == []
    # The rest of a kernel, and the next one if that passed the gate before the turn ended.
    assert other[0]["began"] - began < 2 * 3 + MOST_LOST
